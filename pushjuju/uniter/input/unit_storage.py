"""Storage of a unit: what its decision sees, what its hooks see, what its hooks add.

Units without storage skip this module. Mirrors: juju worker/uniter/storage, worker/uniter/runner/context
(3.6)
"""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.charms.values.model import Charm
from pushjuju.core.errors import PushjujuError
from pushjuju.core.names import unit_tag
from pushjuju.core.status import Life
from pushjuju.core.storage import Kind
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.views.status.storage_document import device_path
from pushjuju.store.rows.records import Unit
from pushjuju.store.rows.storage_records import StorageDirective
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.decide.remote import RemoteState, RemoteStorage
from pushjuju.uniter.decide.state import HookInfo


def remote_storage(tx: ModelTx, unit: Unit, charm: Charm) -> dict[str, RemoteStorage]:
    """Return the storage of a unit for its remote state."""
    rows = tx.rows("storage_seen_by_unit", unit=unit.name, machine=unit.machine)
    found = {}
    for row in rows:
        where = ""
        if row["attached"]:
            where = (
                device_path(row["hardware_id"], row["wwn"], row["device"], row["device_link"])
                if row["kind"] == Kind.BLOCK
                else row["location"]
            )
        found[row["storage"]] = RemoteStorage(
            kind=row["kind"],
            life=Life(row["life"]),
            attached=bool(where),
            implemented=row["name"] in charm.meta.storage,
            location=where,
        )
    return found


def storage_context(remote: RemoteState, hook: HookInfo | None) -> dict[str, object]:
    """Return what the tools of a hook can read of storage; an empty map for a unit without storage."""
    if not remote.storage:
        return {}
    found: dict[str, object] = {
        "storage": {
            name: {"kind": item.kind, "location": item.location} for name, item in remote.storage.items()
        }
    }
    if hook is not None and hook.kind.is_storage:
        found["hook_storage"] = hook.storage_id
    return found


def storage_variables(remote: RemoteState, hook: HookInfo) -> dict[str, str]:
    """Return the variables of a storage hook; empty when the storage is not attached."""
    item = remote.storage.get(hook.storage_id) if hook.kind.is_storage else None
    if item is None or not item.attached:
        return {}
    return {
        "JUJU_STORAGE_ID": hook.storage_id,
        "JUJU_STORAGE_LOCATION": item.location,
        "JUJU_STORAGE_KIND": item.kind,
    }


# --- storage-add ------------------------------------------------------------------------------------------


def storage_refused(tx: ModelTx, unit: Unit, charm: Charm, asked: Mapping[str, int]) -> str:
    """Return why the storage that a hook adds is refused, or ""; change nothing."""
    for name, count in sorted(asked.items()):
        prefix = f"adding storage {name} for {unit_tag(unit.name)}: "
        store = charm.meta.storage.get(name)
        if store is None:
            return f'{prefix}charm storage "{name}" not found'
        if _directive(tx, unit, name) is None:
            return f'{prefix}application "{unit.application}" has no directive for it'
        if unit.life != Life.ALIVE:
            return f"{prefix}unit is not alive"
        try:
            storage_instances.check_more(tx, unit, store, count)
        except PushjujuError as error:
            return prefix + error.message
    return ""


def flush_storage(tx: ModelTx, unit: Unit, charm: Charm, asked: Mapping[str, int]) -> None:
    """Add the storage that a hook requested."""
    for name, count in sorted(asked.items()):
        directive = _directive(tx, unit, name)
        if directive is not None:
            storage_instances.add(tx, unit, charm.meta.storage[name], directive, count)


def _directive(tx: ModelTx, unit: Unit, name: str) -> StorageDirective | None:
    return tx.find(
        StorageDirective, "storage_directive_get",
        application=unit.application, name=name
    )  # fmt: skip
