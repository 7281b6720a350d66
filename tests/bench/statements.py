"""Count what a piece of work asks of SQLite: never by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pushjuju.store.db import Store

_STEP = 10  # instructions of SQLite's machine between two looks


@dataclass(slots=True)
class Effort:
    """What SQLite did.

    Attributes:
        steps: Instructions of its virtual machine, in tens: they grow with each row and each index entry that
            a statement walks over, and not with the depth of a tree.
    """

    steps: int = 0


@contextmanager
def counted(store: Store) -> Iterator[list[str]]:
    """Collect the statements that are run inside the block, transactions' begin and end not counted."""
    found: list[str] = []

    def note(statement: str) -> None:
        if not statement.startswith(("BEGIN", "COMMIT", "ROLLBACK", "--")):
            found.append(statement)

    store._connection.set_trace_callback(note)
    try:
        yield found
    finally:
        store._connection.set_trace_callback(None)


@contextmanager
def effort(store: Store) -> Iterator[Effort]:
    """Count what SQLite does inside the block."""
    found = Effort()

    def note() -> int:
        found.steps += 1
        return 0

    store._connection.set_progress_handler(note, _STEP)
    try:
        yield found
    finally:
        store._connection.set_progress_handler(None, _STEP)
