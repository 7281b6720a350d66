"""The command find. Mirrors: juju cmd/juju/charmhub (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.charms.hub import catalogue
from pushjuju.cli.commands.charm import charm_table as formatters
from pushjuju.cli.commands.charm.store_names import NOT_THERE, open_store
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.charmstore import HubError
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.portable.gotypes import Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class FindFlags:
    category: str = flags.text("category", "Filter by category name")
    channel: str = flags.text("channel", "Filter by channel")
    type: str = flags.text("type", "Search by type <charm|bundle>")
    publisher: str = flags.text("publisher", "Search by publisher")
    columns: str = flags.text("columns", "Columns of the table: n b v p s a o S", default="nbvps")
    charmhub_url: str


@command(
    "find",
    usage="[<query>]",
    summary="Queries the CharmHub store for available charms or bundles.",
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.CHARMHUB,),
    examples="    pushjuju find wordpress\n    pushjuju find --type bundle kubernetes\n",
    into=FindFlags,
    see_also=("info", "download"),
)
def find(cli: Cli, args: tuple[str, ...], flags: FindFlags) -> None:
    filters = {key: getattr(flags, key) for key in ("category", "channel", "type", "publisher")}
    if flags.type not in ("", "charm", "bundle"):
        raise UsageError("expected type to be charm or bundle")
    formatters.check_columns(flags.columns)
    query = args[0] if args else ""
    try:
        results = open_store(cli, flags.charmhub_url).find(query, filters)
    except HubError as error:
        if error.reason in NOT_THERE:
            raise HubError(f'Nothing found for query "{query}".', reason=error.reason) from None
        raise
    found = [catalogue.found_entry(item) for item in results]
    if cli.output.form == "tabular" and not found:
        kind = f"{flags.type}s" if flags.type else "charms or bundles"
        cli.console.info(f"No matching {kind}")
        return
    empty = not query and not any(filters.values())

    def table(_document: Any) -> str:
        text = formatters.found_table(found, flags.columns)
        if not empty:
            return text
        return (
            f"No search term specified. Here are some interesting charms:\n\n{text}"
            "Provide a search term for more specific results.\n"
        )

    cli.output.write([Struct(entry.items()) for entry in found], {"tabular": table})
