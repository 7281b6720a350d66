"""Removals that nobody else finishes: forced ends, models, archives, old lines."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import AuthFailed, ProviderError
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.core.storage import Directive
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership, logs, statuses
from pushjuju.services.entities.model import model_config, models
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import new_application, settings
from pushjuju.services.requests.application.new_application import NewApplication
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.relation import integrate
from pushjuju.store.tx import ModelTx, Tx
from pushjuju.workers.loops import cleaner
from pushjuju.workers.loops.cleaner import clean
from tests.bench.statements import counted
from tests.world.charms import UBUNTU, Charms
from tests.world.controller import TestController
from tests.world.machine import ok
from tests.world.runtime import PlayedRuntime, drive, worker
from tests.world.said import problems_of, reason_of

SILENT = AuthFailed("refused", retryable=False)


async def _silent(runtime: TestController, *machines: str) -> PlayedRuntime:
    """Bring a model to rest, then let machines fall silent."""
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    work.unreachable.update(dict.fromkeys(machines, SILENT))
    return work


async def test_unit_of_a_silent_machine_is_dead_after_the_wait_and_gone_after_two(
    runtime: TestController,
) -> None:
    runtime.deploy(count=2)
    work = await _silent(runtime, "0")
    start = runtime.clock.now()
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], Force(wait_s=200))
    while runtime.clock.now() < start + timedelta(seconds=200):
        assert runtime.unit("web/0").life == "dying"
        runtime.clock.advance(10)
        await drive(runtime, work)
    dead = runtime.clock.now()
    while runtime.clock.now() < start + timedelta(seconds=400):
        assert runtime.unit("web/0").life == "dead"
        assert "cluster-relation-departed" in runtime.of("web/1")
        runtime.clock.advance(10)
        await drive(runtime, work)
    await drive(runtime, work)
    assert (dead - start).total_seconds() >= 200
    assert runtime.units() == ["web/1"]
    assert runtime.of("web/0")[-1] not in ("stop", "remove")
    assert runtime.machine_ids() == ["1"]  # its instance could be stopped without reaching it


async def test_unit_in_error_is_dead_after_the_wait_and_its_machine_clears_it_away_then(
    runtime: TestController,
) -> None:
    runtime.deploy()
    runtime.deploy("zap", packed=runtime.charms.make("zap"), placements=[Placement.parse("0")])
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    runtime.played("0").fail("stop", 9)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], Force())
    await drive(runtime, work)
    assert (runtime.agent()[0], runtime.unit("web/0").life) == ("error", "dying")
    runtime.clock.advance(60)
    await drive(runtime, work)
    assert runtime.units() == ["zap/0"]
    assert runtime.of("web/0")[-1] == "stop"
    assert runtime.played("0").frames[-1]["kind"] == "remove-unit"
    runtime.clock.advance(60)
    await drive(runtime, work)
    assert runtime.dump()["cleanup"] == []


async def test_a_dead_unit_leads_no_more_and_holds_no_storage(runtime: TestController, packs: Charms) -> None:
    store = {"data": {"type": "filesystem", "location": "/srv"}}
    packed = packs.make("disk", config=None, storage=store)
    more = {"data": Directive(pool="local", size=1024, count=1)}
    runtime.deploy("disk", packed=packed, storage=more, count=2)
    work = await _silent(runtime, "0")
    assert runtime.read(lambda tx: leadership.holder(tx, "disk")) == "disk/0"
    removals.remove_units(runtime.ctx, runtime.model, ["disk/0"], Force(wait_s=300))
    runtime.clock.advance(300)
    await clean(work, runtime.model)
    assert (runtime.unit("disk/0").life, runtime.unit("disk/0").storage) == ("dead", 0)
    assert runtime.read(lambda tx: leadership.holder(tx, "disk")) is None


async def test_without_a_wait_subordinates_and_their_unit_go_at_once(runtime: TestController) -> None:
    work = await _with_subordinate(runtime)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], Force(wait_s=0))
    await clean(work, runtime.model)
    assert (runtime.units(), runtime.dump()["cleanup"]) == ([], [])


async def test_a_unit_waits_for_the_forced_end_of_its_subordinates(runtime: TestController) -> None:
    """Each is dead after a minute and gone after two; then its unit's own end comes."""
    work = await _with_subordinate(runtime)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], Force())
    seen = []
    for _ in range(5):
        await clean(work, runtime.model)
        lives = [
            runtime.unit(name).life if name in runtime.units() else "gone" for name in ("web/0", "sub/0")
        ]
        seen.append(tuple(lives))
        runtime.clock.advance(60)
    assert seen == [
        ("dying", "alive"), ("dying", "dying"), ("dying", "dead"), ("dead", "gone"), ("gone", "gone"),
    ]  # fmt: skip


async def test_hook_of_a_dead_unit_is_ended_and_counts_no_more(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    runtime.deploy("zap", packed=runtime.charms.make("zap"), placements=[Placement.parse("0")])
    played = runtime.played("0")
    played.will("install", ok(cut=True, writes={"state": {"k": "v"}}), unit="web/0")
    for _ in range(3):
        await worker(work)
    played.will("config-changed", ok(cut=True, writes={"state": {"k": "late"}}), unit="web/0")
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    await worker(work)
    runtime.write(lambda tx: removal.force_dead(tx, units.get(tx, "web/0"), Force()))
    assert not (await worker(work)).failed
    assert (runtime.units(), runtime.open_operations(), played.results) == (["zap/0"], [], {})


async def _with_subordinate(runtime: TestController) -> PlayedRuntime:
    """A unit with a subordinate on a machine that fell silent."""
    host = {"host": {"interface": "juju-info", "scope": "container"}}
    runtime.deploy()
    runtime.deploy("sub", 0, packed=runtime.charms.make("sub", subordinate=True, peers=None, requires=host))
    integrate.integrate(runtime.ctx, runtime.model, "sub", "web")
    return await _silent(runtime, "0")


async def test_a_killed_model_goes_with_all_that_it_had(runtime: TestController, packs: Charms) -> None:
    store = {"data": {"type": "filesystem", "location": "/srv"}}
    packed = packs.make("disk", peers=None, config=None, storage=store)
    runtime.deploy("disk", packed=packed, storage={"data": Directive(pool="local", size=1024, count=1)})
    runtime.deploy(count=2)
    work = await _silent(runtime)
    operations.enqueue_commands(
        runtime.ctx, runtime.model, operations.CommandRequest(command="true", timeout_s=9, units=("web/0",))
    )
    runtime.write(models.purge)
    assert runtime.write(_rows_of_models) == {}
    assert work.cloud.stopped == []  # whoever kills the model ends its instances first


def _rows_of_models(tx: Tx) -> dict[str, int]:
    """Return table -> number of rows of models; `change` keeps the news of a model's end for a while."""
    found = {}
    for (table,) in tx._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = {row[1] for row in tx._connection.execute(f"PRAGMA table_info({table})")}
        if (
            table != "change"
            and "model" in columns
            and (count := tx._connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])
        ):
            found[table] = count
    return found


async def test_machine_that_is_silent_is_forced_away(runtime: TestController) -> None:
    runtime.deploy()
    work = await _silent(runtime, "0")
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], force=Force())
    for _ in range(2):
        await drive(runtime, work)
    assert runtime.machine_ids() == ["0"]
    runtime.clock.advance(61)
    await drive(runtime, work)
    assert (runtime.units(), runtime.machine_ids()) == ([], [])
    assert work.cloud.stopped == ["i-0"]


async def test_the_lane_hears_at_once_that_its_units_are_gone(runtime: TestController) -> None:
    """The machine rests after failures: the forced end must not wait for that."""
    runtime.deploy()
    work = await _silent(runtime, "0")
    units.add_units(runtime.ctx, runtime.model, "web", 1, [])
    await drive(runtime, work)
    work.unreachable["1"] = SILENT
    removals.remove_machines(runtime.ctx, runtime.model, ["1"], force=Force(wait_s=0))
    runtime.forget_work()
    await clean(work, runtime.model)
    assert "machine/1" in runtime.touched()


async def test_orderly_end_needs_no_force(runtime: TestController) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], Force())
    await drive(runtime, work)
    assert runtime.of("web/0")[-2:] == ["stop", "remove"]
    runtime.clock.advance(61)
    assert (await drive(runtime, work)).problems == ()
    assert runtime.dump()["cleanup"] == []


async def test_next_forced_end_is_the_due_time(runtime: TestController) -> None:
    runtime.deploy(count=2)
    work = await _silent(runtime, "0", "1")
    start = runtime.clock.now()
    removals.remove_units(runtime.ctx, runtime.model, ["web/1"], Force(wait_s=90))
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], Force(wait_s=30))
    outcome = await clean(work, runtime.model)
    assert outcome.due == start + timedelta(seconds=30)
    runtime.clock.advance(30)
    outcome = await clean(work, runtime.model)
    assert outcome.due == start + timedelta(seconds=60)
    assert [runtime.unit(name).life for name in ("web/0", "web/1")] == ["dead", "dying"]
    runtime.clock.advance(60)
    outcome = await clean(work, runtime.model)
    assert outcome.due == start + timedelta(seconds=180)
    assert runtime.units() == ["web/1"]


async def test_forced_model_goes_though_nobody_answers(runtime: TestController) -> None:
    runtime.deploy(count=2)
    work = await _silent(runtime, "0", "1")
    work.cloud.stuck = [ProviderError("down"), ProviderError("down")]
    runtime.destroy_model(Force(wait_s=10))
    await drive(runtime, work)
    runtime.clock.advance(11)
    for _ in range(3):
        await drive(runtime, work)
    assert runtime.dump()["model"] == []
    assert work.cloud.destroyed == 1


async def test_destroying_a_model_by_force_waits_for_no_unit_in_error(runtime: TestController) -> None:
    """Not for one that is, nor for one that fails on its way out; the others run their last hooks."""
    runtime.deploy(count=3)
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    runtime.played("0").fail("config-changed", 9)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    runtime.played("1").fail("stop", 9)
    await drive(runtime, work)
    assert [runtime.agent(f"web/{number}")[0] for number in range(3)] == ["error", "idle", "idle"]
    start = runtime.clock.now()
    runtime.destroy_model(Force())
    assert (await drive(runtime, work)).problems == ()
    assert runtime.dump()["model"] == []
    assert runtime.clock.now() - start < timedelta(seconds=10)
    assert runtime.of("web/0")[-1] == "config-changed"
    assert runtime.of("web/1")[-1] == "stop"
    assert runtime.of("web/2")[-1] == "remove"
    told = [item.entity for item in work.events if item.text == "is in error: removed without its hooks"]
    assert sorted(told) == ["web/0", "web/1"]


async def test_a_principal_in_error_goes_with_its_model_as_soon_as_its_subordinates_are_gone(
    runtime: TestController,
) -> None:
    work = await _with_subordinate(runtime)
    work.unreachable.clear()
    runtime.played("0").fail("config-changed", 9, unit="web/0")
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    await drive(runtime, work)
    assert runtime.agent("web/0")[0] == "error"
    start = runtime.clock.now()
    runtime.destroy_model(Force())
    await drive(runtime, work)
    assert runtime.dump()["model"] == []
    assert runtime.clock.now() - start < timedelta(seconds=10)
    assert runtime.of("sub/0")[-1] == "remove"


# --- models -----------------------------------------------------------------------------------------------


async def test_dying_model_says_what_it_waits_for(runtime: TestController) -> None:
    runtime.deploy()
    work = await _silent(runtime, "0")
    runtime.destroy_model()
    outcome = await clean(work, runtime.model)
    assert reason_of(outcome) == "machine 0 waits for web/0; application web is dying"
    assert work.cloud.destroyed == 0


async def test_empty_model_ends(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.ctx.controller.set("current-model", "admin/shop")
    runtime.ctx.controller.known_hosts(runtime.model).write_text("h k\n")
    runtime.destroy_model()
    assert (await drive(runtime, work)).problems == ()
    assert runtime.left() == {}
    assert runtime.ctx.controller.settings().get("current-model") is None
    assert not runtime.ctx.controller.known_hosts(runtime.model).exists()
    assert [(item.entity, item.text, item.state) for item in work.events][-1] == (
        "model shop", "destroyed", "done",
    )  # fmt: skip


async def test_another_current_model_stays(runtime: TestController) -> None:
    runtime.ctx.controller.set("current-model", "admin/other")
    runtime.destroy_model()
    await drive(runtime, PlayedRuntime(runtime))
    assert runtime.ctx.controller.settings()["current-model"] == "admin/other"


async def test_model_whose_cloud_fails_stays(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)

    async def fail() -> None:
        raise ProviderError("cloud is down", detail="503")

    work.cloud.destroy_model = fail  # type: ignore[method-assign]
    runtime.destroy_model()
    settled = await drive(runtime, work)
    assert problems_of(settled) == ("destroying model shop: cloud is down: 503",)
    assert len(runtime.dump()["model"]) == 1
    assert runtime.due("loop/cleanup") == "2025-03-01T09:00:05.000000Z"
    runtime.clock.advance(5)
    await drive(runtime, work)
    assert runtime.due("loop/cleanup") == "2025-03-01T09:00:15.000000Z"


async def test_forced_model_is_forgotten_though_its_cloud_fails(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)

    async def fail() -> None:
        raise ProviderError("cloud is down")

    work.cloud.destroy_model = fail  # type: ignore[method-assign]
    runtime.destroy_model(Force())
    assert (await drive(runtime, work)).problems == ()
    assert runtime.dump()["model"] == []


async def test_model_that_is_gone(runtime: TestController) -> None:
    runtime.write(models.delete)
    outcome = await clean(PlayedRuntime(runtime), runtime.model)
    assert (outcome.due, outcome.failed) == (None, False)


# --- archives ---------------------------------------------------------------------------------------------


async def test_archive_goes_with_its_last_charm(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy("a")
    runtime.deploy("b")  # the same archive
    runtime.deploy("c", packed=runtime.charms.make("other"))
    assert len(runtime.blobs()) == 2
    for name, left in (("c", 1), ("a", 1), ("b", 0)):
        removals.remove_applications(runtime.ctx, runtime.model, [name])
        await clean(work, runtime.model)
        assert len(runtime.blobs()) == left


async def test_archive_of_another_model_stays(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    other = add_model(runtime.ctx, AddModelOptions(name="other"))
    request = NewApplication(application="web", packed=runtime.charms.make(), base=UBUNTU, count=1)
    new_application.add(runtime.ctx, other.uuid, request)
    runtime.deploy()
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    await clean(work, runtime.model)
    assert len(runtime.blobs()) == 1
    runtime.destroy_model()
    await drive(runtime, work)
    assert len(runtime.blobs()) == 1


async def test_model_that_ends_leaves_no_archive(runtime: TestController) -> None:
    """Its charms went with its applications a moment before."""
    work = PlayedRuntime(runtime)
    runtime.deploy("a")
    runtime.deploy("b", packed=runtime.charms.make("b"))
    await drive(runtime, work)
    runtime.destroy_model()
    await drive(runtime, work)
    assert runtime.blobs() == []


# --- what is old ------------------------------------------------------------------------------------------


async def test_old_lines_are_forgotten(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await drive(runtime, work)
    config: dict[str, Any] = {"max-status-history-age": "1h"}
    runtime.write(lambda tx: model_config.change(tx, config))
    runtime.write(lambda tx: logs.append(tx, "unit-web-0", "INFO", "m", "old", now=runtime.clock.now()))
    runtime.clock.advance(3601)
    runtime.write(lambda tx: logs.append(tx, "unit-web-0", "INFO", "m", "new", now=runtime.clock.now()))
    outcome = await clean(work, runtime.model)
    assert [item.message for item in logs.after(runtime.ctx.store, runtime.model, 0)] == ["new"]
    assert runtime.history(StatusKind.AGENT, "web/0") == [("idle", "")]  # the newest stays, however old
    assert runtime.dump()["operation"] == []
    assert outcome.due == runtime.clock.now() + timedelta(days=1)


async def test_what_is_old_is_deleted_in_batches(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other processes write between two batches; rows that stay do not come up again in the next batch."""
    monkeypatch.setattr(cleaner, "_BATCH", 10)
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await drive(runtime, work)

    def say(tx: ModelTx, text: str) -> None:
        statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", "active", text)

    for number in range(50):
        runtime.clock.advance(1)
        runtime.write(partial(say, text=str(number)))
    runtime.clock.advance(86400 * 30)
    with counted(runtime.ctx.store) as statements:
        await clean(work, runtime.model)
    assert sum(item.startswith("DELETE FROM status_history") for item in statements) >= 5
    kept = [(row["kind"], row["entity"]) for row in runtime.tables()["status_history"]]
    assert (StatusKind.WORKLOAD, "web/0") in kept
    assert len(set(kept)) == len(kept)  # the newest of each


async def test_failed_and_newest_operations_outlive_the_others(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await drive(runtime, work)
    insert = (
        "INSERT INTO operation"
        " (id, model, machine, unit, name, state, document, outcome, prepared, committed)"
        " VALUES (?, ?, '0', 'web/0', 'update-status', 'committed', '{}', ?, ?, ?)"
    )
    for number in range(60):
        runtime.clock.advance(60)
        now = to_iso(runtime.clock.now())
        outcome = "failed" if number == 3 else "committed"
        row = (f"{number:02}", runtime.model, outcome, now, now)
        runtime.ctx.store._connection.execute(insert, row)
    runtime.clock.advance(86400 + 3600)
    await clean(work, runtime.model)
    kept = sorted(row["id"] for row in runtime.tables()["operation"])
    assert kept == ["03", *(f"{number:02}" for number in range(10, 60))]


@pytest.mark.parametrize("state", ["prepared"])
async def test_open_operations_are_never_forgotten(runtime: TestController, state: str) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    runtime.until("install")
    runtime.clock.advance(86400 * 30)
    await clean(work, runtime.model)
    assert [item.state for item in runtime.open_operations()] == [state]
