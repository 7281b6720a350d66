"""Splits a query into tokens, and parses these into a tree. Pure.

Mirrors: juju cmd/juju/waitfor/query/lexer.go, token.go, parser.go, ast.go (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias

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


MOST_DEEP = 100  # levels of nested brackets
MOST_LETTERS = 65536
_LOWEST = 0
# Precedence of operators, as in Juju: calls and lambdas bind closer than comparisons, members closest.
_BINDING = {
    "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "(": 5, "=>": 5, "[": 6, ".": 6,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """A number, text or boolean in the query."""

    value: str | int | float | bool
    place: Place


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Infix:
    """An operator between two expressions."""

    operator: str
    left: Node
    right: Node
    place: Place


@dataclass(frozen=True, slots=True)
class Member:
    """`left.name`."""

    left: Node
    name: Node
    place: Place


@dataclass(frozen=True, slots=True)
class Index:
    """`left[index]`."""

    left: Node
    index: Node
    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`."""

    function: Node
    arguments: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Lambda:
    """`argument => body; body`."""

    argument: Node
    body: tuple[Node, ...]
    place: Place


Node: TypeAlias = Value | Name | Infix | Member | Index | Call | Lambda


def parse(text: str) -> tuple[Node, ...]:
    """Return the expressions of a query, which `;` separates."""
    if len(text) > MOST_LETTERS:
        raise faults.BadQuery(f"the query is longer than {MOST_LETTERS} letters")
    return _Parser(text).run()


class _Parser:
    """Parses with one token of look-ahead; each `_parse` leaves its own last token as the current token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._now = next(self._tokens)
        self._depth = 0

    def run(self) -> tuple[Node, ...]:
        found = []
        while self._now.type is not Type.EOF:
            found.append(self._expression(_LOWEST))
            if self._is(";"):
                self._take()
        return tuple(found)

    # --- tokens -------------------------------------------------------------------------------------------

    def _take(self) -> Token:
        taken = self._now
        if taken.type is not Type.EOF:
            self._now = next(self._tokens)
        return taken

    def _is(self, symbol: str) -> bool:
        return self._now.type is Type.SYMBOL and self._now.text == symbol

    def _expect(self, symbol: str) -> None:
        if not self._is(symbol):
            raise faults.expected(self._text, self._now.place, symbol)
        self._take()

    # --- expressions --------------------------------------------------------------------------------------

    def _expression(self, above: int) -> Node:
        self._depth += 1
        if self._depth > MOST_DEEP:
            raise faults.BadQuery("Cannot parse query: brackets are nested too deeply.")
        left = self._first()
        while self._now.type is Type.SYMBOL and above < _BINDING.get(self._now.text, _LOWEST):
            left = self._behind(left, self._take())
        self._depth -= 1
        return left

    def _first(self) -> Node:
        token = self._take()
        if token.type is Type.IDENT:
            return Name(token.text, token.place)
        if token.type is Type.STRING:
            return Value(token.text, token.place)
        if token.type is Type.BOOL:
            return Value(token.text.lower() == "true", token.place)
        if token.type in (Type.INT, Type.FLOAT):
            return self._number(token)
        if token.type is Type.SYMBOL and token.text == "(":
            inner = self._expression(_LOWEST)
            self._expect(")")
            return inner
        if token.type is Type.EOF:
            raise faults.expected(self._text, token.place, "an expression")
        raise faults.unexpected(self._text, token.place, token.text[:1])

    def _number(self, token: Token) -> Node:
        try:
            value = int(token.text) if token.type is Type.INT else float(token.text)
        except ValueError:
            raise faults.expected(self._text, token.place, str(token.type)) from None
        if isinstance(value, int) and value >= 1 << 63:
            raise faults.expected(self._text, token.place, str(token.type))
        return Value(value, token.place)

    def _behind(self, left: Node, token: Token) -> Node:
        """Return the expression of a left side and the operator after it."""
        if token.text == ".":
            return Member(left, self._expression(_BINDING["."]), token.place)
        if token.text == "[":
            index = self._expression(_LOWEST)
            self._expect("]")
            return Index(left, index, token.place)
        if token.text == "(":
            return Call(left, self._arguments(), token.place)
        if token.text == "=>":
            return Lambda(left, self._body(), token.place)
        return Infix(token.text, left, self._expression(_BINDING[token.text]), token.place)

    def _arguments(self) -> tuple[Node, ...]:
        if self._is(")"):
            self._take()
            return ()
        found = [self._expression(_LOWEST)]
        while self._is(","):
            self._take()
            found.append(self._expression(_LOWEST))
        self._expect(")")
        return tuple(found)

    def _body(self) -> tuple[Node, ...]:
        found = [self._expression(_LOWEST)]
        while self._is(";"):
            self._take()
            found.append(self._expression(_LOWEST))
        return tuple(found)
