"""ssh, scp: OpenSSH's own clients, pointed at machines and units. Layer: cli.

Mirrors: juju cmd/juju/ssh (3.6)
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pushjuju.cli import flags, session, sshconfig
from pushjuju.cli.command import Cli, Exited, command
from pushjuju.cli.gnuflag import FlagSpec, Kind, quote
from pushjuju.core.errors import Conflict, NotFound, NotValid, UsageError
from pushjuju.core.names import UnitName, is_machine, is_unit
from pushjuju.services import leadership, machines, units
from pushjuju.state.records import Machine

_FLAGS = (
    *flags.MODEL,
    flags.switch("proxy", "Accepted and ignored: connections start here", void=True),
    flags.switch("no-host-key-checks", "Skip host key checking (INSECURE)"),
    flags.switch("remote", "For Kubernetes only", void=True),
    flags.text("container", "For Kubernetes only", void=True),
)


@command(
    "ssh",
    usage="<[user@]target> [openssh options] [command]",
    summary="Initiates an SSH session or executes a command on a machine or unit.",
    at_least=(1, "no target name specified"),
    interspersed=False,
    flags=(
        *_FLAGS,
        FlagSpec(
            name="pty",
            kind=Kind.OPTIONAL_BOOL,
            default="auto",
            help="Enable pseudo-tty allocation; by default when there is a terminal",
        ),
    ),
    details="The target is a machine, a unit, or an application's leader as `web/leader`.",
    examples="    pushjuju ssh 0\n    pushjuju ssh web/leader\n    pushjuju ssh web/0 uptime\n",
    see_also=("scp",),
)
def ssh(cli: Cli, args: tuple[str, ...], *, model: str, no_host_key_checks: bool, pty: bool | None) -> None:
    """Open a shell on a machine, or run a command there."""
    user, _, name = args[0].rpartition("@")
    opened = session.open_model(cli, model)
    target = _target(opened, name, user)
    terminal = cli.console.stdin.isatty() and cli.console.stdout.isatty() if pty is None else pty
    options = ["-t", "-t"] if terminal else []
    words = ["ssh", *options, target.alias, *args[1:]]
    _run(opened, words, [target], check_host_keys=not no_host_key_checks)


@command(
    "scp",
    usage="[options] <source> <destination>",
    summary="Securely transfer files within a model.",
    interspersed=False,
    flags=_FLAGS,
    details="Options of scp stand behind `--`.",
    examples="    pushjuju scp web/0:/etc/hosts .\n    pushjuju scp -- -r ./site web/0:/srv/\n",
    see_also=("ssh",),
)
def scp(cli: Cli, args: tuple[str, ...], *, model: str, no_host_key_checks: bool) -> None:
    """Copy files from and to machines."""
    if len(args) < 2:
        raise UsageError("at least two arguments required")
    opened = session.open_model(cli, model)
    targets: list[sshconfig.Target] = []
    words = ["scp", *(_scp_word(opened, arg, targets) for arg in args)]
    _run(opened, words, targets, check_host_keys=not no_host_key_checks)


def _scp_word(opened: session.Session, word: str, targets: list[sshconfig.Target]) -> str:
    """Return an argument of scp with our target's alias in place of its name; note the target."""
    place, colon, path = word.partition(":")
    if not colon or word.startswith(("-", ".", "/")):
        return word
    user, _, name = place.rpartition("@")
    found = _target(opened, name, user)
    if found not in targets:
        targets.append(found)
    return f"{found.alias}:{path}"


def _target(opened: session.Session, name: str, user: str) -> sshconfig.Target:
    """Return the target of a machine id, a unit or `application/leader`.

    Raises:
        NotFound: There is no such thing, or its machine does not run yet.
    """
    machine = _machine(opened, name)
    if not machine.ssh.get("host"):
        raise NotFound(f'target "{name}" has no address yet', hint="pushjuju status")
    alias = f"juju-{name.replace('/', '-')}{f'-{user}' if user else ''}"
    key = opened.ctx.controller.private_key
    return sshconfig.target(alias, machine.ssh, user=user, key=key, provider=machine.provider)


def _machine(opened: session.Session, name: str) -> Machine:
    with opened.ctx.store.read() as tx:
        if is_machine(name):
            return machines.get(tx, opened.uuid, name)
        application, _, word = name.partition("/")
        if word == "leader":
            leader = leadership.holder(tx, opened.uuid, application)
            if leader is None:
                raise NotFound(f"could not determine leader for {quote(application)}")
            name = leader
        if not is_unit(name):
            raise NotValid(f'invalid target "{name}": expected a machine, a unit or an application\'s leader')
        unit = units.get(tx, opened.uuid, str(UnitName.parse(name)))
        if unit.machine is None:
            raise NotFound(f'unit "{name}" has no machine yet', hint="pushjuju status")
        return machines.get(tx, opened.uuid, unit.machine)


def _run(
    opened: session.Session,
    words: Sequence[str],
    targets: list[sshconfig.Target],
    *,
    check_host_keys: bool,
) -> None:
    """Run OpenSSH and end as it ends.

    Raises:
        Exited: It ended; carries its status.
    """
    program = shutil.which(words[0])
    if program is None:
        raise Conflict(f"{words[0]} is not installed here", hint="apt-get install openssh-client")
    with tempfile.TemporaryDirectory(prefix="pushjuju-ssh-") as folder:
        told = Path(folder) / "known_hosts"
        told.write_text("".join(sshconfig.known_hosts_lines(item) for item in targets))
        own = opened.ctx.controller.known_hosts(opened.uuid)
        config = Path(folder) / "config"
        # New keys are written to the first file: the model's own.
        known = [own, told] if not any(item.host_keys for item in targets) else [told, own]
        config.write_text(sshconfig.config_text(targets, known_hosts=known, check_host_keys=check_host_keys))
        pid = os.posix_spawn(program, [words[0], "-F", str(config), *words[1:]], os.environ)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    raise Exited(status if status >= 0 else 128 - status)
