"""Compares what `apply` changes in existing applications and Juju's `deploy` does not. Pure.

Storage, resources and endpoints that the bundle does not name count as equal: `apply` changes none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.core import constraints as rules
from pushjuju.core.storage import Directive
from pushjuju.portable.natural import natural_order
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.plan import machines
from pushjuju.services.bundles.plan.facts import ApplicationFacts, MachineFacts, ModelFacts
from pushjuju.services.bundles.plan.machines import MachineMap
from pushjuju.services.bundles.read import values

_ORDER = ("", "read", "consume", "admin")  # access levels of offers, the lowest first
_OWNER = "admin"


def resources(
    app: values.Application, there: ApplicationFacts, files: Mapping[str, str]
) -> dict[str, int | str]:
    """Return the resources of a bundle that differ from the model's: name -> revision in a store, or path.

    Args:
        app: The application as the bundle has it.
        files: Name -> SHA-384 in hex of the file that the bundle names.
    """
    return {
        name: value
        for name, value in app.resources.items()
        if (
            there.resources.get(name) != value
            if isinstance(value, int)
            else name not in there.uploads or there.uploads[name] != files.get(name)
        )
    }


def storage(
    app: values.Application, there: ApplicationFacts, more: Mapping[str, Directive]
) -> dict[str, Directive]:
    """Return the storage directives that `apply` changes for future units: storage name -> whole directive.

    Args:
        app: The application of the bundle; a pool or size that it leaves out stays as the model has it.
        more: Storage name -> directive of the command line, which overrides the bundle's.
    """
    wanted = {**{store: Directive.parse(text) for store, text in app.storage.items()}, **more}
    found = {}
    for store, asked in sorted(wanted.items()):
        pool, size, count = there.storage.get(store, ("", 0, 0))
        full = Directive(pool=asked.pool or pool, size=asked.size or size, count=asked.count)
        if full != Directive(pool=pool, size=size, count=count):
            found[store] = full
    return found


def bindings(app: values.Application, there: ApplicationFacts) -> dict[str, str]:
    """Return the bindings of a bundle that differ from the model's: endpoint -> space in the bundle."""
    return {item: space for item, space in sorted(app.bindings.items()) if there.space_of(item) != space}


def bindings_beyond(app: values.Application, there: ApplicationFacts) -> dict[str, str]:
    """Return endpoints that the bundle does not name and that are bound to another space than the default.

    The result is empty when the bundle names no bindings. Endpoints in the old default space follow it.

    Returns:
        Endpoint -> the bundle's default space.
    """
    if not app.bindings:
        return {}
    before = there.space_of(values.ALL)
    default = app.bindings.get(values.ALL, before)
    return {
        item: default
        for item, space in sorted(there.endpoints_bound.items())
        if item not in app.bindings and item != values.ALL and space not in (before, default)
    }


def has_access(known: str, wanted: str) -> bool:
    """Return True when a level of access includes another level; an unknown level includes only itself."""
    return known == wanted or (wanted in _ORDER and _rank(known) > _rank(wanted))


def access_beyond(wanted: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Return the access to an offer that users have beyond a bundle: user -> lowest level to revoke.

    The owner's access is left out, because owners keep it.
    """
    return {
        user: _ORDER[_rank(wanted.get(user, "")) + 1]
        for user, level in sorted(known.items())
        if user != _OWNER and _rank(level) > _rank(wanted.get(user, ""))
    }


def _rank(level: str) -> int:
    """Return the rank of a level; an unknown word, which is refused elsewhere, ranks highest."""
    return _ORDER.index(level) if level in _ORDER else len(_ORDER)


def same_constraints(text: str, known: Mapping[str, Any]) -> bool:
    """Return True when a text has the same constraints as a document of constraints."""
    return rules.render(rules.parse(text)) == rules.render(known)


def same_exposures(one: Mapping[str, values.Exposed], two: Mapping[str, values.Exposed]) -> bool:
    """Return True when both expose the same endpoints to the same spaces and CIDRs, in any order."""
    return _plain(one) == _plain(two)


def _plain(exposures: Mapping[str, values.Exposed]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return {
        name: (
            tuple(sorted(item.spaces)),
            tuple(sorted(item.cidrs or (() if item.spaces else ("0.0.0.0/0", "::/0")))),
        )
        for name, item in exposures.items()
    }


def has_option(there: ApplicationFacts, key: str, value: Any) -> bool:
    """Return True when an option already has the bundle's value; null stands for the charm's default."""
    return key not in there.settings if value is None else same_value(value, there.effective.get(key))


def same_value(wanted: Any, known: Any) -> bool:
    """Return True when two values of an option are equal; the numbers 1 and 1.0 are equal."""
    if isinstance(wanted, bool) or isinstance(known, bool):
        return wanted is known
    if isinstance(wanted, str) != isinstance(known, str) and None not in (wanted, known):
        return str(wanted) == str(known)
    return bool(wanted == known)


def has_relation(model: ModelFacts, first: str, second: str) -> bool:
    """Return True when the model has a relation that the bundle names without an endpoint.

    Juju plans such a relation each time and ignores the error that the relation already exists. pushjuju
    plans no step, so that a second deploy has nothing to do.
    """
    if ":" in first and ":" in second:
        return False
    return any(names_relation((first, second), sides) for sides in model.relations)


def names_relation(pair: Sequence[str], sides: tuple[str, str]) -> bool:
    """Return True when a pair of a bundle names a relation of a model, in any order."""
    first, second = pair
    return any(_means(first, one) and _means(second, two) for one, two in (sides, sides[::-1]))


def _means(text: str, known: str) -> bool:
    return text == known or (":" not in text and values.endpoint(known)[0] == text)


# --- what cannot be changed -------------------------------------------------------------------------------


def fixed(bundle: values.Bundle, model: ModelFacts, mapping: MachineMap) -> list[str]:
    """Return a line for each base, charm or constraint of the bundle that cannot be changed in the model."""
    found = []
    for name in natural_order(set(bundle.applications) & set(model.applications)):
        found += _fixed_application(bundle, bundle.applications[name], model.applications[name])
    known = machines.infer(model, bundle, mapping)
    for number in natural_order(set(bundle.machines) & set(known)):
        found += _fixed_machine(bundle, bundle.machines[number], model.machines[known[number]])
    return found


def _fixed_application(bundle: values.Bundle, app: values.Application, there: ApplicationFacts) -> list[str]:
    found, path = [], app.charm.startswith(("/", "."))
    own = app.base or app.series or not app.is_local  # the bundle's base is only a default for local charms
    base = values.application_base(bundle, app) if own else ""
    if base and base != there.base:
        found.append(f"the base of application {app.name} is {there.base}, not {base}")
    if app.is_local and app.charm != there.charm and not (path and there.is_local):
        how = f" (pushjuju refresh {app.name} --path PATH)" if path else ""
        found.append(f"the charm of application {app.name} is {there.charm}, not {app.charm}{how}")
    return found


def _fixed_machine(bundle: values.Bundle, machine: values.Machine, there: MachineFacts) -> list[str]:
    found, base = [], values.machine_base(bundle, machine)
    if base and there.base and base != there.base:
        found.append(f"the base of machine {there.id} is {there.base}, not {base}")
    wanted = rules.of_host(rules.parse(machine.constraints))
    if any(there.constraints.get(key) != value for key, value in wanted.items()):
        texts = f"{quote(rules.render(there.constraints))}, not {quote(machine.constraints)}"
        found.append(f"the constraints of machine {there.id} are {texts}")
    return found
