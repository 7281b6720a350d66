"""Plans what a bundle changes in a model: finds the charms, checks everything, and makes the steps.

Only `carry_out` changes the model, through `record`. Mirrors: juju cmd/juju/application/deployer (3.6)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.charms.values.model import Charm
from pushjuju.core import constraints as rules
from pushjuju.core.base import Base
from pushjuju.core.charmstore import StoreResource
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass
from pushjuju.services.bundles import record as bundle_record
from pushjuju.services.bundles.check import apply_changes, charmcheck, local_charms, stored_charms
from pushjuju.services.bundles.check import needs as bundle_needs
from pushjuju.services.bundles.check.apply_changes import Judged
from pushjuju.services.bundles.check.local_charms import Found
from pushjuju.services.bundles.plan import equal, machines, model_facts
from pushjuju.services.bundles.plan.changes import Change, Method
from pushjuju.services.bundles.plan.facts import ModelFacts
from pushjuju.services.bundles.plan.machines import MachineMap
from pushjuju.services.bundles.plan.plan import ResolvedCharm, Wanted, plan
from pushjuju.services.bundles.plan.prune import kept, removals
from pushjuju.services.bundles.read.compose import Composed
from pushjuju.services.bundles.read.load import Loaded, needs_trust, untrusted
from pushjuju.services.bundles.read.values import Application, Bundle, Fault
from pushjuju.services.bundles.read.verify import BundleFaulty
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.supply import store_charms
from pushjuju.services.supply.charm_build import CharmPaths
from pushjuju.services.supply.origins import StoreOrigin
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the flags of the command ask for in addition to the bundle."""

    map_machines: str = ""  # the value of `--map-machines`
    trust: bool = False  # True to let applications that ask for trust read the cloud's credential
    force: bool = False  # True to skip the checks of bases, features and channels
    # application -> storage name -> directive
    storage: Mapping[str, Mapping[str, Directive]] = field(default_factory=dict)
    store_bundle: str = ""  # URL of the bundle when the bundle comes from a store, else empty
    equal: bool = False  # True to change resources, storage and bindings of existing applications too


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan, and the values that are needed to carry it out."""

    bundle: Bundle
    facts: ModelFacts  # the model that the plan was made for
    changes: tuple[Change, ...]
    # application -> path of its charm on this computer
    paths: Mapping[str, Path] = field(default_factory=dict)
    folder: Path | None = None
    wishes: Wishes = field(default_factory=Wishes)
    warnings: tuple[str, ...] = ()
    located: tuple[str, ...] = ()  # progress lines that name the charms found in a store
    # application -> the store that its charm comes from
    origins: Mapping[str, StoreOrigin] = field(default_factory=dict)
    composed: Composed  # the merged text of the bundle, which gives errors their file and line
    # application -> charm, for the charms that could be read
    known: Mapping[str, Charm] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()  # lines about keys of the bundle that cannot be changed in the model
    # existing application -> resources of the store that the application changes to
    resources: Mapping[str, tuple[StoreResource, ...]] = field(default_factory=dict)

    @property
    def applications(self) -> list[str]:
        """The names of the applications that the changes are about, sorted."""
        named = {str(change.args["application"]) for change in self.changes if "application" in change.args}
        return sorted(named)


def prepare(ctx: Context, model: str, loaded: Loaded, wishes: Wishes) -> Prepared:
    """Return the plan that makes a model like a bundle, or raise an error with all faults."""
    require_trust(loaded, wishes)
    bundle = loaded.bundle
    if not wishes.trust:
        bundle = replace(
            bundle, applications={name: _untrusting(app) for name, app in bundle.applications.items()}
        )
        loaded = replace(loaded, bundle=bundle)
    mapping = machines.parse(wishes.map_machines)
    with ctx.read(model) as tx:
        facts = model_facts.read(tx)
    store = _ask_store(ctx, model, loaded, facts, wishes)
    unclear = local_charms.unclear(loaded)
    with ctx.read(model) as tx:
        found = local_charms.find(ctx, tx, loaded, facts, force=wishes.force, without=unclear)
        needs = bundle_needs.check(ctx, tx, loaded, facts, unclear)
        told = _told(found, store)
        judged = Judged()
        if wishes.equal:
            judged = apply_changes.judge(
                ctx, tx, loaded, facts, told, storage=wishes.storage, without=unclear
            )
    _judge(loaded, found, store, (*needs, *judged.faults), told, equal=wishes.equal)
    for name, origin in store.origins.items():
        found.resolved[name] = ResolvedCharm(
            name=origin.charm.name,
            base=str(origin.base),
            channel=str(origin.channel),
            revision=origin.charm.revision,
        )
    changes = _planned(bundle, found, mapping, facts, wishes, judged)
    return Prepared(
        bundle=bundle,
        facts=facts,
        changes=changes,
        paths=found.paths,
        folder=loaded.folder,
        wishes=wishes,
        warnings=(*loaded.warnings, *dict.fromkeys(found.warnings)),
        located=store.lines,
        origins=store.origins,
        composed=loaded.composed,
        known=found.charms,
        fixed=tuple(equal.fixed(bundle, facts, mapping)) if wishes.equal else (),
        resources=apply_changes.of_store(ctx, model, changes, store.origins, found.charms),
    )


def _told(found: Found, store: stored_charms.Resolved) -> dict[str, Charm]:
    """Return application -> charm, for charms that were read and charms that their store describes."""
    told = {name: store_charms.told_charm(origin.charm) for name, origin in store.origins.items()}
    return {**found.charms, **{name: charm for name, charm in told.items() if charm}}


def _ask_store(
    ctx: Context, model: str, loaded: Loaded, facts: ModelFacts, wishes: Wishes
) -> stored_charms.Resolved:
    """Return the store's revisions for a bundle; ignore an error of the store when the bundle has faults."""
    without = local_charms.unclear(loaded)
    if loaded.bundle.type == "kubernetes":  # `needs.check` refuses this bundle
        return stored_charms.Resolved()
    try:
        return stored_charms.resolve(ctx, model, loaded.bundle, facts, force=wishes.force, without=without)
    except PushjujuError:
        if loaded.faults:
            return stored_charms.Resolved()
        raise


def _judge(
    loaded: Loaded,
    found: Found,
    store: stored_charms.Resolved,
    needs: Sequence[Fault],
    listed: Mapping[str, Charm],
    *,
    equal: bool,
) -> None:
    """Refuse a bundle that breaks rules, by itself or with its charms."""
    bundle, composed = loaded.bundle, loaded.composed
    refused = [
        *(local_charms.refusal(composed, name, "charm", error) for name, error in store.failed.items()),
        *found.refused,
    ]
    new = frozenset(found.new) | store.origins.keys() - found.charms.keys()
    if equal:  # also existing applications, unless a store has only described their newer charm so far
        newer = {name for name in store.origins if listed.get(name) is found.charms.get(name)}
        new |= listed.keys() - newer
    faults = [
        *loaded.faults,
        *(item.among_others for item in refused),
        *charmcheck.check(bundle, composed, listed, new, loaded.faults),
        *needs,
    ]
    if len(faults) == len(refused) == 1:
        raise refused[0].alone()
    if faults:
        raise refusing(faults)


def refusing(faults: Sequence[Fault]) -> BundleFaulty:
    """Return the error for a bundle that cannot be deployed; the text is Juju's."""
    error = BundleFaulty(list(faults))
    error.message = f"cannot deploy bundle: {error.message}"
    return error


def require_trust(loaded: Loaded, wishes: Wishes) -> None:
    """Refuse a bundle whose applications ask for trust when the user gave neither `--trust` nor `--force`."""
    if loaded.faults:  # the faults of the bundle are reported first
        return
    if (names := needs_trust(loaded.bundle)) and not (wishes.trust or wishes.force):
        raise untrusted(names)


def _planned(
    bundle: Bundle, found: Found, mapping: MachineMap, facts: ModelFacts, wishes: Wishes, judged: Judged
) -> tuple[Change, ...]:
    wanted = Wanted(
        bundle=bundle,
        charms=found.resolved,
        mapping=mapping,
        force=wishes.force,
        store_bundle=wishes.store_bundle,
        equal=wishes.equal,
        files=judged.files,
        storage=wishes.storage,
    )
    return plan(wanted, facts)


def _untrusting(app: Application) -> Application:
    """Return an application without trust, as `--force` without `--trust` deploys applications."""
    options = {key: value for key, value in app.options.items() if key != "trust"}
    return replace(app, trust=False, options=options)


# --- removals and machines --------------------------------------------------------------------------------


def with_removals(
    prepared: Prepared, *, prune: bool, destroy_storage: bool = False
) -> tuple[Prepared, list[str]]:
    """Add removals to a plan when `prune` is True, for entities that the bundle does not have.

    Returns:
        The plan, and a line for each entity that stays although the bundle does not have it.
    """
    mapping = machines.parse(prepared.wishes.map_machines)
    removed = removals(
        prepared.bundle,
        prepared.facts,
        mapping=mapping,
        destroy_storage=destroy_storage,
        store_bundle=prepared.wishes.store_bundle,
        start=len(prepared.changes),
    )
    left = [] if destroy_storage else kept(prepared.bundle, prepared.facts, mapping=mapping)
    if prune:
        return replace(prepared, changes=(*prepared.changes, *removed)), [f"- {line}" for line in left]
    lines = [line for change in removed for line in change.lines]
    return prepared, [f"- {line}" for line in (*lines, *left)]


def machine_needs(prepared: Prepared) -> list[tuple[Base, dict[str, object]]]:
    """Return base and constraints of the new machines, each pair once, for the cloud to check."""
    bases = {name: app.base for name, app in prepared.facts.applications.items()}
    constraints = {name: dict(app.constraints) for name, app in prepared.facts.applications.items()}
    hosts: dict[str, str] = {}
    for change in prepared.changes:
        if change.method is Method.DEPLOY:
            name = str(change.args["application"])
            bases[name] = str(change.args["base"])
            constraints[name] = rules.parse(str(change.args.get("constraints", "")))
        elif change.method is Method.ADD_UNIT:
            hosts.setdefault(str(change.args.get("to", "")), str(change.args["application"]))
    found: list[tuple[Base, dict[str, object]]] = []
    for change in prepared.changes:
        if change.method is Method.ADD_MACHINES:
            owner = hosts.get(f"${change.id}", str(change.args.get("application", "")))
            text = str(change.args.get("base") or bases.get(owner, ""))
            wanted = rules.parse(str(change.args.get("constraints", "")))
        elif change.method is Method.ADD_UNIT and "to" not in change.args:
            text = bases[str(change.args["application"])]
            wanted = constraints[str(change.args["application"])]
        else:
            continue
        pair = (
            (Base.parse(text), {key: value for key, value in wanted.items() if value is not None})
            if text
            else None
        )
        if pair and pair not in found:
            found.append(pair)
    return found


# --- carrying it out --------------------------------------------------------------------------------------


def carry_out(
    ctx: Context, model: str, prepared: Prepared, check: Callable[[ModelTx], None] | None = None
) -> list[str]:
    """Record the steps of a plan in the store; the process that drives the model carries them out.

    Returns:
        The applications that the plan is about.

    Raises:
        PushjujuError: A step is not possible; nothing is changed.
    """
    with _packed(ctx, model, prepared) as (packed, fetched):
        order = bundle_record.Order(
            changes=prepared.changes,
            packed=packed,
            files=apply_changes.resource_files(
                prepared.changes, prepared.folder, {*prepared.origins, *prepared.resources}
            ),
            storage=prepared.wishes.storage,
            origins=prepared.origins,
            store_resources={**prepared.resources, **fetched.resources},
        )
        return bundle_record.record(ctx, model, order, check)


def same_model(digest: str) -> Callable[[ModelTx], None]:
    """Return a check that raises NotValid unless the model still has the digest of the plan."""

    def check(tx: ModelTx) -> None:
        if model_facts.read(tx).digest() != digest:
            raise NotValid("the model changed since the plan was made", hint="make a new plan")

    return check


@contextmanager
def _packed(
    ctx: Context, model: str, prepared: Prepared
) -> Iterator[tuple[dict[str, PackedCharm], stored_charms.Fetched]]:
    """Pack or fetch each charm once; yield `{step: its charm}`, and the charms that came from the store."""
    found: dict[str, PackedCharm] = {}
    uploads = {
        f"${change.id}": str(change.args["charm"])
        for change in prepared.changes
        if change.method is Method.ADD_CHARM
    }
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as work:
        store = Path(work) / "store"
        store.mkdir()
        places = CharmPaths(ctx, model, Path(work))
        fetched = stored_charms.fetch(ctx, model, prepared.changes, prepared.bundle, prepared.origins, store)
        _check_fetched(prepared, fetched)
        for change in prepared.changes:
            if change.method is Method.SET_RESOURCES:
                name = str(change.args["application"])
                found[change.id] = _current(ctx, model, name)
            if change.method not in (Method.DEPLOY, Method.UPGRADE_CHARM):
                continue
            name, charm = str(change.args["application"]), str(change.args["charm"])
            if name in fetched.packed:
                found[change.id] = fetched.packed[name]
            elif charm in uploads:
                app, base = prepared.bundle.applications[name], str(change.args.get("base", ""))
                found[change.id] = places.packed(uploads[charm], base, rules.parse(app.constraints))
            else:
                found[change.id] = _stored(ctx, model, charm)
        yield found, fetched


def _check_fetched(prepared: Prepared, fetched: stored_charms.Fetched) -> None:
    """Check the bundle against the charms that were fetched from the store, now that their files are read."""
    if not fetched.packed:
        return
    charms_ = {**prepared.known, **{name: packed.charm for name, packed in fetched.packed.items()}}
    faults = charmcheck.check(prepared.bundle, prepared.composed, charms_, frozenset(fetched.packed))
    if faults:
        raise refusing(faults)


def _current(ctx: Context, model: str, application: str) -> PackedCharm:
    with ctx.read(model) as tx:
        url = applications.get(tx, application).charm_url
    return _stored(ctx, model, url)


def _stored(ctx: Context, model: str, url: str) -> PackedCharm:
    with ctx.read(model) as tx:
        record, charm = charms.record(tx, url), charms.get(tx, url)
    path = ctx.controller.blobs.path(record.sha256)
    return PackedCharm(path=path, sha256=record.sha256, size=record.size, members=(), charm=charm)
