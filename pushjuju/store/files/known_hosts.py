"""The text of known_hosts files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pushjuju.core.values import dataclass

FOLDER = "known_hosts"
ACCEPTED = "accepted"
"""The comment of keys that a user accepted instead of the keys that the provider reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostKey:
    """A host key of a machine."""

    name: str  # the machine's name in known_hosts files
    key: str  # type and data, without comment
    accepted: bool  # True when a user accepted the key instead of the provider's


def entries(text: str) -> Iterator[HostKey]:
    """Yield the keys of a known_hosts file, without comments, marked lines and hashed names."""
    for line in text.splitlines():
        names, _, key = line.strip().partition(" ")
        if key and not names.startswith(("#", "@", "|")):
            words = key.split()
            for name in names.split(","):
                yield HostKey(name=name, key=" ".join(words[:2]), accepted=ACCEPTED in words[2:])


def line(found: HostKey) -> str:
    """Return the line of a known_hosts file for a key."""
    return f"{found.name} {found.key}{f' {ACCEPTED}' if found.accepted else ''}\n"


def texts(rows: Iterable[Any]) -> dict[str, str]:
    """Return the files for the rows of `host_key_all`: model -> text."""
    found: dict[str, str] = {}
    for row in rows:
        key = HostKey(name=row["name"], key=row["key"], accepted=bool(row["accepted"]))
        found[row["model"]] = found.get(row["model"], "") + line(key)
    return found
