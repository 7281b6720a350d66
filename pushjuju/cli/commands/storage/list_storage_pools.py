"""storage-pools: lists storage pools. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.storage import storage_table
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.shapes import structured
from pushjuju.cli.work import session
from pushjuju.services.views.listings import storage_pools as view


@command(
    "storage-pools",
    summary="Lists storage pools.",
    aliases=("list-storage-pools",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.IN_MODEL,
        flags.many("provider", "Only show pools of these provider types"),
        flags.many("name", "Only show pools with these names"),
    ),
    examples="    pushjuju storage-pools\n    pushjuju storage-pools --provider loop,rootfs\n",
    see_also=("create-storage-pool", "remove-storage-pool"),
)
def storage_pools(
    cli: Cli, _args: tuple[str, ...], *, model: str, provider: tuple[str, ...], name: tuple[str, ...]
) -> None:
    opened = session.open_model(cli, model)
    document = view.document(opened.ctx, opened.uuid, name, provider)
    if not document:
        cli.console.info("No storage pools to display.")
        return cli.output.text("")
    return cli.output.write(document, {"tabular": storage_table.pools, **structured("*leaf")})
