"""attach-resource, resources, charm-resources. Mirrors: juju cmd/juju/resource (3.6)"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.cli.commands.resource import resource_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import HubError, NotFound, NotValid, UsageError
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import resources as service
from pushjuju.services.views import resource_documents

if TYPE_CHECKING:
    from pushjuju.charms.values.model import ResourceMeta
    from pushjuju.core.charmstore import StoreResource

_NOTHING = "No resources to display."


@command(
    "attach-resource",
    usage="<application> <resource name>=<file>",
    summary="Update a resource for an application.",
    at_least=(1, "missing application name"),
    at_most=2,
    flags=(*flags.MODEL, *flags.LOGIN, *flags.NO_WAIT),
    details="The name is the one that the charm's metadata.yaml gives the resource. The file is copied into\n"
    "the controller's store; the application's units then run upgrade-charm, and get the new file when\n"
    "they ask for it with resource-get.",
    examples="    pushjuju attach-resource mysql plugins=./plugins.tgz\n",
    see_also=("resources", "charm-resources"),
)
def attach_resource(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    """Give an application another file for a resource."""
    if len(args) < 2:
        raise UsageError("no resource specified")
    application, argument = args
    if not is_application(application):
        raise UsageError(f"application {quote(application)} not valid")
    name, value = _pair(argument)
    opened = session.open_model(cli, model)
    service.attach(opened.ctx, opened.uuid, application, name, value)
    drive.settle(cli, opened.ctx, opened.uuid, touched=(application,), no_wait=no_wait)


def _pair(argument: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not equals:
        problem = "expected name=path format"
    elif not name:
        problem = "missing resource name"
    else:
        problem = "" if value else "missing resource value"
    if problem:
        raise UsageError(f"bad resource arg {quote(argument)}: {problem}")
    return name, value


@command(
    "resources",
    usage="<application or unit>",
    summary="Show the resources for an application or unit.",
    aliases=("list-resources",),
    at_least=(1, "missing application or unit name"),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.switch("details", "Show detailed information about the resources used by each unit."),
    ),
    examples="    pushjuju resources mysql\n    pushjuju resources mysql/0 --details\n",
    see_also=("attach-resource", "charm-resources"),
)
def resources(cli: Cli, args: tuple[str, ...], *, model: str, details: bool) -> None:
    """List resources."""
    target = args[0]
    if not (is_application(target) or is_unit(target)):
        raise NotValid(f"{quote(target)} is neither an application nor a unit")
    opened = session.open_model(cli, model)
    application = target.partition("/")[0]
    every = resource_documents.listing(opened.ctx, opened.uuid, application)
    if not every.resources:
        cli.console.info(_NOTHING)
        return
    unit = target if "/" in target else ""
    if details:
        wide = every.details(unit)
        documents, table = [item.document() for item in wide], formatters.details(wide, of_unit=bool(unit))
    else:
        found = every.unit_resources(unit) if unit else every.resources
        documents, table = [item.document() for item in found], formatters.table(found, of_unit=bool(unit))
    whole: dict[str, object] = {"resources": documents}
    if every.updates and not unit:
        whole["updates"] = [item.document() for item in every.updates]
        table += formatters.updates(every.updates)
    cli.output.write(documents if unit else whole, {"tabular": lambda _: table})


@command(
    "charm-resources",
    usage="<charm>",
    summary="Display the resources for a charm.",
    aliases=("list-charm-resources",),
    at_least=(1, "missing charm"),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, *flags.LOGIN, flags.text("channel", "The channel of the charm", default="stable")),
    details="The charm is a directory or a .charm file; its path starts with `.` or `/`.",
    examples="    pushjuju charm-resources ./mysql\n",
    see_also=("resources", "attach-resource"),
)
def charm_resources(cli: Cli, args: tuple[str, ...], *, model: str, channel: str) -> None:
    """List what a charm declares."""
    from pushjuju.cli.commands.charm import charm_sources

    if charm_sources.is_store_name(cli, args[0]):
        found = resource_documents.in_store(_in_store(cli, args[0], model=model, channel=channel))
    else:
        found = resource_documents.declared(_declared(cli, args[0], model=model).values())
    if not found:
        cli.console.info(_NOTHING)
        return
    cli.output.write(found, {"tabular": formatters.charm_table})


def _declared(cli: Cli, argument: str, *, model: str) -> Mapping[str, ResourceMeta]:
    """Return what a local charm declares."""
    from pushjuju.charms.archive.reader import read_charm
    from pushjuju.cli.commands.charm import charm_sources

    if "channel" in cli.given:
        raise NotValid("--channel chooses among a store's charms: this one is local")
    if model:
        session.open_model(cli, model)  # one that is not there is an error, as for every command
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
        origin = "" if charm_sources.is_brought(argument) else None
        path = charm_sources.bring(cli, argument, Path(folder))
        return read_charm(path, origin=origin).charm.meta.resources


def _in_store(cli: Cli, argument: str, *, model: str, channel: str) -> Sequence[StoreResource]:
    """Return the resources of a store's charm, in the model's store or in Charmhub.

    Raises:
        HubError: There is no such charm; the message is Juju's.
    """
    from pushjuju.charms.format.url import parse_url
    from pushjuju.cli.commands.charm import charmhub
    from pushjuju.core.channel import Channel
    from pushjuju.core.charmstore import Ask
    from pushjuju.services.supply import store_charms

    ask = Ask(name=parse_url(argument).name, channel=Channel.parse(channel))
    try:
        opened = session.open_model(cli, model)
        store = store_charms.open_store(opened.ctx, opened.uuid)
    except NotFound:
        if model:
            raise
        store = charmhub.open_store(cli, store_charms.DEFAULT_URL)
    (found,) = store.resolve([ask])
    if isinstance(found, HubError):
        raise store_charms.suggested(store, ask.name, found)
    return sorted(found.resources, key=lambda item: item.name)
