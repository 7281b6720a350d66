"""dashboard: print the Juju Dashboard URL, or open it in the default browser.

Mirrors: juju cmd/juju/{controller/register,commands/enableha,dashboard,commands/sync_agent_binary}.go (3.6)
"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.refusing import refused

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
