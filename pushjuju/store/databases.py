"""What is done with a store in PostgreSQL. Only such stores need psycopg, and wait for its import."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import StoreError
from pushjuju.store.files.blobs import CACHE_SIZE

if TYPE_CHECKING:
    from pushjuju.store.engine import Engine
    from pushjuju.store.files.blobs import Blobs

CONTROLLER_KEY = "controller.key"  # file with the key of the shared files; only shared controllers have it
KEY_FILE = "PUSHJUJU_CONTROLLER_KEY_FILE"
_CREDENTIALS = "CREDENTIALS_DIRECTORY"  # set by systemd for a service with LoadCredential=
_SHARES = "vault.json"  # file of a host that has exchanged files with the others


def opened(url: str, *, create: bool = False, waits: bool = False) -> Engine:
    """Connect to a store; the arguments and errors are those of `Store.open`."""
    engine: Engine = _module("engine").PostgresEngine.open(url, create=create, waits=waits)
    return engine


def require_safe(url: str) -> None:
    """Check that nobody can read or change what is sent to the server of a store.

    Raises:
        NotValid: The address is malformed, has a password, or asks for less than TLS with a checked name.
    """
    address = _module("address")
    address.require_safe(address.parsed(url))


def to_file(url: str, path: Path, *, compare: bool = False) -> None:
    """Write the rows of a store, as they are at one moment, into a file without tables.

    Args:
        compare: Compare all rows with the rows that were written.
    """
    _module("transfer").to_file(_module("address").parsed(url), path, compare=compare)


def from_file(path: Path, url: str) -> None:
    """Replace all rows of a store by those of a file of the same release, in one transaction."""
    _module("transfer").from_file(path, _module("address").parsed(url))


def forget(url: str) -> None:
    """Delete all that a removed controller has in its database."""
    _module("transfer").forget(_module("address").parsed(url))


def blobs(url: str, root: Path, cache_size: str = CACHE_SIZE) -> Blobs:
    """Return the charm archives and resources of a store.

    Args:
        root: The folder in which this host keeps copies of what it has used.
        cache_size: How large the folder may become: `10G`.
    """
    found: Blobs = _module("blobs").DatabaseBlobs(_module("address").parsed(url), root, cache_size=cache_size)
    return found


def vault(url: str, root: Path) -> Any:
    """Return the files that the hosts of a controller share (`postgres.vault`), or None when it has no key.

    Args:
        root: The directory of the controller on this host.
    """
    path = key_file(root)
    if path is None:
        return None
    module = _module("vault")
    return module.Vault(url, root, module.read_key(path, is_own=path.parent == root))


def given_key() -> Path | None:
    """Return the file with the controller key that the environment names, or None.

    The variable comes before a credential that systemd has decrypted for a service.
    """
    if named := os.environ.get(KEY_FILE):
        return Path(named)
    folder = os.environ.get(_CREDENTIALS)
    found = Path(folder) / CONTROLLER_KEY if folder else None
    return found if found is not None and found.exists() else None


def key_file(root: Path) -> Path | None:
    """Return the file with the key of a controller, or None when this host does not share its files.

    Args:
        root: The directory of the controller on this host. A key there is used first: the environment names
            one key, and may be that of another controller.
    """
    own = root / CONTROLLER_KEY
    if own.exists():
        return own
    return given_key() if (root / _SHARES).exists() else None


def require_key(url: str, root: Path, digest: bytes) -> None:
    """Check that this host has the key of a controller whose files several hosts share.

    Args:
        root: The directory of the controller on this host.
        digest: Of the key, as the store has it.

    Raises:
        WrongKey: The key is missing, or is another one.
    """
    if not (root / f"{CONTROLLER_KEY}.new").exists():  # else this host has just begun to share
        _module("vault").require_key(url, root, key_file(root), digest)


def editing(vault: Any) -> AbstractContextManager[None]:
    """Hold shared files for a change that other hosts must not miss; without a vault, hold nothing."""
    held: AbstractContextManager[None] = nullcontext() if vault is None else vault.editing()
    return held


def vaults() -> Any:
    """Return the module for files that the hosts of a controller share."""
    return _module("vault")


def shown(url: str) -> str:
    """Return the address of a store for people, without options.

    Raises:
        NotValid: The address is malformed, or has a password.
    """
    text: str = _module("address").parsed(url).shown
    return text


def moves() -> Any:
    """Return the module with the steps of a move."""
    return _module("moves")


def _module(name: str) -> Any:
    """Return a module of the package `postgres`."""
    try:
        return import_module(f"pushjuju.store.postgres.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "psycopg":
            raise
        text = "a store in PostgreSQL needs psycopg, which is not installed"
        hint = import_module("pushjuju.core.extras").install_hint("postgres")
        raise StoreError(text, hint=hint) from None
