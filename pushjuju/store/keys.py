"""The keys that encrypt ("seal") secrets in the store: AES-256 in GCM, in a file beside the store.

The store names the keys that it needs by digests; the file has the keys. A store whose key is not in the file
is refused before anything is read or written: pushjuju never replaces a missing key. Each record names its
key and is bound to its place, so that it cannot be moved to another place.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import StoreError, WrongKey
from pushjuju.core.values import dataclass
from pushjuju.store import databases
from pushjuju.store.files.private import locked, replace_text
from pushjuju.store.tx import Tx

if TYPE_CHECKING:
    from pushjuju.store.cipher import Cipher

FILE = "secrets.key"
_HEAD = "# Keys of {}: without them nobody can read these. Keep a copy in a safe place.\n"
_KEY_BYTES, _NONCE_BYTES = 32, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """Encrypted data, and the name of its key."""

    key: str  # the name of the key, a digest
    data: bytes


class Keyring:
    """The keys of one controller, read again whenever another process has changed the file."""

    def __init__(
        self,
        folder: Path,
        file: str = FILE,
        what: str = "the secrets in state.db",
        *,
        vault: Callable[[], Any] = lambda: None,
    ) -> None:
        self.path = folder / file
        self._what = what
        self._vault = vault  # returns where the file is shared with other hosts, or None
        self._seen: tuple[int, ...] = ()
        self._keys: dict[str, bytes] = {}

    # --- encrypting and decrypting ------------------------------------------------------------------------

    def seal(self, tx: Tx, value: Any, place: str, now: datetime) -> Sealed:
        """Encrypt a JSON value with the current key; make a key if there is none.

        Args:
            place: The place of the content in the store, which `open` must name, too.
        """
        name = tx.scalar("encryption_key_current")
        if name is None:
            name = self._begin(tx, now)
        return _seal(name, self._key(name), value, place)

    def open(self, sealed: Sealed, place: str) -> Any:
        """Return the decrypted JSON value.

        Raises:
            StoreError: The record was changed, or moved from another place.
        """
        return _open(self._key(sealed.key), sealed, place)

    def seal_text(self, value: str, place: str) -> str:
        """Encrypt a text for a file that belongs to no store; make a key if there is none.

        Returns:
            `KEY:BASE64`, for `open_text`.
        """
        keys = self._read()
        name = next(iter(keys), "") or self._add()
        sealed = _seal(name, self._key(name), value, place)
        return f"{name}:{base64.b64encode(sealed.data).decode()}"

    def open_text(self, text: str, place: str) -> str:
        """Return the text that `seal_text` encrypted."""
        name, _, data = text.partition(":")
        try:
            sealed = Sealed(key=name, data=base64.b64decode(data, validate=True))
        except (binascii.Error, ValueError):
            raise StoreError(f"what is sealed at {place} was changed") from None
        return str(_open(self._key(name), sealed, place))

    def check(self, tx: Tx) -> None:
        """Check that the file has every key that the store uses; read no file when the store uses no key."""
        needed = [row["id"] for row in tx.rows("encryption_key_list")]
        if needed:
            for name in needed:
                self._key(name)

    # --- changing the key ---------------------------------------------------------------------------------

    def renew(self, tx: Tx, now: datetime) -> str:
        """Make a new current key; the old keys stay until `forget`, for the records that they encrypted."""
        self.check(tx)
        name = self._add()
        tx.run("encryption_key_retire")
        tx.run("encryption_key_add", id=name, created=now)
        return name

    def forget(self, keep: Iterable[str]) -> None:
        """Remove all keys from the file, except those named."""
        wanted = set(keep)
        with self._editing():
            keys = self._read()
            self._write({name: key for name, key in keys.items() if name in wanted})

    def merge(self, text: str) -> None:
        """Add the keys of another key file of the same controller, from a backup."""
        found = _parse_lines(text.splitlines(), "the key file in the copy")
        with self._editing():
            keys = self._read()
            if found.keys() - keys.keys():
                self._write({**keys, **{name: key for name, key in found.items() if name not in keys}})

    # --- the file -----------------------------------------------------------------------------------------

    def _begin(self, tx: Tx, now: datetime) -> str:
        """Make the first key, or use a key that an interrupted process has not recorded in the store."""
        known = [row["id"] for row in tx.rows("encryption_key_list")]
        if known:
            raise StoreError("the store names no current key for its secrets")
        name = next(iter(self._read()), "") or self._add()
        tx.run("encryption_key_add", id=name, created=now)
        return name

    def _add(self) -> str:
        key = os.urandom(_KEY_BYTES)
        with self._editing():
            self._write({**self._read(), _name(key): key})
        return _name(key)

    @contextmanager
    def _editing(self) -> Iterator[None]:
        with databases.editing(self._vault()), locked(self.path.with_name(f".{self.path.name}.lock")):
            yield

    def _key(self, name: str) -> bytes:
        keys = self._read()
        if name not in keys and (vault := self._vault()) is not None:
            vault.exchange()  # another host has made the key
            keys = self._read()
        return self._need(keys, name)

    def _need(self, keys: Mapping[str, bytes], name: str) -> bytes:
        if name not in keys:
            missing = "is missing" if not self.path.exists() else "does not hold it"
            raise WrongKey(
                f"secrets are sealed with key {name}, and {self.path} {missing}",
                hint=f"put the right file in its place: {self.path}",
            )
        return keys[name]

    def _read(self) -> dict[str, bytes]:
        """Return the present keys in the file."""
        seen: tuple[int, ...] = ()
        try:
            found = self.path.stat()
            seen = (found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)
        except OSError:
            pass  # `_load` reports it
        if not seen or seen != self._seen:
            self._keys, self._seen = self._load(), seen
        return dict(self._keys)

    def _load(self) -> dict[str, bytes]:
        """Read the file; raise an error for a damaged line, and never write a new file instead."""
        try:
            lines = self.path.read_text().splitlines()
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise WrongKey(f"the key file {self.path} cannot be read: {error}") from error
        return _parse_lines(lines, f"the key file {self.path}")

    def _write(self, keys: Mapping[str, bytes]) -> None:
        lines = (f"{name} {base64.b64encode(key).decode()}\n" for name, key in keys.items())
        replace_text(self.path, _HEAD.format(self._what) + "".join(lines))


def _parse_lines(lines: Iterable[str], what: str) -> dict[str, bytes]:
    found = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            name, key = _parse(line)
            if not key:
                raise WrongKey(f"{what} is damaged: line {number} is no key")
            found[name] = key
    return found


def _name(key: bytes) -> str:
    """Return the name of a key: a digest, from which the key cannot be guessed."""
    return hashlib.sha256(b"pushjuju secret key\0" + key).hexdigest()[:16]


def _parse(line: str) -> tuple[str, bytes]:
    """Return name and key of a line; b"" as key when name and key do not match."""
    name, _, text = line.strip().partition(" ")
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return name, b""
    return name, key if len(key) == _KEY_BYTES and _name(key) == name else b""


def _cipher() -> type[Cipher]:
    from pushjuju.store.cipher import Cipher  # imports cryptography, which is slow

    return Cipher


def _seal(name: str, key: bytes, value: Any, place: str) -> Sealed:
    nonce = os.urandom(_NONCE_BYTES)
    text = json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
    return Sealed(key=name, data=nonce + _cipher().encrypt(key, nonce, text, place.encode()))


def _open(key: bytes, sealed: Sealed, place: str) -> Any:
    nonce, text = sealed.data[:_NONCE_BYTES], sealed.data[_NONCE_BYTES:]
    try:
        return json.loads(_cipher().decrypt(key, nonce, text, place.encode()))
    except ValueError as error:
        raise StoreError(
            f"a secret in the store cannot be opened: its record was changed ({place})"
        ) from error
