"""The SQL files of the store: named statements, and numbered migrations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_ROWS = "-- rows: "


@cache
def queries() -> Mapping[str, str]:
    """Return every named statement: name -> SQL."""
    return {name: sql for name, sql, _ in _statements()}


@cache
def rows() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Return the declared rows of statements: SQL -> table, parameters that identify the rows."""
    found = {}
    for _, sql, comments in _statements():
        for line in comments:
            if line.startswith(_ROWS):
                table, _, parameters = line[len(_ROWS) : -1].partition("(")
                found[sql] = table, tuple(parameters.split(", "))
    return found


def _statements() -> Iterator[tuple[str, str, list[str]]]:
    """Yield every named statement: name, SQL, comments."""
    for path in sorted((_HERE / "sql").glob("*.sql")):
        for block in path.read_text().split("-- name: ")[1:]:
            name, *lines = block.splitlines()
            sql = "\n".join(line for line in lines if not line.startswith("--")).strip()
            yield name.strip(), sql, [line for line in lines if line.startswith("--")]


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Return the migrations: (number, SQL), ascending."""
    files = sorted((_HERE / "migrations").glob("*.sql"))
    return tuple((int(path.name[:4]), path.read_text()) for path in files)
