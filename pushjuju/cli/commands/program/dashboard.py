"""dashboard: serves pages about the models of a controller to a browser on this computer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import api as serving
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass
from pushjuju.services.requests.user import tokens

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class DashboardFlags:
    controller: str
    no_browser: bool = flags.switch("no-browser", "Print the link, and do not open it in a browser")
    browser: bool = flags.switch("browser", "Accepted: the browser is opened without it, too")
    hide_credential: bool = flags.switch("hide-credential", "Accepted: no password is printed")
    port: int = flags.number("port", "Local port used to serve the dashboard", default=31666)
    listen: str = flags.text("listen", "Listen at another address of this computer: ADDRESS, or ADDRESS:PORT")
    read_only: bool = flags.switch("read-only", "Let no page change anything")
    no_drive: bool = flags.switch("no-drive", "Leave what becomes due to other processes and commands")
    link: str = flags.text("link", "Print a link that logs this user in once, at the API or at --listen")
    user: str = flags.text("as", "The user whose rights the pages have; by default your own", dest="user")


@command(
    "dashboard",
    summary="Shows the models of a controller in a web browser.",
    at_most=0,
    flags=flags.CONTROLLER,
    into=DashboardFlags,
    details="The pages show models with their picture, applications, units, machines, hooks, actions and\n"
    "logs, and change with the model. Forms change models, after they have shown what would happen;\n"
    "--read-only leaves them out. While the dashboard is open, a background process does what\n"
    "becomes due, unless --no-drive or --read-only is given. Only this computer reaches the pages; the\n"
    "link that a terminal shows logs in once, within two minutes. For another, --link USER takes the\n"
    "address of the dashboard with --listen. The command ends with Ctrl-C.\n\n"
    "For other computers, `pushjuju api` serves the same pages at https://HOST:PORT/ui/, where\n"
    "users log in with their passwords, or once with the link that --link USER prints.",
    examples="    pushjuju dashboard\n    pushjuju dashboard --no-browser --port 8080\n"
    "    pushjuju dashboard --link alice\n    pushjuju dashboard --link admin --listen 127.83.20.9:31666\n",
    see_also=("status", "timeline", "api"),
)
def dashboard(cli: Cli, _args: tuple[str, ...], asked: DashboardFlags) -> None:
    if asked.browser and asked.no_browser:
        raise UsageError("cannot mix --browser and --no-browser")
    ctx = session.open_controller(cli, asked.controller)
    if "link" in cli.given:
        _link(cli, ctx, asked)
        return
    user, is_default = asked.user or ctx.user, "port" not in cli.given
    tokens.check_user(ctx, user)
    served = serving.dashboard()
    places = served.places(asked.listen, asked.port, any_port=is_default)
    drives = not (asked.no_drive or asked.read_only)
    made = served(cli, ctx, user=user, places=places, read_only=asked.read_only, drives=drives)
    cli.on_interrupt = "Stopped."
    made.serve(browser=not asked.no_browser)


def _link(cli: Cli, ctx: Context, asked: DashboardFlags) -> None:
    """Print a link for a user; nothing is served."""
    if not asked.link:
        raise UsageError('--link needs the name of a user, not ""')
    if others := sorted(cli.given - {"link", "controller", "listen"}):
        raise UsageError(f"cannot mix --link and --{others[0].replace('_', '-')}")
    place = serving.dashboard().place(asked.listen) if asked.listen else ""
    cli.console.stdout.write(f"{tokens.make_link(ctx, asked.link, place)}\n")
    where = "at that dashboard" if place else "where `pushjuju api` runs"
    cli.console.info(f"The link logs {asked.link} in once, within {tokens.LINK_MINUTES} minutes, {where}.")
