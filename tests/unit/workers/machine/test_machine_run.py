"""Operations on one machine: run once whatever is killed, and one unit holds no other up."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.errors import StoreBusy, StoreError
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership, logs
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings, unit_requests
from pushjuju.workers import live
from tests.unit.workers.machine.test_machine_worker import HERE, _fresh_box, _in
from tests.world.charms import SETUP
from tests.world.controller import TestController
from tests.world.machine import ok
from tests.world.runtime import Died, PlayedRuntime, die_at, worker
from tests.world.said import reason_of


async def test_charm_travels_before_it_is_unpacked(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    assert runtime.played_machines["0"].blobs == [runtime.charms.make().sha256]
    assert [frame["kind"] for frame in runtime.played_machines["0"].frames] == ["deploy"] + ["hook"] * 5
    assert runtime.played_machines["0"].results == {}  # all acknowledged


async def test_failed_hook_is_no_failure_of_the_lane(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    runtime.played_machines["0"] = played = _fresh_box(runtime)
    played.fail("install")
    outcome = await worker(work)
    assert not outcome.failed
    assert outcome.due == runtime.unit("web/0").retry_due
    assert runtime.agent() == ("error", 'hook failed: "install"')


async def test_machine_that_cannot_even_try(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    played = _fresh_box(runtime)
    played.will("deploy", {"outcome": "error", "message": "no space left on device"})
    outcome = await worker(work)
    assert (outcome.failed, _in(runtime, outcome)) == (True, 5.0)
    assert reason_of(outcome) == "unit web/0: charm local:web-0: no space left on device"
    assert runtime.agent() == ("failed", "no space left on device")
    assert not (await worker(work)).failed
    assert tuple(runtime.of("web/0")) == SETUP


NO_SPACE = {"outcome": "error", "message": "no space left on device"}


@pytest.mark.parametrize("what", ["deploy", "install", "config-changed"])
async def test_a_unit_that_the_machine_cannot_serve_leaves_its_neighbours_their_turns(
    runtime: TestController, what: str
) -> None:
    """Those that sort before it and after it; also when they are to go."""
    work = PlayedRuntime(runtime)
    for name in ("app", "web", "zap"):
        runtime.deploy(name, packed=runtime.charms.make(name), placements=[] if name == "app" else [HERE])
    played = _fresh_box(runtime)
    played.will(what, NO_SPACE, NO_SPACE, NO_SPACE, unit="web/0")
    outcome = await worker(work)
    assert tuple(runtime.of("app/0")) == tuple(runtime.of("zap/0")) == SETUP
    assert (outcome.failed, outcome.attempts, _in(runtime, outcome)) == (True, 1, 5.0)
    assert reason_of(outcome).startswith("unit web/0: ")
    assert reason_of(outcome).endswith("no space left on device")
    assert runtime.agent("web/0") == ("failed", "no space left on device")
    removals.remove_units(runtime.ctx, runtime.model, ["zap/0"])
    outcome = await worker(work, attempts=1)
    assert runtime.units() == ["app/0", "web/0"]
    assert _in(runtime, outcome) == 10.0
    await worker(work, attempts=2)  # fails for the third and last time
    assert not (await worker(work, attempts=3)).failed
    assert runtime.agent("web/0") == ("idle", "")
    assert [hook for hook in runtime.of("web/0") if hook != what] == [hook for hook in SETUP if hook != what]


async def test_a_charm_that_is_missing_from_the_store_holds_its_own_unit_up_alone(
    runtime: TestController,
) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    runtime.deploy("zap", packed=runtime.charms.make("zap"), placements=[HERE])
    runtime.ctx.controller.blobs.delete(runtime.charms.make().sha256)
    outcome = await worker(work)
    assert tuple(runtime.of("zap/0")) == SETUP
    assert outcome.failed
    assert runtime.agent() == ("failed", "resolver loop error")
    assert "is missing from" in logs.after(runtime.ctx.store, runtime.model, 0)[-1].message


async def test_a_hook_that_is_killed_each_time_holds_its_own_unit_up_alone(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    runtime.deploy("zap", packed=runtime.charms.make("zap"), placements=[HERE])
    _fresh_box(runtime).will("start", *[{"outcome": "terminated"}] * 5, unit="web/0")
    outcome = await worker(work)
    assert tuple(runtime.of("zap/0")) == SETUP
    assert reason_of(outcome) == "unit web/0: start was killed 5 times in a row"


STUCK = {"outcome": "error", "code": "conflict", "message": "data: device or resource busy"}


async def test_an_upgrade_that_cannot_be_unpacked_waits_for_resolved(runtime: TestController) -> None:
    """It is the unit's error, as a failed hook is: nothing is tried again by itself, neighbours go on."""
    work = PlayedRuntime(runtime)
    runtime.deploy()
    runtime.deploy("zap", packed=runtime.charms.make("zap"), placements=[HERE])
    await worker(work)
    played = _fresh_box(runtime)
    played.will("deploy", STUCK, STUCK, unit="web/0")
    runtime.refresh(runtime.charms.make("web", files={"new": "1"}))
    settings.set_trust(runtime.ctx, runtime.model, "zap", trusted=True)
    ran = len(runtime.of("web/0"))
    assert not (await worker(work)).failed
    assert (runtime.agent(), runtime.of("zap/0")[-1]) == (("error", "upgrade failed"), "config-changed")
    assert any(STUCK["message"] in item.message for item in logs.after(runtime.ctx.store, runtime.model, 0))
    runtime.clock.advance(600)
    await worker(work)
    deploys = [frame for frame in played.frames if frame["kind"] == "deploy" and frame["unit"] == "web/0"]
    assert (len(deploys), runtime.of("web/0")[ran:]) == (2, [])
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=False)
    await worker(work)
    assert runtime.agent() == ("error", "upgrade failed")
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=True)
    await worker(work)
    assert runtime.of("web/0")[ran:][:2] == ["upgrade-charm", "config-changed"]
    assert (runtime.agent(), runtime.unit("web/0").charm_url) == (("idle", ""), "local:web-1")


async def test_a_charm_that_was_deleted_on_its_machine_comes_back_at_the_next_contact(
    runtime: TestController,
) -> None:
    """Then upgrade-charm and config-changed run, once; a unit that never had its charm installs it."""
    work = PlayedRuntime(runtime)
    runtime.deploy()
    runtime.deploy("zap", packed=runtime.charms.make("zap"), placements=[HERE])
    await worker(work)
    del runtime.played_machines["0"].charms["web/0"]
    settings.set_trust(runtime.ctx, runtime.model, "zap", trusted=True)
    runtime.deploy("new", packed=runtime.charms.make("new"), placements=[HERE])
    ran = len(runtime.of("web/0"))
    for _ in range(2):
        assert not (await worker(work)).failed
    assert runtime.of("web/0")[ran:] == ["upgrade-charm", "config-changed"]
    assert runtime.played_machines["0"].charms["web/0"] == "local:web-0"
    assert (tuple(runtime.of("new/0")), runtime.of("zap/0")[-1]) == (SETUP, "config-changed")


async def test_files_that_cannot_be_removed_hold_nobody_up(runtime: TestController) -> None:
    """Of a unit that ran its last hook, and of one that was removed by force while nobody could be asked."""
    work = PlayedRuntime(runtime)
    for name in ("app", "web", "zap"):
        runtime.deploy(name, packed=runtime.charms.make(name), placements=[] if name == "app" else [HERE])
    await worker(work)
    removals.remove_units(runtime.ctx, runtime.model, ["app/0", "zap/0"])
    played = _fresh_box(runtime)
    refusal = {"outcome": "error", "message": "read-only file system"}
    played.will("remove-unit", refusal, refusal, unit="app/0")
    outcome = await worker(work)
    assert runtime.units() == ["app/0", "web/0"]
    assert reason_of(outcome) == "unit app/0: its files could not be removed: read-only file system"
    assert runtime.agent("app/0") == ("failed", reason_of(outcome))
    runtime.write(lambda tx: removal.force_unit(tx, units.get(tx, "app/0")))
    played.left = ["app/0", "web/0"]
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    outcome = await worker(work)
    assert runtime.of("web/0")[-1] == "config-changed"
    assert reason_of(outcome) == "unit app/0: its files could not be removed: read-only file system"
    assert not (await worker(work)).failed


async def test_cut_connection_loses_nothing(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    played = _fresh_box(runtime)
    played.will("install", ok(cut=True, writes={"state": {"k": "v"}}))
    outcome = await worker(work)
    assert (outcome.failed, reason_of(outcome)) == (True, "the connection was lost")
    (operation,) = runtime.open_operations()
    assert operation.name == "install"
    assert not (await worker(work)).failed
    assert tuple(runtime.of("web/0")) == SETUP  # install ran once
    assert [row[2:] for row in runtime.dump()["charm_state"]] == [("k", "v")]
    assert runtime.open_operations() == []


STEPS = (
    "machine-started", "attached", "prepared", "charm-pushed", "result", "committed", "saved", "acknowledged",
)  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("nth", [1, 3])
async def test_killed_at_any_step_every_hook_runs_once(runtime: TestController, step: str, nth: int) -> None:
    runtime.deploy()
    with_death = PlayedRuntime(runtime, die_at(step, nth))
    try:
        await worker(with_death)
    except Died:
        pass
    else:
        assert nth > 1
    outcome = await worker(PlayedRuntime(runtime))
    assert not outcome.failed
    assert tuple(runtime.of("web/0")) == SETUP
    assert runtime.agent() == ("idle", "")
    assert runtime.played_machines["0"].results == {}
    assert runtime.open_operations() == []


async def test_result_of_a_unit_that_was_forced_away(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy(count=1)
    played = _fresh_box(runtime)
    played.will("install", ok(cut=True))
    await worker(work)
    runtime.write(lambda tx: removal.force_unit(tx, units.get(tx, "web/0")))
    await worker(work)
    assert runtime.machine_ids() == []


async def test_hook_of_a_unit_that_was_forced_away_is_ended(runtime: TestController) -> None:
    """Its neighbour's lane finds it in the machine's journal."""
    work = PlayedRuntime(runtime)
    runtime.deploy()
    runtime.deploy("db", packed=runtime.charms.make("db"), placements=[Placement.parse("0")])
    played = _fresh_box(runtime)
    played.will("install", ok(cut=True), unit="web/0")
    for _ in range(3):
        await worker(work)
    runtime.write(lambda tx: removal.force_unit(tx, units.get(tx, "web/0")))
    played.results["late"] = {"outcome": "ok"}
    assert not (await worker(work)).failed
    assert tuple(runtime.of("db/0")) == SETUP
    assert runtime.units() == ["db/0"]


async def test_events_come_in_while_the_hook_runs(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    played = _fresh_box(runtime)
    status = {"k": "status", "scope": "unit", "status": "active", "message": "up", "time": None}
    played.will("install", ok(writes={"status_set": True}, events=[{"seq": 1, "e": status}]))
    await worker(work)
    assert runtime.workload() == ("active", "up")
    assert runtime.history(StatusKind.WORKLOAD, "web/0").count(("active", "up")) == 1


async def test_live_calls_are_answered(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy(count=2)
    played = _fresh_box(runtime)
    calls = [("leader-set", ["a=1"]), ("leader-set", ["--", "b=2"]), ("no-such-tool", ["x"])]
    played.will("leader-elected", ok(live=calls))
    await worker(work)
    assert runtime.read(lambda tx: leadership.settings(tx, "web")) == {"a": "1", "b": "2"}
    assert played.answers[:2] == [(0, b"", b"")] * 2
    assert played.answers[2] == (1, b"", b"ERROR no-such-tool is not answered by this controller\n")
    runtime.played("1").will("start", ok(live=[("leader-set", ["a=9"])]))
    await worker(work, "1")
    text = b"ERROR cannot write leadership settings: cannot write settings: not the leader\n"
    assert runtime.played_machines["1"].answers == [(1, b"", text)]


async def test_a_live_call_waits_while_the_store_cannot_be_used(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook is not at fault, so the hook must not fail."""
    work = PlayedRuntime(runtime)
    runtime.deploy()
    _fresh_box(runtime).will("leader-elected", ok(live=[("leader-set", ["a=1"])]))
    away = iter([StoreBusy("the server restarts"), StoreError("the disk is full")])

    def leader_set(*call: Any) -> None:
        for error in away:
            raise error
        live._leader_set(*call)

    monkeypatch.setitem(live._TOOLS, "leader-set", leader_set)
    monkeypatch.setattr(live, "AGAIN_S", 0.0)
    assert not (await worker(work)).failed
    assert runtime.played().answers == [(0, b"", b"")]
    assert runtime.read(lambda tx: leadership.settings(tx, "web")) == {"a": "1"}
    assert next(away, None) is None


async def test_reboot_of_a_hook(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    played = _fresh_box(runtime)
    played.will("start", ok(reboot="after"))
    outcome = await worker(work)
    assert not outcome.failed
    assert played.boot_id == "boot-1+"
    assert tuple(runtime.of("web/0")) == SETUP  # `start` itself asked: none is run for the boot
    assert [frame["kind"] for frame in played.frames].count("reboot") == 1
    assert runtime.machine("0").boot_id == "boot-1+"
    assert runtime.agent() == ("idle", "")


@pytest.mark.parametrize("step", ["committed", "rebooting"])
async def test_killed_before_a_reboot_it_happens_once(runtime: TestController, step: str) -> None:
    runtime.deploy()
    played = _fresh_box(runtime)
    played.will("start", ok(reboot="after"))
    seen: list[str] = []

    def die(name: str) -> None:
        seen.append(name)
        if name == step and runtime.agent() == ("rebooting", ""):
            raise Died

    with pytest.raises(Died):
        await worker(PlayedRuntime(runtime, die))
    await worker(PlayedRuntime(runtime))
    await worker(PlayedRuntime(runtime))
    assert [frame["kind"] for frame in played.frames].count("reboot") == 1
    assert played.boot_id == "boot-1+"
    assert runtime.agent() == ("idle", "")
