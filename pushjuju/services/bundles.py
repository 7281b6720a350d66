"""What a bundle means for a model: charms found, everything checked, the plan made. Layer: services.

Nothing here changes the model; `bundle_record` does. Mirrors: juju cmd/juju/application/deployer (3.6)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.bundles import charmcheck, machines
from pushjuju.bundles.changes import Change, Method
from pushjuju.bundles.facts import ModelFacts
from pushjuju.bundles.load import Loaded, needs_trust, untrusted
from pushjuju.bundles.machines import MachineMap
from pushjuju.bundles.plan import ResolvedCharm, Wanted, application_base, plan
from pushjuju.bundles.prune import removals
from pushjuju.bundles.values import Application, Bundle
from pushjuju.bundles.verify import BundleFaulty
from pushjuju.charms.bases import BaseRequest, choose_base
from pushjuju.charms.features import check_features
from pushjuju.charms.goform import quote
from pushjuju.charms.model import Charm
from pushjuju.charms.reader import read_charm
from pushjuju.core import constraints as rules
from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.core.storage import Directive
from pushjuju.services import bundle_facts, bundle_record, bundle_store, charms
from pushjuju.services.charm_build import CharmPaths
from pushjuju.services.context import Context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pushjuju.bundles.compose import Composed
    from pushjuju.charms.pack import PackedCharm
    from pushjuju.services.store_charms import StoreOrigin
    from pushjuju.state.store import Tx

_DEBIAN = ("debian@12", "debian@13")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the command line says beside the bundle.

    Attributes:
        map_machines: The value of `--map-machines`.
        trust: Applications that ask for it may have the cloud's credentials.
        force: Bases, features and channels are not checked.
        storage: Application -> store -> directive.
        store_bundle: URL of the bundle, when it comes from a store.
    """

    map_machines: str = ""
    trust: bool = False
    force: bool = False
    storage: Mapping[str, Mapping[str, Directive]] = field(default_factory=dict)
    store_bundle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan and what carrying it out needs.

    Attributes:
        facts: The model that it was made for.
        paths: Application -> path of its charm.
        origins: Application -> the store that its charm comes from.
        composed: The text of the bundle, for the places of faults.
        known: Application -> charm, as far as it was read.
        located: Lines that tell which charm of a store was found.
    """

    bundle: Bundle
    facts: ModelFacts
    changes: tuple[Change, ...]
    paths: Mapping[str, Path] = field(default_factory=dict)
    folder: Path | None = None
    wishes: Wishes = field(default_factory=Wishes)
    warnings: tuple[str, ...] = ()
    located: tuple[str, ...] = ()
    origins: Mapping[str, StoreOrigin] = field(default_factory=dict)
    composed: Composed
    known: Mapping[str, Charm] = field(default_factory=dict)

    @property
    def applications(self) -> list[str]:
        """What the changes are about."""
        named = {str(change.args["application"]) for change in self.changes if "application" in change.args}
        return sorted(named)


@dataclass(slots=True)
class _Found:
    """What is known of the charms of a bundle."""

    resolved: dict[str, ResolvedCharm] = field(default_factory=dict)
    charms: dict[str, Charm] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)
    new: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)


def prepare(ctx: Context, model: str, loaded: Loaded, wishes: Wishes) -> Prepared:
    """Return what has to be done for a bundle.

    Raises:
        BundleFaulty: It asks its charms for what they do not have; all of it is told.
        NotFound, NotValid: A charm that is not there or does not fit; machines that do not fit.
    """
    bundle = loaded.bundle
    require_trust(loaded, wishes)
    if bundle.type == "kubernetes":
        raise NotValid("bundle is for Kubernetes, the model is for machines")
    if not wishes.trust:
        bundle = replace(
            bundle, applications={name: _untrusting(app) for name, app in bundle.applications.items()}
        )
    mapping = machines.parse(wishes.map_machines)
    with ctx.store.read() as tx:
        facts = bundle_facts.read(tx, model)
    store = bundle_store.resolve(ctx, model, bundle, facts, force=wishes.force)
    with ctx.store.read() as tx:
        found = _find_charms(ctx, tx, model, replace(loaded, bundle=bundle), facts, wishes)
    faults = charmcheck.check(bundle, loaded.composed, found.charms, frozenset(found.new))
    if faults:
        raise BundleFaulty(faults)
    _check_image_ids(bundle)
    for name, origin in store.origins.items():
        found.resolved[name] = ResolvedCharm(
            name=origin.charm.name,
            base=str(origin.base),
            channel=str(origin.channel),
            revision=origin.charm.revision,
        )
    changes = _planned(bundle, found, mapping, facts, wishes)
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
    )


def require_trust(loaded: Loaded, wishes: Wishes) -> None:
    """Refuse a bundle whose applications want the cloud's credentials, unless they may have them.

    Raises:
        NotValid: Nobody trusts them; the message is Juju's.
    """
    if (names := needs_trust(loaded.bundle)) and not (wishes.trust or wishes.force):
        raise untrusted(names)


def _planned(
    bundle: Bundle, found: _Found, mapping: MachineMap, facts: ModelFacts, wishes: Wishes
) -> tuple[Change, ...]:
    wanted = Wanted(
        bundle=bundle,
        charms=found.resolved,
        mapping=mapping,
        force=wishes.force,
        store_bundle=wishes.store_bundle,
    )
    return plan(wanted, facts)


def _untrusting(app: Application) -> Application:
    """Return an application that is not trusted: with `--force` alone nobody said that it may be."""
    options = {key: value for key, value in app.options.items() if key != "trust"}
    return replace(app, trust=False, options=options)


def _check_image_ids(bundle: Bundle) -> None:
    for name, app in sorted(bundle.applications.items()):
        if rules.parse(app.constraints).get("image-id") and not application_base(bundle, app):
            text = "when image-id constraint is used"
            raise NotValid(f"base must be explicitly provided for {quote(app.charm)} {text}", detail=name)


# --- charms -----------------------------------------------------------------------------------------------


def _find_charms(
    ctx: Context, tx: Tx, model: str, loaded: Loaded, facts: ModelFacts, wishes: Wishes
) -> _Found:
    found, bundle, read = _Found(), loaded.bundle, dict[str, Charm]()
    for name in sorted(bundle.applications):
        app, there = bundle.applications[name], facts.applications.get(name)
        if there is not None and (app.is_local or app.charm_name == there.charm):
            url = _url_of(tx, model, name)
            found.charms[name] = charms.get(tx, model, url)
            continue
        if not app.is_local:  # its charm is looked at when it is here
            continue
        if app.charm.startswith("local:"):
            charm = _known(tx, model, app)
        else:
            charm = read.get(app.charm) or _read(app)
            read[app.charm] = charm
            found.paths[name] = Path(app.charm)
        found.new.add(name)
        found.charms[name] = charm
        found.warnings += charm.warnings
        with _about(app):
            if not wishes.force:
                check_features(charm)
            base = _base(ctx, bundle, app, charm, facts, wishes)
        found.resolved[name] = ResolvedCharm(
            name=charm.name, base=str(base), known=app.charm.startswith("local:")
        )
    return found


@contextmanager
def _about(app: Application) -> Iterator[None]:
    """Name the charm in an error."""
    try:
        yield
    except PushjujuError as error:
        prefix = f"cannot deploy bundle: cannot add charm {quote(app.charm)}"
        error.message = f"{prefix}: {error.message}"
        raise


def _url_of(tx: Tx, model: str, name: str) -> str:
    from pushjuju.services import applications

    return applications.get(tx, model, name).charm_url


def _known(tx: Tx, model: str, app: Application) -> Charm:
    try:
        return charms.get(tx, model, app.charm)
    except NotFound as error:
        raise NotFound(
            f"cannot deploy bundle: {error.message}",
            hint="a bundle with `local:` charms can be deployed only where they are; name the charms' "
            "files in an overlay, or export it with --with-charms",
        ) from None


def _read(app: Application) -> Charm:
    try:
        return read_charm(Path(app.charm)).charm
    except PushjujuError as error:
        error.message = f"cannot deploy local charm at {quote(app.charm)}: {error.message}"
        raise


def _base(
    ctx: Context, bundle: Bundle, app: Application, charm: Charm, facts: ModelFacts, wishes: Wishes
) -> Base:
    own = app.base or app.series
    wanted = application_base(bundle, app)
    extra = ctx.datadir.main().get("extra-bases", [])
    request = BaseRequest(
        requested=Base.parse(wanted) if wanted and own else None,
        model_default=Base.parse(wanted or facts.default_base) if wanted or facts.default_base else None,
        image_id=bool(rules.parse(app.constraints).get("image-id")) and not wanted,
        force=wishes.force,
        extra_bases=(*map(Base.parse, _DEBIAN), *(Base.parse(str(text)) for text in extra)),
    )
    return choose_base(charm.name, charm.bases(), request)


def with_removals(
    prepared: Prepared, *, prune: bool, destroy_storage: bool = False
) -> tuple[Prepared, list[str]]:
    """Return a plan that also takes away what the bundle does not have, if that is asked for.

    Returns:
        The plan, and the lines of what is left alone.
    """
    removed = removals(
        prepared.bundle,
        prepared.facts,
        mapping=machines.parse(prepared.wishes.map_machines),
        destroy_storage=destroy_storage,
        start=len(prepared.changes),
    )
    if prune:
        return replace(prepared, changes=(*prepared.changes, *removed)), []
    return prepared, [f"- {line}" for change in removed for line in change.lines]


def machine_needs(prepared: Prepared) -> list[tuple[Base, dict[str, Any]]]:
    """Return base and constraints of the new machines, each pair once, for a cloud to look at."""
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
    found: list[tuple[Base, dict[str, Any]]] = []
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
    ctx: Context, model: str, prepared: Prepared, check: Callable[[Tx], None] | None = None
) -> list[str]:
    """Record a plan; what is recorded is worked off by whoever drives the model.

    Returns:
        The applications that it is about.

    Raises:
        PushjujuError: A step is not possible; nothing is changed.
    """
    with _packed(ctx, model, prepared) as (packed, fetched):
        order = bundle_record.Order(
            changes=prepared.changes,
            packed=packed,
            files=_resource_files(prepared),
            storage=prepared.wishes.storage,
            origins=prepared.origins,
            store_resources=fetched.resources,
        )
        return bundle_record.record(ctx, model, order, check)


def same_model(model: str, digest: str) -> Callable[[Tx], None]:
    """Return a check that refuses a model which is not the one that a plan was made for."""

    def check(tx: Tx) -> None:
        if bundle_facts.read(tx, model).digest() != digest:
            raise NotValid(
                "the model changed since the plan was made", hint="make the plan anew and look at it"
            )

    return check


@contextmanager
def _packed(
    ctx: Context, model: str, prepared: Prepared
) -> Iterator[tuple[dict[str, PackedCharm], bundle_store.Fetched]]:
    """Bring all charms: step that deploys or upgrades -> charm; each is packed or fetched once.

    Raises:
        BundleFaulty: The bundle asks charms of the store for what they do not have.
    """

    found: dict[str, PackedCharm] = {}
    uploads = {
        f"${change.id}": str(change.args["charm"])
        for change in prepared.changes
        if change.method is Method.ADD_CHARM
    }
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as work:
        folder = Path(work)
        store = folder / "store"
        store.mkdir()
        places = CharmPaths(ctx, model, folder)
        fetched = bundle_store.fetch(ctx, model, prepared.changes, prepared.bundle, prepared.origins, store)
        _check_fetched(prepared, fetched)
        for change in prepared.changes:
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


def _check_fetched(prepared: Prepared, fetched: bundle_store.Fetched) -> None:
    """Hold the bundle against the charms that came from the store."""
    if not fetched.packed:
        return
    charms_ = {**prepared.known, **{name: packed.charm for name, packed in fetched.packed.items()}}
    faults = charmcheck.check(prepared.bundle, prepared.composed, charms_, frozenset(fetched.packed))
    if faults:
        raise BundleFaulty(faults)


def _stored(ctx: Context, model: str, url: str) -> PackedCharm:
    from pushjuju.charms.pack import PackedCharm

    with ctx.store.read() as tx:
        record, charm = charms.record(tx, model, url), charms.get(tx, model, url)
    path = ctx.controller.blobs.path(record.sha256)
    return PackedCharm(path=path, sha256=record.sha256, size=record.size, members=(), charm=charm)


def _resource_files(prepared: Prepared) -> dict[str, dict[str, str]]:
    """Return application -> resource -> file; a path is relative to the bundle."""
    found: dict[str, dict[str, str]] = {}
    for change in prepared.changes:
        if change.method not in (Method.DEPLOY, Method.UPGRADE_CHARM):
            continue
        for name, value in change.args.get("resources", {}).items():
            if isinstance(value, int) and change.args["application"] in prepared.origins:
                continue  # a revision in the store
            text = str(value)
            if isinstance(value, str) and prepared.folder is not None:
                text = str(prepared.folder / value)
            found.setdefault(change.args["application"], {})[name] = text
    return found
