"""The news of watchers: deltas of models, or a signal that something else has changed."""

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
    """The changes that a watcher has not reported yet."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.stopped = False

    def stop(self) -> None:
        """End the watcher; a pending `Next` ends with it."""
        self.stopped = True
        self.news.set()

    async def take(self) -> messages.Encoded | None:
        """Return the unreported changes as JSON, or None when there are no such changes."""
        raise NotImplementedError


class Whole(Protocol):
    """The picture of a model, as its watchers see it."""

    def first(self) -> str:
        """Return all entities as deltas."""


class Subscription(Watch):
    """The newest delta of each entity of some models; at first, all of their entities."""

    def __init__(self) -> None:
        super().__init__()
        self._unseen: list[Whole] = []  # pictures that no answer has reported
        self._pending: dict[tuple[str, Key], str] = {}
        self.news.set()  # the first Next answers even for an empty model

    def begin(self, picture: Whole) -> None:
        """Report all entities of a model with the next answer."""
        self._unseen.append(picture)
        self.news.set()

    def add(self, model: str, picture: Whole, deltas: Mapping[Key, str]) -> None:
        """Add changes of a model for the next answer."""
        if picture in self._unseen:
            return  # the next answer has all entities of this model
        for key, delta in deltas.items():
            self._pending.pop((model, key), None)  # the entity moves to the end of the order
            self._pending[model, key] = delta
        self.news.set()

    async def take(self) -> messages.Encoded:
        """Return the unreported deltas as JSON."""
        told = [text for picture in self._unseen if (text := picture.first())]
        told += self._pending.values()
        self._unseen, self._pending = [], {}
        self.news.clear()
        return messages.Encoded('{"deltas":[' + ",".join(told) + "]}")


Read = Callable[["Context", Collection[str] | None], messages.Encoded | None]
"""Returns the answer about some models (None for all), or None when nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The changes that a signal waits for."""

    facade: str  # the facade whose `Next` returns the answer
    model: str  # the model, or empty for all models
    read: Read  # returns the answer after a matching change; runs in a thread
    kinds: Collection[str] = ()  # kinds of entities in the journal of changes; empty for all
    entities: Collection[str] = ()  # names of entities of these kinds; empty for all
    writes: bool = False  # True to match any write to the store, even without an entry in the journal


class Signal(Watch):
    """A change of certain kinds, in one model or all; the answer is read when `Next` asks for it."""

    def __init__(self, wanted: Wanted, run: Callable[[Job], Awaitable[messages.Encoded | None]]) -> None:
        super().__init__()
        self.wanted = wanted
        self._run = run
        self._models: set[str] | None = None
        self.news.set()  # the first Next answers at once

    def see(self, changed: Mapping[str, Collection[Key]] | None) -> None:
        """Check whether changes match; None stands for unknown changes, which always match."""
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
        """Return the unreported changes as JSON, or None when there are no such changes."""
        models, self._models = self._models, set()
        self.news.clear()
        return await self._run(lambda ctx: self.wanted.read(ctx, models))
