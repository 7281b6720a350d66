"""The command remove-credential. Mirrors: juju cmd/juju/cloud/removecredential.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope, session
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import credentials
from pushjuju.services.views import cloud_documents as documents


@command(
    "remove-credential",
    usage="<cloud name> <credential name>",
    summary="Removes Juju credentials for a cloud.",
    at_least=(2, "Usage: pushjuju remove-credential <cloud-name> <credential-name>"),
    at_most=2,
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        *flags.LOGIN,
        flags.switch("force", "Force remove controller side credential, ignore validation errors"),
    ),
    details="Controllers whose models use the credential keep it.",
    examples="    pushjuju remove-credential aws bob --client\n",
    see_also=("add-credential", "autoload-credentials", "credentials", "default-credential"),
)
def remove_credential(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, force: bool) -> None:
    """Remove a credential from the client or from a controller."""
    where, (cloud, name) = scope.for_writing(cli, client=client, controller=controller), args
    if where.client:
        _remove_here(cli, where, cloud, name)
    if where.ctx:
        users = documents.users_of(where.ctx, cloud, name)
        if users and not force:
            count = f"{len(users)} model{'' if len(users) == 1 else 's'}"
            raise NotValid(
                f"could not remove remote credential: cannot revoke credential "
                f"{cloud}/{where.ctx.user}/{name}: it is still used by {count}"
            )
        where.ctx.controller.cloud_files.remove_credential(cloud, name)
        there = quote(where.ctx.controller.name)
        cli.console.info(
            f"Credential {quote(name)} for cloud {quote(cloud)} removed from the controller {there}."
        )


def _may_use(cli: Cli, controller: str, cloud: str, name: str) -> bool:
    """Return whether a controller uses a credential; one that cannot be read may."""
    try:
        return bool(documents.users_of(session.open_controller(cli, controller), cloud, name))
    except PushjujuError as error:
        what = f"It keeps a copy of credential {quote(name)}, in case its models use the credential."
        session.warn_of_controller(cli, controller, error, what)
        return True


def _remove_here(cli: Cli, where: sides.Sides, cloud: str, name: str) -> None:
    stored = where.files.credentials(cloud)
    if not stored.credentials:
        return cli.console.info(f"No stored credentials exist for cloud {quote(cloud)} on this client.")
    if name not in stored.credentials:
        return cli.console.info(
            f"No credential called {quote(name)} exists for cloud {quote(cloud)} on this client"
        )
    kind = credentials.kinds_of(where, {cloud: stored})[cloud]
    for controller in where.folder.controllers():
        own = where.folder.controller(controller).cloud_files
        if _may_use(cli, controller, cloud, name) and name not in own.credentials(cloud).credentials:
            credentials.keep(own, cloud, name, stored.credentials[name], kind)
    where.files.remove_credential(cloud, name)
    return cli.console.info(f"Credential {quote(name)} for cloud {quote(cloud)} removed from this client.")
