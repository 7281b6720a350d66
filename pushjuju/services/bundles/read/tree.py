"""Keeps the file and line of each value of a document, also after documents are merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pushjuju.charms.format.yamlsafe import Document
from pushjuju.services.bundles.read.values import Path, Place


class Places:
    """The places of values in lists and maps; it grows while documents are merged."""

    def __init__(self) -> None:
        self._of: dict[int, dict[Any, Place]] = {}
        self._kept: list[Any] = []  # keeps containers alive, because the keys of `_of` are their `id()`

    def take(self, document: Document, file: str) -> None:
        """Add the places of a document."""
        self._kept.append(document.root)
        for container in _containers(document.root):
            marks = document.marks.get(id(container), {})
            self._of[id(container)] = {
                key: Place(file=file, line=mark.line, text=mark.text) for key, mark in marks.items()
            }

    def of(self, container: Any, key: Any) -> Place | None:
        """Return the place of an item of a list or map, or None for an item without a place."""
        return self._of.get(id(container), {}).get(key)

    def copy(self, container: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return a shallow copy of a map, for changes; the copy has the same places."""
        made = dict(container)
        self._kept.append(made)
        self._of[id(made)] = dict(self._of.get(id(container), {}))
        return made

    def move(self, source: Any, target: Any, key: Any, *, new: Any = None) -> None:
        """Give an item of `target` the place of an item of `source`; `new` is another key in `target`."""
        place = self.of(source, key)
        if id(target) not in self._of:
            self._kept.append(target)
        own = self._of.setdefault(id(target), {})
        if place is None:
            own.pop(key if new is None else new, None)
        else:
            own[key if new is None else new] = place

    def at(self, root: Any, path: Path) -> Place | None:
        """Return the place of the innermost value on a path that has a place, or None."""
        found: Place | None = None
        here = root
        for part in path:
            found = self.of(here, part) or found
            try:
                here = here[part]
            except (KeyError, IndexError, TypeError):
                break
        return found


def _containers(root: Any) -> Iterator[Any]:
    """Yield every list and map inside a document once."""
    waiting, seen = [root], set[int]()
    while waiting:
        here = waiting.pop()
        if not isinstance(here, list | dict) or id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        waiting.extend(here.values() if isinstance(here, dict) else here)
