"""A machine that runs only when a test steps its worker, and the connection to the machine."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import coroutine
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import ConnectionLost
from pushjuju.runner.remote.base import results
from pushjuju.runner.session import ExecResult
from tests.world.machine import hello, result

if TYPE_CHECKING:
    from tests.world.stepped.controller import SteppedController


@coroutine
def pause() -> Iterator[None]:
    """Wait until the test steps this worker again."""
    yield


def is_quiet(result: Mapping[str, Any]) -> bool:
    """Return True when the next hook of a plan may begin after a result, by the rules of the real machine."""
    plain = {"events": [], **result}
    return results.is_quiet({"outcome": "ok", "reboot": "", "writes": {}, **plain}) and not plain.get("asked")


def left_out(frame: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer for an operation of a plan that did not begin."""
    return {"t": "result", "id": frame["id"], "outcome": "not-begun", "events": [], "code": "plan"}


Charm = Callable[["SteppedMachine", Mapping[str, Any]], Coroutine[Any, Any, dict[str, Any]]]


@dataclass
class SteppedMachine:
    """A machine that runs an operation once, and keeps the result until it is acknowledged.

    Attributes:
        number: The number of the instance; a machine id that is started again gets another number.
        down: True while the machine does not answer.
        requests: Requests of `juju-exec` that have not begun.
        rules: Digest of the firewall rules in force.
    """

    number: int
    boot: int = 1
    down: bool = False
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    units: dict[str, str] = field(default_factory=dict)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    rules: str = ""

    @property
    def address(self) -> str:
        """The machine's address."""
        return f"10.1.{self.number // 250}.{self.number % 250 + 1}"

    def hello(self) -> dict[str, Any]:
        """Return what the machine reports at each contact."""
        name, boot = f"box-{self.number}", f"boot-{self.boot}"
        return hello(name, boot, self.address, self.results, prefix=16, charms=list(self.units))


class SteppedSession:
    """A connection to a machine."""

    def __init__(self, fleet: SteppedController, played: SteppedMachine) -> None:
        self.fleet = fleet
        self.played = played
        self.hello = played.hello()
        self.traffic = (0, 0)
        self.requests = played.requests
        self.on_requests: Callable[[], None] = lambda: None

    async def run(
        self, frame: dict[str, Any], on_event: Any = None, on_live: Any = None, plan: Sequence[Any] = ()
    ) -> dict[str, Any]:
        """Run an operation, with a wait before the machine runs it, and a wait before the answer.

        The machine runs the rest of the plan before the controller gets the first answer.
        """
        await self._travel()
        known = self.played.results.get(frame["id"])
        if known is None and "after" in frame:
            known = left_out(frame)
        for order in (frame, *plan) if known is None else ():
            assert order["id"] not in self.played.seen, f"{order['id']} is acknowledged, and runs again"
            self.played.seen.add(order["id"])
            result = self.played.results[order["id"]] = await self._do(order, on_live)
            known = known or result
            if not is_quiet(result):
                break
        await self._travel()
        assert known is not None
        return known

    def forget(self, operation: str) -> None:
        """Do nothing: no operation of a plan is kept."""

    async def look_again(self) -> None:
        """Read again what the machine reports."""
        await self._travel()
        self.hello = self.played.hello()

    async def _travel(self) -> None:
        await pause()
        if self.played.down:
            raise ConnectionLost("the connection to the machine was lost")

    async def _do(self, frame: dict[str, Any], on_live: Any) -> dict[str, Any]:
        plain = result(frame)
        match frame["kind"]:
            case "hook":
                plain |= await self.fleet.charm(self.played, frame, on_live)
            case "commands" if "request" in frame:
                assert self.played.requests.pop(frame["request"])["unit"] == frame["unit"]
                plain |= self.fleet.task(self.played, frame)
            case "action" | "commands" | "exec":
                plain |= self.fleet.task(self.played, frame)
            case "deploy":
                self.played.units[frame["unit"]] = frame["url"]
            case "remove-unit":
                self.played.units.pop(frame["unit"], None)
                mine = [key for key, item in self.played.requests.items() if item["unit"] == frame["unit"]]
                for key in mine:
                    del self.played.requests[key]
            case "reboot":
                self.played.boot += 1
            case "rules":
                self.played.rules = frame["script"]
        return plain

    async def exec(self, *, script: str, timeout: float) -> ExecResult:  # noqa: ASYNC109
        """Accept firewall rules, the only scripts that arrive here without an operation."""
        assert timeout
        name = f"exec-{uuid.uuid4()}"
        await self.run({"id": name, "kind": "rules", "script": script})
        self.played.results.pop(name)
        return ExecResult(exit=0, signal=None, stdout="", stderr="")

    async def put_blob(self, sha256: str, path: Any, like: Any = None) -> None:
        """Accept an archive."""
        assert path.is_file(), sha256
        await self._travel()

    async def ack(self, operation: str) -> None:
        """Forget the result of an operation, which the controller has committed."""
        if operation in self.played.results:
            self.fleet.committed(operation)
        self.played.results.pop(operation, None)

    def answer(self, request: str, error: str) -> None:
        """Answer a request of `juju-exec` with an error."""
        self.played.requests.pop(request, None)

    async def cancel(self, operation: str) -> None:
        """Do nothing: no operation goes on after its call."""

    async def fetch(self, operation: str) -> None:
        """Return the result of an operation."""
