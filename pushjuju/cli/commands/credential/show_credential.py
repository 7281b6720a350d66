"""The command show-credential. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.commands.credential import credential_table
from pushjuju.cli.commands.credential.credential_entries import SHOW_SECRETS
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.core.clouds import CloudCredentials
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import credentials, definitions
from pushjuju.services.views import cloud_documents as documents


@command(
    "show-credential",
    usage="[<cloud name> <credential name>]",
    summary="Shows credential information stored either on this client or on a controller.",
    aliases=("show-credentials",),
    formats=("yaml",),
    flags=(*flags.CLIENT_OR_CONTROLLER, SHOW_SECRETS),
    examples="    pushjuju show-credential\n"
    "    pushjuju show-credential aws bob\n"
    "    pushjuju show-credential aws bob --show-secrets\n",
    see_also=("credentials", "add-credential", "update-credential", "remove-credential"),
)
def show_credential(
    cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, show_secrets: bool
) -> None:
    if len(args) == 1:
        raise UsageError("both cloud and credential name are needed")
    if len(args) > 2:
        raise UsageError("only cloud and credential names are supported")
    where = scope.for_reading(cli, client=client, controller=controller)
    here = where.files.all_credentials() if where.client else {}
    there = documents.controller_credentials(where.ctx, where.ctx.user) if where.ctx else {}
    shown = [
        _contents(cli, where, stored, args, secrets=show_secrets, used=stored is there)
        for stored in (there, here)
    ]
    if not any(shown):
        return cli.console.info("No credentials from this client or from a controller to display.")
    return cli.output.text(credential_table.show_credential(shown[0], shown[1]))


def _contents(
    cli: Cli,
    where: sides.Sides,
    stored: Mapping[str, CloudCredentials],
    wanted: tuple[str, ...],
    *,
    secrets: bool,
    used: bool,
) -> dict[str, object]:
    found: dict[str, Any] = {}
    kinds = credentials.kinds_of(where, stored)
    for cloud, entry in sorted(stored.items()):
        for name, item in sorted(entry.credentials.items()):
            if wanted not in ((), (cloud, name)):
                continue
            try:
                attributes = documents.shown(item, kinds[cloud], secrets=secrets)
            except NotValid as error:
                cli.console.warn(f"removing secrets from credentials for cloud {cloud}: {error.message}")
                continue
            content = {"auth-type": item.auth_type, **attributes}
            entry_shown: dict[str, object] = {"content": content}
            if used and where.ctx:
                key = credentials.own_key(where.ctx, name)
                models = definitions.users_of(where.ctx, cloud, key)
                word = documents.validity_of(where.ctx, cloud, key)
                content = {"auth-type": item.auth_type, "validity-check": word, **attributes}
                entry_shown = {"content": content, "models": dict.fromkeys(models, "admin")}
            found.setdefault(cloud, {})[name] = entry_shown
    return found
