"""Shows progress of the workers on stderr: a live tree on a terminal, plain lines elsewhere.

The workers' events are its input.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.paint import CYAN, GRAY, GREEN, RED, YELLOW, colours_on, escape, harmless, paint
from pushjuju.cli.terminal.screen import Painter, size
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key

if TYPE_CHECKING:
    from pushjuju.workers.events import Event, Tell

_AFTER_S = 0.4  # shorter work draws nothing
_EVERY_S = 0.12
_COLOURS = {"running": CYAN, "done": GREEN, "failed": RED, "waiting": YELLOW}
_FIRST = ("failed", "running", "waiting", "done")  # shown first when not all rows fit


@contextmanager
def progress(console: Console, *, lines: bool | None = None) -> Iterator[Tell]:
    """Show progress while the block runs.

    Args:
        lines: Whether to print a line for each change when no tree can be drawn. By default, only when stdout
            or stderr is a terminal: scripts expect what Juju prints. `--verbose` always prints these lines.

    Yields:
        The function to call with each event.
    """
    if console.quiet:
        yield lambda _event: None
    elif console.log is not None:
        yield _Lines(console).report
    elif console.stderr.isatty() and console.env.get("TERM") != "dumb":
        with _Screen(console) as screen:
            yield screen.report
    elif console.verbose or (_is_watched(console) if lines is None else lines):
        yield _Lines(console).report
    else:
        yield lambda _event: None


def _is_watched(console: Console) -> bool:
    return console.stdout.isatty() or console.stderr.isatty()


def wants_output(console: Console) -> bool:
    """Return True when the user can see the last lines that hooks print."""
    return console.painter is not None or (console.verbose and not console.quiet)


class _Lines:
    """Prints a line for each change."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: dict[str, str] = {}

    def report(self, event: Event) -> None:
        """Print the event unless its text repeats the last text of its entity."""
        log = self._console.log
        if event.line:
            if log is None:
                self._console.detail(f"{event.shown}: {event.line}")
            elif self._console.verbose:
                log.report(event)
            return
        text = event.text or event.state
        if self._last.get(event.shown) != text:
            self._last[event.shown] = text
            if log is not None:
                log.report(event)
            else:
                self._console.info(f"{event.shown}: {text}")


class _Screen:
    """Draws a tree at the bottom of the terminal while the work runs; a thread updates the durations."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rows: dict[str, Row] = {}
        self._painter = Painter(console.stderr)
        self._colour = colours_on(console.env, terminal=True)
        self._since = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="progress", daemon=True)

    def __enter__(self) -> _Screen:
        self._console.painter = self._painter
        self._thread.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._over.set()
        self._thread.join()
        self._console.painter = None
        self._painter.clear()

    def report(self, event: Event) -> None:
        with self._painter.lock:
            row = self._rows.get(event.shown)
            if row is None:
                row = self._rows[event.shown] = Row(entity=event.shown, parent=event.shown_parent)
            if event.line:
                row.line = event.line
            else:
                self._change(row, event)
        if event.state == "done" and not event.line:
            self._console.detail(f"{event.shown}: {event.text}")

    def _change(self, row: Row, event: Event) -> None:
        text = event.text or event.state
        if (row.text, row.state) != (text, event.state):
            row.began, row.line = time.monotonic(), ""
        row.text, row.state, row.parent = text, event.state, event.shown_parent or row.parent
        if row.parent:
            self._at_hand(row.parent)

    def _at_hand(self, machine: str) -> None:
        """Note that a machine is in use, because a process works on its units."""
        home = self._rows.get(machine)
        if home is None:
            self._rows[machine] = Row(entity=machine, state="done")
        elif home.state in ("running", "waiting"):
            home.text, home.state = "", "done"

    def _tick(self) -> None:
        wait = _AFTER_S
        while not self._over.wait(wait):
            wait = _EVERY_S
            if not self._draw():
                return

    def _draw(self) -> bool:
        """Draw the tree; return False when the terminal is closed."""
        room = size(self._console.stderr)[1] - 1
        with self._painter.lock:
            if not self._rows:
                return True
            rows = self._rows.values()
            lines = tree(rows, now=time.monotonic(), since=self._since, room=room, colour=self._colour)
            try:
                self._painter.draw(lines)
            except (OSError, ValueError):
                return False
        return True


@dataclass(slots=True, kw_only=True)
class Row:
    """What the tree shows of one entity."""

    entity: str
    parent: str = ""  # the machine of a unit; empty for other entities
    text: str = ""  # the current step
    state: str = "running"  # `running`, `done`, `failed` or `waiting`
    began: float = 0.0  # when the current step began, in seconds of the caller's clock
    line: str = ""  # the last line that the step printed


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
