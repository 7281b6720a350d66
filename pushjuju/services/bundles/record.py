"""Records the plan for a bundle: all steps in one transaction, or none of them.

Machines are recorded first, in the order of the numbers that the plan shows, so that each machine gets the
number that the user read in the plan. Mirrors: juju cmd/juju/application/deployer/bundlehandler.go (3.6)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.charms.format.config import validate_settings
from pushjuju.core import constraints as rules
from pushjuju.core.base import Base
from pushjuju.core.charmstore import StoreResource
from pushjuju.core.errors import AlreadyExists, NotValid, PushjujuError
from pushjuju.core.firewall import ALL_ENDPOINTS, EVERYWHERE, Exposure
from pushjuju.core.model import offerurl
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass
from pushjuju.portable.jsontext import compact
from pushjuju.portable.natural import natural_key
from pushjuju.services.bundles import pruning
from pushjuju.services.bundles.plan.changes import Change, Method
from pushjuju.services.bundles.plan.facts import top_machine
from pushjuju.services.entities.application import applications, bindings, resources, units
from pushjuju.services.entities.basis import annotations as notes
from pushjuju.services.entities.basis import users, wake
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import constraints as of_machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import offers
from pushjuju.services.entities.storage.storage_pools import Pools, open_pools
from pushjuju.services.requests.application import expose, new_application, new_charm
from pushjuju.services.requests.relation import cross_model, integrate
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.supply.origins import StoreOrigin
from pushjuju.store.rows.records import Application, Machine, Offer
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The steps to record."""

    changes: Sequence[Change]  # the plan, sorted
    # step that deploys, upgrades or sets resources -> charm of the application
    packed: Mapping[str, PackedCharm] = field(default_factory=dict)
    # application -> resource -> path of the file to upload
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # application -> storage name -> directive of `--storage`
    storage: Mapping[str, Mapping[str, Directive]] = field(default_factory=dict)
    # application -> the store's answer for its charm
    origins: Mapping[str, StoreOrigin] = field(default_factory=dict)
    # application -> resources that come from the store
    store_resources: Mapping[str, tuple[StoreResource, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class _Work:
    """The transaction of a plan, and the entities that its steps have made so far."""

    ctx: Context
    tx: ModelTx
    order: Order
    uploads: Mapping[str, list[resources.Upload]]
    urls: dict[str, str] = field(default_factory=dict)
    machines: dict[str, str] = field(default_factory=dict)  # step -> machine
    pools: Pools | None = None


def record(
    ctx: Context, model: str, order: Order, check: Callable[[ModelTx], None] | None = None
) -> list[str]:
    """Record all steps of a plan in one transaction.

    Args:
        check: Called first inside the transaction; an error that it raises stops the whole plan.

    Returns:
        The names of the applications that the plan changes, sorted.

    Raises:
        PushjujuError: A step is not possible; the message names the step. Nothing is changed.
    """
    uploads: dict[str, list[resources.Upload]] = {}
    try:
        with contextlib.ExitStack() as stack:
            for step, found in _files(order):
                uploads[step] = stack.enter_context(_copies(ctx, order, step, found))
            for packed in order.packed.values():
                ctx.controller.blobs.prepare(packed.path, packed.sha256)
            with ctx.change(model) as tx:
                models.require_alive(tx)
                if check:
                    check(tx)
                work = _Work(ctx, tx, order, uploads)
                _add_machines(work)
                for change in order.changes:
                    with _named(change):
                        _STEPS[change.method](work, change)
    except BaseException:
        copies = {upload.copy.sha256 for files in uploads.values() for upload in files}
        for blob in copies | {packed.sha256 for packed in order.packed.values()}:
            applications.drop_unused_blob(ctx, blob)
        raise
    return sorted(
        {str(change.args["application"]) for change in order.changes if "application" in change.args}
    )


def _files(order: Order) -> Iterator[tuple[str, tuple[PackedCharm, Mapping[str, str]]]]:
    for change in order.changes:
        wanted = change.method in (Method.DEPLOY, Method.UPGRADE_CHARM, Method.SET_RESOURCES)
        if wanted and (given := order.files.get(change.args["application"])):
            yield change.id, (order.packed[change.id], given)


@contextlib.contextmanager
def _copies(
    ctx: Context, order: Order, step: str, found: tuple[PackedCharm, Mapping[str, str]]
) -> Iterator[list[resources.Upload]]:
    packed, given = found
    change = next(change for change in order.changes if change.id == step)
    with contextlib.ExitStack() as stack:
        with _named(change):
            copies = stack.enter_context(
                resources.uploads(ctx.controller.blobs, packed.charm.meta.resources, given)
            )
        yield copies


_VERBS = {
    Method.ADD_CHARM: "cannot add charm {charm!r}",
    Method.DEPLOY: 'cannot deploy application "{application}"',
    Method.UPGRADE_CHARM: 'cannot upgrade charm of application "{application}"',
    Method.ADD_MACHINES: "cannot create machine {machine}",
    Method.ADD_UNIT: 'cannot add unit for application "{application}"',
    Method.ADD_RELATION: 'cannot add relation between "{endpoint1}" and "{endpoint2}"',
    Method.EXPOSE: "cannot expose application {application}",
    Method.SET_ANNOTATIONS: 'cannot set annotations for {entity-type} "{id}"',
    Method.SET_OPTIONS: 'cannot update options for application "{application}"',
    Method.SET_CONSTRAINTS: 'cannot update constraints for application "{application}"',
    Method.SET_RESOURCES: 'cannot set resources of application "{application}"',
    Method.SET_STORAGE: 'cannot set storage of application "{application}"',
    Method.BIND: 'cannot bind application "{application}"',
    Method.CONSUME_OFFER: "cannot consume offer {url}",
    Method.CREATE_OFFER: "cannot create offer {offer-name}",
    Method.GRANT_OFFER_ACCESS: "cannot grant {access} access to user {user} on offer {offer}",
}


@contextlib.contextmanager
def _named(change: Change) -> Iterator[None]:
    """Add the step to the message of an error, in Juju's words."""
    try:
        yield
    except PushjujuError as error:
        prefix = _VERBS[change.method].format(**change.args) if change.method in _VERBS else ""
        error.prefixed(": ".join(filter(None, ("cannot deploy bundle", prefix))))
        error.detail = "\n".join(filter(None, (error.detail, "nothing was changed")))
        raise


# --- machines ---------------------------------------------------------------------------------------------


def _add_machines(work: _Work) -> None:
    """Record all new machines in the order of their numbers; steps that add units find them in `work`."""
    wanted: dict[str, tuple[Change, Mapping[str, Any]]] = {}
    deployed = _deployed(work)
    for change in work.order.changes:
        if change.method is Method.ADD_MACHINES and "parent-id" not in change.args:
            wanted[change.args["machine"]] = (change, change.args)
        elif change.method is Method.ADD_UNIT and "to" not in change.args:
            wanted[change.args["machine"]] = (change, {})
    for number in sorted(wanted, key=natural_key):
        change, args = wanted[number]
        with _named(change):
            base, constraints = _needs(work, change, args, deployed)
            machine = _new_machine(work, change, base, constraints)
            if top_machine(machine.id) != number:
                made = top_machine(machine.id)
                raise NotValid(f"the model changed: machine {made} would be made, not {number}")
        work.machines[change.id] = machine.id


def _new_machine(work: _Work, change: Change, base: Base, constraints: Mapping[str, Any]) -> Machine:
    """Record a new machine; return the machine, or the new container when constraints ask for one."""
    if change.method is Method.ADD_UNIT and (target := Placement.wanted(None, constraints)):
        return machines.new_container(work.tx, target, base=base, constraints=constraints)
    return machines.new_machine(work.tx, base=base, constraints=rules.of_host(constraints))


def _deployed(work: _Work) -> dict[str, Mapping[str, Any]]:
    """Return application -> arguments of its deploy step."""
    return {
        change.args["application"]: change.args
        for change in work.order.changes
        if change.method is Method.DEPLOY
    }


def _needs(
    work: _Work, change: Change, args: Mapping[str, Any], deployed: Mapping[str, Mapping[str, Any]]
) -> tuple[Base, dict[str, object]]:
    """Return base and constraints of a new machine; by default those of the machine's first application."""
    owner = str(change.args.get("application", "")) or _first_on(work, change)
    base, constraints = "", ""
    if owner in deployed:
        base, constraints = deployed[owner]["base"], deployed[owner].get("constraints", "")
        own = rules.parse(constraints)
    else:
        there = applications.get(work.tx, owner)
        base, own = there.base, dict(there.constraints)
    if change.method is Method.ADD_MACHINES:
        base = args.get("base") or base
        own = rules.parse(args.get("constraints", ""))
    return Base.parse(base), of_machines.for_machine(work.tx, own)


def _first_on(work: _Work, machine: Change) -> str:
    """Return the application whose unit is the first on a machine of the bundle; its base is the default."""
    for change in work.order.changes:
        if change.method is Method.ADD_UNIT and change.args.get("to") == f"${machine.id}":
            return str(change.args["application"])
    raise NotValid(f"no unit goes to machine {machine.args['machine']}")


# --- steps ------------------------------------------------------------------------------------------------


def _add_charm(work: _Work, change: Change) -> None:
    """Record a charm in the model, with the packed file of the first application that uses it."""
    user = next(item for item in work.order.changes if item.args.get("charm") == f"${change.id}")
    origin = work.order.origins.get(str(user.args["application"]))
    packed = work.order.packed[user.id]
    work.urls[change.id], _ = new_application.add_charm(work.ctx, work.tx, packed, origin)


def _deploy(work: _Work, change: Change) -> None:
    args, step = change.args, str(change.args["charm"]).removeprefix("$")
    packed, name = work.order.packed[change.id], str(args["application"])
    origin = work.order.origins.get(name)
    url = work.urls.get(step, step)  # a charm that the model knows is named by its URL
    if origin and step not in work.urls:
        url, _ = new_application.add_charm(work.ctx, work.tx, packed, origin)
    if work.tx.find(Application, "application_get", name=name):
        raise AlreadyExists(f'cannot add application "{name}": application already exists')
    given = {store: Directive.parse(text) for store, text in args.get("storage", {}).items()}
    request = new_application.NewApplication(
        application=name,
        packed=packed,
        base=Base.parse(args["base"]),
        settings=validate_settings(packed.charm.config, args.get("options", {})),
        constraints=rules.parse(args.get("constraints", "")),
        count=0,
        trust=bool(args.get("trust")),
        storage={**given, **work.order.storage.get(name, {})},
        bind=args.get("endpoint-bindings", {}),
        origin=origin,
        store_resources=work.order.store_resources.get(name, ()),
    )
    new_application.check(request)
    if packed.charm.meta.storage and work.pools is None:
        work.pools = open_pools(work.ctx, work.tx)
    files = work.uploads.get(change.id, [])
    new_application.record(work.ctx, work.tx, request, url, files, work.pools)


def _upgrade(work: _Work, change: Change) -> None:
    name = str(change.args["application"])
    found = work.order.store_resources.get(name, ())
    given = work.uploads.get(change.id, [])
    request = new_charm.NewCharm(
        application=name,
        packed=work.order.packed[change.id],
        switch=True,
        force=bool(change.args.get("force")),
        origin=work.order.origins.get(name),
        store_resources={item.name: item for item in found},
        asked_resources=[
            key for key, value in change.args.get("resources", {}).items() if isinstance(value, int)
        ],
    )
    new_charm.record(work.ctx, work.tx, request, given)


def _add_container(work: _Work, change: Change) -> None:
    """Record the container of an addMachines step; `_add_machines` has recorded the machines before."""
    args = change.args
    if "container-type" not in args:
        return
    parent = str(args.get("parent-id") or f"${change.id}")
    host = top_machine(work.machines[parent.removeprefix("$")] if parent.startswith("$") else parent)
    base, constraints = _needs(work, change, args, _deployed(work))
    machine = machines.new_container(
        work.tx,
        Placement(kind=PlacementKind.CONTAINER, value=str(args["container-type"]), parent=host),
        base=base,
        constraints=constraints,
    )
    if machine.id != args["container"]:
        raise NotValid(f"the model changed: machine {machine.id} would be made, not {args['container']}")
    work.machines[change.id] = machine.id


def _add_unit(work: _Work, change: Change) -> None:
    application = applications.get(work.tx, str(change.args["application"]))
    to = str(change.args.get("to", ""))
    step = to.removeprefix("$") if to.startswith("$") else change.id
    machine = to if to and not to.startswith("$") else work.machines[step]
    (unit,) = units.add(work.tx, application, 1, [Placement.parse(machine)])
    work.machines[change.id] = str(unit.machine)
    if unit.name != change.args["unit"]:
        raise NotValid(f"the model changed: unit {unit.name} would be made, not {change.args['unit']}")


def _relate(work: _Work, change: Change) -> None:
    with contextlib.suppress(AlreadyExists):
        first, second = str(change.args["endpoint1"]), str(change.args["endpoint2"])
        integrate.relate(work.tx, first, second)


def _expose(work: _Work, change: Change) -> None:
    application = applications.get(work.tx, str(change.args["application"]))
    given = change.args.get("exposed-endpoints") or {ALL_ENDPOINTS: {}}
    wanted = [
        Exposure(
            endpoint=name,
            spaces=tuple(sorted(item.get("expose-to-spaces", ()))),
            cidrs=tuple(sorted(item.get("expose-to-cidrs", ())))
            or (() if item.get("expose-to-spaces") else EVERYWHERE),
        )
        for name, item in given.items()
    ]
    expose.record(work.tx, application, wanted)


def _annotate(work: _Work, change: Change) -> None:
    kind = notes.Kind(change.args["entity-type"])
    notes.put(work.tx, kind, str(change.args["id"]), change.args["annotations"])


def _set_options(work: _Work, change: Change) -> None:
    application = applications.get(work.tx, str(change.args["application"]))
    charm = applications.current_charm(work.tx, application)
    settings = validate_settings(charm.config, change.args["options"])
    charms.put_settings(work.tx, application.name, application.charm_url, settings)
    wake.application(work.tx, application.name, "config changed")


def _reset_options(work: _Work, change: Change) -> None:
    application = applications.get(work.tx, str(change.args["application"]))
    values = dict.fromkeys(change.args["options"])
    charms.put_settings(work.tx, application.name, application.charm_url, values)
    wake.application(work.tx, application.name, "config changed")


def _set_constraints(work: _Work, change: Change) -> None:
    application = applications.get(work.tx, str(change.args["application"]))
    found = rules.parse(str(change.args["constraints"]))
    if application.subordinate and found:
        raise NotValid("constraints do not apply to subordinate applications")
    work.tx.run("application_set_constraints", name=application.name, constraints=compact(found))


def _set_resources(work: _Work, change: Change) -> None:
    application = applications.get(work.tx, str(change.args["application"]))
    named = change.args["resources"]
    found = [item for item in work.order.store_resources.get(application.name, ()) if item.name in named]
    resources.replace_some(work.ctx, work.tx, application, work.uploads.get(change.id, []), found)


def _set_storage(work: _Work, change: Change) -> None:
    application = applications.get(work.tx, str(change.args["application"]))
    asked = {store: Directive.parse(text) for store, text in change.args["storage"].items()}
    storage_requests.put_application_directives(work.ctx, work.tx, application, asked)


def _bind(work: _Work, change: Change) -> None:
    application = applications.get(work.tx, str(change.args["application"]))
    bindings.record(work.tx, application, change.args["endpoint-bindings"])


def _set_trust(work: _Work, change: Change) -> None:
    name = str(change.args["application"])
    work.tx.run("application_set_trust", name=name, trust=change.args["trust"])
    wake.application(work.tx, name, "trust changed")


def _consume(work: _Work, change: Change) -> None:
    url = offerurl.parse(str(change.args["url"]))
    if url.endpoint:
        raise NotValid(f'saas offer "{change.args["url"]}" shouldn\'t include endpoint')
    cross_model.consume_in(work.ctx, work.tx, url, str(change.args["application-name"]))


def _offer(work: _Work, change: Change) -> None:
    args = change.args
    ends = {item: item for item in args["endpoints"]}
    offers.offer_in(work.ctx, work.tx, str(args["application"]), ends, str(args["offer-name"]))


def _grant(work: _Work, change: Change) -> None:
    user, level, name = (str(change.args[key]) for key in ("user", "access", "offer"))
    found = work.tx.get(Offer, "offer_get", f'offer "{name}" not found', name=name)
    if level not in users.LEVELS[users.Kind.OFFER]:
        raise NotValid(f'"{level}" offer access not valid')
    if user == DEFAULT_USER or offers.users(work.tx, found).get(user) == level:
        return
    users.grant(work.tx, user, level, users.Kind.OFFER, found.uuid)


def _removal(act: Callable[[ModelTx, Mapping[str, Any]], None]) -> Callable[[_Work, Change], None]:
    """Return the step that calls a function of `pruning`."""

    return lambda work, change: act(work.tx, change.args)


_STEPS: Mapping[Method, Callable[[_Work, Change], None]] = {
    Method.ADD_CHARM: _add_charm,
    Method.DEPLOY: _deploy,
    Method.UPGRADE_CHARM: _upgrade,
    Method.ADD_MACHINES: _add_container,
    Method.ADD_UNIT: _add_unit,
    Method.ADD_RELATION: _relate,
    Method.EXPOSE: _expose,
    Method.SET_ANNOTATIONS: _annotate,
    Method.SET_OPTIONS: _set_options,
    Method.SET_CONSTRAINTS: _set_constraints,
    Method.CONSUME_OFFER: _consume,
    Method.CREATE_OFFER: _offer,
    Method.GRANT_OFFER_ACCESS: _grant,
    Method.RESET_OPTIONS: _reset_options,
    Method.SET_TRUST: _set_trust,
    Method.SET_RESOURCES: _set_resources,
    Method.SET_STORAGE: _set_storage,
    Method.BIND: _bind,
    Method.REVOKE_OFFER_ACCESS: _removal(pruning.revoke),
    Method.UNSET_ANNOTATIONS: _removal(pruning.unset_annotations),
    Method.UNEXPOSE: _removal(pruning.unexpose),
    Method.REMOVE_OFFER: _removal(pruning.remove_offer),
    Method.REMOVE_RELATION: _removal(pruning.remove_relation),
    Method.REMOVE_UNIT: _removal(pruning.remove_unit),
    Method.REMOVE_APPLICATION: _removal(pruning.remove_application),
    Method.REMOVE_SAAS: _removal(pruning.remove_saas),
    Method.REMOVE_MACHINE: _removal(pruning.remove_machine),
}
