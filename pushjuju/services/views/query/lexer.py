"""Splits a query into tokens. Pure. Mirrors: juju cmd/juju/waitfor/query/lexer.go, token.go (3.6)"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from pushjuju.core.values import dataclass, regex
from pushjuju.services.views.query import faults
from pushjuju.services.views.query.faults import Place


class Type(StrEnum):
    """The type of a token; all operators and brackets have the type SYMBOL."""

    IDENT = "IDENT"
    INT = "INT"
    FLOAT = "FLOAT"
    STRING = '""'
    BOOL = "BOOL"
    SYMBOL = "SYMBOL"
    EOF = "EOF"


@dataclass(frozen=True, slots=True)
class Token:
    """A token; the text of a string is without its quotes."""

    type: Type
    text: str
    place: Place

    @property
    def name(self) -> str:
        """The name of the token in errors."""
        return self.text if self.type is Type.SYMBOL else str(self.type)


_TOKEN = regex(
    r"""(?P<space>\s+)
    | (?P<number>\d[\d]*(?:\.(?!\.)\d*)*)
    | (?P<ident>[^\W\d][\w-]*)
    | (?P<string>"[^"\n]*"|'[^'\n]*')
    | (?P<symbol>==|!=|<=|>=|=>|&&|\|\||[=;()\[\],!&|<>.])
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a query; the last one is `EOF`."""
    line, start = 1, 0
    for match in _TOKEN.finditer(text):
        found = match[0]
        place = Place(line, match.start() - start + 1, len(found))
        if match.lastgroup == "space":
            line += found.count("\n")
            start = match.start() + found.rindex("\n") + 1 if "\n" in found else start
        else:
            yield _token(text, match, place)
    yield Token(Type.EOF, "", Place(line, len(text) - start + 1))


def _token(text: str, match: re.Match[str], place: Place) -> Token:
    found = match[0]
    if match.lastgroup == "number":
        return Token(Type.FLOAT if "." in found else Type.INT, found, place)
    if match.lastgroup == "ident":
        return Token(Type.BOOL if found.lower() in ("true", "false") else Type.IDENT, found, place)
    if match.lastgroup == "string":
        return Token(Type.STRING, found[1:-1], place)
    if match.lastgroup == "symbol":
        return Token(Type.SYMBOL, found, place)
    if found in "\"'":
        raise faults.unterminated(text, Place(place.line, place.column, 1))
    raise faults.unexpected(text, place, found)
