"""show-storage: shows storage instance information. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.storage.storage_words import check_ids, with_times
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.shapes import structured
from pushjuju.cli.work import session
from pushjuju.services.views.status import storage_document


@command(
    "show-storage",
    usage="<storage ID> [...]",
    summary="Shows storage instance information.",
    at_least=(1, "must specify storage ID(s)"),
    formats=("yaml", "json"),
    flags=flags.IN_MODEL,
    examples="    pushjuju show-storage data/0\n    pushjuju show-storage data/0 data/1 --format json\n",
    see_also=("storage", "attach-storage", "detach-storage", "remove-storage"),
)
def show_storage(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    check_ids(args)

    opened = session.open_model(cli, model)
    document = with_times(storage_document.show(opened.ctx, opened.uuid, args))
    cli.output.write(document, structured("*storage-instance"))
