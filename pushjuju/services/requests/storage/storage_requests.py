"""The requests about storage: add, attach, detach, remove, import, pools, and directives of applications.

Mirrors: juju apiserver/facades/client/storage (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pushjuju.charms.values.model import Charm
from pushjuju.core.errors import AlreadyExists, Conflict, NotFound, NotValid, PushjujuError
from pushjuju.core.problems import Subject
from pushjuju.core.status import Life
from pushjuju.core.storage import Directive, Kind, Scope, StorageStatus, is_storage
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.storage_types import StorageMade
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import models
from pushjuju.services.entities.storage import storage_instances, storage_pools
from pushjuju.services.entities.storage.storage_pools import Pools, open_pools
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Application, Unit
from pushjuju.store.rows.storage_records import Backing, StorageDirective, StorageInstance, StoragePool
from pushjuju.store.tx import ModelTx

if TYPE_CHECKING:
    from pushjuju.plugins.api.storage_types import StorageType


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result for one item of a request about storage; `error` is None when the item was done."""

    subject: str  # the id of the storage, or the name of the charm's storage for new storage
    error: PushjujuError | None = None
    made: tuple[str, ...] = ()
    units: tuple[str, ...] = ()  # the units that have work to do now


def _each(
    ctx: Context, model: str, subjects: Iterable[str], do: Callable[[ModelTx, str], Answer]
) -> list[Answer]:
    """Handle each item in its own transaction; an error undoes only its own item."""
    answers = []
    for subject in subjects:
        try:
            with ctx.change(model) as tx:
                answers.append(do(tx, subject))
        except (NotFound, NotValid, Conflict) as error:
            answers.append(Answer(subject=subject, error=error))
    return answers


def _instance(tx: ModelTx, subject: str) -> StorageInstance:
    if not is_storage(subject):
        raise NotValid(f'storage ID "{subject}" not valid')
    return storage_instances.get(tx, subject)


def unit_charm(tx: ModelTx, unit: Unit) -> Charm:
    """Return the charm of a unit's application, which decides what storage the unit may have."""
    application = applications.get(tx, unit.application)
    return charms.get(tx, application.charm_url)


def add(ctx: Context, model: str, unit_name: str, asked: Mapping[str, Directive]) -> list[Answer]:
    """Add storage to a unit."""
    with ctx.read(model) as tx:
        models.require_alive(tx)

    def do(tx: ModelTx, name: str) -> Answer:
        unit = units.get(tx, unit_name)
        made = _add(ctx, tx, unit, name, asked[name])
        return Answer(subject=name, made=tuple(made), units=(unit_name,))

    return _each(ctx, model, asked, do)


def _add(ctx: Context, tx: ModelTx, unit: Unit, name: str, asked: Directive) -> list[str]:
    if unit.life != Life.ALIVE:
        raise NotValid(f"unit {unit.name} is not alive")
    charm = unit_charm(tx, unit)
    store = charm.meta.storage.get(name)
    if store is None:
        raise NotFound(f'charm storage "{name}" not found', subject=Subject("storage", name))
    given = tx.find(
        StorageDirective, "storage_directive_get",
        application=unit.application, name=name
    )  # fmt: skip
    if given is None or asked.pool or asked.size:
        given = _directive(open_pools(ctx, tx), tx, unit, charm, name, asked, given)
    storage_instances.check_more(tx, unit, store, asked.count)
    return storage_instances.add(tx, unit, store, given, asked.count)


def _directive(
    pools: Pools,
    tx: ModelTx,
    unit: Unit,
    charm: Charm,
    name: str,
    asked: Directive,
    given: StorageDirective | None,
) -> StorageDirective:
    """Return the directive of the user, completed from the directive of the application."""
    wanted = Directive(
        pool=asked.pool or (given.pool if given else ""),
        size=asked.size or (given.size if given else 0),
        count=max(charm.meta.storage[name].count_min, 1),
    )
    planned = storage_instances.plan(tx, pools, unit.application, charm, {name: wanted})
    return next(item for item in planned if item.name == name)


def attach(ctx: Context, model: str, unit_name: str, ids: Iterable[str]) -> list[Answer]:
    """Attach storage without an owner to a unit; storage of the unit itself stays as it is."""

    def do(tx: ModelTx, subject: str) -> Answer:
        _instance(tx, subject)
        unit = units.get(tx, unit_name)
        storage_instances.attach_one(tx, unit, unit_charm(tx, unit), subject)
        return Answer(subject=subject, units=(unit_name,))

    answers = _each(ctx, model, ids, do)
    for answer in answers:
        if answer.error:
            begin = f"cannot attach storage {answer.subject} to unit {unit_name}"
            answer.error.message = f"{begin}: {answer.error.message}"
    return answers


def detach(
    ctx: Context, model: str, ids: Iterable[str], *, owner: str = "", force: bool = False
) -> list[Answer]:
    """Detach storage from its units, or only from `owner`; with `force`, without running the charm's hook."""

    def do(tx: ModelTx, subject: str) -> Answer:
        instance = _instance(tx, subject)
        rows = storage_instances.attachments(tx, instance)
        owners = [units.get(tx, row.unit) for row in rows]
        if owner and owner not in {unit.name for unit in owners}:
            raise NotFound(f"storage {subject} is not attached to unit {owner}")
        known = {unit.application: unit_charm(tx, unit) for unit in owners}
        storage_instances.detach(tx, known, instance)
        if force:
            for unit in owners:
                storage_instances.leave(tx, unit, subject)
        return Answer(subject=subject, units=tuple(unit.name for unit in owners))

    return _each(ctx, model, ids, do)


def remove(
    ctx: Context, model: str, ids: Iterable[str], *, force: bool = False, destroy: bool = True
) -> list[Answer]:
    """Remove storage; its data is destroyed, or with `destroy` False released."""

    def do(tx: ModelTx, subject: str) -> Answer:
        instance = _instance(tx, subject)
        rows = storage_instances.attachments(tx, instance)
        storage_instances.remove(tx, instance, force=force, destroy=destroy)
        if force:
            removal.force_storage_later(tx, subject, removal.Force())
        return Answer(subject=subject, units=tuple(row.unit for row in rows))

    return _each(ctx, model, ids, do)


def check_import(ctx: Context, model: str, pool: str) -> tuple[str, Kind]:
    """Return the storage provider of a pool, and the kind of storage that the cloud is searched for.

    Raises:
        NotFound: The pool does not exist.
        NotValid: The pool's provider does not support imports.
    """
    with ctx.read(model) as tx:
        models.require_alive(tx)
        found = open_pools(ctx, tx).get(pool)
    if not found.type.releasable:
        raise NotValid(f'importing filesystem with storage provider "{found.type.name}" not supported')
    return found.type.name, Kind.FILESYSTEM if Kind.FILESYSTEM in found.type.kinds else Kind.BLOCK


def record_import(ctx: Context, model: str, pool: str, name: str, made: StorageMade) -> str:
    """Record an imported filesystem, with the volume that it may be on; return the id of its storage."""
    now = ctx.clock.now()
    with ctx.change(model) as tx:
        models.require_alive(tx)
        present = tx.list(Backing, "backing_list")
        found = open_pools(ctx, tx).get(pool)
        for backing in present:
            if (backing.provider, backing.provider_id) == (found.type.name, made.provider_id):
                raise Conflict(f"{made.provider_id} is storage {backing.storage} of this model already")
        managed = Kind.FILESYSTEM not in found.type.kinds
        instance = StorageInstance(
            model=model, id=f"{name}/{tx.next(model, 'storage')}", name=name, kind=Kind.FILESYSTEM,
            pool=pool, size=made.size, provider=found.type.name, scope=Scope.MODEL, releasable=True,
            managed=managed, life=Life.ALIVE, created=now,
        )  # fmt: skip
        tx.insert("storage_instance", instance)
        below = _imported(tx, instance, storage_instances.VOLUME, found.attributes, made) if managed else ""
        _imported(tx, instance, storage_instances.FILESYSTEM, found.attributes, made, volume=below)
    return instance.id


def _imported(
    tx: ModelTx,
    instance: StorageInstance,
    kind: str,
    attributes: Mapping[str, Any],
    made: StorageMade,
    volume: str = "",
) -> str:
    """Record a volume or filesystem of imported storage; return its id."""
    backing = Backing(
        model=instance.model, kind=kind, id=str(tx.next(instance.model, kind)), storage=instance.id,
        volume=volume, pool=instance.pool, provider=instance.provider,
        attributes={**attributes, **({storage_instances.IMPORTED: "true"} if volume else {})}, size=made.size,
        provider_id="" if volume else made.provider_id, hardware_id=made.hardware_id, wwn=made.wwn,
        life=Life.ALIVE, begun=True,
    )  # fmt: skip
    tx.insert("backing", backing)
    storage_instances.set_status(tx, backing, StorageStatus.DETACHED)
    return backing.id


def application_directives(ctx: Context, model: str, name: str) -> dict[str, StorageDirective]:
    """Return name -> storage directive of an application, for its future units.

    Raises:
        NotFound: The application does not exist.
    """
    with ctx.read(model) as tx:
        applications.get(tx, name)
        return {item.name: item for item in storage_instances.directives(tx, name)}


def set_application_directives(ctx: Context, model: str, name: str, asked: Mapping[str, Directive]) -> None:
    """Change storage directives of an application, for its future units."""
    with ctx.change(model) as tx:
        put_application_directives(ctx, tx, applications.get(tx, name), asked)


def put_application_directives(
    ctx: Context, tx: ModelTx, application: Application, asked: Mapping[str, Directive]
) -> None:
    """Change storage directives inside a transaction, as `set_application_directives` does."""
    name = application.name
    charm = charms.get(tx, application.charm_url)
    known = {item.name: item for item in storage_instances.directives(tx, name)}
    wanted = {
        key: replace(
            item,
            pool=item.pool or known[key].pool,
            size=item.size or known[key].size,
            count=item.count or known[key].count,
        )
        if key in known
        else item
        for key, item in asked.items()
    }
    planned = storage_instances.plan(tx, open_pools(ctx, tx), name, charm, wanted)
    storage_instances.put_directives(tx, (item for item in planned if item.name in asked))


def create_pool(ctx: Context, model: str, name: str, provider: str, attributes: Mapping[str, str]) -> None:
    storage_pools.require_name(name)
    with ctx.change(model) as tx:
        models.require_alive(tx)
        pools = storage_pools.open_pools(ctx, tx)
        typed = _typed(pools.type_of(provider), attributes)
        if name in pools.names():
            raise AlreadyExists(f'storage pool "{name}" already exists')
        tx.insert("storage_pool", StoragePool(model=model, name=name, provider=provider, attributes=typed))


def update_pool(
    ctx: Context, model: str, name: str, attributes: Mapping[str, str], provider: str = ""
) -> None:
    """Replace the attributes of a pool, and its provider when one is named."""
    with ctx.change(model) as tx:
        found = _made(tx, name)
        pools = storage_pools.open_pools(ctx, tx)
        wanted = pools.type_of(provider or found.provider)
        if wanted.name != found.provider and tx.scalar("storage_pool_uses", pool=name):
            raise Conflict(f'storage pool "{name}" in use')
        typed = StoragePool(
            model=model, name=name, provider=wanted.name, attributes=_typed(wanted, attributes)
        )
        tx.run("storage_pool_delete", name=name)
        tx.insert("storage_pool", typed)


def remove_pool(ctx: Context, model: str, name: str) -> None:
    """Remove a pool that no storage uses."""
    with ctx.change(model) as tx:
        _made(tx, name)
        if tx.scalar("storage_pool_uses", pool=name):
            raise Conflict(f'storage pool "{name}" in use')
        tx.run("storage_pool_delete", name=name)


def _made(tx: ModelTx, name: str) -> StoragePool:
    return tx.get(StoragePool, "storage_pool_get", Subject("pool", name), name=name)


def _typed(item: StorageType, attributes: Mapping[str, str]) -> dict[str, object]:
    """Check the attributes that a provider declares; other attributes are stored unchecked, as in Juju."""
    found: dict[str, object] = dict(attributes)
    for attribute in item.attributes:
        value = found.get(attribute.name)
        if value is None:
            if attribute.required:
                raise NotValid(f'storage provider "{item.name}" needs the attribute "{attribute.name}"')
        elif attribute.choices and value not in attribute.choices:
            raise NotValid(f'{attribute.name}: expected one of {", ".join(attribute.choices)}, got "{value}"')
    return found
