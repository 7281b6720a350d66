"""help: show help on a command or other topic."""

from __future__ import annotations

import click

from pushjuju.cli.commands import registry
from pushjuju.cli.commands.program.command_tree import all_commands, root_group
from pushjuju.cli.help import helptext
from pushjuju.cli.syntax.command import Cli, Command, command
from pushjuju.core.errors import NotFound


@command(
    "help",
    usage="[<topic or command>]",
    summary="Show help on a command or other topic.",
    at_most=1,
    details="Topics: basics, commands, global-options, topics.",
    examples="    pushjuju help\n    pushjuju help commands\n    pushjuju help deploy\n",
)
def show_help(cli: Cli, args: tuple[str, ...]) -> None:
    cli.output.text(_help(args[0] if args else "basics", cli.program))


def _help(topic: str, program: str) -> str:
    if topic == "basics":
        return helptext.basics(program)
    if topic == "commands":
        return helptext.all_commands(_entries())
    if topic == "global-options":
        return helptext.global_options(program)
    if topic == "topics":
        return helptext.topics()
    found = root_group().get_command(click.get_current_context().find_root(), topic)
    if not isinstance(found, Command):
        raise NotFound(f"unknown command or topic for {topic}")
    return helptext.command(found, program, alias=topic)


def _entries() -> list[tuple[str, str]]:
    found = all_commands()
    names = {entry.name for entry in found}
    aliases = [(alias, f"Alias for '{name}'.") for alias, name in registry.ALIASES.items() if name in names]
    return [(entry.name or "", entry.summary) for entry in found] + aliases
