"""Polls the store while there are watchers, and passes changes on to the watchers.

Other processes write too, so a thread reads the store's version many times a second. When the version has
changed, the journal of changes names the entities to read. One picture serves all watchers of a model.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.services.views import entity_news, entity_picture
from pushjuju.services.views.entity_news import Journal, Key
from pushjuju.web import errors, messages
from pushjuju.web.pool import Pool
from pushjuju.web.subscriptions import Signal, Subscription, Texts, Wanted, Watch

_LOOK_S = 0.03
_BUSY_S, _BUSY_FOR_S = 0.01, 1.0  # after a change: the shorter interval, and how long this interval is used
_LONGEST_S = 1.0  # the longest time that a job of the thread polls
_REST_S = 0.04  # the pause after a change; changes during the pause are reported together
_REST = 2.0  # the pause is at least this many times the time of the read
_WHOLE_S = 60.0  # age at which a changed model is read as a whole, as some values follow from the time
_MOST = 500  # after more changes, the model is read as a whole
ANY = ""
"""Stands for all models in place of a model's UUID."""


class Fresh(NamedTuple):
    """The entities of a model that were read: those that have changed, or all."""

    seen: int  # the newest entry of the journal of changes
    number: int  # the newest entry of the model
    whole: bool
    texts: Texts
    gone: Collection[Key] = ()


def _texts(entities: entity_picture.Picture) -> Texts:
    return {key: messages.dumped(entity) for key, entity in entities.items()}


def _whole(ctx: Context, model: str) -> Fresh:
    seen, number = entity_news.marks(ctx, model)  # read first, so that no write before the picture is missed
    return Fresh(seen, number, whole=True, texts=_texts(entity_picture.picture(ctx, model)))


def _fresh(ctx: Context, model: str, journal: Journal, number: int, *, whole: bool) -> Fresh | None:
    """Return the entities of a model that have changed after an entry, or None when nothing has changed."""
    entries = None if journal.changed is None else journal.changed.get(model, {})
    changed = None if entries is None else [key for key, found in entries.items() if found > number]
    if changed is None or len(changed) > _MOST or (whole and changed):
        return _whole(ctx, model)
    if not changed:
        return None
    found, newest = entity_news.news(ctx, model, changed), max(entries.values()) if entries else number
    if found is None:
        return Fresh(journal.number, newest, whole=True, texts={})
    return Fresh(journal.number, newest, whole=False, texts=_texts(found.entities), gone=found.gone)


def delta(key: Key, verb: str, text: str) -> str:
    return f'["{key[0]}","{verb}",{text}]'


class Picture:
    """The entities of a watched model as JSON, at one number of the journal of changes."""

    def __init__(self, fresh: Fresh) -> None:
        self.seen, self.number = fresh.seen, fresh.number
        self.read_at = time.monotonic()  # as a whole
        self.watching: set[Subscription] = set()
        self._texts = dict(fresh.texts)
        self._first: str | None = None

    def first(self) -> str:
        if self._first is None:
            self._first = ",".join(delta(key, "change", text) for key, text in self._texts.items())
        return self._first

    def apply(self, fresh: Fresh) -> dict[Key, str]:
        """Update the picture with entities that were read, and return the deltas, removals last."""
        self.number = fresh.number
        gone = fresh.gone
        if fresh.whole:
            self.read_at = time.monotonic()
            gone = self._texts.keys() - fresh.texts.keys()
        before = self._texts
        found = {
            key: delta(key, "change", text) for key, text in fresh.texts.items() if before.get(key) != text
        }
        before.update(fresh.texts)
        for key in [key for key in gone if key in before]:
            found[key] = delta(key, "remove", before.pop(key))
        if found:
            self._first = None
        return found


class Hub:
    """The watched models of a server, and the watchers of other things."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._eye = pool.one_more()  # each SQLite connection counts versions of its own
        self._pictures: dict[str, Picture] = {}
        self._everywhere: set[Subscription] = set()
        self._signals: set[Signal] = set()
        self.count = 0  # of the watchers
        self._number = 0  # the newest entry of the journal that was read for signals
        self._newest: dict[str, int] = {}  # model -> its newest entry that was read for signals
        self._seen: tuple[int, int] | None = None
        self._changed = 0.0
        self._nudge = threading.Event()
        self._closed = False
        self._task: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Read the store at once, after a write of this process."""
        self._nudge.set()

    # --- who watches --------------------------------------------------------------------------------------

    async def subscribe(self, model: str) -> Subscription:
        """Begin to watch a model, or all models; the first deltas are all entities."""
        made = Subscription()
        self.count += 1
        try:
            if model == ANY:
                self._everywhere.add(made)
            for uuid in await self._pool.run(_all_models) if model == ANY else [model]:
                await self._join(uuid, made)
        except BaseException:  # the connection has ended, for example
            self.unsubscribe(made)
            raise
        self._begin()
        return made

    async def _join(self, model: str, subscription: Subscription) -> None:
        if model not in self._pictures:
            found = await self._pool.run(lambda ctx: _whole(ctx, model))
            self._pictures.setdefault(model, Picture(found))
            self._seen = None  # another process may have written since the read
        picture = self._pictures[model]
        if subscription not in picture.watching and not subscription.stopped:
            picture.watching.add(subscription)
            subscription.begin(picture)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Stop watching; a model that nobody watches is forgotten."""
        self.count -= 1
        subscription.stop()
        self._everywhere.discard(subscription)
        for model, picture in list(self._pictures.items()):
            picture.watching.discard(subscription)
            if not picture.watching:
                del self._pictures[model]

    async def listen(self, wanted: Wanted) -> Signal:
        """Add a signal, which waits for changes."""
        made = Signal(wanted, self._pool.run_patiently)
        if not self._signals:
            self._unheard(await self._pool.run(_now))
        self._signals.add(made)
        self.count += 1
        self._begin()
        return made

    def unlisten(self, signal: Signal) -> None:
        self.count -= 1
        signal.stop()
        self._signals.discard(signal)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """End all watchers."""
        self._closed = True
        self._nudge.set()
        for watch in self._watches():
            watch.stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._eye.close()

    def _watches(self) -> list[Watch]:
        found: set[Watch] = {watch for picture in self._pictures.values() for watch in picture.watching}
        return [*found, *self._signals]

    # --- looking ------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Poll the store until there are no watchers."""
        while self._pictures or self._signals or self._everywhere:
            try:
                if await self._eye.run(self._differs):
                    begun = time.monotonic()
                    await self._refresh()
                    await asyncio.sleep(max(_REST_S, _REST * (time.monotonic() - begun)))
            except PushjujuError:  # the store is busy for a moment
                self._seen = None
                await asyncio.sleep(_REST_S)

    def _differs(self, ctx: Context) -> bool:
        """Wait in the thread until the store has changed; return False after a second without a change."""
        until = time.monotonic() + _LONGEST_S
        while not self._closed and time.monotonic() < until:
            self._nudge.clear()
            version = ctx.store.version()
            if version != self._seen:
                self._seen, self._changed = version, time.monotonic()
                return True
            is_busy = time.monotonic() - self._changed < _BUSY_FOR_S
            self._nudge.wait(_BUSY_S if is_busy else _LOOK_S)
        return False

    async def _refresh(self) -> None:
        numbers = [picture.seen for picture in self._pictures.values()]
        numbers += [self._number] if self._signals else []
        if not numbers:
            return
        after = min(numbers)
        old = time.monotonic() - _WHOLE_S
        known = {model: (item.number, item.read_at < old) for model, item in self._pictures.items()}

        def read(ctx: Context) -> tuple[Journal, dict[str, Fresh | None]]:
            journal = entity_news.journal(ctx, after, late=True)
            return journal, {
                model: _fresh(ctx, model, journal, number, whole=whole)
                for model, (number, whole) in known.items()
            }

        journal, found = await self._eye.run(read)
        for model, fresh in found.items():
            self._tell(model, fresh, journal.number)
        changed = self._unheard(journal)
        for signal in self._signals:
            signal.see(changed)
        await self._join_new(changed)

    def _unheard(self, journal: Journal) -> dict[str, list[Key]] | None:
        """Return what signals do not know yet, and take it for known; None stands for unknown changes."""
        self._number = journal.number
        if journal.changed is None:
            return None
        before = self._newest
        self._newest = {model: max(entries.values()) for model, entries in journal.changed.items()}
        found = {
            model: [key for key, number in entries.items() if number > before.get(model, 0)]
            for model, entries in journal.changed.items()
        }
        return {model: keys for model, keys in found.items() if keys}

    def _tell(self, model: str, fresh: Fresh | None, seen: int) -> None:
        picture = self._pictures.get(model)
        if picture is None:
            return
        picture.seen = seen
        if fresh is None:
            return
        if deltas := picture.apply(fresh):
            for subscription in picture.watching:
                subscription.add(model, picture, deltas)

    async def _join_new(self, changed: Mapping[str, Collection[Key]] | None) -> None:
        """Add new models to the watchers of all models."""
        if not self._everywhere or (changed is not None and changed.keys() <= self._pictures.keys()):
            return
        for model in await self._pool.run(_all_models):
            for subscription in list(self._everywhere):
                await self._join(model, subscription)


def _now(ctx: Context) -> Journal:
    return entity_news.journal(ctx, entity_news.newest(ctx), late=True)


def _all_models(ctx: Context) -> Iterable[str]:
    return [model.uuid for model in models.list_models(ctx)]


def stopped() -> errors.ApiError:
    """Return the error that ends a `Next` whose watcher has been stopped; libjuju then watches anew."""
    return errors.ApiError("watcher was stopped", errors.STOPPED)
