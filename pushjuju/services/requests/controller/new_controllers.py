"""Makes controllers: the directory, the store, and the controller's own model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pushjuju import JUJU_VERSION
from pushjuju.core.clock import to_iso
from pushjuju.core.clouds import DEFAULT_REGION, Cloud
from pushjuju.core.errors import NotValid, StoreDamaged, StoreError
from pushjuju.core.ids import digest, new_uuid
from pushjuju.core.names import is_controller
from pushjuju.core.values import dataclass
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.audit import Caller, Noting, noted
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import models
from pushjuju.store import databases
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.db import Store
from pushjuju.store.files.private import explained
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A database of PostgreSQL for the store of a new controller."""

    url: str  # its address, without a password
    insecure: bool = False  # allow a connection over the network without TLS


def bootstrap(
    datadir: DataDir,
    cloud: str,
    name: str | None = None,
    *,
    now: datetime,
    config: Mapping[str, Any] | None = None,
    host: PluginHost | None = None,
    credential: str = "",
    database: Database | None = None,
    begin: Callable[[str], None] | None = None,
    caller: Caller | None = None,
) -> ControllerDir:
    """Make a controller for a cloud; the controller needs no machine.

    Args:
        cloud: `cloud[/region]`.
        name: The controller's name; None for `cloud-region`, or `cloud` in the region "default".
        host: Plugins, to find their public clouds, or None.
        credential: The default credential of the controller's models; empty for the cloud's default.
        database: Where the store is; None for a file in the directory.
        begin: Called with the controller's name just before it is made.
        caller: Who asks, for the first line of the audit log; None for the command bootstrap.
    """
    cloud_name, asked = clouds.split(cloud)
    places = clouds.folders(datadir)
    found = clouds.definition(places, cloud_name, host)
    region = clouds.choose_region(places, found, asked)
    chosen_credential = clouds.choose_credential(places, cloud_name, credential)
    chosen = name or (cloud_name if region == DEFAULT_REGION else f"{cloud_name}-{region}")
    if not is_controller(chosen):
        raise NotValid(f'"{chosen}" is not a valid controller name')
    if database is not None and not database.insecure:
        databases.require_safe(database.url)
    uuid = new_uuid()

    def prepare(made: ControllerDir) -> None:
        with _shared_blobs((config or {}).get("blobs"), uuid):
            _prepare(
                made,
                made.store_path if database is None else database.url,
                places,
                found,
                models.controller_model(found, region, chosen_credential, now),
                caller or Caller(door="command", command="bootstrap"),
            )

    return datadir.create_controller(
        chosen,
        {
            "uuid": uuid,
            "cloud": cloud_name,
            "region": region,
            "created": to_iso(now),
            "agent-version": JUJU_VERSION,
            **({"credential": chosen_credential} if chosen_credential else {}),
            **({"config": dict(config)} if config else {}),
            **({"store": database.url} if database is not None else {}),
        },
        prepare=prepare,
        begin=begin,
    )


def _taken(made: ControllerDir, place: Path | str) -> StoreError:
    """Return the error for a place where another controller's store is."""
    if isinstance(place, str):
        text = f"the database {databases.shown(place)} has the store of a controller already"
        return StoreError(text, hint="createdb makes another database for this controller")
    return StoreDamaged(
        f"{made.root} has a store, but no controller.toml",
        hint=f"pushjuju restore-backup FILE    restores it from a copy; or move it away: {made.root}",
    )


@contextmanager
def _shared_blobs(place: object, uuid: str) -> Iterator[None]:
    """Make the directory of a controller in the one that all hosts mount; undo it when the block fails."""
    if not place:
        yield
        return
    mounted = Path(str(place).removeprefix("file://"))
    if not mounted.is_dir():
        raise StoreError(f"the directory {mounted} is missing", hint=f"mount it, or: mkdir -p {mounted}")
    with explained(mounted):
        (mounted / uuid).mkdir(mode=0o700)
    try:
        yield
    except BaseException:
        (mounted / uuid).rmdir()
        raise


def _prepare(
    made: ControllerDir, place: Path | str, places: clouds.Folders, cloud: Cloud, model: Model, caller: Caller
) -> None:
    """Create the store with the controller's own model, or complete the store of an interrupted bootstrap."""
    if isinstance(place, str):  # known again after an interruption: the directory keeps its key
        model = replace(model, uuid=str(UUID(digest(made.public_key.read_text())[:32])))
    now = model.created
    by = Noting(user=model.owner, caller=caller, now=now)
    with closing(Store.open(place, create=True)) as store, store.write() as plain, noted(plain, by) as tx:
        found = tx.list(Model, "model_list")
        ours = {model.uuid} if isinstance(place, str) else {item.uuid for item in found}
        if not all(models.is_controller(item) and item.uuid in ours for item in found):
            raise _taken(made, place)
        for item in found:
            models.delete(ModelTx(tx, item.uuid, now))
        models.insert(ModelTx(tx, model.uuid, now), model, now=now)
    clouds.keep_public(made, places, cloud)
