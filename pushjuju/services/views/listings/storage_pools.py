"""The document of `storage-pools`. Mirrors: juju cmd/juju/storage/poollist.go (3.6)"""

from __future__ import annotations

from collections.abc import Collection

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.storage import storage_pools


def document(
    ctx: Context, model: str, names: Collection[str] = (), providers: Collection[str] = ()
) -> dict[str, dict[str, object]]:
    """Return name -> {provider, attrs?}, as `storage-pools` shows them."""
    for name in names:
        storage_pools.require_name(name)
    with ctx.read(model) as tx:
        pools = storage_pools.open_pools(ctx, tx)
    for provider in providers:
        pools.type_of(provider)
    found: dict[str, dict[str, object]] = {}
    for name in pools.names():
        pool = pools.get(name)
        if (names and name not in names) or (providers and pool.type.name not in providers):
            continue
        attributes = {"attrs": dict(pool.attributes)} if pool.attributes else {}
        found[name] = {"provider": pool.type.name, **attributes}
    return found
