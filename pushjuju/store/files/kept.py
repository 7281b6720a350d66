"""Small results that take a while to compute, kept in the user's cache until what they depend on changes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def place(environ: Mapping[str, str], name: str) -> Path | None:
    """Return the file that keeps a result, or None when the user has no cache.

    Args:
        environ: Environment variables: PUSHJUJU_CACHE, XDG_CACHE_HOME, HOME.
    """
    if folder := environ.get("PUSHJUJU_CACHE"):
        return Path(folder, name)
    base = environ.get("XDG_CACHE_HOME") or (f"{environ['HOME']}/.cache" if environ.get("HOME") else "")
    return Path(base, "pushjuju", name) if base else None


def read(file: Path | None, key: Sequence[object]) -> Any:
    """Return the JSON value that was kept with this key, or None."""
    if file is None:
        return None
    try:
        data = json.loads(file.read_bytes())
        return data["found"] if data["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(file: Path | None, key: Sequence[object], found: object) -> None:
    """Keep a JSON value with its key; without a file, or on a full disk, the value is computed again."""
    if file is None:
        return
    new = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps({"key": key, "found": found}), encoding="utf-8")
        new.replace(file)
    except OSError:
        return
