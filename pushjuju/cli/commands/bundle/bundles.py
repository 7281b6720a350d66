"""export-bundle, diff-bundle, apply. Mirrors: juju exportbundle.go, diffbundle.go (3.6)

`apply` is ours: it makes a model equal to a bundle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.bundle import bundling
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import UsageError
from pushjuju.portable.quote import quote

if TYPE_CHECKING:
    from pushjuju.services.bundles.planning import Prepared

_ARCHES = ("amd64", "arm64", "ppc64el", "s390x", "riscv64")


def _file(name: str, about: str) -> FlagSpec:
    return FlagSpec(name=name, kind=Kind.PATH, default="", help=about)


_OVERLAY = flags.many("overlay", "Bundles to overlay on the primary bundle, applied in order")


@command(
    "export-bundle",
    usage="",
    summary="Exports the current model configuration as a reusable bundle.",
    at_most=0,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.text("filename", "Bundle file"),
        flags.switch("include-charm-defaults", "Whether to include charm config default values"),
        flags.switch("include-series", "Whether to include series next to bases"),
        flags.switch(
            "with-charms",
            "Write uploaded charms and resources beside the file, so that it can be deployed anywhere",
        ),
    ),
    details="Offers and what is exposed to some networks only go to a second document, an overlay.\n"
    "Without --with-charms a charm that was uploaded is named by its URL in this model.",
    examples="    pushjuju export-bundle\n"
    "    pushjuju export-bundle --filename shop/bundle.yaml --with-charms\n",
    see_also=("deploy", "diff-bundle", "apply"),
)
def export_bundle(
    cli: Cli,
    _args: tuple[str, ...],
    *,
    model: str,
    filename: str,
    include_charm_defaults: bool,
    include_series: bool,
    with_charms: bool,
) -> None:
    """Write the model as a bundle."""
    if with_charms and not filename:
        raise UsageError("--with-charms needs --filename: the charms are written beside it")
    opened = session.open_model(cli, model)
    from pushjuju.portable.output import format_yaml
    from pushjuju.services.bundles import export

    request = export.Request(
        defaults=include_charm_defaults,
        series=include_series,
        beside=Path(filename).expanduser().parent if with_charms else None,
    )
    bundle, overlay = export.export(opened.ctx, opened.uuid, request)
    text = format_yaml(bundling.document(bundle))
    if overlay:
        text += export.OVERLAY + format_yaml(bundling.document(overlay))
    if not filename:
        return cli.output.text(text)
    export.write(Path(filename).expanduser(), text)
    return cli.output.text(f"Bundle successfully exported to {filename}\n")


@command(
    "diff-bundle",
    usage="<bundle file or name>",
    summary="Compare a bundle with a model and report any differences.",
    at_least=(1, "no bundle specified"),
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        _OVERLAY,
        flags.text("map-machines", "Indicates how existing machines correspond to bundle machines"),
        flags.switch("annotations", "Include differences in annotations"),
        flags.text("channel", "Channel to use when getting the bundle from Charmhub"),
        flags.text("arch", "Architecture to compare with"),
        flags.text("series", "Specify a series (deprecated)"),
        flags.text("base", "Specify a base"),
    ),
    details="Bases, constraints and options are compared by what they mean, not as they are written.\n"
    "A word that names no file or directory is a bundle of the model's store; --channel, --arch and --base\n"
    "tell which one.",
    examples="    pushjuju diff-bundle ./bundle.yaml\n"
    "    pushjuju diff-bundle ./bundle.yaml --overlay local.yaml --map-machines 3=4\n",
    see_also=("deploy", "export-bundle", "apply"),
)
def diff_bundle(
    cli: Cli, args: tuple[str, ...], *, model: str, overlay: tuple[str, ...], **asked: Any
) -> None:
    """Show what is different between a bundle and a model."""
    _check_diff(asked)
    base = values.base(asked["base"], asked["series"], cli.console)
    arch = "" if asked["arch"] == "all" else asked["arch"]
    from pushjuju.portable.output import format_yaml
    from pushjuju.services.bundles.check import apply_changes
    from pushjuju.services.bundles.plan import diff, machines, model_facts
    from pushjuju.services.bundles.read import load

    mapping = machines.parse(asked["map_machines"])
    opened = session.open_model(cli, model)
    path, _ = bundling.find(cli, opened, args[0], channel=asked["channel"], base=base, arch=arch)
    loaded = load.load(Path(path).expanduser(), list(overlay))
    if unclear := diff.unclear_relations(loaded.bundle):
        cli.console.warn(
            "The provided bundle includes relations without explicit endpoints, which may appear as extra "
            "entries in the diff output.\nTo avoid this in the future, update the endpoints for the "
            "following bundle relations:\n" + "\n".join(unclear)
        )
    with opened.ctx.store.read() as tx:
        facts = model_facts.read(tx, opened.uuid)
    found = diff.diff(
        loaded.bundle,
        facts,
        mapping=mapping,
        annotations=asked["annotations"],
        files=apply_changes.fingerprints(loaded),
    )
    cli.output.text(format_yaml(bundling.document(found)))


def _check_diff(asked: Mapping[str, Any]) -> None:
    """Refuse flags that make no sense.

    Raises:
        UsageError: The messages are Juju's.
    """
    if asked["series"] and asked["base"]:
        raise UsageError("--series and --base cannot be specified together")
    if asked["arch"] and asked["arch"] not in ("all", *_ARCHES):
        expected = "|".join(("all", *_ARCHES))
        raise UsageError(f"unexpected architecture flag value {quote(asked['arch'])}, expected <{expected}>")


@command(
    "apply",
    usage="<bundle file or name>",
    summary="Makes a model equal to a bundle.",
    at_least=(1, "no bundle specified"),
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.NO_PROMPT,
        _OVERLAY,
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
def apply(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool, **asked: Any) -> None:
    """Make a model equal to a bundle."""
    if asked["destroy_storage"] and not asked["prune"]:
        raise UsageError("--destroy-storage needs --prune")
    if asked["revision"] >= 0 and asked["channel"]:
        raise UsageError("revision and channel are mutually exclusive for a bundle. Please choose one.")
    if asked["save_plan"] and asked["plan"]:
        raise UsageError("--save-plan and --plan are mutually exclusive")
    from pushjuju.services.bundles import plan_files, planning

    plan = plan_files.read(Path(asked["plan"]).expanduser()) if asked["plan"] else None
    opened = session.open_model(cli, model)
    path, url = bundling.find(cli, opened, args[0], channel=asked["channel"], revision=asked["revision"])
    loaded = bundling.load(cli, path, asked["overlay"], dry_run=asked["dry_run"])
    wishes = replace(bundling.wishes_of(asked), store_bundle=url, equal=True)
    prepared = planning.prepare(opened.ctx, opened.uuid, loaded, wishes)
    bundling.tell_prepared(cli, prepared)
    bundling.precheck(cli, opened, prepared)
    prepared, left = planning.with_removals(
        prepared, prune=asked["prune"], destroy_storage=asked["destroy_storage"]
    )
    if plan is not None:
        plan_files.require_same(plan, opened.uuid, prepared)
    if asked["save_plan"] and not cli.rehearsal:
        plan_files.write(Path(asked["save_plan"]).expanduser(), opened.uuid, prepared)
    touched = sorted({*prepared.applications, *prepared.bundle.applications})
    if _shown(cli, prepared, left, asked):
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


def _shown(cli: Cli, prepared: Prepared, left: list[str], asked: Mapping[str, Any]) -> bool:
    """Show the changes, and ask; tell whether they are to be made.

    Raises:
        Aborted: The answer is not yes.
    """
    if prepared.fixed:
        lines = "\n".join(f"- {line}" for line in prepared.fixed)
        cli.console.info(f"Not changed, for nothing can change it:\n{lines}")
    if left:
        flag = "--destroy-storage" if asked["prune"] else "--prune"
        cli.console.info(f"Left alone without {flag}:\n" + "\n".join(left))
    if not prepared.changes:
        cli.console.info("No changes to apply.")
        return False
    bundling.tell_changes(cli, "Changes to apply:", prepared.changes)
    if asked["dry_run"] or asked["save_plan"]:
        return False
    if not asked["no_prompt"]:
        cli.console.confirm("\nContinue [y/N]? ", what="apply")
    return True
