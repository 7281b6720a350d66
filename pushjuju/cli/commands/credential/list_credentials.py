"""credentials: lists Juju credentials for a cloud. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.commands.credential import credential_table
from pushjuju.cli.commands.credential.credential_entries import SHOW_SECRETS
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.services.requests.cloud import credentials as request
from pushjuju.services.views import cloud_documents as documents


@command(
    "credentials",
    usage="[<cloud name>]",
    summary="Lists Juju credentials for a cloud.",
    aliases=("list-credentials",),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.CLIENT_OR_CONTROLLER, SHOW_SECRETS),
    examples="    pushjuju credentials\n"
    "    pushjuju credentials aws\n"
    "    pushjuju credentials --client --show-secrets --format yaml\n",
    see_also=("add-credential", "update-credential", "remove-credential", "default-credential"),
)
def credentials(
    cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, show_secrets: bool
) -> None:
    where = scope.for_reading(cli, client=client, controller=controller)
    here = where.files.all_credentials() if where.client else {}
    there = documents.controller_credentials(where.ctx, where.ctx.user) if where.ctx else {}
    shown: list[dict[str, Any]] = []
    missing: set[str] = set()
    for stored in (there, here):
        wanted = {name: item for name, item in stored.items() if name in (args or (name,))}
        found, left_out = documents.credentials_document(
            wanted, request.kinds_of(where, wanted), secrets=show_secrets
        )
        shown.append(found)
        missing |= set(left_out)
    if missing and cli.output.form == "tabular":
        cli.output.text(
            "The following clouds have been removed and are omitted from the results to avoid leaking "
            "secrets.\n"
            f"Run with --show-secrets to display these clouds' credentials: {', '.join(sorted(missing))}\n\n"
        )
    if cli.output.form != "tabular":
        return cli.output.text(credential_table.credentials(cli.output.form, shown[0], shown[1]))
    if not any(shown):
        return cli.console.info("No credentials from this client or from a controller to display.")
    return cli.output.text(credential_table.credentials_table(shown[0], shown[1], colour=cli.output.colour))
