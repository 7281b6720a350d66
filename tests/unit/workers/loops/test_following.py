"""What another process does is told to who waits for it."""

from __future__ import annotations

import dataclasses

from pushjuju.core.clock import to_iso
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.store.queue import WorkQueue, machine_key
from pushjuju.workers.events import Event
from pushjuju.workers.loops.following import EVERY, Follower
from tests.world.controller import TestController


def _looked(
    runtime: TestController, follower: Follower, told: list[Event]
) -> list[tuple[str, str, str, str]]:
    told.clear()
    runtime.clock.advance(EVERY.total_seconds())
    follower.look((runtime.model,))
    return [(event.entity, event.text, event.state, event.parent) for event in told]


def test_a_machine_in_other_hands_is_told_from_the_store(runtime: TestController) -> None:
    runtime.deploy()
    told: list[Event] = []
    follower = Follower(runtime.ctx, told.append, "me")
    assert _looked(runtime, follower, told) == []  # nobody works it
    queue = WorkQueue(runtime.ctx.store, "another process")
    assert queue.claim(machine_key(runtime.model, "0"), runtime.clock.now()) is not None
    assert _looked(runtime, follower, told) == [("machine 0", "starting machine", "running", "")]
    assert _looked(runtime, follower, told) == []
    _write(runtime, "op-1", "install")
    assert _looked(runtime, follower, told) == [("web/0", "install: running", "running", "machine 0")]
    assert _looked(runtime, follower, told) == []
    runtime.write(
        lambda tx: tx.run("operation_commit", id="op-1", outcome="ok", result="{}", now=_now(runtime))
    )
    _write(runtime, "op-2", "start")
    runtime.write(
        lambda tx: tx.run("operation_commit", id="op-2", outcome="failed", result="{}", now=_now(runtime))
    )
    _write(runtime, "op-3", "update-status", state="planned")
    assert _looked(runtime, follower, told) == [
        ("web/0", "install: done", "done", "machine 0"),
        ("web/0", "start: failed", "failed", "machine 0"),
    ]
    follower.look((runtime.model,))  # too soon
    assert len(told) == 2


def test_a_machine_that_this_process_has_taken_over_is_told_once(runtime: TestController) -> None:
    runtime.deploy()
    told: list[Event] = []
    follower = Follower(runtime.ctx, told.append, "me")
    key = machine_key(runtime.model, "0")
    claim = WorkQueue(runtime.ctx.store, "a process that dies").claim(key, runtime.clock.now())
    assert claim is not None
    assert _looked(runtime, follower, told) == [("machine 0", "starting machine", "running", "")]
    WorkQueue(runtime.ctx.store, claim.owner).finish(claim, runtime.clock.now(), runtime.clock.now())
    assert WorkQueue(runtime.ctx.store, "me").claim(key, runtime.clock.now()) is not None
    _write(runtime, "op-1", "install")
    runtime.clock.advance(EVERY.total_seconds())
    follower.look((runtime.model,), {key})
    assert len(told) == 1
    assert _looked(runtime, follower, told) == []  # also afterwards


def test_what_another_process_removes_ends_on_removed(runtime: TestController) -> None:
    """The record of the last hooks goes with the unit: they may never be seen as done."""
    runtime.deploy(count=2)
    told: list[Event] = []
    follower = Follower(runtime.ctx, told.append, "me")
    queue = WorkQueue(runtime.ctx.store, "another process")
    assert queue.claim(machine_key(runtime.model, "0"), runtime.clock.now()) is not None
    _looked(runtime, follower, told)
    _write(runtime, "op-1", "remove")
    assert _looked(runtime, follower, told) == [("web/0", "remove: running", "running", "machine 0")]
    unit = runtime.unit("web/0")
    runtime.write(lambda tx: removal.remove_unit(tx, unit))
    assert _looked(runtime, follower, told) == [("web/0", "removed", "done", "")]
    machine = runtime.machine("0")
    runtime.write(lambda tx: removal.remove_machine(tx, machine))
    assert _looked(runtime, follower, told) == [("machine 0", "removed", "done", "")]
    assert _looked(runtime, follower, told) == []


def test_an_application_that_is_removed_ends_on_removed(runtime: TestController) -> None:
    runtime.active("web", 2)
    runtime.active("db")
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    told: list[Event] = []
    follower = Follower(runtime.ctx, told.append, "me", (runtime.model,))
    for unit in map(runtime.unit, ("web/0", "web/1")):
        assert _looked(runtime, follower, told) == []
        runtime.write(lambda tx, gone=unit: removal.remove_unit(tx, gone))
    assert _looked(runtime, follower, told) == [("application web", "removed", "done", "")]
    assert _looked(runtime, follower, told) == []


def _now(runtime: TestController) -> str:
    runtime.clock.advance(0.001)
    return to_iso(runtime.clock.now())


def _write(runtime: TestController, number: str, name: str, state: str = "prepared") -> None:
    from pushjuju.store.rows.records import Operation

    fields = {field.name for field in dataclasses.fields(Operation)}
    known = {
        "id": number, "model": runtime.model, "machine": "0", "unit": "web/0", "name": name, "state": state,
        "document": {}, "prepared": _now(runtime), "kind": "hook",
    }  # fmt: skip
    row = Operation(**{key: value for key, value in known.items() if key in fields})  # type: ignore[arg-type]
    runtime.write(lambda tx: tx.insert("operation", row))


def test_machines_that_are_gone_say_nothing(runtime: TestController) -> None:
    told: list[Event] = []
    follower = Follower(runtime.ctx, told.append, "me")
    queue, key = WorkQueue(runtime.ctx.store, "another process"), machine_key(runtime.model, "9")
    runtime.write(lambda tx: queue.touch(tx, key, runtime.clock.now()))
    assert queue.claim(key, runtime.clock.now()) is not None
    assert _looked(runtime, follower, told) == []
    follower.catch_up()
    assert told == []
