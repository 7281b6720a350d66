"""Rotation, expiry and old revisions: on time, from the queue, to whoever answers for them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.clock import from_iso
from pushjuju.core.secrets import Content, OwnerKind, Rotation
from pushjuju.services.entities.secret import secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.services.lifecycle import removal
from pushjuju.services.views import explain
from pushjuju.uniter.wanted import wanted
from tests.unit.services.world import World
from tests.unit.workers.fakes import Shop, drive

ID = "d0abc0000000000000a0"
URI = f"secret:{ID}"
APP = Owner(kind=OwnerKind.APPLICATION, name="web")
UNIT = Owner(kind=OwnerKind.UNIT, name="web/1")
FIRST, SECOND = Content({"token": "YQ=="}), Content({"token": "Yg=="})
NEW = {"writes": {"secrets": {"update": {ID: {"content": {"token": "Yg=="}}}}}}
GONE = {"writes": {"secrets": {"remove": {ID: [1]}}}}
MINUTE, HOUR = 60, 3600


@pytest.fixture
async def work(shop: World) -> Shop:
    """Two units at rest; web/0 leads."""
    shop.deploy(count=2)
    made = Shop(shop)
    await drive(shop, made)
    shop.clear()
    return made


def make(shop: World, owner: Owner = APP, **more: Any) -> None:
    """Add a secret."""
    change = Change(content=FIRST, **more)
    shop.write(lambda tx: secrets.create(shop.ctx, tx, shop.model, ID, owner, change))


def row(shop: World) -> Any:
    return shop.read(lambda tx: secrets.get(tx, shop.model, ID))


async def after(shop: World, work: Shop, seconds: float) -> list[tuple[str, str]]:
    """Let time go by; return the hooks about secrets that ran since."""
    shop.clear()
    shop.clock.advance(seconds)
    await drive(shop, work)
    return [(unit, hook) for unit, hook in shop.hooks() if hook.startswith("secret-")]


def box_of(shop: World, unit: str) -> Any:
    return shop.boxes[shop.unit(unit).machine or ""]


# --- rotation -------------------------------------------------------------------------------------------


async def test_a_rotation_is_told_to_the_leader_on_time(shop: World, work: Shop) -> None:
    make(shop, rotation=Rotation.HOURLY, label="key")
    assert await after(shop, work, HOUR - MINUTE) == []
    box_of(shop, "web/0").will("secret-rotate", NEW)
    assert await after(shop, work, MINUTE) == [("web/0", "secret-rotate"), ("web/0", "secret-remove")]
    env = box_of(shop, "web/0").frame_of("secret-rotate")["env"]
    assert (env["JUJU_SECRET_ID"], env["JUJU_SECRET_LABEL"]) == (URI, "key")
    assert "JUJU_SECRET_REVISION" not in env
    assert from_iso(row(shop).next_rotation) == shop.clock.now() + timedelta(hours=1)
    assert await after(shop, work, HOUR - MINUTE) == []
    assert await after(shop, work, MINUTE) == [("web/0", "secret-rotate")]


async def test_a_rotation_without_a_new_revision_comes_again_in_five_minutes(shop: World, work: Shop) -> None:
    make(shop, rotation=Rotation.DAILY)
    assert await after(shop, work, 24 * HOUR) == [("web/0", "secret-rotate")]
    assert await after(shop, work, 4 * MINUTE) == []
    assert await after(shop, work, MINUTE) == [("web/0", "secret-rotate")]


async def test_a_units_own_secret_is_its_own_affair(shop: World, work: Shop) -> None:
    make(shop, UNIT, rotation=Rotation.HOURLY)
    assert await after(shop, work, HOUR) == [("web/1", "secret-rotate")]


async def test_a_new_policy_counts_from_its_own_moment_and_never_ends_it(shop: World, work: Shop) -> None:
    make(shop, rotation=Rotation.HOURLY)
    shop.clock.advance(HOUR / 2)
    shop.write(lambda tx: secrets.update(shop.ctx, tx, row_in(tx, shop), Change(rotation=Rotation.DAILY)))
    assert await after(shop, work, 23 * HOUR) == []
    assert await after(shop, work, HOUR) == [("web/0", "secret-rotate")]
    shop.write(lambda tx: secrets.update(shop.ctx, tx, row_in(tx, shop), Change(rotation=Rotation.NEVER)))
    assert await after(shop, work, 48 * HOUR) == []


def told_of_secrets(shop: World) -> list[explain.Reason]:
    """Return what `explain` says that is about the secret."""
    found = explain.explain(shop.ctx, shop.model, wanted)
    return [reason for reason in found if ID in f"{reason.doing} {reason.reason}"]


@pytest.mark.parametrize("expires", [False, True])
@pytest.mark.parametrize("owner", [APP, UNIT])
async def test_explain_forgets_the_secrets_of_an_application_that_is_gone(
    shop: World, work: Shop, owner: Owner, expires: bool
) -> None:
    later = shop.clock.now() + timedelta(hours=1)
    make(shop, owner, **({"expires": later} if expires else {"rotation": Rotation.HOURLY}))
    assert [(item.reason, item.due) for item in told_of_secrets(shop)] == [(f"secret {ID} is due", later)]
    removal.remove_application(shop.ctx, shop.model, ["web"])
    await drive(shop, work)
    assert told_of_secrets(shop) == []


async def test_explain_forgets_a_rotation_that_was_called_off(shop: World, work: Shop) -> None:
    make(shop, rotation=Rotation.HOURLY)
    shop.write(lambda tx: secrets.update(shop.ctx, tx, row_in(tx, shop), Change(rotation=Rotation.NEVER)))
    await drive(shop, work)
    assert told_of_secrets(shop) == []


def row_in(tx: Any, shop: World) -> Any:
    return secrets.get(tx, shop.model, ID)


async def test_a_rotation_that_nobody_was_there_for_is_told_late_and_once(shop: World, work: Shop) -> None:
    """No controller ran for days."""
    make(shop, rotation=Rotation.HOURLY)
    box_of(shop, "web/0").will("secret-rotate", NEW)
    assert await after(shop, work, 100 * HOUR) == [("web/0", "secret-rotate"), ("web/0", "secret-remove")]
    assert await after(shop, work, MINUTE) == []


async def test_a_rotation_that_fails_is_tried_again_as_hooks_are(shop: World, work: Shop) -> None:
    make(shop, rotation=Rotation.HOURLY)
    box_of(shop, "web/0").fail("secret-rotate")
    assert await after(shop, work, HOUR) == [("web/0", "secret-rotate")]
    assert shop.agent("web/0") == ("error", 'hook failed: "secret-rotate"')
    box_of(shop, "web/0").will("secret-rotate", NEW)
    assert ("web/0", "secret-rotate") in await after(shop, work, 10 * MINUTE)
    assert row(shop).latest == 2


async def test_a_new_leader_takes_over_what_is_due(shop: World, work: Shop) -> None:
    make(shop, rotation=Rotation.HOURLY)
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    assert ("web/1", "secret-rotate") in await after(shop, work, HOUR)


# --- expiry ---------------------------------------------------------------------------------------------


async def test_an_expired_revision_is_told_until_it_is_removed(shop: World, work: Shop) -> None:
    make(shop, expires=shop.clock.now() + timedelta(minutes=10))
    assert await after(shop, work, 9 * MINUTE) == []
    assert await after(shop, work, MINUTE) == [("web/0", "secret-expired")]
    assert box_of(shop, "web/0").frame_of("secret-expired")["env"]["JUJU_SECRET_REVISION"] == "1"
    assert await after(shop, work, 4 * MINUTE) == []
    box_of(shop, "web/0").will("secret-expired", GONE)
    assert await after(shop, work, MINUTE) == [("web/0", "secret-expired")]
    assert shop.read(lambda tx: secrets.find(tx, shop.model, ID)) is None
    assert await after(shop, work, HOUR) == []


async def test_what_has_expired_already_is_told_at_once(shop: World, work: Shop) -> None:
    make(shop, expires=shop.clock.now() - timedelta(days=365))
    assert await after(shop, work, 0) == [("web/0", "secret-expired")]


async def test_an_expiry_that_is_moved_is_told_at_its_new_time(shop: World, work: Shop) -> None:
    make(shop, expires=shop.clock.now() + timedelta(minutes=10))
    later = shop.clock.now() + timedelta(minutes=30)
    shop.write(lambda tx: secrets.update(shop.ctx, tx, row_in(tx, shop), Change(expires=later)))
    assert await after(shop, work, 29 * MINUTE) == []
    assert await after(shop, work, MINUTE) == [("web/0", "secret-expired")]


# --- old revisions --------------------------------------------------------------------------------------


async def test_a_revision_that_nobody_reads_any_more_is_told_once(shop: World, work: Shop) -> None:
    make(shop)
    reader = shop.unit("web/1")
    shop.write(lambda tx: secrets.track(tx, row_in(tx, shop), reader, 1, shop.clock.now()))
    shop.write(lambda tx: secrets.update(shop.ctx, tx, row_in(tx, shop), Change(content=SECOND)))
    assert await after(shop, work, 0) == [("web/1", "secret-changed")]
    shop.write(lambda tx: secrets.track(tx, row_in(tx, shop), reader, 2, shop.clock.now()))
    assert await after(shop, work, 0) == [("web/0", "secret-remove")]
    assert box_of(shop, "web/0").frame_of("secret-remove")["env"]["JUJU_SECRET_REVISION"] == "1"
    assert await after(shop, work, HOUR) == []


async def test_changes_that_come_together_are_one_hook(shop: World, work: Shop) -> None:
    make(shop)
    reader = shop.unit("web/1")
    shop.write(lambda tx: secrets.track(tx, row_in(tx, shop), reader, 1, shop.clock.now()))
    for text in ("Yg==", "Yw=="):
        change = Change(content=Content({"token": text}))
        shop.write(lambda tx, change=change: secrets.update(shop.ctx, tx, row_in(tx, shop), change))
    assert [item for item in await after(shop, work, 0) if item[0] == "web/1"] == [
        ("web/1", "secret-changed")
    ]


async def test_a_secret_that_is_gone_is_forgotten_without_a_hook(shop: World, work: Shop) -> None:
    make(shop)
    reader = shop.unit("web/1")
    shop.write(lambda tx: secrets.track(tx, row_in(tx, shop), reader, 1, shop.clock.now()))
    shop.write(lambda tx: secrets.update(shop.ctx, tx, row_in(tx, shop), Change(content=SECOND)))
    await after(shop, work, 0)
    assert URI in shop.unit("web/1").state
    shop.write(lambda tx: secrets.remove(tx, row_in(tx, shop), None, shop.clock.now()))
    assert await after(shop, work, 0) == []
    assert URI not in shop.unit("web/1").state
    assert URI not in shop.unit("web/0").state


async def test_a_model_without_secrets_has_no_loop_for_them(shop: World, work: Shop) -> None:
    assert work
    assert shop.due("loop/secrets") is None
