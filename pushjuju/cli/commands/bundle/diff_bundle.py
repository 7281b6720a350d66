"""The command diff-bundle. Mirrors: juju exportbundle.go, diffbundle.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.bundle.bundling import OVERLAY
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.portable.output import format_yaml
from pushjuju.portable.quote import quote
from pushjuju.services.bundles import requests
from pushjuju.services.bundles.plan.as_bundle import document

_ARCHES = ("amd64", "arm64", "ppc64el", "s390x", "riscv64")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffFlags:
    model: str
    overlay: tuple[str, ...]
    map_machines: str = flags.text(
        "map-machines", "Indicates how existing machines correspond to bundle machines"
    )
    annotations: bool = flags.switch("annotations", "Include differences in annotations")
    channel: str = flags.text("channel", "Channel to use when getting the bundle from Charmhub")
    arch: str = flags.text("arch", "Architecture to compare with")
    series: str = flags.text("series", "Specify a series (deprecated)")
    base: str = flags.text("base", "Specify a base")


@command(
    "diff-bundle",
    usage="<bundle file or name>",
    summary="Compare a bundle with a model and report any differences.",
    at_least=(1, "no bundle specified"),
    at_most=1,
    flags=(*flags.IN_MODEL, OVERLAY),
    details="Bases, constraints and options are compared by what they mean, not as they are written.\n"
    "A word that names no file or directory is a bundle of the model's store; --channel, --arch and --base\n"
    "tell which one.",
    examples="    pushjuju diff-bundle ./bundle.yaml\n"
    "    pushjuju diff-bundle ./bundle.yaml --overlay local.yaml --map-machines 3=4\n",
    into=DiffFlags,
    see_also=("deploy", "export-bundle", "apply"),
)
def diff_bundle(cli: Cli, args: tuple[str, ...], flags: DiffFlags) -> None:
    _check_diff(flags)
    options = requests.DiffOptions(
        bundle=args[0],
        overlays=flags.overlay,
        map_machines=flags.map_machines,
        annotations=flags.annotations,
        channel=flags.channel,
        base=values.base(flags.base, flags.series, cli.console),
        arch="" if flags.arch == "all" else flags.arch,
    )
    opened = session.open_model(cli, flags.model)
    found = requests.compare(opened.ctx, opened.uuid, options, notices=cli.console)
    cli.output.text(format_yaml(document(found)))


def _check_diff(flags: DiffFlags) -> None:
    """Refuse contradicting flags and an unknown architecture."""
    if flags.series and flags.base:
        raise UsageError("--series and --base cannot be specified together")
    if flags.arch and flags.arch not in ("all", *_ARCHES):
        expected = "|".join(("all", *_ARCHES))
        raise UsageError(f"unexpected architecture flag value {quote(flags.arch)}, expected <{expected}>")
