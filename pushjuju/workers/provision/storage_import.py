"""Imports a filesystem that exists in a cloud already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.core.storage import is_store
from pushjuju.plugins.api.storage_types import StorageMade, StorageProvider
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import credential_validity
from pushjuju.services.requests.storage import storage_requests
from pushjuju.workers.runtime import Runtime
from pushjuju.workers.timeouts import CALL_S, within


def import_found(
    ctx: Context, model: str, pool: str, provider_id: str, name: str, *, warn: Callable[[str], None]
) -> str:
    """Find a filesystem in the cloud and record it; return the id of the new storage."""
    if not is_store(name):
        raise NotValid(f"{quote(name)} is not a valid storage name")
    type_name, kind = storage_requests.check_import(ctx, model, pool)
    runtime = Runtime(ctx, warn=warn)
    provider = runtime.host.open_storage(type_name, runtime.provider(model))
    if not isinstance(provider, StorageProvider):
        raise NotValid(f'importing filesystem with storage provider "{type_name}" not supported')

    with ctx.read(model) as tx:
        credential_validity.require(tx)

    async def find() -> StorageMade:
        return await within(CALL_S, provider.find(provider_id, kind))

    try:
        found = asyncio.run(find())
    except PushjujuError as error:
        with ctx.write(model, whole=True) as tx:
            credential_validity.note(tx, error)
        raise
    return storage_requests.record_import(ctx, model, pool, name, found)
