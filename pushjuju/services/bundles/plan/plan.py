"""Plans the steps that make a model like a bundle. Pure.

Mirrors: juju core/bundle/changes handlers.go (3.6): the order of the steps, the predicted numbers, the texts
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.core import constraints as rules
from pushjuju.core.errors import NotValid
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.plan import changes, equal, machines
from pushjuju.services.bundles.plan.changes import Change, Draft, Method
from pushjuju.services.bundles.plan.facts import ApplicationFacts, ModelFacts
from pushjuju.services.bundles.plan.machines import MachineMap
from pushjuju.services.bundles.plan.placing import place_units
from pushjuju.services.bundles.read.values import Application, Bundle, endpoint, machine_base


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedCharm:
    """The charm revision that an application of a bundle gets."""

    name: str  # the name in the charm's metadata
    base: str  # the base that the application runs on, `os@track/risk`
    channel: str = ""  # the channel of the store; empty for a local charm
    revision: int = -1  # the revision in the store; -1 for a local charm
    known: bool = False  # True when the model already has the charm


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A bundle, and the other values on which the plan depends."""

    bundle: Bundle
    # application -> its charm; existing applications that keep their charm need no entry
    charms: Mapping[str, ResolvedCharm] = field(default_factory=dict)
    mapping: MachineMap = field(default_factory=MachineMap)  # bundle machine -> machine of the model
    force: bool = False  # True to let charms change to another channel
    store_bundle: str = ""  # URL of the bundle when the bundle comes from a store, else empty
    # True to change resources, storage and bindings of existing applications too, unlike Juju
    equal: bool = False
    # application -> resource that the bundle names by a path -> SHA-384 of that file, in hex
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # application -> storage name -> directive of the command line
    storage: Mapping[str, Mapping[str, Directive]] = field(default_factory=dict)


@dataclass(slots=True)
class _Planner:
    wanted: Wanted
    model: ModelFacts
    draft: Draft = field(default_factory=Draft)
    uploads: dict[tuple[Any, ...], str] = field(default_factory=dict)
    added: dict[str, str] = field(default_factory=dict)


def plan(wanted: Wanted, model: ModelFacts) -> tuple[Change, ...]:
    """Return the steps in the order in which they are done; empty when the model equals the bundle."""
    planner, bundle = _Planner(wanted, model), wanted.bundle
    for name in sorted(bundle.applications, key=natural_key):
        _application(planner, bundle.applications[name])
    known = machines.infer(model, bundle, wanted.mapping)
    sequences = dict(model.sequences)
    new = _machines(planner, known, sequences)
    _saas(planner)
    _offers(planner)
    _relations(planner)
    used = place_units(
        planner.draft, bundle, model, known=known, new=new, sequences=sequences, added=planner.added
    )
    machines.require_used(model, bundle, new, used)
    return planner.draft.sorted()


# --- applications -----------------------------------------------------------------------------------------


def _application(planner: _Planner, app: Application) -> None:
    there = planner.model.applications.get(app.name)
    if there is None:
        _new_application(planner, app)
    else:
        _old_application(planner, app, there)
    annotations = dict(app.annotations)
    if planner.wanted.store_bundle:
        annotations[changes.BUNDLE_URL] = planner.wanted.store_bundle
    known = there.annotations if there else {}
    changed = {key: value for key, value in annotations.items() if known.get(key) != value}
    if changed:
        args = {"entity-type": "application", "id": app.name, "annotations": changed}
        requires = [planner.added[app.name]] if there is None else []
        planner.draft.add(Method.SET_ANNOTATIONS, args, f"set annotations for {app.name}", requires=requires)


def _new_application(planner: _Planner, app: Application) -> None:
    charm = planner.wanted.charms[app.name]
    upload = _upload(planner, app, charm)
    origin = "" if app.charm.startswith(("/", ".")) else "local" if app.is_local else "charm-hub"
    args: dict[str, object] = {
        "application": app.name,
        "charm": f"${upload}" if upload else app.charm_name,
        "base": charm.base,
        "channel": charm.channel,
        "options": app.settings,
        "constraints": app.constraints,
        "storage": dict(app.storage),
        "endpoint-bindings": dict(app.bindings),
        "resources": dict(app.resources),
        "trust": app.trusted,
    }
    line = changes.deploy_line(
        app.name, charm.name if origin else app.name, origin=origin, base=charm.base, channel=app.channel
    )
    filled = {key: value for key, value in args.items() if value not in ("", {}, False)}
    name = planner.draft.add(Method.DEPLOY, filled, line, requires=[upload] if upload else [])
    planner.added[app.name] = name
    if app.exposures:
        _expose(planner, app, requires=[name])


def _upload(planner: _Planner, app: Application, charm: ResolvedCharm) -> str:
    """Return the step that uploads an application's charm; empty when the model already has the charm."""
    arch = str(rules.parse(app.constraints).get("arch") or planner.model.arch)
    channel = "" if app.is_local else charm.channel
    revision = charm.revision
    key = (app.charm_name, arch, charm.base, channel, revision)
    if key in planner.uploads:
        return planner.uploads[key]
    path = app.charm.startswith(("/", "."))
    if charm.known:
        return ""
    if not path and any(_has(there, key) for there in planner.model.applications.values()):
        return ""
    line = changes.charm_line(
        app.charm if path else charm.name, local=app.is_local, base=charm.base,
        revision=app.revision, channel=app.channel, arch="" if path else arch,
    )  # fmt: skip
    args = {
        "charm": app.charm if app.is_local else app.charm_name,
        "base": charm.base,
        "channel": app.channel,
        "architecture": arch,
    }
    if not app.is_local:
        args["revision"] = str(revision)
    made = planner.draft.add(Method.ADD_CHARM, {name: text for name, text in args.items() if text}, line)
    planner.uploads[key] = made
    return made


def _has(there: ApplicationFacts, key: tuple[Any, ...]) -> bool:
    charm, _, base, channel, revision = key
    if there.is_local:
        return bool(there.charm == charm and there.base == base)
    return (there.charm, there.base, there.channel, there.revision) == (charm, base, channel, revision)


def _old_application(planner: _Planner, app: Application, there: ApplicationFacts) -> None:
    upgraded = _upgrades(planner, app, there)
    requires = [_upgrade(planner, app)] if upgraded else []
    if planner.wanted.equal:
        if not upgraded:  # the upgrade step already sets the resources
            _resources(planner, app, there)
        _storage(planner, app, there, requires)
    _options(planner, app, there)
    if not equal.same_constraints(app.constraints, there.constraints):
        args = {"application": app.name, "constraints": app.constraints}
        planner.draft.add(
            Method.SET_CONSTRAINTS, args, f'set constraints for {app.name} to "{app.constraints}"'
        )
    if planner.wanted.equal:  # after the constraints, which may forbid a space
        _bindings(planner, app, there, requires)
    known = {name: item for name, item in there.exposures.items() if name in app.exposures}
    if app.exposures and (not there.exposed or not equal.same_exposures(app.exposures, known)):
        _expose(planner, app)  # endpoints that the bundle does not name stay exposed as they are


def _upgrade(planner: _Planner, app: Application) -> str:
    charm = planner.wanted.charms[app.name]
    upload = _upload(planner, app, charm)
    args = {
        "application": app.name,
        "charm": f"${upload}" if upload else app.charm_name,
        "base": charm.base,
        "channel": charm.channel,
        "resources": dict(app.resources),
        "force": planner.wanted.force,
    }
    line = changes.upgrade_line(app.name, charm.name, base=charm.base, channel=app.channel)
    filled = {key: value for key, value in args.items() if value not in ("", {}, False)}
    return planner.draft.add(Method.UPGRADE_CHARM, filled, line, requires=[upload] if upload else [])


def _resources(planner: _Planner, app: Application, there: ApplicationFacts) -> None:
    files = planner.wanted.files.get(app.name, {})
    changed = equal.resources(app, there, files)
    if changed:
        args: dict[str, object] = {"application": app.name, "resources": changed}
        if named := {name: files[name] for name in changed if name in files}:
            args["fingerprints"] = named  # `apply` refuses a saved plan when a file has changed
        planner.draft.add(Method.SET_RESOURCES, args, *changes.resource_lines(app.name, changed))


def _storage(planner: _Planner, app: Application, there: ApplicationFacts, requires: Sequence[str]) -> None:
    found = equal.storage(app, there, planner.wanted.storage.get(app.name, {}))
    if found:
        texts = {store: str(directive) for store, directive in found.items()}
        args = {"application": app.name, "storage": texts}
        line = changes.storage_line(app.name, texts)
        planner.draft.add(Method.SET_STORAGE, args, line, requires=requires)


def _bindings(planner: _Planner, app: Application, there: ApplicationFacts, requires: Sequence[str]) -> None:
    """Bind all endpoints of the bundle, because other endpoints follow a change of the default space."""
    if equal.bindings(app, there):
        args = {"application": app.name, "endpoint-bindings": dict(app.bindings)}
        line = changes.bind_line(app.name, app.bindings)
        planner.draft.add(Method.BIND, args, line, requires=requires)


def _options(planner: _Planner, app: Application, there: ApplicationFacts) -> None:
    changed = {key: value for key, value in app.settings.items() if not equal.has_option(there, key, value)}
    if changed:
        args = {"application": app.name, "options": changed}
        planner.draft.add(Method.SET_OPTIONS, args, f"set application options for {app.name}")
    if app.trusted and not there.trust:
        planner.draft.add(Method.SET_TRUST, {"application": app.name, "trust": True}, f"trust {app.name}")


def _upgrades(planner: _Planner, app: Application, there: ApplicationFacts) -> bool:
    """Return True when an application gets another charm or a newer revision; raise when Juju forbids it."""
    if app.is_local:
        return False
    if app.charm_name != there.charm:
        return True
    if there.revision == -1:
        return False
    if not there.channel:
        if app.channel and not planner.wanted.force:
            text = f"upgrades not supported when the channel for {quote(app.name)} is unknown"
            raise NotValid(f"{text}; use --force to override")
        return bool(app.channel)
    charm = planner.wanted.charms.get(app.name)
    if charm is None:  # charm, channel and revision are the model's
        return False
    name = quote(app.name)
    if charm.channel != there.channel and not planner.wanted.force:
        verb = "requested" if app.channel else "resolved"
        raise NotValid(
            f"application {name}: upgrades not supported across channels (existing: {quote(there.channel)}, "
            f"{verb}: {quote(charm.channel)}); use --force to override"
        )
    if charm.revision != -1 and charm.revision < there.revision:
        raise NotValid(
            f"application {name}: downgrades are not currently supported: deployed revision "
            f"{there.revision} is newer than requested revision {charm.revision}"
        )
    return charm.revision > there.revision


def _expose(planner: _Planner, app: Application, requires: Sequence[str] = ()) -> None:
    exposed = {
        name: {"expose-to-spaces": list(item.spaces), "expose-to-cidrs": list(item.cidrs)}
        for name, item in app.exposed_endpoints.items()
    }
    args: dict[str, object] = {"application": app.name}
    if exposed:
        args["exposed-endpoints"] = exposed
    planner.draft.add(Method.EXPOSE, args, *changes.expose_lines(app.name, app.exposures), requires=requires)


# --- machines ---------------------------------------------------------------------------------------------


def _machines(planner: _Planner, known: Mapping[str, str], sequences: dict[str, int]) -> dict[str, str]:
    """Add steps for the machines that the model lacks; return bundle machine -> step."""
    bundle, new, before = planner.wanted.bundle, dict[str, str](), list[str]()
    for number in sorted(bundle.machines, key=natural_key):
        machine, requires = bundle.machines[number], list[str]()
        if number in known:
            target, name = f"existing machine {known[number]}", known[number]
            annotations = planner.model.machines[known[number]].annotations
        else:
            name = str(sequences.get("machine", 0))
            sequences["machine"] = int(name) + 1
            args = {
                "machine": name,
                "base": machine_base(bundle, machine),
                "constraints": machine.constraints,
            }
            step = planner.draft.add(
                Method.ADD_MACHINES,
                {key: value for key, value in args.items() if value},
                changes.machine_line(name, number),
                requires=before,
            )
            new[number], requires, annotations = step, [step], {}
            before.append(step)
            target = f"new machine {name}"
        changed = {key: value for key, value in machine.annotations.items() if annotations.get(key) != value}
        if changed:
            args_: dict[str, object] = {"entity-type": "machine", "id": name, "annotations": changed}
            planner.draft.add(
                Method.SET_ANNOTATIONS, args_, f"set annotations for {target}", requires=requires
            )
    return new


# --- offers and relations ---------------------------------------------------------------------------------


def _saas(planner: _Planner) -> None:
    for name, url in sorted(planner.wanted.bundle.saas.items()):
        if name not in planner.model.saas:
            args = {"url": url, "application-name": name}
            planner.added[name] = planner.draft.add(
                Method.CONSUME_OFFER, args, f"consume offer {name} at {url}"
            )


def _offers(planner: _Planner) -> None:
    for app in sorted(planner.wanted.bundle.applications.values(), key=lambda item: natural_key(item.name)):
        there = planner.model.applications.get(app.name)
        for name, offer in sorted(app.offers.items()):
            known = there.offers.get(name) if there else None
            step = ""
            if known is None or sorted(known.endpoints) != sorted(offer.endpoints):
                verb = "update" if known else "create"
                args = {"application": app.name, "endpoints": list(offer.endpoints), "offer-name": name}
                line = f"{verb} offer {name} using {app.name}:{','.join(offer.endpoints)}"
                requires = [planner.added[app.name]] if app.name in planner.added else []
                step = planner.draft.add(
                    Method.CREATE_OFFER, {**args, "update": bool(known)}, line, requires=requires
                )
            for user, level in sorted(offer.acl.items()):
                if known and equal.has_access(known.acl.get(user, ""), level):
                    continue
                planner.draft.add(
                    Method.GRANT_OFFER_ACCESS,
                    {"user": user, "access": level, "offer": name},
                    f"grant user {user} {level} access to offer {name}",
                    requires=[step] if step else [],
                )


def _relations(planner: _Planner) -> None:
    for first, second in planner.wanted.bundle.relations:
        if planner.model.has_relation(first, second) or equal.has_relation(planner.model, first, second):
            continue
        requires = [
            planner.added[name] for name in (endpoint(first)[0], endpoint(second)[0]) if name in planner.added
        ]
        planner.draft.add(
            Method.ADD_RELATION,
            {"endpoint1": first, "endpoint2": second},
            f"add relation {first} - {second}",
            requires=requires,
        )
