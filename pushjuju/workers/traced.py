"""Makes a trace of a command and of its work on machines.

Spans have names, numbers and times alone: no arguments, no configuration, no relation data, no text that a
machine sent.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from urllib.parse import unquote

from pushjuju import __version__
from pushjuju.core.charmstore import STEP
from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.runner.trust import tool_times
from pushjuju.store.processes import TRACE
from pushjuju.workers import otlp, spans
from pushjuju.workers.events import OBSERVER, PLACE, Observer
from pushjuju.workers.spans import Place, Span, Value

if TYPE_CHECKING:
    from pushjuju.portable.frames import Op
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.rows.records import Machine
    from pushjuju.uniter.commit import Committed
    from pushjuju.uniter.dispatch import Dispatch
    from pushjuju.uniter.turn import Turn

P = TypeVar("P")
_PARENT = "TRACEPARENT"
_BIG = 2**31
_LATEST = 1e11  # seconds since 1970 that a machine may name
_WITH_TOOLS = ("hook", "action", "commands")  # kinds of operations
_CALLS = ("provider ", "store ")  # steps that are requests to others
_OF_ENDPOINT = regex(r"^.+-(?=(?:relation|storage)-[a-z]+$)")
_contact: ContextVar[Span | None] = ContextVar("contact", default=None)


class Traces(Observer):
    """The spans of a command and of its work."""

    def __init__(self, env: Mapping[str, str], to: otlp.Target, warn: Callable[[str], None]) -> None:
        self._env, self._warn, self._warned = env, warn, False
        self._resource = _resource(env)
        self._sender = otlp.Sender(to, lambda batch: spans.request(self._resource, batch))
        origin = spans.read_header(env.get(_PARENT, ""))
        self._command = Span(name="pushjuju", place=spans.place_below(origin, env), parent=origin)
        # the variables for the background process, whose spans then belong to the command
        self.environment = {**env, _PARENT: self._command.place.header}

    def of(self, ctx: Context) -> Self:
        """Note the controller on which the process works, or that the command has opened."""
        self._resource["service.instance.id"] = str(ctx.controller.settings().get("uuid", ""))
        return self

    @contextmanager
    def contact(self, machine: Machine, *, reused: bool, serves: bool) -> Iterator[None]:
        """Make a span of a contact; in a process that serves, each contact begins a trace of its own."""
        command = self._command.place
        span = Span(
            name="contact",
            kind=spans.CLIENT,
            place=spans.place_below(None if serves else command, self._env),
            parent=None if serves else command,
            link=self._asked_by(serves=serves),
        )
        span.attributes = {
            "server.address": str(machine.ssh.get("host", "")),
            "server.port": int(machine.ssh.get("port") or 22),
            "network.transport": "tcp",
            "pushjuju.model.uuid": machine.model,
            "pushjuju.machine": machine.id,
            "pushjuju.contact.reused": reused,
        }
        token, place = _contact.set(span), PLACE.set((span.place.trace, span.place.span))
        try:
            with self._timed(span):
                yield
        finally:
            _contact.reset(token)
            PLACE.reset(place)

    def _asked_by(self, *, serves: bool) -> Place | None:
        """Return the span that asked for the work of a contact, unless the contact is in the same trace.

        In a process that serves, other work is linked to the command that started the process.
        """
        asked = spans.read_header(TRACE.get())
        if serves:
            return asked or self._command.parent or self._command.place
        return asked if asked is not None and asked.trace != self._command.place.trace else None

    def decision(self, unit: str, act: Callable[[], Turn]) -> Turn:
        """Make a span of a unit's turn; the reason of a turn that failed may have text of a machine."""
        with self._step("decide", unit) as span:
            turn = act()
            span.attributes["pushjuju.decision"] = str(turn.answer)
            span.attributes["pushjuju.reason"] = "" if turn.failed else turn.reason
            return turn

    def commit(self, unit: str, act: Callable[[], Committed]) -> Committed:
        """Make a span of the end of an operation."""
        with self._step("commit", unit) as span:
            done = act()
            found = done.changes.values()
            span.attributes["pushjuju.changes"] = sum(
                len(item) if isinstance(item, (list, dict)) else 1 for item in found
            )
            return done

    @contextmanager
    def _step(self, name: str, unit: str = "") -> Iterator[Span]:
        """Make a span of a step, below the contact with the machine, or below the command."""
        contact = _contact.get()
        parent = contact.place if contact is not None else self._command.place
        span = Span(name=name, place=spans.place_below(parent, self._env), parent=parent)
        if name.startswith(_CALLS):
            span.kind = spans.CLIENT
        else:
            model = contact.attributes["pushjuju.model.uuid"] if contact is not None else ""
            span.attributes = {"pushjuju.model.uuid": model, "pushjuju.unit": unit}
        with self._timed(span):
            yield span

    @contextmanager
    def _asked(self, name: str, values: dict[str, Value]) -> Iterator[None]:
        """Make a span of a request to a charm store; the attributes grow until its end."""
        with self._step(name) as span:
            span.attributes = values
            yield

    def calls(self, provider: P) -> P:
        """Return a provider whose coroutines are spans."""
        return cast("P", _Calls(provider, self._step))

    @contextmanager
    def _timed(self, span: Span) -> Iterator[None]:
        since = time.monotonic_ns()
        try:
            yield
        except BaseException as error:
            span.error = str(getattr(error, "code", "") or type(error).__name__)
            raise
        finally:
            span.ended = span.begun + time.monotonic_ns() - since
            self._put(span)

    def request(self, frame: Op) -> Op:
        """Ask the machine for the times of hook tools, when the trace of the contact is kept."""
        contact = _contact.get()
        if contact is None or not contact.place.sampled or frame.get("kind") not in _WITH_TOOLS:
            return frame
        return {**frame, "timed": True}

    def operation(
        self,
        dispatch: Dispatch,
        result: Mapping[str, Any],
        done: Committed,
        tools: Callable[[], Container[str]],
    ) -> None:
        """Make a span of an operation whose result is committed, and spans of its hook tools."""
        contact = _contact.get()
        if contact is None:
            return
        span = Span(name=_name(dispatch), place=spans.place_below(contact.place, self._env))
        span.parent, code = contact.place, result.get("exit")
        span.begun, span.ended = _moments(contact, result, time.time_ns())
        span.error = "killed" if done.killed else "" if done.ok else "failed"
        span.attributes = {
            "pushjuju.model.uuid": contact.attributes["pushjuju.model.uuid"],
            "pushjuju.machine": contact.attributes["pushjuju.machine"],
            "pushjuju.unit": dispatch.unit,
            "pushjuju.operation.id": dispatch.id,
            "pushjuju.hook": str(dispatch.frame.get("hook", "")),
            "pushjuju.charm.url": dispatch.charm,
            "process.exit.code": code if isinstance(code, int) and abs(code) < _BIG else "",
        }
        span.events = {"reboot": {}} if done.reboot else {}
        if isinstance(signal := result.get("signal"), int):
            span.events["signal"] = {"pushjuju.signal": signal}
        calls, more = tool_times.read(result["timed"], tools()) if "timed" in result else ([], 0)
        if more:
            span.attributes["pushjuju.tools.left_out"] = more
        self._put(span)
        self._put_tools(span, calls)

    def _put_tools(self, of: Span, calls: Iterable[tool_times.ToolCall]) -> None:
        """Make spans of calls of hook tools; whatever the machine says, they lie within their hook."""
        for call in calls:
            span = Span(
                name=f"tool {call.name}", place=spans.place_below(of.place, self._env), parent=of.place
            )
            span.begun = min(of.begun + 1000 * call.begun, of.ended)
            span.ended = min(span.begun + 1000 * call.took, of.ended)
            span.error = "failed" if call.exit else ""
            span.attributes = {"process.exit.code": call.exit}
            self._put(span)

    def _put(self, span: Span) -> None:
        if span.place.sampled:
            self._sender.put(span)
        if self._sender.error and not self._warned:
            self._warned = True
            self._warn(f"traces are not sent: {self._sender.error}")

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Observe the work of a block; afterwards, send the last spans and warn of lost ones."""
        token, asks = OBSERVER.set(self), TRACE.set(self._command.place.header)
        steps = STEP.set(self._asked)
        try:
            with self._timed(self._command):
                yield
        finally:
            OBSERVER.reset(token)
            TRACE.reset(asks)
            STEP.reset(steps)
            self._sender.close()
            if self._sender.lost:
                self._warn(f"traces: {_spans(self._sender.lost)} lost: {self._sender.why}")

    def ended(self, word: str, status: int) -> None:
        """Note the name of the command and how it ended; arguments may hold secrets and are left out."""
        self._command.name = f"pushjuju {word}".rstrip()
        self._command.error = str(status) if status else ""
        self._command.attributes = {
            "process.executable.name": "pushjuju",
            "process.pid": os.getpid(),
            "process.exit.code": status,
            "pushjuju.command": word,
        }


class _Calls:
    """A provider, each of whose calls is a step."""

    def __init__(self, provider: object, step: Callable[[str], AbstractContextManager[object]]) -> None:
        self._provider = provider
        self._step = step

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # the provider's optional interfaces are found by isinstance
        return type(self._provider)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._provider, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def call(*words: Any, **named: Any) -> Any:
            with self._step(f"provider {name}"):
                return await found(*words, **named)

        return call


def open_traces(env: Mapping[str, str], warn: Callable[[str], None]) -> Traces | None:
    """Return the traces of a command, or None when the environment switches them off or has a mistake."""
    try:
        to = otlp.target(env)
        if to is not None and (mistake := spans.sampler_mistake(env)):
            warn(f"all traces are kept: {mistake}")
        return Traces(env, to, warn) if to is not None else None
    except NotValid as error:
        warn(f"traces are off: {error.message}")
        return None


def _resource(env: Mapping[str, str]) -> dict[str, Value]:
    pairs = (item.partition("=") for item in env.get("OTEL_RESOURCE_ATTRIBUTES", "").split(","))
    given = {name.strip(): unquote(value.strip()) for name, equals, value in pairs if equals}
    name = env.get("OTEL_SERVICE_NAME") or given.get("service.name") or "pushjuju"
    return {**given, "service.name": name, "service.version": __version__}


def _spans(number: int) -> str:
    return "1 span is" if number == 1 else f"{number} spans are"


def _name(dispatch: Dispatch) -> str:
    """Return the name of a span; there are few names, so a hook's is without endpoint and storage."""
    kind = dispatch.frame.get("kind", "operation")
    if kind == "hook":
        return f"hook {_OF_ENDPOINT.sub('', dispatch.title)}"
    return f"action {dispatch.title}" if kind == "action" else kind


def _moments(contact: Span, result: Mapping[str, Any], now: int) -> tuple[int, int]:
    """Return when an operation began and ended, by the clock of this computer.

    The machine's clock may be wrong. The result that came fastest shows by how much: each operation ended
    before its result arrived.
    """
    times = [result.get(name) for name in ("started", "ended")]
    if not all(isinstance(item, int | float) and 0 < item < _LATEST for item in times):
        return now, now
    started, ended = (int(item * 10**9) for item in times if item is not None)
    contact.ahead = now - ended if contact.ahead is None else min(contact.ahead, now - ended)
    over = max(ended + contact.ahead, contact.begun)
    return max(over - max(ended - started, 0), 0), over
