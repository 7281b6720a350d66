"""The command remove-credential. Mirrors: juju cmd/juju/cloud/removecredential.go (3.6)"""

from __future__ import annotations

from functools import partial

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope, session
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import credentials, definitions


@command(
    "remove-credential",
    usage="<cloud name> <credential name>",
    summary="Removes Juju credentials for a cloud.",
    at_least=(2, "Usage: pushjuju remove-credential <cloud-name> <credential-name>"),
    at_most=2,
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        flags.switch("force", "Force remove controller side credential, ignore validation errors"),
    ),
    details="Controllers whose models use the credential keep it.",
    examples="    pushjuju remove-credential aws bob --client\n",
    see_also=("add-credential", "autoload-credentials", "credentials", "default-credential"),
)
def remove_credential(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, force: bool) -> None:
    where, (cloud, name) = scope.for_writing(cli, client=client, controller=controller), args
    if where.client:
        _remove_here(cli, where, cloud, name)
    if where.ctx:
        credentials.revoke(where, cloud, name, force=force)
        there = quote(where.ctx.controller.name)
        cli.console.info(
            f"Credential {quote(name)} for cloud {quote(cloud)} removed from the controller {there}."
        )


def _remove_here(cli: Cli, where: sides.Sides, cloud: str, name: str) -> None:
    if not where.files.credentials(cloud).credentials:
        return cli.console.info(f"No stored credentials exist for cloud {quote(cloud)} on this client.")
    removal = credentials.remove_from_client(where, cloud, name, partial(session.open_controller, cli))
    what = f"It keeps a copy of credential {quote(name)}, in case its models use the credential."
    session.warn_of_controllers(cli, removal.unread, what)
    if removal.outcome is definitions.Removed.ABSENT:
        return cli.console.info(
            f"No credential called {quote(name)} exists for cloud {quote(cloud)} on this client"
        )
    return cli.console.info(f"Credential {quote(name)} for cloud {quote(cloud)} removed from this client.")
