"""The SQL files of the store: named statements, and numbered migrations."""

from __future__ import annotations

import os
import re
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
def parameters(name: str) -> frozenset[str]:
    """Return the names of a statement's parameters."""
    return frozenset(re.findall(r":(\w+)", queries()[name]))


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
    for place in _files("sql"):
        with open(place) as file:  # noqa: PTH123 - start-up time
            blocks = file.read().split("-- name: ")[1:]
        for block in blocks:
            name, _, sql = block.partition("\n")
            comments: list[str] = []
            if "--" in sql:
                lines = sql.splitlines()
                comments = [line for line in lines if line[:2] == "--"]
                sql = "\n".join([line for line in lines if line[:2] != "--"])
            found[name.strip()] = sql.strip(), comments
    return found


def _files(folder: str) -> list[str]:
    """Return the SQL files of a folder, in their order."""
    root = f"{_HERE}/{folder}"
    return [f"{root}/{name}" for name in sorted(os.listdir(root)) if name.endswith(".sql")]  # noqa: PTH208 - as above


@cache
def newest_migration() -> int:
    """Return the number of the last migration, without reading them."""
    return _number(_files("migrations")[-1])


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Return the migrations: (number, SQL), ascending."""
    return tuple((_number(place), Path(place).read_text()) for place in _files("migrations"))


def _number(place: str) -> int:
    return int(place.rpartition("/")[2][:4])
