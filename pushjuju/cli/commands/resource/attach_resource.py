"""attach-resource: update a resource for an application. Mirrors: juju cmd/juju/resource (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.requests.application import pending_resources as request


@command(
    "attach-resource",
    usage="<application> <resource name>=<file>",
    summary="Update a resource for an application.",
    at_least=(1, "missing application name"),
    at_most=2,
    flags=(*flags.IN_MODEL, *flags.NO_WAIT),
    details="The name of the resource is that in the charm's metadata.yaml. The file is copied into the\n"
    "controller's store; the application's units then run upgrade-charm, where resource-get returns the\n"
    "new file.",
    examples="    pushjuju attach-resource mysql plugins=./plugins.tgz\n",
    see_also=("resources", "charm-resources"),
)
def attach_resource(cli: Cli, args: tuple[str, ...], *, model: str, no_wait: bool) -> None:
    if len(args) < 2:
        raise UsageError("no resource specified")
    application, argument = args
    if not is_application(application):
        raise UsageError(f"application {quote(application)} not valid")
    name, value = pair_of(argument)
    opened = session.open_model(cli, model)
    request.attach_resource(opened.ctx, opened.uuid, application, name, value)
    drive.settle(cli, opened.ctx, opened.uuid, touched=(application,), no_wait=no_wait)


def pair_of(argument: str) -> tuple[str, str]:
    """Return name and value of `NAME=VALUE`."""
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
