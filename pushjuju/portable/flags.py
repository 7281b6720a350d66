"""Reads command lines in Juju's flag syntax; describes the flags of hook tools and prints their help.

Flags and arguments may be mixed, short flags may be joined, the last value wins, long flags are never
abbreviated. Not POSIX getopt: `-n=x` gives `=x`, and `--flag=false` is for booleans.

Mirrors: juju/gnuflag flag.go, juju/cmd args.go (3.6)
"""

from __future__ import annotations

from pushjuju.portable.quote import parse_bool, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Mapping, Sequence

    # A Convert turns the text of a flag into its value, or raises ValueError with the reason.
    Convert = Callable[[Any, str], Any]


class UsageError(Exception):
    """The command line is wrong; the text is what the user reads after "ERROR "."""


class UnknownFlag(UsageError):
    """A flag is not defined."""

    def __init__(self, name: str) -> None:
        super().__init__("option provided but not defined: %s" % dashed(name))
        self.name = name  # the name of the flag, without dashes


class HelpWanted(Exception):  # noqa: N818 - not an error: the user asked
    """The command line has `-h` or `--help`."""


def dashed(name: str) -> str:
    """Return the flag name as the user types it."""
    return ("--" if len(name) > 1 else "-") + name


def read(
    flags: Mapping[str, Any],
    words: Iterable[str],
    store: Callable[[Any, str, str], None],
    *,
    interspersed: bool = True,
) -> list[str]:
    """Read a command line.

    Args:
        flags: Name, without dashes -> flag; a flag whose `boolean` is true needs no value.
        words: The words after the command.
        store: Called with flag, name and text for each flag, in the order of the command line.
        interspersed: True when flags may follow the first positional argument.

    Returns:
        The positional arguments.

    Raises:
        UsageError: The command line is wrong; the message is Juju's.
    """
    found: list[str] = []
    rest = list(words)
    rest.reverse()
    while rest:
        word = rest.pop()
        if word == "--":
            break
        if len(word) < 2 or word[0] != "-":
            found.append(word)
            if not interspersed:
                break
        elif word.startswith("--"):
            _read_long(flags, word, rest, store)
        else:
            _read_joined(flags, word[1:], rest, store)
    rest.reverse()
    return found + rest


def _read_long(
    flags: Mapping[str, Any], word: str, rest: list[str], store: Callable[[Any, str, str], None]
) -> None:
    name, equals, value = word[2:].partition("=")
    if not name:
        raise UsageError("empty option in argument %s" % quote(word))
    flag = _find(flags, name)
    if not equals:
        value = "true" if flag.boolean else _next(name, rest)
    store(flag, name, value)


def _read_joined(
    flags: Mapping[str, Any], letters: str, rest: list[str], store: Callable[[Any, str, str], None]
) -> None:
    while letters:
        name, letters = letters[0], letters[1:]
        flag = _find(flags, name)
        if not flag.boolean or letters.startswith("="):
            store(flag, name, letters or _next(name, rest))
            return
        store(flag, name, "true")


def _find(flags: Mapping[str, Any], name: str) -> Any:
    flag = flags.get(name)
    if flag is None:
        raise HelpWanted if name in ("h", "help") else UnknownFlag(name)
    return flag


def _next(name: str, rest: list[str]) -> str:
    if not rest:
        raise UsageError("option needs an argument: %s" % dashed(name))
    return rest.pop()


class Flag:
    """One flag: its names (the last one is the key in the parsed arguments), default and meaning."""

    __slots__ = ("boolean", "convert", "default", "help", "names", "shown")

    def __init__(
        self,
        *names: str,
        help: str,  # noqa: A002 - the word every reader expects
        default: Any = "",
        boolean: bool = False,
        convert: Convert | None = None,
        shown: str | None = None,
    ) -> None:
        """Describe a flag.

        Args:
            names: Without dashes, short ones first.
            help: One line of help.
            default: The value when the flag is absent; None when the default comes from elsewhere.
            boolean: True for a flag that needs no value.
            convert: Turns (context, text) into the value; a ValueError's text is shown.
            shown: The default as help prints it, if not by its value.
        """
        self.names = names
        self.help = help
        self.default = False if boolean else default
        self.boolean = boolean
        self.convert = convert
        self.shown = shown

    @property
    def key(self) -> str:
        """The name under which the value is found."""
        return self.names[-1]

    def value(self, context: Any, text: str) -> Any:
        """Convert the text given on the command line."""
        if self.boolean:
            return parse_bool(text)
        return self.convert(context, text) if self.convert else text

    def describe(self) -> str:
        """Render the entry under "Options:" of the help."""
        if self.shown is not None:
            shown = self.shown
        elif self.boolean:
            shown = "false"
        else:
            shown = quote(str(self.default)) if self.default is not None else ""
        names = ", ".join(map(dashed, sorted(self.names, key=len)))
        return "%s (= %s)\n    %s" % (names, shown, self.help)


class FlagTable:
    """The flags of a program, for `parse`: made once for many command lines."""

    __slots__ = ("by_name", "defaults")

    def __init__(self, flags: Iterable[Flag]) -> None:
        self.by_name = {name: flag for flag in flags for name in flag.names}
        self.defaults = {flag.key: flag.default for flag in self.by_name.values()}


def parse(table: FlagTable, argv: Sequence[str], context: Any) -> tuple[dict[str, Any], list[str]]:
    """Split a command line into flag values and positional arguments.

    Args:
        argv: The arguments after the tool's name.
        context: Given to each flag's `convert`.

    Returns:
        The value of every flag by its key (defaults included), and the positional arguments.

    Raises:
        UsageError: with Juju's text.
        HelpWanted: `-h` or `--help` came before any fault.
    """
    values = dict(table.defaults)

    def store(flag: Flag, name: str, text: str) -> None:
        try:
            values[flag.key] = flag.value(context, text)
        except ValueError as error:
            message = "invalid value %s for option %s: %s" % (quote(text), dashed(name), error)
            raise UsageError(message) from None

    positional = read(table.by_name, argv, store)
    return values, positional


def help_text(name: str, *, usage: str, summary: str, details: str, flags: Sequence[Flag]) -> str:
    """Render `NAME --help`."""
    options = " [options]" if flags else ""
    parts = ["Usage: %s%s%s\n" % (name, options, " " + usage if usage else ""), "Summary:\n%s\n" % summary]
    if flags:
        entries = sorted(flags, key=lambda flag: min(flag.names))
        parts.append("Options:\n%s\n" % "\n".join(flag.describe() for flag in entries))
    if details:
        parts.append("Details:\n%s\n" % details)
    return "\n".join(parts)
