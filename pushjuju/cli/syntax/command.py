"""click's commands and options, parsed by the rules of Juju's gnuflag.

A command is a function `(cli, args, **flags)`: `args` holds the positional arguments, and each flag is a
keyword, or a field of one dataclass where there are many flags. Whatever the parser refuses is a
`UsageError` (exit status 2).

Mirrors: juju/cmd cmd.go, supercommand.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import field, fields
from functools import partial
from typing import Any

import click

from pushjuju.cli.syntax.gnuflag import FlagSet, FlagSpec, Kind
from pushjuju.cli.terminal import logs
from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.output import Output
from pushjuju.core.clock import Clock, SystemClock
from pushjuju.core.errors import PushjujuError, UsageError
from pushjuju.core.values import dataclass
from pushjuju.portable.flags import dashed
from pushjuju.portable.quote import quote_list

Function = Callable[..., None]
_IGNORED = (
    "Accepted and ignored",
    "For Kubernetes only",
    "There are no agents",
)  # how the help of ignored flags begins
_NO_USE = ": of no use"  # ... or ends

GLOBAL_FLAGS = (
    FlagSpec(name="debug", help="Log at DEBUG to stderr (implies --show-log)"),
    FlagSpec(name="verbose", short="v", help="Show more messages; clashes with --quiet"),
    FlagSpec(name="quiet", short="q", help="Show no informational messages"),
    FlagSpec(name="show-log", help="Copy the client's log to stderr"),
    FlagSpec(
        name="logging-config",
        kind=Kind.STRING,
        default="",
        help="Logger levels, <root>=DEBUG;pushjuju.runner=TRACE",
    ),
    FlagSpec(name="log-file", kind=Kind.PATH, default="", help="Write the client's log to this file"),
    FlagSpec(name="help", short="h", help="Show help on a command or other topic"),
)


class Exited(PushjujuError, message=""):
    """A program that the command started has ended; pushjuju exits with its status and prints no error."""

    def __init__(self, status: int) -> None:
        super().__init__("")
        self.exit_code = status


@dataclass(slots=True)
class Cli:
    """What a command gets in addition to its arguments."""

    console: Console  # streams, environment, information lines, questions
    output: Output  # writes data to stdout or to a file
    clock: Clock = field(default_factory=SystemClock)
    program: str = "pushjuju"  # the name under which the user called pushjuju: `juju` or `pushjuju`
    debug: bool = False  # `--debug`: errors come with their trace
    word: str = ""  # the name of the command, aliases resolved
    words: tuple[str, ...] = ()  # the positional arguments
    given: frozenset[str] = frozenset()  # keys of the flags that the command line has
    failure: str = ""  # the code of the error that ended the command, or ""
    on_interrupt: str = ""  # what Ctrl-C prints: how the work goes on
    working: bool = False  # True once the command works on machines
    # True while `plan` runs the command on a copy of the store: the command uses no machine, asks no
    # question and writes to no other place
    rehearsal: bool = False
    # services of this call by name; at the end the entry point closes those that have `close`
    extra: MutableMapping[str, Any] = field(default_factory=dict)

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of the process."""
        return self.console.env


class Flag(click.Option):
    """A flag in click's tree; `spec` says how to parse it."""

    def __init__(self, spec: FlagSpec) -> None:
        self.spec = spec
        names = [f"--{name}" if len(name) > 1 else f"-{name}" for name in spec.names]
        super().__init__([spec.key, *names], is_flag=spec.boolean, hidden=spec.hidden)
        self.help = spec.help  # click would import `inspect` to remove the indentation of a docstring


class Command(click.Command):
    """A command: its names, flags, help texts and function."""

    def __init__(
        self,
        name: str,
        function: Function,
        *,
        summary: str,
        usage: str = "",
        aliases: Iterable[str] = (),
        flags: Iterable[FlagSpec] = (),
        formats: Iterable[str] = (),
        at_least: tuple[int, str] = (0, ""),
        at_most: int | None = None,
        interspersed: bool = True,
        details: str = "",
        examples: str = "",
        see_also: Iterable[str] = (),
        into: type[Any] | None = None,
    ) -> None:
        # the values of `--format`, the default first; empty when the command prints no data
        self.formats = tuple(formats)
        self.specs = (*flags, *_flags_of(into), *_output_flags(self.formats))
        super().__init__(
            name,
            params=[Flag(spec) for spec in self.specs],
            callback=function,
            add_help_option=False,
            help=summary,
            short_help=summary,
        )
        self.aliases = tuple(aliases)
        self.usage = usage  # the positional arguments, as the help shows them
        self.summary = summary  # one line
        self.details = details
        self.examples = examples
        self.see_also = tuple(see_also)  # names of related commands
        # the smallest number of positional arguments, and the error text if there are fewer
        self.at_least = at_least
        self.at_most = at_most  # the greatest number of positional arguments, or None for any number
        # whether flags may follow the first argument; False for ssh, scp and similar
        self.interspersed = interspersed
        # the dataclass that holds the flags for the function, or None when each flag is a keyword. A field
        # may have its flag as its default; `flags` lists shared flags, and flags that the function does not
        # get.
        self.into = into

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words after the command into `ctx.params`, by gnuflag's rules."""
        before = ctx.parent.params if ctx.parent else {}
        parsed = FlagSet((*self.specs, *GLOBAL_FLAGS)).parse(
            args, interspersed=self.interspersed, start=before
        )
        self._count(parsed.args)
        ctx.params = parsed.values
        ctx.args = parsed.args
        ctx.meta["given"] = frozenset(parsed.given)
        return parsed.args

    def _count(self, args: list[str]) -> None:
        needed, text = self.at_least
        if len(args) < needed:
            raise UsageError(text)
        if self.at_most is not None and len(args) > self.at_most:
            raise UsageError(f"unrecognized args: {quote_list(args[self.at_most :])}")

    def invoke(self, ctx: click.Context) -> None:
        """Call the command's function."""
        cli = ctx.find_object(Cli)
        assert cli is not None, "the entry point sets the object"
        cli.given, cli.word, cli.words = ctx.meta["given"], self.name or "", tuple(ctx.args)
        _apply_globals(cli, ctx.params)
        self._tell_ignored(cli)
        cli.output = self._output(cli, ctx.params)
        assert self.callback is not None, "every command has a function"
        self.call(ctx, partial(self.callback, cli))

    def call(self, ctx: click.Context, function: Function) -> None:
        """Call a function with the arguments and the flags of the command line."""
        own = {spec.key: ctx.params[spec.key] for spec in self.specs if not spec.void}
        if self.into is None:
            function(tuple(ctx.args), **own)
        else:
            function(tuple(ctx.args), self.into(**own))

    def _tell_ignored(self, cli: Cli) -> None:
        """Warn of flags on the command line that have no effect in pushjuju."""
        for spec in self.specs:
            if spec.void and spec.key in cli.given and is_ignored(spec):
                cli.console.info(f"{dashed(spec.name)} is ignored: {_why(spec.help)}")

    def _output(self, cli: Cli, values: Mapping[str, Any]) -> Output:
        if not self.formats:
            return Output(cli.console)
        colour = False if values.get("no_color") else True if values.get("color") else None
        return Output(
            cli.console,
            form=values["format"],
            path="" if cli.rehearsal else values["output"],
            explicit="format" in cli.given,
            colour=colour,
            tints="no_color" in values,
        )


def is_ignored(spec: FlagSpec) -> bool:
    """Return True when the help of a flag says that it has no effect."""
    return spec.help.startswith(_IGNORED) or spec.help.endswith(_NO_USE)


def _why(about: str) -> str:
    """Return why a flag has no effect, from its help."""
    text = about.removeprefix("Accepted and ignored").removeprefix(":").removesuffix(_NO_USE).strip()
    return text or "it has no meaning here"


def _apply_globals(cli: Cli, values: Mapping[str, Any]) -> None:
    if values["verbose"] and values["quiet"]:
        raise UsageError('"verbose" and "quiet" flags clash, please use one or the other, not both')
    cli.console.verbose, cli.console.quiet = values["verbose"], values["quiet"]
    cli.debug = values["debug"]
    logs.configure(values, cli.env, cli.console.stderr)


def _flags_of(into: type[Any] | None) -> Iterable[FlagSpec]:
    """Yield the flags that are defaults of a dataclass's fields."""
    defaults = (item.default for item in fields(into)) if into else ()
    return (default for default in defaults if isinstance(default, FlagSpec))


def _output_flags(formats: tuple[str, ...]) -> tuple[FlagSpec, ...]:
    if not formats:
        return ()
    return (
        FlagSpec(
            name="format",
            kind=Kind.STRING,
            default=formats[0],
            choices=formats,
            void=True,
            help=f"Specify output format ({'|'.join(sorted(formats))})",
        ),
        FlagSpec(
            name="output", short="o", kind=Kind.PATH, default="", help="Specify an output file", void=True
        ),
    )


def command(name: str, **settings: Any) -> Callable[[Function], Command]:
    """Return a decorator that makes a `Command` of a function; the arguments are those of `Command`."""

    return lambda function: Command(name, function, **settings)
