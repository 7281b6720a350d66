"""The request of refresh: finds the charm that an application should have, and records it.

Mirrors: juju cmd/juju/application/refresh.go, refresher (3.6)
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from pushjuju.charms.format.url import is_path, name_in
from pushjuju.charms.values.model import Charm
from pushjuju.core.base import Base, Channel
from pushjuju.core.charmstore import DEFAULT_ARCH
from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.core.status import StatusKind
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.application import applications, resources, units
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.callbacks import SILENT, Notices
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import constraints
from pushjuju.services.requests.application import new_charm
from pushjuju.services.supply import charm_places, origins
from pushjuju.services.supply.charm_places import Acquired
from pushjuju.services.supply.store_charms import CharmRequest
from pushjuju.store.rows.origin_records import ApplicationOrigin
from pushjuju.store.rows.records import Application, Unit
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshOptions:
    """What a user asks `refresh` for.

    Raises:
        UsageError: The options contradict each other; the messages are Juju's.
    """

    application: str
    # a path, or a URL that a source of charms knows; empty for the application's charm in its store
    path: str = ""
    switch: str = ""  # another charm: a path, a URL, or a name in the store; empty for no switch
    uploaded: str = ""  # the URL of a charm that was uploaded to the model before
    channel: str = ""
    revision: int = -1  # a revision of the store; -1 for the newest of the channel
    base: Base | None = None  # the base of future units, or None for the same base as before
    force: bool = False  # True to skip the checks whether the new charm fits
    force_units: bool = False  # True to upgrade units in error too, at once
    force_base: bool = False  # True to accept a base that the charm does not name
    # values of options as text; they override those of the file
    config: Mapping[str, str] = field(default_factory=dict)
    config_file: bytes | None = None  # the content of a YAML file with values of options, or None
    # True or False to change whether the charm may read the cloud's credential, or None
    trust: bool | None = None
    # name -> path of a file, or the number of a revision in the store
    resources: Mapping[str, str] = field(default_factory=dict)
    # name of the new charm's storage -> directive
    storage: Mapping[str, Directive] = field(default_factory=dict)
    bind: Mapping[str, str] = field(default_factory=dict)  # endpoint -> name of its space
    # True to run the scripts of a source tree, in a machine that is deleted afterwards
    build_scripts: bool = False

    def __post_init__(self) -> None:
        if not is_application(self.application):
            raise UsageError(f'invalid application name "{self.application}"')
        given = {"switch": self.switch, "path": self.path, "revision": self.revision != -1}
        for left, right in (("switch", "revision"), ("path", "revision"), ("switch", "path")):
            if given[left] and given[right]:
                raise UsageError(f"--{left} and --{right} are mutually exclusive")

    @property
    def sets(self) -> bool:
        """True when the user also changes something other than the charm, to which units react."""
        return bool(self.config or self.config_file or self.trust is not None or self.force_units)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    charm: str  # the charm's name in its store or metadata
    revision: int
    channel: Channel | None  # the channel of the store, or None for a charm from a local path
    # what changed in an application that already had the revision, or None for a new charm
    stayed: new_charm.Stayed | None = None
    works: bool = True  # True when units have work to do


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The application that is refreshed, before the refresh."""

    application: Application
    charm: str
    origin: ApplicationOrigin | None
    resources: frozenset[str]


def refresh(ctx: Context, model: str, options: RefreshOptions, *, notices: Notices = SILENT) -> Refreshed:
    """Change an application to another revision of its charm, or to another charm.

    Raises:
        NotValid: The new charm does not fit; nothing is changed.
    """
    known = _known(ctx, model, options)
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
        found = _charm(ctx, model, known, options, Path(folder), notices)
        request = _request(options, found)
        if found.origin is not None and found.origin.url == known.application.charm_url:
            stayed = new_charm.stay(ctx, model, request)
            return Refreshed(
                charm=found.name,
                revision=found.origin.charm.revision,
                channel=found.origin.channel,
                stayed=stayed,
                works=bool(stayed.resources) or options.sets,
            )
        revision, warnings = new_charm.put(ctx, model, request)
    for text in (*found.packed.charm.warnings, *warnings):
        notices.warn(text)
    channel = found.origin.channel if found.origin else None
    return Refreshed(charm=found.name, revision=revision, channel=channel)


def _known(ctx: Context, model: str, options: RefreshOptions) -> _Known:
    """Return an application with the origin of its charm."""
    name = options.application
    with ctx.read(model) as tx:
        application = applications.get(tx, name)
        origin = origins.find(tx, name)
        if options.revision >= 0 and origin is None:
            raise NotFound(f'the charm of application "{name}" comes from no store')
        rows = resources.of_application(tx, application)
        return _Known(
            application=application,
            charm=name_in(application.charm_url),
            origin=origin,
            resources=frozenset(row.name for row in rows if row.fingerprint),
        )


def _charm(
    ctx: Context, model: str, known: _Known, options: RefreshOptions, folder: Path, notices: Notices
) -> Acquired:
    """Find the charm that an application should have, and bring it to this computer."""
    if options.uploaded:
        return replace(charm_places.uploaded(ctx, model, options.uploaded), files=options.resources)
    if place := options.path or (options.switch if _is_local(options.switch) else ""):
        return _from_place(ctx, model, known, options, place, folder, notices)
    if known.origin is None and not options.switch:
        raise NotValid(
            "refreshing a local charm requires either --path or --switch",
            hint=f"pushjuju refresh {known.application.name} --path ./{known.charm}",
        )
    found = charm_places.from_store(
        ctx, model, _of_store(known, options), options.resources, folder, notices, keep=known.resources
    )
    if found.name != known.charm and not options.switch:
        raise NotValid(f'cannot refresh "{known.charm}" to "{found.name}"')
    return found


def _is_local(text: str) -> bool:
    """Return True when `--switch` names a path or a repository instead of a charm in the store."""
    return bool(text) and (is_path(text) or charm_places.is_brought(text))


def _from_place(
    ctx: Context,
    model: str,
    known: _Known,
    options: RefreshOptions,
    place: str,
    folder: Path,
    notices: Notices,
) -> Acquired:
    if options.channel:
        raise NotValid("--channel is for charms of a store, not for a charm at a path")
    base = options.base or Base.parse(known.application.base)

    def choose(_charm: Charm) -> tuple[Base, str]:
        return base, constraints.arch_of_application(ctx, model, known.application)

    build = charm_places.Build(choose=choose, scripts=options.build_scripts)
    found = charm_places.from_place(place, folder, ctx.environ, notices, build)
    return replace(found, files=options.resources)


def _of_store(known: _Known, options: RefreshOptions) -> CharmRequest:
    origin, channel = known.origin, options.channel
    own = origin is not None and not options.switch
    if origin is not None and own:
        followed = Channel.parse(origin.channel)
        channel = str(Channel.parse(channel).following(followed) if channel else followed)
    return CharmRequest(
        url=known.charm if own else options.switch,
        channel=channel,
        revision=options.revision,
        base=options.base or Base.parse(known.application.base),
        arch=origin.arch if origin else DEFAULT_ARCH,
        keep_base=True,
        force=options.force_base,
        held=origins.held(origin) if origin is not None and own else None,
    )


def _request(options: RefreshOptions, found: Acquired) -> new_charm.NewCharm:
    return new_charm.NewCharm(
        application=options.application,
        packed=found.packed,
        switch=bool(options.switch or options.uploaded),
        force_units=options.force_units,
        force=options.force,
        force_base=options.force_base,
        values=options.config,
        file=options.config_file,
        trust=options.trust,
        resources=found.files,
        storage=options.storage,
        bind=options.bind,
        origin=found.origin,
        store_resources=found.resources,
        asked_resources=tuple(found.revisions),
        base=options.base,
        url=found.url,
    )


def progress(ctx: Context, model: str, name: str) -> list[str]:
    """Return a line for each unit with its charm revision and status."""
    with ctx.read(model) as tx:
        application = applications.get(tx, name)
        found = sorted(units.of_application(tx, name), key=lambda item: natural_key(item.name))
        lines = [_unit_line(tx, unit, application) for unit in found]
    return [line for line in lines if line]


def _unit_line(tx: ModelTx, unit: Unit, application: Application) -> str:
    workload = statuses.get_status(tx, StatusKind.WORKLOAD, unit.name)
    agent = statuses.get_status(tx, StatusKind.AGENT, unit.name)
    if workload is None or agent is None:
        return ""
    shown, _ = statuses.shown_unit(workload, agent)
    what = "has no charm yet"
    if unit.charm_url:
        still = "" if unit.charm_url == application.charm_url else "still "
        what = f"{still}has revision {charms.record(tx, unit.charm_url).revision}"
    text = f": {shown.message}" if shown.message else ""
    return f"unit {unit.name} {what}, {shown.status}{text}"
