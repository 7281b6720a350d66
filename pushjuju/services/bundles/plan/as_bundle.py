"""Describes a model as a bundle, for `export-bundle`. Pure.

Mirrors: juju apiserver/facades/client/bundle/bundle.go, juju/charm v12 bundledata.go (order of the keys)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from pushjuju.core.base import SERIES, Base
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.gotypes import Struct
from pushjuju.portable.natural import natural_key
from pushjuju.services.bundles.plan.facts import ApplicationFacts, ModelFacts, container_type, top_machine
from pushjuju.services.bundles.read.values import ALL, EVERYWHERE, Exposed

OVERLAY = "--- # overlay.yaml\n"
_LTS = "ubuntu@24.04/stable"
_EVERYONE = "everyone@external"
# Constraint of pushjuju -> its name in an exported bundle, in the bundle's order; sizes are numbers of MiB.
_CONSTRAINTS = (
    ("arch", "arch"), ("cores", "cpu-cores"), ("cpu-power", "cpu-power"), ("mem", "mem"),
    ("root-disk", "root-disk"), ("instance-type", "instance-type"), ("image-id", "image-id"),
    ("container", "container"), ("virt-type", "virt-type"), ("tags", "tags"), ("spaces", "spaces"),
    ("zones", "zones"), ("root-disk-source", "root-disk-source"), ("instance-role", "instance-role"),
    ("allocate-public-ip", "allocate-public-ip"),
)  # fmt: skip


class Fields(dict[str, object]):
    """A map that is written with its keys in the order of their insertion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of an export."""

    defaults: bool = False  # True to write also the options that have their default value
    series: bool = False  # True to write the series in addition to the base
    # returns the path that the bundle names for an uploaded charm; None for the charm's URL
    charm_path: Callable[[ApplicationFacts], str] | None = None
    # application -> resource -> path of the uploaded file; None leaves uploaded files out
    resource_paths: Mapping[str, Mapping[str, str]] | None = None


def export(model: ModelFacts, options: Options) -> tuple[Fields, Fields | None]:
    """Return the bundle, and its overlay, or None when the bundle needs no overlay."""
    if not model.applications:
        raise NotValid("nothing to export as there are no applications")
    hosts = {top_machine(unit.machine) for app in model.applications.values() for unit in app.units}
    machines = {name: model.machines[name] for name in hosts if name in model.machines}
    standard = model.default_base or _LTS
    bases = [app.base for app in model.applications.values()] + [item.base for item in machines.values()]
    default = _default_base(bases, standard)
    with_bindings = _uses_spaces(model)
    applications = {
        name: _application(
            app, standard if default == standard else default or standard, options, with_bindings
        )
        for name, app in model.applications.items()
    }
    bundle = Fields()
    if default:
        bundle["default-base"] = default
        if options.series:
            bundle["series"] = _series(default)
    if model.saas:
        bundle["saas"] = {name: Fields(url=url) for name, url in model.saas.items()}
    bundle["applications"] = applications
    if machines:
        bundle["machines"] = {
            name: _filled(
                constraints=constraints_text(item.constraints),
                annotations=dict(item.annotations),
                series=_series(item.base) if options.series else "",
                base=item.base if item.base != default else "",
            )
            for name, item in machines.items()
        }
    if model.relations:
        # By endpoints, not by number, so that equal models have equal exports.
        bundle["relations"] = sorted(
            map(list, model.relations), key=lambda pair: list(map(natural_key, pair))
        )
    return bundle, _overlay(model)


def _default_base(bases: list[str], standard: str) -> str:
    """Return the bundle's `default-base`; empty when bases differ and the standard base is not used."""
    used = Counter(bases)
    if len(used) == 1:
        return next(iter(used))
    return standard if standard in used else ""


def _series(base: str) -> str:
    parsed = Base.parse(base)
    return next((name for name, known in SERIES.items() if Base(*known).matches(parsed)), "")


def _filled(**values: Any) -> Fields:
    """Return the values that are not empty, with `-` for `_` in their names."""
    empty: tuple[Any, ...] = (None, "", {}, [], False, ())
    made = Fields()
    for key, value in values.items():
        if not any(value is item or (type(value) is type(item) and value == item) for item in empty):
            made[key.replace("_", "-") if key != "num_units" else key] = value
    return made


def _application(app: ApplicationFacts, default: str, options: Options, with_bindings: bool) -> Fields:
    charm = app.charm
    if app.is_local and options.charm_path:
        charm = options.charm_path(app)
    plain = app.exposures in ({}, {ALL: Exposed(cidrs=EVERYWHERE)})
    settings = {key: app.effective[key] for key in app.declared} if options.defaults else dict(app.settings)
    return _filled(
        charm=charm,
        channel="" if app.is_local else app.channel,
        revision=None if app.is_local else app.revision,
        series=_series(app.base) if options.series else "",
        base=app.base if app.base != default else "",
        resources=_resources(app, options),
        num_units=None if app.subordinate else len(app.units) or None,
        to=[_placement(unit.machine) for unit in app.units],
        expose=app.exposed and plain,
        options=settings,
        annotations=dict(app.annotations),
        constraints=constraints_text(app.constraints),
        storage={name: directive_text(*item) for name, item in app.storage.items() if item[2]},
        bindings=(dict(app.endpoints_bound) or {ALL: "alpha"}) if with_bindings else {},
        trust=app.trust,
    )


def _resources(app: ApplicationFacts, options: Options) -> dict[str, int | str]:
    found: dict[str, int | str] = {name: number for name, number in app.resources.items() if number >= 0}
    found.update((options.resource_paths or {}).get(app.name, {}))
    return found


def _placement(machine: str) -> str:
    container = container_type(machine)
    return f"{container}:{machine.rpartition('/')[0].rpartition('/')[0]}" if container else machine


def constraints_text(constraints: Mapping[str, Any]) -> str:
    """Return constraints as the text that an exported bundle has."""
    parts = []
    for name, shown in _CONSTRAINTS:
        value = constraints.get(name)
        if value is None:
            continue
        parts.append(f"{shown}={_constraint(value)}".replace(" ", "\\ "))
    return " ".join(parts)


def _constraint(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def directive_text(pool: str, size: int, count: int) -> str:
    """Return a storage directive `POOL,COUNT,SIZE`."""
    return f"{pool},{count},{size}M" if size else f"{pool},{count}"


def _uses_spaces(model: ModelFacts) -> bool:
    used = {space for app in model.applications.values() for space in app.endpoints_bound.values()}
    return len(used) > 1 or bool(used - {"alpha"})


# --- the overlay ------------------------------------------------------------------------------------------


def _overlay(model: ModelFacts) -> Fields | None:
    applications = {}
    for name, app in model.applications.items():
        exposures = app.exposures if app.exposed and app.exposures != {ALL: Exposed(cidrs=EVERYWHERE)} else {}
        entry = _filled(
            exposed_endpoints={
                item: _filled(expose_to_spaces=list(where.spaces), expose_to_cidrs=list(where.cidrs))
                for item, where in exposures.items()
            },
            offers={
                offer: _filled(
                    endpoints=sorted(known.endpoints),
                    acl={user: level for user, level in known.acl.items() if user != _EVERYONE},
                )
                for offer, known in app.offers.items()
            },
        )
        if entry:
            applications[name] = entry
    return Fields(applications=applications) if applications else None


def document(value: Any) -> Any:
    """Return the data of a bundle with `Fields` as `Struct`, so that the writers keep the order of keys."""
    if isinstance(value, Fields):
        return Struct({key: document(item) for key, item in value.items()})
    if isinstance(value, dict):
        return {key: document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [document(item) for item in value]
    return value
