"""The request of deploy: finds the charm, chooses its base, checks the options, records the application.

Mirrors: juju cmd/juju/application/deployer/charm.go, apiserver/facades/client/application (3.6)
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from pushjuju.charms.format.assumes import check_features
from pushjuju.charms.format.config import TRUST, Settings, parse_settings, parse_settings_yaml, with_trust
from pushjuju.charms.format.url import ArgumentKind, parse_url
from pushjuju.charms.values.charm_bases import choose_base
from pushjuju.charms.values.model import Charm
from pushjuju.core.base import Base, Channel
from pushjuju.core.charmstore import DEFAULT_ARCH
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.model.placement import Placement
from pushjuju.core.storage import Directive
from pushjuju.core.values import changed, dataclass
from pushjuju.portable.names import is_application
from pushjuju.services.entities.basis.callbacks import SILENT, Notices, Precheck, unchecked
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import constraints as model_constraints
from pushjuju.services.requests.application import new_application, unit_requests
from pushjuju.services.requests.application.new_application import Deployed
from pushjuju.services.supply import charm_places, store_charms
from pushjuju.services.supply.charm_places import Acquired, Build

NEEDS_CHANNEL = "specifying a revision requires a channel for future upgrades. Please use --channel"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployOptions:
    """What a user asks `deploy` for.

    Raises:
        UsageError, NotValid: The options contradict each other; the messages are Juju's.
    """

    # a path, a URL that a source of charms knows, `local:NAME-N` for a charm of the model, or a charm's name
    # in the model's store
    charm: str
    application: str = ""  # the name of the application; empty for the charm's name
    num_units: int | None = None  # the number of units; None for 1, or 0 when the charm is a subordinate
    least_units: int = 1  # the smallest allowed number of units; 0 for callers that add units afterwards
    base: Base | None = None  # the base to deploy on, or None to choose a base
    channel: str = ""
    revision: int = -1  # a revision of the store; -1 for the newest of the channel
    # values of options as text; they override those of the files
    config: Mapping[str, str] = field(default_factory=dict)
    config_file: bytes | None = None  # the content of a YAML file with values of options, or None
    trust: bool = False
    constraints: Mapping[str, Any] = field(default_factory=dict)
    placements: Sequence[Placement] = ()
    storage: Mapping[str, Directive] = field(default_factory=dict)  # name of the charm's storage -> directive
    attach_storage: Sequence[str] = ()  # existing storage for the unit; possible only with one unit
    # name -> path of a file, or the number of a revision in the store
    resources: Mapping[str, str] = field(default_factory=dict)
    # endpoint -> name of its space; "" stands for the default
    bind: Mapping[str, str] = field(default_factory=dict)
    # True to run the scripts of a source tree, in a machine that is deleted afterwards
    build_scripts: bool = False
    # True to accept a base that the charm does not name, and a charm that needs unknown features
    force: bool = False
    dry_run: bool = False  # True to record nothing, but to raise the same errors

    def __post_init__(self) -> None:
        number = 1 if self.num_units is None else self.num_units
        unit_requests.check_number(number, self.attach_storage, self.least_units)
        if self.revision >= 0 and not self.channel:
            raise NotValid(NEEDS_CHANNEL)
        if self.channel:
            Channel.parse(self.channel)  # raises for a wrong channel, even when the charm needs no channel
        if self.application and not is_application(self.application):
            raise UsageError(f'invalid application name "{self.application}"')


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCharm:
    """A charm that was found and read, with its typed settings and whether the application is trusted."""

    found: Acquired
    settings: Settings
    trust: bool

    @property
    def charm(self) -> Charm:
        return self.found.packed.charm


def deploy(
    ctx: Context,
    model: str,
    options: DeployOptions,
    *,
    notices: Notices = SILENT,
    precheck: Precheck = unchecked,
    read: ReadCharm | None = None,
) -> Deployed:
    """Deploy a charm as a new application; after an error, nothing is recorded.

    Args:
        precheck: Asks the cloud whether it can start the machines, before anything is recorded.
        read: The charm, when `read_local` has read it before the model existed.

    Raises:
        OtherKind: The name is that of a bundle in the store.
        HubError: The store does not have the charm, or cannot be reached.
        PushjujuError: The charm, the cloud or the model does not allow it; the messages are Juju's.
    """
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
        known = read or _read(options, _find(ctx, model, options, Path(folder), notices), notices)
        request = _application(ctx, model, options, known)
        precheck(
            ctx,
            model,
            base=request.base,
            constraints=request.constraints,
            count=request.count,
            placements=request.placements,
            warn=notices.warn,
        )
        return new_application.add(ctx, model, request, rehearse=options.dry_run)


def read_local(
    options: DeployOptions, folder: Path, environ: Mapping[str, str], notices: Notices
) -> ReadCharm:
    """Read a charm that needs no model to be found; base and architecture come from the options or the charm.

    Args:
        folder: The folder that keeps the charm until it is recorded.
    """

    def choose(charm: Charm) -> tuple[Base, str]:
        return options.base or charm_places.usual_base(charm), str(options.constraints.get("arch") or "")

    build = Build(choose=choose, scripts=options.build_scripts)
    found = charm_places.from_place(options.charm, folder, environ, notices, build)
    return _read(options, found, notices)


def _find(ctx: Context, model: str, options: DeployOptions, folder: Path, notices: Notices) -> Acquired:
    """Find a charm by the options, and bring it to this computer."""
    kind = charm_places.kind_of(options.charm, ctx.environ, notices)
    if kind is ArgumentKind.UPLOADED:
        return charm_places.uploaded(ctx, model, options.charm)
    if kind is ArgumentKind.CHARMHUB:
        return _from_store(ctx, model, options, folder, notices)

    def choose(charm: Charm) -> tuple[Base, str]:
        arch = _arch(ctx, model, options, options.base)[1]
        return _choose_base(ctx, model, charm, options, source=True), arch

    build = Build(choose=choose, scripts=options.build_scripts)
    return charm_places.from_place(options.charm, folder, ctx.environ, notices, build)


def _from_store(ctx: Context, model: str, options: DeployOptions, folder: Path, notices: Notices) -> Acquired:
    """Fetch a charm from the model's store, for the base and architecture of its machines."""
    base, arch = _arch(ctx, model, options, _base_in_url(options))
    request = store_charms.CharmRequest(
        url=options.charm,
        channel=options.channel,
        revision=options.revision,
        base=base,
        arch=arch or DEFAULT_ARCH,
        force=options.force,
    )
    return charm_places.from_store(ctx, model, request, options.resources, folder, notices)


def _arch(ctx: Context, model: str, options: DeployOptions, base: Base | None) -> tuple[Base | None, str]:
    """Return base and architecture from options, placements and model; None and empty when left open."""
    placed = store_charms.placed_platform(ctx, model, options.placements, base)
    arch = model_constraints.wanted_arch(ctx, model, options.constraints, placed)
    return base or (placed.base if placed else None), arch


def _base_in_url(options: DeployOptions) -> Base | None:
    """Return the base of the options, or of the series in the charm's URL (`jammy/postgresql`), or None."""
    series = parse_url(options.charm).series
    if not series:
        return options.base
    base = Base.from_series(series)
    if options.base and not options.base.matches(base):
        text = f'series "{series}" of "{options.charm}" and base "{options.base}" do not match'
        raise NotValid(text)
    return base


def _read(options: DeployOptions, found: Acquired, notices: Notices) -> ReadCharm:
    """Check a charm and the options for its settings, and return both."""
    charm = found.packed.charm
    for text in charm.warnings:
        notices.warn(text)
    if not options.force:
        check_features(charm)
    known = with_trust(charm.config)
    settings: Settings = {}
    if options.config_file:
        settings.update(parse_settings_yaml(known, options.config_file, options.application or charm.name))
    settings.update(parse_settings(known, options.config))
    trust = settings.pop(TRUST, False)
    return ReadCharm(found=found, settings=settings, trust=options.trust or bool(trust))


def _application(
    ctx: Context, model: str, options: DeployOptions, read: ReadCharm
) -> new_application.NewApplication:
    found, charm = read.found, read.charm
    origin = found.origin
    usual = 0 if charm.meta.subordinate else 1
    return new_application.NewApplication(
        application=options.application or charm.name,
        packed=found.packed,
        base=origin.base if origin else _choose_base(ctx, model, charm, options, source=found.source),
        settings=read.settings,
        constraints=options.constraints,
        count=usual if options.num_units is None else options.num_units,
        placements=options.placements,
        trust=read.trust,
        resources=found.files if origin else options.resources,
        storage=options.storage,
        attach_storage=options.attach_storage,
        bind=options.bind,
        origin=origin,
        store_resources=tuple(found.resources.values()),
        url=found.url,
    )


def _choose_base(ctx: Context, model: str, charm: Charm, options: DeployOptions, *, source: bool) -> Base:
    with ctx.read(model) as tx:
        request = charms.base_request(ctx.datadir, tx)
    request = changed(request, requested=options.base, force=options.force, source=source)
    return choose_base(charm.name, charm.bases(), request)
