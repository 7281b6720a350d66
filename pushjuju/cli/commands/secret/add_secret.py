"""add-secret: adds a new secret. Mirrors: juju cmd/juju/secrets (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret.secret_content import BASE64, CONTENT, content_given, go_on
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.services.requests.secret import user_secrets as service


@command(
    "add-secret",
    usage="<name> [<key>[#base64|#file]=<value> ...]",
    summary="Adds a new secret.",
    flags=(*flags.MODEL, *CONTENT),
    details=f"{BASE64}Others on this computer can see values on a command line: use --file to hide them.",
    examples="    pushjuju add-secret my-apitoken token#file=/path/to/token\n",
    see_also=("update-secret", "grant-secret", "secrets"),
)
def add_secret(cli: Cli, args: tuple[str, ...], *, model: str, info: str, file: str) -> None:
    if not (args and args[0]):
        raise UsageError("missing secret name")
    content = content_given(cli, args[1:], file)
    if not content:
        raise UsageError("missing secret value or filename")
    opened = session.open_model(cli, model)
    uri = service.add(opened.ctx, opened.uuid, args[0], content, info)
    cli.output.text(f"{uri}\n")
    if service.goes_to_backend(opened.ctx, opened.uuid):
        go_on(cli, opened)
