"""A cloud and sessions without SSH: controllers of tests work machines simulated in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pushjuju.core.errors import ConnectionLost, PushjujuError, Unreachable
from pushjuju.core.firewall import MachineRules
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.firewalls import Firewall, GuardedMachine
from pushjuju.plugins.api.providers import Hardware, Instance, Started, StartRequest
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.runner.session import ExecResult
from pushjuju.store.queue import WorkItem, WorkQueue
from pushjuju.store.rows.records import Machine
from pushjuju.workers.driver import Driver, Settled
from pushjuju.workers.events import Event
from pushjuju.workers.machine.machine_worker import MachineWorker, Outcome
from pushjuju.workers.runtime import Runtime, no_checkpoint
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine

SILENCE_S = 30.0  # how far the clock moves when a machine does not answer


class Died(BaseException):
    """The controller process was killed."""


def die_at(step: str, nth: int = 0) -> Callable[[str], None]:
    """Return a checkpoint function that raises Died at a step: each time, or only the nth time."""
    seen = 0

    def checkpoint(name: str) -> None:
        nonlocal seen
        seen += name == step
        if name == step and nth in (0, seen):
            raise Died

    return checkpoint


class PlayedCloud:
    """A provider whose machines are simulated.

    Attributes:
        refusals: Errors that the next starts raise.
        stuck: Errors that the next stops raise.
        asked: The start requests.
        stopped: Ids that were stopped.
        destroyed: How often `destroy_model` was called.
        halted: Played machines that are stopped, by machine.
    """

    def __init__(self, world: TestController) -> None:
        self.world = world
        self.refusals: list[Exception] = []
        self.stuck: list[PushjujuError] = []
        self.asked: list[StartRequest] = []
        self.stopped: list[str] = []
        self.destroyed = 0
        self.halted: dict[str, PlayedMachine] = {}

    async def precheck(self, base: Any, constraints: Any, placement: str) -> None:
        """Accept everything."""

    async def start(self, request: StartRequest) -> Started:
        """Make a played machine."""
        self.asked.append(request)
        request.progress("allocating", "making a box")
        if self.refusals:
            raise self.refusals.pop(0)
        number = request.machine_id
        self.world.played_machines[number] = PlayedMachine(id=number, address=_address(number))
        return Started(
            instance=self._instance(number), base=request.base, host_keys=(f"ssh-ed25519 {number}",)
        )

    def _instance(self, number: str) -> Instance:
        return Instance(
            id=f"i-{number}",
            machine_id=number,
            status=InstanceStatus.STOPPED if number in self.halted else InstanceStatus.RUNNING,
            message="Stopped" if number in self.halted else "Running",
            hardware=Hardware(arch="amd64", cores=2, mem=2048),
            display_name=f"box-{number}",
        )

    async def stop(self, ids: Sequence[str]) -> None:
        """End played machines."""
        if self.stuck:
            raise self.stuck.pop(0)
        self.stopped += ids
        for name in ids:
            if played := self.world.played_machines.pop(name.removeprefix("i-"), None):
                self.world.gone.append(played)

    async def list(self) -> Sequence[Instance]:
        """Return the running machines."""
        return [self._instance(number) for number in self.world.played_machines]

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        """Return running machines by id."""
        numbers = [name.removeprefix("i-") for name in ids]
        there = {**self.world.played_machines, **self.halted}
        return [self._instance(number) if number in there else None for number in numbers]

    def halt(self, number: str) -> None:
        """Stop a played machine, as a shutdown in the machine or a user of the cloud does."""
        self.halted[number] = self.world.played_machines.pop(number)

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return the address of a played machine."""
        number = instance.id.removeprefix("i-")
        return SSHTarget(host=_address(number), host_keys=(f"ssh-ed25519 {number}",))

    async def destroy_model(self) -> None:
        """Count the call."""
        self.destroyed += 1

    async def doctor(self) -> Sequence[Finding]:
        return []


def _address(number: str) -> str:
    """Return the address of a machine; containers have a network of their own."""
    host, _, inner = number.partition("/lxd/")
    return f"10.{int(host) + 1}.0.{int(inner) + 2}" if inner else f"10.0.0.{int(host) + 2}"


class ResumingCloud(PlayedCloud):
    """A cloud that starts stopped machines again."""

    async def resume(self, instance_id: str) -> None:
        """Start a stopped played machine."""
        number = instance_id.removeprefix("i-")
        self.world.played_machines[number] = self.halted.pop(number)
        self.world.played_machines[number].boot_id += "+"


class PlayedFirewall:
    """A firewall that records the rules it gets.

    Attributes:
        applied: (machine, its rules), in order.
        cleared: Machines whose rules were cleared.
        refusals: Errors that the next calls of `apply` raise.
    """

    def __init__(self) -> None:
        self.applied: list[tuple[str, MachineRules]] = []
        self.cleared: list[str] = []
        self.refusals: list[PushjujuError] = []

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        self.applied.append((machine.machine_id, rules))

    async def clear(self, machine: GuardedMachine) -> None:
        """Record the call."""
        self.cleared.append(machine.machine_id)

    def of(self, machine: str) -> MachineRules:
        """The rules that are in force on a machine."""
        return next(rules for name, rules in reversed(self.applied) if name == machine)

    def times(self, machine: str) -> int:
        """How often a machine got rules."""
        return sum(name == machine for name, _ in self.applied)


class PlayedSession:
    """A session with a played machine."""

    def __init__(self, played: PlayedMachine) -> None:
        self.played = played
        self.hello = played.hello()
        self.requests: dict[str, dict[str, Any]] = played.requests
        self.on_requests: Callable[[], None] = lambda: None
        self.lease: Mapping[str, Any] | None = None
        self.connected = False  # played machines stop without a notice, so each machine run is a new contact
        self.traffic = (0, 0)

    def answer(self, request: str, error: str) -> None:
        """Answer a request of `juju-exec` with an error."""
        self.played.requests.pop(request, None)
        self.played.answered.append((request, error))

    async def run(
        self, frame: Mapping[str, Any], on_event: Any = None, on_live: Any = None, plan: Any = ()
    ) -> dict[str, Any]:
        """Run an operation; the test's script may send events, make live calls, or cut the connection.

        Operations of a plan begin only when the controller waits for their result.
        """
        known = frame["id"] in self.played.results
        result = self.played.run(frame)
        self.played.requests.pop(frame.get("request", ""), None)
        if known:
            return {key: value for key, value in result.items() if key not in ("cut", "live")}
        for tool, argv in result.get("live", ()):
            call = {"tool": tool, "argv": argv, "stdin": b"", "cwd": "/"}
            self.played.answers.append(await on_live(call))
        if result.get("cut"):
            raise ConnectionLost("the connection was lost")
        for item in result.get("events", ()):
            on_event(item["seq"], item["e"])
        return result

    async def put_blob(self, sha256: str, path: Path, like: Any = None) -> None:
        """Accept an archive."""
        assert path.stat().st_size  # noqa: ASYNC240 - a small local file
        self.played.blobs.append(sha256)

    async def exec(self, **_: Any) -> ExecResult:
        """Succeed without any output."""
        return ExecResult(exit=0, signal=None, stdout="", stderr="")

    async def look_again(self) -> None:
        """Read again what the played machine reports."""
        self.hello = self.played.hello()

    def forget(self, operation: str) -> None:
        """Do nothing: no operation of a plan is kept."""

    def forget_blob(self, sha256: str) -> None:
        """Do nothing: every archive is accepted again."""

    async def ack(self, operation_id: str) -> None:
        """Forget an acknowledged result."""
        self.played.results.pop(operation_id, None)

    async def cancel(self, operation_id: str, signal: str = "KILL") -> None:
        """Record the interrupted operation."""
        self.played.cancelled.append(operation_id)

    async def fetch(self, operation_id: str) -> dict[str, Any]:
        """Return at once."""
        return {"outcome": "terminated"}


class PlayedRuntime(Runtime):
    """A runtime whose sessions lead to played machines.

    Attributes:
        cloud: The provider of every model.
        guard: The firewall of every machine, or None.
        unreachable: Machine that does not answer -> the error that its session raises.
        events: The events that workers reported.
    """

    def __init__(self, world: TestController, checkpoint: Callable[[str], None] = no_checkpoint) -> None:
        self.events: list[Event] = []
        super().__init__(world.ctx, self.events.append, None, checkpoint)
        self.world = world
        self.cloud = PlayedCloud(world)
        self.guard: PlayedFirewall | None = None
        self.unreachable: dict[str, PushjujuError] = {}
        self.opened: list[str] = []

    def provider(self, model: str, cloud: str | None = None) -> Any:
        return self.cloud

    def _provider_of_container(self, machine: Machine) -> Any:
        """Return the same cloud, which makes containers too."""
        return self.cloud

    def firewall(self, machine: Machine) -> Firewall | None:
        return self.guard

    async def session(self, machine: Machine) -> Any:
        if machine.id in self.unreachable or machine.id not in self.world.played_machines:
            self.world.clock.advance(SILENCE_S)
            raise self.unreachable.get(machine.id) or Unreachable("no route to host")
        self.opened.append(machine.id)
        return PlayedSession(self.world.played_machines[machine.id])

    def attached(self, machine: Machine) -> Any:
        """Return a session to a played machine that was reached before."""
        played = self.world.played_machines.get(machine.id)
        return PlayedSession(played) if played is not None and machine.id in self.opened else None

    async def drop(self, machine: Machine) -> None:
        """Do nothing: a session has nothing to close."""


def driver(world: TestController, runtime: PlayedRuntime | None = None, prefix: str | None = None) -> Driver:
    """Return a driver of the model whose machines are played."""
    made = Driver(world.ctx, world.model if prefix is None else prefix)
    made.runtime = runtime or PlayedRuntime(world)
    made.runtime.tell = made.tell if runtime is None else runtime.tell
    return made


async def drive(world: TestController, runtime: PlayedRuntime) -> Settled:
    """Work the model until it is at rest."""
    return await driver(world, runtime).settle()


async def worker(runtime: PlayedRuntime, machine: str = "0", attempts: int = 0) -> Outcome:
    """Work one machine once."""
    return await MachineWorker(runtime, runtime.world.model, machine, attempts).work()


def queued(runtime: TestController) -> dict[str, WorkItem]:
    """Return the keys of the model's work: `machine/0` -> its row."""
    queue = WorkQueue(runtime.ctx.store, "somebody else")
    return {item.key.partition("/")[2]: item for item in queue.items(runtime.model)}


def rest_of(runtime: TestController, key: str) -> float:
    """Return in how many seconds a key is due."""
    due = queued(runtime)[key].due
    assert due is not None
    return (due - runtime.clock.now()).total_seconds()
