"""Runs the command lines of web terminals in this process, for users of the API.

Only commands that read one model run, with flags that name no file, no other model and no other time to wait.
"""

from __future__ import annotations

import io
import shlex
from typing import TYPE_CHECKING, TextIO

import click

from pushjuju.cli.help import helptext
from pushjuju.cli.syntax.command import Cli, Command
from pushjuju.cli.syntax.gnuflag import FlagSet
from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.output import Output
from pushjuju.cli.work import session
from pushjuju.core.errors import NotPermitted, NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.flags import HelpWanted
from pushjuju.portable.quote import quote

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.services.entities.model.sessions import Model

_FLAGS = frozenset(["format", "utc", "color", "no-color"])  # these may be given to every command
READING: dict[str, str] = {
    "actions": "schema",
    "application-storage": "",
    "config": "",
    "constraints": "",
    "disabled-commands": "",
    "export-bundle": "include-charm-defaults include-series",
    "machines": "",
    "model-config": "",
    "model-constraints": "",
    "offers": "application interface allowed-consumer connected-user active-only",
    "operations": "applications units machines actions status limit offset",
    "payloads": "",
    "resources": "details",
    "secrets": "owner",
    "show-action": "",
    "show-application": "",
    "show-machine": "",
    "show-model": "",
    "show-operation": "",
    "show-relation": "",
    "show-secret": "revisions revision",
    "show-space": "",
    "show-status-log": "type n days from-date",
    "show-storage": "",
    "show-task": "",
    "show-unit": "endpoint related-unit app",
    "spaces": "short",
    "ssh-keys": "full",
    "status": "integrations relations storage",
    "storage": "filesystem volume",
    "storage-pools": "provider name",
    "subnets": "space zone",
}
"""Command -> the flags that it may have, in addition to `_FLAGS`; the API's methods for these need `read`."""
_ADMINISTRATORS = frozenset(["offers", "show-model"])  # these show other users of the model
_ALONE = frozenset(["show-model"])  # the argument would be another model


@dataclass(frozen=True, slots=True)
class WebCommands:
    """Runs command lines."""

    root: click.Group  # the program in click's tree, which has the commands

    def run(self, ctx: Context, model: Model, access: str, line: str, out: TextIO, err: TextIO) -> None:
        """Run a command line that reads a model; data goes to `out`, messages go to `err`.

        Args:
            ctx: The controller, as the user of the terminal.
            access: The user's access to the model: `read`, `write` or `admin`.

        Raises:
            NotPermitted: The command, or one of its flags or arguments, may do more than read.
            PushjujuError: The command line is wrong, or the command failed.
        """
        found, words = self._found(line)
        if found.name in _ADMINISTRATORS and access != "admin":
            raise NotPermitted("permission denied")
        cli = _cli(ctx, model, out, err)
        try:
            _check(found, words)
            with found.make_context(found.name, words, obj=cli) as context:
                found.invoke(context)
        except HelpWanted:
            cli.output.text(helptext.command(found, cli.program))

    def _found(self, line: str) -> tuple[Command, list[str]]:
        """Return the command of a line, and the words after it."""
        try:
            word, *words = shlex.split(line)
        except ValueError:
            raise NotValid("the line has no command, or a quotation without an end") from None
        found = self.root.get_command(click.Context(self.root), word)
        if not isinstance(found, Command) or found.name not in READING:
            listed = ", ".join(sorted(READING))
            raise NotPermitted(f"command {quote(word)} does not run here; these run: {listed}")
        return found, words


def _check(found: Command, words: list[str]) -> None:
    """Refuse flags that may do more than read, before their values are read, and settings to change."""
    allowed = _FLAGS.union(READING[found.name or ""].split())
    flags = FlagSet(spec for spec in found.specs if spec.name in allowed)
    arguments = flags.parse(words, interspersed=found.interspersed).args
    if any("=" in argument for argument in arguments):
        raise NotPermitted(f"{found.name} only reads here")
    if arguments and found.name in _ALONE:
        raise NotPermitted(f"{found.name} shows only the model of this terminal")


def _cli(ctx: Context, model: Model, out: TextIO, err: TextIO) -> Cli:
    """Return what a command gets: the opened controller, the model, and nothing of this process."""
    env = {
        "PUSHJUJU_DATA": str(ctx.datadir.root),
        "JUJU_CONTROLLER": ctx.controller.name,
        "JUJU_MODEL": model.uuid,
    }
    console = Console(stdin=io.StringIO(), stdout=out, stderr=err, env=env)
    cli = Cli(console=console, output=Output(console), clock=ctx.clock)
    session.use(cli, ctx)
    return cli
