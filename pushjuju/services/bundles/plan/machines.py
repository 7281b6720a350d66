"""Maps the machines of a bundle to machines of a model.

Mirrors: juju core/bundle/changes/model.go InferMachineMap, cmd/juju/application/bundle (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.plan.facts import ModelFacts, UnitFacts, container_type, top_machine
from pushjuju.services.bundles.read import placement
from pushjuju.services.bundles.read.values import Bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineMap:
    """The parsed value of `--map-machines`."""

    existing: bool = False  # True when machines of bundle and model with equal numbers are the same
    pairs: Mapping[str, str] = field(default_factory=dict)  # machine of the bundle -> machine of the model


def parse(text: str) -> MachineMap:
    """Read `--map-machines`."""
    existing, pairs = False, dict[str, str]()
    for word in text.split(",") if text else ():
        if word.strip() == "existing":
            existing = True
            continue
        bundle, equals, machine = word.strip().partition("=")
        if not equals or "=" in machine:
            expected = 'expected "existing" or "<bundle-id>=<machine-id>"'
            raise NotValid(f"error in --map-machines: {expected}, got {quote(word.strip())}")
        for what, number in (("bundle-id", bundle), ("machine-id", machine)):
            if not placement.is_machine(number):
                raise NotValid(
                    f"error in --map-machines: {what} {quote(number)} is not a top level machine id"
                )
        pairs[bundle] = machine
    return MachineMap(existing=existing, pairs=pairs)


def infer(model: ModelFacts, bundle: Bundle, asked: MachineMap) -> dict[str, str]:
    """Return machine of the bundle -> machine of the model, for bundle machines that the model has."""
    known: dict[str, str] = {}
    if asked.existing:
        known = {name: name for name in model.machines if "/" not in name}
    known.update(asked.pairs)
    free = {
        name: [unit for unit in app.units if top_machine(unit.machine) not in set(known.values())]
        for name, app in model.applications.items()
    }
    left = {name: _initial(model, bundle, name, known, free) for name in sorted(bundle.applications)}
    taken = set(known.values())
    for number in sorted(bundle.machines, key=natural_key):
        if number not in known:
            _match(number, left, free, known, taken)
    return {number: machine for number, machine in known.items() if machine in model.machines}


def _initial(
    model: ModelFacts, bundle: Bundle, name: str, known: dict[str, str], free: dict[str, list[UnitFacts]]
) -> list[str]:
    """Map bundle machines to model machines of the same number that host the right unit.

    Returns:
        The placement directives that are left to map.
    """
    left: list[str] = []
    for text in bundle.applications[name].to:
        target = placement.parse(text)
        left.append(text)
        number = target.machine
        if not number or number == placement.NEW or number in known:
            continue
        unit = unit_on(model, known, number, name, target.container)
        if unit:
            known[number] = number
            free[name] = [item for item in free.get(name, []) if item.name != unit]
            left.pop()
    return sorted(left)


def _match(
    number: str,
    left: dict[str, list[str]],
    free: dict[str, list[UnitFacts]],
    known: dict[str, str],
    taken: set[str],
) -> None:
    """Map a bundle machine to the machine of the first unit that no other directive has claimed."""
    for name, texts in left.items():
        for text in texts:
            if placement.parse(text).machine != number:
                continue
            for unit in list(free.get(name, ())):
                free[name].remove(unit)
                machine = top_machine(unit.machine)
                if machine not in taken:
                    known[number] = machine
                    taken.add(machine)
                    texts.remove(text)
                    return


def unit_on(
    model: ModelFacts, known: Mapping[str, str], number: str, application: str, container: str
) -> str:
    """Return an application's unit on a machine, or in a container of the kind; empty for no unit."""
    machine = known.get(number, number)
    app = model.applications.get(application)
    for unit in app.units if app else ():
        kind = container_type(unit.machine)
        if kind == container and (unit.machine if not kind else top_machine(unit.machine)) == machine:
            return unit.name
    return ""


def require_used(model: ModelFacts, bundle: Bundle, added: Mapping[str, str], used: set[str]) -> None:
    """Refuse a plan that adds machines which no new unit uses.

    Args:
        added: Bundle machine that the plan adds -> its number in the model.
        used: The bundle machines that new units go to.
    """
    for number in sorted(added, key=natural_key):
        if number in used:
            continue
        hosts = sorted(
            name
            for name, app in bundle.applications.items()
            if any(placement.parse(text).machine == number for text in app.to)
        )
        candidates = _candidates(model, hosts)
        text = f"need an explicit entry mapping bundle machine {quote(number)}"
        if len(candidates) == 1:
            text += f", perhaps to unreferenced model machine {quote(candidates[0])}"
        elif candidates:
            text += f", perhaps to one of model machines [{', '.join(map(quote, candidates))}]"
        raise NotValid(
            f"bundle and machine mapping are inconsistent: {text} - "
            f"the target should host [{', '.join(hosts)}]"
        )


def _candidates(model: ModelFacts, hosts: list[str]) -> list[str]:
    found: set[str] | None = None
    for name in hosts:
        app = model.applications.get(name)
        here = {top_machine(unit.machine) for unit in app.units} if app else set()
        found = here if found is None else found & here
    return sorted(found or (), key=natural_key)
