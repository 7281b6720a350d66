"""update-cloud: updates cloud information available to Juju. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.cloud.cloud_sources import cloud_of_file
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.core.clouds import is_cloud
from pushjuju.core.errors import Silent, UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.requests.cloud import definitions

_FILE = flags.text("file", "The path to a cloud definition file", short="f")


@command(
    "update-cloud",
    usage="<cloud name>",
    summary="Updates cloud information available to Juju.",
    at_least=(1, "cloud name required"),
    at_most=1,
    flags=(*flags.CLIENT_OR_CONTROLLER, _FILE),
    details="With --controller and without a file, the controller gets the definition of this client.",
    examples="    pushjuju update-cloud mymaas --client -f path/to/maas.yaml\n",
    see_also=("add-cloud", "remove-cloud", "clouds"),
)
def update_cloud(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, file: str) -> None:
    name = args[0]
    if not is_cloud(name):
        raise UsageError(f"cloud name {quote(name)} not valid")
    where = scope.for_writing(cli, client=client, controller=controller)
    cloud = cloud_of_file(cli, where, file, name) if file else None
    failed = False
    if where.client and cloud is None:
        cli.console.info(
            f"To update cloud {quote(name)} on this client, a cloud definition file is required."
        )
        failed = True
    elif where.client and cloud:
        definitions.put_on_client(where, cloud)
        cli.console.info(f"Cloud {quote(name)} updated on this client using provided file.")
    if where.ctx:
        source = "provided file" if cloud else "client cloud definition"
        definitions.update_on_controller(where, name, cloud)
        there = quote(where.ctx.controller.name)
        cli.console.info(f"Cloud {quote(name)} updated on controller {there} using {source}.")
    if failed:
        raise Silent
