"""Verifies the rules of bundles, and reports every fault at once.

Mirrors: juju/charm v12 bundledata.go Verify, VerifyLocal (the rules, the texts)
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path as FilePath

from pushjuju.charms.format.url import parse_url
from pushjuju.core import constraints as rules
from pushjuju.core.base import SERIES, Base
from pushjuju.core.errors import NotValid
from pushjuju.core.names import is_endpoint, is_storage
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.names import is_application
from pushjuju.portable.natural import natural_key
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.read import placement
from pushjuju.services.bundles.read.compose import Composed, overlay_faults
from pushjuju.services.bundles.read.decode import decode
from pushjuju.services.bundles.read.values import Application, Bundle, Fault, Machine, endpoint

HEADER = "the provided bundle has the following errors:"
_OFFER_URL = regex(
    r"(?:(?P<controller>[^\\/:]+):)?(?:(?P<user>[^/:.]+(?:@[^/:]+)?)/)?"
    r"(?P<model>[a-z0-9][a-z0-9-]*)\.(?P<name>[a-z][a-z0-9-]*)(?::(?P<endpoint>[a-z0-9-]*))?"
)
_LEVELS = ("read", "consume", "admin")
_DEVICE = regex(r"(?:[0-9]{1,9},)?[a-z0-9./-]+(?:,[^,]+=[^,]*(?:;[^,]+=[^,]*)*)?")

Exists = Callable[[str], bool]


class BundleFaulty(NotValid, code="bundle-not-valid"):
    """The error that lists the faults of a bundle."""

    def __init__(self, faults: list[Fault], *, hint: str = "") -> None:
        self.faults = tuple(faults)
        lines = "\n".join(str(fault) for fault in faults)
        super().__init__(f"{HEADER}\n{lines}", hint=hint)


@dataclass(slots=True)
class _Checker:
    """A bundle that is being verified, and the faults found so far."""

    bundle: Bundle
    composed: Composed
    exists: Exists
    base_only: bool
    faults: list[Fault] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def add(self, text: str, *path: str | int) -> None:
        place = self.composed.places.at(self.composed.root, path)
        self.faults.append(Fault(text=text, path=path, place=place))


def check(composed: Composed, *, exists: Exists | None = None, base_only: bool = False) -> Bundle:
    """Return the typed bundle, or raise BundleFaulty with all its faults.

    Args:
        composed: A bundle, with or without its overlays.
        exists: Returns True when a charm's path exists, or None to look in the file system.
        base_only: True when the bundle is the first document alone, without overlays.
    """
    bundle, faults = verify(composed, exists=exists, base_only=base_only)
    if faults:
        raise BundleFaulty(faults)
    return bundle


def verify(
    composed: Composed, *, exists: Exists | None = None, base_only: bool = False
) -> tuple[Bundle, list[Fault]]:
    """Return the typed bundle and all its faults, in the order of the document's parts."""
    bundle, wrong = decode(composed)
    checker = _Checker(bundle, composed, exists or (lambda path: FilePath(path).exists()), base_only)
    checker.faults += composed.faults
    checker.faults += wrong
    if base_only:
        checker.faults += overlay_faults(composed)
    _check_top(checker)
    for name in sorted(bundle.applications, key=natural_key):
        _check_application(checker, bundle.applications[name])
    _check_saas(checker)
    for name in sorted(bundle.machines, key=natural_key):
        _check_machine(checker, name, bundle.machines[name])
    _check_relations(checker)
    _check_circles(checker)
    return bundle, checker.faults


# --- the bundle itself ------------------------------------------------------------------------------------


def _check_top(checker: _Checker) -> None:
    bundle = checker.bundle
    if bundle.type not in ("", "kubernetes"):
        checker.add(f"bundle has an invalid type {quote(bundle.type)}", "bundle")
    if bundle.series and bundle.series not in SERIES:
        checker.add(f"bundle declares an invalid series {quote(bundle.series)}", "series")
    if bundle.default_base and _base(bundle.default_base) is None:
        checker.add(f"bundle declares an invalid base {quote(bundle.default_base)}", "default-base")
    if _differ(bundle.series, bundle.default_base):
        text = f"bundle series {quote(bundle.series)} and base {quote(bundle.default_base)}"
        checker.add(f"{text} must match if both supplied", "series")
    if not checker.composed.root.get("applications"):
        checker.faults.append(_no_applications(checker.composed))


def _no_applications(composed: Composed) -> Fault:
    """Return the fault of a bundle without applications, with a hint when it has the old key `services`."""
    old = "services" in composed.root
    more = ("`services` is not read: its name is `applications`",) if old else ()
    key = "services" if old and "applications" not in composed.root else "applications"
    place = composed.places.at(composed.root, (key,)) or composed.begin
    text = "at least one application must be specified"
    return Fault(text=text, path=("applications",), place=place, more=more)


def _base(text: str) -> Base | None:
    try:
        return Base.parse(text)
    except NotValid:
        return None


def _differ(series: str, base: str) -> bool:
    parsed = _base(base) if base else None
    return bool(parsed and series in SERIES and not Base.from_series(series).matches(parsed))


# --- applications -----------------------------------------------------------------------------------------


def _check_application(checker: _Checker, app: Application) -> None:
    where = ("applications", app.name)
    if not is_application(app.name):
        checker.add(f"invalid application name {quote(app.name)} found", *where)
    _check_charm(checker, app)
    _check_bases(checker, app)
    if app.name in checker.bundle.saas:
        checker.add(f"application {quote(app.name)} already exists with SAAS {quote(app.name)} name", *where)
    _check_constraints(checker, app.constraints, f"application {quote(app.name)}", *where)
    _check_stores(checker, app)
    _check_offers(checker, app)
    for name in app.resources:
        if not name:
            checker.add(f"missing resource name on application {quote(app.name)}", *where, "resources")
    _check_exposure(checker, app)
    _check_units(checker, app)


def _check_charm(checker: _Checker, app: Application) -> None:
    where, name = ("applications", app.name, "charm"), quote(app.name)
    if not app.charm:
        return checker.add("empty charm path", *where)
    if app.charm.startswith((".", "/")):
        if not checker.exists(app.charm):
            checker.add(f"charm path in application {name} does not exist: {app.charm}", *where)
        return _check_local(checker, app)
    try:
        url = parse_url(app.charm)
    except NotValid as error:
        return checker.add(f"invalid charm URL in application {name}: {error.message}", *where)
    if url.series and url.series != (app.series or checker.bundle.series or url.series):
        text = f"the charm URL for application {name} has a series which does not match"
        checker.add(f"{text}, please remove the series from the URL", *where)
    if url.schema == "local":
        return _check_local(checker, app)
    if url.revision >= 0:
        checker.add(f"cannot specify revision in {quote(app.charm)}, please use revision", *where)
    if app.revision is not None and app.revision < 0:
        checker.add(f"the revision for application {name} must be zero or greater", *where[:2], "revision")
    if app.revision is not None and not app.channel:
        text = (
            f"application {name} with a revision requires a channel for future upgrades, please use channel"
        )
        checker.add(text, *where[:2], "revision")
    return None


def _check_local(checker: _Checker, app: Application) -> None:
    if app.revision is not None and app.revision < 0:
        text = f"the revision for application {quote(app.name)} must be zero or greater"
        checker.add(text, "applications", app.name, "revision")


def _check_bases(checker: _Checker, app: Application) -> None:
    where, name = ("applications", app.name), quote(app.name)
    if app.series and app.series not in SERIES:
        checker.add(f"application {name} declares an invalid series {quote(app.series)}", *where, "series")
    if app.base and _base(app.base) is None:
        checker.add(f"application {name} declares an invalid base {quote(app.base)}", *where, "base")
    if _differ(app.series, app.base):
        text = f"application {name} series {quote(app.series)} and base {quote(app.base)}"
        checker.add(f"{text} must match if both supplied", *where, "base")


def _check_constraints(checker: _Checker, text: str, what: str, *where: str) -> None:
    try:
        found = rules.parse(text)
    except NotValid as error:
        return checker.add(
            f"invalid constraints {quote(text)} in {what}: {error.message}", *where, "constraints"
        )
    if checker.base_only and found.get("image-id"):
        reason = "'image-id' constraint in a base bundle not supported"
        checker.add(f"invalid constraints {quote(text)} in {what}: {reason}", *where, "constraints")
    return None


def _check_stores(checker: _Checker, app: Application) -> None:
    where, name = ("applications", app.name), quote(app.name)
    for store, text in app.storage.items():
        if not is_storage(store):
            checker.add(
                f"invalid storage name {quote(store)} in application {name}", *where, "storage", store
            )
        try:
            Directive.parse(text)
        except NotValid as error:
            reason = f"invalid storage {quote(store)} in application {name}: {error.message}"
            checker.add(reason, *where, "storage", store)
    for device, text in app.devices.items():
        if not is_storage(device):
            checker.add(
                f"invalid device name {quote(device)} in application {name}", *where, "devices", device
            )
        if not _DEVICE.fullmatch(text):
            reason = f"invalid device {quote(device)} in application {name}: cannot parse {quote(text)}"
            checker.add(reason, *where, "devices", device)


def _check_offers(checker: _Checker, app: Application) -> None:
    for name, offer in app.offers.items():
        where = ("applications", app.name, "offers", name)
        if not is_application(name):
            checker.add(f"invalid offer name {quote(name)} in application {quote(app.name)}", *where)
        for item in offer.endpoints:
            if not is_endpoint(item):
                text = f"invalid endpoint name {quote(item)} for offer {quote(name)}"
                checker.add(f"{text} in application {quote(app.name)}", *where)
        for user, level in offer.acl.items():
            if level not in _LEVELS:
                text = f"cannot grant {level} access to user {user} on offer {name}"
                checker.add(f'{text}: "{level}" offer access not valid', *where, "acl", user)


def _check_exposure(checker: _Checker, app: Application) -> None:
    where = ("applications", app.name, "exposed-endpoints")
    if app.expose and app.exposed_endpoints:
        checker.add(
            'exposed-endpoints cannot be specified together with "exposed:true" in application '
            f"{quote(app.name)} as this poses a security risk when deploying bundles to older controllers",
            *where,
        )
    for name, exposed in app.exposed_endpoints.items():
        for cidr in exposed.cidrs:
            try:
                ipaddress.ip_network(cidr, strict=False)
            except ValueError:
                text = f"invalid CIDR {quote(cidr)} for expose to CIDRs field for endpoint {quote(name)}"
                checker.add(f"{text} in application {quote(app.name)}", *where, name)


def _check_units(checker: _Checker, app: Application) -> None:
    where, name = ("applications", app.name), quote(app.name)
    if app.num_units < 0:
        checker.add(f"negative number of units specified on application {name}", *where, "num_units")
    elif len(app.to) > app.num_units:
        checker.add(f"too many units specified in unit placement for application {name}", *where, "to")
    if app.placement and checker.bundle.type != "kubernetes":
        text = f"placement ({app.placement}) not valid for non-Kubernetes application {name}"
        checker.add(text, *where, "placement")
    for number, text in enumerate(app.to):
        try:
            target = placement.parse(text)
        except NotValid as error:
            checker.add(error.message, *where, "to", number)
        else:
            _check_target(checker, text, target, *where, "to", number)


def _check_target(checker: _Checker, text: str, target: placement.Target, *where: str | int) -> None:
    bundle = checker.bundle
    if target.application:
        beside = bundle.applications.get(target.application)
        if beside is None:
            checker.add(
                f"placement {quote(text)} refers to an application not defined in this bundle", *where
            )
        elif target.unit >= beside.num_units:
            reason = f"specifies a unit greater than the {beside.num_units} unit(s) started"
            checker.add(f"placement {quote(text)} {reason} by the target application", *where)
    elif target.machine != placement.NEW:
        checker.used.add(target.machine)
        if target.machine not in bundle.machines:
            checker.add(f"placement {quote(text)} refers to a machine not defined in this bundle", *where)


# --- offers, machines and relations -----------------------------------------------------------------------


def _check_saas(checker: _Checker) -> None:
    for name in sorted(checker.bundle.saas):
        where, url = ("saas", name), checker.bundle.saas[name]
        if not is_application(name):
            checker.add(f"invalid SAAS name {quote(name)} found", *where)
        if name in checker.bundle.applications:
            checker.add(f"SAAS {quote(name)} already exists with application {quote(name)} name", *where)
        if not url or not _OFFER_URL.fullmatch(url):
            checker.add(f"invalid offer URL {quote(url)} for SAAS {name}", *where)
        elif (parts := parse_offer_url(url)) and parts["endpoint"] is not None:
            checker.add(f"saas offer {quote(url)} shouldn't include endpoint", *where)


def _check_machine(checker: _Checker, name: str, machine: Machine) -> None:
    where, shown = ("machines", name), quote(name)
    if not placement.is_machine(name):
        checker.add(f"invalid machine id {shown} found in machines", *where)
    _check_constraints(checker, machine.constraints, f"machine {shown}", *where)
    if machine.series and machine.series not in SERIES:
        checker.add(f"invalid series {machine.series} for machine {shown}", *where, "series")
    if machine.base and _base(machine.base) is None:
        checker.add(f"invalid base {quote(machine.base)} for machine {shown}", *where, "base")
    if _differ(machine.series, machine.base):
        text = f"machine {shown} series {quote(machine.series)} and base {quote(machine.base)}"
        checker.add(f"{text} must match if both supplied", *where, "base")
    if name not in checker.used:
        checker.add(f"machine {shown} is not referred to by a placement directive", *where)


def _check_relations(checker: _Checker) -> None:
    seen: set[tuple[str, ...]] = set()
    for number, relation in enumerate(checker.bundle.relations):
        texts = list(_relation_faults(checker, relation))
        key = tuple(sorted(relation))
        if not texts and key in seen:
            texts = [f"relation {shown(relation)} is defined more than once"]
        seen.add(key)
        for text in texts:
            checker.add(text, "relations", number)


def _relation_faults(checker: _Checker, relation: tuple[str, ...] | list[str] | object) -> Iterator[str]:
    items = list(relation) if isinstance(relation, tuple | list) else []
    if len(items) != 2:
        yield f"relation {shown(items)} has {len(items)} endpoint(s), not 2"
        return
    sides = []
    for item in items:
        application, name = endpoint(item)
        if not is_application(application) or (":" in item and not is_endpoint(name)):
            yield f"invalid relation syntax {quote(item)}"
            continue
        sides.append(application)
        in_saas, in_apps = application in checker.bundle.saas, application in checker.bundle.applications
        if in_saas and in_apps:
            yield f"ambiguous relation {quote(application)} refers to a application and a SAAS in this bundle"
        elif not (in_saas or in_apps):
            reason = f"refers to application {quote(application)} not defined in this bundle"
            yield f"relation {shown(items)} {reason}"
    if len(sides) == 2 and sides[0] == sides[1]:
        yield f"relation {shown(items)} relates an application to itself"


def _check_circles(checker: _Checker) -> None:
    """Add a fault for applications whose units are placed beside each other in a circle."""
    wrong = {fault.path[1] for fault in checker.faults if "to" in fault.path[2:3]}
    waits = {
        name: placement.beside(app.to)
        for name, app in checker.bundle.applications.items()
        if name not in wrong
    }
    if waiting := placement.in_circle(waits):
        text = f"cycle in placement directives for: {', '.join(waiting)}"
        checker.add(text, "applications", waiting[0], "to")


def shown(relation: object) -> str:
    """Return a relation as Go prints a list of strings (`%q`)."""
    items = relation if isinstance(relation, tuple | list) else ()
    return "[" + " ".join(quote(str(item)) for item in items) + "]"


def parse_offer_url(text: str) -> re.Match[str] | None:
    """Return the match of an offer's URL, or None when the text is not such a URL."""
    return _OFFER_URL.fullmatch(text)
