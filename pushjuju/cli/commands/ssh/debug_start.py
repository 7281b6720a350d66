"""Starts the sessions of debug-hooks and debug-code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.charms.values.hooks import hook_names
from pushjuju.cli.commands.ssh import debug_session
from pushjuju.cli.commands.ssh.ssh_session import leader_of, machine_of, proxy_wanted, run_program, target_of
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import Conflict, NotFound, UsageError
from pushjuju.portable.names import is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import applications, units


def start_debugging(
    cli: Cli, args: tuple[str, ...], model: str, options: Mapping[str, Any], *, kind: str, at: str
) -> None:
    opened = session.open_model(cli, model)
    name = _unit_of(opened, args[0])
    machine = machine_of(opened, name)
    _check_names(opened, name, args[1:])
    if "\n" in at:
        raise UsageError("the value of --at is one line")
    terminal = cli.console.stdin.isatty() and cli.console.stdout.isatty()
    if options["pty"] is False or not (terminal or options["pty"]):
        raise Conflict(f"debug-{kind} needs a terminal")
    target = target_of(cli, opened, name, "", proxy=proxy_wanted(cli, options["proxy"]))
    script = debug_session.script(name, args[1:], kind=kind, at=at, machine=machine.id, program=cli.program)
    words = ["ssh", "-t", "-t", target.alias, debug_session.command(script)]
    # The debugging user waits for hooks to run, so work that is due goes on all the while.
    run_program(
        opened, words, [target], check_host_keys=not options["no_host_key_checks"],
        meanwhile=lambda: drive.background(cli, opened.ctx),
    )  # fmt: skip


def _unit_of(opened: session.Session, text: str) -> str:
    """Return the unit that the user named, by its name or as `application/leader`.

    Raises:
        NotValid: The text is not the name of a unit.
        NotFound: There is no leader.
    """
    application, _, word = text.partition("/")
    if word == "leader":
        with opened.ctx.store.read() as tx:
            return leader_of(tx, opened.uuid, application)
    if not is_unit(text):
        raise UsageError(f"{quote(text)} is not a valid unit name")
    return text


def _check_names(opened: session.Session, unit: str, names: Sequence[str]) -> None:
    """Refuse what is neither hook nor action of a unit's charm.

    Raises:
        NotFound: The charm has no hook or action of a name.
    """
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
