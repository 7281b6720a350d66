"""Spans of OpenTelemetry: their values, the header that names a span, and their form as JSON (OTLP 1)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from pushjuju.core.values import dataclass, regex

Value = str | int | bool
INTERNAL, CLIENT = 1, 3  # kinds: work of this process, a request to another
SAMPLER = "OTEL_TRACES_SAMPLER"
_HEADER = regex(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_OF_PARENT = "parentbased_"
_SAMPLERS = ("always_on", "always_off", "traceidratio")
_LONGEST = 256  # characters of a text in a span


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The numbers that name a span, and whether its trace is kept."""

    trace: str
    span: str
    sampled: bool = True

    @property
    def header(self) -> str:
        """The place as `traceparent` carries it (W3C Trace Context)."""
        return f"00-{self.trace}-{self.span}-{int(self.sampled):02x}"


def read_header(text: str) -> Place | None:
    """Return the place that a `traceparent` names, or None for a text that is not valid."""
    found = _HEADER.fullmatch(text)
    if found is None or not int(found[1], 16) or not int(found[2], 16):
        return None
    return Place(trace=found[1], span=found[2], sampled=bool(int(found[3], 16) & 1))


def place_below(parent: Place | None, env: Mapping[str, str]) -> Place:
    """Return the place of a new span; without a parent, the span begins a trace."""
    trace = parent.trace if parent else os.urandom(16).hex()
    return Place(trace=trace, span=os.urandom(8).hex(), sampled=_is_sampled(trace, parent, env))


def sampler_mistake(env: Mapping[str, str]) -> str:
    """Return what is wrong with the variables that choose the traces, or an empty text."""
    sampler = env.get(SAMPLER, "")
    if sampler and sampler.removeprefix(_OF_PARENT) not in _SAMPLERS:
        names = ", ".join(_SAMPLERS)
        return f'{SAMPLER} is "{sampler}", supported are {names}, each also with {_OF_PARENT}'
    if sampler.endswith(_SAMPLERS[-1]) and _ratio(env) is None:
        return f"{SAMPLER}_ARG is not a number from 0 to 1"
    return ""


def _is_sampled(trace: str, parent: Place | None, env: Mapping[str, str]) -> bool:
    sampler = "" if sampler_mistake(env) else env.get(SAMPLER, "")
    if parent is not None and (not sampler or sampler.startswith(_OF_PARENT)):
        return parent.sampled
    if sampler.endswith("traceidratio"):
        return int(trace[16:], 16) < (_ratio(env) or 0.0) * 2**64
    return not sampler.endswith("always_off")


def _ratio(env: Mapping[str, str]) -> float | None:
    """Return the part of the traces to keep, all by default; None for a text that is no part."""
    try:
        part = float(env.get(f"{SAMPLER}_ARG") or 1)
    except ValueError:
        return None
    return part if 0 <= part <= 1 else None


@dataclass(slots=True, kw_only=True)
class Span:
    """A piece of work with its beginning and end, in nanoseconds since 1970."""

    name: str
    place: Place
    kind: int = INTERNAL
    parent: Place | None = None  # the span that the work belongs to, or None
    link: Place | None = None  # the span of another trace that caused the work, or None
    begun: int = field(default_factory=time.time_ns)
    ended: int = 0
    error: str = ""  # the type of the failure, or ""
    attributes: dict[str, Value] = field(default_factory=dict)
    # what happened at the end of the work, with attributes
    events: dict[str, dict[str, Value]] = field(default_factory=dict)
    # the least time by which the clock of this computer was ahead of the machine's, or None
    ahead: int | None = None

    def document(self) -> dict[str, Any]:
        """Return the span as OTLP has it."""
        error = {"error.type": self.error} if self.error else {}
        return {
            "traceId": self.place.trace,
            "spanId": self.place.span,
            "parentSpanId": self.parent.span if self.parent else "",
            "name": self.name[:_LONGEST],
            "kind": self.kind,
            "startTimeUnixNano": str(self.begun),
            "endTimeUnixNano": str(self.ended),
            "attributes": _attributes({**error, **self.attributes}),
            "events": [
                {"timeUnixNano": str(self.ended), "name": name, "attributes": _attributes(values)}
                for name, values in self.events.items()
            ],
            "links": [{"traceId": self.link.trace, "spanId": self.link.span}] if self.link else [],
            "status": {"code": 2 if self.error else 0},
        }


def _attributes(values: Mapping[str, Value]) -> list[dict[str, Any]]:
    """Return attributes as OTLP has them, without empty texts."""
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value != ""]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value[:_LONGEST]}


def request(resource: Mapping[str, Value], spans: Iterable[Span]) -> dict[str, Any]:
    """Return the request that exports spans of a process, which its attributes describe."""
    of_scope = {"scope": {"name": "pushjuju"}, "spans": [span.document() for span in spans]}
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [of_scope]}]}
