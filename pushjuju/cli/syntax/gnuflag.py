"""Parses flags by Juju's rules, which differ from click's.

Pure: no click, no printing. Each command of `command.py` uses this parser.

Mirrors: juju/gnuflag flag.go, juju/cmd args.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.suggest import did_you_mean
from pushjuju.core.values import dataclass
from pushjuju.portable import flags
from pushjuju.portable.durations import parse_duration
from pushjuju.portable.flags import dashed
from pushjuju.portable.quote import parse_bool, parse_int, quote


class Kind(StrEnum):
    """The type of a flag's value."""

    BOOL = "bool"
    OPTIONAL_BOOL = "optional-bool"
    INT = "int"
    UINT = "uint"
    STRING = "string"
    PATH = "path"
    DURATION = "duration"
    LIST = "list (repeat)"
    COMMA_LIST = "list (comma)"
    KEY_VALUE = "key-value (repeat)"
    KEY_VALUE_OR_FILE = "key-value-or-file"
    CONSTRAINTS = "constraints"
    STORAGE = "storage-directive (repeat)"


_SWITCHES = (Kind.BOOL, Kind.OPTIONAL_BOOL)
_REPEATED = (Kind.LIST, Kind.KEY_VALUE_OR_FILE, Kind.CONSTRAINTS, Kind.STORAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagSpec:
    """A flag of a command."""

    name: str  # the long name without dashes; a single letter when there is no long name
    kind: Kind = Kind.BOOL  # the type of the value
    default: Any = None  # the default as the help shows it; `initial` returns the typed value
    short: str = ""  # the one-letter name, or empty
    aliases: tuple[str, ...] = ()
    help: str = ""  # one line
    dest: str = ""  # the keyword of the command's function; by default the name
    choices: tuple[str, ...] = ()  # the allowed values; empty when any value is allowed
    split: bool = False  # True when each value of a repeated flag may be a list with commas
    check: Callable[[str], object] | None = None  # a function that raises `NotValid` to refuse a text
    hidden: bool = False  # True when the help does not show the flag
    # True when the command's function does not get the value: the flag has no effect, or is used earlier
    void: bool = False

    @property
    def key(self) -> str:
        """The keyword of the command's function for the value."""
        return self.dest or self.name.replace("-", "_")

    @property
    def names(self) -> tuple[str, ...]:
        """The long and the short name of the flag."""
        return (self.name, *self.aliases, *((self.short,) if self.short else ()))

    @property
    def boolean(self) -> bool:
        """True when the flag may come without a value."""
        return self.kind in _SWITCHES

    def initial(self) -> Any:
        """Return the typed value of a flag that the command line does not have; None means unset."""
        if self.kind is Kind.BOOL:
            return bool(self.default)
        if self.kind is Kind.OPTIONAL_BOOL:
            return None
        if self.kind in _REPEATED or self.kind is Kind.COMMA_LIST:
            return ()
        if self.kind is Kind.KEY_VALUE:
            return {}
        if self.kind is Kind.DURATION:
            return None if self.default in (None, "unset") else parse_duration(str(self.default))
        if self.kind in (Kind.INT, Kind.UINT):
            return int(self.default or 0)
        return self.default or ""


@dataclass(slots=True)
class Parsed:
    """A parsed command line."""

    values: dict[str, object]  # flag key -> typed value, defaults included
    args: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)  # keys of the flags that the command line has


class FlagSet:
    """The flags of a command, and the parser of its command line."""

    def __init__(self, specs: Iterable[FlagSpec]) -> None:
        self._specs = tuple(specs)
        self._by_name = {name: spec for spec in self._specs for name in spec.names}
        # the reader of flags raises HelpWanted for `-h` and `--help` by itself, and ignores what follows
        self._readable = {name: spec for name, spec in self._by_name.items() if spec.name != "help"}

    def parse(
        self, words: Sequence[str], *, interspersed: bool = True, start: Mapping[str, Any] | None = None
    ) -> Parsed:
        """Parse a command line.

        Args:
            interspersed: Whether flags may follow the first positional argument.
            start: Values of the global flags in front of the command.

        Raises:
            HelpWanted: The command line has `-h` or `--help`.
        """
        found = Parsed({spec.key: spec.initial() for spec in self._specs} | dict(start or {}))

        def store(spec: FlagSpec, name: str, text: str) -> None:
            _store(spec, name, text, found)

        try:
            found.args = flags.read(self._readable, words, store, interspersed=interspersed)
        except flags.UnknownFlag as error:
            near = did_you_mean(error.name, self._by_name) if len(error.name) > 1 else ""
            raise UsageError(str(error), hint="\t--".join(near.rsplit("\t", 1))) from None
        except flags.UsageError as error:
            raise UsageError(str(error)) from None
        return found


def _store(spec: FlagSpec, name: str, text: str, found: Parsed) -> None:
    try:
        if spec.check is not None:
            spec.check(text)
        if spec.choices and text not in spec.choices:
            raise NotValid(f"unknown {spec.name} {quote(text)}")
        found.values[spec.key] = _value(spec, text, found.values[spec.key])
    except (NotValid, ValueError) as error:
        hint = error.hint if isinstance(error, NotValid) else ""
        raise UsageError(
            f"invalid value {quote(text)} for option {dashed(name)}: {error}", hint=hint
        ) from None
    found.given.add(spec.key)


def _value(spec: FlagSpec, text: str, before: Any) -> Any:
    """Return the flag's value after one more `text`; `before` is the value so far."""
    match spec.kind:
        case Kind.BOOL | Kind.OPTIONAL_BOOL:
            return parse_bool(text)
        case Kind.INT | Kind.UINT:
            return parse_int(text, signed=spec.kind is Kind.INT)
        case Kind.DURATION:
            return parse_duration(text)
        case Kind.COMMA_LIST:
            return tuple(text.split(","))
        case Kind.LIST if spec.split:
            return (*before, *text.split(","))
        case Kind.LIST | Kind.KEY_VALUE_OR_FILE | Kind.CONSTRAINTS | Kind.STORAGE:
            return (*before, text)
        case Kind.KEY_VALUE:
            return _with_pair(before, text)
        case _:
            return text


def _with_pair(before: Mapping[str, str], text: str) -> dict[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise NotValid(f"badly formatted name value pair: {text}")
    if name in before:
        raise NotValid(f"duplicate name specified: {quote(name)}")
    return {**before, name: value}
