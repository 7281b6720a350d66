"""debug-hooks: launch a tmux session to debug hooks and/or actions. Mirrors: juju cmd/juju/ssh (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.ssh.debug_start import DebugFlags, start_debugging
from pushjuju.cli.commands.ssh.ssh_session import FLAGS, PTY
from pushjuju.cli.syntax.command import Cli, command


@command(
    "debug-hooks",
    aliases=("debug-hook",),
    usage="<unit name> [<hook or action name> ...]",
    summary="Launch a tmux session to debug hooks and/or actions.",
    at_least=(1, "no unit name specified"),
    interspersed=False,
    flags=(*FLAGS, PTY),
    details="Each named hook or action, or all of them, opens a window with a shell in the hook's\n"
    "environment instead of running; the exit status of the shell is that of the hook. After the\n"
    "session hooks run by themselves again.",
    examples="    pushjuju debug-hooks web/0\n    pushjuju debug-hooks web/leader config-changed start\n",
    into=DebugFlags,
    see_also=("debug-code", "ssh", "resolved"),
)
def debug_hooks(cli: Cli, args: tuple[str, ...], flags: DebugFlags) -> None:
    start_debugging(cli, args, flags, kind="hooks", at="")
