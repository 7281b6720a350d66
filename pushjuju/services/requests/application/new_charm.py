"""Records another charm or revision for an application. Mirrors: juju application SetCharm (3.6)."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from pushjuju.charms.archive.pack import PackedCharm, pack
from pushjuju.charms.format import config
from pushjuju.charms.format.upgrade import UpgradeFacts, UsedRelation, check_base, check_upgrade
from pushjuju.charms.values.model import Charm, Endpoint, Role, Scope
from pushjuju.core.base import Base
from pushjuju.core.charmstore import StoreResource
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.status import Life
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import applications, bindings, resources, units
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import relations
from pushjuju.services.entities.storage import storage_instances as storage
from pushjuju.services.entities.storage.storage_pools import open_pools
from pushjuju.services.requests.application import new_application
from pushjuju.services.supply import charm_updates, origins
from pushjuju.services.supply.origins import StoreOrigin
from pushjuju.store.rows.records import Application
from pushjuju.store.rows.storage_records import StorageInstance
from pushjuju.store.tx import ModelTx

_NO_SERIES = "None"  # python-libjuju sends this text for a folder without a base
_SERIES = regex(r"[a-z]{1,20}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCharm:
    """Another charm for an application, whose values were checked and typed."""

    application: str
    packed: PackedCharm
    switch: bool = False  # True when the charm may have another name than the present charm
    force_units: bool = False  # True to upgrade units in error too, at once
    force: bool = False  # True to skip the checks whether the new charm fits
    force_base: bool = False
    values: Mapping[str, str] = field(default_factory=dict)  # option -> value as text
    file: bytes | None = None  # the content of a YAML file with options, or None
    trust: bool | None = None
    resources: Mapping[str, str] = field(default_factory=dict)  # name -> path of the file to upload
    # name of the new charm's storage -> directive
    storage: Mapping[str, Directive] = field(default_factory=dict)
    bind: Mapping[str, str] = field(default_factory=dict)  # endpoint -> name of its space
    # the store's answer for the charm, or None for a charm from a local path
    origin: StoreOrigin | None = None
    # resource -> the store's revision for the charm
    store_resources: Mapping[str, StoreResource] = field(default_factory=dict)
    asked_resources: Collection[str] = ()  # names of the resources for which the user named a revision
    # the base of future units, or None for the same base as before. Existing units keep their machines'
    # base.
    base: Base | None = None
    url: str = ""  # the charm's URL when the model knows the charm already, else empty


def put(ctx: Context, model: str, request: NewCharm) -> tuple[int, list[str]]:
    """Record another charm for an application; return the new charm's revision, and warnings.

    Raises:
        NotValid: The new charm does not fit; nothing is changed.
    """
    declared = request.packed.charm.meta.resources
    ctx.controller.blobs.prepare(request.packed.path, request.packed.sha256)
    try:
        with (
            resources.uploads(ctx.controller.blobs, declared, request.resources) as files,
            ctx.change(model) as tx,
        ):
            return record(ctx, tx, request, files)
    except BaseException:
        applications.drop_unused_blob(ctx, request.packed.sha256)
        raise


def record(
    ctx: Context, tx: ModelTx, request: NewCharm, files: Sequence[resources.Upload]
) -> tuple[int, list[str]]:
    """Record another charm for an application inside a transaction, as `put` does."""
    application = applications.get(tx, request.application)
    warnings = _check(tx, application, request)
    of_store = _of_store(request)
    old, charm = applications.current_charm(tx, application), request.packed.charm
    resources.refresh(ctx, tx, application, old, files, charm.meta.resources, of_store)
    changes = resources.taken_from_store(tx, application, of_store, request.asked_resources)
    resources.put_store(tx, application, changes)
    bindings.refresh(tx, application, charm, request.bind, force=request.force)
    url, revision = new_application.charm_of(ctx, tx, request.packed, request.origin, request.url)
    origins.put(tx, application, request.origin)
    if request.origin is not None:
        charm_updates.watch(ctx, tx)
    _switch(ctx, tx, application, request, url)
    _rebase(tx, application, request)
    return revision, warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class Stayed:
    """What a refresh changed in an application that already had the newest revision of its charm."""

    channel: bool = False
    resources: tuple[str, ...] = ()


def stay(ctx: Context, model: str, request: NewCharm) -> Stayed:
    """Apply the other changes of a refresh to an application that already has the charm's revision.

    Raises:
        NotValid: A value does not fit; nothing is changed.
    """
    declared = request.packed.charm.meta.resources
    with (
        resources.uploads(ctx.controller.blobs, declared, request.resources) as files,
        ctx.change(model) as tx,
    ):
        application = applications.get(tx, request.application)
        known = origins.find(tx, request.application)
        _check_asked_base(application, request)
        if known is None or request.origin is None:
            raise NotFound(f'the charm of application "{request.application}" comes from no store')
        of_store = {name: item for name, item in _of_store(request).items() if name not in request.resources}
        changes = resources.taken_from_store(tx, application, of_store, request.asked_resources)
        resources.put_store(tx, application, changes)
        resources.put(ctx, tx, application, files)
        moved = str(request.origin.channel) != known.channel
        if moved:
            origins.follow(tx, known, request.origin.channel)
        _rebase(tx, application, request)
        changed = tuple(sorted({*(item.name for item in changes), *(item.meta.name for item in files)}))
        if changed:
            tx.run("resource_modified", application=application.name)
        asked, trusted = _asked(tx, request)
        charms.put_settings(tx, application.name, application.charm_url, asked)
        if request.force_units:
            tx.run("application_force_charm", name=application.name)
        if changed or asked or trusted or request.force_units:
            wake.application(tx, application.name, "refresh")
    return Stayed(channel=moved, resources=changed)


def _of_store(request: NewCharm) -> dict[str, StoreResource]:
    """Return the store's resources for which the user gives no file."""
    declared = request.packed.charm.meta.resources
    return {
        name: item
        for name, item in request.store_resources.items()
        if name in declared and name not in request.resources
    }


def _check(tx: ModelTx, application: Application, request: NewCharm) -> list[str]:
    old, new = applications.current_charm(tx, application), request.packed.charm
    facts = UpgradeFacts(
        application=application.name,
        url=request.origin.url if request.origin else f"{new_application.LOCAL}:{new.name}",
        base=Base.parse(application.base),
        relations=tuple(_used(tx, application)),
        storage_counts=_stores(tx, application, old),
        config=request.values,
        switch=request.switch,
        force=request.force,
        force_base=request.force_base,
    )
    _check_asked_base(application, request)
    return check_upgrade(old, new, facts)


def _check_asked_base(application: Application, request: NewCharm) -> None:
    """Check the base that the user asked for; the base of existing units is checked elsewhere."""
    if request.base is not None:
        facts = UpgradeFacts(
            application=application.name, url="", base=request.base, force_base=request.force_base
        )
        check_base(request.packed.charm, facts)


def _rebase(tx: ModelTx, application: Application, request: NewCharm) -> None:
    """Set the base of future units, when the user asked for a base."""
    if request.base is not None:
        tx.run("application_set_base", name=application.name, base=str(request.base))


def _stores(tx: ModelTx, application: Application, old: Charm) -> Mapping[str, int]:
    """Return storage name -> number of instances; a charm without storage costs no query."""
    if not old.meta.storage:
        return {}
    found = tx.list(
        StorageInstance, "storage_instance_of_application",
        application=application.name
    )  # fmt: skip
    return Counter(item.name for item in found)


def _used(tx: ModelTx, application: Application) -> Iterator[UsedRelation]:
    for relation in relations.of_application(tx, application.name):
        side = relations.own_endpoint(relations.endpoints(tx, relation.id), application.name)
        endpoint = Endpoint(
            name=side.endpoint,
            role=Role(side.role),
            interface=side.interface,
            limit=side.capacity,
            scope=Scope(relation.scope),
        )
        yield UsedRelation(key=relation.key, endpoint=endpoint)


def _switch(ctx: Context, tx: ModelTx, application: Application, request: NewCharm, url: str) -> None:
    name, charm = application.name, request.packed.charm
    old = charms.stored_settings(tx, name, application.charm_url)
    settings: config.Settings = {**config.filter_settings(charm.config, old), **_asked(tx, request)[0]}
    charms.put_settings(tx, name, url, settings)
    tx.run("application_set_charm", name=name, charm_url=url, force=request.force_units)
    relations.add_peers(tx, name, charm)
    _equip(ctx, tx, application, request)
    wake.application(tx, name, "refresh")


def _equip(ctx: Context, tx: ModelTx, application: Application, request: NewCharm) -> None:
    """Record the directives of the new charm's storage, and add the instances that units lack.

    A directive replaces the directive for future units; the storage of existing units stays.

    Mirrors: juju state/application.go newCharmStorageOps (3.6)
    """
    charm = request.packed.charm
    if not charm.meta.storage and not request.storage:
        return

    known = {item.name for item in storage.directives(tx, application.name)}
    pools = open_pools(ctx, tx)
    planned = storage.plan(tx, pools, application.name, charm, request.storage)
    kept = known - request.storage.keys()
    storage.put_directives(tx, (item for item in planned if item.name not in kept))
    for unit in units.of_application(tx, application.name):
        if unit.life == Life.ALIVE:
            storage.equip_least(tx, unit, charm)


def _asked(tx: ModelTx, request: NewCharm) -> tuple[config.Settings, bool]:
    """Record the trust that the user asked for; return the new settings, and whether trust was named."""
    known = config.with_trust(request.packed.charm.config)
    try:
        found: config.Settings = {}
        if request.file is not None:
            found.update(config.parse_settings_yaml(known, request.file, request.application))
        found.update(config.parse_settings(known, request.values))
    except NotValid as error:
        raise NotValid(f"validating config settings: {error.message}", detail=error.detail) from error
    named = found.pop(config.TRUST, None)
    trust = named if request.trust is None else request.trust
    if trust is not None:
        tx.run("application_set_trust", name=request.application, trust=bool(trust))
    return found, trust is not None


def upload_charm(ctx: Context, model: str, archive: Path, *, series: str = "") -> str:
    """Add the charm of an archive to the model before any application uses it; return the charm's URL there.

    Mirrors: juju apiserver/charms.go (3.6)

    Args:
        series: The series that the URL names, `local:jammy/web-0`; the charm's bases do not depend on it.
    """
    if series == _NO_SERIES:
        series = ""
    if series and not _SERIES.fullmatch(series):
        raise NotValid(f"series {quote(series)} not valid")
    if not archive.is_file():
        raise NotValid("the charm is not an archive")
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        packed = pack(archive, Path(folder) / "charm", origin="", needs_hooks=False)
        ctx.controller.blobs.prepare(packed.path, packed.sha256)
        with ctx.change(model) as tx:
            models.require_alive(tx)
            return new_application.add_charm(ctx, tx, packed, series=series)[0]
