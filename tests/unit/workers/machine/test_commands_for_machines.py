"""Commands for machines, and the end of tasks that nobody wants any more, by way of the lane."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from pushjuju.services.requests.action import operations
from pushjuju.services.requests.action.operations import CommandRequest
from pushjuju.services.views import tasks
from pushjuju.workers.machine import running_operations
from tests.world.controller import TestController
from tests.world.runtime import Died, PlayedRuntime, PlayedSession, die_at, worker


def execute(world: TestController, command: str = "date", **more: Any) -> int:
    request = CommandRequest(command=command, timeout_s=5, machines=["0"], **more)
    return operations.enqueue_commands(world.ctx, world.model, request).tasks[0].id


def task(world: TestController, number: int) -> dict[str, Any]:
    document = tasks.show_task(world.ctx, world.model, number)
    document.pop("timing")
    return document


async def test_commands_run_on_a_machine(runtime: TestController) -> None:
    runtime.active()
    number = execute(runtime, "echo 'it is'")
    runtime.played().will(
        "exec", {"outcome": "failed", "exit": 3, "message": "exit status 3", "stdout": "out"}
    )
    await worker(PlayedRuntime(runtime))
    frame = runtime.played().frames[-1]
    assert (frame["kind"], frame["lock"], frame["timeout"]) == ("exec", "", 5)
    assert (frame["script"], frame["user"]) == ("echo 'it is'", "ubuntu")
    assert task(runtime, number) == {
        "id": str(number),
        "machine": "0",
        "status": "completed",
        "results": {"return-code": 3, "stdout": "out"},
    }
    assert not runtime.played().results
    assert runtime.open_operations() == []


async def test_the_lock_of_commands_on_a_machine(runtime: TestController) -> None:
    runtime.active()
    execute(runtime, parallel=False)
    execute(runtime, execution_group="disk")
    await worker(PlayedRuntime(runtime))
    assert [frame["lock"] for frame in runtime.played().frames[-2:]] == ["machine", "disk"]


async def test_commands_whose_process_died_are_failed_and_not_run_again(runtime: TestController) -> None:
    runtime.active()
    number = execute(runtime)
    runtime.played().will("exec", {"outcome": "terminated", "recovered": True})
    await worker(PlayedRuntime(runtime))
    assert (task(runtime, number)["status"], task(runtime, number)["message"]) == (
        "failed",
        "action terminated",
    )


async def test_commands_go_on_after_the_controller_died(runtime: TestController) -> None:
    runtime.active()
    number = execute(runtime, "true")
    ran = len(runtime.played().frames)

    with contextlib.suppress(Died):
        await worker(PlayedRuntime(runtime, die_at("result")))
    assert task(runtime, number)["status"] == "running"
    await worker(PlayedRuntime(runtime))
    assert task(runtime, number)["status"] == "completed"
    assert len(runtime.played().frames) == ran + 1


async def test_a_machine_that_goes_cancels_what_waits(runtime: TestController) -> None:
    from pushjuju.services.lifecycle import removal

    runtime.active()
    number = execute(runtime)
    machine = runtime.machine("0")
    runtime.write(lambda tx: removal.remove_unit(tx, unit_of(tx, runtime)))
    runtime.write(lambda tx: removal.remove_machine(tx, machine))
    assert (task(runtime, number)["status"], task(runtime, number)["message"]) == (
        "cancelled",
        "machine removed",
    )


def unit_of(tx: Any, world: TestController) -> Any:
    from pushjuju.services.entities.application import units

    return units.get(tx, "web/0")


@pytest.mark.parametrize("place", ["prepared", "result", "committed", "saved", "acknowledged"])
@pytest.mark.parametrize("target", ["units", "machines"])
async def test_a_task_runs_once_wherever_the_controller_dies(
    runtime: TestController, place: str, target: str
) -> None:
    runtime.active()
    names = {"units": ["web/0"], "machines": ["0"]}[target]
    request = CommandRequest(command="date", timeout_s=5, **{target: names})
    number = operations.enqueue_commands(runtime.ctx, runtime.model, request).tasks[0].id
    ran = len(runtime.played().frames)

    with contextlib.suppress(Died):
        await worker(PlayedRuntime(runtime, die_at(place)))
    await worker(PlayedRuntime(runtime))
    assert task(runtime, number)["status"] == "completed"
    kind = {"units": "commands", "machines": "exec"}[target]
    assert [frame["kind"] for frame in runtime.played().frames[ran:]] == [kind]
    execute(runtime)
    await worker(PlayedRuntime(runtime))
    assert runtime.played().results == {}, "the next contact acknowledges what was left"


async def test_a_cancelled_task_is_ended_on_its_machine(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_operations, "LOOK_S", 0.01)
    runtime.active()
    number = execute(runtime)
    made = PlayedRuntime(runtime)
    ended = asyncio.Event()

    class Slow(PlayedSession):
        async def run(self, frame: Any, on_event: Any = None, on_live: Any = None, plan: Any = ()) -> Any:
            operations.cancel(runtime.ctx, runtime.model, [number])
            await ended.wait()
            return {"outcome": "interrupted", "signal": 9, "exit": None, "message": "terminated"}

        async def cancel(self, operation_id: str, signal: str = "KILL") -> None:
            ended.set()

    async def session(_: Any) -> Any:
        return Slow(runtime.played())

    monkeypatch.setattr(made, "session", session)
    await asyncio.wait_for(worker(made), 10)
    assert (task(runtime, number)["status"], task(runtime, number)["message"]) == ("aborted", "terminated")
