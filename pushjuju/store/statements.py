"""The SQL of the store, as it lies in files: named statements, and migrations by number."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def queries() -> Mapping[str, str]:
    """Return every named statement: name -> SQL."""
    found: dict[str, str] = {}
    for path in sorted((_HERE / "sql").glob("*.sql")):
        for block in path.read_text().split("-- name: ")[1:]:
            name, _, body = block.partition("\n")
            lines = (line for line in body.splitlines() if not line.startswith("--"))
            found[name.strip()] = "\n".join(lines).strip()
    return found


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Return the migrations: (number, SQL), ascending."""
    files = sorted((_HERE / "migrations").glob("*.sql"))
    return tuple((int(path.name[:4]), path.read_text()) for path in files)
