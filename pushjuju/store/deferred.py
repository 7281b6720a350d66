"""A store whose writes may become durable with the next shared commit."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from typing import Any

from pushjuju.store.db import Store
from pushjuju.store.engine import Group
from pushjuju.store.tx import Tx


class DeferredStore(Store):
    """A store whose writes become durable with the next shared commit, or when `durable` returns.

    Without a running event loop, writes are durable at once.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store.engine)
        self._store = store
        self._since = store.group().lost
        self.home = store.home

    def read(self) -> AbstractContextManager[Tx]:
        return self._store.read()

    def write(self, model: str = "", *, later: bool = True) -> AbstractContextManager[Tx]:
        return self._store.write(model, later=later)

    def concluded(self, key: Hashable) -> Any:
        return self._store.concluded(key)

    def group(self) -> Group:
        return self._store.group()

    async def durable(self) -> None:
        """Wait until all writes are durable."""
        await self.group().durable(self._since)
