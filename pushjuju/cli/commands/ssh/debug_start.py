"""Starts the sessions of debug-hooks and debug-code."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.commands.ssh import debug_session
from pushjuju.cli.commands.ssh.ssh_session import known_hosts_of, proxy_wanted, run_program, target_of
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import Conflict, NotFound, UsageError
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.entities.model import sessions
from pushjuju.services.views import ssh_targets


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugFlags:
    """The flags of debug-hooks on the command line."""

    model: str
    proxy: bool
    no_host_key_checks: bool
    pty: bool | None


def start_debugging(cli: Cli, args: tuple[str, ...], flags: DebugFlags, *, kind: str, at: str) -> None:
    opened = session.open_model(cli, flags.model)
    name = _unit_of(opened, args[0])
    machine = ssh_targets.machine_of(opened.ctx, opened.uuid, name)
    _check_names(opened, name, args[1:])
    if "\n" in at:
        raise UsageError("the value of --at is one line")
    terminal = cli.console.stdin.isatty() and cli.console.stdout.isatty()
    if flags.pty is False or not (terminal or flags.pty):
        raise Conflict(f"debug-{kind} needs a terminal")
    target = target_of(cli, opened, name, "", proxy=proxy_wanted(cli, flags.proxy))
    script = debug_session.script(name, args[1:], kind=kind, at=at, machine=machine.id, program=cli.program)
    words = ["ssh", "-t", "-t", target.alias, debug_session.command(script)]
    # the user waits for hooks to debug, so a background process works on the model during the session
    with known_hosts_of(opened) as known_hosts:
        run_program(
            known_hosts, words, [target], check_host_keys=not flags.no_host_key_checks,
            meanwhile=lambda: drive.background(cli, opened.ctx, opened.uuid),
        )  # fmt: skip


def _unit_of(opened: sessions.Session, text: str) -> str:
    """Return the unit that the user named, by its name or as `application/leader`."""
    application, _, word = text.partition("/")
    if word == "leader":
        return ssh_targets.leader(opened.ctx, opened.uuid, application)
    if not is_unit(text):
        raise UsageError(f"{quote(text)} is not a valid unit name")
    return text


def _check_names(opened: sessions.Session, unit: str, names: Sequence[str]) -> None:
    """Refuse names that are neither hooks nor actions of the unit's charm."""
    hooks, tasks = ssh_targets.tasks_of(opened.ctx, opened.uuid, unit)
    for name in names:
        if name not in hooks and name not in tasks:
            raise NotFound(
                f"unit {quote(unit)} contains neither hook nor action {quote(name)}, valid actions are "
                f"[{' '.join(tasks)}] and valid hooks are [{' '.join(hooks)}]"
            )
