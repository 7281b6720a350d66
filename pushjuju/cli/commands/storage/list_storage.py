"""storage: lists storage details. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pushjuju.cli.commands.storage import storage_table
from pushjuju.cli.commands.storage.storage_words import with_times
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.shapes import structured
from pushjuju.cli.work import session
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.services.views.status import storage_document


@command(
    "storage",
    usage="[<filesystem or volume> ...]",
    summary="Lists storage details.",
    aliases=("list-storage",),
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.IN_MODEL,
        flags.switch("filesystem", "List filesystem storage (deprecated)"),
        flags.switch("volume", "List volume storage (deprecated)"),
    ),
    examples="    pushjuju storage\n"
    "    pushjuju storage --filesystem\n"
    "    pushjuju storage --volume --format json\n",
    see_also=("show-storage", "add-storage", "remove-storage"),
)
def storage(cli: Cli, args: tuple[str, ...], *, model: str, filesystem: bool, volume: bool) -> None:
    if filesystem and volume:
        raise UsageError("--filesystem and --volume can not be used together")
    if args and not (filesystem or volume):
        raise UsageError("specifying IDs only supported with --filesystem and --volume options")

    opened = session.open_model(cli, model)
    document = with_times(storage_document.document(opened.ctx, opened.uuid))
    table = storage_table.tabular
    if filesystem or volume:
        part = "filesystems" if filesystem else "volumes"
        document = _part(document, part, args)
        table = storage_table.filesystems if filesystem else storage_table.volumes
    plain = cli.output.form == "tabular" and not (filesystem or volume)
    if not document or (plain and "storage" not in document):  # no storage, or only disks of machines
        if cli.output.form == "tabular":
            cli.console.info("No storage to display.")
        return cli.output.text("")
    colour = cli.output.colour
    return cli.output.write(
        document, {"tabular": lambda found: table(found, colour=colour), **structured("storage")}
    )


def _part(document: dict[str, Any], part: str, ids: Sequence[str]) -> dict[str, object]:
    found = {key: value for key, value in document.get(part, {}).items() if not ids or key in ids}
    missing = [key for key in ids if key not in found]
    if missing:
        raise NotValid(f'{part.removesuffix("s")} "{missing[0]}" not found')
    return {part: found} if found else {}
