"""update-secret: updates an existing secret. Mirrors: juju cmd/juju/secrets (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret.secret_content import BASE64, CONTENT, content_given, go_on
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.services.entities.secret import secrets
from pushjuju.services.requests.secret import user_secrets as service


@command(
    "update-secret",
    usage="<ID>|<name> [<key>[#base64|#file]=<value> ...]",
    summary="Updates an existing secret.",
    flags=(
        *flags.MODEL,
        *CONTENT,
        flags.text("name", "The new secret name"),
        FlagSpec(
            name="auto-prune",
            kind=Kind.OPTIONAL_BOOL,
            default="unset",
            help="Delete revisions that no application tracks",
        ),
    ),
    details=f"{BASE64}New values replace all old values, in a new revision.",
    examples="    pushjuju update-secret my-apitoken token#file=/path/to/token --auto-prune\n",
    see_also=("add-secret", "show-secret"),
)
def update_secret(
    cli: Cli, args: tuple[str, ...], *, model: str, info: str, file: str, name: str, auto_prune: bool | None
) -> None:
    if not args:
        raise UsageError("missing secret URI")
    content = content_given(cli, args[1:], file)
    if not (content or info or name or auto_prune is not None):
        raise UsageError("specify at least one of label, description, or content to update")
    change = secrets.Change(
        content=content or None, label=name or None, description=info or None, auto_prune=auto_prune
    )
    opened = session.open_model(cli, model)
    service.update(opened.ctx, opened.uuid, args[0], change)
    go_on(cli, opened)
