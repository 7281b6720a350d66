"""default-region: sets the default region for a cloud. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.portable.quote import quote
from pushjuju.services.requests.cloud import definitions


@command(
    "default-region",
    usage="<cloud name> [<region>]",
    summary="Sets the default region for a cloud.",
    aliases=("set-default-region",),
    at_least=(1, "Usage: pushjuju default-region <cloud-name> [<region>]"),
    at_most=2,
    flags=(flags.switch("reset", "Reset default region for the cloud"),),
    examples="    pushjuju default-region aws\n"
    "    pushjuju default-region aws eu-west-1\n"
    "    pushjuju default-region aws --reset\n",
    see_also=("add-credential",),
)
def default_region(cli: Cli, args: tuple[str, ...], *, reset: bool) -> None:
    where, name = scope.for_writing(cli, client=True, controller=""), args[0]
    if len(args) == 1 and not reset:
        definitions.with_regions(where, name)
        current = where.files.credentials(name).default_region
        state = f"is {quote(current)}" if current else "is not set"
        return cli.console.info(f"Default region for cloud {quote(name)} {state} on this client.")
    region = definitions.set_default_region(where, name, "" if reset else args[1])
    if reset:
        return cli.console.info(f"Default region for cloud {quote(name)} is no longer set on this client.")
    return cli.console.info(f"Default region in {name} set to {quote(region)}.")
