"""apply: makes a model equal to a bundle. Mirrors: juju exportbundle.go, diffbundle.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.bundle import bundle_files, bundling
from pushjuju.cli.commands.bundle.overlay_files import OVERLAY
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import UsageError
from pushjuju.services.bundles import plan_files, planning

if TYPE_CHECKING:
    from pushjuju.services.bundles.planning import Prepared


@command(
    "apply",
    usage="<bundle file or name>",
    summary="Makes a model equal to a bundle.",
    at_least=(1, "no bundle specified"),
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.NO_PROMPT,
        OVERLAY,
        flags.STORAGE,
        flags.text("channel", "Channel to use when getting the bundle from the model's store"),
        flags.number("revision", "The revision of a bundle of the model's store", default=-1),
        flags.text("map-machines", "Specify the existing machines to use"),
        flags.switch("trust", "Allow the bundle's applications to read the cloud's credential"),
        flags.switch("force", "Skip checks of bases and channels"),
        flags.switch("prune", "Remove what the bundle does not have; storage stays"),
        flags.switch("destroy-storage", "With --prune: destroy the storage of what is removed"),
        flags.switch("dry-run", "Only show the changes"),
        FlagSpec(
            name="save-plan",
            kind=Kind.PATH,
            default="",
            help="Write the changes to this file; nothing is done",
        ),
        FlagSpec(
            name="plan",
            kind=Kind.PATH,
            default="",
            help="Do what this file says, unless bundle or model have changed",
        ),
        *flags.NO_WAIT,
    ),
    details="Shows what will be changed and asks. Resources, storage of units to come and bindings of\n"
    "applications that are there are changed as well, which deploy leaves alone. Without --prune nothing\n"
    "is removed, reset or unexposed; storage is destroyed only with --destroy-storage besides.\n\n"
    "--save-plan writes the changes as JSON; --plan takes them from there, and refuses when the model\n"
    "or the bundle is not what it was.",
    examples="    pushjuju apply ./bundle.yaml\n    pushjuju apply ./bundle.yaml --prune\n"
    "    pushjuju apply ./bundle.yaml --save-plan plan.json\n"
    "    pushjuju apply ./bundle.yaml --plan plan.json --no-prompt\n",
    see_also=("deploy", "diff-bundle", "export-bundle"),
)
def apply(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool, **options: Any) -> None:
    """Make a model equal to a bundle."""
    if options["destroy_storage"] and not options["prune"]:
        raise UsageError("--destroy-storage needs --prune")
    if options["revision"] >= 0 and options["channel"]:
        raise UsageError("revision and channel are mutually exclusive for a bundle. Please choose one.")
    if options["save_plan"] and options["plan"]:
        raise UsageError("--save-plan and --plan are mutually exclusive")

    plan = plan_files.read(Path(options["plan"]).expanduser()) if options["plan"] else None
    opened = session.open_model(cli, model)
    path, url = bundle_files.find(
        cli, opened, args[0], channel=options["channel"], revision=options["revision"]
    )
    loaded = bundle_files.load(cli, path, options["overlay"], dry_run=options["dry_run"])
    wishes = replace(bundling.wishes_of(options), store_bundle=url, equal=True)
    prepared = planning.prepare(opened.ctx, opened.uuid, loaded, wishes)
    bundling.tell_prepared(cli, prepared)
    bundling.precheck(cli, opened, prepared)
    prepared, left = planning.with_removals(
        prepared, prune=options["prune"], destroy_storage=options["destroy_storage"]
    )
    if plan is not None:
        plan_files.require_same(plan, opened.uuid, prepared)
    if options["save_plan"] and not cli.rehearsal:
        plan_files.write(Path(options["save_plan"]).expanduser(), opened.uuid, prepared)
    touched = sorted({*prepared.applications, *prepared.bundle.applications})
    if _shown(cli, prepared, left, options):
        planning.carry_out(
            opened.ctx,
            opened.uuid,
            prepared,
            planning.same_model(opened.uuid, prepared.facts.digest()),
        )
        cli.console.info("Bundle applied.")
    elif prepared.changes:
        return
    drive.settle(cli, opened.ctx, opened.uuid, touched=touched, no_wait=no_wait)


def _shown(cli: Cli, prepared: Prepared, left: list[str], options: Mapping[str, Any]) -> bool:
    """Show the changes, and ask; return True when the changes are to be made.

    Raises:
        Aborted: The answer is not yes.
    """
    if prepared.fixed:
        lines = "\n".join(f"- {line}" for line in prepared.fixed)
        cli.console.info(f"Not changed, because no command can change it:\n{lines}")
    if left:
        flag = "--destroy-storage" if options["prune"] else "--prune"
        cli.console.info(f"Left alone without {flag}:\n" + "\n".join(left))
    if not prepared.changes:
        cli.console.info("No changes to apply.")
        return False
    bundling.tell_changes(cli, "Changes to apply:", prepared.changes)
    if options["dry_run"] or options["save_plan"]:
        return False
    if not options["no_prompt"]:
        cli.console.confirm("\nContinue [y/N]? ", what="apply")
    return True
