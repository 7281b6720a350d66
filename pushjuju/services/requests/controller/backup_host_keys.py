"""Host keys of a store that has them itself, as files in backups: backups of all stores are alike."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import host_keys
from pushjuju.store.db import Store
from pushjuju.store.files import known_hosts
from pushjuju.store.files.known_hosts import FOLDER
from pushjuju.store.files.private import replace_text


def files(ctx: Context, folder: Path, prefix: str) -> dict[str, Path]:
    """Write the host keys of a store into a folder.

    Args:
        prefix: The folder of the controller's files in a backup.

    Returns:
        Name in the backup -> file; empty for a store that has its host keys in files already.
    """
    with ctx.store.read() as tx:
        found = known_hosts.texts(tx.rows("host_key_all"))
    for model, text in found.items():
        replace_text(folder / model, text)
    return {f"{prefix}/{FOLDER}/{model}": folder / model for model in found}


def take_in(found: Mapping[str, Path], place: str) -> None:
    """Add the host keys of a backup to a store in a database; keys of machines that it knows stay."""
    with closing(Store.open(place)) as store, store.write() as tx:
        for name, path in found.items():
            folder, _, model = name.partition("/")
            if folder == FOLDER:
                host_keys.take_in(tx, model, path.read_text())
