"""Checks options, endpoints and storage in a bundle against the charms of its applications.

Juju finds such faults in the middle of a deploy; pushjuju reports them before the first change.
Mirrors: juju/charm v12 bundledata.go VerifyWithCharms (the texts)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field

from pushjuju.charms.format.config import validate_settings
from pushjuju.charms.values.endpoints import Side, infer_endpoints
from pushjuju.charms.values.model import Charm, Endpoint, Role
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.read import placement
from pushjuju.services.bundles.read.compose import Composed
from pushjuju.services.bundles.read.values import ALL, Application, Bundle, Fault, Path, endpoint


@dataclass(slots=True)
class _Checker:
    bundle: Bundle
    composed: Composed
    charms: Mapping[str, Charm]
    new: frozenset[str]
    told: frozenset[Path] = frozenset()
    faults: list[Fault] = field(default_factory=list)

    def add(self, text: str, *path: str | int) -> None:
        if path in self.told:
            return
        place = self.composed.places.at(self.composed.root, path)
        self.faults.append(Fault(text=text, path=path, place=place))


def check(
    bundle: Bundle,
    composed: Composed,
    charms: Mapping[str, Charm],
    new: frozenset[str],
    known: Collection[Fault] = (),
) -> list[Fault]:
    """Return a fault for each value of a bundle that does not fit its charm.

    Args:
        composed: The merged text of the bundle, which gives each fault its file and line.
        charms: Application -> charm; applications that are missing here are not checked.
        new: Applications that are deployed, not only changed.
        known: Faults that were already found in the bundle itself; their values are not checked again.
    """
    checker = _Checker(bundle, composed, charms, new, frozenset(fault.path for fault in known))
    for name in sorted(bundle.applications, key=natural_key):
        app = bundle.applications[name]
        _check_containers(checker, app)
        if name in charms:
            _check_application(checker, app, charms[name])
    for number in range(len(bundle.relations)):
        if ("relations", number) not in checker.told:
            _check_relation(checker, number)
    return checker.faults


def _check_containers(checker: _Checker, app: Application) -> None:
    for number, text in enumerate(app.to):
        where = ("applications", app.name, "to", number)
        if where not in checker.told and placement.parse(text).container == "kvm":
            reason = f"placement {quote(text)} asks for a container that pushjuju cannot make: use lxd"
            checker.add(reason, *where)


def _check_application(checker: _Checker, app: Application, charm: Charm) -> None:
    where, name = ("applications", app.name), quote(app.name)
    if charm.meta.subordinate:
        if app.to:
            checker.add(f"application {name} is subordinate but specifies unit placement", *where, "to")
        if app.num_units:
            checker.add(f"application {name} is subordinate but has non-zero num_units", *where, "num_units")
        if app.constraints and app.name in checker.new:
            checker.add("cannot use --constraints with subordinate application", *where, "constraints")
    _check_options(checker, app, charm)
    if app.name in checker.new:
        _check_new(checker, app, charm)


def _check_options(checker: _Checker, app: Application, charm: Charm) -> None:
    prefix = f"cannot validate application {quote(app.name)}"
    for key, value in app.settings.items():
        where = ("applications", app.name, "options", key)
        if key not in charm.config:
            text = f"configuration option {quote(key)} not found in charm {quote(app.charm)}"
            checker.add(f"{prefix}: {text}", *where)
            continue
        try:
            validate_settings(charm.config, {key: value})
        except NotValid as error:
            checker.add(f"{prefix}: {error.message}", *where)


def _check_new(checker: _Checker, app: Application, charm: Charm) -> None:
    where, name = ("applications", app.name), quote(app.name)
    for store in app.storage:
        if store not in charm.meta.storage:
            text = f"charm {quote(charm.name)} has no store called {quote(store)}"
            checker.add(f"cannot validate application {name}: {text}", *where, "storage", store)
    for resource in app.resources:
        if resource not in charm.meta.resources:
            text = f"unrecognized resource {quote(resource)}"
            checker.add(f"cannot validate application {name}: {text}", *where, "resources", resource)
    known = {ALL, *(item.name for item in charm.meta.endpoints()), *charm.meta.extra_bindings}
    for item, space in app.bindings.items():
        if item not in known:
            text = f"application {name} wants to bind endpoint {quote(item)} to space {quote(space)}"
            checker.add(f"{text}, but the endpoint is not defined by the charm", *where, "bindings", item)
    for item in app.exposed_endpoints:
        if item not in known:
            text = f"cannot validate application {name}: endpoint {quote(item)} not found"
            checker.add(text, *where, "exposed-endpoints", item)

    _check_offers(checker, app, frozenset(known))


def _check_offers(checker: _Checker, app: Application, known: frozenset[str]) -> None:
    for name, offer in app.offers.items():
        for item in offer.endpoints:
            if item not in known:
                text = (
                    f"cannot create offer {name}: application {quote(app.name)} has no {quote(item)} relation"
                )
                checker.add(text, "applications", app.name, "offers", name, "endpoints")


def _check_relation(checker: _Checker, number: int) -> None:
    first, second = checker.bundle.relations[number]
    sides = [endpoint(first), endpoint(second)]
    known = [name for name, _ in sides if name in checker.charms]
    defined = []
    for application, name in sides:
        if application in checker.charms and name:
            found = checker.charms[application].meta.find_endpoint(name)
            if found is None:
                charm = quote(checker.bundle.applications[application].charm)
                text = f"charm {charm} used by application {quote(application)} does not define relation"
                checker.add(f"{text} {quote(name)}", "relations", number)
                return
            defined.append(found)
    if len(defined) == 2:
        _check_pair(checker, number, defined, (first, second))
    elif len(known) == 2 and not all(name for _, name in sides):
        _check_inference(checker, number, first, second)


def _check_pair(checker: _Checker, number: int, pair: list[Endpoint], texts: tuple[str, str]) -> None:
    one, two = pair
    first, second = quote(texts[0]), quote(texts[1])
    words = {Role.PROVIDER: "provider", Role.REQUIRER: "requirer", Role.PEER: "peer"}
    if one.interface != two.interface:
        text = f"mismatched interface between {first} and {second}"
        checker.add(f"{text} ({quote(one.interface)} vs {quote(two.interface)})", "relations", number)
    elif one.role is two.role:
        word = words[one.role]
        checker.add(f"relation {first} to {second} relates {word} to {word}", "relations", number)
    elif Role.PEER in (one.role, two.role):
        checker.add(f"relation {first} to {second} relates a peer", "relations", number)


def _check_inference(checker: _Checker, number: int, first: str, second: str) -> None:
    try:
        infer_endpoints(first, second, lambda name: _side(checker, name))
    except PushjujuError as error:
        text = f"cannot infer endpoint between {first} and {second}: {error.message}"
        checker.add(text, "relations", number)


def _side(checker: _Checker, name: str) -> Side | None:
    charm = checker.charms.get(name)
    return Side.of(name, charm.meta, bases=charm.bases(), base=None) if charm else None
