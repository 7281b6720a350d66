"""Reads TOML files that users may edit, and changes them in place."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from pushjuju.core.errors import NotValid, StoreError
from pushjuju.store.files.private import locked, replace_text


def read_toml(path: Path) -> dict[str, object]:
    """Return the content of a TOML file; {} when the file does not exist."""
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, RecursionError) as error:
        raise NotValid(f"cannot read {path}: {error}", hint=f"fix the file: $EDITOR {path}") from error


def stamp_of(path: Path) -> tuple[int, ...]:
    """Return a value that is another one after the file was changed, replaced or removed."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def edit_toml(path: Path, change: Callable[[MutableMapping[str, Any]], None]) -> None:
    """Change a TOML file in place: comments stay, and readers see the old or the new text."""
    import tomlkit  # imported here: slow, and only changes need it

    with locked(path.with_name(f".{path.name}.lock")):
        read_toml(path)  # raises an error for a broken file
        document = tomlkit.parse(path.read_text()) if path.exists() else tomlkit.document()
        change(document)
        replace_text(path, tomlkit.dumps(document))
