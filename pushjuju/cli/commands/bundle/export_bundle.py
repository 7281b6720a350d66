"""The command export-bundle. Mirrors: juju exportbundle.go, diffbundle.go (3.6)"""

from __future__ import annotations

from pathlib import Path

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.services.bundles import export


@command(
    "export-bundle",
    usage="",
    summary="Exports the current model configuration as a reusable bundle.",
    at_most=0,
    flags=(
        *flags.IN_MODEL,
        flags.text("filename", "Bundle file"),
        flags.switch("include-charm-defaults", "Whether to include charm config default values"),
        flags.switch("include-series", "Whether to include series next to bases"),
        flags.switch(
            "with-charms",
            "Write uploaded charms and resources beside the file, so that it can be deployed anywhere",
        ),
    ),
    details="Offers, and endpoints exposed to single networks, are written to a second document, an\n"
    "overlay. Without --with-charms the bundle names an uploaded charm by its URL in this model.",
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
    if with_charms and not filename:
        raise UsageError("--with-charms needs --filename: the charms are written beside it")
    opened = session.open_model(cli, model)

    request = export.Request(
        defaults=include_charm_defaults,
        series=include_series,
        beside=Path(filename).expanduser().parent if with_charms else None,
    )
    text = export.as_text(opened.ctx, opened.uuid, request)
    if not filename:
        return cli.output.text(text)
    export.write(Path(filename).expanduser(), text)
    return cli.output.text(f"Bundle successfully exported to {filename}\n")
