"""The SQL files of the store: named statements, and numbered migrations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_ROWS = "-- rows: "


@cache
def queries() -> Mapping[str, str]:
    """Return every named statement: name -> SQL."""
    return {name: sql for name, (sql, _) in _statements().items()}


@cache
def of_models() -> frozenset[str]:
    """Return the names of the statements that have the parameter `:model`."""
    return frozenset(name for name, sql in queries().items() if ":model" in sql)


@cache
def rows() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Return the declared rows of statements: SQL -> table, parameters that identify the rows."""
    found = {}
    for sql, comments in _statements().values():
        for line in comments:
            if line.startswith(_ROWS):
                table, _, parameters = line[len(_ROWS) : -1].partition("(")
                found[sql] = table, tuple(parameters.split(", "))
    return found


@cache
def _statements() -> Mapping[str, tuple[str, list[str]]]:
    """Return every named statement: name -> SQL, comments."""
    found = {}
    for path in sorted((_HERE / "sql").glob("*.sql")):
        for block in path.read_text().split("-- name: ")[1:]:
            name, *lines = block.splitlines()
            comments = [line for line in lines if line.startswith("--")] if "\n--" in block else []
            sql = "\n".join([line for line in lines if line[:2] != "--"] if comments else lines)
            found[name.strip()] = sql.strip(), comments
    return found


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Return the migrations: (number, SQL), ascending."""
    files = sorted((_HERE / "migrations").glob("*.sql"))
    return tuple((int(path.name[:4]), path.read_text()) for path in files)
