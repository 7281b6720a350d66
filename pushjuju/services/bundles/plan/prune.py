"""Plans the removals of `apply --prune`: entities of a model that a bundle does not have. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pushjuju.portable.natural import natural_key, natural_order
from pushjuju.services.bundles.plan import changes, equal
from pushjuju.services.bundles.plan.changes import BUNDLE_URL, Change, Draft, Method
from pushjuju.services.bundles.plan.facts import ApplicationFacts, MachineFacts, ModelFacts, top_machine
from pushjuju.services.bundles.plan.machines import MachineMap, infer
from pushjuju.services.bundles.read.values import Application, Bundle, endpoint


def removals(
    bundle: Bundle,
    model: ModelFacts,
    *,
    mapping: MachineMap,
    destroy_storage: bool = False,
    store_bundle: str = "",
    start: int = 0,
) -> tuple[Change, ...]:
    """Return the steps that remove entities which the bundle does not have.

    Args:
        model: The model before the other steps of the plan.
        mapping: Bundle machine -> machine of the model.
        destroy_storage: True to destroy the storage of removed units, applications and machines; when False,
            storage stays, and so do the machines that host it.
        store_bundle: URL of the bundle when it comes from a store; the annotation with this URL then stays.
        start: The number of the first step.
    """
    draft = Draft(start=start)
    for name in natural_order(set(model.applications) & set(bundle.applications)):
        app, there = bundle.applications[name], model.applications[name]
        _settings(draft, app, there, keep={BUNDLE_URL} if store_bundle else set())
        _access(draft, app, there)
        _surplus(draft, app, there, destroy_storage)
    _annotations(draft, bundle, model, mapping)
    _relations(draft, bundle, model)
    for name in natural_order(set(model.saas) - set(bundle.saas)):
        draft.add(Method.REMOVE_SAAS, {"name": name}, f"remove saas {name}")
    for name in natural_order(set(model.applications) - set(bundle.applications)):
        _remove_application(draft, model.applications[name], destroy_storage)
    _machines(draft, bundle, model, mapping, destroy_storage=destroy_storage)
    return tuple(draft.made)


def _stored(args: dict[str, object], destroy: bool) -> dict[str, object]:
    return {**args, "destroy-storage": True} if destroy else args


def _settings(draft: Draft, app: Application, there: ApplicationFacts, *, keep: Collection[str]) -> None:
    name = app.name
    if extra := sorted(set(there.settings) - set(app.settings)):
        draft.add(
            Method.RESET_OPTIONS,
            {"application": name, "options": extra},
            f"reset application options {','.join(extra)} of {name}",
        )
    if extra := sorted(set(there.annotations) - set(app.annotations) - set(keep)):
        draft.add(
            Method.UNSET_ANNOTATIONS,
            {"entity-type": "application", "id": name, "keys": extra},
            f"remove annotations {','.join(extra)} of {name}",
        )
    if moved := equal.bindings_beyond(app, there):
        args = {"application": name, "endpoint-bindings": moved}
        draft.add(Method.BIND, args, changes.bind_line(name, moved))


def _access(draft: Draft, app: Application, there: ApplicationFacts) -> None:
    name = app.name
    gone = sorted(set(there.exposures) - set(app.exposures))
    if gone:
        what = f"endpoints {','.join(gone)} of {name}" if any(gone) and app.exposures else name
        draft.add(Method.UNEXPOSE, {"application": name, "endpoints": gone}, f"unexpose {what}")
    if there.trust and not app.trusted:
        draft.add(Method.SET_TRUST, {"application": name, "trust": False}, f"remove the trust in {name}")
    for offer in sorted(set(there.offers) - set(app.offers)):
        draft.add(Method.REMOVE_OFFER, {"offer": offer, "application": name}, f"remove offer {offer}")
    for offer in sorted(set(there.offers) & set(app.offers)):
        for user, level in equal.access_beyond(app.offers[offer].acl, there.offers[offer].acl).items():
            args = {"offer": offer, "user": user, "access": level}
            line = f"revoke {level} access to offer {offer} from user {user}"
            draft.add(Method.REVOKE_OFFER_ACCESS, args, line)


def _annotations(draft: Draft, bundle: Bundle, model: ModelFacts, mapping: MachineMap) -> None:
    """Remove annotations of the machines that the bundle describes."""
    known = infer(model, bundle, mapping)
    for number in natural_order(set(bundle.machines) & set(known)):
        there = model.machines[known[number]]
        if extra := sorted(set(there.annotations) - set(bundle.machines[number].annotations)):
            draft.add(
                Method.UNSET_ANNOTATIONS,
                {"entity-type": "machine", "id": there.id, "keys": extra},
                f"remove annotations {','.join(extra)} of machine {there.id}",
            )


def _surplus(draft: Draft, app: Application, there: ApplicationFacts, destroy: bool) -> None:
    name = app.name
    surplus = sorted(there.units, key=lambda unit: natural_key(unit.name))[app.num_units :]
    for unit in reversed(surplus):
        args = _stored({"application": name, "unit": unit.name}, destroy)
        draft.add(Method.REMOVE_UNIT, args, f"remove unit {unit.name}")


def _remove_application(draft: Draft, there: ApplicationFacts, destroy: bool) -> None:
    for offer in sorted(there.offers):
        draft.add(Method.REMOVE_OFFER, {"offer": offer, "application": there.name}, f"remove offer {offer}")
    units = [unit.name for unit in there.units]
    lines = [f"remove application {there.name}", *(f"  with unit {unit}" for unit in units)]
    args = _stored({"application": there.name}, destroy)
    draft.add(Method.REMOVE_APPLICATION, args, *lines)


def _relations(draft: Draft, bundle: Bundle, model: ModelFacts) -> None:
    """Remove relations between applications that stay; other relations end with their application."""
    stays = {*bundle.applications, *bundle.saas}
    for first, second in model.relations:
        sides = {endpoint(first)[0], endpoint(second)[0]}
        if sides <= stays and not any(
            equal.names_relation(pair, (first, second)) for pair in bundle.relations
        ):
            args = {"endpoint1": first, "endpoint2": second}
            draft.add(Method.REMOVE_RELATION, args, f"remove relation {first} - {second}")


def _machines(
    draft: Draft, bundle: Bundle, model: ModelFacts, mapping: MachineMap, *, destroy_storage: bool
) -> None:
    """Remove machines that host no unit; a machine of removed units is released with its last unit."""
    for name in _empty(bundle, model, mapping):
        there = model.machines[name]
        if there.storage and not destroy_storage:
            continue
        for container in reversed(there.containers):
            draft.add(Method.REMOVE_MACHINE, {"machine": container}, f"remove machine {container}")
        args = _stored({"machine": name}, bool(there.storage))
        draft.add(Method.REMOVE_MACHINE, args, *_machine_lines(there))


def _machine_lines(there: MachineFacts) -> list[str]:
    return [f"remove machine {there.id}", *(f"  with storage {name}" for name in there.storage)]


def _empty(bundle: Bundle, model: ModelFacts, mapping: MachineMap) -> list[str]:
    """Return the machines that host no unit and that the bundle does not describe."""
    hosts = {top_machine(unit.machine) for app in model.applications.values() for unit in app.units}
    mapped: Mapping[str, str] = infer(model, bundle, mapping)
    return natural_order(set(model.machines) - hosts - set(mapped.values()))


def kept(bundle: Bundle, model: ModelFacts, *, mapping: MachineMap) -> list[str]:
    """Return lines about the machines that stay because they host storage."""
    names = [name for name in _empty(bundle, model, mapping) if model.machines[name].storage]
    return [line for name in names for line in _machine_lines(model.machines[name])]
