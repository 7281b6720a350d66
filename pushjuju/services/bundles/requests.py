"""The requests about bundles: deploy a bundle, make a model equal to a bundle, compare the two.

Mirrors: juju cmd/juju/application/deployer/bundle.go, bundlehandler.go, diffbundle.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from pushjuju.charms.archive.bundles import is_bundle, names_bundle
from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.bundles import plan_files, planning
from pushjuju.services.bundles.check import apply_changes, stored_charms
from pushjuju.services.bundles.plan import diff, machines, model_facts
from pushjuju.services.bundles.plan.changes import Change
from pushjuju.services.bundles.plan_files import SavedPlan
from pushjuju.services.bundles.planning import Prepared, Wishes
from pushjuju.services.bundles.read import load as reader
from pushjuju.services.bundles.read.load import Loaded
from pushjuju.services.entities.basis.callbacks import SILENT, Notices, Precheck, unchecked
from pushjuju.services.entities.basis.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleOptions:
    """What a user asks for when deploying a bundle."""

    bundle: str  # the path of a bundle, or its name in the model's store
    overlays: Sequence[str] = ()  # paths of overlay bundles, merged in this order
    channel: str = ""  # the channel of the store; empty for the bundle's default channel
    revision: int = -1  # a revision of the store; -1 for the newest of the channel
    # the value of `--map-machines`: which machines of the model serve as those of the bundle
    map_machines: str = ""
    trust: bool = False  # True to let applications that ask for trust read the cloud's credential
    force: bool = False  # True to skip checks of bases, features and channels
    # application -> name of its storage -> directive
    storage: Mapping[str, Mapping[str, Directive]] = field(default_factory=dict)
    dry_run: bool = False  # True to record nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions(BundleOptions):
    """What a user asks `apply` for."""

    prune: bool = False  # True to remove entities that the bundle does not have
    destroy_storage: bool = False  # True to destroy the storage of removed entities
    # the saved plan that must equal the new one, or None when the user gave no saved plan
    plan: SavedPlan | None = None
    save_plan: Path | None = None  # the file to write the plan to, or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The changes of a model that a bundle asks for."""

    changes: Sequence[Change]
    applications: Sequence[str]  # the applications of the bundle, and those that the changes are about
    fixed: Sequence[str] = ()  # one line for each key of the bundle that cannot be changed in the model
    left: Sequence[str] = ()  # a line for each entity that stays although the bundle does not have it


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The result of a request about a bundle; `done` is True when the changes were recorded."""

    proposal: Proposal
    done: bool


Agree = Callable[[Proposal], bool]
"""Gets the changes before they are recorded, and returns True to record them."""


def always(_proposal: Proposal) -> bool:
    """Agree to every change."""
    return True


def deploy(
    ctx: Context,
    model: str,
    options: BundleOptions,
    *,
    notices: Notices = SILENT,
    precheck: Precheck = unchecked,
    agree: Agree = always,
    loaded: Loaded | None = None,
) -> Applied:
    """Deploy a bundle: add what the model lacks, and set options as the bundle has them.

    Args:
        loaded: The bundle, when the caller has already read it, or None to find it by `options.bundle`.

    Raises:
        PushjujuError: The bundle, a charm, the cloud or the model does not allow it; nothing is changed.
    """
    url = ""
    if loaded is None and names_bundle(options.bundle):
        loaded = read(options, notices)
    elif loaded is None:
        path, url = _of_store(ctx, model, options, notices)
        loaded = _load(options, path, notices)
    prepared = _prepare(ctx, model, loaded, _wishes(options, url), notices, precheck)
    _, left = planning.with_removals(prepared, prune=False)
    proposal = _proposal(prepared, left)
    done = agree(proposal) and bool(prepared.changes) and not options.dry_run
    if done:
        planning.carry_out(ctx, model, prepared)
    return Applied(proposal=proposal, done=done)


def apply(
    ctx: Context,
    model: str,
    options: ApplyOptions,
    *,
    notices: Notices = SILENT,
    precheck: Precheck = unchecked,
    agree: Agree = always,
) -> Applied:
    """Make a model equal to a bundle; with `options.prune`, remove entities that the bundle does not have.

    Raises:
        PushjujuError: The bundle, a charm, the cloud or the model does not allow it; nothing is changed.
    """
    path, url = find(ctx, model, options, notices)
    loaded = _load(options, path, notices)
    prepared = _prepare(ctx, model, loaded, _wishes(options, url, equal=True), notices, precheck)
    prepared, left = planning.with_removals(
        prepared, prune=options.prune, destroy_storage=options.destroy_storage
    )
    if options.plan is not None:
        plan_files.require_same(options.plan, model, prepared)
    if options.save_plan is not None:
        plan_files.write(options.save_plan, model, prepared)
    proposal = _proposal(prepared, left)
    done = agree(proposal) and bool(prepared.changes) and not (options.dry_run or options.save_plan)
    if done:
        planning.carry_out(ctx, model, prepared, planning.same_model(prepared.facts.digest()))
    return Applied(proposal=proposal, done=done)


def find(
    ctx: Context,
    model: str,
    options: BundleOptions | DiffOptions,
    notices: Notices,
    *,
    base: Base | None = None,
    arch: str = "",
) -> tuple[str, str]:
    """Return the path of a bundle, and its URL when it came from the model's store.

    A name that is a file or directory is the bundle itself; any other name is looked up in the store.
    """
    name = options.bundle
    path = Path(name).expanduser()
    if is_bundle(path):
        _require_no_store(channel=options.channel, revision=options.revision, base=base, arch=arch)
        return name, ""
    if path.exists():
        raise NotValid(f"couldn't interpret {quote(name)} as a local bundle")
    if not is_application(name.removeprefix("ch:")):
        raise NotFound(
            f"{quote(name)} not found",
            hint="name the file or directory of a bundle, or a bundle of the store",
        )
    return _of_store(ctx, model, options, notices, base=base, arch=arch)


def _require_no_store(**options: object) -> None:
    """Refuse options that choose among the bundles of a store, when the bundle is a file."""
    given = [f"--{key}" for key, value in options.items() if value not in ("", -1, None)]
    if given:
        raise UsageError(f"{', '.join(given)} is for bundles of a store; this bundle is a file")


def _of_store(
    ctx: Context,
    model: str,
    options: BundleOptions | DiffOptions,
    notices: Notices,
    *,
    base: Base | None = None,
    arch: str = "",
) -> tuple[str, str]:
    """Fetch a bundle from the model's store; return its file and its URL."""
    file, found, number = stored_charms.bring_bundle(
        ctx, model, options.bundle, channel=options.channel, revision=options.revision, base=base, arch=arch
    )
    notices.info(f'Located bundle "{found}" in charm-hub, revision {number}')
    return str(file), f"ch:bundle/{found}-{number}"


def read(options: BundleOptions, notices: Notices) -> Loaded:
    """Read the file of a bundle to deploy."""
    _require_no_store(channel=options.channel, revision=options.revision)
    loaded = _load(options, options.bundle, notices)
    planning.require_trust(loaded, _wishes(options, ""))
    return loaded


def _load(options: BundleOptions, path: str, notices: Notices) -> Loaded:
    """Read a bundle; a dry run warns of keys that deploying the bundle ignores."""
    loaded = reader.examine(Path(path).expanduser(), list(options.overlays))
    if options.dry_run and loaded.ignored:
        lines = "\n".join(f" {line}" for line in loaded.ignored)
        notices.warn(f"These fields\n{lines}\nwill be ignored during deployment")
    return loaded


def _wishes(options: BundleOptions, url: str, *, equal: bool = False) -> Wishes:
    return Wishes(
        map_machines=options.map_machines,
        trust=options.trust,
        force=options.force,
        storage=options.storage,
        store_bundle=url,
        equal=equal,
    )


def _prepare(
    ctx: Context, model: str, loaded: Loaded, wishes: Wishes, notices: Notices, precheck: Precheck
) -> Prepared:
    """Plan the changes, and let the cloud refuse machines that the cloud can never start."""
    prepared = planning.prepare(ctx, model, loaded, wishes)
    for text in prepared.warnings:
        notices.warn(text)
    for text in prepared.located:
        notices.info(text)
    for base, constraints in planning.machine_needs(prepared):
        precheck(ctx, model, base=base, constraints=constraints, count=1, placements=(), warn=notices.warn)
    return prepared


def _proposal(prepared: Prepared, left: Sequence[str]) -> Proposal:
    return Proposal(
        changes=prepared.changes,
        applications=sorted({*prepared.applications, *prepared.bundle.applications}),
        fixed=prepared.fixed,
        left=left,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """What a user asks `diff-bundle` for."""

    bundle: str  # the path of a bundle, or its name in the model's store
    overlays: Sequence[str] = ()
    # the value of `--map-machines`: which machines of the model serve as those of the bundle
    map_machines: str = ""
    annotations: bool = False  # True to compare annotations too
    channel: str = ""
    revision: int = -1
    base: Base | None = None  # the base for which the store's bundle is chosen, or None
    arch: str = ""


def compare(ctx: Context, model: str, options: DiffOptions, *, notices: Notices = SILENT) -> Any:
    """Return the differences between a bundle and a model, in the document that `diff-bundle` prints."""
    mapping = machines.parse(options.map_machines)
    path, _ = find(ctx, model, options, notices, base=options.base, arch=options.arch)
    loaded = reader.load(Path(path).expanduser(), list(options.overlays))
    if unclear := diff.unclear_relations(loaded.bundle):
        notices.warn(
            "The provided bundle includes relations without explicit endpoints, which may appear as extra "
            "entries in the diff output.\nTo avoid this in the future, update the endpoints for the "
            "following bundle relations:\n" + "\n".join(unclear)
        )
    with ctx.read(model) as tx:
        facts = model_facts.read(tx)
    files = apply_changes.fingerprints(loaded)
    return diff.diff(loaded.bundle, facts, mapping=mapping, annotations=options.annotations, files=files)
