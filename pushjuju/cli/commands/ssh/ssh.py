"""The command ssh. Mirrors: juju cmd/juju/ssh (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.ssh import ssh_session
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session


@command(
    "ssh",
    usage="<[user@]target> [openssh options] [command]",
    summary="Initiates an SSH session or executes a command on a machine or unit.",
    at_least=(1, "no target name specified"),
    interspersed=False,
    flags=(*ssh_session.FLAGS, ssh_session.PTY),
    details="The target is a machine, a unit, or an application's leader as `web/leader`.\n\n"
    "The connection goes through a jump host if one is set: by the cloud, by the model\n"
    "(`model-config ssh-jump-host=[USER@]HOST[:PORT]`), or by ProxyJump in ~/.ssh/config.\n\n"
    "Your SSH agent is forwarded to the target only with -A, whatever ~/.ssh/config says.",
    examples="    pushjuju ssh 0\n    pushjuju ssh web/leader\n    pushjuju ssh web/0 uptime\n",
    see_also=("scp",),
)
def ssh(
    cli: Cli, args: tuple[str, ...], *, model: str, no_host_key_checks: bool, proxy: bool, pty: bool | None
) -> None:
    user, _, name = args[0].rpartition("@")
    opened = session.open_model(cli, model)
    target = ssh_session.target_of(cli, opened, name, user, proxy=ssh_session.proxy_wanted(cli, proxy))
    terminal = cli.console.stdin.isatty() and cli.console.stdout.isatty() if pty is None else pty
    options = ["-t", "-t"] if terminal else []
    words = ["ssh", *options, target.alias, *args[1:]]
    with ssh_session.known_hosts_of(opened) as known_hosts:
        ssh_session.run_program(known_hosts, words, [target], check_host_keys=not no_host_key_checks)
