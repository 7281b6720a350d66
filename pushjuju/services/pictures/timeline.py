"""What ran when: bars by unit on an axis whose long rests are cut, and the same as a trace. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key

if TYPE_CHECKING:
    from pushjuju.services.views.hook_runs import Contact, HookRun, Hour

LONGEST_REST_S = 30.0
"""A time without any run that is longer is cut to a marked gap."""

FAILED = ("failed", "killed")
UNDER_WAY = ("running", "planned")
_REST_SHARE, _SHORTEST_S = 0.03, 0.001
_ROOM_SHARE, _ROOM_S = 0.05, 10.0  # of the axis, for bars that grow
_MOST_HOURS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One run: from and to in seconds since 1970."""

    run: HookRun
    start: float
    end: float

    @property
    def failed(self) -> bool:
        """Whether the run has failed or was killed."""
        return self.run.result in FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The runs of one unit, oldest first."""

    unit: str
    machine: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The time of a picture without its long rests."""

    # (start, end) in seconds of the times in which something ran, oldest first
    pieces: tuple[tuple[float, float], ...]

    @property
    def rest(self) -> float:
        """How many seconds of the axis a cut rest takes."""
        return max(_REST_SHARE * sum(end - start for start, end in self.pieces), _SHORTEST_S)

    @property
    def seconds(self) -> float:
        """How many seconds the axis has, with what the cut rests take."""
        return sum(last - first for first, last in self.pieces) + (len(self.pieces) - 1) * self.rest

    def place(self, moment: float) -> float:
        """Return where a moment is on the axis, from 0 to 1."""
        at = max(bisect_right(self.pieces, (moment, float("inf"))) - 1, 0)
        before = sum(end - start for start, end in self.pieces[:at]) + at * self.rest
        start, end = self.pieces[at]
        return (before + min(max(moment - start, 0.0), end - start)) / self.seconds

    def is_near(self, start: float, end: float) -> bool:
        """Return True when no long rest is between a time and something that ran."""
        at = bisect_right(self.pieces, (end + LONGEST_REST_S, float("inf"))) - 1
        return at >= 0 and self.pieces[at][1] >= start - LONGEST_REST_S

    def rests(self) -> list[tuple[float, float, float]]:
        """Return (from, to, seconds) of each cut rest, with the places on the axis."""
        return [
            (self.place(before[1]), self.place(after[0]), after[0] - before[1])
            for before, after in zip(self.pieces, self.pieces[1:], strict=False)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Rows by machine and unit, their axis, and machine -> contacts with it outside of rests."""

    rows: tuple[Row, ...]
    axis: Axis
    contacts: Mapping[str, Sequence[Contact]] = field(default_factory=dict)

    @property
    def start(self) -> datetime:
        """When the first run began."""
        return datetime.fromtimestamp(self.axis.pieces[0][0], UTC)

    @property
    def end(self) -> datetime:
        """When the last run ended, or now while one is under way."""
        return datetime.fromtimestamp(self.axis.pieces[-1][1], UTC)


def of_runs(
    runs: Sequence[HookRun],
    machines: Mapping[str, str],
    now: datetime,
    contacts: Iterable[Contact] = (),
    *,
    grows: bool = False,
) -> Timeline:
    """Return the timeline of some runs, of which there must be one at least.

    Args:
        machines: Unit -> its machine; units without one come first.
        now: The end of runs that are under way.
        contacts: Contacts; left out are those with machines on which nothing ran, or in a long rest.
        grows: True to leave room on the axis, in which a page lets the bars of these runs grow.
    """
    by_unit: dict[str, list[Bar]] = {}
    for run in runs:
        start = run.started.timestamp()
        by_unit.setdefault(run.unit, []).append(Bar(run=run, start=start, end=max(_end(run, now), start)))
    rows = [
        Row(unit=unit, machine=machines.get(unit, ""), bars=tuple(sorted(bars, key=lambda bar: bar.start)))
        for unit, bars in by_unit.items()
    ]
    rows.sort(key=lambda row: (natural_key(row.machine), natural_key(row.unit)))
    times = [(bar.start, bar.end) for row in rows for bar in row.bars]
    axis = _axis(times)
    shown = {row.machine for row in rows}
    seen = [one for one in contacts if one.machine in shown and axis.is_near(*_times(one))]
    axis = _axis([*times, *map(_times, seen)])
    if grows and any(run.result in UNDER_WAY for run in runs):
        axis = _with_room(axis)
    by_machine: dict[str, list[Contact]] = {}
    for contact in seen:
        by_machine.setdefault(contact.machine, []).append(contact)
    return Timeline(rows=tuple(rows), axis=axis, contacts=by_machine)


def _times(contact: Contact) -> tuple[float, float]:
    return contact.begun.timestamp(), contact.ended.timestamp()


def _with_room(axis: Axis) -> Axis:
    start, end = axis.pieces[-1]
    return Axis(pieces=(*axis.pieces[:-1], (start, end + max(_ROOM_S, _ROOM_SHARE * axis.seconds))))


def by_hours(found: Sequence[Hour]) -> list[Hour]:
    """Return counts for a heat line: by hour, or by day when there are many hours; at most the newest 60."""
    if len(found) <= _MOST_HOURS:
        return list(found)
    days: dict[datetime, list[Hour]] = {}
    for hour in found:
        days.setdefault(hour.begin.replace(hour=0), []).append(hour)
    return [
        replace(
            hours[0],
            begin=day,
            runs=sum(one.runs for one in hours),
            failed=sum(one.failed for one in hours),
            hours=24,
        )
        for day, hours in days.items()
    ][-_MOST_HOURS:]


def _end(run: HookRun, now: datetime) -> float:
    if run.took_s is not None:
        return run.started.timestamp() + run.took_s
    if run.result in UNDER_WAY:
        return now.timestamp()
    return (run.committed or run.started).timestamp()


def _axis(times: Iterable[tuple[float, float]]) -> Axis:
    pieces: list[tuple[float, float]] = []
    for start, last in sorted(times):
        end = max(last, start + _SHORTEST_S)
        if pieces and start - pieces[-1][1] <= LONGEST_REST_S:
            pieces[-1] = (pieces[-1][0], max(pieces[-1][1], end))
        else:
            pieces.append((start, end))
    return Axis(pieces=tuple(pieces))


def trace(found: Timeline) -> dict[str, Any]:
    """Return the timeline in the trace event format of Perfetto and chrome://tracing.

    A machine is a process and a unit a thread; times are microseconds.
    """
    machines = {machine: at for at, machine in enumerate(dict.fromkeys(row.machine for row in found.rows), 1)}
    events: list[dict[str, Any]] = [
        _name("process_name", process, 0, f"machine {machine}" if machine else "no machine")
        for machine, process in machines.items()
    ]
    for thread, row in enumerate(found.rows, 1):
        process = machines[row.machine]
        events.append(_name("thread_name", process, thread, row.unit))
        events += [_event(bar, process, thread) for bar in row.bars]
    return {"displayTimeUnit": "ms", "traceEvents": events}


def _name(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _event(bar: Bar, process: int, thread: int) -> dict[str, Any]:
    run = bar.run
    told = {"result": run.result, "operation": run.operation}
    if run.message:
        told["message"] = run.message
    return {
        "name": run.hook,
        "cat": run.kind,
        "ph": "X",
        "ts": round(bar.start * 1e6),
        "dur": round((bar.end - bar.start) * 1e6),
        "pid": process,
        "tid": thread,
        "args": told,
    }
