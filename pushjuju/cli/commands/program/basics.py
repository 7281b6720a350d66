"""version, help, documentation: the commands about the program itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pushjuju import JUJU_VERSION, __version__
from pushjuju.cli.commands import registry
from pushjuju.cli.help import helptext, hooktoolhelp
from pushjuju.cli.help.version import version_text
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, Command, command
from pushjuju.cli.terminal.output import write_file
from pushjuju.core.errors import NotFound


@command(
    "version",
    summary="Print the client version.",
    formats=("smart", "yaml", "json"),
    flags=(flags.switch("all", "Prints all version information", dest="everything"),),
    at_most=0,
    details="The version is that of the Juju whose behaviour is offered; --all adds pushjuju's own.",
    examples="    pushjuju version\n    pushjuju version --all --format json\n",
)
def version(cli: Cli, _args: tuple[str, ...], *, everything: bool) -> None:
    """Print the version."""
    if not everything:
        return cli.output.write(version_text())
    details: dict[str, Any] = {
        "version": version_text(),
        "git-commit": "",
        "git-tree-state": "",
        "compiler": "python",
        "pushjuju-version": __version__,
        "pushjuju-juju-version": JUJU_VERSION,
    }
    from pushjuju.portable.gotypes import Struct

    return cli.output.write(Struct({key: value for key, value in details.items() if value}))


def _root() -> click.Group:
    found = click.get_current_context().find_root().command
    assert isinstance(found, click.Group), "commands run under the root group"
    return found


def _all_commands() -> list[Command]:
    root, context = _root(), click.get_current_context().find_root()
    found = (root.get_command(context, name) for name in root.list_commands(context))
    return [entry for entry in found if isinstance(entry, Command)]


@command(
    "help",
    usage="[<topic or command>]",
    summary="Show help on a command or other topic.",
    at_most=1,
    details="Topics: basics, commands, global-options, topics.",
    examples="    pushjuju help\n    pushjuju help commands\n    pushjuju help deploy\n",
)
def show_help(cli: Cli, args: tuple[str, ...]) -> None:
    """Print a help text."""
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
    found = _root().get_command(click.get_current_context().find_root(), topic)
    if not isinstance(found, Command):
        raise NotFound(f"unknown command or topic for {topic}")
    return helptext.command(found, program, alias=topic)


def _entries() -> list[tuple[str, str]]:
    found = _all_commands()
    names = {entry.name for entry in found}
    aliases = [(alias, f"Alias for '{name}'.") for alias, name in registry.ALIASES.items() if name in names]
    return [(entry.name or "", entry.summary) for entry in found] + aliases


@command(
    "documentation",
    summary="Generate the command reference as Markdown.",
    flags=(
        flags.text("out", "Directory for the files"),
        flags.switch("no-index", "Leave the command index out"),
        flags.switch("split", "Write one file per command"),
        flags.text("url", "Prefix of the links between commands"),
        flags.text("discourse-ids", "Accepted and ignored", void=True),
    ),
    at_most=0,
)
def documentation(
    cli: Cli,
    _args: tuple[str, ...],
    *,
    out: str,
    no_index: bool,
    split: bool,
    url: str,
) -> None:
    """Print or write the reference."""
    pages = {entry.name or "": helptext.markdown(entry, cli.program, url=url) for entry in _all_commands()}
    index = "" if no_index else helptext.markdown_index(list(pages), url=url)
    if not out:
        return cli.output.text(index + "".join(pages.values()))
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    if not split:
        write_file(folder / "documentation.md", index + "".join(pages.values()))
        return None
    for name, page in {**pages, **({"index": index} if index else {})}.items():
        write_file(folder / f"{name}.md", page)
    return None


@command(
    "plugins",
    summary="Lists the plugins: where they come from, the hooks they have, and why one is not used.",
    at_most=0,
    formats=("tabular", "yaml", "json"),
    examples="    pushjuju plugins\n    pushjuju plugins --format json\n",
    see_also=("doctor",),
)
def plugins(cli: Cli, _args: tuple[str, ...]) -> None:
    """List the plugins."""
    from dataclasses import asdict

    from pushjuju.cli.commands.program.listings import plugins as table
    from pushjuju.plugins.manager import PluginHost

    host = PluginHost(environ=cli.env, warn=cli.console.warn)
    entries = [{**asdict(info), "hooks": list(info.hooks)} for info in host.list_plugins()]
    cli.output.write(entries, {"tabular": lambda listed: table(listed, colour=cli.output.colour)})


def _hook_tools(cli: Cli, args: tuple[str, ...], *, of_actions: bool | None) -> None:
    """Print the help of one tool, or the list: all, those of actions only, or all but those."""
    found = hooktoolhelp.tools(cli.env, cli.console.warn)
    if of_actions is not None:
        found = {
            name: tool for name, tool in found.items() if (name in hooktoolhelp.ACTION_TOOLS) is of_actions
        }
    cli.output.text(hooktoolhelp.help_of(found, args[0]) if args else hooktoolhelp.listing(found))


@command(
    "help-tool",
    usage="[<tool>]",
    summary="Show help on a hook tool, or the list of them.",
    at_most=1,
    see_also=("help-hook-commands", "help-action-commands"),
)
def help_tool(cli: Cli, args: tuple[str, ...]) -> None:
    """Print the help of a hook tool."""
    _hook_tools(cli, args, of_actions=None)


@command(
    "help-hook-commands",
    usage="[<hook command>]",
    summary="Show help on a hook command, or the list of them.",
    at_most=1,
    see_also=("help-action-commands",),
)
def help_hook_commands(cli: Cli, args: tuple[str, ...]) -> None:
    """Print the help of a hook command."""
    _hook_tools(cli, args, of_actions=False)


@command(
    "help-action-commands",
    usage="[<action command>]",
    summary="Show help on a command that exists inside actions only, or the list of them.",
    at_most=1,
    see_also=("help-hook-commands",),
)
def help_action_commands(cli: Cli, args: tuple[str, ...]) -> None:
    """Print the help of an action command."""
    _hook_tools(cli, args, of_actions=True)
