"""The flags of the commands that serve the API."""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.terminal import jsonlog
from pushjuju.core.errors import UsageError
from pushjuju.core.values import dataclass, regex

_HOST = regex(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingFlags:
    """The flags of the commands that serve the API."""

    controller: str
    cert: str = flags.text("cert", "A certificate with its chain (PEM), for clients that ask for its names")
    key: str = flags.text("key", "The key of --cert (PEM); by default in the same file")
    log_format: str = flags.text("log-format", "Write the lines of the process as text, or as json")
    web_cli: bool = flags.switch("web-cli", "Let users run commands that only read, at /model/UUID/commands")

    no_dashboard: bool = flags.switch("no-dashboard", "Serve no pages for browsers at /ui/")
    dashboard_hosts: str = flags.text("dashboard-hosts", "Other names of the pages, such as those of a proxy")

    @property
    def hosts(self) -> list[str]:
        """The names of --dashboard-hosts."""
        return self.dashboard_hosts.lower().split(",") if self.dashboard_hosts else []

    def use_log_format(self, cli: Cli) -> None:
        """Let the console write JSON where flag or environment ask for it, and priorities to the journal."""
        stderr = cli.console.stderr
        stores = jsonlog.goes_to_journal(stderr, cli.env)
        cli.console.mark = jsonlog.with_priority if stores else None
        if jsonlog.is_wanted(self.log_format, cli.env):
            cli.console.log = jsonlog.JsonLog(stderr, cli.clock, priorities=stores)

    def check(self) -> None:
        """Raise UsageError when the command line has --key without --cert, or names that are none."""
        if self.key and not self.cert:
            raise UsageError("--key is the key of a certificate: name it with --cert")
        wrong = [name for name in self.hosts if not _HOST.fullmatch(name)]
        if wrong:
            raise UsageError(f'--dashboard-hosts takes names without ports, HOST[,...], not "{wrong[0]}"')
