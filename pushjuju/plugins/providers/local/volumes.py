"""Volumes of local machines: disk images on this host, mounted inside machines.

A machine's `vol` folder on the host is its storage directory: a mount below `vol` appears in the machine at
once. Every function blocks, needs root, and may be called again after it succeeded.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pushjuju.core.errors import Conflict, NotFound, NotValid, ProviderError
from pushjuju.plugins.providers.local.files import STORAGE
from pushjuju.plugins.providers.local.system import locked, mounts_below, open_folder, remove_tree, run
from pushjuju.plugins.providers.nspawn.layout import Layout

SHOWN = ".local"  # a folder in a machine's storage directory; no storage can have this name
_IMAGE, _RECORD = "image", "volume.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A volume; its record is `volume.json` beside the image."""

    id: str
    uuid: str  # the UUID of the filesystem, by which a repeated call finds the volume of an earlier call
    model_uuid: str  # the model that owns the volume; empty for a released volume
    size: int  # the size in MiB
    created: str
    instance: str = ""  # the instance to which the volume is attached; empty for none
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> Volume:
        """Return the volume that a record describes."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise NotValid("the record of a local volume is damaged", detail=str(error)) from error


def volume_id(uuid: str) -> str:
    return f"volume-{uuid}"


def _folder(layout: Layout, volume: str) -> Path:
    if not volume.startswith("volume-") or "/" in volume:
        raise NotValid(f'"{volume}" is not a valid volume id')
    return layout.volumes / volume


def read(layout: Layout, volume: str) -> Volume | None:
    """Return a volume, or None when the volume does not exist."""
    try:
        return Volume.from_json((_folder(layout, volume) / _RECORD).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _write(layout: Layout, volume: Volume) -> Volume:
    folder = _folder(layout, volume.id)
    new = folder / f"{_RECORD}.new"
    new.write_text(json.dumps(asdict(volume), indent=1, sort_keys=True), encoding="utf-8")
    new.replace(folder / _RECORD)
    return volume


def _get(layout: Layout, volume: str) -> Volume:
    found = read(layout, volume)
    if found is None:
        raise NotFound(f"{volume} not found")
    return found


def create(layout: Layout, volume: Volume) -> Volume:
    """Make a volume with an empty filesystem. The record is written last: until then, no volume is found."""
    with locked(layout.lock):
        if (found := read(layout, volume.id)) is not None:
            return found
        for folder in (layout.state.parent, layout.state, layout.volumes, _folder(layout, volume.id)):
            open_folder(folder)
        image = _folder(layout, volume.id) / _IMAGE
        image.unlink(missing_ok=True)
        try:
            _require_room(image.parent, volume.size)  # else `fallocate` fills the disk before it fails
            run(["fallocate", "-l", f"{volume.size:d}MiB", str(image)])
            image.chmod(0o600)
            run(["mkfs.ext4", "-q", "-F", "-U", volume.uuid, str(image)])
        except ProviderError:
            remove_tree(_folder(layout, volume.id))
            _tidy(layout)
            raise
        return _write(layout, volume)


def _require_room(folder: Path, size: int) -> None:
    """Raise ProviderError when a disk has no room for so many MiB."""
    free = shutil.disk_usage(folder).free >> 20
    if free < size:
        raise ProviderError(f"no room for {size} MiB: {free} MiB of the disk are free")


def attach(layout: Layout, volume: str, instance_id: str) -> str:
    """Mount a volume in a machine, and return the directory inside the machine."""
    with locked(layout.lock):
        found = _get(layout, volume)
        if layout.read(instance_id) is None:
            raise NotFound(f"instance {instance_id} not found")
        if found.instance not in ("", instance_id) and layout.read(found.instance) is not None:
            raise Conflict(f"{volume} is attached to {found.instance}")
        point = _point(layout, volume, instance_id)
        _write(layout, replace(found, instance=instance_id))
        point.mkdir(mode=0o755, parents=True, exist_ok=True)
        if not mounts_below(point):
            run(["mount", "-o", "loop", str(_folder(layout, volume) / _IMAGE), str(point)])
    return f"/{STORAGE}/{SHOWN}/{volume}"


def _point(layout: Layout, volume: str, instance_id: str) -> Path:
    """Return the path where a volume is mounted for a machine. The machine can write to its parent folder."""
    shared = layout.machine(instance_id) / "vol"
    point = shared / SHOWN / volume
    if point.resolve() != shared.resolve() / SHOWN / volume:
        raise ProviderError(f"{instance_id} has a link in its storage directory where {volume} belongs")
    return point


def detach(layout: Layout, volume: str, instance_id: str) -> None:
    """Unmount a volume from a machine; a missing volume, or one that is not attached, is no error."""
    with locked(layout.lock):
        point = _point(layout, volume, instance_id)
        for path in mounts_below(point):
            run(["umount", path])
        if point.is_dir():
            point.rmdir()
        found = read(layout, volume)
        if found is not None and found.instance == instance_id:
            _write(layout, replace(found, instance=""))


def destroy(layout: Layout, volume: str) -> None:
    """Delete a volume with its data; a missing volume is no error."""
    with locked(layout.lock):
        found = read(layout, volume)
        if found is not None and found.instance and layout.read(found.instance) is not None:
            raise Conflict(f"{volume} is attached to {found.instance}")
        remove_tree(_folder(layout, volume))
        _tidy(layout)


def _tidy(layout: Layout) -> None:
    for folder in (layout.volumes, layout.state):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def release(layout: Layout, volume: str) -> None:
    """Remove the model from the volume's record, so that any model can import the volume."""
    with locked(layout.lock):
        found = read(layout, volume)
        if found is not None:
            _write(layout, replace(found, model_uuid="", instance=""))


def take_in(layout: Layout, volume: str, model_uuid: str) -> Volume:
    """Record a model as the owner of a released volume, and return the volume."""
    with locked(layout.lock):
        found = _get(layout, volume)
        if found.model_uuid not in ("", model_uuid):
            raise Conflict(f"{volume} belongs to another model")
        return _write(layout, replace(found, model_uuid=model_uuid))
