"""charm-resources: display the resources for a charm. Mirrors: juju cmd/juju/resource (3.6)"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pushjuju.charms.archive import reader
from pushjuju.charms.format import url
from pushjuju.charms.values import model as charms
from pushjuju.cli.commands.charm import store_names
from pushjuju.cli.commands.resource import resource_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.base import Channel
from pushjuju.core.charmstore import Ask, HubError, StoreResource
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.services.supply import charm_places, store_charms
from pushjuju.services.views import resource_documents


@command(
    "charm-resources",
    usage="<charm>",
    summary="Display the resources for a charm.",
    aliases=("list-charm-resources",),
    at_least=(1, "missing charm"),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.IN_MODEL, flags.text("channel", "The channel of the charm", default="stable")),
    details="The charm is a directory or a .charm file; its path starts with `.` or `/`.",
    examples="    pushjuju charm-resources ./mysql\n",
    see_also=("resources", "attach-resource"),
)
def charm_resources(cli: Cli, args: tuple[str, ...], *, model: str, channel: str) -> None:
    if charm_places.kind_of(args[0], cli.env, cli.console) is url.ArgumentKind.CHARMHUB:
        found = resource_documents.in_store(_in_store(cli, args[0], model=model, channel=channel))
    else:
        found = resource_documents.declared(_declared(cli, args[0], model=model).values())
    if not found:
        cli.console.info(formatters.NOTHING)
        return
    cli.output.write(found, {"tabular": formatters.charm_table})


def _declared(cli: Cli, argument: str, *, model: str) -> Mapping[str, charms.ResourceMeta]:
    if "channel" in cli.given:
        raise NotValid("--channel chooses among a store's charms: this one is local")
    if model:
        session.open_model(cli, model)  # an unknown model is an error, as for every command
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
        origin = "" if charm_places.is_brought(argument) else None
        path = charm_places.bring(argument, Path(folder), cli.env, cli.console)
        return reader.read_charm(path, origin=origin).charm.meta.resources


def _in_store(cli: Cli, argument: str, *, model: str, channel: str) -> Sequence[StoreResource]:
    """Return the resources of a store's charm, in the model's store or in Charmhub."""
    ask = Ask(name=url.parse_url(argument).name, channel=Channel.parse(channel))
    try:
        opened = session.open_model(cli, model)
        store = store_charms.open_store(opened.ctx, opened.uuid)
    except NotFound:
        if model:
            raise
        store = store_names.open_store(cli, store_charms.DEFAULT_URL)
    (found,) = store.resolve([ask])
    if isinstance(found, HubError):
        raise store_charms.suggested(store, ask.name, found)
    return sorted(found.resources, key=lambda item: item.name)
