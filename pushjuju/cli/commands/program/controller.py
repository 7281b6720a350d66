"""controller: `controller run` works all due work until it is stopped; `renew-key` changes the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.cli.commands.program.command_tree import root_group
from pushjuju.cli.commands.program.web_commands import WebCommands
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.progress import progress
from pushjuju.cli.work import api as serve_api
from pushjuju.cli.work import session
from pushjuju.cli.work.serving_flags import ServingFlags
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.services.requests.secret import keys
from pushjuju.workers import serving

if TYPE_CHECKING:
    from pushjuju.cli.work.api_server import ApiServing
    from pushjuju.services.entities.basis.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerFlags(ServingFlags):
    """The flags of controller on the command line."""

    until_idle: bool = flags.switch("until-idle", "run: end when nothing has been due for a while")
    api: str = flags.text("api", "run: serve the API at this address too, HOST[:PORT][,...]")
    forget_old: bool = flags.switch("forget-old", "renew-key: delete the old keys from the file")


@command(
    "controller",
    usage="run|renew-key",
    summary="Runs a controller process: `controller run` works all that comes due, until it is stopped.",
    at_least=(1, "no subcommand specified: controller run|renew-key"),
    at_most=1,
    flags=flags.CONTROLLER,
    into=ControllerFlags,
    details="For a service manager. Several processes, and other commands, may run at the same time. With\n"
    "--api, Juju's clients can connect: 127.0.0.1 accepts only this host; Juju's usual port is\n"
    "17070. --cert, --key and --web-cli are those of the command api.\n\n"
    "`controller renew-key` makes a new key and encrypts all secrets of the store with the new key. The\n"
    "old key stays in the file, for older copies of the store, unless --forget-old is given.",
    see_also=("api", "update-status"),
)
def controller(cli: Cli, args: tuple[str, ...], asked: ControllerFlags) -> None:
    """Work on the queue of a controller, or change its key."""
    if args[0] not in ("run", "renew-key"):
        raise UsageError(f'unknown subcommand "{args[0]}" of controller: it has `run` and `renew-key`')
    of_api = asked.cert or asked.key or asked.web_cli
    of_run = asked.until_idle or asked.api or asked.log_format or of_api
    if (asked.forget_old and args[0] == "run") or (of_run and args[0] != "run"):
        raise UsageError(f"controller {args[0]} does not take that flag")
    asked.check()
    if of_api and not asked.api:
        raise UsageError("--cert and --web-cli are for the API: say with --api where to serve")
    if args[0] == "renew-key":
        _renew_key(cli, asked.controller, forget=asked.forget_old)
    else:
        _run(cli, asked)


def _run(cli: Cli, asked: ControllerFlags) -> None:
    asked.use_log_format(cli)
    ctx = session.open_controller(cli, asked.controller)
    cli.on_interrupt = "Stopped; the work goes on with the next command."
    end = "nothing is due any more" if asked.until_idle else "it is stopped (Ctrl-C or SIGTERM)"
    cli.console.info(f"Working on what becomes due in controller {ctx.controller.name}, until {end}")
    with progress(cli.console, lines=True) as report:  # lines of the log, which the service manager keeps
        warn = cli.console.warn
        beside = _api(cli, ctx, asked).beside() if asked.api else None
        serving.serve(ctx, tell=report, warn=warn, until_idle=asked.until_idle, beside=beside)


def _api(cli: Cli, ctx: Context, asked: ControllerFlags) -> ApiServing:
    return serve_api.serving()(cli, ctx, asked.api, asked, WebCommands(root_group()).run)


def _renew_key(cli: Cli, controller: str, *, forget: bool) -> None:
    name, count = keys.renew(session.open_controller(cli, controller), forget=forget)
    cli.console.info(f"Sealed {count} records with the new key {name}")
