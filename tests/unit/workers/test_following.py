"""What another process does is told to who waits for it."""

from __future__ import annotations

import dataclasses

from pushjuju.core.clock import to_iso
from pushjuju.services.lifecycle import removal
from pushjuju.state.work import SqliteWorkQueue, machine_key
from pushjuju.workers.events import Event
from pushjuju.workers.following import EVERY, Follower
from tests.unit.services.world import World


def _looked(shop: World, follower: Follower, told: list[Event]) -> list[tuple[str, str, str, str]]:
    told.clear()
    shop.clock.advance(EVERY.total_seconds())
    follower.look((shop.model,))
    return [(event.entity, event.text, event.state, event.parent) for event in told]


def test_a_machine_in_other_hands_is_told_from_the_store(shop: World) -> None:
    shop.deploy()
    told: list[Event] = []
    follower = Follower(shop.ctx, told.append, "me")
    assert _looked(shop, follower, told) == []  # nobody works it
    queue = SqliteWorkQueue(shop.ctx.store, "another process")
    assert queue.claim(machine_key(shop.model, "0"), shop.clock.now()) is not None
    assert _looked(shop, follower, told) == [("machine 0", "starting machine", "running", "")]
    assert _looked(shop, follower, told) == []
    _write(shop, "op-1", "install")
    assert _looked(shop, follower, told) == [("web/0", "install: running", "running", "machine 0")]
    assert _looked(shop, follower, told) == []
    shop.write(lambda tx: tx.run("operation_commit", id="op-1", outcome="ok", result="{}", now=_now(shop)))
    _write(shop, "op-2", "start")
    shop.write(
        lambda tx: tx.run("operation_commit", id="op-2", outcome="failed", result="{}", now=_now(shop))
    )
    _write(shop, "op-3", "update-status", state="planned")
    assert _looked(shop, follower, told) == [
        ("web/0", "install: done", "done", "machine 0"),
        ("web/0", "start: failed", "failed", "machine 0"),
    ]
    follower.look((shop.model,))  # too soon
    assert len(told) == 2


def test_what_another_process_removes_ends_on_removed(shop: World) -> None:
    """The record of the last hooks goes with the unit: they may never be seen as done."""
    shop.deploy(count=2)
    told: list[Event] = []
    follower = Follower(shop.ctx, told.append, "me")
    queue = SqliteWorkQueue(shop.ctx.store, "another process")
    assert queue.claim(machine_key(shop.model, "0"), shop.clock.now()) is not None
    _looked(shop, follower, told)
    _write(shop, "op-1", "remove")
    assert _looked(shop, follower, told) == [("web/0", "remove: running", "running", "machine 0")]
    unit = shop.unit("web/0")
    shop.write(lambda tx: removal.remove_unit(tx, unit, shop.clock.now()))
    assert _looked(shop, follower, told) == [("web/0", "removed", "done", "")]
    machine = shop.machine("0")
    shop.write(lambda tx: removal.remove_machine(tx, machine, shop.clock.now()))
    assert _looked(shop, follower, told) == [("machine 0", "removed", "done", "")]
    assert _looked(shop, follower, told) == []


def test_an_application_that_is_removed_ends_on_removed(shop: World) -> None:
    shop.active("web", 2)
    shop.active("db")
    removal.remove_application(shop.ctx, shop.model, ["web"])
    told: list[Event] = []
    follower = Follower(shop.ctx, told.append, "me", (shop.model,))
    for unit in map(shop.unit, ("web/0", "web/1")):
        assert _looked(shop, follower, told) == []
        shop.write(lambda tx, gone=unit: removal.remove_unit(tx, gone, shop.clock.now()))
    assert _looked(shop, follower, told) == [("application web", "removed", "done", "")]
    assert _looked(shop, follower, told) == []


def _now(shop: World) -> str:
    shop.clock.advance(0.001)
    return to_iso(shop.clock.now())


def _write(shop: World, number: str, name: str, state: str = "prepared") -> None:
    from pushjuju.state.records import Operation

    fields = {field.name for field in dataclasses.fields(Operation)}
    known = {
        "id": number, "model": shop.model, "machine": "0", "unit": "web/0", "name": name, "state": state,
        "document": {}, "prepared": _now(shop), "kind": "hook",
    }  # fmt: skip
    row = Operation(**{key: value for key, value in known.items() if key in fields})  # type: ignore[arg-type]
    shop.write(lambda tx: tx.insert("operation", row))


def test_machines_that_are_gone_say_nothing(shop: World) -> None:
    told: list[Event] = []
    follower = Follower(shop.ctx, told.append, "me")
    queue, key = SqliteWorkQueue(shop.ctx.store, "another process"), machine_key(shop.model, "9")
    shop.write(lambda tx: queue.touch(tx, key, shop.clock.now()))
    assert queue.claim(key, shop.clock.now()) is not None
    assert _looked(shop, follower, told) == []
    follower.catch_up()
    assert told == []
