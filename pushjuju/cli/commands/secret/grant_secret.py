"""grant-secret: grant access to a secret. Mirrors: juju cmd/juju/secrets (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret.secret_content import GRANTS, granted_to
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.secret import user_secrets as service


@command(
    "grant-secret",
    usage=GRANTS,
    summary="Grant access to a secret.",
    flags=flags.IN_MODEL,
    details="Lets applications read the value of a secret of the model.",
    examples="    pushjuju grant-secret my-secret postgresql,redis\n",
    see_also=("revoke-secret", "show-secret"),
)
def grant_secret(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    which, names = granted_to(args)
    opened = session.open_model(cli, model)
    service.grant(opened.ctx, opened.uuid, which, names)
