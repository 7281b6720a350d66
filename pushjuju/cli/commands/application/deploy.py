"""deploy: deploys a new application or bundle.

Mirrors: juju cmd/juju/application deploy.go, refresh.go (3.6)
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.charms.format.arguments import ArgumentKind
from pushjuju.charms.format.config import parse_settings, parse_settings_yaml
from pushjuju.charms.format.features import check_features
from pushjuju.charms.format.url import parse_url
from pushjuju.charms.values.charm_bases import BaseRequest, choose_base
from pushjuju.cli.commands.application.charm_flags import CONFIG, bindings_of, warn_all
from pushjuju.cli.commands.application.unit_checks import check_number, precheck
from pushjuju.cli.commands.bundle.bundle_names import names_bundle
from pushjuju.cli.commands.charm import charm_sources
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.work import drive, making, session
from pushjuju.core.base import Base
from pushjuju.core.channel import Channel
from pushjuju.core.charmstore import DEFAULT_ARCH
from pushjuju.core.errors import HubError, NotValid, UsageError
from pushjuju.core.model.placement import Placement
from pushjuju.portable.names import is_application
from pushjuju.services.entities.model import architectures, model_config
from pushjuju.services.requests import deploy as deploy_request
from pushjuju.services.supply import store_charms
from pushjuju.services.supply.store_charms import extra_bases

if TYPE_CHECKING:
    from pushjuju.charms.values.model import Charm

_GOT_BUNDLE = "expected charm, got bundle"  # how a store says that a name is a bundle's

_GOT_CHARM = "expected bundle, got charm"

_NEEDS_CHANNEL = "specifying a revision requires a channel for future upgrades. Please use --channel"


@command(
    "deploy",
    usage="<charm or bundle> [<application name>]",
    summary="Deploys a new application or bundle.",
    at_least=(1, "no charm or bundle specified"),
    at_most=2,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        *flags.UNIT,
        flags.number(
            "num-units", "Number of application units to deploy for principal charms", default=1, short="n"
        ),
        flags.text("channel", "Channel to use when deploying a charm or bundle from Charmhub"),
        CONFIG,
        flags.switch("trust", "Allows charm to run hooks that require access credentials"),
        flags.many("overlay", "Bundles to overlay on the primary bundle, applied in order"),
        flags.many("constraints", "Set application constraints", kind=Kind.CONSTRAINTS, default=""),
        flags.text("series", "The series on which to deploy (deprecated)"),
        flags.text("base", "The base on which to deploy"),
        flags.number("revision", "The revision to deploy", default=-1),
        flags.switch("dry-run", "Just show what the deploy would do"),
        flags.switch("force", "Allow a charm to be deployed on a base that it does not name"),
        flags.STORAGE,
        flags.many("device", "For Kubernetes only", kind=Kind.KEY_VALUE, default=""),
        flags.many("resource", "Resource to be uploaded to the controller", kind=Kind.KEY_VALUE, default=""),
        flags.text("bind", "Configure application endpoint bindings to spaces"),
        flags.BUILD_SCRIPTS,
        flags.text("map-machines", "Specify the existing machines to use for bundle deployments"),
        *flags.NO_WAIT,
    ),
    details="A local charm is a directory or a .charm file; its path starts with `.` or `/`.\n"
    "A git repository is written git+https://HOST/REPO@BRANCH#FOLDER; `local:NAME-N` means a charm that was\n"
    "uploaded to the model before. Any other word is the name of a charm\n"
    "in the model's store, its charmhub-url: Charmhub unless a mirror was named when the model was made.\n"
    "Without any controller one is made for machines on this computer.\n\n"
    "The command waits until all is at rest, and ends with 1 when a hook fails. Scripts that were written\n"
    "for Juju set PUSHJUJU_WAIT=0: then it returns once the application is recorded.",
    examples="    pushjuju deploy postgresql --channel 14/stable\n    pushjuju deploy ./web\n"
    "    pushjuju deploy ./web.charm front -n 2 --config port=8080\n"
    "    pushjuju deploy ./web --to 3\n",
    see_also=("add-unit", "config", "refresh", "status"),
)
def deploy(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool, **options: Any) -> None:
    """Deploy a charm or a bundle."""
    if names_bundle(args[0]):
        with _undone(cli, options):
            return _deploy_bundle(cli, args[0], model=model, no_wait=no_wait, options=options)
    _check_flags(cli, options)
    kind = charm_sources.kind_of(cli, args[0])
    of_store = kind is ArgumentKind.CHARMHUB
    if _fixed_revision(cli, options) and not of_store:
        raise NotValid(_NEEDS_CHANNEL)
    chosen = _base_of(args[0], kind, values.base(options["base"], options["series"], cli.console))
    given = values.settings(options["config"])
    wanted = values.constraints(options["constraints"], cli.console)
    targets = values.placements(options["to"])
    stores = values.storage(options["storage"])
    bind = bindings_of(options["bind"])
    if options["channel"]:
        Channel.parse(options["channel"])  # a word that is no channel is refused for every charm
    name = args[1] if len(args) > 1 else ""
    if name and not is_application(name):
        raise UsageError(f'invalid application name "{name}"')

    with tempfile.TemporaryDirectory(prefix="pushjuju-") as work, _undone(cli, options):
        folder = Path(work)
        if of_store:
            opened = making.open_or_make_model(cli, model)
            if _fixed_revision(cli, options):
                return _bundle_revision(cli, opened, args[0], no_wait=no_wait, options=options)
            try:
                found = _from_store(cli, opened, args[0], options, chosen, targets, folder)
            except HubError as error:
                if not error.message.startswith(_GOT_BUNDLE):
                    raise
                return _deploy_bundle(cli, args[0], opened=opened, no_wait=no_wait, options=options)
        elif kind is ArgumentKind.UPLOADED:
            opened = session.open_model(cli, model)
            found = charm_sources.uploaded(opened, args[0])
        else:
            found = charm_sources.from_place(
                cli,
                args[0],
                folder,
                _chooser(cli, model, chosen, wanted, targets, force=options["force"]),
                scripts=options["allow_build_scripts"],
            )
        _check_charm_flags(options)
        charm = found.packed.charm
        warn_all(cli, charm.warnings)
        if not options["force"]:
            check_features(charm)
        settings = _settings(charm, name or charm.name, given)
        if kind is ArgumentKind.LOCAL:
            opened = making.open_or_make_model(cli, model)
        request = deploy_request.DeployRequest(
            application=name or charm.name,
            packed=found.packed,
            base=found.origin.base
            if found.origin
            else _choose_base(opened, charm, chosen, force=options["force"], source=found.source),
            settings=settings,
            constraints=wanted,
            count=_count(cli, charm.meta.subordinate, options["num_units"]),
            placements=targets,
            trust=options["trust"],
            resources=found.files if of_store else options["resource"],
            storage=stores,
            attach_storage=options["attach_storage"],
            bind=bind,
            origin=found.origin,
            store_resources=tuple(found.resources.values()),
            url=found.url,
        )
        precheck(cli, opened, request.base, wanted, request.count, targets)
        deployed = deploy_request.deploy(opened.ctx, opened.uuid, request, rehearse=options["dry_run"])
        if options["dry_run"]:
            return _tell(cli, request, deployed.revision, dry_run=True)
    _tell(cli, request, deployed.revision)
    return drive.settle(cli, opened.ctx, opened.uuid, touched=(deployed.application,), no_wait=no_wait)


def _from_store(
    cli: Cli,
    opened: session.Session,
    argument: str,
    options: Mapping[str, Any],
    base: Base | None,
    targets: Sequence[Placement],
    folder: Path,
) -> charm_sources.Acquired:
    """Get a charm from the model's store, for the machines that it is to run on."""
    placed = store_charms.placed_platform(opened.ctx, opened.uuid, targets, base)
    own = values.constraints(options["constraints"], cli.console)
    arch = architectures.wanted(opened.ctx, opened.uuid, own, placed) or DEFAULT_ARCH
    wanted = base or (placed.base if placed else None)
    request = charm_sources.deploy_request(argument, options, wanted, arch)
    return charm_sources.from_store(cli, opened, request, options["resource"], folder)


def _chooser(
    cli: Cli,
    model: str,
    base: Base | None,
    constraints: Mapping[str, Any],
    targets: Sequence[Placement],
    *,
    force: bool,
) -> charm_sources.Choose:
    """Return a function that names the machines to build a charm's sources for: the model's, if any."""

    def choose(charm: Charm) -> tuple[Base, str]:
        if not session.any_controller(cli, model):
            return base or charm_sources.usual_base(charm), str(constraints.get("arch") or "")
        opened = session.open_model(cli, model)
        placed = store_charms.placed_platform(opened.ctx, opened.uuid, targets, base)
        arch = architectures.wanted(opened.ctx, opened.uuid, constraints, placed)
        return _choose_base(opened, charm, base, force=force, source=True), arch

    return choose


def _check_flags(cli: Cli, options: Mapping[str, Any]) -> None:
    """Refuse what can never work, before anything is read.

    Raises:
        UsageError: Flags that exclude each other, a bad number, or a flag without a meaning here.
    """
    if options["series"] and options["base"]:
        raise UsageError("--series and --base cannot be specified together")
    if options["attach_storage"] and options["num_units"] != 1:
        raise UsageError("--attach-storage cannot be used with -n")
    if "num_units" in cli.given:
        check_number(options["num_units"])
    if options["device"]:
        raise UsageError("--device is only allowed with k8s models")


def _fixed_revision(cli: Cli, options: Mapping[str, Any]) -> bool:
    """Return True when a revision is asked for without a channel, which bundles alone may do."""
    return "revision" in cli.given and not options["channel"]


def _deploy_bundle(
    cli: Cli,
    argument: str,
    *,
    opened: session.Session | None = None,
    model: str = "",
    no_wait: bool,
    options: Mapping[str, Any],
) -> None:
    """Deploy a bundle: one of the store of an opened model, else a file."""
    from pushjuju.cli.commands.bundle import bundling  # large, and most deployments are of charms

    if opened is not None:
        return bundling.deploy_of_store(cli, opened, argument, no_wait=no_wait, options=options)
    return bundling.deploy(cli, argument, model=model, no_wait=no_wait, options=options)


def _bundle_revision(
    cli: Cli, opened: session.Session, name: str, *, no_wait: bool, options: Mapping[str, Any]
) -> None:
    """Deploy one revision of a store's bundle.

    Raises:
        NotValid: The argument names a charm.
    """
    try:
        _deploy_bundle(cli, name, opened=opened, no_wait=no_wait, options=options)
    except HubError as error:
        if error.message.startswith(_GOT_CHARM):
            raise NotValid(_NEEDS_CHANNEL) from None
        raise


def _undone(cli: Cli, options: Mapping[str, Any]) -> AbstractContextManager[None]:
    return making.undone_if_refused(cli, anyway=options["dry_run"])


def _check_charm_flags(options: Mapping[str, Any]) -> None:
    """Refuse what only bundles take.

    Raises:
        UsageError: The message is Juju's.
    """
    unsupported = ("overlay", "map_machines")
    named = [f"--{key.replace('_', '-')}" for key in unsupported if options[key]]
    if named:
        raise UsageError(f"options provided but not supported when deploying a charm: {', '.join(named)}")


def _choose_base(
    opened: session.Session, charm: Any, wanted: Base | None, *, force: bool, source: bool
) -> Base:
    with opened.ctx.store.read() as tx:
        stored = model_config.stored(tx, opened.uuid).get("default-base")
    request = BaseRequest(
        requested=wanted,
        model_default=Base.parse(stored) if stored else None,
        force=force,
        extra_bases=_extra_bases(opened),
        source=source,
    )
    return choose_base(charm.name, charm.bases(), request)


def _extra_bases(opened: session.Session) -> tuple[Base, ...]:
    """Return the bases beyond Juju's own."""
    return extra_bases(opened.ctx)


def _settings(charm: Any, application: str, given: values.Settings) -> dict[str, Any]:
    """Return the typed settings: the files' first, the pairs over them."""
    found: dict[str, Any] = {}
    for content in given.files:
        found.update(parse_settings_yaml(charm.config, content, application))
    found.update(parse_settings(charm.config, given.values))
    return found


def _base_of(argument: str, kind: ArgumentKind, chosen: Base | None) -> Base | None:
    """Return the base that the user wants: by a flag, or by the series in a charm's URL (`jammy/postgresql`).

    Raises:
        NotValid: The series is unknown, or contradicts the flag.
    """
    series = parse_url(argument).series if kind is ArgumentKind.CHARMHUB else ""
    if not series:
        return chosen
    base = Base.from_series(series)
    if chosen and not chosen.matches(base):
        raise NotValid(f'series "{series}" of "{argument}" and base "{chosen}" do not match')
    return base


def _count(cli: Cli, subordinate: bool, count: int) -> int:
    """Return the number of units; 0 for a subordinate unless a flag gives a number."""
    return 0 if subordinate and "num_units" not in cli.given else count


def _tell(cli: Cli, request: Any, revision: int, *, dry_run: bool = False) -> None:
    name = (request.origin.charm if request.origin else request.packed.charm).name
    if request.origin is None:
        charm = f'local charm "{name}", revision {revision}'
        cli.console.info(f"Located {charm}")
        head = "Deploying"
    else:
        charm = f'charm-hub charm "{name}", revision {revision} in channel {request.origin.channel}'
        head = "Deployed"
    where = f'"{request.application}" from {charm} on {request.base}'
    cli.console.info(f"{where} would be deployed" if dry_run else f"{head} {where}")
    if terms := request.packed.charm.meta.terms:
        cli.console.info(f"Deployment under prior agreement to terms: {' '.join(terms)}")
