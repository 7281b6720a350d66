"""The flags of commands: their kinds and typed values. Not click's rules, but Juju's.

Pure: no click, no printing. `command.py` puts these rules under every click command.

Mirrors: juju/gnuflag flag.go, juju/cmd args.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.suggest import did_you_mean
from pushjuju.portable import flags
from pushjuju.portable.durations import parse_duration
from pushjuju.portable.flags import dashed
from pushjuju.portable.quote import parse_bool, parse_int, quote


class Kind(StrEnum):
    """The type of a flag's value; the words are those of the command table."""

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
    """One flag of a command.

    Attributes:
        name: The long name, without dashes; of one letter when there is no long form.
        kind: How the value is read.
        default: The default as the help shows it; `initial` gives the typed value.
        short: The one-letter name, or empty.
        help: One line.
        dest: The keyword that the command's function gets.
        choices: The only values allowed (`--format`); empty for any.
        split: For a repeated list: each value may hold several, comma separated.
        check: Called with each text; raises `NotValid` to refuse it.
        hidden: Left out of the help.
        void: Not handed to the command's function: it has no meaning here, or is dealt with before.
    """

    name: str
    kind: Kind = Kind.BOOL
    default: Any = None
    short: str = ""
    aliases: tuple[str, ...] = ()
    help: str = ""
    dest: str = ""
    choices: tuple[str, ...] = ()
    split: bool = False
    check: Callable[[str], object] | None = None
    hidden: bool = False
    void: bool = False

    @property
    def key(self) -> str:
        """The keyword under which the value is handed on."""
        return self.dest or self.name.replace("-", "_")

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that means this flag."""
        return (self.name, *self.aliases, *((self.short,) if self.short else ()))

    @property
    def boolean(self) -> bool:
        """True when the flag may stand without a value."""
        return self.kind in _SWITCHES

    def initial(self) -> Any:
        """Return the typed value of a flag that is not given; `None` means unset."""
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
    """What a command line says.

    Attributes:
        values: Flag key -> typed value, defaults included.
        given: Keys of the flags that were written.
    """

    values: dict[str, object]
    args: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)


class FlagSet:
    """The flags of one command, and the parser of its command line."""

    def __init__(self, specs: Iterable[FlagSpec]) -> None:
        self._specs = tuple(specs)
        self._by_name = {name: spec for spec in self._specs for name in spec.names}
        # That of help is no flag to the reader: nothing behind it counts.
        self._readable = {name: spec for name, spec in self._by_name.items() if spec.name != "help"}

    def parse(
        self, words: Sequence[str], *, interspersed: bool = True, start: Mapping[str, Any] | None = None
    ) -> Parsed:
        """Read a command line.

        Args:
            words: The words after the command.
            interspersed: Whether flags may follow the first positional argument.
            start: Values that were set before (global flags in front of the command).

        Raises:
            HelpWanted: `-h` or `--help`.
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
    """Return the flag's value after one more `text`; `before` is what it was."""
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
