"""The command api: serves the API of a controller, writes the files of Juju's clients, renews the CA."""

from __future__ import annotations

from pathlib import Path

from pushjuju.cli.commands.program.command_tree import root_group
from pushjuju.cli.commands.program.web_commands import WebCommands
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import api as serve_api
from pushjuju.cli.work import session
from pushjuju.cli.work.serving_flags import ServingFlags
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiFlags(ServingFlags):
    listen: str = flags.text("listen", "Addresses to listen at, HOST[:PORT][,...]", default="127.0.0.1:17070")
    user: str = flags.text("user", "client-config: the user of the account", default="admin")


@command(
    "api",
    usage="[client-config <folder> | renew-ca]",
    summary="Serves Juju's API, so that Juju's clients work this controller.",
    at_most=2,
    flags=flags.CONTROLLER,
    into=ApiFlags,
    details="The server records the requests of clients, and starts background processes for the work;\n"
    "`controller run --api` does both in one process. The server ends with Ctrl-C or SIGTERM. A\n"
    "user logs in with the password that change-user-password sets.\n\n"
    "`api client-config` writes the files that Juju's clients need into a new folder, the value for\n"
    "JUJU_DATA, with a new password for the user. Give it the same --listen as the server.\n\n"
    "`api renew-ca` makes a new CA of the controller, for a CA that is ten years old or whose key others\n"
    "may have, and says which clients need the new certificate. Logins with macaroons end.",
    examples="    pushjuju api --listen 192.0.2.7\n"
    "    pushjuju api client-config ~/.local/share/juju --listen 192.0.2.7\n",
    see_also=("controller", "change-user-password", "add-user", "grant"),
)
def api(cli: Cli, args: tuple[str, ...], asked: ApiFlags) -> None:
    if (args[:1], len(args)) not in (((), 0), (("client-config",), 2), (("renew-ca",), 1)):
        raise UsageError("api takes no arguments, client-config and a folder, or renew-ca")
    asked.check()
    ctx = session.open_controller(cli, asked.controller)
    serving = serve_api.serving()(cli, ctx, asked.listen, asked, WebCommands(root_group()).run)
    if args == ("renew-ca",):
        serving.renew_ca()
        return
    if args:
        folder = Path(args[1]).expanduser()
        serving.write_client_files(folder, asked.user)
        cli.console.info(f"JUJU_DATA={folder} lets a Juju client work {ctx.controller.name} as {asked.user}")
        return
    asked.use_log_format(cli)
    cli.on_interrupt = "Stopped; the work goes on with the next command."
    serving.alone()
