"""The data directory and the TOML files that users may edit.

    DIR/pushjuju.toml       current controller, settings
    DIR/clouds.toml         clouds
    DIR/credentials.toml    credentials; credentials.key encrypts their secret attributes
    DIR/controllers/NAME/   controller.toml, state.db, secrets.key, blobs/, ssh/, known_hosts/, machines/,
                            log/; clouds.toml and credentials.toml when the controller has its own
    DIR/remotes/NAME.toml   a controller on another computer: addresses, CA, user, password

Reading uses tomllib; writing uses tomlkit, which keeps comments. Files have mode 0600, directories 0700.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core import ids
from pushjuju.core.errors import AlreadyExists, IsRemote, NotFound, NotValid, StoreError
from pushjuju.core.problems import Subject
from pushjuju.store import databases
from pushjuju.store.cloudfiles import CloudFiles, open_keyring
from pushjuju.store.files.blobs import CACHE_SIZE, Blobs
from pushjuju.store.files.places import MAIN
from pushjuju.store.files.private import explained, locked, private_dir, remove_tree, replace_text
from pushjuju.store.files.toml_files import edit_toml, read_toml, stamp_of

if TYPE_CHECKING:
    from pushjuju.store.keys import Keyring
    from pushjuju.store.tx import Tx


def _setting(key: str, value: str | None) -> Callable[[MutableMapping[str, Any]], None]:
    """Return a change of a document that sets a key; None removes the key."""

    def change(document: MutableMapping[str, Any]) -> None:
        if value is None:
            document.pop(key, None)
        else:
            document[key] = value

    return change


class ControllerDir:
    """The directory of one controller."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = root.name
        self._keyring: Keyring | None = None
        self._config: tuple[tuple[int, ...], Mapping[str, Any]] | None = None

    @property
    def store_path(self) -> Path:
        """The path of the SQLite file."""
        return self.root / "state.db"

    @property
    def store_place(self) -> Path | str:
        """The place of the store: the SQLite file, or the address of a database."""
        if self.store_path.exists():
            return self.store_path
        return str(self.settings().get("store", "")) or self.store_path

    @property
    def blobs(self) -> Blobs:
        """Charm archives and resources.

        Raises:
            StoreError: The hosts share a directory, which is missing here.
        """
        if (shared := self.require_shared_blobs()) is not None:
            return Blobs(shared)
        place = self.store_place
        if isinstance(place, str):
            size = str(self.config().get("blob-cache-size", CACHE_SIZE))
            return databases.blobs(place, self.root / "blobs", size)
        return Blobs(self.root / "blobs")

    def require_shared_blobs(self) -> Path | None:
        """Return `shared_blobs`, or raise StoreError when the directory is missing here."""
        shared = self.shared_blobs
        if shared is not None and not shared.is_dir():
            text = f"the directory {shared} with charms and resources is missing"
            raise StoreError(text, hint=f"mount it, or go on without its files: mkdir -p -m 700 {shared}")
        return shared

    @property
    def shared_blobs(self) -> Path | None:
        """The directory of charms and resources that all hosts mount, or None; key `blobs` of the config."""
        try:
            place = self.config().get("blobs")
        except NotValid:  # no TOML: such a controller can be removed, and nobody can write to it
            return None
        return Path(str(place).removeprefix("file://"), str(self.settings()["uuid"])) if place else None

    @property
    def private_key(self) -> Path:
        """The SSH key with which the controller logs in."""
        return self.root / "ssh" / "id_ed25519"

    @property
    def public_key(self) -> Path:
        """The public key of `private_key`."""
        return self.root / "ssh" / "id_ed25519.pub"

    @property
    def keyring(self) -> Keyring:
        """The keys that encrypt the secrets in the store."""
        if self._keyring is None:
            self._keyring = open_keyring(self.root, vault=lambda: self.vault)
        return self._keyring

    @property
    def cloud_files(self) -> CloudFiles:
        """The clouds and credentials of this controller alone."""
        return CloudFiles(self.root, vault=lambda: self.vault)

    @property
    def vault(self) -> Any:
        """The files that this host shares with other hosts of the controller, or None (`postgres.vault`)."""
        place = self.store_place
        return databases.vault(place, self.root) if isinstance(place, str) else None

    def exchange(self, tx: Tx) -> None:
        """Take what other hosts have changed in shared files, and write what this host has changed.

        Args:
            tx: A transaction of the store of this controller.

        Raises:
            WrongKey: Hosts share the files, and this host does not have their key.
        """
        if not isinstance(place := self.store_place, str):
            return
        rows, vault = tx.rows("vault_list"), self.vault
        for row in rows:
            if row["digest"] is not None:
                databases.require_key(place, self.root, row["digest"])
        if vault is not None and vault.is_behind({row["name"]: row["version"] for row in rows}):
            vault.exchange()

    @property
    def machines(self) -> Path:
        """The directory in which providers keep files of their machines."""
        return self.root / "machines"

    @property
    def background_log(self) -> Path:
        """The log file of background controller processes."""
        return self.root / "log" / "controller.log"

    def known_hosts(self, model: str) -> Path:
        return self.root / "known_hosts" / model

    def settings(self) -> dict[str, Any]:
        """Return the content of controller.toml."""
        return read_toml(self.root / "controller.toml")

    def config(self) -> Mapping[str, Any]:
        """Return the configuration in controller.toml; the file is read again only when it has changed."""
        stamp = stamp_of(self.root / "controller.toml")
        if self._config is None or self._config[0] != stamp:
            self._config = stamp, self.settings().get("config", {})
        return self._config[1]

    def set(self, key: str, value: str | None) -> None:
        """Set a key of controller.toml; None removes the key."""
        self.change(_setting(key, value))

    def change(self, change: Callable[[MutableMapping[str, Any]], None]) -> None:
        """Change controller.toml; the comments of users stay."""
        with databases.editing(self.vault):
            edit_toml(self.root / "controller.toml", change)

    def exists(self) -> bool:
        """Return True when the controller exists, even if this user may not read it."""
        try:
            return (self.root / "controller.toml").is_file()
        except PermissionError:
            return True


class DataDir:
    """The whole data directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def controllers(self) -> list[str]:
        """Return the names of the controllers, sorted."""
        folder = self.root / "controllers"
        if not folder.is_dir():
            return []
        shown = (entry for entry in folder.iterdir() if not entry.name.startswith("."))
        return sorted(entry.name for entry in shown if ControllerDir(entry).exists())

    def controller(self, name: str) -> ControllerDir:
        """Return a controller's directory.

        Raises:
            NotFound: There is no such controller.
            IsRemote: The controller is on another computer.
        """
        found = ControllerDir(self.root / "controllers" / name)
        if not found.exists():
            if self.is_remote(name):
                raise self._is_remote(name)
            hint = "pushjuju controllers    lists what there is"
            raise NotFound(f"controller {name} not found", hint=hint, subject=Subject("controller", name))
        return found

    def _is_remote(self, name: str) -> IsRemote:
        host = self.remote(name).get("addresses", [""])[0]
        return IsRemote(
            f'controller "{name}" is on another computer, and this command works only there',
            name=name,
            hint=f"run the command on the host of the controller: {host}",
            subject=Subject("controller", name),
        )

    def remotes(self) -> list[str]:
        """Return the names of the controllers on other computers, sorted."""
        folder = self.root / "remotes"
        if not folder.is_dir():
            return []
        return sorted(
            path.stem for path in folder.iterdir() if path.name[0] != "." and path.suffix == ".toml"
        )

    def is_remote(self, name: str) -> bool:
        """Return True for the name of a controller on another computer."""
        return "/" not in name and self._remote_file(name).is_file()

    def require_known(self, name: str) -> None:
        """Raise NotFound when there is no such controller on this computer or on another one."""
        try:
            self.controller(name)
        except IsRemote:
            return

    def remote(self, name: str) -> dict[str, Any]:
        """Return what is known of a controller on another computer."""
        return read_toml(self._remote_file(name))

    def change_remote(self, name: str, change: Callable[[MutableMapping[str, Any]], None]) -> None:
        """Change what is known of a controller on another computer."""
        private_dir(self.root / "remotes")
        edit_toml(self._remote_file(name), change)

    def forget_remote(self, name: str) -> None:
        """Delete what is known of a controller on another computer."""
        self._remote_file(name).unlink()

    def remote_known_hosts(self, model: str) -> Path:
        """Return the known_hosts file for a model of a controller on another computer."""
        folder = self.root / "remotes" / "known_hosts"
        private_dir(folder)
        return folder / model

    def _remote_file(self, name: str) -> Path:
        return self.root / "remotes" / f"{name}.toml"

    def known(self, name: str) -> dict[str, Any]:
        """Return the settings of a controller on this computer or on another one.

        Raises:
            NotFound: There is no such controller.
        """
        return self.remote(name) if self.is_remote(name) else self.controller(name).settings()

    def current_controller(self) -> str | None:
        """Return the name of the current controller, or None."""
        name = self.main().get("current-controller")
        return str(name) if name else None

    def set_current_controller(self, name: str | None) -> None:
        """Set the current controller; None means no controller."""
        self.set_main("current-controller", name)

    def set_main(self, key: str, value: str | None) -> None:
        """Set a key of pushjuju.toml; None removes the key."""
        edit_toml(self.root / MAIN, _setting(key, value))

    def main(self) -> dict[str, Any]:
        """Return the content of pushjuju.toml."""
        return read_toml(self.root / MAIN)

    @property
    def cloud_files(self) -> CloudFiles:
        """The clouds and credentials of this client."""
        return CloudFiles(self.root)

    def clouds(self) -> dict[str, object]:
        """Return the clouds that users have defined: name -> definition."""
        return self.cloud_files.clouds()

    def create_controller(
        self,
        name: str,
        settings: Mapping[str, Any],
        prepare: Callable[[ControllerDir], None] | None = None,
        begin: Callable[[str], None] | None = None,
    ) -> ControllerDir:
        """Make a controller's directory with its SSH key; others see the controller when it is complete.

        Args:
            settings: The content of controller.toml.
            prepare: Makes the other parts of the directory; repeated when an earlier attempt was interrupted.
            begin: Called with the name after the check that no such controller exists.
        """
        made = ControllerDir(self.root / "controllers" / name)
        with locked(made.root.parent / ".lock"):
            if made.exists() or self.is_remote(name):
                raise AlreadyExists(f'controller "{name}" already exists')
            if begin:
                begin(name)
            if not made.public_key.exists():  # the public key is written last
                new = not made.root.exists()
                try:
                    _begin(made)
                except BaseException:
                    if new:
                        remove_tree(made.root)
                    raise
            if prepare:
                prepare(made)
            edit_toml(made.root / "controller.toml", lambda document: document.update(settings))
        return made

    def remove_controller(self, name: str) -> None:
        """Delete a controller's directory: hide it by a rename, then delete it file by file."""
        found = self.controller(name)
        with locked(found.root.parent / ".lock"):
            away = found.root.with_name(f".{name}-{ids.new_uuid()}")
            with explained(found.root):
                found.root.rename(away)
        remove_tree(away)

    def set_aside(self, name: str) -> Path:
        """Move a controller's directory to `unregistered/`; return the new path."""
        found = self.controller(name)
        kept = self.root / "unregistered" / name
        with locked(found.root.parent / ".lock"), explained(found.root):
            private_dir(kept.parent)
            if kept.exists():
                raise AlreadyExists(f"{kept} is there already", hint=f"delete or rename it: {kept}")
            found.root.rename(kept)
        return kept


def _begin(made: ControllerDir) -> None:
    """Make the folders of a controller, and its SSH key."""
    from pushjuju.store import ssh_key  # imports cryptography, which is slow

    for folder in ("ssh", "blobs", "known_hosts", "machines", "log"):
        with explained(made.root):
            private_dir(made.root / folder)
    private, public = ssh_key.new_pair()
    replace_text(made.private_key, private)
    replace_text(made.public_key, f"{public} pushjuju-{made.name}\n", mode=0o644)
