"""Runs ssh or scp for machines and units."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.cli.commands.ssh import ssh_config, stopped_machine
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, Exited
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.core import children
from pushjuju.core.errors import Conflict, NotFound
from pushjuju.core.jumps import Hop
from pushjuju.core.names import machine_tag, parent_machine
from pushjuju.services.entities.model import jump_hosts, sessions
from pushjuju.services.views import ssh_targets

if TYPE_CHECKING:
    from pushjuju.services.views.ssh_targets import Machine

_GIVEN = "manual"  # provider of machines that exist already

_POLL_S = 0.1  # how often to check whether the session has ended

_ASKED_AT_ONCE = ("local", "lxd")  # clouds that answer at once whether an instance is stopped

_EVERY_S = 5.0  # how often to check that a background process runs meanwhile

FLAGS = (
    *flags.MODEL,
    flags.switch("proxy", "Require a jump host; --proxy=false: use none"),
    flags.switch("no-host-key-checks", "Skip host key checking (INSECURE)"),
    flags.switch("remote", "For Kubernetes only", void=True),
    flags.text("container", "For Kubernetes only", void=True),
)

PTY = FlagSpec(
    name="pty",
    kind=Kind.OPTIONAL_BOOL,
    default="auto",
    help="Enable pseudo-tty allocation; by default when there is a terminal",
)


def known_hosts_of(opened: sessions.Session) -> AbstractContextManager[Path]:
    """Return what yields the file with the host keys of a model's machines."""
    return ssh_targets.known_hosts(opened.ctx, opened.uuid)


def proxy_wanted(cli: Cli, proxy: bool) -> bool | None:
    """Return whether the flags require or forbid a jump host; None without a flag."""
    return proxy if "proxy" in cli.given else None


def target_of(
    cli: Cli, opened: sessions.Session, name: str, user: str, *, proxy: bool | None
) -> ssh_config.Target:
    """Return the target of a machine id, a unit or `application/leader`; start a stopped machine first.

    Args:
        name: The name as the user typed it.
        user: The login that the user named; empty for the default.
        proxy: True to require a jump host, False to use none, None to use one if the machine has one.
    """
    machine = ssh_targets.machine_of(opened.ctx, opened.uuid, name)
    if not machine.ssh.get("host"):
        raise NotFound(f'target "{name}" has no address yet', hint="pushjuju status")
    alias = f"juju-{name.replace('/', '-')}{f'-{user}' if user else ''}"
    key, host = opened.ctx.controller.private_key, parent_machine(machine.id)
    if host:  # a container is always reached through its host
        via = target_of(cli, opened, host, "", proxy=None if proxy else proxy)
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
    opened: sessions.Session, machine: Machine, proxy: bool | None, own: Mapping[str, Sequence[str]]
) -> Sequence[Hop]:
    if proxy is False:
        return ()
    hops, asked_for = ssh_targets.way(opened.ctx, opened.uuid, machine.ssh)
    if hops or not (proxy or asked_for) or ssh_config.goes_through(own):
        return hops
    raise NotFound(
        f"no jump host is known for machine {machine.id}",
        hint=f"pushjuju model-config {jump_hosts.KEY}=[USER@]HOST[:PORT]    names one for all machines",
    )


def _start_if_stopped(cli: Cli, opened: sessions.Session, machine: Machine) -> None:
    """Start a stopped machine on this computer, because OpenSSH cannot reach it."""
    if opened.model.cloud_type in _ASKED_AT_ONCE:
        stopped_machine.start(cli, opened, machine)


def run_program(
    known_hosts: Path,
    words: Sequence[str],
    targets: list[ssh_config.Target],
    *,
    check_host_keys: bool,
    meanwhile: Callable[[], None] | None = None,
) -> None:
    """Run OpenSSH and exit with its status.

    Args:
        known_hosts: The file of the model's host keys, in which new keys are kept.
        meanwhile: Called every few seconds while OpenSSH runs.
    """
    program = shutil.which(words[0])
    if program is None:
        raise Conflict(f"{words[0]} is not installed here", hint="apt-get install openssh-client")
    with tempfile.TemporaryDirectory(prefix="pushjuju-ssh-") as folder:
        told = Path(folder) / "known_hosts"
        told.write_text("".join(ssh_config.known_hosts_lines(item) for item in targets))
        own = known_hosts
        config = Path(folder) / "config"
        # OpenSSH writes new keys to the first file: without reported keys, to the model's
        known = [own, told] if not any(item.host_keys for item in targets) else [told, own]
        text = ssh_config.config_text(
            targets, known_hosts=known, own_known_hosts=own, check_host_keys=check_host_keys
        )
        config.write_text(text)
        status = _wait(program, [words[0], "-F", str(config), *words[1:]], meanwhile)
    raise Exited(status if status >= 0 else 128 - status)


def _wait(program: str, argv: list[str], meanwhile: Callable[[], None] | None) -> int:
    """Run a program to its end; send it the signals of this process, so that it never outlives the process.

    Returns:
        The exit status, or the negative number of the signal that ended the program.
    """
    pid = 0

    def pass_on(number: int, _frame: object) -> None:
        if pid:
            os.kill(pid, number)

    # the terminal sends Ctrl-C to both processes; other signals are sent to this process alone
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
