"""Removes the storage of a model that is being destroyed.

Mirrors: juju state/model.go, cmd/juju/model/destroy.go (3.6)
"""

from __future__ import annotations

from pushjuju.core.errors import Conflict
from pushjuju.core.status import Life
from pushjuju.core.storage import Kind, Scope
from pushjuju.services.entities.storage import storage_instances
from pushjuju.store.rows.records import Model
from pushjuju.store.rows.storage_records import StorageInstance
from pushjuju.store.tx import ModelTx

_REMAINS = """\
The model has persistent storage remaining:
{counts}

To destroy the storage, run the destroy-model
command again with the "--destroy-storage" option.

To release the storage from Juju's management
without destroying it, use the "--release-storage"
option instead. The storage can then be imported
into another Juju model.
"""


def begin(tx: ModelTx, model: Model, *, destroy: bool | None) -> None:
    """Start the removal of all storage of a model.

    Storage on a unit's machine is destroyed with the machine, as in Juju; for storage that outlives units,
    the user has to choose.

    Args:
        destroy: True to destroy the storage, False to release it, or None when the user made no choice.
    """
    if not tx.scalar("storage_any"):
        return
    found = [item for item in tx.list(StorageInstance, "storage_instance_list") if item.life == Life.ALIVE]
    lasting = [item for item in found if not item.is_disk and (item.scope == Scope.MODEL or not item.owner)]
    if lasting and destroy is None:
        raise Conflict(f'cannot destroy model "{model.name}"\n\n{_REMAINS.format(counts=_counts(lasting))}')
    stuck = [item.id for item in lasting if not destroy and not item.releasable]
    if stuck and destroy is not None:
        raise Conflict(
            f'cannot destroy model "{model.name}": storage {", ".join(stuck)} is on a machine of the model '
            "and cannot be released",
            hint="copy the data, or use --destroy-storage",
        )
    for item in found:
        storage_instances.doom(tx, item, destroy=destroy is not False or not item.releasable)
        storage_instances.advance(tx, item.id)


def _counts(items: list[StorageInstance]) -> str:
    volumes = sum(item.kind == Kind.BLOCK for item in items)
    pairs = ((volumes, "volume(s)"), (len(items) - volumes, "filesystem(s)"))
    return "\n".join(f"    {count} {noun}" for count, noun in pairs if count)
