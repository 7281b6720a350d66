"""Copies of a controller: its store, the archives that it names, its keys, as one file.

A copy can be taken back where the store is in use, damaged, or not there at all.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from pushjuju.core.clock import Clock, to_iso
from pushjuju.core.errors import Conflict, NotFound, NotValid, StoreDamaged, StoreError
from pushjuju.services.entities.basis.context import Context
from pushjuju.store import backup
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.db import Store
from pushjuju.store.files.private import explained, private_dir, replace_text, sync_dir

STORE = "state.db"
BLOBS = "blobs"
META = "backup.json"
FILES = "controller"
FORM = 1
TRIES = 5  # a charm may be removed between the copy of the store and that of its archive
_KEPT = ("controller.toml", "secrets.key", "ssh/id_ed25519", "ssh/id_ed25519.pub")
_LARGEST_FILE = 4 * 1024 * 1024  # bytes; of those that are neither store nor archive
_WORK = ".restore-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """The file that was written.

    Attributes:
        path: The file: a compressed tar archive, readable by its owner only.
        blobs: The number of charm archives and resources in it.
        meta: The description in the copy itself.
    """

    path: Path
    blobs: int
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The result of a restore.

    Attributes:
        controller: The controller that was put back.
        before: The path of the store as it was until then, or None where no store was.
        was: `in use`, `damaged` or `absent`.
    """

    controller: str
    before: Path | None
    was: str


def kept_place(ctx: Context, name: str) -> Path:
    """Return where a backup is that stays with its controller; the folder is made."""
    folder = ctx.controller.root / "backups"
    private_dir(folder)
    return folder / name


def create(ctx: Context, target: Path, notes: str = "") -> Backup:
    """Write a copy of the controller; everything may go on meanwhile.

    Raises:
        StoreError: The store cannot be read, or the file cannot be written.
        StoreDamaged: The store is not sound; no file is left.
    """
    started = ctx.clock.now()
    with explained(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as folder:
        copy = Path(folder) / STORE
        for _ in range(TRIES):
            backup.copy_store(ctx.store.path, copy)
            names = _archives(copy)
            meta = _describe(ctx, copy, notes, started)
            try:
                found = [ctx.controller.blobs.path(name) for name in names]
                _write(Path(folder) / "archive", meta, {STORE: copy, **_files(ctx.controller)}, found)
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
    """Return name in the archive -> file: what belongs to the controller beside its store."""
    found = {name: controller.root / name for name in _KEPT}
    hosts = controller.root / "known_hosts"
    found |= {f"known_hosts/{path.name}": path for path in sorted(hosts.glob("*")) if path.is_file()}
    return {f"{FILES}/{name}": path for name, path in found.items() if path.is_file()}


def _archives(copy: Path) -> list[str]:
    store = Store.open(copy)
    try:
        with store.read() as tx:
            return sorted({row["sha256"] for row in tx.rows("blob_names") if row["sha256"]})
    finally:
        store.close()


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


# --- taking one back --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unpacked:
    store: Path
    blobs: list[Path]
    files: Mapping[str, Path]
    meta: Mapping[str, Any]


def restore(ctx: Context, source: Path) -> Path:
    """Put a copy in the place of the controller's store; processes that use it go on with the new content.

    Returns:
        Where the store as it was until then is kept.

    Raises:
        NotValid: The file is no copy of a controller, or of another one.
        StoreDamaged: The copy is not sound. Nothing has changed.
        StoreTooNew: It was made by a newer pushjuju.
    """
    with _unpacked(source, ctx.store.path.parent) as found:
        _check_owner(found, ctx.controller, source)
        _put_blobs(found, ctx.controller, source)
        before = _before(ctx.controller, ctx.clock)
        backup.take_back(ctx.store, found.store, before)
        _put_files(found, ctx.controller)
    return before


def check_archive(source: Path) -> None:
    """Check that a file can be a copy at all, before the user is asked anything.

    Raises:
        NotValid: It holds something else, or nothing.
    """
    try:
        with tarfile.open(source) as archive:
            first = archive.next()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise NotValid(f"{source} is no copy of a controller: {reason}") from error
    if first is None or not _known(first):
        what = f"it holds {first.name}" if first else "it holds nothing"
        raise NotValid(f"{source} is no copy of a controller: {what}")


def restore_anywhere(datadir: DataDir, source: Path, *, clock: Clock, name: str = "") -> Restored:
    """Put a copy back, whatever there is of its controller.

    Args:
        name: The controller; empty for the controller that the copy names.

    Raises:
        NotValid: The file is no copy of a controller, or of another one.
        StoreDamaged: The copy is not sound. Nothing has changed.
        StoreTooNew: It was made by a newer pushjuju.
        Conflict: A process holds a store that is damaged.
    """
    controllers = datadir.root / "controllers"
    with explained(controllers):
        controllers.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(controllers)
    with _unpacked(source, controllers) as found:
        chosen = name or str(found.meta.get("controller", ""))
        if not chosen or "/" in chosen or chosen.startswith("."):
            raise NotValid(f"{source} does not say whose copy it is", hint="name the controller with -c")
        controller = ControllerDir(controllers / chosen)
        _check_owner(found, controller, source)
        backup.check_copy(found.store)
        backup.bring_up_to_date(found.store)
        was = _state_of(controller)
        if was == "in use":
            before: Path | None = _into_store(found, controller, source, clock)
        else:
            before = _in_place(found, controller, source, clock)
        return Restored(controller=chosen, before=before, was=was)


def _state_of(controller: ControllerDir) -> str:
    """Return which state a controller's store is in.

    Raises:
        StoreError: It is there, and another reason than damage keeps us from it.
    """
    if not controller.store_path.exists():
        return "absent"
    try:
        store = Store.open(controller.store_path)
        try:
            store.check()
        finally:
            store.close()
    except StoreDamaged:
        return "damaged"
    return "in use"


def _into_store(found: _Unpacked, controller: ControllerDir, source: Path, clock: Clock) -> Path:
    """Replace the rows of a sound store; others who use it go on with the new ones."""
    store = Store.open(controller.store_path)
    try:
        _put_blobs(found, controller, source)
        before = _before(controller, clock)
        backup.take_back(store, found.store, before)
    finally:
        store.close()
    _put_files(found, controller)
    return before


def _in_place(found: _Unpacked, controller: ControllerDir, source: Path, clock: Clock) -> Path | None:
    """Put a new file where no file is, or no readable file; nobody may use the store meanwhile."""
    with explained(controller.root):
        for folder in ("", "ssh", "blobs", "known_hosts", "machines", "log"):
            (controller.root / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(controller):
        _put_blobs(found, controller, source)
        before = backup.put_in_place(found.store, controller.store_path, _before(controller, clock))
        _put_files(found, controller)
    return before


@contextlib.contextmanager
def _alone(controller: ControllerDir) -> Iterator[None]:
    """Keep background processes out.

    Raises:
        Conflict: Another process uses the store.
    """
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
    """Return a name that is free for the store as it was."""
    stamp = to_iso(clock.now()).replace(":", "")
    path, number = controller.store_path.with_name(f"before-restore-{stamp}.db"), 1
    while path.exists():
        path = controller.store_path.with_name(f"before-restore-{stamp}-{number}.db")
        number += 1
    return path


def _check_owner(found: _Unpacked, controller: ControllerDir, source: Path) -> None:
    """Refuse a copy of another controller: its machines would be given to two.

    Raises:
        NotValid: The copy is of another controller.
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
    """Put back what the controller lacks beside its store; keys of secrets are added to those there are.

    controller.toml comes last: with it the controller exists.
    """
    names = sorted(found.files, key=lambda name: name == "controller.toml")
    for name in names:
        target = controller.root / name
        if name == "secrets.key" and target.exists():
            controller.keyring.merge(found.files[name].read_text())
        elif not target.exists():
            mode = 0o644 if name.endswith(".pub") else 0o600
            replace_text(target, found.files[name].read_text(), mode=mode)


# --- reading the file -------------------------------------------------------------------------------------


def _sweep(folder: Path) -> None:
    """Remove what a restore that was killed left; one that still runs holds its lock."""
    for path in folder.glob(f"{_WORK}*"):
        with contextlib.suppress(OSError), (path / "lock").open("a") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _unpacked(source: Path, parent: Path) -> Iterator[_Unpacked]:
    """Take everything out of a copy, into a folder that is gone afterwards.

    Raises:
        NotValid: The file is no copy of a controller.
        StoreDamaged: The store in it is not what was put in.
    """
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
    """Take the known files out of a copy; nothing else, and no path that the file names."""
    found: dict[str, Path] = {}
    try:
        with tarfile.open(source) as archive:
            for number, member in enumerate(archive):
                content = archive.extractfile(member) if member.isfile() else None
                if content is None or not _known(member) or member.name in found:
                    raise NotValid(f"{source} is no copy of a controller: it holds {member.name}")
                target = folder / _file_name(member.name, number)
                with target.open("xb") as stream:
                    os.fchmod(stream.fileno(), 0o600)
                    while piece := content.read(1 << 20):
                        stream.write(piece)
                found[member.name] = target
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise NotValid(f"{source} is no copy of a controller: {reason}") from error
    if STORE not in found:
        raise NotValid(f"{source} is no copy of a controller: it holds no store")
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
    """Return how a member is called in the folder: archives as in the store, all else by number."""
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
    if path is None:  # a copy of an older pushjuju
        return {}
    try:
        found = json.loads(path.read_text())
    except (ValueError, RecursionError) as error:
        raise NotValid(f"{source} is no copy of a controller: {META}: {error}") from None
    if not isinstance(found, dict):
        raise NotValid(f"{source} is no copy of a controller: {META} is no map")
    return found


__all__ = ["Backup", "Restored", "StoreError", "create", "restore", "restore_anywhere"]
