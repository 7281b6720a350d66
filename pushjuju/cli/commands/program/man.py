"""man: prints the manual page in roff."""

from __future__ import annotations

import click

from pushjuju import __version__
from pushjuju.cli.help import manpage
from pushjuju.cli.syntax.command import GLOBAL_FLAGS, Cli, Command, command


@command(
    "man",
    summary="Prints the manual page in roff.",
    at_most=0,
    details="An installed pushjuju has it as pushjuju(1).",
    examples="    pushjuju man | man -l -\n",
    see_also=("help", "documentation"),
)
def man(cli: Cli, _args: tuple[str, ...]) -> None:
    context = click.get_current_context().find_root()
    root = context.command
    assert isinstance(root, click.Group), "commands run under the root group"
    found = (root.get_command(context, name) for name in root.list_commands(context))
    commands = [entry for entry in found if isinstance(entry, Command)]
    cli.output.text(manpage.page(commands, GLOBAL_FLAGS, __version__))
