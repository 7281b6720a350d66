"""What a process does with its store in PostgreSQL, counted in memory for its metrics."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pushjuju.store.engine import Figure
    from pushjuju.store.postgres.pipeline import Pipeline


class Figures:
    """The locks and flushes of a process, in seconds."""

    def __init__(self) -> None:
        self._waits: defaultdict[str, float] = defaultdict(float)  # by model, "" for the whole store
        self._held: defaultdict[str, float] = defaultdict(float)
        self._writes: Counter[str] = Counter()
        self._flushes = 0
        self._flushed = 0.0
        self._locked = 0.0

    def locked(self, model: str, began: float) -> None:
        """Note that a writing transaction has its locks, for which it has waited since a moment."""
        self._locked = time.monotonic()
        self._waits[model] += self._locked - began

    def freed(self, model: str) -> None:
        """Note that a writing transaction has ended."""
        self._writes[model] += 1
        self._held[model] += time.monotonic() - self._locked

    def flushed(self, began: float) -> None:
        """Note that commits became durable, in a flush that began at a moment."""
        self._flushes += 1
        self._flushed += time.monotonic() - began

    def values(self, connection: Pipeline) -> Iterator[Figure]:
        """Yield the values of metrics."""
        for model, number in self._writes.items():
            for name, seconds in (("lock_wait_seconds", self._waits), ("lock_held_seconds", self._held)):
                yield name, (model,), seconds[model], "_sum"
                yield name, (model,), number, "_count"
        yield "store_flush_seconds", (), self._flushed, "_sum"
        yield "store_flush_seconds", (), self._flushes, "_count"
        yield "store_round_trips_total", (), connection.trips, ""
        yield "store_seconds_total", (), connection.waited, ""
        for kind, number in connection.kinds.items():
            yield "store_statements_total", (kind,), number, ""
