"""Chooses the machine of each new unit. Pure. Mirrors: juju core/bundle/changes/handlers.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pushjuju.core import constraints as rules
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_order
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.plan.changes import Draft, Method
from pushjuju.services.bundles.plan.facts import ModelFacts, container_type, top_machine
from pushjuju.services.bundles.plan.machines import unit_on
from pushjuju.services.bundles.read import placement
from pushjuju.services.bundles.read.values import Application, Bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spot:
    """The place of one new unit."""

    # a machine, or `$STEP` for the machine that a step makes or puts its unit on; empty for a new machine
    # that only this unit gets
    to: str = ""
    machine: str = ""  # the number of the machine, or of the machine that hosts the container
    text: str = ""  # the place as messages show it; empty for a new machine that only this unit gets
    directive: str = ""
    requires: tuple[str, ...] = ()


@dataclass(slots=True)
class _Placer:
    draft: Draft
    bundle: Bundle
    model: ModelFacts
    known: Mapping[str, str]
    new: Mapping[str, str]
    sequences: dict[str, int]
    units: dict[tuple[str, int], str] = field(default_factory=dict)  # (application, index) -> step
    steps: dict[str, list[str]] = field(default_factory=dict)
    spots: dict[str, _Spot] = field(default_factory=dict)  # step -> where its unit is
    beside_old: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    beside_new: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def next(self, name: str) -> int:
        number = self.sequences.get(name, 0)
        self.sequences[name] = number + 1
        return number


def place_units(
    draft: Draft,
    bundle: Bundle,
    model: ModelFacts,
    *,
    known: Mapping[str, str],
    new: Mapping[str, str],
    sequences: dict[str, int],
    added: Mapping[str, str],
) -> set[str]:
    """Add a step for each unit that the model lacks, with the place of the unit.

    Args:
        draft: The plan that the steps are added to.
        known: Bundle machine -> existing machine of the model.
        new: Bundle machine -> the step that makes the machine.
        sequences: The next number of each kind of entity; the function counts them up.
        added: Application -> the step that deploys the application.

    Returns:
        The new bundle machines that units go to.
    """
    placer = _Placer(draft, bundle, model, known, new, sequences)
    for name in natural_order(bundle.applications):
        _add_units(placer, name, added)
    waiting, done = sorted(bundle.applications), set[str]()
    while waiting:
        ready = []
        for name in waiting:
            if placement.beside(bundle.applications[name].to) <= done:
                _place(placer, bundle.applications[name])
                done.add(name)
                ready.append(name)
        if not ready:
            raise NotValid(f"cycle in placement directives for: {', '.join(waiting)}")
        waiting = [name for name in waiting if name not in done]
    return placer.used


def _count(placer: _Placer, name: str) -> int:
    there = placer.model.applications.get(name)
    return len(there.units) if there else 0


def _add_units(placer: _Placer, name: str, added: Mapping[str, str]) -> None:
    for index in range(_count(placer, name), placer.bundle.applications[name].num_units):
        number = placer.next(f"application-{name}")
        step = placer.draft.add(
            Method.ADD_UNIT,
            {"application": name, "unit": f"{name}/{number}"},
            requires=[added[name]] if name in added else [],
        )
        placer.units[name, index] = step
        placer.steps.setdefault(name, []).append(step)


def _place(placer: _Placer, app: Application) -> None:
    last = ""
    if app.to and placement.repeats(placement.parse(app.to[-1])):
        last = app.to[-1]
    left = _unsatisfied(placer, app)
    before = ""
    for index in range(_count(placer, app.name), app.num_units):
        directive = left.pop(0) if left else last
        step = placer.units[app.name, index]
        spot = _spot(placer, app, directive)
        placer.spots[step] = spot
        unit = placer.draft.get(step).args["unit"]
        text = spot.text or f"new machine {spot.machine}"
        satisfied = f" to satisfy [{spot.directive}]" if spot.directive else ""
        args: dict[str, object] = {"machine": spot.machine}
        if spot.to:
            args["to"] = spot.to
        placer.draft.fill(
            step,
            args,
            f"add unit {unit} to {text}{satisfied}",
            requires=[*spot.requires, *([before] if before else [])],
        )
        before = step


def _unsatisfied(placer: _Placer, app: Application) -> list[str]:
    """Return the placement directives that no existing unit fulfils."""
    if app.name not in placer.model.applications:
        return list(app.to)
    left = []
    for text in app.to:
        target = placement.parse(text)
        machine = target.machine
        if target.application and target.unit >= 0:
            machine = _machine_of(placer, target)
        if machine in ("", placement.NEW) or not unit_on(
            placer.model, placer.known, machine, app.name, target.container
        ):
            left.append(text)
    return left


def _machine_of(placer: _Placer, target: placement.Target) -> str:
    there = placer.model.applications.get(target.application)
    wanted = f"{target.application}/{target.unit}"
    return next((unit.machine for unit in there.units if unit.name == wanted), "") if there else ""


# --- one unit ---------------------------------------------------------------------------------------------


def _spot(placer: _Placer, app: Application, directive: str) -> _Spot:
    if not directive:
        return _by_itself(placer, app)
    target = placement.parse(directive)
    if target.machine == placement.NEW:
        return _new_machine(placer, app, target.container)
    if target.machine:
        return _on_machine(placer, app, target)
    if target.unit >= 0:
        return _beside_unit(placer, app, target, directive)
    return _beside(placer, app, target, directive)


def _by_itself(placer: _Placer, app: Application) -> _Spot:
    """Return a new machine for a unit without a placement directive.

    When the unit's constraints name a container type, the unit goes into the first container of the new
    machine. Juju's text for the step names only the machine.
    """
    spot = _Spot(machine=str(placer.next("machine")))
    there = placer.model.applications.get(app.name)
    needs = dict(there.constraints) if there else rules.parse(app.constraints)
    if container := rules.container_of({**placer.model.constraints, **needs}):
        _next_container(placer, spot.machine, container)
    return spot


def _new_machine(placer: _Placer, app: Application, container: str) -> _Spot:
    number = str(placer.next("machine"))
    text, line = f"new machine {number}", f"add new machine {number}"
    args = {"machine": number, "constraints": _with_spaces(app), "application": app.name}
    if container:
        text = _next_container(placer, number, container)
        args["container-type"] = container
        args["container"] = text
        line = f"add {container} container {text} on new machine {number}"
    step = placer.draft.add(Method.ADD_MACHINES, {key: value for key, value in args.items() if value}, line)
    return _Spot(to=f"${step}", machine=number, text=text, requires=(step,))


def _next_container(placer: _Placer, machine: str, container: str) -> str:
    number = placer.next(f"machine-{machine}/{container}")
    return f"{machine}/{container}/{number}"


def _with_spaces(app: Application) -> str:
    """Return an application's constraints, with the spaces of its bindings added."""
    spaces = set(app.bindings.values())
    if not spaces:
        return app.constraints
    found = rules.parse(app.constraints)
    asked = [str(item) for item in found.get("spaces") or ()]
    for space in natural_order(spaces):
        if f"^{space}" in asked:
            raise NotValid(f"space {quote(space)} is required but it's forbidden by constraint")
    every = natural_order({*spaces, *(item for item in asked if not item.startswith("^"))})
    every += natural_order(item for item in asked if item.startswith("^"))
    others = rules.render({key: value for key, value in found.items() if key != "spaces"})
    return " ".join(filter(None, (f"spaces={','.join(every)}", others)))


def _on_machine(placer: _Placer, app: Application, target: placement.Target) -> _Spot:
    if target.machine in placer.known:
        return _existing(placer, placer.known[target.machine], target.container)
    placer.used.add(target.machine)
    step = placer.new[target.machine]
    number = str(placer.draft.get(step).args["machine"])
    spot = _Spot(to=f"${step}", machine=number, text=f"new machine {number}", requires=(step,))
    return _in_container(placer, app, spot, target.container) if target.container else spot


def _existing(placer: _Placer, machine: str, container: str, directive: str = "") -> _Spot:
    text, to = f"existing machine {machine}", machine
    if container:
        text, to = _next_container(placer, machine, container), f"{container}:{machine}"
    return _Spot(to=to, machine=machine, text=text, directive=directive)


def _in_container(
    placer: _Placer, app: Application, spot: _Spot, container: str, directive: str = ""
) -> _Spot:
    """Return a new container on the top machine of a place, never inside another container."""
    text = _next_container(placer, spot.machine, container)
    old = spot.text.startswith("existing")
    args = {
        "container-type": container,
        "container": text,
        "parent-id": spot.to,
        "constraints": _with_spaces(app),
        "application": app.name,
        "machine": spot.machine,
    }
    step = placer.draft.add(
        Method.ADD_MACHINES,
        {key: value for key, value in args.items() if value},
        f"add {container} container {text} on {'existing' if old else 'new'} machine {spot.machine}",
        requires=spot.requires,
    )
    return _Spot(to=f"${step}", machine=spot.machine, text=text, directive=directive, requires=(step,))


def _beside_unit(placer: _Placer, app: Application, target: placement.Target, directive: str) -> _Spot:
    machine = _machine_of(placer, target)
    if machine:
        return _existing(placer, machine, target.container, directive)
    step = placer.units.get((target.application, target.unit))
    if step is None:
        return _new_machine(placer, app, target.container)
    return _beside_step(placer, app, step, target.container, directive)


def _beside_step(placer: _Placer, app: Application, step: str, container: str, directive: str) -> _Spot:
    other = placer.spots[step]
    text = other.text or f"new machine {other.machine}"
    spot = _Spot(to=f"${step}", machine=other.machine, text=text, directive=directive, requires=(step,))
    return _in_container(placer, app, spot, container, directive) if container else spot


def _beside(placer: _Placer, app: Application, target: placement.Target, directive: str) -> _Spot:
    """Return a place beside the next unit of the target application without a unit of this application."""
    key = (app.name, target.application)
    if key not in placer.beside_old:
        placer.beside_old[key] = _free_machines(placer.model, target.application, app.name, target.container)
        placer.beside_new[key] = list(placer.steps.get(target.application, ()))
    if placer.beside_old[key]:
        return _existing(placer, placer.beside_old[key].pop(0), target.container, directive)
    if placer.beside_new[key]:
        return _beside_step(placer, app, placer.beside_new[key].pop(0), target.container, directive)
    return _by_itself(placer, app)


def _free_machines(model: ModelFacts, beside: str, name: str, container: str) -> list[str]:
    source, own = model.applications.get(beside), model.applications.get(name)
    found = {top_machine(unit.machine) for unit in source.units} if source else set()
    for unit in own.units if own else ():
        if not container:
            found.discard(unit.machine)
        elif container_type(unit.machine) == container:
            found.discard(top_machine(unit.machine))
    return natural_order(found)
