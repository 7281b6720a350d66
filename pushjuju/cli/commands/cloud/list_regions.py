"""regions: lists regions for a given cloud. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.commands.cloud import cloud_table
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.core.clouds import Cloud
from pushjuju.core.errors import NotFound
from pushjuju.core.problems import Subject
from pushjuju.services.requests.cloud import definitions


@command(
    "regions",
    usage="<cloud>",
    summary="Lists regions for a given cloud.",
    aliases=("list-regions",),
    at_least=(1, "no cloud specified"),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=flags.CLIENT_OR_CONTROLLER,
    examples="    pushjuju regions aws\n    pushjuju regions aws --client --format yaml\n",
    see_also=("add-cloud", "clouds", "show-cloud", "update-cloud", "update-public-clouds"),
)
def regions(cli: Cli, args: tuple[str, ...], *, client: bool, controller: str) -> None:
    where, name = scope.for_reading(cli, client=client, controller=controller), args[0]
    here = definitions.client_clouds(where.host, where.files).get(name) if where.client else None
    there = definitions.controller_clouds(where.ctx, where.host).get(name) if where.ctx else None
    if here is None and there is None:
        raise NotFound(f"cloud {name} not found", subject=Subject("cloud", name))
    found = [
        {region["name"]: region["ends"] for region in _regions(cloud)} if cloud else None
        for cloud in (here[1] if here else None, there)
    ]
    cli.output.text(cloud_table.regions(cli.output.form, found[0], found[1]))


def _regions(cloud: Cloud) -> list[dict[str, Any]]:
    names = [region.name for region in cloud.regions] or ["default"]
    return [{"name": name, "ends": cloud.region(name).to_document()} for name in names]
