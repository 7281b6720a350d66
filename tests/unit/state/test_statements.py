"""The named statements and the migrations as files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pushjuju.state import store


def test_no_two_statements_share_a_name() -> None:
    """The later file would quietly take the place of the earlier one's."""
    folder = Path(store.__file__).parent / "sql"
    lines = [line for path in folder.glob("*.sql") for line in path.read_text().splitlines()]
    names = Counter(line.removeprefix("-- name: ").strip() for line in lines if line.startswith("-- name: "))
    assert [name for name, count in names.items() if count > 1] == []


def test_migrations_are_numbered_without_gaps() -> None:
    assert [number for number, _ in store.migrations()] == list(range(1, len(store.migrations()) + 1))
