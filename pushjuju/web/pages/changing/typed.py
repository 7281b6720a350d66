"""The page that plans a typed command line: reads the line as the form of one of the changes.

Only the commands of `changes.CHANGES` are known, with the flags below. So no line names a file, an address or
a store, and a flag that is not known is refused before anything else is read.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.web.pages.changing.changes import OPTION, PARAMETER, RESET
from pushjuju.web.pages.visit import Content, Visit

LINE = "line"  # name of the form, and of its field
_MOST = 2000  # letters of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grammar:
    """The words of a command."""

    usage: str  # the words as people type them
    fields: tuple[str, ...]  # the fields of the form that the positional arguments fill, in their order
    flags: Mapping[str, str]  # flag -> the field with its value
    switches: Mapping[str, str]  # flag without a value -> its field
    # what the names of the fields begin with that arguments `KEY=VALUE` fill; empty without such
    pairs: str = ""
    typed: str = ""  # the field whose value is also the confirmation of a removal


def _of(
    usage: str,
    *fields: str,
    flags: Mapping[str, str] = {},
    switches: Mapping[str, str] = {},
    pairs: str = "",
    typed: str = "",
) -> _Grammar:
    return _Grammar(usage=usage, fields=fields, flags=flags, switches=switches, pairs=pairs, typed=typed)


COMMANDS: Mapping[str, _Grammar] = {
    "config": _of(
        "APPLICATION KEY=VALUE ... [--reset KEY]", "application", flags={"--reset": RESET}, pairs=OPTION
    ),
    "add-unit": _of("APPLICATION [-n N]", "application", flags={"-n": "units", "--num-units": "units"}),
    "remove-unit": _of("UNIT", "unit", typed="unit"),
    "remove-application": _of("APPLICATION", "application", typed="application"),
    "expose": _of("APPLICATION", "application"),
    "unexpose": _of("APPLICATION", "application"),
    "integrate": _of("APPLICATION[:ENDPOINT] APPLICATION[:ENDPOINT]", "endpoint", "other"),
    "remove-relation": _of("APPLICATION[:ENDPOINT] APPLICATION[:ENDPOINT]", "endpoint", "other"),
    "refresh": _of(
        "APPLICATION [--revision N] [--channel CHANNEL]",
        "application",
        flags={"--revision": "revision", "--channel": "channel"},
    ),
    "trust": _of("APPLICATION [--remove]", "application", switches={"--remove": "remove"}),
    "attach-storage": _of("UNIT STORAGE", "unit", "storage"),
    "detach-storage": _of("STORAGE", "storage"),
    "resolved": _of("UNIT [--no-retry]", "unit", switches={"--no-retry": "skip"}),
    "run": _of("UNIT ACTION [KEY=VALUE ...]", "unit", "action", pairs=PARAMETER),
}


def page(visit: Visit) -> Content:
    """Return the page with the field for a command line."""
    commands = {name: grammar.usage for name, grammar in COMMANDS.items()}
    values = {"commands": commands, "line": visit.query.get(LINE, "")[:_MOST], "page": "plan"}
    return Content(
        title="Plan a command", command="pushjuju help plan", values=values, document=lambda: commands
    )


def read(line: str) -> dict[str, str]:
    """Return the fields of the form that asks for the same as a command line."""
    words = _words(line)
    name, grammar = words[0], COMMANDS.get(words[0])
    if grammar is None:
        raise NotValid(f'"{name}" is no command that this page plans: it plans {", ".join(COMMANDS)}')
    fields, given = {"change": name}, iter(words[1:])
    arguments = list(_arguments(name, grammar, given, fields))
    pairs = [word for word in arguments[len(grammar.fields) :] if grammar.pairs and "=" in word]
    if len(arguments) != len(grammar.fields) + len(pairs):
        raise NotValid(f"the form of the command is: {name} {grammar.usage}")
    fields |= dict(zip(grammar.fields, arguments, strict=False))
    for word in pairs:
        key, _, value = word.partition("=")
        if name == "config" and value.startswith("@"):
            raise NotValid(f"{word} names a file, which is left to the terminal")
        fields[f"{grammar.pairs}{key}"] = value
    if name == "add-unit":
        fields.setdefault("units", "1")
    if grammar.typed:
        fields["typed"] = fields[grammar.typed]
    return fields


def _words(line: str) -> list[str]:
    try:
        words = shlex.split(line[:_MOST])
    except ValueError:
        raise NotValid("a quotation mark of the command has no end") from None
    if words[:1] in (["pushjuju"], ["juju"]):
        del words[0]
    if not words or len(line) > _MOST:
        raise NotValid("type a command, such as: add-unit web -n 2")
    return words


def _arguments(name: str, grammar: _Grammar, words: Iterator[str], fields: dict[str, str]) -> Iterator[str]:
    """Yield the arguments among words, and put the flags into the fields."""
    for word in words:
        flag, equals, value = word.partition("=")
        if not word.startswith("-"):
            yield word
        elif flag in grammar.switches and not equals:
            fields[grammar.switches[flag]] = "yes"
        elif flag in grammar.flags:
            found = value if equals else next(words, "")
            if not found:
                raise NotValid(f"{flag} of {name} needs a value")
            fields |= _flag_fields(grammar.flags[flag], found)
        else:
            raise NotValid(f"{flag} is no flag that this page plans: {name} {grammar.usage}")


def _flag_fields(field: str, value: str) -> dict[str, str]:
    return {f"{RESET}{key}": "yes" for key in value.split(",")} if field == RESET else {field: value}
