"""remove-cloud: removes a cloud from Juju. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope, session
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.cloud import clouds as service
from pushjuju.services.entities.model import sides
from pushjuju.services.views import cloud_documents as documents


@command(
    "remove-cloud",
    usage="<cloud name>",
    summary="Removes a cloud from Juju.",
    at_least=(1, "Usage: pushjuju remove-cloud <cloud name>"),
    at_most=1,
    flags=(*flags.CLIENT_OR_CONTROLLER, *flags.LOGIN),
    details="Controllers that work with the cloud keep its definition.",
    examples="    pushjuju remove-cloud lab --client\n    pushjuju remove-cloud lab -c home\n",
    see_also=("add-cloud", "update-cloud", "clouds"),
)
def remove_cloud(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str) -> None:
    """Remove a cloud from the client or from a controller."""
    where, name = scope.for_writing(cli, client=client, controller=controller), args[0]
    if where.client:
        _remove_here(cli, where, name)
    if where.ctx:
        users = documents.users_of(where.ctx, name)
        if users or where.ctx.controller.settings().get("cloud") == name:
            count = f"{len(users)} model{'' if len(users) == 1 else 's'}" if users else "the controller"
            raise NotValid(f"cloud is used by {count}")
        there = quote(where.ctx.controller.name)
        if where.ctx.controller.cloud_files.remove_cloud(name):
            cli.console.info(f"Removed details of cloud {quote(name)} from controller {there}")
        else:
            cli.console.info(f"No cloud called {quote(name)} exists on controller {there}")


def _may_use(cli: Cli, controller: str, name: str) -> bool:
    """Return whether a controller uses a cloud; one that cannot be read may."""
    try:
        ctx = session.open_controller(cli, controller)
        return bool(documents.users_of(ctx, name)) or ctx.controller.settings().get("cloud") == name
    except PushjujuError as error:
        what = f"It keeps a copy of cloud {quote(name)}, in case it uses the cloud."
        session.warn_of_controller(cli, controller, error, what)
        return True


def _remove_here(cli: Cli, where: sides.Sides, name: str) -> None:
    if name in where.files.clouds():
        for controller in where.folder.controllers():
            own = where.folder.controller(controller).cloud_files
            if _may_use(cli, controller, name) and name not in own.clouds():
                own.put_cloud(name, where.files.clouds()[name])
        where.files.remove_cloud(name)
        return cli.console.info(f"Removed details of cloud {quote(name)} from this client")
    if name in service.BUILT_IN:
        return cli.console.info(f"Cannot remove built-in cloud {quote(name)} from client")
    if name in service.public_clouds(where.host):
        cli.console.info(f"Cannot remove public cloud {quote(name)} from client")
        if where.files.credentials(name).credentials:
            cli.console.info(
                f"To hide this cloud, remove its credentials with `{cli.program} remove-credential`"
            )
        return None
    return cli.console.info(f"No cloud called {quote(name)} exists on this client")
