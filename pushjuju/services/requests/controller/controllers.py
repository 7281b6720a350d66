"""Removes, unregisters, chooses and configures controllers.

Mirrors: juju cmd/juju/controller, bootstrap (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import NotFound, NotValid, PushjujuError, StoreDamaged, StoreError, StoreGone
from pushjuju.services.entities.basis.context import AUDITING, AUDITING_OFF, Context
from pushjuju.services.entities.model import controller_config, models
from pushjuju.store import backup, processes
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.db import Store
from pushjuju.store.files.private import remove_tree
from pushjuju.store.files.unfinished import Unfinished as Unfinished  # noqa: PLC0414 - what `marked` returns
from pushjuju.store.files.unfinished import left_behind, taken_over
from pushjuju.store.processes import place_of

if TYPE_CHECKING:
    from pushjuju.store.statement_names import StatementName


def marked(datadir: DataDir, name: str) -> Unfinished:
    """Mark a controller as unfinished until the returned mark is closed; `sweep` looks for such marks."""
    return Unfinished(datadir.root / "controllers", name)


def sweep(datadir: DataDir) -> list[str]:
    """Delete unfinished controllers whose bootstrap was interrupted; return their names.

    A controller that was used since then stays. When no controller is marked, this costs one read of a
    directory.
    """
    folder, gone = datadir.root / "controllers", []
    for name in left_behind(folder):
        # A controller whose store cannot be read stays: the command that opens it reports the error.
        with suppress(PushjujuError), taken_over(folder, name) as ours:
            if ours and name in datadir.controllers() and not used(datadir.controller(name)):
                remove(datadir, name)
                gone.append(name)
    return gone


def used(controller: ControllerDir) -> bool:
    """Return True when a controller has more than one model, or a model that is not empty."""
    with closing(Store.open(controller.store_place)) as store, store.read() as tx:
        found = [row["uuid"] for row in tx.rows("model_list") if row["name"] != models.CONTROLLER]
        names: Sequence[StatementName] = ("application_list", "remote_application_list", "machine_list")
        return len(found) > 1 or any(tx.rows(name, model=model) for model in found for name in names)


def require_lost(controller: ControllerDir, error: StoreError) -> None:
    """Raise an error of a store again unless the store is lost; one in a database may be in use elsewhere."""
    shared = isinstance(controller.store_place, str)
    if error.retryable or (shared and not isinstance(error, StoreDamaged | StoreGone)):
        ours = f"pushjuju unregister {controller.name}    forgets the controller on this host alone"
        error.hint = f"{error.hint}\n{ours}".lstrip()
        raise error


def remove(datadir: DataDir, name: str) -> None:
    """Delete a controller with its store, keys and archives; its machines are left alone.

    Raises:
        StoreError: The archives are in a directory of several hosts that is missing here; nothing is deleted.
    """
    found = datadir.controller(name)
    place, shared = found.store_place, found.require_shared_blobs()
    datadir.remove_controller(name)
    if shared is not None:
        remove_tree(shared)
    with suppress(StoreDamaged, StoreGone):  # nothing is left there
        backup.forget(place)
    if datadir.current_controller() == name:
        datadir.set_current_controller(None)


def unregister(datadir: DataDir, name: str) -> Path | None:
    """Move a controller's whole directory out of the way and return its new path.

    A controller on another computer is forgotten, and None is returned.
    """
    kept = None
    if datadir.is_remote(name):
        datadir.forget_remote(name)
    else:
        kept = datadir.set_aside(name)
    if datadir.current_controller() == name:
        datadir.set_current_controller(None)
    return kept


def current(datadir: DataDir, wanted: str | None, environ: Mapping[str, str]) -> str:
    """Return the controller for a command: `wanted`, else from the environment, else the current."""
    chosen = wanted or environ.get("JUJU_CONTROLLER") or datadir.current_controller()
    if not chosen:
        raise no_controller(datadir)
    datadir.require_known(chosen)
    return chosen


def no_controller(datadir: DataDir) -> NotFound:
    """Return the error for a command that needs a current controller; the text is Juju's."""
    if names := sorted((*datadir.controllers(), *datadir.remotes())):
        return NotFound(
            "No selected controller.",
            detail='Please use "pushjuju switch" to select one of: ' + ", ".join(names),
        )
    return NotFound(
        "No controllers registered.",
        detail='Please either create a new controller using "pushjuju bootstrap" or deploy a charm: '
        "the first deploy makes a controller by itself.",
    )


def drain(ctx: Context, name: str) -> list[str]:
    """Ask controller processes to give back their keys and to end; return the names of the processes.

    Hooks that run go on, on their machines; another process, or the next command, commits their results.

    Args:
        name: A host, for all controller processes there, or the name of one process.
    """
    with ctx.change_controller() as tx:
        living = [item.owner for item in processes.living(tx, ctx.store.lives)]
        found = [owner for owner in living if name in (owner, place_of(owner)[0])]
        for owner in found:
            tx.run("process_drain", owner=owner)
    if not found:
        raise NotFound(f'no controller process runs on a host "{name}"', hint="pushjuju controller processes")
    return found


def fixed(values: Iterable[str]) -> list[str]:
    """Return the keys that cannot be set after bootstrap, sorted."""
    return sorted(key for key in values if not controller_config.may_change(key))


def configure(ctx: Context, values: Mapping[str, Any]) -> None:
    """Set configuration keys; after an error, none is set."""
    if keys := fixed(values):
        listed = " ".join(keys)
        raise NotValid(f"invalid or read-only controller config values cannot be updated: [{listed}]")
    parsed = controller_config.parse_values(values)

    def edit(settings: MutableMapping[str, Any]) -> None:
        config = settings.setdefault("config", {})
        config.update(parsed)
        controller_config.check_state_sizes(config)

    with ctx.change_controller(*(_audited(key, value) for key, value in parsed.items())):
        ctx.controller.change(edit)


def _audited(key: str, value: object) -> str:
    """Return the name of a change in the audit log; that of the end of the log has the value, too."""
    return f"{AUDITING_OFF}={str(value).lower()}" if key == AUDITING else f"controller-config {key}"
