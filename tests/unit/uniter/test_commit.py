"""Results taken into the model: each once, with all that it leads to."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pushjuju.core import limits
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import logs, statuses
from pushjuju.services.entities.model import model_config
from pushjuju.services.lifecycle import removal
from pushjuju.services.views.unit_documents import show_units
from pushjuju.uniter import turn
from pushjuju.uniter.commit import commit, take_events, take_flood
from pushjuju.uniter.decide.state import LocalState, OperationKind, Step
from pushjuju.uniter.decide.wire import from_wire
from pushjuju.uniter.dispatch import Dispatch
from tests.world.controller import TestController
from tests.world.machine import event, failed, ok, status_event


def _local(runtime: TestController, unit: str = "web/0") -> LocalState:
    return from_wire(LocalState, json.loads(runtime.unit(unit).state))


def _log(runtime: TestController) -> list[tuple[str, str, str, str]]:
    found = logs.after(runtime.ctx.store, runtime.model, 0)
    return [(item.entity, item.level, item.module, item.message) for item in found]


def _logging(runtime: TestController, config: str) -> None:
    runtime.write(lambda tx: model_config.change(tx, {"logging-config": config}))


def test_a_fault_of_the_next_decision_leaves_the_result_of_the_hook(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a fault of the resolver")

    runtime.deploy()
    dispatch = runtime.until("install")
    with monkeypatch.context() as patched:
        patched.setattr(turn, "decide", broken)
        done = commit(runtime.ctx, dispatch.id, ok(), decides=True)
    assert (done.ok, done.decided) == (True, None)
    assert runtime.prepared().title != "install"


# --- how a hook can end -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "good", "message"),
    [
        (ok(), True, ""),
        (ok(outcome="missing", via=None), True, ""),
        (failed(3), False, "exit status 3"),
        (failed(signal=6, exit=None), False, "signal 6"),
        (failed(message="the program could not be started"), False, "the program could not be started"),
        (ok(outcome="interrupted", exit=None), False, "exit status None"),
        (ok(outcome="unknown", message="never heard of it"), False, "never heard of it"),
    ],
)
def test_outcomes_of_a_hook(
    runtime: TestController, result: dict[str, Any], good: bool, message: str
) -> None:
    runtime.deploy()
    done = runtime.hook("install", result)
    assert (done.ok, done.message, bool(done.reboot), done.again_later) == (good, message, False, False)
    local = _local(runtime)
    if good:
        assert (local.kind, local.installed) == (OperationKind.CONTINUE, True)
    else:
        assert (local.kind, local.step, local.installed) == (OperationKind.RUN_HOOK, Step.PENDING, False)
        assert runtime.turn().dispatch is None
        assert runtime.agent() == ("error", 'hook failed: "install"')


def test_failure_is_logged_with_its_reason(runtime: TestController) -> None:
    runtime.deploy()
    runtime.hook("install", failed(2))
    line = (
        "unit-web-0",
        "ERROR",
        "juju.worker.uniter.operation",
        "run install hook for web/0: exit status 2",
    )
    assert line in _log(runtime)


def test_killed_hook_runs_again_at_once(runtime: TestController) -> None:
    runtime.deploy()
    done = runtime.hook("install", ok(outcome="terminated", signal=15))
    assert (done.ok, done.again_later) == (True, False)
    again = runtime.prepared()
    assert again.title == "install"
    assert ("error", 'hook failed: "install"') not in runtime.history(StatusKind.AGENT, "web/0")


def test_hook_that_the_machine_could_not_start(runtime: TestController) -> None:
    runtime.deploy()
    done = runtime.hook("install", ok(outcome="error", message="no space left on device"))
    assert (done.ok, done.again_later, done.message) == (False, True, "no space left on device")
    assert runtime.agent() == ("failed", "no space left on device")
    assert runtime.prepared().title == "install"  # the charm is not to blame: no error, no resolved


def test_charm_that_could_not_be_unpacked(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played()
    done = runtime.commit(runtime.prepared(), {"outcome": "error", "message": "no space left on device"})
    assert (done.ok, done.again_later) == (False, True)
    assert runtime.agent() == ("failed", "no space left on device")
    again = runtime.prepared()
    assert again.title == "charm local:web-0"
    assert runtime.commit(again, ok()).ok
    runtime.settle()
    assert runtime.agent() == ("idle", "")


def test_upgrade_that_could_not_be_unpacked(runtime: TestController) -> None:
    runtime.active()
    runtime.clear()
    runtime.refresh(runtime.charms.make(files={"a": "b"}))
    done = runtime.commit(runtime.until("charm local:web-1"), {"outcome": "error", "message": "disk full"})
    assert done.again_later
    assert runtime.unit("web/0").charm_url == "local:web-0"
    runtime.settle()
    assert runtime.of("web/0") == ["upgrade-charm", "config-changed"]


def test_result_for_a_unit_that_is_gone(runtime: TestController) -> None:
    runtime.deploy()
    dispatch = runtime.until("install")
    runtime.write(lambda tx: removal.force_unit(tx, units.get(tx, "web/0")))
    before = runtime.dump()
    done = runtime.commit(dispatch, ok(events=[status_event(1, "active")]))
    assert done.ok
    assert runtime.dump() == before


def test_operation_that_nobody_knows(runtime: TestController) -> None:
    before = runtime.dump()
    assert commit(runtime.ctx, "no-such-id", ok()).ok
    take_events(runtime.ctx, "no-such-id", [(1, {"k": "status", "scope": "unit", "status": "active"})])
    assert runtime.dump() == before


# --- once -------------------------------------------------------------------------------------------------

RICH = ok(
    writes={
        "relations": {"0": {"unit": {"k": "v"}, "app": {"a": "b"}}},
        "ports": {"open": [{"endpoint": "", "protocol": "tcp", "from": 80, "to": 80}], "close": []},
        "state": {"s": "1"},
        "status_set": True,
    },
    events=[
        status_event(1, "active", "up"),
        event(2, "log", level="WARNING", module="unit.web/0.juju-log", message="careful"),
        event(3, "version", version="1.2"),
    ],
    started=1.0,
    ended=2.0,
)


@pytest.mark.parametrize("result", [RICH, failed(), ok(outcome="terminated"), ok(outcome="error")])
def test_a_result_counts_once(runtime: TestController, result: dict[str, Any]) -> None:
    runtime.active()
    runtime.clock.advance(400)
    dispatch = runtime.until("update-status")
    runtime.commit(dispatch, result)
    before = runtime.dump()
    done = runtime.commit(dispatch, result)
    assert (done.ok, bool(done.reboot), done.again_later) == (True, False, False)
    assert runtime.dump() == before
    runtime.commit(dispatch, failed())
    assert runtime.dump() == before


def test_what_a_good_hook_leaves(runtime: TestController) -> None:
    runtime.active()
    runtime.clock.advance(400)
    runtime.hook("update-status", RICH)
    dump = runtime.dump()
    assert ("web/0", "s", "1") in [row[1:] for row in dump["charm_state"]]
    assert [row[1:] for row in dump["port"]] == [("web/0", "", "tcp", 80, 80)]
    bags = {row[2]: row[4] for row in dump["relation_bag"]}
    assert bags["web"] == '{"a":"b"}'
    assert '"k":"v"' in bags["web/0"]
    assert runtime.workload() == ("active", "up")
    assert runtime.application().workload_version == "1.2"
    assert ("unit-web-0", "WARNING", "unit.web/0.juju-log", "careful") in _log(runtime)
    (row,) = [item for item in dump["operation"] if item[4] == "update-status"]
    assert row[5] == "committed"


def test_what_a_failed_hook_leaves(runtime: TestController) -> None:
    """Statuses, log lines and versions stay, the rest is as if it had never been written."""
    runtime.active()
    runtime.clock.advance(400)
    dispatch = runtime.until("update-status")
    before = runtime.dump()
    runtime.commit(dispatch, {**RICH, "outcome": "failed", "exit": 1})
    after = runtime.dump()
    for table in ("charm_state", "port", "relation_bag", "relation_scope"):
        assert after[table] == before[table]
    assert runtime.workload() == ("active", "up")
    assert runtime.application().workload_version == "1.2"
    assert ("unit-web-0", "WARNING", "unit.web/0.juju-log", "careful") in _log(runtime)
    assert _local(runtime).status_set


def test_an_application_has_the_version_that_one_of_its_units_set_last(runtime: TestController) -> None:
    """A new unit has none until it sets one, and so has its application."""

    def versions() -> tuple[str, ...]:
        shown = show_units(runtime.ctx, runtime.model, sorted(runtime.units()))
        own = [unit.get("workload-version", "-") for unit in shown.values()]
        return (runtime.application().workload_version, *own)

    runtime.active()
    assert versions() == ("", "-")
    runtime.clock.advance(400)
    runtime.hook("update-status", ok(events=[event(1, "version", version="1.2")]))
    assert versions() == ("1.2", "1.2")
    units.add_units(runtime.ctx, runtime.model, "web", 1, ())
    assert versions() == ("", "1.2", "-")
    runtime.clock.advance(400)
    runtime.write(lambda tx: units.set_version(tx, "web/1", "1.3", tx.now))
    assert versions() == ("1.3", "1.2", "1.3")
    runtime.write(lambda tx: removal.remove_unit(tx, units.get(tx, "web/1")))
    assert versions() == ("1.2", "1.2")


def test_own_row_of_the_operation_tells_how_it_ended(runtime: TestController) -> None:
    runtime.deploy()
    dispatch = runtime.until("install")
    runtime.commit(dispatch, failed(4, started=1.5, ended=2.5))
    from pushjuju.store.rows.records import Operation

    row = runtime.read(lambda tx: tx.get(Operation, "operation_get", "", id=dispatch.id))
    assert (row.state, row.outcome) == ("committed", "failed")
    assert row.result == {
        "exit": 4, "message": "exit status 4", "started": 1.5, "ended": 2.5, "via": "hook",
    }  # fmt: skip


# --- events -----------------------------------------------------------------------------------------------


def test_events_count_once_by_their_number(runtime: TestController) -> None:
    runtime.active()
    runtime.clock.advance(400)
    dispatch = runtime.until("update-status")
    lines = [event(n, "log", level="INFO", module="unit.web/0.juju-log", message=str(n)) for n in range(1, 6)]
    pairs = [(item["seq"], item["e"]) for item in lines]
    take_events(runtime.ctx, dispatch.id, pairs[:2])
    take_events(runtime.ctx, dispatch.id, pairs[:3])
    take_events(runtime.ctx, dispatch.id, [pairs[0]])
    runtime.commit(dispatch, ok(events=lines))
    take_events(runtime.ctx, dispatch.id, pairs)
    found = [item[3] for item in _log(runtime) if item[2] == "unit.web/0.juju-log"]
    assert found == ["1", "2", "3", "4", "5"]


def test_events_in_the_order_of_their_numbers(runtime: TestController) -> None:
    runtime.active()
    runtime.clock.advance(400)
    dispatch = runtime.until("update-status")
    runtime.commit(
        dispatch, ok(events=[status_event(2, "active", "last"), status_event(1, "waiting", "first")])
    )
    assert runtime.workload() == ("active", "last")


def test_streamed_status_is_seen_while_the_hook_runs(runtime: TestController) -> None:
    runtime.deploy()
    dispatch = runtime.until("install")
    status = {
        "k": "status",
        "scope": "unit",
        "status": "maintenance",
        "message": "half",
        "time": runtime.clock.now().timestamp(),
    }
    take_events(runtime.ctx, dispatch.id, [(1, status)])
    assert runtime.workload() == ("maintenance", "half")
    status = {
        "k": "status",
        "scope": "app",
        "status": "active",
        "message": "all",
        "time": runtime.clock.now().timestamp(),
    }
    take_events(runtime.ctx, dispatch.id, [(2, status)])
    assert runtime.status(StatusKind.APPLICATION, "web") == ("active", "all")


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        (30, "09:07:10"),  # seconds after the operation was prepared
        (0, "09:06:40"),
        (-7200, "09:06:40"),  # a clock that is late
        (7200, "09:07:40"),  # one that is early
        (1e18, "09:07:40"),
    ],
)
def test_events_carry_the_machines_time_within_reason(
    runtime: TestController, said: float, taken: str
) -> None:
    runtime.active()
    runtime.clock.advance(400)
    dispatch = runtime.until("update-status")
    time = runtime.clock.now().timestamp() + said
    runtime.clock.advance(60)
    line = {"k": "log", "level": "INFO", "module": "m", "message": "then", "time": time}
    status = {"k": "status", "scope": "unit", "status": "active", "message": "", "time": time}
    take_events(runtime.ctx, dispatch.id, [(1, line), (2, status)])
    (found,) = [item for item in logs.after(runtime.ctx.store, runtime.model, 0) if item.message == "then"]
    assert found.time == f"2025-03-01T{taken}.000000Z"
    info = runtime.read(lambda tx: statuses.get_status(tx, StatusKind.WORKLOAD, "web/0"))
    assert info.since.strftime("%H:%M:%S") == taken


@pytest.mark.parametrize(
    ("config", "kept"),
    [
        ("<root>=INFO", ["err", "note", "loud"]),
        ("<root>=INFO;unit=DEBUG", ["out", "err", "note", "loud"]),
        ("<root>=INFO;unit=TRACE", ["out", "err", "quiet", "note", "loud"]),
        ("<root>=ERROR", ["loud"]),
        ("<root>=ERROR;unit.web/0.juju-log=INFO", ["note", "loud"]),
    ],
)
def test_logging_config_decides_what_is_kept(runtime: TestController, config: str, kept: list[str]) -> None:
    runtime.active()
    _logging(runtime, config)
    runtime.clock.advance(400)
    runtime.hook("update-status", ok(events=[
        event(1, "output", stream="stdout", line="out"),
        event(2, "output", stream="stderr", line="err"),
        event(3, "log", level="TRACE", module="unit.web/0.juju-log", message="quiet"),
        event(4, "log", level="INFO", module="unit.web/0.juju-log", message="note"),
        event(5, "log", level="ERROR", module="unit.web/0.juju-log", message="loud"),
    ]))  # fmt: skip
    assert [item[3] for item in _log(runtime) if item[2].startswith("unit.web/0")] == kept


def test_output_lines_of_a_hook(runtime: TestController) -> None:
    runtime.active()
    _logging(runtime, "<root>=INFO;unit=DEBUG")
    runtime.clock.advance(400)
    runtime.hook("update-status", ok(events=[
        event(1, "output", stream="stdout", line="hello"), event(2, "output", stream="stderr", line="oops"),
    ]))  # fmt: skip
    assert [item for item in _log(runtime) if item[2] == "unit.web/0.update-status"] == [
        ("unit-web-0", "DEBUG", "unit.web/0.update-status", "hello"),
        ("unit-web-0", "WARNING", "unit.web/0.update-status", "oops"),
    ]


# --- reboots ----------------------------------------------------------------------------------------------


def test_reboot_after_the_hook(runtime: TestController) -> None:
    """What the hook wrote stays; its commit follows the boot, and then `start`."""
    runtime.active()
    runtime.clear()
    runtime.clock.advance(400)
    done = runtime.hook("update-status", ok(reboot="after", writes={"state": {"k": "v"}, "reboot": "after"}))
    assert (done.ok, bool(done.reboot)) == (True, True)
    assert runtime.agent() == ("rebooting", "")
    assert runtime.dump()["charm_state"] != []
    local = _local(runtime)
    assert (local.kind, local.step) == (OperationKind.RUN_HOOK, Step.DONE)
    runtime.reboot("0")
    runtime.settle()
    assert runtime.of("web/0") == ["start"]
    assert runtime.agent() == ("idle", "")


def test_reboot_now(runtime: TestController) -> None:
    """What the hook wrote is lost; it runs again after the boot."""
    runtime.active()
    runtime.clear()
    runtime.clock.advance(400)
    done = runtime.hook(
        "update-status",
        ok(outcome="terminated", signal=9, reboot="now", writes={"state": {"k": "v"}, "reboot": "now"}),
    )
    assert (done.ok, bool(done.reboot)) == (True, True)
    assert runtime.agent() == ("rebooting", "")
    assert runtime.dump()["charm_state"] == []
    runtime.reboot("0")
    runtime.settle()
    assert runtime.of("web/0") == ["update-status", "start"]


def test_reboot_in_the_install_hook(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().will("install", ok(reboot="after"))
    runtime.settle()
    assert runtime.of("web/0") == [
        "install", "cluster-relation-created", "leader-elected", "config-changed", "start",
    ]  # fmt: skip


def test_failed_hook_that_asked_for_a_reboot(runtime: TestController) -> None:
    runtime.deploy()
    done = runtime.hook("install", failed(reboot="after"))
    assert (done.ok, bool(done.reboot)) == (False, False)
    assert runtime.turn().dispatch is None
    assert runtime.agent()[0] == "error"


def test_boot_that_nobody_asked_for(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clear()
    runtime.reboot("0")
    runtime.settle()
    assert (runtime.of("web/0"), runtime.of("web/1")) == (["start"], [])


# --- what follows -----------------------------------------------------------------------------------------


def test_upgrade_lets_the_others_look(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.refresh(runtime.charms.make(files={"a": "b"}))
    runtime.forget_work()
    runtime.commit(runtime.until("charm local:web-1"), ok())
    assert {"machine/0", "machine/1"} <= set(runtime.touched())


def test_relation_settings_reach_the_others(runtime: TestController) -> None:
    runtime.active(count=3)
    runtime.clear()
    runtime.clock.advance(400)
    for machine in ("1", "2"):
        runtime.work(machine)
    runtime.clear()
    runtime.forget_work()
    runtime.hook("update-status", ok(writes={"relations": {"0": {"unit": {"k": "v"}}}}))
    assert runtime.touched() == ["machine/1", "machine/2"]
    runtime.settle()
    assert {unit: runtime.of(unit) for unit in ("web/0", "web/1", "web/2")} == {
        "web/0": [], "web/1": ["cluster-relation-changed"], "web/2": ["cluster-relation-changed"],
    }  # fmt: skip


# --- floods -----------------------------------------------------------------------------------------------


def _update_status(runtime: TestController) -> Dispatch:
    runtime.clock.advance(4000)
    return runtime.until("update-status")


def _flood(count: int, *, status: bool = False) -> list[dict[str, Any]]:
    if status:
        return [status_event(n, "active", f"step {n}") for n in range(1, count + 1)]
    return [event(n, "log", level="ERROR", module="m", message=f"line {n}") for n in range(1, count + 1)]


def _longest_hold(runtime: TestController, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return where it is noted how long each transaction holds the store."""
    holds: list[float] = []
    write = type(runtime.ctx.store).write

    @contextmanager
    def timed(self: Any, *model: str, **more: Any) -> Iterator[Any]:
        with write(self, *model, **more) as tx:
            begun = time.thread_time()
            yield tx
            holds.append(time.thread_time() - begun)

    monkeypatch.setattr(type(runtime.ctx.store), "write", timed)
    return holds


@pytest.mark.parametrize("status", [False, True], ids=["lines", "statuses"])
def test_a_flood_of_messages_holds_the_store_for_moments_only(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch, status: bool
) -> None:
    runtime.active()
    small, large = 4, 16
    each = limits.EVENTS_AT_ONCE
    longest = []
    for parts in (small, large):
        dispatch = _update_status(runtime)
        holds = _longest_hold(runtime, monkeypatch)
        assert runtime.commit(dispatch, ok(events=_flood(parts * each, status=status))).ok
        assert len(holds) >= parts
        longest.append(max(holds))
        monkeypatch.undo()
    print(f"longest of {small * each} messages: {longest[0]:.3f} s, of {large * each}: {longest[1]:.3f} s")
    assert longest[1] < 3 * longest[0] + 0.05


def test_a_flood_that_breaks_off_goes_on_where_it_was(runtime: TestController) -> None:
    runtime.active()
    dispatch = _update_status(runtime)
    result = ok(events=_flood(3 * limits.EVENTS_AT_ONCE + 1))
    parts = take_flood(runtime.ctx, dispatch.id, result)
    next(parts)
    next(parts)
    parts.close()  # it dies here
    assert runtime.commit(dispatch, result).ok
    lines = [item[3] for item in _log(runtime) if item[3].startswith("line ")]
    assert lines == [f"line {n}" for n in range(1, 3 * limits.EVENTS_AT_ONCE + 2)]


def test_few_messages_stay_in_the_one_transaction_of_their_result(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.active()
    dispatch = _update_status(runtime)
    holds = _longest_hold(runtime, monkeypatch)
    assert runtime.commit(dispatch, ok(events=_flood(limits.EVENTS_AT_ONCE))).ok
    assert len(holds) == 1


def test_long_lines_are_taken_in_parts_as_well(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.active()
    dispatch = _update_status(runtime)
    monkeypatch.setattr(limits, "TEXT_AT_ONCE", 2 * limits.MESSAGE)
    lines = [
        event(n, "log", level="ERROR", module="m", message=f"{n}" + "x" * (limits.MESSAGE - 8))
        for n in range(1, 21)
    ]
    holds = _longest_hold(runtime, monkeypatch)
    assert runtime.commit(dispatch, ok(events=lines)).ok
    assert len(holds) > 10
    assert sum(item[3].endswith("xxx") for item in _log(runtime)) == 20
