"""Documents of storage, for `storage`, `show-storage` and `status`.

Mirrors: juju cmd/juju/storage (3.6)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.errors import NotFound
from pushjuju.core.problems import Subject
from pushjuju.core.status import Life, StatusInfo
from pushjuju.core.storage import Kind, Scope, StorageStatus, is_storage, store_of
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.storage.storage_instances import FILESYSTEM, KINDS, VOLUME
from pushjuju.services.views.status.status_rows import Moment
from pushjuju.store.rows.records import Status
from pushjuju.store.rows.storage_records import Backing, BackingAttachment, StorageAttachment, StorageInstance
from pushjuju.store.tx import ModelTx

_PENDING = StatusInfo(status=StorageStatus.PENDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """The rows of all storage in a model."""

    instances: list[StorageInstance]
    owners: dict[str, list[StorageAttachment]]
    behind: dict[str, list[Backing]]
    hosts: dict[tuple[str, str], list[BackingAttachment]]
    machines: dict[str, str]
    statuses: dict[tuple[str, str], StatusInfo]
    moment: Moment


def combined(tx: ModelTx, moment: Moment = from_iso) -> dict[str, object]:
    """Return {storage, filesystems, volumes} of a model; empty when the model has no storage.

    Args:
        moment: Converts a time from the store's text to the document's form.
    """
    if not tx.scalar("storage_any"):
        return {}
    rows = _read(tx, moment)
    found = {
        "storage": {item.id: _instance(rows, item) for item in rows.instances},
        "filesystems": _entries(rows, FILESYSTEM),
        "volumes": _entries(rows, VOLUME),
    }
    return {key: value for key, value in found.items() if value}


def document(ctx: Context, model: str, moment: Moment = from_iso) -> dict[str, Any]:
    """Return {storage, filesystems, volumes} of a model."""
    with ctx.read(model) as tx:
        return combined(tx, moment)


def show(
    ctx: Context, model: str, ids: Sequence[str], moment: Moment = from_iso
) -> dict[str, dict[str, Any]]:
    """Return name -> details of some storage instances, or raise NotFound."""
    for item in ids:
        store_of(item)
    known = document(ctx, model, moment).get("storage", {})
    missing = [item for item in ids if item not in known]
    if missing:
        text = f'storage instance "{missing[0]}" not found'
        raise NotFound(text, subject=Subject("storage", missing[0]))
    return {item: known[item] for item in ids}


def _read(tx: ModelTx, moment: Moment) -> _Rows:
    owners: dict[str, list[StorageAttachment]] = defaultdict(list)
    for row in tx.list(StorageAttachment, "storage_attachment_list"):
        owners[row.storage].append(row)
    behind: dict[str, list[Backing]] = defaultdict(list)
    for backing in tx.list(Backing, "backing_list"):
        behind[backing.storage].append(backing)
    hosts: dict[tuple[str, str], list[BackingAttachment]] = defaultdict(list)
    for host in tx.list(BackingAttachment, "backing_attachment_list"):
        hosts[(host.kind, host.id)].append(host)
    known = {(backing.kind, backing.id): _PENDING for backings in behind.values() for backing in backings}
    for kind, of_status in KINDS.items():
        found = tx.list(Status, "statuses_of_kind", kind=str(of_status))
        known.update({(kind, row.entity): statuses.info(row) for row in found})
    instances = tx.list(StorageInstance, "storage_instance_list")
    return _Rows(
        instances=sorted(
            (item for item in instances if not item.is_disk), key=lambda item: natural_key(item.id)
        ),
        owners=owners,
        behind=behind,
        hosts=hosts,
        machines={row["name"]: row["machine"] or "" for row in tx.rows("shown_units")},
        statuses=known,
        moment=moment,
    )


def _status(rows: _Rows, info: StatusInfo) -> dict[str, object]:
    found: dict[str, object] = {"current": str(info.status)}
    if info.message:
        found["message"] = info.message
    if info.since:
        found["since"] = rows.moment(to_iso(info.since))
    return found


def _main(rows: _Rows, item: StorageInstance) -> Backing | None:
    """Return the volume of block storage, the filesystem of other storage, or None before it is recorded."""
    wanted = VOLUME if item.kind == Kind.BLOCK else FILESYSTEM
    return next((backing for backing in rows.behind.get(item.id, ()) if backing.kind == wanted), None)


def _worst(rows: _Rows, item: StorageInstance) -> StatusInfo:
    """Return the status of the volume or filesystem; the other's message replaces an empty message."""
    main = _main(rows, item)
    if main is None:
        return _PENDING if item.life == Life.ALIVE else StatusInfo(status=StorageStatus.DESTROYING)
    own = rows.statuses[(main.kind, main.id)]
    for backing in rows.behind[item.id]:
        other = rows.statuses[(backing.kind, backing.id)]
        if backing is not main and other.message and not own.message:
            return StatusInfo(status=own.status, message=other.message, since=own.since)
    return own


def _instance(rows: _Rows, item: StorageInstance) -> dict[str, object]:
    found: dict[str, object] = {
        "kind": item.kind,
        "life": item.life,
        "status": _status(rows, _worst(rows, item)),
        "persistent": item.scope == Scope.MODEL,
    }
    main = _main(rows, item)
    places = {host.machine: host for host in rows.hosts[(main.kind, main.id)]} if main else {}
    units = {}
    for row in sorted(rows.owners.get(item.id, ()), key=lambda each: natural_key(each.unit)):
        machine = rows.machines.get(row.unit, "")
        host = places.get(machine)
        entry = {"machine": machine, "location": location(main, host), "life": row.life}
        units[row.unit] = {key: value for key, value in entry.items() if value}
    if units:
        found["attachments"] = {"units": units}
    return found


def location(backing: Backing | None, host: BackingAttachment | None) -> str:
    """Return the path of a volume or filesystem on a machine; empty before it is attached."""
    if backing is None or host is None or not host.attached:
        return ""
    if backing.kind == FILESYSTEM:
        return host.location
    return device_path(backing.hardware_id, backing.wwn, host.device, host.device_link)


def device_path(hardware_id: str, wwn: str, device: str, link: str) -> str:
    """Return the most stable path of a block device. Mirrors: juju storage/path.go BlockDevicePath (3.6)."""
    if wwn:
        return f"/dev/disk/by-id/wwn-{wwn}"
    if hardware_id:
        return f"/dev/disk/by-id/{hardware_id}"
    return link or (f"/dev/{device}" if device else "")


def _entries(rows: _Rows, kind: str) -> dict[str, object]:
    found = [backing for items in rows.behind.values() for backing in items if backing.kind == kind]
    return {
        backing.id: _entry(rows, backing) for backing in sorted(found, key=lambda item: natural_key(item.id))
    }


def _entry(rows: _Rows, backing: Backing) -> dict[str, object]:
    hosts = rows.hosts[(backing.kind, backing.id)]
    machines = {host.machine: _host(backing, host) for host in hosts}
    owners = rows.owners.get(backing.storage, ())
    units = {row.unit: {"machine": rows.machines.get(row.unit, ""), "life": row.life} for row in owners}
    where = {"machines": machines, "units": units}
    entry: dict[str, object] = {
        "provider-id": backing.provider_id,
        "volume": backing.volume if backing.kind == FILESYSTEM else "",
        "storage": backing.storage if is_storage(backing.storage) else "",  # a disk has no storage name
        "attachments": {key: value for key, value in where.items() if value} if machines else {},
        "pool": backing.pool,
        "hardware-id": backing.hardware_id if backing.kind == VOLUME else "",
        "wwn": backing.wwn if backing.kind == VOLUME else "",
    }
    found = {key: value for key, value in entry.items() if value}
    found["size"] = backing.size
    if backing.kind == VOLUME:
        found["persistent"] = not backing.machine
    found["life"] = backing.life
    found["status"] = _status(rows, rows.statuses[(backing.kind, backing.id)])
    return found


def _host(backing: Backing, host: BackingAttachment) -> dict[str, object]:
    if backing.kind == FILESYSTEM:
        shown: dict[str, object] = {"mount-point": host.location, "read-only": host.read_only}
    else:
        pairs = {"device": host.device, "device-link": host.device_link}
        shown = {key: value for key, value in pairs.items() if value}
        shown["read-only"] = host.read_only
    return {**shown, "life": host.life}
