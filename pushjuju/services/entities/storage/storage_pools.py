"""Storage pools: names for a type of storage with attributes.

Each type of storage is a pool of its name too. Mirrors: juju storage/poolmanager (3.6)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import AlreadyExists, Conflict, NotFound, NotValid, not_found
from pushjuju.core.problems import Subject
from pushjuju.core.storage import Kind, is_pool
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.store.rows.storage_records import StoragePool
from pushjuju.store.tx import Tx

if TYPE_CHECKING:
    from pushjuju.plugins.api.storage_types import StorageType


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A pool that can be used."""

    name: str
    type: StorageType
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def require(self, kind: Kind) -> None:
        """Check that charms can have this kind from it; a filesystem is made on a volume where need be."""
        if kind not in self.type.kinds and not (kind is Kind.FILESYSTEM and Kind.BLOCK in self.type.kinds):
            raise NotValid(f'"{self.type.name}" provider does not support "{kind}" storage')


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """The pools of a model: those that users made, and those that exist in every model."""

    types: Mapping[str, StorageType]
    made: Mapping[str, StoragePool]

    def get(self, name: str) -> Pool:
        """Return a pool.

        Raises:
            NotFound: The pool does not exist.
        """
        if (found := self.made.get(name)) is not None:
            return Pool(name=name, type=self.type_of(found.provider), attributes=found.attributes)
        if name in self.types:
            return Pool(name=name, type=self.types[name])
        for item in self.types.values():
            if name in item.pools:
                return Pool(name=name, type=item, attributes=item.pools[name])
        raise not_found("pool", name, hint="pushjuju storage-pools")

    def type_of(self, name: str) -> StorageType:
        """Return a type of storage."""
        if name not in self.types:
            known = ", ".join(sorted(self.types))
            raise NotFound(f'storage provider "{name}" not found', hint=f"known providers: {known}")
        return self.types[name]

    def keep(self, tx: Tx, model: str, pool: Pool) -> None:
        """Make a plugin's pool the model's own when it is used: what it says is read where no plugin is."""
        if pool.attributes and pool.name not in self.made:
            row = StoragePool(
                model=model, name=pool.name, provider=pool.type.name, attributes=pool.attributes
            )
            if tx.find(StoragePool, "storage_pool_get", model=model, name=pool.name) is None:
                tx.insert("storage_pool", row)

    def names(self) -> list[str]:
        """Return the names of all pools, sorted."""
        given = [name for item in self.types.values() for name in item.pools]
        return sorted({*self.made, *self.types, *given})


def open_pools(ctx: Context, tx: Tx, model: str) -> Pools:
    """Return the pools of a model; loads the plugins."""
    host = PluginHost(environ=ctx.environ)
    made = tx.list(StoragePool, "storage_pool_list", model=model)
    types = host.storage_types(models.get(tx, model).cloud_type)
    return Pools(types=types, made={pool.name: pool for pool in made})


def create(ctx: Context, model: str, name: str, provider: str, attributes: Mapping[str, str]) -> None:
    """Make a pool."""
    _check_name(name)
    with ctx.store.write() as tx:
        models.require_alive(tx, model)
        pools = open_pools(ctx, tx, model)
        typed = _typed(pools.type_of(provider), attributes)
        if name in pools.names():
            raise AlreadyExists(f'storage pool "{name}" already exists')
        tx.insert("storage_pool", StoragePool(model=model, name=name, provider=provider, attributes=typed))


def update(ctx: Context, model: str, name: str, attributes: Mapping[str, str], provider: str = "") -> None:
    """Replace the attributes of a pool, and its type where one is named."""
    with ctx.store.write() as tx:
        found = _made(tx, model, name)
        pools = open_pools(ctx, tx, model)
        wanted = pools.type_of(provider or found.provider)
        if wanted.name != found.provider and tx.scalar("storage_pool_uses", model=model, pool=name):
            raise Conflict(f'storage pool "{name}" in use')
        typed = StoragePool(
            model=model, name=name, provider=wanted.name, attributes=_typed(wanted, attributes)
        )
        tx.run("storage_pool_delete", model=model, name=name)
        tx.insert("storage_pool", typed)


def remove(ctx: Context, model: str, name: str) -> None:
    """Remove a pool that nothing uses."""
    with ctx.store.write() as tx:
        _made(tx, model, name)
        if tx.scalar("storage_pool_uses", model=model, pool=name):
            raise Conflict(f'storage pool "{name}" in use')
        tx.run("storage_pool_delete", model=model, name=name)


def _check_name(name: str) -> None:
    if not is_pool(name):
        raise NotValid(f'pool name "{name}" not valid')


def _made(tx: Tx, model: str, name: str) -> StoragePool:
    return tx.get(StoragePool, "storage_pool_get", Subject("pool", name), model=model, name=name)


def _typed(item: StorageType, attributes: Mapping[str, str]) -> dict[str, Any]:
    """Check the attributes that a type knows; others are kept as they are, as in Juju."""
    found: dict[str, Any] = dict(attributes)
    for attribute in item.attributes:
        value = found.get(attribute.name)
        if value is None:
            if attribute.required:
                raise NotValid(f'storage provider "{item.name}" needs the attribute "{attribute.name}"')
        elif attribute.choices and value not in attribute.choices:
            raise NotValid(f'{attribute.name}: expected one of {", ".join(attribute.choices)}, got "{value}"')
    return found


def document(
    ctx: Context, model: str, names: Collection[str] = (), providers: Collection[str] = ()
) -> dict[str, Any]:
    """Return what `storage-pools` shows: name -> provider and attributes."""
    for name in names:
        _check_name(name)
    with ctx.store.read() as tx:
        pools = open_pools(ctx, tx, model)
    for provider in providers:
        pools.type_of(provider)
    found: dict[str, Any] = {}
    for name in pools.names():
        pool = pools.get(name)
        if (names and name not in names) or (providers and pool.type.name not in providers):
            continue
        attributes = {"attrs": dict(pool.attributes)} if pool.attributes else {}
        found[name] = {"provider": pool.type.name, **attributes}
    return found
