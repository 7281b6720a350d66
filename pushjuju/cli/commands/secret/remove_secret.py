"""remove-secret: removes an existing secret. Mirrors: juju cmd/juju/secrets (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret.secret_content import go_on
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.quote import quote_list
from pushjuju.services.requests.secret import user_secrets as service


@command(
    "remove-secret",
    usage="<ID>|<name>",
    summary="Removes an existing secret.",
    flags=(*flags.MODEL, flags.number("revision", "Remove the specified revision")),
    details="Removes all revisions, or only the revision of --revision.",
    examples="    pushjuju remove-secret my-secret\n    pushjuju remove-secret my-secret --revision 4\n",
    see_also=("add-secret", "update-secret"),
)
def remove_secret(cli: Cli, args: tuple[str, ...], *, model: str, revision: int) -> None:
    if not args:
        raise UsageError("missing secret URI")
    if len(args) > 1:
        raise UsageError(f"unrecognized args: {quote_list(args[1:])}")
    if "revision" in cli.given and revision <= 0:
        raise UsageError("revision must be a positive integer")
    opened = session.open_model(cli, model)
    service.remove(opened.ctx, opened.uuid, args[0], revision or None)
    go_on(cli, opened)
