"""The command default-credential. Mirrors: juju cmd/juju/cloud (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope
from pushjuju.portable.quote import quote
from pushjuju.services.requests.cloud import credentials


@command(
    "default-credential",
    usage="<cloud name> [<credential name>]",
    summary="Gets, sets, or unsets the default credential for a cloud on this client.",
    aliases=("set-default-credentials",),
    at_least=(1, "Usage: pushjuju default-credential <cloud-name> [<credential-name>]"),
    at_most=2,
    flags=(flags.switch("reset", "Reset default credential for the cloud"),),
    examples="    pushjuju default-credential aws\n"
    "    pushjuju default-credential aws bob\n"
    "    pushjuju default-credential aws --reset\n",
    see_also=("credentials", "add-credential", "remove-credential", "autoload-credentials"),
)
def default_credential(cli: Cli, args: tuple[str, ...], *, reset: bool) -> None:
    where, name = scope.for_writing(cli, client=True, controller=""), args[0]
    if len(args) == 1 and not reset:
        current = credentials.default_of(where, name)
        state = f"is {quote(current)}" if current else "is not set"
        return cli.console.info(f"Default credential for cloud {quote(name)} {state} on this client.")
    chosen = args[1] if len(args) > 1 else ""
    credentials.set_default(where, name, chosen)
    if chosen:
        return cli.console.info(
            f"Local credential {quote(chosen)} is set to be default for {quote(name)} for this client."
        )
    return cli.console.info(f"Default credential for cloud {quote(name)} is no longer set on this client.")
