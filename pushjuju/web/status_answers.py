"""The answers of FullStatus: clients that ask at the same time share one reading of the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import NamedTuple

from pushjuju.services.entities.basis.context import Context
from pushjuju.web import messages
from pushjuju.web.messages import Encoded
from pushjuju.web.pool import Pool

_VALID_S = 1.0  # a status depends on the time, too: a machine is `down` after a while without contact


class _Answer(NamedTuple):
    text: Encoded
    until: float


class StatusAnswers:
    """Reads statuses in a thread of its own, and keeps each for a second while nothing is written."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool.one_more()
        self._version: tuple[int, int] | None = None
        self._known: dict[Hashable, _Answer] = {}

    async def answer(self, key: Hashable, read: Callable[[Context], object]) -> Encoded:
        """Return what a function reads, as JSON; the same key stands for the same function."""
        return await self._pool.run(lambda ctx: self._of(ctx, key, read))

    def _of(self, ctx: Context, key: Hashable, read: Callable[[Context], object]) -> Encoded:
        version, now = ctx.store.version(), time.monotonic()
        valid = version == self._version
        self._known = {name: item for name, item in self._known.items() if valid and item.until > now}
        self._version = version
        if key not in self._known:
            self._known[key] = _Answer(Encoded(messages.dumped(read(ctx))), time.monotonic() + _VALID_S)
        return self._known[key].text

    async def close(self) -> None:
        """End the thread."""
        await self._pool.close()
