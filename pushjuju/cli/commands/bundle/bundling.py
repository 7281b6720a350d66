"""Bundles on the command line: deploying, showing a plan, writing documents.

Mirrors: juju cmd/juju/application/deployer/bundle.go, bundlehandler.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli
    from pushjuju.cli.work.session import Session
    from pushjuju.core.base import Base
    from pushjuju.core.storage import Directive
    from pushjuju.services.bundles.plan.changes import Change
    from pushjuju.services.bundles.planning import Prepared, Wishes
    from pushjuju.services.bundles.read.load import Loaded

NOT_THERE = "not in the bundle"  # under which a plan finds what the model has beyond a bundle
EXECUTING, WOULD = "Executing changes:", "Changes to deploy bundle:"
_NOT_FOR_BUNDLES = (
    "bind", "config", "constraints", "num_units", "series", "base", "to", "resource", "attach_storage",
    "allow_build_scripts",
)  # fmt: skip


def names_bundle(argument: str) -> bool:
    """Return True when an argument of `deploy` is the path of a bundle."""
    if not argument.startswith((".", "/", "~")):
        return False
    from pushjuju.services.bundles.read.source import is_bundle

    return is_bundle(Path(argument).expanduser())


def deploy(cli: Cli, argument: str, *, model: str, no_wait: bool, options: Mapping[str, Any]) -> None:
    """Deploy a bundle."""
    from pushjuju.cli.work import session
    from pushjuju.services.bundles import planning

    check_flags(cli, options)
    given = [f"--{key}" for key in ("channel", "revision") if key in cli.given]
    if given:
        raise UsageError(f"{', '.join(given)} is for bundles of a store; this one is a file")
    loaded = load(cli, argument, options["overlay"], dry_run=options["dry_run"])
    wishes = wishes_of(options)
    planning.require_trust(loaded, wishes)
    opened = session.open_or_make_model(cli, model)
    _deploy(cli, opened, loaded, wishes, no_wait=no_wait, dry_run=options["dry_run"])


def deploy_of_store(
    cli: Cli, opened: Session, name: str, *, no_wait: bool, options: Mapping[str, Any]
) -> None:
    """Deploy a bundle of the model's store."""
    from dataclasses import replace

    from pushjuju.services.bundles import planning

    path, url = of_store(cli, opened, name, channel=options["channel"], revision=options["revision"])
    check_flags(cli, options)
    loaded = load(cli, str(path), options["overlay"], dry_run=options["dry_run"])
    wishes = replace(wishes_of(options), store_bundle=url)
    planning.require_trust(loaded, wishes)
    _deploy(cli, opened, loaded, wishes, no_wait=no_wait, dry_run=options["dry_run"])


def of_store(
    cli: Cli,
    opened: Session,
    name: str,
    *,
    channel: str,
    revision: int = -1,
    base: Base | None = None,
    arch: str = "",
) -> tuple[Path, str]:
    """Bring a bundle of the model's store; return its file and its URL.

    Raises:
        HubError: The store has no such bundle, or cannot be reached; the messages are Juju's.
    """
    from pushjuju.services.bundles.check import stored_charms

    path, found, number = stored_charms.bring_bundle(
        opened.ctx, opened.uuid, name, channel=channel, revision=revision, base=base, arch=arch
    )
    cli.console.info(f'Located bundle "{found}" in charm-hub, revision {number}')
    return path, f"ch:bundle/{found}-{number}"


def find(cli: Cli, opened: Session, argument: str, **options: Any) -> tuple[str, str]:
    """Return the path of a bundle, and its URL when it came from the model's store.

    A word that names a file or directory means that; another is a name of the store.

    Args:
        cli: The call.
        opened: The model.
        argument: The word.
        asked: Facts that only a store can answer, by name; the arguments of `of_store`.

    Raises:
        NotFound: The path does not exist.
        NotValid: The path is not a bundle.
        UsageError: A file, and flags for a store.
    """
    from pushjuju.services.bundles.read.source import is_bundle

    path = Path(argument).expanduser()
    if is_bundle(path):
        given = [f"--{key}" for key, value in options.items() if value not in ("", -1, None)]
        if given:
            raise UsageError(f"{', '.join(given)} is for bundles of a store; this one is a file")
        return argument, ""
    if path.exists():
        raise NotValid(f"couldn't interpret {quote(argument)} as a local bundle")
    if not is_application(argument.removeprefix("ch:")):
        raise NotFound(
            f"{quote(argument)} not found",
            hint="name the file or directory of a bundle, or a bundle of the store",
        )
    found, url = of_store(cli, opened, argument, **options)
    return str(found), url


def _deploy(
    cli: Cli, opened: Session, loaded: Loaded, wishes: Wishes, *, no_wait: bool, dry_run: bool
) -> None:
    """Show what a bundle changes, and change it."""
    from pushjuju.cli.work import drive
    from pushjuju.services.bundles import planning

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
    from pushjuju.services.bundles.planning import Wishes

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
    from pushjuju.core.storage import Directive

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


def load(cli: Cli, argument: str, overlays: Iterable[str], *, dry_run: bool) -> Loaded:
    """Read a bundle; on a dry run print which of its keys are ignored.

    Raises:
        NotFound, NotValid: The bundle is not there, or cannot be read; broken rules are listed together.
    """
    from pushjuju.services.bundles.read import load as reader

    loaded = reader.examine(Path(argument).expanduser(), list(overlays))
    if dry_run and loaded.ignored:
        lines = "\n".join(f" {line}" for line in loaded.ignored)
        cli.console.warn(f"These fields\n{lines}\nwill be ignored during deployment")
    return loaded


def precheck(cli: Cli, opened: Session, prepared: Prepared) -> None:
    """Let the cloud refuse machines that it can never start."""
    from pushjuju.services.bundles import planning

    needs = planning.machine_needs(prepared)
    if not needs:
        return
    from pushjuju.workers.provision.precheck import precheck_units

    for base, constraints in needs:
        precheck_units(
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


def document(value: Any) -> Any:
    """Return data of a bundle in the form that is written: maps whose keys stay in order are so."""
    from pushjuju.portable.gotypes import Struct
    from pushjuju.services.bundles.plan.as_bundle import Fields

    if isinstance(value, Fields):
        return Struct({key: document(item) for key, item in value.items()})
    if isinstance(value, dict):
        return {key: document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [document(item) for item in value]
    return value
