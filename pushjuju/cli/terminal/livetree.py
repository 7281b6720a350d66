"""Progress as a tree: machines, their units, what runs on each, and for how long. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pushjuju.cli.terminal.paint import CYAN, GRAY, GREEN, RED, YELLOW, escape, harmless, paint
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key

_COLOURS = {"running": CYAN, "done": GREEN, "failed": RED, "waiting": YELLOW}
_FIRST = ("failed", "running", "waiting", "done")  # shown first when not all rows fit


@dataclass(slots=True, kw_only=True)
class Row:
    """What the tree shows of one entity.

    Attributes:
        parent: The machine of a unit; empty for other entities.
        text: The current step.
        state: `running`, `done`, `failed` or `waiting`.
        began: When the current step began, in seconds of the caller's clock.
        line: The last line that the step printed.
    """

    entity: str
    parent: str = ""
    text: str = ""
    state: str = "running"
    began: float = 0.0
    line: str = ""


def duration(seconds: float) -> str:
    """Return `7s`, `1:07` or `1:00:07`."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def tree(rows: Iterable[Row], *, now: float, since: float, room: int, colour: bool = False) -> list[str]:
    """Return the lines of the tree, the first of which counts its rows by state.

    Args:
        now: The present moment, in seconds of the clock of `Row.began`.
        since: When the work began, in seconds of that clock.
        room: The greatest number of lines.
    """
    every = list(rows)
    shown = _choose(every, max(room - 2, 1))
    told = [row.state for row in every if row.text]
    counts = ", ".join(f"{told.count(word)} {word}" for word in _FIRST if word in told)
    head = _tinted(f"Working for {duration(now - since)}: {counts}", GRAY if colour else "")
    longest = max((len(_name(row)) for row in shown), default=0)
    lines = [head, *(_line(row, longest, now, colour=colour) for row in shown)]
    left = len(every) - len(shown)
    return [*lines, f"        and {left} more"] if left else lines


def _choose(rows: Sequence[Row], most: int) -> list[Row]:
    """Return at most `most` rows in the order of the tree; failed and running rows come before others."""
    by_weight = sorted(rows, key=lambda row: (_FIRST.index(row.state), natural_key(row.entity)))
    return sorted(by_weight[:most], key=_place)


def _place(row: Row) -> tuple[object, ...]:
    own = natural_key(row.entity)
    return (natural_key(row.parent), 1, own) if row.parent else (own, 0, own)


def _name(row: Row) -> str:
    return f"  {row.entity}" if row.parent else row.entity


def _line(row: Row, longest: int, now: float, *, colour: bool) -> str:
    took = duration(now - row.began) if row.state == "running" else ""
    text = harmless(row.text.removesuffix(": running"))
    shown = _tinted(text, _COLOURS.get(row.state, "") if colour else "")
    line = _tinted(f"  {harmless(row.line)}", GRAY if colour else "") if row.line else ""
    text = f"{took:>7} {_name(row):<{longest}}  {shown}{line}"
    return text.replace("\t", " ").replace("\n", " ").rstrip(" ")


def _tinted(text: str, colour: str) -> str:
    return escape(paint(text, colour)) if colour else text
