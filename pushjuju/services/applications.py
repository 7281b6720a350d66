"""Applications: deploying and what may be changed of them. Layer: services.

Mirrors: juju apiserver/facades/client/application, state/application.go (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pushjuju.charms import wire
from pushjuju.charms.config import TRUST, Settings, config_document, parse_settings, parse_settings_yaml
from pushjuju.charms.goform import typed
from pushjuju.charms.model import Charm
from pushjuju.charms.pack import PackedCharm
from pushjuju.core.base import Base
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import AlreadyExists, NotFound, NotValid
from pushjuju.core.life import Life
from pushjuju.core.names import is_application
from pushjuju.core.near import did_you_mean
from pushjuju.core.placement import Placement
from pushjuju.core.status import StatusKind, Workload
from pushjuju.core.storage import Directive
from pushjuju.portable.quote import bool_of
from pushjuju.services import (
    bindings,
    charms,
    models,
    relations,
    resources,
    statuses,
    storage,
    touch,
    units,
)
from pushjuju.services.context import Context
from pushjuju.state.records import Application, CharmRecord
from pushjuju.state.store import Tx

if TYPE_CHECKING:
    from pushjuju.core.charmstore import StoreResource
    from pushjuju.services.storage_pools import Pools
    from pushjuju.services.store_charms import StoreOrigin

LOCAL = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployRequest:
    """What `deploy` asks for, checked and typed.

    Attributes:
        settings: Typed values of the charm's options.
        resources: Name -> file to upload.
        bind: Endpoint -> name of its space; the default has an empty endpoint.
        count: Number of units; 0 for a subordinate.
        storage: Store of the charm -> what is asked for.
        attach_storage: Storage that the one unit gets.
        origin: The store that the charm comes from; None: a person gave it.
        store_resources: Resources whose content is in that store; it is fetched when a unit wants it.
        url: Under which the model knows the charm already; empty: it is taken in.
    """

    application: str
    packed: PackedCharm
    base: Base
    settings: Settings = field(default_factory=dict)
    constraints: Mapping[str, Any] = field(default_factory=dict)
    count: int = 1
    placements: Sequence[Placement] = ()
    trust: bool = False
    resources: Mapping[str, str] = field(default_factory=dict)
    storage: Mapping[str, Directive] = field(default_factory=dict)
    attach_storage: Sequence[str] = ()
    bind: Mapping[str, str] = field(default_factory=dict)
    origin: StoreOrigin | None = None
    store_resources: Sequence[StoreResource] = ()
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """What came of a deploy."""

    application: str
    charm: str
    revision: int
    base: Base
    units: tuple[str, ...]


def get(tx: Tx, model: str, name: str) -> Application:
    """Return an application.

    Raises:
        NotFound: There is none of that name.
    """
    return tx.get(Application, "application_get", f'application "{name}" not found', model=model, name=name)


# --- deploy -----------------------------------------------------------------------------------------------


_OTHER_NAME = """deploy application using an alias name:
    pushjuju deploy <application> <alias>
or use remove-application to remove the existing one and try again."""


class _Rehearsed(Exception):
    """All of it is possible, and none of it is to be kept."""


def deploy(ctx: Context, model: str, request: DeployRequest, *, rehearse: bool = False) -> Deployed:
    """Deploy a charm as a new application; all of it or, after a refusal, nothing.

    Args:
        rehearse: Nothing is kept in any case; what would be refused is.

    Raises:
        NotValid: A name, placement or number that makes no sense.
        AlreadyExists: The application is there already.
        NotFound: A machine to place on is not there.
    """
    check(request)
    now = ctx.clock.now()
    declared = request.packed.charm.meta.resources
    try:
        with (
            resources.uploads(ctx.controller.blobs, declared, request.resources) as files,
            ctx.store.write() as tx,
        ):
            models.require_alive(tx, model)
            if tx.find(Application, "application_get", model=model, name=request.application):
                raise AlreadyExists(
                    f'cannot add application "{request.application}": application already exists',
                    hint=_OTHER_NAME,
                )
            if tx.row("remote_application_get", model=model, name=request.application):
                what = f'cannot add application "{request.application}"'
                raise AlreadyExists(f"{what}: saas application with same name already exists")
            url, revision = _charm_of(ctx, tx, model, request)
            application = record(ctx, tx, model, request, url, files)
            attach = request.attach_storage
            added = (
                units.add(tx, application, request.count, request.placements, now, attach)
                if request.count
                else []
            )
            if rehearse:
                raise _Rehearsed
    except _Rehearsed:
        drop_unused_blob(ctx, request.packed.sha256)
    except BaseException:
        drop_unused_blob(ctx, request.packed.sha256)
        raise
    return Deployed(
        application=application.name,
        charm=request.packed.charm.name,
        revision=revision,
        base=request.base,
        units=tuple(unit.name for unit in added),
    )


def _charm_of(ctx: Context, tx: Tx, model: str, request: DeployRequest) -> tuple[str, int]:
    """Return URL and revision of the charm; one that the model does not know yet is taken in.

    Raises:
        NotFound: It was to be known, and is not.
    """
    if not request.url:
        return add_charm(ctx, tx, model, request.packed, request.origin)
    return request.url, charms.record(tx, model, request.url).revision


def record(
    ctx: Context,
    tx: Tx,
    model: str,
    request: DeployRequest,
    url: str,
    files: Sequence[resources.Upload],
    pools: Pools | None = None,
) -> Application:
    """Record a new application without units, of a charm that the model knows.

    Args:
        pools: Those of the model, where many applications are recorded at once.

    Raises:
        NotValid, NotFound: As `deploy`.
    """
    application = _insert(tx, model, request, url, ctx.clock.now())
    resources.put(ctx, tx, application, files)
    _take_from_store(ctx, tx, application, request, files)
    _plan_storage(ctx, tx, model, request, pools)
    return application


def _take_from_store(
    ctx: Context,
    tx: Tx,
    application: Application,
    request: DeployRequest,
    files: Sequence[resources.Upload],
) -> None:
    """Keep where the charm comes from, and what the store has of its resources; a person's file wins."""
    if request.origin is None:
        return
    from pushjuju.services import charm_updates, origins

    origins.put(tx, application, request.origin)
    charm_updates.watch(ctx, tx, application.model)
    given = {upload.meta.name for upload in files}
    declared = request.packed.charm.meta.resources
    own = [item for item in request.store_resources if item.name in declared and item.name not in given]
    resources.put_store(tx, application, own)


def _plan_storage(
    ctx: Context, tx: Tx, model: str, request: DeployRequest, pools: Pools | None = None
) -> None:
    """Keep what storage units get.

    Raises:
        NotValid: A directive that breaks a rule, or storage for a charm that has none.
        NotFound: No such pool.
    """
    charm = request.packed.charm
    if not charm.meta.storage and not request.storage:
        return
    from pushjuju.services.storage_pools import open_pools

    found = pools or open_pools(ctx, tx, model)
    planned = storage.plan(tx, found, model, request.application, charm, request.storage)
    storage.put_directives(tx, planned)


def check(request: DeployRequest) -> None:
    """Refuse a request that no application can have.

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
    ctx: Context, tx: Tx, model: str, packed: PackedCharm, origin: StoreOrigin | None = None
) -> tuple[str, int]:
    """Make a model know a charm; return its URL there and its revision.

    The number of a local charm grows with every upload and is never used again; a store's charm keeps the
    store's, and is known once. The archive is copied inside the transaction, so that nobody can take it for
    unused before the charm's row names it.
    """
    charm = packed.charm
    if origin is None:
        revision = tx.next(model, f"charm-{LOCAL}:{charm.name}", charm.revision)
        url, source, channel, name = f"{LOCAL}:{charm.name}-{revision}", LOCAL, "", charm.name
    else:
        revision, url, name = origin.charm.revision, origin.url, origin.charm.name
        source, channel = origin.charm.source, str(origin.channel)
        if tx.row("charm_by_url", model=model, url=url) is not None:
            return url, revision
    blob = ctx.controller.blobs.add(packed.path)
    record = CharmRecord(
        model=model, url=url, name=name, revision=revision, origin=source, channel=channel,
        sha256=blob, size=packed.size, document=wire.to_wire(charm),
    )  # fmt: skip
    tx.insert("charm", record)
    return url, revision


def _insert(tx: Tx, model: str, request: DeployRequest, url: str, now: datetime) -> Application:
    charm = request.packed.charm
    application = Application(
        model=model, name=request.application, charm_url=url, life=Life.ALIVE,
        subordinate=int(charm.meta.subordinate), base=str(request.base), trust=int(request.trust),
        constraints=dict(request.constraints), created=to_iso(now),
    )  # fmt: skip
    tx.insert("application", application)
    charms.put_settings(tx, model, application.name, url, request.settings)
    statuses.set_status(tx, model, StatusKind.APPLICATION, application.name, Workload.UNSET, now=now)
    bindings.set_first(tx, application, charm, request.bind)
    relations.add_peers(tx, model, application.name, charm, now)
    return application


def drop_unused_blob(ctx: Context, blob: str) -> None:
    """Delete an archive that no charm or resource of any model uses."""
    with ctx.store.write() as tx:
        if not tx.scalar("blob_uses", sha256=blob):
            ctx.controller.blobs.delete(blob)


# --- settings ---------------------------------------------------------------------------------------------


def current_charm(tx: Tx, application: Application) -> Charm:
    """Return the charm that an application is on."""
    return charms.get(tx, application.model, application.charm_url)


def config(ctx: Context, model: str, name: str) -> dict[str, Any]:
    """Return the document of `juju config APP`.

    Raises:
        NotFound: No such application.
    """
    with ctx.store.read() as tx:
        application = get(tx, model, name)
        charm = current_charm(tx, application)
        settings = charms.stored_settings(tx, model, name, application.charm_url)
        return config_document(
            name, charm.name, options=charm.config, settings=settings, trust=bool(application.trust)
        )


def set_config(
    ctx: Context,
    model: str,
    name: str,
    *,
    values: Mapping[str, str] | None = None,
    file: bytes | None = None,
    reset: Iterable[str] = (),
) -> None:
    """Change an application's settings: file first, then reset, then values.

    Raises:
        NotFound: No such application.
        NotValid: Unknown option or a value that does not fit; nothing is changed.
    """
    with ctx.store.write() as tx:
        application = get(tx, model, name)
        charm = current_charm(tx, application)
        changes: Settings = {}
        try:
            changes.update(parse_settings_yaml(charm.config, file, name) if file is not None else {})
            changes.update(dict.fromkeys(_known(charm, reset)))
            changes.update(_parse_values(charm, values or {}))
        except NotValid as error:
            text = f"parsing settings for application: {error.message}"
            raise NotValid(text, detail=error.detail, hint=error.hint) from error
        trust = _trust_change(values or {}, reset)
        charms.put_settings(tx, model, name, application.charm_url, changes)
        if trust is not None:
            tx.run("application_set_trust", model=model, name=name, trust=int(trust))
        touch.application(tx, model, name, ctx.clock.now(), "config changed")


def _known(charm: Charm, names: Iterable[str]) -> list[str]:
    found = [name for name in names if name != TRUST]
    for name in found:
        if name not in charm.config:
            raise NotValid(f'unknown option "{name}"', hint=did_you_mean(name, charm.config))
    return found


def _parse_values(charm: Charm, values: Mapping[str, str]) -> Settings:
    own = {key: value for key, value in values.items() if key != TRUST or key in charm.config}
    return parse_settings(charm.config, own)


def _trust_change(values: Mapping[str, str], reset: Iterable[str]) -> bool | None:
    if TRUST in values:
        trust = bool_of(values[TRUST])
        if trust is None:
            raise NotValid(f"{TRUST}: expected bool, got {typed(values[TRUST])}")
        return trust
    return False if TRUST in reset else None


def set_trust(ctx: Context, model: str, name: str, *, trusted: bool) -> None:
    """Give an application access to the cloud's credentials, or take it.

    Raises:
        NotFound: No such application.
    """
    with ctx.store.write() as tx:
        get(tx, model, name)
        tx.run("application_set_trust", model=model, name=name, trust=int(trusted))
        touch.application(tx, model, name, ctx.clock.now(), "trust changed")


def set_constraints(ctx: Context, model: str, name: str, values: Mapping[str, Any]) -> None:
    """Replace the constraints of an application; units that are there stay where they are.

    Raises:
        NotFound: No such application.
        NotValid: It is a subordinate, which has no machines of its own.
    """
    with ctx.store.write() as tx:
        found = require_alive(tx, model, name)
        if found.subordinate:
            raise NotValid(f'application "{name}" is a subordinate: it goes where its principal is')
        tx.run("application_set_constraints", model=model, name=name, constraints=json.dumps(dict(values)))


def set_base(ctx: Context, model: str, name: str, base: Base) -> str:
    """Give the future units of an application another base; return the one before.

    Raises:
        NotFound: No such application.
        NotValid: It is a subordinate, or its charm does not name the base; the message is Juju's.

    Mirrors: juju state/application.go UpdateApplicationBase (3.6)
    """
    with ctx.store.write() as tx:
        found = require_alive(tx, model, name)
        if found.subordinate:
            raise NotValid(f'application "{name}" is a subordinate, update-series not supported')
        bases = current_charm(tx, found).bases()
        if bases and not any(base.matches(item) for item in bases):
            named = ", ".join(item.display for item in bases)
            raise NotValid(f'base "{base.display}" not supported by charm, supported bases are: {named}')
        tx.run("application_set_base", model=model, name=name, base=str(base))
        return found.base


def require_alive(tx: Tx, model: str, name: str) -> Application:
    """Return an application that may still change.

    Raises:
        NotFound: There is none of that name.
        NotValid: It is going away.
    """
    found = get(tx, model, name)
    if found.life == Life.DEAD:
        raise NotFound(f'application "{name}" not found')
    return found
