"""revoke-secret: revoke access to a secret. Mirrors: juju cmd/juju/secrets (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret.secret_content import GRANTS, granted_to
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.secret import user_secrets as service


@command(
    "revoke-secret",
    usage=GRANTS,
    summary="Revoke access to a secret.",
    flags=flags.IN_MODEL,
    details="Ends a grant of grant-secret; also a hook that is running cannot read the secret any more.",
    examples="    pushjuju revoke-secret my-secret postgresql,redis\n",
    see_also=("grant-secret", "show-secret"),
)
def revoke_secret(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    which, names = granted_to(args)
    opened = session.open_model(cli, model)
    service.revoke(opened.ctx, opened.uuid, which, names)
