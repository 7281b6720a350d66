"""Bundles on the command line: deploying, showing a plan, writing documents.

Mirrors: juju cmd/juju/application/deployer/bundle.go, bundlehandler.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.bundle import bundle_files
from pushjuju.cli.commands.bundle.bundle_names import NOT_THERE
from pushjuju.cli.work import checks, drive, making
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.storage import Directive
from pushjuju.services.bundles import planning
from pushjuju.services.bundles.planning import Prepared, Wishes

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.cli.work.session import Session
    from pushjuju.services.bundles.plan.changes import Change
    from pushjuju.services.bundles.read.load import Loaded

EXECUTING, WOULD = "Executing changes:", "Changes to deploy bundle:"
_NOT_FOR_BUNDLES = (
    "bind", "config", "constraints", "num_units", "series", "base", "to", "resource", "attach_storage",
    "allow_build_scripts",
)  # fmt: skip


def deploy(cli: Cli, argument: str, *, model: str, no_wait: bool, options: Mapping[str, Any]) -> None:
    """Deploy a bundle."""
    check_flags(cli, options)
    given = [f"--{key}" for key in ("channel", "revision") if key in cli.given]
    if given:
        raise UsageError(f"{', '.join(given)} is for bundles of a store; this one is a file")
    loaded = bundle_files.load(cli, argument, options["overlay"], dry_run=options["dry_run"])
    wishes = wishes_of(options)
    planning.require_trust(loaded, wishes)
    opened = making.open_or_make_model(cli, model)
    _deploy(cli, opened, loaded, wishes, no_wait=no_wait, dry_run=options["dry_run"])


def deploy_of_store(
    cli: Cli, opened: Session, name: str, *, no_wait: bool, options: Mapping[str, Any]
) -> None:
    """Deploy a bundle of the model's store."""
    path, url = bundle_files.of_store(
        cli, opened, name, channel=options["channel"], revision=options["revision"]
    )
    check_flags(cli, options)
    loaded = bundle_files.load(cli, str(path), options["overlay"], dry_run=options["dry_run"])
    wishes = replace(wishes_of(options), store_bundle=url)
    planning.require_trust(loaded, wishes)
    _deploy(cli, opened, loaded, wishes, no_wait=no_wait, dry_run=options["dry_run"])


def _deploy(
    cli: Cli, opened: Session, loaded: Loaded, wishes: Wishes, *, no_wait: bool, dry_run: bool
) -> None:
    """Show what a bundle changes, and change it."""
    prepared = planning.prepare(opened.ctx, opened.uuid, loaded, wishes)
    if cli.rehearsal:
        _, cli.extra[NOT_THERE] = planning.with_removals(prepared, prune=False)
    tell_prepared(cli, prepared)
    precheck(cli, opened, prepared)
    if not prepared.changes:
        cli.console.info("No changes to apply.")
    else:
        tell_changes(cli, WOULD if dry_run else EXECUTING, prepared.changes)
    if dry_run:
        return
    if prepared.changes:
        planning.carry_out(opened.ctx, opened.uuid, prepared)
        cli.console.info("Deploy of bundle completed.")
    touched = sorted({*prepared.applications, *prepared.bundle.applications})
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)


def check_flags(cli: Cli, options: Mapping[str, Any]) -> None:
    """Refuse flags that mean one charm.

    Raises:
        UsageError: A flag is for charms only; the messages are Juju's.
    """
    used = [f"--{key.replace('_', '-')}" for key in _NOT_FOR_BUNDLES if key in cli.given]
    if "revision" in cli.given and options["channel"]:
        raise UsageError(
            "revision and channel are mutually exclusive when deploying a bundle. Please choose one."
        )
    if used:
        raise UsageError(f"options provided but not supported when deploying a bundle: {', '.join(used)}")


def wishes_of(options: Mapping[str, Any]) -> Wishes:
    """Return what the flags of `deploy` say beside the bundle.

    Raises:
        UsageError: A directive makes no sense.
    """
    return Wishes(
        map_machines=options["map_machines"],
        trust=options["trust"],
        force=options["force"],
        storage=storage(options["storage"]),
    )


def storage(words: Iterable[str]) -> dict[str, dict[str, Directive]]:
    """Read `APP:NAME=directive` words.

    Raises:
        UsageError: A directive is wrong; the messages are Juju's.
    """
    found: dict[str, dict[str, Directive]] = {}
    for word in words:
        name, _, text = word.partition("=")
        application, colon, store = name.partition(":")
        if not colon or not application or not store:
            raise UsageError(f'expected "application:name=constraints" for a bundle, got "{word}"')
        try:
            found.setdefault(application, {})[store] = Directive.parse(text)
        except NotValid as error:
            text = f'cannot parse constraints for storage "{store}": {error.message}'
            raise UsageError(text) from None
    return found


def precheck(cli: Cli, opened: Session, prepared: Prepared) -> None:
    """Let the cloud refuse machines that it can never start."""
    needs = planning.machine_needs(prepared)
    if not needs:
        return
    for base, constraints in needs:
        checks.of_clouds().units(
            opened.ctx,
            opened.uuid,
            base=base,
            constraints=constraints,
            count=1,
            placements=(),
            warn=cli.console.warn,
        )


def tell_prepared(cli: Cli, prepared: Prepared) -> None:
    """Print warnings, and which charms were found."""
    for text in prepared.warnings:
        cli.console.warn(text)
    for text in prepared.located:
        cli.console.info(text)


def tell_changes(cli: Cli, title: str, changes: Iterable[Change]) -> None:
    """Print steps on stdout, as scripts read them."""
    cli.output.text("".join(f"{line}\n" for line in (title, *change_lines(changes))))


def change_lines(changes: Iterable[Change]) -> list[str]:
    """Return the lines of steps."""
    return [f"- {line}" for change in changes for line in change.lines]
