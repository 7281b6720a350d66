"""debug-code: launch a tmux session to debug hooks and/or actions. Mirrors: juju cmd/juju/ssh (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.ssh.debug_start import DebugFlags, start_debugging
from pushjuju.cli.commands.ssh.ssh_session import FLAGS, PTY
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugCodeFlags(DebugFlags):
    at: str = flags.text("at", "Where to stop, in the words of the charm", default="all")


@command(
    "debug-code",
    usage="<unit name> [<hook or action name> ...]",
    summary="Launch a tmux session to debug hooks and/or actions.",
    at_least=(1, "no unit name specified"),
    interspersed=False,
    flags=(*FLAGS, PTY),
    details="As debug-hooks, but the hooks run by themselves in their windows, with JUJU_DEBUG_AT set:\n"
    "charms that support the variable stop there and open their debugger.",
    examples="    pushjuju debug-code web/0 config-changed\n    pushjuju debug-code --at=hook web/0\n",
    into=DebugCodeFlags,
    see_also=("debug-hooks", "ssh"),
)
def debug_code(cli: Cli, args: tuple[str, ...], flags: DebugCodeFlags) -> None:
    start_debugging(cli, args, flags, kind="code", at=flags.at)
