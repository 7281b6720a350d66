"""The files that the hosts of a controller share through its database, encrypted with the controller key.

Each host has the files in the directory of the controller, as a controller on one host has them. A host
writes what it has changed into the table `vault`, and takes what others have changed. The controller key is a
file of each host, and is never in the database.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import shlex
import stat
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from pushjuju.core.errors import NotFound, StoreError, WrongKey
from pushjuju.portable.jsontext import compact
from pushjuju.store.files.private import locked, private_dir, replace_text
from pushjuju.store.files.toml_files import edit_toml, read_toml
from pushjuju.store.postgres import address

if TYPE_CHECKING:
    from pushjuju.store.cipher import Cipher

SETTINGS = "controller.toml"
_FILES = (
    SETTINGS, "clouds.toml", "credentials.toml", "credentials.key", "secrets.key",
    "ssh/id_ed25519", "ssh/id_ed25519.pub", "api/ca.pem", "api/ca-key.pem",
)  # fmt: skip
_OWN = frozenset(["store", "current-model"])  # keys of controller.toml that each host has for itself
_KEY = "controller key"  # row with the digest of the key
_KNOWN = "vault.json"  # file -> the version and the digest that this host has seen last
_KEY_BYTES, _NONCE_BYTES = 32, 12
_LONGEST_KEY = 1024  # characters that are read of a file
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('pushjuju vault', 0))"
_LIST = "SELECT name, version FROM vault ORDER BY name"
_PUT = """INSERT INTO vault (name, version, sealed) VALUES (%s, %s, %b)
ON CONFLICT (name) DO UPDATE SET version = excluded.version, sealed = excluded.sealed"""


def new_key() -> bytes:
    """Return a new controller key."""
    return os.urandom(_KEY_BYTES)


def key_text(key: bytes) -> str:
    """Return a controller key as its file has it."""
    return base64.b64encode(key).decode() + "\n"


def read_key(path: Path, *, is_own: bool = True) -> bytes:
    """Return the controller key in a file.

    Args:
        is_own: False for a file that the environment names, which nobody else may read or replace.

    Raises:
        WrongKey: The file cannot be read, or has no controller key, or others can read the file.
    """
    try:
        key = base64.b64decode(path.read_text().strip() if is_own else _private_text(path), validate=True)
    except OSError as error:
        raise WrongKey(f"cannot read the controller key {path}: {error.strerror}") from error
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _KEY_BYTES:
        hint = "pushjuju controller key export    on a host of the controller writes the key"
        raise WrongKey(f"{path} has no controller key", hint=hint)
    return key


def _private_text(path: Path) -> str:
    """Return the text of a file that only its owner can read.

    systemd gives a service its credentials by a list of rights, which shows as the right of a group.
    """
    if path.is_symlink():
        raise WrongKey(
            f"the controller key {path} is a symbolic link", hint=f"name the file: {path.resolve()}"
        )
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle) as file:
        found = os.fstat(handle)
        others = 0o007 if str(path.parent) == os.environ.get("CREDENTIALS_DIRECTORY") else 0o077
        if not stat.S_ISREG(found.st_mode):
            raise WrongKey(f"the controller key {path} is not a file")
        if found.st_mode & others or found.st_uid not in (0, os.geteuid()):
            raise WrongKey(
                f"the controller key {path} belongs to another user, or others can read it",
                hint=f"chown {os.geteuid()} {shlex.quote(str(path))} && chmod 0600 {shlex.quote(str(path))}",
            )
        return file.read(_LONGEST_KEY).strip()


def require_key(url: str, root: Path, path: Path | None, digest: bytes) -> None:
    """Check that this host has the key of a controller.

    Args:
        url: The address of the store.
        root: The directory of the controller on this host.
        path: The file with the key, or None when there is no such file.
        digest: Of the key, as the store has it.

    Raises:
        WrongKey: The file is missing, or has another key.
    """
    place = address.parsed(url)
    if path is not None and _digest(read_key(path, is_own=path.parent == root)) == digest:
        return
    what = "no key" if path is None else "another key"
    insecure = "" if address.is_safe(place) else " --insecure-store"
    again = f"pushjuju controller join {shlex.quote(url)}{insecure} --name {root.name} --key-file FILE"
    where = path or root / "controller.key"
    raise WrongKey(
        f"this host has {what} for the controller in the store {place.shown}: {where}",
        hint=f"{again}    with FILE from `pushjuju controller key export FILE` on another host",
    )


class Vault:
    """The shared files of a controller, on one of its hosts.

    Args:
        url: The address of the store.
        root: The directory of the controller on this host.
    """

    def __init__(self, url: str, root: Path, key: bytes) -> None:
        self._place = address.parsed(url)
        self._root = root
        self._key = key

    def is_behind(self, versions: Mapping[str, int]) -> bool:
        """Return True when this host has not taken the newest files, or has changed one.

        Args:
            versions: Name -> version, of the rows in the database.
        """
        known = self._known()
        return any(versions.get(name, 0) != known.get(name, (0, ""))[0] for name in _FILES) or bool(
            self._changed(known)
        )

    def take(self) -> None:
        """Take all files but controller.toml, on a host that joins the controller."""
        with self._linked() as link:
            self._check_key(link)
            self._take(link, but=SETTINGS)

    def exchange(self) -> None:
        """Take what other hosts have changed, and write what this host has changed.

        Where nobody shares files yet, begin with those of this host.

        Raises:
            WrongKey: The controller is shared with another key.
        """
        with self._linked() as link:
            link.execute(_LOCK)
            self._exchange(link)

    @contextmanager
    def editing(self) -> Iterator[None]:
        """Hold the files for a change: no other host changes them meanwhile, and none misses the change."""
        with self._linked() as link:
            link.execute(_LOCK)
            self._exchange(link)
            yield
            self._put(link)

    def settings(self) -> dict[str, Any]:
        """Return the shared part of controller.toml.

        Raises:
            NotFound: The controller in the database is not shared.
            WrongKey: The key is not that of the controller.
        """
        with self._linked() as link:
            self._check_key(link)
            row = link.execute("SELECT version FROM vault WHERE name = %s", [SETTINGS]).fetchone()
            return {} if row is None else json.loads(self._get(link, SETTINGS, row[0]))

    # --- the database -------------------------------------------------------------------------------------

    @contextmanager
    def _linked(self) -> Iterator[psycopg.Connection[Any]]:
        """Connect for one transaction."""
        with address.linked(self._place) as link, link.transaction():
            yield link

    def _exchange(self, link: psycopg.Connection[Any]) -> None:
        if _digest_of_key(link) is None:  # a new controller, or one whose store has moved
            link.execute(_PUT, [_KEY, 0, _digest(self._key)])
        self._check_key(link)
        self._take(link)
        self._put(link)

    def _check_key(self, link: psycopg.Connection[Any]) -> None:
        expected = _digest_of_key(link)
        if expected is None:
            raise NotFound(
                f"the controller in the store {self._place.shown} is not shared with other hosts",
                hint="pushjuju controller key export FILE    on its host begins that",
            )
        if expected != _digest(self._key):
            raise WrongKey(
                f"the key does not belong to the controller in the store {self._place.shown}",
                hint="pushjuju controller key export FILE    on a host of the controller writes its key",
            )

    def _take(self, link: psycopg.Connection[Any], but: str = "") -> None:
        """Write newer files of other hosts into the directory."""
        known = self._known()
        for name, version in link.execute(_LIST).fetchall():
            if name not in _FILES or name == but or version <= known.get(name, (0, ""))[0]:
                continue
            before, text = self._text(name), self._get(link, name, version)
            if before not in ("", text) and _digest(before.encode()).hex() != known.get(name, (0, ""))[1]:
                replace_text(self._root / f"{name}.before-{version}", before)  # changed here, too
            self._write(name, text)
            known[name] = version, _digest(self._text(name).encode()).hex()
        self._remember(known)

    def _put(self, link: psycopg.Connection[Any]) -> None:
        """Write changed files of this host into the database.

        What this host has seen last is noted before the commit: a version that the database does not have was
        never committed, and is written again.
        """
        known, rows = self._known(), dict(link.execute(_LIST).fetchall())
        lost = {name for name, (version, _) in known.items() if rows.get(name, 0) < version}
        known.update({name: (known[name][0], "") for name in lost})
        for name, text in self._changed(known).items():
            version = max(known.get(name, (0, ""))[0], rows.get(name, 0)) + 1
            link.execute(_PUT, [name, version, self._sealed(name, version, text)])
            known[name] = version, _digest(text.encode()).hex()
        self._remember(known)

    def _get(self, link: psycopg.Connection[Any], name: str, version: int) -> str:
        row = link.execute("SELECT sealed FROM vault WHERE name = %s", [name]).fetchone()
        sealed = bytes(row[0]) if row is not None else b""
        nonce, text = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return _cipher().decrypt(self._key, nonce, text, f"{name}/{version}".encode()).decode()
        except ValueError as error:
            what = f"{name} in the store {self._place.shown} cannot be opened: its row was changed"
            raise StoreError(what) from error

    def _sealed(self, name: str, version: int, text: str) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + _cipher().encrypt(self._key, nonce, text.encode(), f"{name}/{version}".encode())

    # --- the directory ------------------------------------------------------------------------------------

    def _known(self) -> dict[str, tuple[int, str]]:
        try:
            found = json.loads((self._root / _KNOWN).read_text())
        except FileNotFoundError:
            return {}
        return {name: (int(version), str(digest)) for name, (version, digest) in found.items()}

    def _remember(self, known: Mapping[str, tuple[int, str]]) -> None:
        text = compact(known) + "\n"
        path = self._root / _KNOWN
        if not path.exists() or path.read_text() != text:
            replace_text(path, text)

    def _changed(self, known: Mapping[str, tuple[int, str]]) -> dict[str, str]:
        """Return the files that were changed on this host: name -> text."""
        found = {name: self._text(name) for name in _FILES}
        return {
            name: text
            for name, text in found.items()
            if text and _digest(text.encode()).hex() != known.get(name, (0, ""))[1]
        }

    def _text(self, name: str) -> str:
        """Return the shared text of a file, or "" when there is no such file."""
        path = self._root / name
        if not path.exists():
            return ""
        if name != SETTINGS:
            return path.read_text()
        return compact({key: item for key, item in read_toml(path).items() if key not in _OWN})

    def _write(self, name: str, text: str) -> None:
        path = self._root / name
        if name == SETTINGS:
            edit_toml(path, lambda document: _replace(document, json.loads(text)))
            return
        private_dir(path.parent)
        with locked(path.with_name(f".{path.name}.lock")):
            replace_text(path, text, 0o644 if path.suffix == ".pub" else 0o600)


def _replace(document: MutableMapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Set the shared keys of controller.toml; what stays the same keeps its comments."""
    for key in [key for key in document if key not in _OWN and key not in wanted]:
        del document[key]
    for key, value in wanted.items():
        if document.get(key) != value:
            document[key] = value


def _cipher() -> type[Cipher]:
    made: type[Cipher] = import_module("pushjuju.store.cipher").Cipher  # imports cryptography, which is slow
    return made


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(b"pushjuju\0" + data).digest()


def _digest_of_key(link: psycopg.Connection[Any]) -> bytes | None:
    row = link.execute("SELECT sealed FROM vault WHERE name = %s", [_KEY]).fetchone()
    return bytes(row[0]) if row is not None else None
