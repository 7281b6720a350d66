"""Backups of a controller: its store, the archives that the store names and its keys, in one file.

A backup can be restored while the store is in use, and when the store is damaged or missing.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import io
import json
import os
import shlex
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from pushjuju.core.clock import Clock, to_iso
from pushjuju.core.errors import Conflict, NotFound, NotValid, StoreDamaged
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import lost_results
from pushjuju.services.requests.controller import backup_host_keys
from pushjuju.store import backup
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.db import Store
from pushjuju.store.files.known_hosts import FOLDER as HOSTS
from pushjuju.store.files.private import explained, private_dir, replace_text, sync_dir

STORE = "state.db"
BLOBS = "blobs"
META = "backup.json"
FILES = "controller"
FORM = 1
TRIES = 5  # attempts: after the store is copied, a charm may be removed before its archive is copied
_KEPT = ("controller.toml", "secrets.key", "ssh/id_ed25519", "ssh/id_ed25519.pub")
_LARGEST_FILE = 4 * 1024 * 1024  # bytes, for files other than the store and archives
_WORK = ".restore-"
_NAME = regex(r"juju-backup-[0-9]{8}-[0-9]{6}\.tar\.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was written."""

    path: Path  # the file: a compressed tar archive that only its owner can read
    blobs: int  # the number of charm archives and resources in the file
    # the description of the backup, which is in the file too
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    controller: str
    before: Path | None  # the path of the store that was replaced, or None when there was no store
    was: str  # the state of that store: `in use`, `damaged` or `absent`


def kept_place(ctx: Context, name: str) -> Path:
    """Return the path of a backup inside its controller's directory; create its folder."""
    folder = ctx.controller.root / "backups"
    private_dir(folder)
    return folder / name


def kept_name(now: datetime) -> str:
    """Return the file name for a backup that is made at a time."""
    return f"{now:juju-backup-%Y%m%d-%H%M%S.tar.gz}"


def create_kept(ctx: Context, notes: str = "") -> Backup:
    """Write a backup into the controller's directory, with the errors of `create`."""
    return create(ctx, kept_place(ctx, kept_name(ctx.clock.now())), notes)


def find_kept(ctx: Context, name: str) -> Path:
    """Return the path of a backup in the controller's directory."""
    path = kept_place(ctx, name) if _NAME.fullmatch(name) else None
    if path is None or not path.is_file():
        raise NotFound(f"backup {quote(name)} not found")
    return path


def checksum(path: Path) -> str:
    """Return the SHA-1 of a backup in base64, as in Juju's metadata."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.sha1(usedforsecurity=False)).digest()
    return base64.b64encode(digest).decode()


def create(ctx: Context, target: Path, notes: str = "") -> Backup:
    """Write a backup of the controller; other processes may work at the same time.

    Raises:
        StoreDamaged: The store is damaged; no file is written.
    """
    started = ctx.clock.now()
    with explained(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as folder:
        copy = Path(folder) / STORE
        for _ in range(TRIES):
            backup.copy_store(ctx.store.place, copy)
            names = _archives(copy)
            meta = _describe(ctx, copy, notes, started)
            try:
                found = [ctx.controller.blobs.path(name) for name in names]
                files = {
                    STORE: copy,
                    **_files(ctx.controller),
                    **backup_host_keys.files(ctx, Path(folder), FILES),
                }
                _write(Path(folder) / "archive", meta, files, found)
            except (NotFound, FileNotFoundError):
                continue
            (Path(folder) / "archive").replace(target)
            sync_dir(target.parent)
            return Backup(path=target, blobs=len(found), meta=meta)
    raise StoreDamaged(f"charm archives that the store {ctx.store.path} names are missing")


def _describe(ctx: Context, copy: Path, notes: str, started: datetime) -> dict[str, object]:
    settings = ctx.controller.settings()
    return {
        "format": FORM,
        "controller": ctx.controller.name,
        "controller-uuid": str(settings.get("uuid", "")),
        "schema": backup.schema_of(copy),
        "started": to_iso(started),
        "notes": notes,
        "sha256": _digest(copy),
    }


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _files(controller: ControllerDir) -> dict[str, Path]:
    """Return name in the archive -> file, for the controller's files other than the store."""
    found = {name: controller.root / name for name in _KEPT}
    if isinstance(controller.store_place, Path):
        hosts = controller.root / HOSTS
        found |= {f"known_hosts/{path.name}": path for path in sorted(hosts.glob("*")) if path.is_file()}
    return {f"{FILES}/{name}": path for name, path in found.items() if path.is_file()}


def _archives(copy: Path) -> list[str]:
    with contextlib.closing(Store.open(copy)) as store, store.read() as tx:
        return backup.blob_names(tx)


def _write(target: Path, meta: Mapping[str, Any], files: Mapping[str, Path], blobs: list[Path]) -> None:
    with target.open("xb") as stream:
        os.fchmod(stream.fileno(), 0o600)
        with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
            text = json.dumps(meta, indent=2).encode() + b"\n"
            head = tarfile.TarInfo(META)
            head.size, head.mode = len(text), 0o600
            archive.addfile(head, io.BytesIO(text))
            for name, path in files.items():
                archive.add(path, name)
            for path in blobs:
                archive.add(path, f"{BLOBS}/{path.name}")
        stream.flush()
        os.fsync(stream.fileno())


# --- restoring --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unpacked:
    store: Path
    blobs: list[Path]
    files: Mapping[str, Path]
    meta: Mapping[str, Any]


def check_archive(source: Path) -> None:
    """Check that a file can be a backup, before the user is asked to confirm.

    Raises:
        NotValid: The file is empty, or has other content.
    """
    try:
        with tarfile.open(source) as archive:
            first = archive.next()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise NotValid(f"{source} is not a backup of a controller: {reason}") from error
    if first is None or not _known(first):
        what = f"it contains {first.name}" if first else "it is empty"
        raise NotValid(f"{source} is not a backup of a controller: {what}")


def restore_anywhere(datadir: DataDir, source: Path, *, clock: Clock, name: str = "") -> Restored:
    """Restore a backup, whether its controller's store is in use, damaged or missing.

    Args:
        name: The name of the controller; empty for the name in the backup.
    """
    controllers = datadir.root / "controllers"
    with explained(controllers):
        controllers.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(controllers)
    with _unpacked(source, controllers) as found:
        chosen = name or str(found.meta.get("controller", ""))
        if not chosen or "/" in chosen or chosen.startswith("."):
            raise NotValid(f"{source} does not name its controller", hint="name the controller with -c")
        controller = ControllerDir(controllers / chosen)
        _check_owner(found, controller, source)
        backup.check_copy(found.store)
        backup.bring_up_to_date(found.store, partial(lost_results.mark_restored, now=clock.now()))
        was = _state_of(controller)
        before: Path | None = None
        if was == "in use":
            before = _into_store(found, controller, source, clock)
        elif isinstance(controller.store_place, str):
            _into_database(found, controller, source, clock)
        else:
            before = _in_place(found, controller, source, clock)
        return Restored(controller=chosen, before=before, was=was)


def note_restored(ctx: Context, source: Path) -> None:
    """Write the line of the audit log about a restore, behind the lines that the backup contains."""
    with ctx.change_controller(f"backup {source.name}"):
        pass


def _state_of(controller: ControllerDir) -> str:
    """Return the state of a controller's store: `in use`, `damaged` (a file alone) or `absent`."""
    place = controller.store_place
    if isinstance(place, Path) and not place.exists():
        return "absent"
    try:
        store = Store.open(place)
    except StoreDamaged:  # a database has no store then
        return "absent" if isinstance(place, str) else "damaged"
    try:
        store.check()
    except StoreDamaged as error:
        if isinstance(place, str):
            what = f"psql {shlex.quote(place)} -c 'ALTER SCHEMA pushjuju RENAME TO damaged'"
            raise StoreDamaged(str(error), hint=f"{what}    sets it aside; then restore again") from error
        return "damaged"
    finally:
        store.close()
    return "in use"


def _into_store(found: _Unpacked, controller: ControllerDir, source: Path, clock: Clock) -> Path:
    """Replace the rows of a sound store; processes that use the store continue with the new rows."""
    with contextlib.closing(Store.open(controller.store_place)) as store:
        _put_blobs(found, controller, source)
        before = _before(controller, clock)
        backup.take_back(store, found.store, before)
    _put_files(found, controller)
    return before


def _into_database(found: _Unpacked, controller: ControllerDir, source: Path, clock: Clock) -> None:
    """Make the store again that a database has lost."""
    Store.open(controller.store_place, create=True).close()
    _into_store(found, controller, source, clock).unlink()  # nothing was there before


def _in_place(found: _Unpacked, controller: ControllerDir, source: Path, clock: Clock) -> Path | None:
    """Put a store file in the place of a missing or damaged store, while no process uses the store."""
    with explained(controller.root):
        for folder in ("", "ssh", "blobs", "known_hosts", "machines", "log"):
            (controller.root / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(controller):
        _put_blobs(found, controller, source)
        before = backup.put_in_place(found.store, controller.store_path, _before(controller, clock))
        _put_files(found, controller)
        if controller.shared_blobs is not None:  # known since controller.toml is there
            _put_blobs(found, controller, source)
    return before


@contextlib.contextmanager
def _alone(controller: ControllerDir) -> Iterator[None]:
    """Keep background processes from starting, for the time of a restore."""
    with (controller.root / "background.lock").open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                f"a background process works for controller {controller.name}",
                hint="a background process ends when it is idle; stop a `pushjuju controller run`; "
                "then run the command again",
            ) from None
        yield


def _before(controller: ControllerDir, clock: Clock) -> Path:
    """Return an unused path for a copy of the store as it is before the restore."""
    stamp = to_iso(clock.now()).replace(":", "")
    path, number = controller.store_path.with_name(f"before-restore-{stamp}.db"), 1
    while path.exists():
        path = controller.store_path.with_name(f"before-restore-{stamp}-{number}.db")
        number += 1
    return path


def _check_owner(found: _Unpacked, controller: ControllerDir, source: Path) -> None:
    """Refuse a backup of another controller: both controllers would then work the same machines.

    Raises:
        NotValid: The backup is of another controller.
    """
    form = found.meta.get("format", FORM)
    if form != FORM:
        raise NotValid(f"{source} has form {form}; this pushjuju knows {FORM}", hint="upgrade pushjuju")
    theirs = str(found.meta.get("controller-uuid", ""))
    ours = str(controller.settings().get("uuid", "")) if controller.exists() else ""
    if theirs and ours and theirs != ours:
        raise NotValid(f"{source} is a copy of another controller than {controller.name}")


def _put_blobs(found: _Unpacked, controller: ControllerDir, source: Path) -> None:
    for path in found.blobs:
        if controller.blobs.add(path) != path.name:
            raise StoreDamaged(f"the charm archive {path.name[:12]} in {source} is damaged")


def _put_files(found: _Unpacked, controller: ControllerDir) -> None:
    """Write the files that the controller lacks; keys of secrets are added to the existing keys.

    controller.toml comes last, because a controller with this file counts as complete.
    """
    names = sorted(found.files, key=lambda name: name == "controller.toml")
    if isinstance(place := controller.store_place, str):
        backup_host_keys.take_in(found.files, place)
        names = [name for name in names if not name.startswith(f"{HOSTS}/")]
    for name in names:
        target = controller.root / name
        if name == "secrets.key" and target.exists():
            controller.keyring.merge(found.files[name].read_text())
        elif not target.exists():
            mode = 0o644 if name.endswith(".pub") else 0o600
            replace_text(target, found.files[name].read_text(), mode=mode)


# --- reading a backup -------------------------------------------------------------------------------------


def _sweep(folder: Path) -> None:
    """Delete the folders of restores that were killed; a restore that still runs holds its folder's lock."""
    for path in folder.glob(f"{_WORK}*"):
        with contextlib.suppress(OSError), (path / "lock").open("a") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _unpacked(source: Path, parent: Path) -> Iterator[_Unpacked]:
    """Unpack a backup into a temporary folder."""
    with (
        tempfile.TemporaryDirectory(dir=parent, prefix=_WORK) as name,
        (Path(name) / "lock").open("a") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = _unpack(source, Path(name))
        wanted = found.meta.get("sha256")
        if wanted and _digest(found.store) != wanted:
            raise StoreDamaged(f"the store in {source} is damaged", hint="use another copy")
        yield found


def _unpack(source: Path, folder: Path) -> _Unpacked:
    """Unpack the known files of a backup, under names that the backup's paths cannot influence."""
    found: dict[str, Path] = {}
    try:
        with tarfile.open(source) as archive:
            for number, member in enumerate(archive):
                content = archive.extractfile(member) if member.isfile() else None
                if content is None or not _known(member) or member.name in found:
                    raise NotValid(f"{source} is not a backup of a controller: it contains {member.name}")
                target = folder / _file_name(member.name, number)
                with target.open("xb") as stream:
                    os.fchmod(stream.fileno(), 0o600)
                    while piece := content.read(1 << 20):
                        stream.write(piece)
                found[member.name] = target
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise NotValid(f"{source} is not a backup of a controller: {reason}") from error
    if STORE not in found:
        raise NotValid(f"{source} is not a backup of a controller: it contains no store")
    return _Unpacked(
        store=found[STORE],
        blobs=[path for name, path in found.items() if name.startswith(f"{BLOBS}/")],
        files={
            name.removeprefix(f"{FILES}/"): path
            for name, path in found.items()
            if name.startswith(f"{FILES}/")
        },
        meta=_meta(source, found.get(META)),
    )


def _file_name(name: str, number: int) -> str:
    """Return the name of a member in the folder: archives keep their name, other files get a number."""
    if name.startswith(f"{BLOBS}/"):
        return PurePosixPath(name).name
    return STORE if name == STORE else f"file-{number}"


def _known(member: tarfile.TarInfo) -> bool:
    name = member.name
    if name == STORE:
        return True
    parts = PurePosixPath(name).parts
    if len(parts) == 2 and parts[0] == BLOBS:
        return len(parts[1]) == 64 and all(letter in "0123456789abcdef" for letter in parts[1])
    if member.size > _LARGEST_FILE:
        return False
    hosts = len(parts) == 3 and parts[:2] == (FILES, "known_hosts") and not parts[2].startswith(".")
    return name == META or hosts or name.removeprefix(f"{FILES}/") in _KEPT


def _meta(source: Path, path: Path | None) -> Mapping[str, Any]:
    if path is None:  # backups of older releases have no description
        return {}
    try:
        found = json.loads(path.read_text())
    except (ValueError, RecursionError) as error:
        raise NotValid(f"{source} is not a backup of a controller: {META}: {error}") from None
    if not isinstance(found, dict):
        raise NotValid(f"{source} is not a backup of a controller: {META} is not a map")
    return found
