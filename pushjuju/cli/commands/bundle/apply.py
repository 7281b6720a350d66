"""apply: makes a model equal to a bundle. Mirrors: juju exportbundle.go, diffbundle.go (3.6)"""

from __future__ import annotations

from pathlib import Path

from pushjuju.cli.commands.bundle import bundling
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.services.bundles import plan_files, requests
from pushjuju.workers.provision import precheck


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyFlags:
    model: str
    no_prompt: bool
    overlay: tuple[str, ...]
    storage: tuple[str, ...]
    channel: str = flags.text("channel", "Channel to use when getting the bundle from the model's store")
    revision: int = flags.number("revision", "The revision of a bundle of the model's store", default=-1)
    map_machines: str = flags.text("map-machines", "Specify the existing machines to use")
    trust: bool = flags.switch("trust", "Allow the bundle's applications to read the cloud's credential")
    force: bool = flags.switch("force", "Skip checks of bases and channels")
    prune: bool = flags.switch("prune", "Remove what the bundle does not have; storage stays")
    destroy_storage: bool = flags.switch(
        "destroy-storage", "With --prune: destroy the storage of what is removed"
    )
    dry_run: bool = flags.switch("dry-run", "Only show the changes")
    save_plan: str
    plan: str
    no_wait: bool


@command(
    "apply",
    usage="<bundle file or name>",
    summary="Makes a model equal to a bundle.",
    at_least=(1, "no bundle specified"),
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.NO_PROMPT,
        bundling.OVERLAY,
        flags.STORAGE,
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
    details="Shows the changes and asks. Unlike deploy, apply also changes resources, storage of future\n"
    "units and bindings of applications that exist. Without --prune nothing is removed, reset or\n"
    "unexposed; storage is destroyed only with both --prune and --destroy-storage.\n\n"
    "--save-plan writes the changes as JSON; --plan makes the changes of such a file, and refuses when\n"
    "the model or the bundle has changed since.",
    examples="    pushjuju apply ./bundle.yaml\n    pushjuju apply ./bundle.yaml --prune\n"
    "    pushjuju apply ./bundle.yaml --save-plan plan.json\n"
    "    pushjuju apply ./bundle.yaml --plan plan.json --no-prompt\n",
    into=ApplyFlags,
    see_also=("deploy", "diff-bundle", "export-bundle"),
)
def apply(cli: Cli, args: tuple[str, ...], flags: ApplyFlags) -> None:
    options = _options(cli, args[0], flags)
    opened = session.open_model(cli, flags.model)
    applied = requests.apply(
        opened.ctx,
        opened.uuid,
        options,
        notices=cli.console,
        precheck=precheck.precheck_units,
        agree=lambda proposal: _agree(cli, flags, proposal),
    )
    if applied.done:
        cli.console.info("Bundle applied.")
    elif applied.proposal.changes:
        return
    drive.settle(cli, opened.ctx, opened.uuid, touched=applied.proposal.applications, no_wait=flags.no_wait)


def _options(cli: Cli, bundle: str, flags: ApplyFlags) -> requests.ApplyOptions:
    if flags.destroy_storage and not flags.prune:
        raise UsageError("--destroy-storage needs --prune")
    if flags.revision >= 0 and flags.channel:
        raise UsageError("revision and channel are mutually exclusive for a bundle. Please choose one.")
    if flags.save_plan and flags.plan:
        raise UsageError("--save-plan and --plan are mutually exclusive")
    save = Path(flags.save_plan).expanduser() if flags.save_plan and not cli.rehearsal else None
    return requests.ApplyOptions(
        bundle=bundle,
        overlays=flags.overlay,
        channel=flags.channel,
        revision=flags.revision,
        map_machines=flags.map_machines,
        trust=flags.trust,
        force=flags.force,
        storage=bundling.storage(flags.storage),
        dry_run=flags.dry_run,
        prune=flags.prune,
        destroy_storage=flags.destroy_storage,
        plan=plan_files.read(Path(flags.plan).expanduser()) if flags.plan else None,
        save_plan=save,
    )


def _agree(cli: Cli, flags: ApplyFlags, proposal: requests.Proposal) -> bool:
    """Show the changes and ask; return True when the user agrees."""
    if proposal.fixed:
        lines = "\n".join(f"- {line}" for line in proposal.fixed)
        cli.console.info(f"Not changed, because no command can change it:\n{lines}")
    if proposal.left:
        flag = "--destroy-storage" if flags.prune else "--prune"
        cli.console.info(f"Left alone without {flag}:\n" + "\n".join(proposal.left))
    if not proposal.changes:
        cli.console.info("No changes to apply.")
        return False
    bundling.tell_changes(cli, "Changes to apply:", proposal.changes)
    if flags.dry_run or flags.save_plan:
        return False
    if not flags.no_prompt:
        cli.console.confirm("\nContinue [y/N]? ", what="apply")
    return True
