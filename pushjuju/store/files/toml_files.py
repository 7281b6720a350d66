"""Reads TOML files that users may edit, and changes them in place."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from pushjuju.core.errors import NotValid, StoreError
from pushjuju.core.values import regex
from pushjuju.store.files.private import locked, replace_text

_PLAIN = regex(
    r"(?:\[(?P<header>[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\]"
    r'|(?P<word>[A-Za-z0-9_-]+) = "(?P<text>[^"\\\x00-\x1f\x7f]*)")?'
)


def read_toml(path: Path) -> dict[str, object]:
    """Return the content of a TOML file; {} when the file does not exist."""
    try:
        return parsed(path.read_bytes().decode())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, RecursionError) as error:
        raise NotValid(f"cannot read {path}: {error}", hint=f"fix the file: $EDITOR {path}") from error


def parsed(text: str) -> dict[str, object]:
    """Return the content of a TOML text.

    Raises:
        ValueError: It is no TOML.
    """
    found = _plain(text)
    return tomllib.loads(text) if found is None else found


def _plain(text: str) -> dict[str, object] | None:
    """Return the content of a text of lines `[word.word]` and `word = "text"`, or None for any other text.

    Most files are such, and tomllib takes 4 ms to import.
    """
    found: dict[str, Any] = {}
    table, headers = found, set[str]()
    for line in text.split("\n"):
        plain = _PLAIN.fullmatch(line)
        if plain is None or plain["header"] in headers or plain["word"] in table:
            return None
        if plain["word"]:
            table[plain["word"]] = plain["text"]
        elif plain["header"]:
            headers.add(plain["header"])
            table = found
            for word in plain["header"].split("."):
                table = table.setdefault(word, {})
                if not isinstance(table, dict):
                    return None
    return found


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
