"""A dictionary of limited size, for caches."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class Recent:
    """A dictionary that drops entries which were not used for a long time.

    It has two generations: an entry found in the old generation moves to the young one. When the young
    generation is full, it becomes the old one, and the old one is dropped.
    """

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._young: dict[Hashable, Any] = {}
        self._old: dict[Hashable, Any] = {}

    def get(self, key: Hashable) -> Any:
        """Return the value of a key, or None."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def put(self, key: Hashable, value: Any) -> None:
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def clear(self) -> None:
        """Drop all entries."""
        self._young, self._old = {}, {}
