"""show-cloud: shows detailed information for a cloud. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pushjuju.cli.commands.cloud import cloud_table
from pushjuju.cli.commands.cloud.cloud_sources import controller_clouds
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.core.errors import not_found
from pushjuju.portable.quote import quote
from pushjuju.services.entities.cloud import clouds as service
from pushjuju.services.requests.cloud import definitions
from pushjuju.services.views import cloud_documents as documents

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.plugin_host import ProviderType


@command(
    "show-cloud",
    usage="<cloud name>",
    summary="Shows detailed information for a cloud.",
    at_least=(1, "no cloud specified"),
    at_most=1,
    formats=("display", "yaml", "json"),
    flags=(
        *flags.CLIENT_OR_CONTROLLER,
        flags.switch(
            "include-config", "Print available config option details specific to the specified cloud"
        ),
    ),
    examples="    pushjuju show-cloud aws\n    pushjuju show-cloud aws --client --format yaml\n",
    see_also=("clouds", "add-cloud", "update-cloud"),
)
def show_cloud(
    cli: Cli, args: tuple[str, ...], *, client: bool, controller: str, include_config: bool
) -> None:
    where, name = scope.for_reading(cli, client=client, controller=controller), args[0]
    shown: list[tuple[str, dict[str, Any]]] = []
    here = definitions.client_clouds(where.host, where.files) if where.client else {}
    kind = ""
    if name in here:
        source, cloud = here[name]
        kind, stored = cloud.type, where.files.credentials(name)
        document = documents.cloud_document(cloud, where.host, source=source, stored=stored)
        shown.append((f"Client cloud {quote(name)}:", document))
    there = controller_clouds(where)
    if name in there:
        document = there[name]
        kind = document["type"]
        shown.append(
            (f"Cloud {quote(name)} from controller {quote(where.controller.controller.name)}:", document)
        )
    if not shown:
        raise not_found("cloud", name)
    if cli.output.form != "display":
        shown = [(head, {"name": name, "summary": head.rstrip(":"), **item}) for head, item in shown]
    config = _config_text(service.kind_of(where.host, kind)) if include_config else ""
    cli.output.text(cloud_table.show_cloud(cli.output.form, shown) + config)


def _config_text(kind: ProviderType | None) -> str:
    if kind is None or not kind.config_schema:
        return ""
    listed = {attr.name: {"type": attr.type, "description": attr.summary} for attr in kind.config_schema}
    text = cloud_table.flowing("yaml", listed)
    return f"\nThe available config options specific to {kind.name} clouds are:\n{text}"
