"""The built-in plugin `storage`: types of storage that every machine can have."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.storage import Kind, Scope
from pushjuju.plugins.api.providers import Provider
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider, StorageType
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.storage import scripts

PUSHJUJU_API = (1, 1)
_FILESYSTEM, _BLOCK = frozenset({Kind.FILESYSTEM}), frozenset({Kind.BLOCK})


@hookimpl
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:  # noqa: ARG001 - on every machine
    """Return the types of storage that need only a machine."""
    return [
        StorageType(
            name="rootfs", summary="a directory of the root disk", kinds=_FILESYSTEM, scope=Scope.MACHINE
        ),
        StorageType(name="tmpfs", summary="memory", kinds=_FILESYSTEM, scope=Scope.MACHINE),
        StorageType(name="loop", summary="a file of the root disk", kinds=_BLOCK, scope=Scope.MACHINE),
    ]


@hookimpl
def pushjuju_open_storage(
    type_name: str, provider: Provider | None  # noqa: ARG001 - they need no cloud
) -> StorageProvider | MachineStorage | None:  # fmt: skip
    """Return the scripts for a type, or None for types of other plugins."""
    known: dict[str, type[scripts.Rootfs | scripts.Tmpfs | scripts.Loop]] = {
        "rootfs": scripts.Rootfs,
        "tmpfs": scripts.Tmpfs,
        "loop": scripts.Loop,
    }
    return known[type_name]() if type_name in known else None
