"""Storage pools: names that stand for a storage provider with attributes.

Each storage provider is also a pool of the same name. Mirrors: juju storage/poolmanager (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pushjuju.core.errors import NotFound, NotValid, not_found
from pushjuju.core.storage import Kind, is_pool
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.storage_types import StorageType
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.store.rows.storage_records import StoragePool
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A usable storage pool: its provider's type and its attributes."""

    name: str
    type: StorageType
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def require(self, kind: Kind) -> None:
        """Raise NotValid when the pool cannot make a kind of storage; a filesystem may be on a volume."""
        if kind not in self.type.kinds and not (kind is Kind.FILESYSTEM and Kind.BLOCK in self.type.kinds):
            raise NotValid(f'"{self.type.name}" provider does not support "{kind}" storage')


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """The pools of a model: those that users created, and those that every model has."""

    types: Mapping[str, StorageType]
    made: Mapping[str, StoragePool]

    def get(self, name: str) -> Pool:
        """Return a pool, or raise NotFound."""
        if (found := self.made.get(name)) is not None:
            return Pool(name=name, type=self.type_of(found.provider), attributes=found.attributes)
        if name in self.types:
            return Pool(name=name, type=self.types[name])
        for item in self.types.values():
            if name in item.pools:
                return Pool(name=name, type=item, attributes=item.pools[name])
        raise not_found("pool", name, hint="pushjuju storage-pools")

    def type_of(self, name: str) -> StorageType:
        """Return the type of a storage provider, or raise NotFound."""
        if name not in self.types:
            known = ", ".join(sorted(self.types))
            raise NotFound(f'storage provider "{name}" not found', hint=f"known providers: {known}")
        return self.types[name]

    def keep(self, tx: ModelTx, pool: Pool) -> None:
        """Record a plugin's pool in the model at its first use, so that workers need not load the plugin."""
        if pool.attributes and pool.name not in self.made:
            row = StoragePool(
                model=tx.model, name=pool.name, provider=pool.type.name, attributes=pool.attributes
            )
            if tx.find(StoragePool, "storage_pool_get", name=pool.name) is None:
                tx.insert("storage_pool", row)

    def names(self) -> list[str]:
        """Return the names of all pools, sorted."""
        given = [name for item in self.types.values() for name in item.pools]
        return sorted({*self.made, *self.types, *given})


def open_pools(ctx: Context, tx: ModelTx) -> Pools:
    """Return the pools of a model; loads the plugins."""
    host = PluginHost(environ=ctx.environ)
    made = tx.list(StoragePool, "storage_pool_list")
    types = host.storage_types(models.get(tx).cloud_type)
    return Pools(types=types, made={pool.name: pool for pool in made})


def require_name(name: str) -> None:
    """Check the name of a pool."""
    if not is_pool(name):
        raise NotValid(f'pool name "{name}" not valid')
