"""register: registers a controller.

Mirrors: juju cmd/juju/{controller/register,commands/enableha,dashboard,commands/sync_agent_binary}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

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
