"""Count the SQL statements of a piece of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pushjuju.state.store import Store


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
