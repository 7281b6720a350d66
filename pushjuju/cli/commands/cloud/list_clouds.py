"""clouds: lists all clouds available to Juju. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.cloud import cloud_table
from pushjuju.cli.commands.cloud.cloud_sources import controller_clouds
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.core.errors import NotFound
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import definitions, juju_client
from pushjuju.services.views import cloud_documents as documents


@command(
    "clouds",
    summary="Lists all clouds available to Juju.",
    aliases=("list-clouds",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        flags.switch("all", "Show all available clouds", dest="every"),
        flags.switch(
            "import-juju", "Copy the clouds and credentials of a Juju client on this computer first"
        ),
    ),
    details="Public clouds are shown once there is a credential for them, or with --all.\n"
    "--import-juju reads the files of a Juju client in JUJU_DATA, else in ~/.local/share/juju, and never\n"
    "changes them; clouds and credentials that exist here already stay as they are.",
    examples="    pushjuju clouds\n    pushjuju clouds --all\n    pushjuju clouds --client --format yaml\n"
    "    pushjuju clouds --import-juju\n",
    see_also=("add-cloud", "credentials", "regions", "show-cloud", "update-cloud"),
)
def clouds(
    cli: Cli, _args: tuple[str, ...], *, client: bool, controller: str, every: bool, import_juju: bool
) -> None:
    where = scope.for_reading(cli, client=client, controller=controller)
    _juju_client(cli, where, take_over=import_juju)
    stored = where.files.all_credentials()
    here = definitions.client_clouds(where.host, where.files) if where.client else {}
    local = {
        name: documents.cloud_document(cloud, where.host, source=source, stored=stored.get(name))
        for name, (source, cloud) in here.items()
    }
    more = [name for name, item in local.items() if item["defined"] == "public" and name not in stored]
    if more and not every:
        local = {name: item for name, item in local.items() if name not in more}
        cli.console.info(
            "Only clouds with registered credentials are shown.\n"
            "There are more clouds, use --all to see them."
        )
    remote = controller_clouds(where)
    if cli.output.form == "tabular":
        return cli.output.text(cloud_table.clouds_table(remote, local, colour=cli.output.colour))
    return cli.output.text(cloud_table.cloud_documents(cli.output.form, {**local, **remote}))


def _juju_client(cli: Cli, where: sides.Sides, *, take_over: bool) -> None:
    """Import the files of a Juju client, or print that they can be imported when the user has no clouds."""
    source = juju_client.folder(cli.env)
    if take_over:
        if not juju_client.has_any(cli.env):
            raise NotFound(f"no clouds.yaml or credentials.yaml of a Juju client in {source}")
        for line in juju_client.take_over(where, source):
            cli.console.info(line)
    elif cli.console.stderr.isatty() and juju_client.has_any(cli.env) and not where.files.clouds():
        cli.console.info(
            f"A Juju client has clouds or credentials in {source}; "
            f"`{cli.program} clouds --import-juju` copies them."
        )
