"""Live progress of work in the foreground: a table that moves on a terminal, plain lines elsewhere.

Layer: cli. Fed with the workers' events; always on stderr. rich is imported only on a
terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pushjuju.cli.console import Console
from pushjuju.cli.paint import harmless
from pushjuju.core.natural import natural_key
from pushjuju.workers.events import Event as ProgressEvent

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

_SHOWN = 24  # entities that fit a screen; the rest is counted
_STYLES = {"running": "cyan", "done": "green", "failed": "red", "waiting": "yellow"}


Report = Callable[[ProgressEvent], None]
SETTLED = ("done",)


@contextmanager
def progress(console: Console) -> Iterator[Report]:
    """Show progress while the block runs.

    Yields:
        The function to call with each event; may be called from one thread only.
    """
    if console.quiet:
        yield lambda _event: None
    elif console.stderr.isatty() and console.env.get("TERM") != "dumb":
        with _Screen(console) as screen:
            yield screen.report
    else:
        yield _Lines(console).report


class _Lines:
    """One line for each change."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: dict[str, str] = {}

    def report(self, event: ProgressEvent) -> None:
        """Print the event unless it repeats what was said of its entity."""
        text = event.text or event.state
        if self._last.get(event.entity) != text:
            self._last[event.entity] = text
            self._console.info(f"{event.entity}: {text}")


class _Screen:
    """A table at the bottom of the terminal that changes in place and is gone at the end."""

    def __init__(self, console: Console) -> None:
        from rich.console import Console as RichConsole
        from rich.live import Live

        colour = None if "NO_COLOR" not in console.env else True
        self._events: dict[str, ProgressEvent] = {}
        self._live: Live = Live(
            console=RichConsole(file=console.stderr, no_color=colour, highlight=False, _environ=console.env),
            refresh_per_second=8,
            transient=True,
        )

    def __enter__(self) -> _Screen:
        self._live.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._live.stop()

    def report(self, event: ProgressEvent) -> None:
        """Show the event in its entity's line."""
        self._events[event.entity] = event
        self._live.update(self._table())

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        shown = choose(list(self._events.values()), _SHOWN)
        for event in shown:
            style = _STYLES.get(event.state, "")
            # Text, not markup: what charms say may hold brackets.
            table.add_row(Text(event.entity), Text(event.state, style=style), Text(harmless(event.text)))
        left = len(self._events) - len(shown)
        if left:
            table.add_row(f"and {left} more", "", "")
        return table


def choose(events: list[ProgressEvent], most: int) -> list[ProgressEvent]:
    """Return the events to show, in natural order: what still moves or failed goes before what settled."""
    first = sorted(events, key=lambda event: (event.state in SETTLED, natural_key(event.entity)))[:most]
    return sorted(first, key=lambda event: natural_key(event.entity))
