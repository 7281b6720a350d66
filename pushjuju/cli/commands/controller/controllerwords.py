"""register, enable-ha, dashboard, sync-agent-binary: where there is no server and are no agents.

Mirrors: juju cmd/juju/{controller/register,commands/enableha,dashboard,commands/sync_agent_binary}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import Kind
from pushjuju.cli.syntax.refusing import refused
from pushjuju.cli.work import session

register = refused(
    "register",
    "there is no server to register with; a controller is a directory, which PUSHJUJU_DATA names",
    usage="<registration string>|<controller host name>",
    summary="Registers a controller.",
    at_least=(1, "registration data missing"),
    at_most=1,
    flags=(
        *flags.LOGIN,
        flags.switch("replace", "Replace any existing controller with the same name"),
    ),
    see_also=("unregister", "add-user", "login"),
)
enable_ha = refused(
    "enable-ha",
    "several daemons over one PostgreSQL store take the place of controller machines",
    summary="Ensures that sufficient controllers exist to provide redundancy.",
    at_most=0,
    formats=("simple", "yaml", "json"),
    flags=(
        *flags.CONTROLLER,
        *flags.LOGIN,
        flags.number("n", "Number of controllers to make available"),
        flags.text("to", "The machines to become controllers"),
        flags.many("constraints", "Additional machine constraints", kind=Kind.CONSTRAINTS, default=""),
    ),
)
dashboard = refused(
    "dashboard",
    "there is no web view; status --watch shows a live one in the terminal",
    summary="Print the Juju Dashboard URL, or open it in the default browser.",
    at_most=0,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.number("port", "Local port used to serve the dashboard", default=31666),
        flags.switch("hide-credential", "Do not show the credentials to log in with"),
        flags.switch("browser", "Open the web browser"),
    ),
)


@command(
    "sync-agent-binary",
    summary="Copy agent binaries from the official agent store into a local controller.",
    at_most=0,
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.text("agent-version", "There are no agents: of no use", void=True),
        flags.switch("dry-run", "There are no agents: of no use", void=True),
        flags.switch("public", "There are no agents: of no use", void=True),
        flags.text("source", "There are no agents: of no use", void=True),
        flags.text("stream", "There are no agents: of no use", void=True),
        flags.text("local-dir", "There are no agents: of no use", void=True),
    ),
    details="There are no agents on machines, so there is nothing to copy; that is said, with exit status 0.",
)
def sync_agent_binary(cli: Cli, _args: tuple[str, ...], *, model: str) -> None:
    """Say that there is nothing to copy."""
    if model:
        session.open_model(cli, model)
    cli.console.info("There are no agents: nothing to copy.")
