"""Parse a hook tool's command line as Juju does, and print its help.

Flags and arguments may be mixed, short flags may be joined, the last value wins, long flags are never
abbreviated. Pushed to machines: Python 3.8, lean imports.

Mirrors: juju/gnuflag flag.go (juju 3.6)
"""

from __future__ import annotations

from pushjuju.portable.quote import parse_bool, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Sequence

    # Turns the text of a flag into its value; raises ValueError with the reason.
    Convert = Callable[[Any, str], Any]


class UsageError(Exception):
    """The command line is wrong; the text is what the user reads after "ERROR "."""


class HelpWanted(Exception):  # noqa: N818 - not an error: the user asked
    """`-h` or `--help` was met."""


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
            shown: How help prints the default, if not by its value.
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


def dashed(name: str) -> str:
    """Return the flag name as the user types it."""
    return ("--" if len(name) > 1 else "-") + name


class _Parser:
    __slots__ = ("argv", "cluster", "context", "flags", "positional", "values")

    def __init__(self, flags: dict[str, Flag], argv: Sequence[str], context: Any) -> None:
        self.flags = flags
        self.argv = list(argv)
        self.context = context
        self.cluster = ""  # what is left of "-abc" after its first letter
        self.positional: list[str] = []
        self.values: dict[str, Any] = {}

    def run(self) -> None:
        while self.cluster or self.argv:
            if self.cluster:
                name, self.cluster = self.cluster[0], self.cluster[1:]
                self._short(name)
                continue
            arg = self.argv.pop(0)
            if arg == "--":
                self.positional.extend(self.argv)
                return
            if arg.startswith("--"):
                self._long(arg)
            elif len(arg) > 1 and arg[0] == "-":
                self.cluster = arg[1:]
            else:
                self.positional.append(arg)

    def _long(self, arg: str) -> None:
        name, found, value = arg[2:].partition("=")
        if not name:
            raise UsageError("empty option in argument %s" % quote(arg))
        flag = self._find(name)
        if found:
            self._set(flag, name, value)
        elif flag.boolean:
            self._set(flag, name, "true")
        else:
            self._set(flag, name, self._next(name))

    def _short(self, name: str) -> None:
        flag = self._find(name)
        if flag.boolean and not self.cluster.startswith("="):
            self._set(flag, name, "true")
            return
        value, self.cluster = self.cluster, ""
        self._set(flag, name, value or self._next(name))

    def _find(self, name: str) -> Flag:
        flag = self.flags.get(name)
        if flag is not None:
            return flag
        if name in ("h", "help"):
            raise HelpWanted
        raise UsageError("option provided but not defined: %s" % dashed(name))

    def _next(self, name: str) -> str:
        if not self.argv:
            raise UsageError("option needs an argument: %s" % dashed(name))
        return self.argv.pop(0)

    def _set(self, flag: Flag, name: str, text: str) -> None:
        try:
            self.values[flag.key] = flag.value(self.context, text)
        except ValueError as error:
            message = "invalid value %s for option %s: %s" % (quote(text), dashed(name), error)
            raise UsageError(message) from None


def parse(flags: Sequence[Flag], argv: Sequence[str], context: Any) -> tuple[dict[str, Any], list[str]]:
    """Split a command line into flag values and positional arguments.

    Args:
        flags: The tool's flags.
        argv: The arguments after the tool's name.
        context: Given to each flag's `convert`.

    Returns:
        The value of every flag by its key (defaults included), and the positional arguments.

    Raises:
        UsageError: with Juju's text.
        HelpWanted: `-h` or `--help` came before any fault.
    """
    parser = _Parser({name: flag for flag in flags for name in flag.names}, argv, context)
    parser.values = {flag.key: flag.default for flag in flags}
    parser.run()
    return parser.values, parser.positional


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
