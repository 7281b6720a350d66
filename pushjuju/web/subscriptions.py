"""What a watcher waits for: the deltas of models, or a sign that something else has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pushjuju.services.views.entity_news import Key
from pushjuju.web import messages

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context

Job = Callable[["Context"], messages.Encoded | None]
Texts = dict[Key, str]
"""(kind, id) -> the entity as JSON."""


class Watch:
    """What one watcher has not told yet."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.stopped = False

    def stop(self) -> None:
        """End the watcher; a pending `Next` ends with it."""
        self.stopped = True
        self.news.set()

    async def take(self) -> messages.Encoded | None:
        """Return what is to be told, or None when there is nothing after all."""
        raise NotImplementedError


class Whole(Protocol):
    """The picture of a model, as its watchers see it."""

    def first(self) -> str:
        """Return all entities as deltas."""


class Subscription(Watch):
    """The newest delta of each entity of some models; at first, all of their entities."""

    def __init__(self) -> None:
        super().__init__()
        self._unseen: list[Whole] = []  # pictures of which nothing was told
        self._pending: dict[tuple[str, Key], str] = {}
        self.news.set()  # the first Next answers even for an empty model

    def begin(self, picture: Whole) -> None:
        """Tell of all entities of a model with the next answer."""
        self._unseen.append(picture)
        self.news.set()

    def add(self, model: str, picture: Whole, deltas: Mapping[Key, str]) -> None:
        """Take in what has changed in a model."""
        if picture in self._unseen:
            return  # the next answer has all of it
        for key, delta in deltas.items():
            self._pending.pop((model, key), None)  # the newest state comes in its place of the order
            self._pending[model, key] = delta
        self.news.set()

    async def take(self) -> messages.Encoded:
        """Return what is to be told."""
        told = [text for picture in self._unseen if (text := picture.first())]
        told += self._pending.values()
        self._unseen, self._pending = [], {}
        self.news.clear()
        return messages.Encoded('{"deltas":[' + ",".join(told) + "]}")


Read = Callable[["Context", Collection[str] | None], messages.Encoded | None]
"""Returns what is to be told of some models (None: of any), or None when that is nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a signal waits for.

    Attributes:
        facade: The facade whose `Next` tells it.
        model: The model, or empty for all models.
        read: Runs in a thread, after a change that counts.
        kinds: Of the journal of changes; none are all.
        entities: The entities of these kinds that count; none are all.
        writes: Any write to the store counts, also one that the journal does not name.
    """

    facade: str
    model: str
    read: Read
    kinds: Collection[str] = ()
    entities: Collection[str] = ()
    writes: bool = False


class Signal(Watch):
    """A change of certain kinds, in a model or in any; the answer is read when `Next` asks for it."""

    def __init__(self, wanted: Wanted, run: Callable[[Job], Awaitable[messages.Encoded | None]]) -> None:
        super().__init__()
        self.wanted = wanted
        self._run = run
        self._models: set[str] | None = None
        self.news.set()  # the first Next answers at once

    def see(self, changed: Mapping[str, Collection[Key]] | None) -> None:
        """Look whether a change counts; None is one that is not known."""
        if changed is None or self.wanted.writes:
            self._models = None
            self.news.set()
            return
        for model, keys in changed.items():
            if self.wanted.model in ("", model) and any(self._counts(*key) for key in keys):
                if self._models is not None:
                    self._models.add(model)
                self.news.set()

    def _counts(self, kind: str, entity: str) -> bool:
        kinds, entities = self.wanted.kinds, self.wanted.entities
        return (not kinds or kind in kinds) and (not entities or entity in entities)

    async def take(self) -> messages.Encoded | None:
        """Return what is to be told, or None when there is nothing after all."""
        models, self._models = self._models, set()
        self.news.clear()
        return await self._run(lambda ctx: self.wanted.read(ctx, models))
