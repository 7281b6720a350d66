"""Compares a bundle with a model. Pure. Mirrors: juju core/bundle/changes/diff.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core import constraints as rules
from pushjuju.core.base import Channel
from pushjuju.portable.natural import natural_key
from pushjuju.services.bundles.plan import equal
from pushjuju.services.bundles.plan import machines as mapping_rules
from pushjuju.services.bundles.plan.as_bundle import Fields, directive_text
from pushjuju.services.bundles.plan.equal import same_constraints, same_exposures, same_value
from pushjuju.services.bundles.plan.facts import ApplicationFacts, ModelFacts, top_machine
from pushjuju.services.bundles.plan.machines import MachineMap
from pushjuju.services.bundles.read.values import Application, Bundle, Exposed, application_base, machine_base


def diff(
    bundle: Bundle,
    model: ModelFacts,
    *,
    mapping: MachineMap,
    annotations: bool = False,
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> Fields:
    """Return the differences as Juju shows them, and those that Juju does not compare; empty when equal.

    Args:
        mapping: Machines of the bundle -> machines of the model.
        annotations: True to compare annotations too.
        files: Application -> resource that the bundle names by a path -> SHA-384 of that file, in hex.
    """
    applications = _applications(bundle, model, annotations=annotations, files=files or {})
    known = mapping_rules.infer(model, bundle, MachineMap(existing=True, pairs=mapping.pairs))
    machines = _machines(bundle, model, known, annotations=annotations)
    relations = _relations(bundle, model)
    parts = {"applications": applications, "machines": machines, "relations": relations}
    return Fields({key: value for key, value in parts.items() if value})


def _sides(bundle: Any, model: Any) -> Fields:
    return Fields(bundle=bundle, model=model)


def _applications(
    bundle: Bundle, model: ModelFacts, *, annotations: bool, files: Mapping[str, Mapping[str, str]]
) -> dict[str, Fields]:
    found: dict[str, Fields] = {}
    for name in {*bundle.applications, *model.applications}:
        if name not in model.applications:
            found[name] = Fields(missing="model")
        elif name not in bundle.applications:
            found[name] = Fields(missing="bundle")
        else:
            app, there = bundle.applications[name], model.applications[name]
            entry = _application(bundle, app, there, annotations=annotations)
            entry.update(_more(app, there, files.get(name, {})))
            if entry:
                found[name] = entry
    return found


def _application(bundle: Bundle, app: Application, there: ApplicationFacts, *, annotations: bool) -> Fields:
    made = Fields()
    path = app.charm.startswith(("/", "."))
    if app.charm_name != there.charm and not (path and there.is_local):
        made["charm"] = _sides(app.charm, there.charm)
    base = application_base(bundle, app)
    if base and base != there.base:
        made["base"] = _sides(base, there.base)
    # The store chooses channel and revision for a bundle that names neither, so nothing is compared then.
    if not app.is_local and app.channel and str(Channel.parse(app.channel).full()) != there.channel:
        made["channel"] = _sides(app.channel, there.channel)
    if not app.is_local and app.revision is not None and app.revision != there.revision:
        made["revision"] = _sides(app.revision, there.revision)
    if not (there.subordinate or there.subordinate_to) and app.num_units != len(there.units):
        made["num_units"] = _sides(app.num_units, len(there.units))
    if bool(app.exposures) != there.exposed:
        made["expose"] = _sides(bool(app.exposures), there.exposed)
    if exposed := _exposures(app.exposures, there.exposures):
        made["exposed_endpoints"] = exposed
    if options := _options(app, there):
        made["options"] = options
    if annotations and (noted := _texts(app.annotations, there.annotations)):
        made["annotations"] = noted
    if not same_constraints(app.constraints, there.constraints):
        made["constraints"] = _sides(app.constraints, rules.render(there.constraints))
    return made


def _more(app: Application, there: ApplicationFacts, files: Mapping[str, str]) -> Fields:
    """Compare what Juju does not: trust, and the resources, storage and bindings that the bundle names."""
    made = Fields()
    if resources := equal.resources(app, there, files):
        made["resources"] = {name: _sides(value, _resource(there, name)) for name, value in resources.items()}
    if storage := equal.storage(app, there, {}):
        made["storage"] = {name: _sides(app.storage[name], _directive(there, name)) for name in storage}
    if bindings := equal.bindings(app, there):
        made["bindings"] = {name: _sides(space, there.space_of(name)) for name, space in bindings.items()}
    if app.trusted != there.trust:
        made["trust"] = _sides(app.trusted, there.trust)
    return made


def _directive(there: ApplicationFacts, name: str) -> str:
    return directive_text(*there.storage[name]) if name in there.storage else ""


def _resource(there: ApplicationFacts, name: str) -> int | str:
    """Return the revision of a resource, "uploaded" for an uploaded file, or "" for a missing resource."""
    revision = there.resources.get(name)
    return "uploaded" if revision == -1 else "" if revision is None else revision


def _exposures(bundle: Mapping[str, Exposed], model: Mapping[str, Exposed]) -> dict[str, Fields]:
    found = {}
    for name in {*bundle, *model}:
        sides = [{name: side[name]} if name in side else {} for side in (bundle, model)]
        if not same_exposures(*sides):
            found[name] = _sides(_exposure(bundle.get(name)), _exposure(model.get(name)))
    return found


def _exposure(exposed: Exposed | None) -> Fields | None:
    if exposed is None:
        return None
    made = Fields()
    if exposed.spaces:
        made["expose_to_spaces"] = sorted(exposed.spaces)
    if exposed.cidrs:
        made["expose_to_cidrs"] = sorted(exposed.cidrs)
    return made


def _options(app: Application, there: ApplicationFacts) -> dict[str, Fields]:
    """Compare options; an option that neither model nor bundle sets counts as equal."""
    found = {}
    for key in {*app.settings, *there.settings}:
        wanted, value = app.settings.get(key), there.effective.get(key)
        if key not in app.settings and there.settings.get(key) is None:
            continue
        if not same_value(wanted, value):
            found[key] = _sides(wanted, value)
    return found


def _texts(bundle: Mapping[str, str], model: Mapping[str, str]) -> dict[str, Fields]:
    return {
        key: _sides(bundle.get(key, ""), model.get(key, ""))
        for key in {*bundle, *model}
        if bundle.get(key) != model.get(key)
    }


def _machines(
    bundle: Bundle, model: ModelFacts, known: Mapping[str, str], *, annotations: bool
) -> dict[str, Fields]:
    found: dict[str, Fields] = {}
    back = {machine: number for number, machine in known.items() if number in bundle.machines}
    for number in bundle.machines:
        if number not in known:
            found[number] = Fields(missing="model")
    for name, machine in model.machines.items():
        if name not in back:
            if not _by_units(bundle, model, name):
                found[name] = Fields(missing="bundle")
            continue
        wanted, made = bundle.machines[back[name]], Fields()
        base = machine_base(bundle, wanted)
        if annotations and (noted := _texts(wanted.annotations, machine.annotations)):
            made["annotations"] = noted
        if base and base != machine.base:
            made["base"] = _sides(base, machine.base)
        if made:
            found[name] = made
    return found


def _by_units(bundle: Bundle, model: ModelFacts, machine: str) -> bool:
    """Return True when a machine hosts only applications that have units without a placement."""
    here = [
        name
        for name, app in model.applications.items()
        for unit in app.units
        if not app.subordinate and top_machine(unit.machine) == machine
    ]
    return bool(here) and all(_has_free_units(bundle, name) for name in here)


def _has_free_units(bundle: Bundle, name: str) -> bool:
    """Return True when the bundle has fewer placements on its machines than units for an application."""
    app = bundle.applications.get(name)
    if app is None:
        return False
    placed = [target for target in app.to if target.rpartition(":")[2] in bundle.machines]
    return len(placed) < app.num_units


def _relations(bundle: Bundle, model: ModelFacts) -> Fields:
    wanted = {tuple(sorted(pair)) for pair in bundle.relations}
    there = {tuple(sorted(pair)) for pair in model.relations}
    made = Fields()
    for key, pairs in (("bundle-additions", wanted - there), ("model-additions", there - wanted)):
        if pairs:
            made[key] = [list(pair) for pair in sorted(pairs, key=lambda pair: list(map(natural_key, pair)))]
    return made


def unclear_relations(bundle: Bundle) -> list[str]:
    """Return a warning line for each relation that does not name both endpoints."""
    unclear = [pair for pair in bundle.relations if not all(":" in side for side in pair)]
    return [f" - [{', '.join(pair)}]" for pair in unclear]
