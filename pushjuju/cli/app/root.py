"""Finds what the first word means: a command, a plugin on PATH, a user's alias, or a mistake.

A command's module is imported when its word is used (see `registry.py`).
Mirrors: juju/cmd supercommand.go, juju cmd/juju/commands/plugin.go (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from pushjuju.cli import lazy_imports
from pushjuju.cli.app import path_plugin
from pushjuju.cli.commands import registry
from pushjuju.cli.help import helptext
from pushjuju.cli.help.version import version_text
from pushjuju.cli.remote import forms
from pushjuju.cli.syntax.command import GLOBAL_FLAGS, Cli, Command
from pushjuju.cli.syntax.gnuflag import FlagSet, FlagSpec
from pushjuju.core.errors import IsRemote, NotFound, UsageError
from pushjuju.core.suggest import did_you_mean
from pushjuju.portable.flags import HelpWanted
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import places

ROOT_FLAGS = (
    FlagSpec(name="description", help="Show short description of plugin, if any"),
    FlagSpec(name="no-alias", help="Do not process command aliases when running this command"),
    FlagSpec(name="version", help="Show the command's version and exit"),
)
PURPOSE = "Real Juju machine charms on every machine that SSH reaches, without agents."


class Root(click.Group):
    """The program in click's tree: global flags, then the word of a command."""

    def __init__(self) -> None:
        super().__init__("pushjuju", add_help_option=False, help=PURPOSE)
        self._modules = registry.words()

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Command | None:  # noqa: ARG002 - click's
        """Return the command of a name or alias, or None; import its module."""
        name = registry.ALIASES.get(cmd_name, cmd_name)
        module_name = self._modules.get(name)
        if module_name is None:
            return None
        module = lazy_imports.import_lazily(f"pushjuju.cli.commands.{module_name}")
        found = (entry for entry in vars(module).values() if isinstance(entry, Command))
        return next((entry for entry in found if entry.name == name), None)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the flags in front of the command."""
        flags = FlagSet((*GLOBAL_FLAGS, *ROOT_FLAGS))
        try:
            parsed = flags.parse(args, interspersed=False)
        except HelpWanted:
            parsed = flags.parse([])
            parsed.args = ["help", *_word_behind_help(args)]
        ctx.params, ctx.args = parsed.values, parsed.args
        return parsed.args

    def invoke(self, ctx: click.Context) -> None:
        """Run what the command line asks for."""
        cli = ctx.find_object(Cli)
        assert cli is not None, "the entry point sets the object"
        if ctx.params["version"]:
            return cli.output.text(f"{version_text()}\n")
        if ctx.params["description"]:
            return cli.output.text(f"{PURPOSE}\n")
        args = ctx.args if ctx.params["no_alias"] else _expanded(ctx.args, cli)
        if not args:
            return cli.output.text(helptext.basics(cli.program))
        return self._run(ctx, cli, args)

    def _run(self, ctx: click.Context, cli: Cli, args: Sequence[str]) -> None:
        word, rest = args[0], list(args[1:])
        found = self.get_command(ctx, word)
        if found is None:
            path_plugin.run(word, rest)
            raise self._unknown(word, cli)
        try:
            with found.make_context(word, rest, parent=ctx) as inner:
                return _invoke(found, inner, cli)
        except HelpWanted:
            return cli.output.text(helptext.command(found, cli.program, alias=word))

    def _unknown(self, word: str, cli: Cli) -> UsageError | NotFound:
        if word.startswith("-"):
            return UsageError(f"option provided but not defined: {word}")
        name = cli.program
        text = f'{name}: {quote(word)} is not a {name} command. See "{name} --help".'
        near = did_you_mean(word, [*self._modules, *registry.ALIASES])
        return NotFound(f"{text}\n{near}" if near else text)


def _invoke(found: Command, context: click.Context, cli: Cli) -> None:
    """Run a command; for a controller on another computer run its remote form."""
    try:
        return found.invoke(context)
    except IsRemote as remote:
        return forms.run(found, context, cli, remote)


def _word_behind_help(args: Sequence[str]) -> list[str]:
    """Return the first word that is no flag, so that `--help deploy` shows `help deploy`."""
    return [arg for arg in args if not arg.startswith("-")][:1]


def _expanded(args: list[str], cli: Cli) -> list[str]:
    """Return the arguments with the first word replaced if the user's alias file names it."""
    if not args:
        return args

    aliases = read_aliases(places.locate(cli.env, places.here()) / "aliases")
    return [*aliases[args[0]], *args[1:]] if args[0] in aliases else args


def read_aliases(path: Path) -> dict[str, list[str]]:
    """Return the aliases of a file with `name = command arg ...` lines; other lines are ignored."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        name, equals, words = line.partition("=")
        if equals and not line.lstrip().startswith("#") and name.strip() and words.split():
            found[name.strip()] = words.split()
    return found
