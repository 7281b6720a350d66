"""Controllers: a directory each. Mirrors: juju cmd/juju/controller, bootstrap (3.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju import JUJU_VERSION
from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.clouds import DEFAULT_REGION, Cloud
from pushjuju.core.errors import NotFound, NotValid, PushjujuError, StoreDamaged
from pushjuju.core.ids import new_uuid
from pushjuju.core.names import is_controller
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import models
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.db import Store
from pushjuju.store.files.unfinished import Unfinished, left_behind, taken_over
from pushjuju.store.rows.model import Model

if TYPE_CHECKING:
    from pushjuju.plugins.manager import PluginHost


def bootstrap(
    datadir: DataDir,
    cloud: str,
    name: str | None = None,
    *,
    now: datetime,
    config: Mapping[str, Any] | None = None,
    host: PluginHost | None = None,
    credential: str = "",
    begin: Callable[[str], None] | None = None,
) -> ControllerDir:
    """Make a controller for a cloud; no machine is needed.

    Args:
        cloud: `cloud[/region]`.
        name: The controller's; `cloud-region` when None, `cloud` for the region "default".
        host: Plugins, for the clouds that they bring.
        credential: The default credential of its models; empty for the cloud's default.
        begin: Called with its name just before it is made.

    Raises:
        NotFound: No such cloud, region or credential.
        NotValid: Bad name, or several credentials to choose from.
        AlreadyExists: The name is taken.
    """
    cloud_name, asked = clouds.split(cloud)
    places = clouds.folders(datadir)
    found = clouds.definition(places, cloud_name, host)
    region = clouds.choose_region(places, found, asked)
    chosen_credential = clouds.choose_credential(places, cloud_name, credential)
    chosen = name or (cloud_name if region == DEFAULT_REGION else f"{cloud_name}-{region}")
    if not is_controller(chosen):
        raise NotValid(f'"{chosen}" is not a valid controller name')
    return datadir.create_controller(
        chosen,
        {
            "uuid": new_uuid(),
            "cloud": cloud_name,
            "region": region,
            "created": to_iso(now),
            "agent-version": JUJU_VERSION,
            **({"credential": chosen_credential} if chosen_credential else {}),
            **({"config": dict(config)} if config else {}),
        },
        prepare=lambda made: _prepare(
            made, places, found, models.of_controller(found, region, chosen_credential, now)
        ),
        begin=begin,
    )


def _prepare(made: ControllerDir, places: clouds.Folders, cloud: Cloud, model: Model) -> None:
    """Make the store with the controller's own model, or take the one of a bootstrap that was cut off.

    Raises:
        StoreDamaged: The existing file is not a store of this controller.
    """
    store = Store.open(made.store_path, create=True)
    try:
        with store.write() as tx:
            found = tx.list(Model, "model_list")
            if not all(
                models.is_controller(item) for item in found
            ):  # users' rows come after controller.toml
                raise StoreDamaged(
                    f"{made.root} has the store of a controller, and no controller.toml",
                    hint="pushjuju restore-backup FILE    restores it from a copy; "
                    f"or move it away: {made.root}",
                )
            for item in found:
                models.delete(tx, item.uuid)
            models.insert(tx, model, now=from_iso(model.created))
    finally:
        store.close()
    clouds.keep_public(made, places, cloud)


def marked(datadir: DataDir, name: str) -> Unfinished:
    """Mark a controller as unfinished until the mark is closed; see `sweep`."""
    return Unfinished(datadir.root / "controllers", name)


def sweep(datadir: DataDir) -> list[str]:
    """Delete controllers whose making was cut off before anything was put on them; return their names.

    What was used by then stays, as a controller like any other. Costs one look at a directory when there is
    nothing to do.
    """
    folder, gone = datadir.root / "controllers", []
    for name in left_behind(folder):
        # A controller whose store cannot be read stays as it is: the command that opens it reports
        # that.
        with suppress(PushjujuError), taken_over(folder, name) as ours:
            if ours and name in datadir.controllers() and not used(datadir.controller(name)):
                remove(datadir, name)
                gone.append(name)
    return gone


def used(controller: ControllerDir) -> bool:
    """Return True when a controller has more than one model, or a model that is not empty.

    Raises:
        StoreError: The store of the controller cannot be read.
    """
    store = Store.open(controller.store_path)
    try:
        with store.read() as tx:
            found = [row["uuid"] for row in tx.rows("model_list") if row["name"] != models.CONTROLLER]
            names = ("application_list", "remote_application_list", "machine_list")
            return len(found) > 1 or any(tx.rows(name, model=model) for model in found for name in names)
    finally:
        store.close()


def remove(datadir: DataDir, name: str) -> None:
    """Delete a controller with its store, keys and archives; its machines are left alone.

    Raises:
        NotFound: There is no such controller.
    """
    datadir.remove_controller(name)
    if datadir.current_controller() == name:
        datadir.set_current_controller(None)


def unregister(datadir: DataDir, name: str) -> Path:
    """Set a controller's directory aside, whole; return where it is.

    Raises:
        NotFound: There is no such controller.
        AlreadyExists: One of that name was set aside before.
    """
    kept = datadir.set_aside(name)
    if datadir.current_controller() == name:
        datadir.set_current_controller(None)
    return kept


def current(datadir: DataDir, wanted: str | None, environ: Mapping[str, str]) -> str:
    """Return the name of the controller that a command means.

    Raises:
        NotFound: None was made, chosen or found.
    """
    chosen = wanted or environ.get("JUJU_CONTROLLER") or datadir.current_controller()
    if not chosen:
        raise no_controller(datadir)
    datadir.controller(chosen)
    return chosen


def no_controller(datadir: DataDir) -> NotFound:
    """Return the error for a command that needs a current controller and finds none; the text is Juju's."""
    if datadir.controllers():
        return NotFound(
            "No selected controller.",
            detail='Please use "pushjuju switch" to select one of: ' + ", ".join(datadir.controllers()),
        )
    return NotFound(
        "No controllers registered.",
        detail='Please either create a new controller using "pushjuju bootstrap" or deploy a charm: '
        "the first deploy makes a controller by itself.",
    )
