"""ssh, scp, debug-hooks, debug-code: OpenSSH's own clients, pointed at machines and units.

Mirrors: juju cmd/juju/ssh (3.6)
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pushjuju.cli.commands.ssh import ssh_config
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, Exited, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import session
from pushjuju.core import children
from pushjuju.core.errors import Conflict, NotFound, NotValid, UsageError
from pushjuju.core.jumps import Hop
from pushjuju.core.names import UnitName, is_machine, machine_tag, parent_machine
from pushjuju.portable.names import is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import jump_hosts
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import Tx

_GIVEN = "manual"  # who made machines that were taken in
_POLL_S = 0.1  # how often the end of a session is looked for
_ASKED_AT_ONCE = ("local", "lxd")  # clouds that tell in a moment whether an instance is stopped
_EVERY_S = 5.0  # how often a background process is looked after meanwhile

_FLAGS = (
    *flags.MODEL,
    flags.switch("proxy", "Insist on a jump host; --proxy=false: go past it"),
    flags.switch("no-host-key-checks", "Skip host key checking (INSECURE)"),
    flags.switch("remote", "For Kubernetes only", void=True),
    flags.text("container", "For Kubernetes only", void=True),
)

_PTY = FlagSpec(
    name="pty",
    kind=Kind.OPTIONAL_BOOL,
    default="auto",
    help="Enable pseudo-tty allocation; by default when there is a terminal",
)


@command(
    "ssh",
    usage="<[user@]target> [openssh options] [command]",
    summary="Initiates an SSH session or executes a command on a machine or unit.",
    at_least=(1, "no target name specified"),
    interspersed=False,
    flags=(*_FLAGS, _PTY),
    details="The target is a machine, a unit, or an application's leader as `web/leader`.\n\n"
    "Machines behind a jump host are reached through it: the one of their cloud, that of the model\n"
    "(`model-config ssh-jump-host=[USER@]HOST[:PORT]`), or the ProxyJump of ~/.ssh/config.\n\n"
    "Your SSH agent is lent to the target only when you say so (-A), whatever ~/.ssh/config says.",
    examples="    pushjuju ssh 0\n    pushjuju ssh web/leader\n    pushjuju ssh web/0 uptime\n",
    see_also=("scp",),
)
def ssh(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    no_host_key_checks: bool,
    proxy: bool,
    pty: bool | None,
) -> None:
    """Open a shell on a machine, or run a command there."""
    user, _, name = args[0].rpartition("@")
    opened = session.open_model(cli, model)
    target = _target(cli, opened, name, user, proxy=_asked(cli, proxy))
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
def scp(cli: Cli, args: tuple[str, ...], *, model: str, no_host_key_checks: bool, proxy: bool) -> None:
    """Copy files from and to machines."""
    if len(args) < 2:
        raise UsageError("at least two arguments required")
    opened = session.open_model(cli, model)
    targets: list[ssh_config.Target] = []
    way = _asked(cli, proxy)
    listed = [_scp_word(cli, opened, arg, targets, proxy=way) for arg in args]
    # Machines do not reach each other with our keys: what goes between two of them goes through here.
    words = ["scp", *(["-3"] if len(targets) > 1 and "-3" not in args else []), *listed]
    _run(opened, words, targets, check_host_keys=not no_host_key_checks)


def _asked(cli: Cli, proxy: bool) -> bool | None:
    """Return whether a jump host is wanted; None when nobody said: then one is used where there is one."""
    return proxy if "proxy" in cli.given else None


def _scp_word(
    cli: Cli, opened: session.Session, word: str, targets: list[ssh_config.Target], *, proxy: bool | None
) -> str:
    """Return an argument of scp with our target's alias in place of its name; note the target."""
    place, colon, path = word.partition(":")
    if not colon or word.startswith(("-", ".", "/")):
        return word
    user, _, name = place.rpartition("@")
    found = _target(cli, opened, name, user, proxy=proxy)
    if found not in targets:
        targets.append(found)
    return f"{found.alias}:{path}"


def _target(
    cli: Cli, opened: session.Session, name: str, user: str, *, proxy: bool | None
) -> ssh_config.Target:
    """Return the target of a machine id, a unit or `application/leader`; a stopped machine is started first.

    Args:
        cli: The call.
        opened: The model.
        name: What the person wrote.
        user: The login that was asked for; empty for the usual one.
        proxy: Whether to go through a jump host; None: where there is one.

    Raises:
        NotFound: There is no such thing, its machine does not run yet, or there is no jump host.
    """
    machine = _machine(opened, name)
    if not machine.ssh.get("host"):
        raise NotFound(f'target "{name}" has no address yet', hint="pushjuju status")
    alias = f"juju-{name.replace('/', '-')}{f'-{user}' if user else ''}"
    key, host = opened.ctx.controller.private_key, parent_machine(machine.id)
    if host:  # a container goes through its host, whatever leads there
        via = _target(cli, opened, host, "", proxy=None if proxy else proxy)
        return ssh_config.target(
            alias, machine.ssh, user=user, key=key, key_name=machine_tag(machine.id),
            via=replace(via, alias=f"juju-host-{host}"),
        )  # fmt: skip
    _start_if_stopped(cli, opened, machine)
    own = ssh_config.own_settings(str(machine.ssh["host"])) if machine.provider == _GIVEN else None
    hops = _hops(opened, machine, proxy, own or {})
    found = ssh_config.target(alias, machine.ssh, user=user, key=key, own=own, hops=hops)
    return ssh_config.direct(found) if proxy is False else found


def _hops(
    opened: session.Session, machine: Machine, proxy: bool | None, own: Mapping[str, Sequence[str]]
) -> Sequence[Hop]:
    """Return the jump hosts on the way to a machine.

    Raises:
        NotFound: There must be one, and there is none.
    """
    if proxy is False:
        return ()
    with opened.ctx.store.read() as tx:
        hops = jump_hosts.to(tx, opened.uuid, machine.ssh)
        wanted = proxy or jump_hosts.is_asked_for(tx, opened.uuid)
    if hops or not wanted or ssh_config.goes_through(own):
        return hops
    raise NotFound(
        f"no jump host is known for machine {machine.id}",
        hint=f"pushjuju model-config {jump_hosts.KEY}=[USER@]HOST[:PORT]    names one for all machines",
    )


def _machine(opened: session.Session, name: str) -> Machine:
    with opened.ctx.store.read() as tx:
        if is_machine(name):
            return machines.get(tx, opened.uuid, name)
        application, _, word = name.partition("/")
        if word == "leader":
            name = _leader(tx, opened.uuid, application)
        if not is_unit(name):
            raise NotValid(f'invalid target "{name}": expected a machine, a unit or an application\'s leader')
        unit = units.get(tx, opened.uuid, str(UnitName.parse(name)))
        if unit.machine is None:
            raise NotFound(f'unit "{name}" has no machine yet', hint="pushjuju status")
        return machines.get(tx, opened.uuid, unit.machine)


def _start_if_stopped(cli: Cli, opened: session.Session, machine: Machine) -> None:
    """Start a machine of this computer that is stopped, as every contact does: OpenSSH could not reach it."""
    if opened.model.cloud_type not in _ASKED_AT_ONCE:
        return
    import asyncio

    from pushjuju.cli.work import waiting
    from pushjuju.workers.machine.contact import can_resume
    from pushjuju.workers.runtime import Runtime

    if not asyncio.run(can_resume(Runtime(opened.ctx, warn=cli.console.warn), machine)):
        return
    cli.console.info(f"machine {machine.id} is stopped; starting it")
    with opened.ctx.store.write() as tx:
        machines.see_again(tx, opened.uuid, machine.id, cli.clock.now(), "a person logs in")
    waiting.foreground(cli, opened, lambda: True)


def _leader(tx: Tx, model: str, application: str) -> str:
    leader = leadership.holder(tx, model, application)
    if leader is None:
        raise NotFound(f"could not determine leader for {quote(application)}")
    return leader


def _run(
    opened: session.Session,
    words: Sequence[str],
    targets: list[ssh_config.Target],
    *,
    check_host_keys: bool,
    meanwhile: Callable[[], None] | None = None,
) -> None:
    """Run OpenSSH and end as it ends.

    Args:
        meanwhile: Called every few seconds while it runs.

    Raises:
        Exited: It ended; carries its status.
    """
    program = shutil.which(words[0])
    if program is None:
        raise Conflict(f"{words[0]} is not installed here", hint="apt-get install openssh-client")
    with tempfile.TemporaryDirectory(prefix="pushjuju-ssh-") as folder:
        told = Path(folder) / "known_hosts"
        told.write_text("".join(ssh_config.known_hosts_lines(item) for item in targets))
        own = opened.ctx.controller.known_hosts(opened.uuid)
        config = Path(folder) / "config"
        # New keys are written to the first file: the model's own.
        known = [own, told] if not any(item.host_keys for item in targets) else [told, own]
        text = ssh_config.config_text(
            targets, known_hosts=known, own_known_hosts=own, check_host_keys=check_host_keys
        )
        config.write_text(text)
        status = _wait(program, [words[0], "-F", str(config), *words[1:]], meanwhile)
    raise Exited(status if status >= 0 else 128 - status)


def _wait(program: str, argv: list[str], meanwhile: Callable[[], None] | None) -> int:
    """Run a program to its end: what ends us is for it to answer, and it is never left behind.

    Returns:
        Its exit status, or the negative number of the signal that ended it.
    """
    pid = 0

    def pass_on(number: int, _frame: object) -> None:
        if pid:
            os.kill(pid, number)

    # Ctrl-C comes from the terminal to both of us; the others come to this process alone.
    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        pid = children.start_at_terminal(program, argv, default_signals=before)
        if meanwhile is None:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return _look_on(pid, meanwhile)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _look_on(pid: int, meanwhile: Callable[[], None]) -> int:
    called = -_EVERY_S
    while True:
        if time.monotonic() - called > _EVERY_S:
            meanwhile()
            called = time.monotonic()
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_POLL_S)


# --- debugging --------------------------------------------------------------------------------------------


@command(
    "debug-hooks",
    aliases=("debug-hook",),
    usage="<unit name> [<hook or action name> ...]",
    summary="Launch a tmux session to debug hooks and/or actions.",
    at_least=(1, "no unit name specified"),
    interspersed=False,
    flags=(*_FLAGS, _PTY),
    details="The hooks and actions that are named, or all of them, open a window with everything they have;\n"
    "how the shell there ends is how they end. Leaving the session lets hooks run by themselves again.",
    examples="    pushjuju debug-hooks web/0\n    pushjuju debug-hooks web/leader config-changed start\n",
    see_also=("debug-code", "ssh", "resolved"),
)
def debug_hooks(cli: Cli, args: tuple[str, ...], *, model: str, **asked: Any) -> None:
    """Put a person in the place of hooks."""
    _debug(cli, args, model, asked, kind="hooks", at="")


@command(
    "debug-code",
    usage="<unit name> [<hook or action name> ...]",
    summary="Launch a tmux session to debug hooks and/or actions.",
    at_least=(1, "no unit name specified"),
    interspersed=False,
    flags=(
        *_FLAGS,
        _PTY,
        flags.text("at", "Interpreted by the charm for where you want to stop", default="all"),
    ),
    details="As debug-hooks, but the hooks run by themselves in their windows, with JUJU_DEBUG_AT set:\n"
    "charms that know it stop there and open their debugger.",
    examples="    pushjuju debug-code web/0 config-changed\n    pushjuju debug-code --at=hook web/0\n",
    see_also=("debug-hooks", "ssh"),
)
def debug_code(cli: Cli, args: tuple[str, ...], *, model: str, at: str, **asked: Any) -> None:
    """Run hooks in windows of their own, with JUJU_DEBUG_AT."""
    _debug(cli, args, model, asked, kind="code", at=at)


def _debug(
    cli: Cli, args: tuple[str, ...], model: str, asked: Mapping[str, Any], *, kind: str, at: str
) -> None:
    from pushjuju.cli.commands.ssh import debug_session
    from pushjuju.cli.work import drive

    opened = session.open_model(cli, model)
    name = _unit_of(opened, args[0])
    machine = _machine(opened, name)
    _check_names(opened, name, args[1:])
    if "\n" in at:
        raise UsageError("the value of --at is one line")
    terminal = cli.console.stdin.isatty() and cli.console.stdout.isatty()
    if asked["pty"] is False or not (terminal or asked["pty"]):
        raise Conflict(f"debug-{kind} needs a terminal")
    target = _target(cli, opened, name, "", proxy=_asked(cli, asked["proxy"]))
    script = debug_session.script(name, args[1:], kind=kind, at=at, machine=machine.id, program=cli.program)
    words = ["ssh", "-t", "-t", target.alias, debug_session.command(script)]
    # Hooks are to come while somebody waits for them: what is due is worked all the while.
    _run(
        opened, words, [target], check_host_keys=not asked["no_host_key_checks"],
        meanwhile=lambda: drive.background(cli, opened.ctx),
    )  # fmt: skip


def _unit_of(opened: session.Session, text: str) -> str:
    """Return the unit that is meant: by its name or as `application/leader`.

    Raises:
        NotValid: It is no unit's name.
        NotFound: There is no leader.
    """
    application, _, word = text.partition("/")
    if word == "leader":
        with opened.ctx.store.read() as tx:
            return _leader(tx, opened.uuid, application)
    if not is_unit(text):
        raise UsageError(f"{quote(text)} is not a valid unit name")
    return text


def _check_names(opened: session.Session, unit: str, names: Sequence[str]) -> None:
    """Refuse what is neither hook nor action of a unit's charm.

    Raises:
        NotFound: One is not.
    """
    from pushjuju.charms.values.hooks import hook_names
    from pushjuju.services.entities.application import applications

    with opened.ctx.store.read() as tx:
        found = units.get(tx, opened.uuid, unit)
        charm = applications.current_charm(tx, applications.get(tx, opened.uuid, found.application))
    hooks, tasks = sorted(hook_names(charm.meta)), sorted(charm.actions)
    for name in names:
        if name not in hooks and name not in tasks:
            raise NotFound(
                f"unit {quote(unit)} contains neither hook nor action {quote(name)}, valid actions are "
                f"[{' '.join(tasks)}] and valid hooks are [{' '.join(hooks)}]"
            )
