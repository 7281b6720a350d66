"""diff-bundle: compare a bundle with a model and report any differences.

Mirrors: juju exportbundle.go, diffbundle.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushjuju.cli.commands.bundle import bundle_files
from pushjuju.cli.commands.bundle.bundle_document import document
from pushjuju.cli.commands.bundle.overlay_files import OVERLAY
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.output import format_yaml
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.check import apply_changes
from pushjuju.services.bundles.plan import diff, machines, model_facts
from pushjuju.services.bundles.read import load

_ARCHES = ("amd64", "arm64", "ppc64el", "s390x", "riscv64")


@command(
    "diff-bundle",
    usage="<bundle file or name>",
    summary="Compare a bundle with a model and report any differences.",
    at_least=(1, "no bundle specified"),
    at_most=1,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        OVERLAY,
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
    cli: Cli, args: tuple[str, ...], *, model: str, overlay: tuple[str, ...], **options: Any
) -> None:
    """Show what is different between a bundle and a model."""
    _check_diff(options)
    base = values.base(options["base"], options["series"], cli.console)
    arch = "" if options["arch"] == "all" else options["arch"]

    mapping = machines.parse(options["map_machines"])
    opened = session.open_model(cli, model)
    path, _ = bundle_files.find(cli, opened, args[0], channel=options["channel"], base=base, arch=arch)
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
        annotations=options["annotations"],
        files=apply_changes.fingerprints(loaded),
    )
    cli.output.text(format_yaml(document(found)))


def _check_diff(options: Mapping[str, Any]) -> None:
    """Refuse flags that make no sense.

    Raises:
        UsageError: The messages are Juju's.
    """
    if options["series"] and options["base"]:
        raise UsageError("--series and --base cannot be specified together")
    if options["arch"] and options["arch"] not in ("all", *_ARCHES):
        expected = "|".join(("all", *_ARCHES))
        raise UsageError(
            f"unexpected architecture flag value {quote(options['arch'])}, expected <{expected}>"
        )
