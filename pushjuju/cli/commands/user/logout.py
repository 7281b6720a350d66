"""logout: logs a Juju user out of a controller. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

logout = refused(
    "logout",
    "there is no login to drop; who may read the data directory is admin",
    summary="Logs a Juju user out of a controller.",
    at_most=0,
    flags=(
        *flags.CONTROLLER,
        *flags.LOGIN,
        flags.switch("force", "Force logout when a locally recorded password is detected"),
    ),
    see_also=("login", "unregister"),
)
