"""Rotation, expiry and old revisions: on time, from the queue, to whoever answers for them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.model.secrets import Content, OwnerKind, Rotation
from pushjuju.services.entities.secret import secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.services.requests import removals
from pushjuju.services.views import explain
from pushjuju.uniter.wanted import wanted
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, drive

ID = "d0abc0000000000000a0"
URI = f"secret:{ID}"
APP = Owner(kind=OwnerKind.APPLICATION, name="web")
UNIT = Owner(kind=OwnerKind.UNIT, name="web/1")
FIRST, SECOND = Content({"token": "YQ=="}), Content({"token": "Yg=="})
NEW = {"writes": {"secrets": {"update": {ID: {"content": {"token": "Yg=="}}}}}}
GONE = {"writes": {"secrets": {"remove": {ID: [1]}}}}
MINUTE, HOUR = 60, 3600


@pytest.fixture
async def work(runtime: TestController) -> PlayedRuntime:
    """Two units at rest; web/0 leads."""
    runtime.deploy(count=2)
    made = PlayedRuntime(runtime)
    await drive(runtime, made)
    runtime.clear()
    return made


def make(runtime: TestController, owner: Owner = APP, **more: Any) -> None:
    """Add a secret."""
    change = Change(content=FIRST, **more)
    runtime.write(lambda tx: secrets.create(runtime.ctx, tx, ID, owner, change))


def row(runtime: TestController) -> Any:
    return runtime.read(lambda tx: secrets.get(tx, ID))


async def after(runtime: TestController, work: PlayedRuntime, seconds: float) -> list[tuple[str, str]]:
    """Let time go by; return the hooks about secrets that ran since."""
    runtime.clear()
    runtime.clock.advance(seconds)
    await drive(runtime, work)
    return [(unit, hook) for unit, hook in runtime.hooks() if hook.startswith("secret-")]


def box_of(runtime: TestController, unit: str) -> Any:
    return runtime.played_machines[runtime.unit(unit).machine or ""]


# --- rotation -------------------------------------------------------------------------------------------


async def test_a_rotation_is_told_to_the_leader_on_time(runtime: TestController, work: PlayedRuntime) -> None:
    make(runtime, rotation=Rotation.HOURLY, label="key")
    assert await after(runtime, work, HOUR - MINUTE) == []
    box_of(runtime, "web/0").will("secret-rotate", NEW)
    assert await after(runtime, work, MINUTE) == [("web/0", "secret-rotate"), ("web/0", "secret-remove")]
    env = box_of(runtime, "web/0").frame_of("secret-rotate")["env"]
    assert (env["JUJU_SECRET_ID"], env["JUJU_SECRET_LABEL"]) == (URI, "key")
    assert "JUJU_SECRET_REVISION" not in env
    assert row(runtime).next_rotation == runtime.clock.now() + timedelta(hours=1)
    assert await after(runtime, work, HOUR - MINUTE) == []
    assert await after(runtime, work, MINUTE) == [("web/0", "secret-rotate")]


async def test_a_rotation_without_a_new_revision_comes_again_in_five_minutes(
    runtime: TestController, work: PlayedRuntime
) -> None:
    make(runtime, rotation=Rotation.DAILY)
    assert await after(runtime, work, 24 * HOUR) == [("web/0", "secret-rotate")]
    assert await after(runtime, work, 4 * MINUTE) == []
    assert await after(runtime, work, MINUTE) == [("web/0", "secret-rotate")]


async def test_a_units_own_secret_is_its_own_affair(runtime: TestController, work: PlayedRuntime) -> None:
    make(runtime, UNIT, rotation=Rotation.HOURLY)
    assert await after(runtime, work, HOUR) == [("web/1", "secret-rotate")]


async def test_a_new_policy_counts_from_its_own_moment_and_never_ends_it(
    runtime: TestController, work: PlayedRuntime
) -> None:
    make(runtime, rotation=Rotation.HOURLY)
    runtime.clock.advance(HOUR / 2)
    runtime.write(
        lambda tx: secrets.update(runtime.ctx, tx, row_in(tx, runtime), Change(rotation=Rotation.DAILY))
    )
    assert await after(runtime, work, 23 * HOUR) == []
    assert await after(runtime, work, HOUR) == [("web/0", "secret-rotate")]
    runtime.write(
        lambda tx: secrets.update(runtime.ctx, tx, row_in(tx, runtime), Change(rotation=Rotation.NEVER))
    )
    assert await after(runtime, work, 48 * HOUR) == []


def told_of_secrets(runtime: TestController) -> list[explain.Reason]:
    """Return what `explain` says that is about the secret."""
    found = explain.explain(runtime.ctx, runtime.model, wanted)
    return [reason for reason in found if ID in f"{reason.doing} {reason.reason}"]


@pytest.mark.parametrize("expires", [False, True])
@pytest.mark.parametrize("owner", [APP, UNIT])
async def test_explain_forgets_the_secrets_of_an_application_that_is_gone(
    runtime: TestController, work: PlayedRuntime, owner: Owner, expires: bool
) -> None:
    later = runtime.clock.now() + timedelta(hours=1)
    make(runtime, owner, **({"expires": later} if expires else {"rotation": Rotation.HOURLY}))
    assert [(item.reason, item.due) for item in told_of_secrets(runtime)] == [(f"secret {ID} is due", later)]
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    await drive(runtime, work)
    assert told_of_secrets(runtime) == []


async def test_explain_forgets_a_rotation_that_was_called_off(
    runtime: TestController, work: PlayedRuntime
) -> None:
    make(runtime, rotation=Rotation.HOURLY)
    runtime.write(
        lambda tx: secrets.update(runtime.ctx, tx, row_in(tx, runtime), Change(rotation=Rotation.NEVER))
    )
    await drive(runtime, work)
    assert told_of_secrets(runtime) == []


def row_in(tx: Any, runtime: TestController) -> Any:
    return secrets.get(tx, ID)


async def test_a_rotation_that_nobody_was_there_for_is_told_late_and_once(
    runtime: TestController, work: PlayedRuntime
) -> None:
    """No controller ran for days."""
    make(runtime, rotation=Rotation.HOURLY)
    box_of(runtime, "web/0").will("secret-rotate", NEW)
    assert await after(runtime, work, 100 * HOUR) == [("web/0", "secret-rotate"), ("web/0", "secret-remove")]
    assert await after(runtime, work, MINUTE) == []


async def test_a_rotation_that_fails_is_tried_again_as_hooks_are(
    runtime: TestController, work: PlayedRuntime
) -> None:
    make(runtime, rotation=Rotation.HOURLY)
    box_of(runtime, "web/0").fail("secret-rotate")
    assert await after(runtime, work, HOUR) == [("web/0", "secret-rotate")]
    assert runtime.agent("web/0") == ("error", 'hook failed: "secret-rotate"')
    box_of(runtime, "web/0").will("secret-rotate", NEW)
    assert ("web/0", "secret-rotate") in await after(runtime, work, 10 * MINUTE)
    assert row(runtime).latest == 2


async def test_a_new_leader_takes_over_what_is_due(runtime: TestController, work: PlayedRuntime) -> None:
    make(runtime, rotation=Rotation.HOURLY)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    assert ("web/1", "secret-rotate") in await after(runtime, work, HOUR)


# --- expiry ---------------------------------------------------------------------------------------------


async def test_an_expired_revision_is_told_until_it_is_removed(
    runtime: TestController, work: PlayedRuntime
) -> None:
    make(runtime, expires=runtime.clock.now() + timedelta(minutes=10))
    assert await after(runtime, work, 9 * MINUTE) == []
    assert await after(runtime, work, MINUTE) == [("web/0", "secret-expired")]
    assert box_of(runtime, "web/0").frame_of("secret-expired")["env"]["JUJU_SECRET_REVISION"] == "1"
    assert await after(runtime, work, 4 * MINUTE) == []
    box_of(runtime, "web/0").will("secret-expired", GONE)
    assert await after(runtime, work, MINUTE) == [("web/0", "secret-expired")]
    assert runtime.read(lambda tx: secrets.find(tx, ID)) is None
    assert await after(runtime, work, HOUR) == []


async def test_what_has_expired_already_is_told_at_once(runtime: TestController, work: PlayedRuntime) -> None:
    make(runtime, expires=runtime.clock.now() - timedelta(days=365))
    assert await after(runtime, work, 0) == [("web/0", "secret-expired")]


async def test_an_expiry_that_is_moved_is_told_at_its_new_time(
    runtime: TestController, work: PlayedRuntime
) -> None:
    make(runtime, expires=runtime.clock.now() + timedelta(minutes=10))
    later = runtime.clock.now() + timedelta(minutes=30)
    runtime.write(lambda tx: secrets.update(runtime.ctx, tx, row_in(tx, runtime), Change(expires=later)))
    assert await after(runtime, work, 29 * MINUTE) == []
    assert await after(runtime, work, MINUTE) == [("web/0", "secret-expired")]


# --- old revisions --------------------------------------------------------------------------------------


async def test_a_revision_that_nobody_reads_any_more_is_told_once(
    runtime: TestController, work: PlayedRuntime
) -> None:
    make(runtime)
    reader = runtime.unit("web/1")
    runtime.write(lambda tx: secrets.track(tx, row_in(tx, runtime), reader, 1))
    runtime.write(lambda tx: secrets.update(runtime.ctx, tx, row_in(tx, runtime), Change(content=SECOND)))
    assert await after(runtime, work, 0) == [("web/1", "secret-changed")]
    runtime.write(lambda tx: secrets.track(tx, row_in(tx, runtime), reader, 2))
    assert await after(runtime, work, 0) == [("web/0", "secret-remove")]
    assert box_of(runtime, "web/0").frame_of("secret-remove")["env"]["JUJU_SECRET_REVISION"] == "1"
    assert await after(runtime, work, HOUR) == []


async def test_changes_that_come_together_are_one_hook(runtime: TestController, work: PlayedRuntime) -> None:
    make(runtime)
    reader = runtime.unit("web/1")
    runtime.write(lambda tx: secrets.track(tx, row_in(tx, runtime), reader, 1))
    for text in ("Yg==", "Yw=="):
        change = Change(content=Content({"token": text}))
        runtime.write(lambda tx, change=change: secrets.update(runtime.ctx, tx, row_in(tx, runtime), change))
    assert [item for item in await after(runtime, work, 0) if item[0] == "web/1"] == [
        ("web/1", "secret-changed")
    ]


async def test_a_secret_that_is_gone_is_forgotten_without_a_hook(
    runtime: TestController, work: PlayedRuntime
) -> None:
    make(runtime)
    reader = runtime.unit("web/1")
    runtime.write(lambda tx: secrets.track(tx, row_in(tx, runtime), reader, 1))
    runtime.write(lambda tx: secrets.update(runtime.ctx, tx, row_in(tx, runtime), Change(content=SECOND)))
    await after(runtime, work, 0)
    assert URI in runtime.unit("web/1").state
    runtime.write(lambda tx: secrets.remove(tx, row_in(tx, runtime), None))
    assert await after(runtime, work, 0) == []
    assert URI not in runtime.unit("web/1").state
    assert URI not in runtime.unit("web/0").state


async def test_a_model_without_secrets_has_no_loop_for_them(
    runtime: TestController, work: PlayedRuntime
) -> None:
    assert work
    assert runtime.due("loop/secrets") is None
