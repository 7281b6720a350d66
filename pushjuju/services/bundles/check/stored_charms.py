"""Finds and fetches the charms of a bundle that come from a store, before they are recorded.

Mirrors: juju cmd/juju/application/deployer/bundlehandler.go resolveCharmsAndEndpoints (3.6)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.charms.values.model import Charm
from pushjuju.core import constraints as rules
from pushjuju.core.base import Base, Channel
from pushjuju.core.charmstore import BUNDLE, DEFAULT_ARCH, StoreResource
from pushjuju.core.errors import PushjujuError
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.plan.changes import Change, Method
from pushjuju.services.bundles.plan.facts import ModelFacts
from pushjuju.services.bundles.read.values import Application, Bundle, application_base
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.supply import store_charms
from pushjuju.services.supply.origins import StoreOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The store's revisions of the charms that a bundle names."""

    origins: Mapping[str, StoreOrigin] = field(default_factory=dict)  # application -> the store's answer
    lines: tuple[str, ...] = ()  # the progress lines that name the charms
    # application -> why the store has no revision for the application; the messages are Juju's
    failed: Mapping[str, PushjujuError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Charms that were fetched to this computer."""

    packed: Mapping[str, PackedCharm] = field(default_factory=dict)  # application -> its charm
    # application -> the store's revisions of its resources
    resources: Mapping[str, tuple[StoreResource, ...]] = field(default_factory=dict)


def resolve(
    ctx: Context, model: str, bundle: Bundle, facts: ModelFacts, *, force: bool, without: Collection[str] = ()
) -> Resolved:
    """Ask the store for the revisions that a bundle names, unless the model has all of them.

    Args:
        without: Applications to skip, because their charm's name is at fault.
    """
    wanted = [
        app
        for _, app in sorted(bundle.applications.items())
        if not app.is_local and app.name not in without and not _has(facts, app)
    ]
    if not wanted:
        return Resolved()

    requests = [
        store_charms.CharmRequest(
            url=f"ch:{app.charm_name}",
            channel=app.channel,
            revision=-1 if app.revision is None else app.revision,
            base=_base(bundle, app),
            arch=str(rules.parse(app.constraints).get("arch") or facts.arch),
            force=force,
            resources={name: item for name, item in app.resources.items() if isinstance(item, int)},
        )
        for app in wanted
    ]
    origins: dict[str, StoreOrigin] = {}
    failed: dict[str, PushjujuError] = {}
    for app, found in zip(wanted, store_charms.resolve(ctx, model, requests), strict=True):
        if isinstance(found, PushjujuError):
            found.message = f"cannot resolve charm or bundle {quote(app.charm_name)}: {found.message}"
            failed[app.name] = found
        else:
            origins[app.name] = found
    lines = [_line(app) for app in wanted if not _same_charm(facts, app)]
    return Resolved(origins=origins, lines=tuple(lines), failed=failed)


def _same_charm(facts: ModelFacts, app: Application) -> bool:
    there = facts.applications.get(app.name)
    return there is not None and there.charm == app.charm_name


def _has(facts: ModelFacts, app: Application) -> bool:
    """Return True when an application has exactly the charm that a bundle names."""
    there = facts.applications.get(app.name)
    if there is None or there.charm != app.charm_name or app.revision is None:
        return False
    return there.revision == app.revision and there.channel == str(Channel.parse(app.channel).full())


def _base(bundle: Bundle, app: Application) -> Base | None:
    text = application_base(bundle, app)
    return Base.parse(text) if text else None


def _line(app: Application) -> str:
    channel = f", channel {app.channel}" if app.channel else ""
    return f"Located charm {quote(app.charm_name)} in charm-hub{channel}"


def bring_bundle(
    ctx: Context,
    model: str,
    name: str,
    *,
    channel: str,
    revision: int,
    base: Base | None = None,
    arch: str = "",
) -> tuple[Path, str, int]:
    """Fetch a bundle of the model's store; return the file, the bundle's name and its revision."""
    request = store_charms.CharmRequest(
        url=name, channel=channel, revision=revision, base=base, arch=arch or DEFAULT_ARCH, kind=BUNDLE
    )
    store = store_charms.open_store(ctx, model)
    found = store_charms.resolve_one(ctx, model, request, store=store).charm
    path = store_charms.cached(ctx.environ, store, found.download, f'bundle "{found.name}"')
    return path, found.name, found.revision


@contextmanager
def _nothing_done(step: str, hint: str) -> Iterator[None]:
    """Add the step to the message of an error; the message also says that nothing was changed."""
    try:
        yield
    except PushjujuError as error:
        error.message = f"cannot deploy bundle: {step}: {error.message}"
        error.detail = "\n".join(filter(None, (error.detail, "nothing was changed")))
        error.hint = error.hint or hint
        raise


def fetch(
    ctx: Context,
    model: str,
    changes: Iterable[Change],
    bundle: Bundle,
    origins: Mapping[str, StoreOrigin],
    folder: Path,
) -> Fetched:
    """Fetch the charms that a plan needs into a folder, each revision once, and look up their resources."""
    names = [
        str(change.args["application"])
        for change in changes
        if change.method in (Method.DEPLOY, Method.UPGRADE_CHARM) and change.args["application"] in origins
    ]
    if not names:
        return Fetched()

    store = store_charms.open_store(ctx, model)
    packed: dict[str, PackedCharm] = {}
    resources: dict[str, tuple[StoreResource, ...]] = {}
    known: dict[str, PackedCharm] = {}
    for name in names:
        origin = origins[name]
        key = origin.charm.download.sha256 or origin.charm.download.sha384
        if key not in known:
            place = folder / str(len(known))
            place.mkdir()
            with _nothing_done(
                f"cannot add charm {quote(origin.charm.name)}", "the same command tries it again"
            ):
                known[key] = store_charms.fetch(ctx, store, origin, place, model=model)
        packed[name] = known[key]
        asked = {
            item: number
            for item, number in bundle.applications[name].resources.items()
            if isinstance(number, int)
        }
        declared = packed[name].charm.meta.resources
        hint = f"pushjuju charm-resources {origin.charm.name}"
        with _nothing_done(f"cannot deploy application {quote(name)}", hint):
            resources[name] = tuple(store_charms.pick_resources(store, origin, asked, declared).values())
    return Fetched(packed=packed, resources=resources)


def resources_of(
    ctx: Context,
    model: str,
    asked: Mapping[str, Mapping[str, int]],
    origins: Mapping[str, StoreOrigin],
    charms: Mapping[str, Charm],
) -> dict[str, tuple[StoreResource, ...]]:
    """Return application -> revisions of its resources; the store is not asked again for `origins`.

    Args:
        asked: Application -> resource -> revision.
        charms: Application -> its charm.
    """
    store = store_charms.open_store(ctx, model)
    found = {}
    for name, wanted in asked.items():
        charm, declared = charms[name], charms[name].meta.resources
        hint = f"pushjuju charm-resources {charm.name}"
        with _nothing_done(f"cannot set resources of application {quote(name)}", hint):
            if name in origins:
                named = {item: declared[item] for item in wanted}
                picked = store_charms.pick_resources(store, origins[name], wanted, named)
            else:
                picked = store_charms.named_resources(store, charm.name, wanted, declared)
        found[name] = tuple(picked.values())
    return found
