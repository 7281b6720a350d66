"""What `apply` compares of what is there, beyond what Juju's `deploy` does. Pure.

A bundle says something only of what it names: a store, a resource or an endpoint that it leaves out is as it
is.
"""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.core import constraints as rules
from pushjuju.core.storage import Directive
from pushjuju.portable.natural import natural_order
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.plan import machines
from pushjuju.services.bundles.plan.facts import ApplicationFacts, MachineFacts, ModelFacts
from pushjuju.services.bundles.plan.machines import MachineMap
from pushjuju.services.bundles.read.bases import application_base, machine_base
from pushjuju.services.bundles.read.values import ALL, Application, Bundle, Machine

_ORDER = ("", "read", "consume", "admin")  # of offers, each more than the one before
_OWNER = "admin"


def resources(app: Application, there: ApplicationFacts, files: Mapping[str, str]) -> dict[str, int | str]:
    """Return the resources that are not those of a bundle: name -> revision in a store, or path.

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


def storage(app: Application, there: ApplicationFacts, more: Mapping[str, Directive]) -> dict[str, Directive]:
    """Return the directives that future units do not get: store -> directive, in full.

    Args:
        app: The application as the bundle has it; a pool or a size that it leaves out stays as it is.
        more: Store -> directive that was given besides; it wins.
    """
    wanted = {**{store: Directive.parse(text) for store, text in app.storage.items()}, **more}
    found = {}
    for store, asked in sorted(wanted.items()):
        pool, size, count = there.storage.get(store, ("", 0, 0))
        full = Directive(pool=asked.pool or pool, size=asked.size or size, count=asked.count)
        if full != Directive(pool=pool, size=size, count=count):
            found[store] = full
    return found


def bindings(app: Application, there: ApplicationFacts) -> dict[str, str]:
    """Return the endpoints that are bound elsewhere than a bundle says: endpoint -> its space there."""
    return {item: space for item, space in sorted(app.bindings.items()) if there.space_of(item) != space}


def bindings_beyond(app: Application, there: ApplicationFacts) -> dict[str, str]:
    """Return the endpoints that a bundle does not name and that are not in the default space.

    A bundle that binds nothing says nothing. Those in the old default space follow the default by themselves.

    Returns:
        Endpoint -> the default space.
    """
    if not app.bindings:
        return {}
    before = there.space_of(ALL)
    default = app.bindings.get(ALL, before)
    return {
        item: default
        for item, space in sorted(there.endpoints_bound.items())
        if item not in app.bindings and item != ALL and space not in (before, default)
    }


def has_access(known: str, wanted: str) -> bool:
    """Return True when a level of access includes another level; no access includes only itself."""
    return known == wanted or (wanted in _ORDER and _rank(known) > _rank(wanted))


def access_beyond(wanted: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Return what users may do with an offer beyond what a bundle says: user -> least level to take away.

    The owner of the offer keeps what is the owner's.
    """
    return {
        user: _ORDER[_rank(wanted.get(user, "")) + 1]
        for user, level in sorted(known.items())
        if user != _OWNER and _rank(level) > _rank(wanted.get(user, ""))
    }


def _rank(level: str) -> int:
    """Return the rank of a level; an unknown word, which is refused elsewhere, ranks highest."""
    return _ORDER.index(level) if level in _ORDER else len(_ORDER)


# --- what stays as it is ----------------------------------------------------------------------------------


def fixed(bundle: Bundle, model: ModelFacts, mapping: MachineMap) -> list[str]:
    """Return what a bundle says and nothing can make of a living application or machine, a line for each."""
    found = []
    for name in natural_order(set(bundle.applications) & set(model.applications)):
        found += _fixed_application(bundle, bundle.applications[name], model.applications[name])
    known = machines.infer(model, bundle, mapping)
    for number in natural_order(set(bundle.machines) & set(known)):
        found += _fixed_machine(bundle, bundle.machines[number], model.machines[known[number]])
    return found


def _fixed_application(bundle: Bundle, app: Application, there: ApplicationFacts) -> list[str]:
    found, path = [], app.charm.startswith(("/", "."))
    own = app.base or app.series or not app.is_local  # for a charm from a path the bundle's base is a default
    base = application_base(bundle, app) if own else ""
    if base and base != there.base:
        found.append(f"the base of application {app.name} is {there.base}, not {base}")
    if app.is_local and app.charm != there.charm and not (path and there.is_local):
        how = f" (pushjuju refresh {app.name} --path PATH)" if path else ""
        found.append(f"the charm of application {app.name} is {there.charm}, not {app.charm}{how}")
    return found


def _fixed_machine(bundle: Bundle, machine: Machine, there: MachineFacts) -> list[str]:
    found, base = [], machine_base(bundle, machine)
    if base and there.base and base != there.base:
        found.append(f"the base of machine {there.id} is {there.base}, not {base}")
    wanted = rules.of_host(rules.parse(machine.constraints))
    if any(there.constraints.get(key) != value for key, value in wanted.items()):
        texts = f"{quote(rules.render(there.constraints))}, not {quote(machine.constraints)}"
        found.append(f"the constraints of machine {there.id} are {texts}")
    return found
