"""Moves the store of a controller into a database, or back into a file; keys and archives stay.

A move that is killed leaves the controller with its old store or with its new store, and the same command
completes the move. All rows are compared before the old store is given up.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pushjuju.core.errors import Conflict, NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis.context import Context
from pushjuju.store import backup, databases
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.files.private import explained, locked, sync_dir

FILE = "file"
_ARRIVING = "state.db.arriving-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A store that has moved."""

    place: str  # where the store is now, for people
    kept: str  # where the rows of before are kept, which nothing reads any more


def move(datadir: DataDir, name: str, to: str, *, now: datetime, insecure: bool = False) -> Moved:
    """Move the store of a controller, or complete a move that was interrupted.

    Args:
        to: The address of an empty database, or `file` for the file in the controller's directory.
        insecure: Allow a connection over the network without TLS.

    Raises:
        StoreError: A store cannot be read or written; the controller has its old store.
    """
    controller = datadir.controller(name)
    stamp = f"{now:%Y%m%dt%H%M%S%f}"
    with locked(controller.root / ".move.lock"), explained(controller.root):
        if to.partition(":")[0] == FILE:
            _check_file(controller, to)
            return _to_file(controller, stamp)
        databases.shown(to)
        if not insecure:
            databases.require_safe(to)
        return _to_database(controller, to, stamp)


def note(ctx: Context, moved: Moved) -> None:
    """Write the line of the audit log about a move."""
    with ctx.change_controller(f"the store has moved to {moved.place}"):
        pass


def _check_file(controller: ControllerDir, to: str) -> None:
    if to not in (FILE, f"file://{controller.root}", f"file://{controller.root}/"):
        raise NotValid(
            f"a store in a file is in the directory of its controller: {controller.root}",
            hint="pushjuju controller move --to file",
        )


def _to_database(controller: ControllerDir, to: str, stamp: str) -> Moved:
    path, uuid = controller.store_path, str(controller.settings().get("uuid", ""))
    if not path.exists():
        here = databases.shown(str(controller.store_place))
        raise Conflict(
            f"the store of controller {controller.name} is in a database already: {here}",
            hint="pushjuju controller move --to file    moves it into a file first",
        )
    begun = backup.place_of_moved(path)
    if begun not in ("", to):
        raise Conflict(
            f"the store of controller {controller.name} is on its way to {begun}",
            hint=f"pushjuju controller move --to '{begun}'    completes the move",
        )
    if not begun:
        backup.move_to_database(path, to, uuid)
    databases.moves().settle(to, uuid)
    controller.set("store", to)
    return Moved(place=databases.shown(to), kept=str(_put_away(path, stamp)))


def _put_away(path: Path, stamp: str) -> Path:
    """Rename a file whose rows have moved; nobody can write to it."""
    kept = path.with_name(f"{path.name}.moved-{stamp}")
    backup.set_aside(path, kept)
    kept.chmod(0o400)
    sync_dir(path.parent)
    return kept


def _to_file(controller: ControllerDir, stamp: str) -> Moved:
    path, url = controller.store_path, str(controller.settings().get("store", ""))
    if not url:
        raise Conflict(f"the store of controller {controller.name} is in a file already: {path}")
    if path.exists() and backup.place_of_moved(path):
        _put_away(path, stamp)  # the move into the database was interrupted just before its end
    if not path.exists():
        arrived = _arrived(controller.root, url)
        if arrived is None:
            arrived = controller.root / f"{_ARRIVING}{stamp}"
            backup.move_to_file(url, arrived, stamp)
        arrived.replace(path)
        sync_dir(path.parent)
    controller.set("store", None)
    return Moved(
        place=str(path), kept=f"{databases.shown(url)}, in the schema that begins with pushjuju_moved_"
    )


def _arrived(root: Path, url: str) -> Path | None:
    """Return the file of an interrupted move that needs only its name; delete unfinished files."""
    for path in sorted(root.glob(f"{_ARRIVING}*")):
        if databases.moves().has_left(url, path.name.removeprefix(_ARRIVING)):
            return path
        path.unlink()
    return None
