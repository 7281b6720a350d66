"""A service and the lost connection of a machine at rest; the machine is played."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pushjuju.core.errors import HostKeyChanged, PushjujuError, Unreachable
from pushjuju.runner.session import MachineSession
from pushjuju.services.requests import removals
from pushjuju.store.rows.records import Machine
from pushjuju.workers.machine import standby
from pushjuju.workers.runtime import HANDSHAKES, Runtime
from tests.waiting import until
from tests.world.controller import TestController


class Session:
    """A session whose connection is lost, and whose next attempts fail."""

    def __init__(self, *failures: PushjujuError) -> None:
        self.failures = list(failures)
        self.attempts = 0
        self.connected = False
        self.on_requests: Any = None
        self.on_loss: Any = None

    async def connect(self) -> None:
        """Fail as long as failures are left."""
        self.attempts += 1
        if self.failures:
            raise self.failures.pop(0)
        self.connected = True


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited; no time passes."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(standby, "asyncio", SimpleNamespace(sleep=sleep))
    return found


@pytest.fixture
def machine(runtime: TestController) -> Machine:
    runtime.active()
    return runtime.machine("0")


def lose(runtime: TestController, session: Session, machine: Machine, lasted_s: float = 60.0) -> bool:
    """Lose the connection of a service, and return whether the machine is contacted anew."""
    serving = Runtime(runtime.ctx)
    serving.serves = True
    standby.listen(serving, cast("MachineSession", session), machine)
    asyncio.run(session.on_loss(lasted_s))
    return runtime.machine("0").look_again


def test_a_silent_machine_is_tried_less_and_less(
    runtime: TestController, machine: Machine, pauses: list[float]
) -> None:
    session = Session(*(Unreachable("no route") for _ in range(8)))
    assert lose(runtime, session, machine)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_machine_that_drops_each_connection_is_reached_twice_a_minute(
    runtime: TestController, machine: Machine, pauses: list[float]
) -> None:
    for lasted_s in (0.0, 12.0, 29.5, 600.0):
        assert lose(runtime, Session(), machine, lasted_s)
    assert pauses == [30, 18, 1, 1]


async def test_work_does_not_wait_for_machines_that_fell_silent_at_rest(
    runtime: TestController, machine: Machine, pauses: list[float]
) -> None:
    """Each attempt to reach a silent machine takes long."""
    serving, silent = Runtime(runtime.ctx), asyncio.Event()
    serving.serves = True
    sessions = [Session() for _ in range(2 * HANDSHAKES)]
    for session in sessions:
        session.connect = silent.wait  # type: ignore[method-assign, assignment]
        standby.listen(serving, cast("MachineSession", session), machine)
    losses = [asyncio.create_task(session.on_loss(60.0)) for session in sessions]
    await until(lambda: len(pauses) == len(sessions))
    async with asyncio.timeout(60), serving.handshakes:
        silent.set()
    await asyncio.gather(*losses)


def test_a_connection_that_work_has_made_meanwhile_is_kept(
    runtime: TestController, machine: Machine, pauses: list[float]
) -> None:
    session = Session()
    session.connected = True
    assert not lose(runtime, session, machine)
    assert (session.attempts, pauses) == (0, [1])


def test_a_machine_that_another_process_removes_is_left_alone(
    runtime: TestController, machine: Machine, pauses: list[float]
) -> None:
    """A connection would bring pushjuju back onto a machine that goes on running."""
    session = Session()
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    assert not lose(runtime, session, machine)
    runtime.settle()
    asyncio.run(session.on_loss(60.0))
    assert (runtime.machine_ids(), session.attempts, pauses) == ([], 0, [1, 1])


def test_a_machine_with_another_host_key_is_left_to_the_next_work(
    runtime: TestController, machine: Machine, pauses: list[float]
) -> None:
    session = Session(HostKeyChanged("changed"))
    assert not lose(runtime, session, machine)
    assert (session.attempts, pauses) == (1, [1])


def test_a_request_lets_any_process_contact_the_machine(runtime: TestController, machine: Machine) -> None:
    """The process that hears of the request is not always the process that claims the machine."""
    session = Session()
    standby.listen(Runtime(runtime.ctx), cast("MachineSession", session), machine)
    runtime.forget_work()
    session.on_requests()
    assert (runtime.touched(), runtime.machine("0").look_again) == (["machine/0"], True)


def test_a_command_does_not_connect_again(runtime: TestController, machine: Machine) -> None:
    session = Session()
    standby.listen(Runtime(runtime.ctx), cast("MachineSession", session), machine)
    assert session.on_loss is None
