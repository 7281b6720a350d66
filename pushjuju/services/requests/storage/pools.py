"""The requests about storage pools. Mirrors: juju apiserver/facades/client/storage (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pushjuju.core.errors import AlreadyExists, Conflict, NotValid
from pushjuju.core.problems import Subject
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.store.rows.storage_records import StoragePool
from pushjuju.store.tx import ModelTx

if TYPE_CHECKING:
    from pushjuju.plugins.api.storage_types import StorageType
from pushjuju.services.entities.storage import storage_pools


def create(ctx: Context, model: str, name: str, provider: str, attributes: Mapping[str, str]) -> None:
    """Create a storage pool."""
    storage_pools.require_name(name)
    with ctx.change(model) as tx:
        models.require_alive(tx)
        pools = storage_pools.open_pools(ctx, tx)
        typed = _typed(pools.type_of(provider), attributes)
        if name in pools.names():
            raise AlreadyExists(f'storage pool "{name}" already exists')
        tx.insert("storage_pool", StoragePool(model=model, name=name, provider=provider, attributes=typed))


def update(ctx: Context, model: str, name: str, attributes: Mapping[str, str], provider: str = "") -> None:
    """Replace the attributes of a pool, and its provider when one is named."""
    with ctx.change(model) as tx:
        found = _made(tx, name)
        pools = storage_pools.open_pools(ctx, tx)
        wanted = pools.type_of(provider or found.provider)
        if wanted.name != found.provider and tx.scalar("storage_pool_uses", pool=name):
            raise Conflict(f'storage pool "{name}" in use')
        typed = StoragePool(
            model=model, name=name, provider=wanted.name, attributes=_typed(wanted, attributes)
        )
        tx.run("storage_pool_delete", name=name)
        tx.insert("storage_pool", typed)


def remove(ctx: Context, model: str, name: str) -> None:
    """Remove a pool that no storage uses."""
    with ctx.change(model) as tx:
        _made(tx, name)
        if tx.scalar("storage_pool_uses", pool=name):
            raise Conflict(f'storage pool "{name}" in use')
        tx.run("storage_pool_delete", name=name)


def _made(tx: ModelTx, name: str) -> StoragePool:
    return tx.get(StoragePool, "storage_pool_get", Subject("pool", name), name=name)


def _typed(item: StorageType, attributes: Mapping[str, str]) -> dict[str, object]:
    """Check the attributes that a provider declares; other attributes are stored unchecked, as in Juju."""
    found: dict[str, object] = dict(attributes)
    for attribute in item.attributes:
        value = found.get(attribute.name)
        if value is None:
            if attribute.required:
                raise NotValid(f'storage provider "{item.name}" needs the attribute "{attribute.name}"')
        elif attribute.choices and value not in attribute.choices:
            raise NotValid(f'{attribute.name}: expected one of {", ".join(attribute.choices)}, got "{value}"')
    return found
