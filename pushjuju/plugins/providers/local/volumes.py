"""Volumes of local machines: images on this host, shown inside machines.

A machine's `vol` folder is shared with the machine as its storage directory: what is mounted below it on the
host appears there at once. Everything here blocks, needs root, and may be called again for what is done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pushjuju.core.errors import Conflict, NotFound, NotValid, ProviderError
from pushjuju.plugins.providers.local.files import STORAGE
from pushjuju.plugins.providers.local.system import locked, mounts_below, open_folder, remove_tree, run
from pushjuju.plugins.providers.nspawn.layout import Layout

SHOWN = ".local"  # folder of a machine's storage directory; no storage can have this name
_IMAGE, _RECORD = "image", "volume.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A volume; kept as `volume.json` beside its image.

    Attributes:
        uuid: The id of its file system, by which what an earlier call made is known.
        model_uuid: The model that holds it; empty when no model holds it.
        size: MiB.
        instance: The machine that has it, or empty.
    """

    id: str
    uuid: str
    model_uuid: str
    size: int
    created: str
    instance: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> Volume:
        """Read a record."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise NotValid("the record of a local volume is damaged", detail=str(error)) from error


def volume_id(uuid: str) -> str:
    """Return what a volume is called."""
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
    """Make a volume with an empty file system. The record comes last: a half-made volume has none."""
    with locked(layout.lock):
        if (found := read(layout, volume.id)) is not None:
            return found
        for folder in (layout.state.parent, layout.state, layout.volumes, _folder(layout, volume.id)):
            open_folder(folder)
        image = _folder(layout, volume.id) / _IMAGE
        image.unlink(missing_ok=True)
        try:
            run(["fallocate", "-l", f"{volume.size:d}MiB", str(image)])
            image.chmod(0o600)
            run(["mkfs.ext4", "-q", "-F", "-U", volume.uuid, str(image)])
        except ProviderError:
            remove_tree(_folder(layout, volume.id))
            _tidy(layout)
            raise
        return _write(layout, volume)


def attach(layout: Layout, volume: str, instance_id: str) -> str:
    """Show a volume inside a machine; return the directory there."""
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
    """Return where a machine is shown a volume: a folder that the machine can write to."""
    shared = layout.machine(instance_id) / "vol"
    point = shared / SHOWN / volume
    if point.resolve() != shared.resolve() / SHOWN / volume:
        raise ProviderError(f"{instance_id} has a link in its storage directory where {volume} belongs")
    return point


def detach(layout: Layout, volume: str, instance_id: str) -> None:
    """Take a volume from a machine; one that is gone, or has it not, is no error."""
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
    """Delete a volume with its data; one that is gone is no error."""
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
    """Take a volume from its model, so that any model can import the volume."""
    with locked(layout.lock):
        found = read(layout, volume)
        if found is not None:
            _write(layout, replace(found, model_uuid="", instance=""))


def take_in(layout: Layout, volume: str, model_uuid: str) -> Volume:
    """Make a volume that was let go a model's own."""
    with locked(layout.lock):
        found = _get(layout, volume)
        if found.model_uuid not in ("", model_uuid):
            raise Conflict(f"{volume} belongs to another model")
        return _write(layout, replace(found, model_uuid=model_uuid))
