"""Looks at the store while anybody watches, and tells the watchers what is different.

Other processes write too, so the store's version is looked at many times a second; only when it has changed,
the picture of each watched model is made anew. One picture serves all watchers of a model.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.views import entity_picture
from pushjuju.web import errors, messages
from pushjuju.web.pool import Pool

Key = tuple[str, str]
Texts = dict[Key, str]
"""(kind, id) -> the entity as JSON."""

_LOOK_S = 0.1
_BUSY_S, _BUSY_FOR_S = 0.025, 1.0  # ... after a change
_REST = 2.0  # times as long as a picture took, before the next one


def _texts(ctx: Context, model: str) -> Texts:
    found = entity_picture.picture(ctx, model)
    return {key: messages.dumped(entity) for key, entity in found.items()}


def difference(before: Mapping[Key, str], now: Mapping[Key, str]) -> dict[Key, str]:
    """Return the deltas that lead from one picture to the next, as JSON; what is gone comes last."""
    found = {key: delta(key, "change", text) for key, text in now.items() if before.get(key) != text}
    found |= {key: delta(key, "remove", text) for key, text in before.items() if key not in now}
    return found


def delta(key: Key, verb: str, text: str) -> str:
    """Return one delta as JSON."""
    return f'["{key[0]}","{verb}",{text}]'


class Subscription:
    """What one watcher has not told yet: the newest delta of each entity."""

    def __init__(self, pending: dict[Key, str]) -> None:
        self.pending = pending
        self.news = asyncio.Event()
        self.stopped = False
        if pending:
            self.news.set()

    def add(self, deltas: Mapping[Key, str]) -> None:
        """Take in what has changed."""
        for key in deltas:
            self.pending.pop(key, None)  # the newest state comes in its place of the order
        self.pending.update(deltas)
        self.news.set()

    def take(self) -> list[str]:
        """Return what is to be told."""
        found, self.pending = list(self.pending.values()), {}
        self.news.clear()
        return found

    def stop(self) -> None:
        """End the watcher; a pending `Next` ends with it."""
        self.stopped = True
        self.news.set()


class Hub:
    """The watched models of a server."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._eye = pool.one_more()  # the version of a store is that of one connection
        self._pictures: dict[str, Texts] = {}
        self._watching: dict[str, set[Subscription]] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def version(self) -> tuple[int, int]:
        """Return what changes with every write to the store, by any process."""
        return await self._eye.run(lambda ctx: ctx.store.version())

    def look(self) -> None:
        """Look at once: this process has written."""
        self._wake.set()

    async def subscribe(self, model: str) -> Subscription:
        """Begin to watch a model; the first deltas are all of its entities."""
        if model not in self._pictures:
            found = await self._eye.run(lambda ctx: _texts(ctx, model))
            self._pictures.setdefault(model, found)
        made = Subscription(difference({}, self._pictures[model]))
        self._watching.setdefault(model, set()).add(made)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())
        return made

    def unsubscribe(self, model: str, subscription: Subscription) -> None:
        """Stop watching; a model that nobody watches is forgotten."""
        subscription.stop()
        watching = self._watching.get(model, set())
        watching.discard(subscription)
        if not watching:
            self._watching.pop(model, None)
            self._pictures.pop(model, None)

    async def close(self) -> None:
        """End all watchers."""
        for subscriptions in self._watching.values():
            for subscription in subscriptions:
                subscription.stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._eye.close()

    async def _watch(self) -> None:
        """Look until nobody watches any more."""
        seen, changed = await self.version(), 0.0
        await self._refresh(list(self._watching))  # what was written before the version was known
        while self._watching:
            pause = _BUSY_S if time.monotonic() - changed < _BUSY_FOR_S else _LOOK_S
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            self._wake.clear()
            with suppress(PushjujuError):  # the store is busy for a moment
                version = await self.version()
                if version != seen:
                    seen, changed = version, time.monotonic()
                    await self._refresh(list(self._watching))
                    await asyncio.sleep(_REST * (time.monotonic() - changed))

    async def _refresh(self, watched: Iterable[str]) -> None:
        for model in watched:
            now = await self._eye.run(lambda ctx, model=model: _texts(ctx, model))  # type: ignore[misc]
            before = self._pictures.get(model)
            if before is None:  # nobody watches any more
                continue
            self._pictures[model] = now
            if deltas := difference(before, now):
                for subscription in self._watching.get(model, ()):
                    subscription.add(deltas)


def stopped() -> errors.ApiError:
    """Return the error that ends a `Next` whose watcher has been stopped; libjuju restarts on its text."""
    return errors.ApiError("watcher was stopped", errors.STOPPED)
