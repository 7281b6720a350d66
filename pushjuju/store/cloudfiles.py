"""clouds.toml and credentials.toml of one folder: the client's, or a controller's.

Secret attributes of credentials are encrypted ("sealed") with a key in `credentials.key` beside them. Plain
text that a user writes is read as it is, and sealed when pushjuju next writes that credential.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core.clouds import CloudCredentials, StoredCredential, read_cloud_credentials
from pushjuju.store import databases
from pushjuju.store.files.private import private_dir
from pushjuju.store.files.toml_files import edit_toml, read_toml

if TYPE_CHECKING:
    from pushjuju.store.keys import Keyring

CLOUDS = "clouds.toml"
CREDENTIALS = "credentials.toml"
KEY_FILE = "credentials.key"
_SEALED = "sealed:"


class CloudFiles:
    """The clouds and credentials of one folder."""

    def __init__(self, root: Path, vault: Callable[[], Any] = lambda: None) -> None:
        self.root = root
        self._vault = vault  # returns where the folder's files are shared, or None
        self._keyring: Keyring | None = None

    # --- clouds -------------------------------------------------------------------------------------------

    def clouds(self) -> dict[str, Any]:
        """Return the clouds defined in the folder: name -> table."""
        return _table(self._read(CLOUDS), "clouds")

    def put_cloud(self, name: str, document: Mapping[str, Any]) -> None:
        """Define a cloud, or replace its definition."""

        def change(whole: MutableMapping[str, Any]) -> None:
            whole.setdefault("clouds", {})[name] = dict(document)

        self._edit(CLOUDS, change)

    def remove_cloud(self, name: str) -> bool:
        """Remove a cloud; return True when the cloud was there."""
        if name not in self.clouds():
            return False
        self._edit(CLOUDS, lambda whole: whole["clouds"].pop(name))
        return True

    # --- credentials --------------------------------------------------------------------------------------

    def all_credentials(self) -> dict[str, CloudCredentials]:
        """Return the credentials of every cloud, decrypted."""
        return {cloud: self.credentials(cloud) for cloud in _table(self._read(CREDENTIALS), "credentials")}

    def credentials(self, cloud: str) -> CloudCredentials:
        """Return the credentials of a cloud, decrypted; empty for a cloud without credentials."""
        stored = read_cloud_credentials(cloud, _table(self._read(CREDENTIALS), "credentials").get(cloud))
        opened = {
            name: StoredCredential(
                auth_type=item.auth_type,
                attributes={
                    key: self._open(value, f"{cloud}/{name}/{key}") for key, value in item.attributes.items()
                },
            )
            for name, item in stored.credentials.items()
        }
        return CloudCredentials(
            default_credential=stored.default_credential,
            default_region=stored.default_region,
            credentials=opened,
        )

    def put_credential(
        self, cloud: str, name: str, credential: StoredCredential, secret: Collection[str]
    ) -> None:
        """Write a credential; encrypt the attributes in `secret`."""
        document = {
            key: self._seal(value, f"{cloud}/{name}/{key}") if key in secret else value
            for key, value in credential.to_document().items()
        }
        self._edit_cloud(cloud, lambda table: table.__setitem__(name, document))

    def remove_credential(self, cloud: str, name: str) -> None:
        """Remove a credential; a cloud whose default it was has no default then."""

        def change(table: MutableMapping[str, Any]) -> None:
            table.pop(name, None)
            if table.get("default-credential") == name:
                table.pop("default-credential")

        self._edit_cloud(cloud, change)

    def set_default(self, cloud: str, key: str, value: str) -> None:
        """Set `default-credential` or `default-region` of a cloud; "" removes the key."""

        def change(table: MutableMapping[str, Any]) -> None:
            if value:
                table[key] = value
            else:
                table.pop(key, None)

        self._edit_cloud(cloud, change)

    # --- the files ----------------------------------------------------------------------------------------

    def _edit_cloud(self, cloud: str, change: Callable[[MutableMapping[str, Any]], object]) -> None:
        def whole(document: MutableMapping[str, Any]) -> None:
            listed = document.setdefault("credentials", {})
            change(listed.setdefault(cloud, {}))
            if not listed[cloud]:
                listed.pop(cloud)

        self._edit(CREDENTIALS, whole)

    def _read(self, file: str) -> dict[str, object]:
        return read_toml(self.root / file)

    def _edit(self, file: str, change: Callable[[MutableMapping[str, Any]], object]) -> None:
        private_dir(self.root)
        with databases.editing(self._vault()):
            edit_toml(self.root / file, lambda document: _nothing(change(document)))

    @property
    def _keys(self) -> Keyring:
        if self._keyring is None:
            what = "the credentials in credentials.toml"
            self._keyring = open_keyring(self.root, KEY_FILE, what, vault=self._vault)
        return self._keyring

    def _seal(self, value: str, place: str) -> str:
        return _SEALED + self._keys.seal_text(value, place)

    def _open(self, value: str, place: str) -> str:
        if not value.startswith(_SEALED):
            return value
        return self._keys.open_text(value.removeprefix(_SEALED), place)


def open_keyring(root: Path, *names: str, vault: Callable[[], Any]) -> Keyring:
    """Return the keys in a directory; the other arguments are those of `Keyring`."""
    from pushjuju.store.keys import Keyring  # imported here: few commands need keys

    return Keyring(root, *names, vault=vault)


def _table(document: Mapping[str, Any], key: str) -> dict[str, object]:
    found = document.get(key, {})
    return dict(found) if isinstance(found, Mapping) else {}


def _nothing(_: object) -> None:
    """Ignore the result of a change."""
