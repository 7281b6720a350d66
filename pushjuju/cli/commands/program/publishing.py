"""schema, man: what programs and readers are promised. pushjuju's own, no Juju model."""

from __future__ import annotations

from pathlib import Path

import click

from pushjuju import __version__
from pushjuju.cli.help import manpage
from pushjuju.cli.syntax.command import GLOBAL_FLAGS, Cli, Command, command
from pushjuju.core.errors import NotFound

FOLDER = Path(__file__).parents[2] / "schemas"


@command(
    "schema",
    usage="[<command>]",
    summary="Prints the JSON schema of what a command writes with --format json.",
    at_most=1,
    details="Without a command: the names of those that have one, which are pushjuju's own commands.\n"
    "What Juju has is written as Juju writes it.",
    examples="    pushjuju schema\n    pushjuju schema hooks > hooks.schema.json\n",
    see_also=("explain", "plan", "hooks", "replay", "show-relation"),
)
def schema(cli: Cli, args: tuple[str, ...]) -> None:
    """Print a schema, or the names of all."""
    names = sorted(path.stem for path in FOLDER.glob("*.json"))
    if not args:
        return cli.output.text("".join(f"{name}\n" for name in names))
    if args[0] not in names:
        raise NotFound(f"{args[0]} has no schema", hint=f"there is one of: {', '.join(names)}")
    return cli.output.text((FOLDER / f"{args[0]}.json").read_text(encoding="utf-8"))


@command(
    "man",
    summary="Prints the manual page in roff.",
    at_most=0,
    details="An installed pushjuju has it as pushjuju(1).",
    examples="    pushjuju man | man -l -\n",
    see_also=("help", "documentation"),
)
def man(cli: Cli, _args: tuple[str, ...]) -> None:
    """Print the page."""
    context = click.get_current_context().find_root()
    root = context.command
    assert isinstance(root, click.Group), "commands run under the root group"
    found = (root.get_command(context, name) for name in root.list_commands(context))
    commands = [entry for entry in found if isinstance(entry, Command)]
    cli.output.text(manpage.page(commands, GLOBAL_FLAGS, __version__))
