"""The steps of `deploy`: turn flags into options, make the request, show the result, work on the model.

Mirrors: juju cmd/juju/application deploy.go, deployer (3.6)
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pushjuju.charms.archive import bundles
from pushjuju.charms.format import url
from pushjuju.cli.commands.bundle import bundling
from pushjuju.cli.syntax import values
from pushjuju.cli.work import drive, making, session
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.services.bundles import requests
from pushjuju.services.requests.application import deploy as request
from pushjuju.services.supply import charm_places, store_charms
from pushjuju.workers.provision import precheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pushjuju.cli.commands.application.charm_flags import DeployFlags
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.services.bundles.requests import Proposal
    from pushjuju.services.entities.model.sessions import Session
    from pushjuju.services.requests.application.deploy import DeployOptions, ReadCharm
    from pushjuju.services.requests.application.new_application import Deployed

Recorded: TypeAlias = "tuple[Session, Sequence[str]]"  # the model, and the applications to work on

_FOR_BUNDLES = ("overlay", "map_machines")
_NOT_FOR_BUNDLES = (
    "bind", "config", "constraints", "num_units", "series", "base", "to", "resource", "attach_storage",
    "allow_build_scripts",
)  # fmt: skip


def deploy(cli: Cli, argument: str, name: str, flags: DeployFlags) -> None:
    """Deploy a charm or a bundle, and work until it is at rest."""
    with making.undone_if_refused(cli, anyway=flags.dry_run):
        opened, touched = _record(cli, argument, name, flags)
    if not flags.dry_run:
        drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=flags.no_wait)


def _record(cli: Cli, argument: str, name: str, flags: DeployFlags) -> Recorded:
    """Record a charm or a bundle; a name of the store may be either."""
    if bundles.names_bundle(argument):
        return _bundle(cli, argument, flags)
    check_flags(flags)
    options = options_of(cli, argument, name, flags)
    kind = charm_places.kind_of(argument, cli.env, cli.console)
    for_bundle = [f"--{key.replace('_', '-')}" for key in _FOR_BUNDLES if getattr(flags, key)]
    bundle_first = _fixed_revision(cli, flags) or bool(for_bundle)
    if kind is not url.ArgumentKind.CHARMHUB:
        _refuse(cli, flags, for_bundle)
    try:
        if kind is url.ArgumentKind.CHARMHUB and bundle_first:
            return _bundle(cli, argument, flags)
        return _charm(cli, kind, options, flags)
    except store_charms.OtherKind:
        _refuse(cli, flags, for_bundle)
        return _bundle(cli, argument, flags)


def check_flags(flags: DeployFlags) -> None:
    """Refuse flags that no charm allows, before any file is read."""
    if flags.series and flags.base:
        raise UsageError("--series and --base cannot be specified together")
    if flags.device:
        raise UsageError("--device is only allowed with k8s models")


def options_of(cli: Cli, argument: str, name: str, flags: DeployFlags) -> DeployOptions:
    """Return the options of the flags; files with values are read."""
    base = values.base(flags.base, flags.series, cli.console)
    config = values.settings(flags.config)
    return request.DeployOptions(
        charm=argument,
        application=name,
        num_units=flags.num_units if "num_units" in cli.given else None,
        base=base,
        channel=flags.channel,
        revision=flags.revision if flags.channel else -1,
        config=config.values,
        config_file=config.file,
        trust=flags.trust,
        constraints=values.constraints(flags.constraints, cli.console),
        placements=values.placements(flags.to),
        storage=values.storage(flags.storage),
        attach_storage=flags.attach_storage,
        resources=flags.resource,
        bind=values.bindings(flags.bind),
        build_scripts=flags.allow_build_scripts,
        force=flags.force,
        dry_run=flags.dry_run,
    )


def _fixed_revision(cli: Cli, flags: DeployFlags) -> bool:
    """Return True when the flags name a revision without a channel, which only a bundle allows."""
    return "revision" in cli.given and not flags.channel


def _refuse(cli: Cli, flags: DeployFlags, for_bundle: list[str]) -> None:
    if _fixed_revision(cli, flags):
        raise NotValid(request.NEEDS_CHANNEL)
    if for_bundle:
        text = ", ".join(for_bundle)
        raise UsageError(f"options provided but not supported when deploying a charm: {text}")


def _charm(cli: Cli, kind: url.ArgumentKind, options: DeployOptions, flags: DeployFlags) -> Recorded:
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
        read: ReadCharm | None = None
        if kind is url.ArgumentKind.UPLOADED or session.any_controller(cli, flags.model):
            opened = session.open_model(cli, flags.model)
        else:
            if kind is url.ArgumentKind.LOCAL:  # before any controller is made
                read = request.read_local(options, Path(folder), cli.env, cli.console)
            opened = making.open_or_make_model(cli, flags.model)
        deployed = request.deploy(
            opened.ctx, opened.uuid, options, notices=cli.console, precheck=precheck.precheck_units, read=read
        )
    tell(cli, deployed, dry_run=flags.dry_run)
    return opened, (deployed.application,)


def tell(cli: Cli, deployed: Deployed, *, dry_run: bool) -> None:
    """Print what was deployed, or would be."""
    if deployed.channel:
        charm = (
            f'charm-hub charm "{deployed.charm}", revision {deployed.revision} in channel {deployed.channel}'
        )
        head = "Deployed"
    else:
        charm = f'local charm "{deployed.charm}", revision {deployed.revision}'
        cli.console.info(f"Located {charm}")
        head = "Deploying"
    where = f'"{deployed.application}" from {charm} on {deployed.base}'
    cli.console.info(f"{where} would be deployed" if dry_run else f"{head} {where}")
    if deployed.terms:
        cli.console.info(f"Deployment under prior agreement to terms: {' '.join(deployed.terms)}")


def _bundle(cli: Cli, argument: str, flags: DeployFlags) -> Recorded:
    """Deploy a bundle from a file or the model's store: show its changes, then make them."""
    _check_bundle_flags(cli, flags)
    options = requests.BundleOptions(
        bundle=argument,
        overlays=flags.overlay,
        channel=flags.channel,
        revision=flags.revision,
        map_machines=flags.map_machines,
        trust=flags.trust,
        force=flags.force,
        storage=bundling.storage(flags.storage),
        dry_run=flags.dry_run,
    )
    loaded = requests.read(options, cli.console) if bundles.names_bundle(argument) else None
    opened = making.open_or_make_model(cli, flags.model)

    def agree(proposal: Proposal) -> bool:
        if proposal.changes:
            title = "Changes to deploy bundle:" if flags.dry_run else "Executing changes:"
            bundling.tell_changes(cli, title, proposal.changes)
        else:
            cli.console.info("No changes to apply.")
        return True

    applied = requests.deploy(
        opened.ctx,
        opened.uuid,
        options,
        notices=cli.console,
        precheck=precheck.precheck_units,
        agree=agree,
        loaded=loaded,
    )
    if cli.rehearsal:
        cli.extra[bundling.NOT_THERE] = applied.proposal.left
    if applied.done:
        cli.console.info("Deploy of bundle completed.")
    return opened, applied.proposal.applications


def _check_bundle_flags(cli: Cli, flags: DeployFlags) -> None:
    """Refuse flags that only a charm allows."""
    if "revision" in cli.given and flags.channel:
        raise UsageError(
            "revision and channel are mutually exclusive when deploying a bundle. Please choose one."
        )
    if used := [f"--{key.replace('_', '-')}" for key in _NOT_FOR_BUNDLES if key in cli.given]:
        raise UsageError(f"options provided but not supported when deploying a bundle: {', '.join(used)}")
