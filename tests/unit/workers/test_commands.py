"""Commands for machines, and the end of tasks that nobody wants any more, by way of the lane."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from pushjuju.services.entities.action import actions
from pushjuju.services.entities.action.actions import CommandRequest
from pushjuju.services.views import tasks
from pushjuju.workers import crew
from tests.unit.services.world import World
from tests.unit.workers.fakes import Session, Shop, lane


class Died(BaseException):
    """The controller process ended here."""


def execute(world: World, command: str = "date", **more: Any) -> int:
    request = CommandRequest(command=command, timeout_s=5, machines=["0"], **more)
    return actions.enqueue_commands(world.ctx, world.model, request).tasks[0].id


def task(world: World, number: int) -> dict[str, Any]:
    document = tasks.show_task(world.ctx, world.model, number)
    document.pop("timing")
    return document


async def test_commands_run_on_a_machine(shop: World) -> None:
    shop.active()
    number = execute(shop, "echo 'it is'")
    shop.box().will("exec", {"outcome": "failed", "exit": 3, "message": "exit status 3", "stdout": "out"})
    await lane(Shop(shop))
    frame = shop.box().frames[-1]
    assert (frame["kind"], frame["lock"], frame["timeout"]) == ("exec", "", 5)
    assert """/bin/bash -c 'echo '"'"'it is'"'"''""" in frame["script"]
    assert task(shop, number) == {
        "id": str(number),
        "machine": "0",
        "status": "completed",
        "results": {"return-code": 3, "stdout": "out"},
    }
    assert not shop.box().results
    assert shop.open_operations() == []


async def test_the_lock_of_commands_on_a_machine(shop: World) -> None:
    shop.active()
    execute(shop, parallel=False)
    execute(shop, execution_group="disk")
    await lane(Shop(shop))
    assert [frame["lock"] for frame in shop.box().frames[-2:]] == ["machine", "disk"]


async def test_commands_whose_process_died_are_failed_and_not_run_again(shop: World) -> None:
    shop.active()
    number = execute(shop)
    shop.box().will("exec", {"outcome": "terminated", "recovered": True})
    await lane(Shop(shop))
    assert (task(shop, number)["status"], task(shop, number)["message"]) == ("failed", "action terminated")


async def test_commands_go_on_after_the_controller_died(shop: World) -> None:
    shop.active()
    number = execute(shop, "true")
    ran = len(shop.box().frames)

    def die(name: str) -> None:
        if name == "result":
            raise Died

    with contextlib.suppress(Died):
        await lane(Shop(shop, die))
    assert task(shop, number)["status"] == "running"
    await lane(Shop(shop))
    assert task(shop, number)["status"] == "completed"
    assert len(shop.box().frames) == ran + 1


async def test_a_machine_that_goes_cancels_what_waits(shop: World) -> None:
    from pushjuju.services.lifecycle import removal

    shop.active()
    number = execute(shop)
    machine = shop.machine("0")
    shop.write(lambda tx: removal.remove_unit(tx, unit_of(tx, shop), shop.clock.now()))
    shop.write(lambda tx: removal.remove_machine(tx, machine, shop.clock.now()))
    assert (task(shop, number)["status"], task(shop, number)["message"]) == ("cancelled", "machine removed")


def unit_of(tx: Any, world: World) -> Any:
    from pushjuju.services.entities.application import units

    return units.get(tx, world.model, "web/0")


@pytest.mark.parametrize("place", ["prepared", "result", "committed", "saved", "acknowledged"])
@pytest.mark.parametrize("target", ["units", "machines"])
async def test_a_task_runs_once_wherever_the_controller_dies(shop: World, place: str, target: str) -> None:
    shop.active()
    names = {"units": ["web/0"], "machines": ["0"]}[target]
    request = CommandRequest(command="date", timeout_s=5, **{target: names})
    number = actions.enqueue_commands(shop.ctx, shop.model, request).tasks[0].id
    ran = len(shop.box().frames)

    def die(name: str) -> None:
        if name == place:
            raise Died

    with contextlib.suppress(Died):
        await lane(Shop(shop, die))
    await lane(Shop(shop))
    assert task(shop, number)["status"] == "completed"
    kind = {"units": "commands", "machines": "exec"}[target]
    assert [frame["kind"] for frame in shop.box().frames[ran:]] == [kind]
    execute(shop)
    await lane(Shop(shop))
    assert shop.box().results == {}, "the next contact acknowledges what was left"


async def test_a_cancelled_task_is_ended_on_its_machine(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "LOOK_S", 0.01)
    shop.active()
    number = execute(shop)
    made = Shop(shop)
    ended = asyncio.Event()

    class Slow(Session):
        async def run(self, frame: Any, on_event: Any = None, on_live: Any = None, plan: Any = ()) -> Any:
            actions.cancel(shop.ctx, shop.model, [number])
            await ended.wait()
            return {"outcome": "interrupted", "signal": 9, "exit": None, "message": "terminated"}

        async def cancel(self, operation_id: str, signal: str = "KILL") -> None:
            ended.set()

    async def session(_: Any) -> Any:
        return Slow(shop.box())

    monkeypatch.setattr(made, "session", session)
    await asyncio.wait_for(lane(made), 10)
    assert (task(shop, number)["status"], task(shop, number)["message"]) == ("aborted", "terminated")
