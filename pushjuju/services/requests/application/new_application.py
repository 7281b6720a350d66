"""Records a new application with its charm, settings, storage and units.

Mirrors: juju apiserver/facades/client/application, state/application.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.charms.format.config import Settings
from pushjuju.charms.format.url import CharmURL
from pushjuju.charms.values import wire
from pushjuju.core.base import Base
from pushjuju.core.charmstore import StoreResource
from pushjuju.core.errors import AlreadyExists, NotValid
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import Life, StatusKind, Workload
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.services.entities.application import bindings, resources, units
from pushjuju.services.entities.application.applications import drop_unused_blob
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import relations
from pushjuju.services.entities.storage import storage_instances as storage
from pushjuju.services.entities.storage.storage_pools import Pools, open_pools
from pushjuju.services.supply import charm_updates, origins
from pushjuju.services.supply.origins import StoreOrigin
from pushjuju.store.rows.records import Application, CharmRecord
from pushjuju.store.tx import ModelTx

LOCAL = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApplication:
    """A new application, whose values were checked and typed."""

    application: str
    packed: PackedCharm
    base: Base
    settings: Settings = field(default_factory=dict)  # typed values of the charm's options
    constraints: Mapping[str, Any] = field(default_factory=dict)
    count: int = 1  # the number of units; 0 for a subordinate
    placements: Sequence[Placement] = ()
    trust: bool = False
    resources: Mapping[str, str] = field(default_factory=dict)  # name -> path of the file to upload
    storage: Mapping[str, Directive] = field(default_factory=dict)  # name of the charm's storage -> directive
    attach_storage: Sequence[str] = ()  # existing storage for the unit; possible only with one unit
    # endpoint -> name of its space; "" stands for the default
    bind: Mapping[str, str] = field(default_factory=dict)
    # the store's answer for the charm, or None for a charm from a local path
    origin: StoreOrigin | None = None
    # resources of that store; their content is fetched when a unit first needs it
    store_resources: Sequence[StoreResource] = ()
    url: str = ""  # the URL of a charm that the model already has, or empty to add the charm to the model


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """The result of a deploy."""

    application: str
    charm: str  # the charm's name in its store, which may differ from the name in its metadata
    revision: int
    base: Base
    units: tuple[str, ...]
    # the channel of the store that the application follows; empty for a charm without a store
    channel: str = ""
    terms: tuple[str, ...] = ()


_OTHER_NAME = """deploy application using an alias name:
    pushjuju deploy <application> <alias>
or use remove-application to remove the existing one and try again."""


class _Rehearsed(Exception):
    """Rolls the transaction of a dry run back, after all steps were possible."""


def add(ctx: Context, model: str, request: NewApplication, *, rehearse: bool = False) -> Deployed:
    """Record a new application with its units; after an error, nothing is recorded.

    Args:
        rehearse: True for a dry run: nothing is recorded, but the same errors are raised.
    """
    check(request)
    declared = request.packed.charm.meta.resources
    ctx.controller.blobs.prepare(request.packed.path, request.packed.sha256)
    try:
        with (
            resources.uploads(ctx.controller.blobs, declared, request.resources) as files,
            ctx.change(model) as tx,
        ):
            models.require_alive(tx)
            if tx.find(Application, "application_get", name=request.application):
                raise AlreadyExists(
                    f'cannot add application "{request.application}": application already exists',
                    hint=_OTHER_NAME,
                )
            if tx.row("remote_application_get", name=request.application):
                what = f'cannot add application "{request.application}"'
                raise AlreadyExists(f"{what}: saas application with same name already exists")
            url, revision = charm_of(ctx, tx, request.packed, request.origin, request.url)
            application = record(ctx, tx, request, url, files)
            attach = request.attach_storage
            added = (
                units.add(tx, application, request.count, request.placements, attach) if request.count else []
            )
            if rehearse:
                raise _Rehearsed
    except _Rehearsed:
        drop_unused_blob(ctx, request.packed.sha256)
    except BaseException:
        drop_unused_blob(ctx, request.packed.sha256)
        raise
    origin = request.origin
    return Deployed(
        application=application.name,
        charm=origin.charm.name if origin else request.packed.charm.name,
        revision=revision,
        base=request.base,
        units=tuple(unit.name for unit in added),
        channel=str(origin.channel) if origin else "",
        terms=tuple(request.packed.charm.meta.terms),
    )


def charm_of(
    ctx: Context, tx: ModelTx, packed: PackedCharm, origin: StoreOrigin | None, url: str
) -> tuple[str, int]:
    """Return URL and revision of a charm, after adding the charm to the model when its URL is empty."""
    if not url:
        return add_charm(ctx, tx, packed, origin)
    return url, charms.record(tx, url).revision


def record(
    ctx: Context,
    tx: ModelTx,
    request: NewApplication,
    url: str,
    files: Sequence[resources.Upload],
    pools: Pools | None = None,
) -> Application:
    """Record a new application without units; the model already has its charm.

    Args:
        pools: The storage pools of the model, or None to read them here.
    """
    application = _insert(tx, request, url)
    resources.put(ctx, tx, application, files)
    _take_from_store(ctx, tx, application, request, files)
    _plan_storage(ctx, tx, request, pools)
    return application


def _take_from_store(
    ctx: Context,
    tx: ModelTx,
    application: Application,
    request: NewApplication,
    files: Sequence[resources.Upload],
) -> None:
    """Record the origin of the charm, and the store's resources for which the user gave no file."""
    if request.origin is None:
        return
    origins.put(tx, application, request.origin)
    charm_updates.watch(ctx, tx)
    given = {upload.meta.name for upload in files}
    declared = request.packed.charm.meta.resources
    own = [item for item in request.store_resources if item.name in declared and item.name not in given]
    resources.put_store(tx, application, own)


def _plan_storage(ctx: Context, tx: ModelTx, request: NewApplication, pools: Pools | None = None) -> None:
    """Record the storage directives for the units of the application."""
    charm = request.packed.charm
    if not charm.meta.storage and not request.storage:
        return

    found = pools or open_pools(ctx, tx)
    planned = storage.plan(tx, found, request.application, charm, request.storage)
    storage.put_directives(tx, planned)


def check(request: NewApplication) -> None:
    """Refuse a request whose name or options do not fit the charm.

    Raises:
        NotValid: The messages are Juju's.
    """
    if not is_application(request.application):
        raise NotValid(f'invalid application name "{request.application}"')
    if request.packed.charm.meta.subordinate and request.constraints:
        raise NotValid("cannot use --constraints with subordinate application")
    if request.packed.charm.meta.subordinate and (request.count or request.placements):
        raise NotValid("cannot use --num-units or --to with subordinate application")


def add_charm(
    ctx: Context, tx: ModelTx, packed: PackedCharm, origin: StoreOrigin | None = None, *, series: str = ""
) -> tuple[str, int]:
    """Add a charm to the model; return its URL there and its revision.

    The revision of a local charm is counted up with every upload. A store's charm keeps the store's revision,
    and is added once. The archive is copied inside the transaction, so that no process deletes it as unused
    before the row of the charm names it.
    """
    charm = packed.charm
    if origin is None:
        revision = tx.next(tx.model, f"charm-{LOCAL}:{charm.name}", charm.revision)
        url = str(CharmURL(schema=LOCAL, name=charm.name, revision=revision, series=series))
        source, channel, name = LOCAL, "", charm.name
    else:
        revision, url, name = origin.charm.revision, origin.url, origin.charm.name
        source, channel = origin.charm.source, str(origin.channel)
        if tx.row("charm_by_url", url=url) is not None:
            return url, revision
    blob = ctx.controller.blobs.add(packed.path)
    record = CharmRecord(
        model=tx.model, url=url, name=name, revision=revision, origin=source, channel=channel,
        sha256=blob, size=packed.size, document=wire.to_wire(charm),
    )  # fmt: skip
    tx.insert("charm", record)
    return url, revision


def _insert(tx: ModelTx, request: NewApplication, url: str) -> Application:
    charm = request.packed.charm
    application = Application(
        model=tx.model, name=request.application, charm_url=url, life=Life.ALIVE,
        subordinate=charm.meta.subordinate, base=str(request.base), trust=request.trust,
        constraints=dict(request.constraints), created=tx.now,
    )  # fmt: skip
    tx.insert("application", application)
    charms.put_settings(tx, application.name, url, request.settings)
    statuses.set_status(tx, StatusKind.APPLICATION, application.name, Workload.UNSET)
    bindings.set_first(tx, application, charm, request.bind)
    relations.add_peers(tx, application.name, charm)
    return application
