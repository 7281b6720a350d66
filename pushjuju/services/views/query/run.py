"""Evaluates a query over an entity. Pure: the caller's functions read the entity.

Mirrors: juju cmd/juju/waitfor/query/query.go, scope.go, box.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.services.views.query import faults
from pushjuju.services.views.query.parser import Call, Index, Infix, Lambda, Member, Name, Node, Value, parse

Print = Callable[[str], None]


@dataclass(slots=True)
class Asked:
    """The attributes of an entity that a query has read."""

    values: dict[str, object] = field(default_factory=dict)  # identifier -> value
    # identifier -> name of an inner entity -> the attributes that were read of that entity
    within: dict[str, dict[str, Asked]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """An entity over which a query is evaluated."""

    kind: str  # Juju's name for the kind of entity in errors, such as `ApplicationInfo`
    # identifier -> function that reads the value, which is a `Scopes` for inner entities
    values: Mapping[str, Callable[[], Any]]
    asked: Asked  # gets the attributes that the query reads


class Scopes(dict[str, Scope]):
    """The inner entities of an entity: name -> scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closure:
    argument: str
    body: tuple[Node, ...]


class Query:
    """A parsed query."""

    def __init__(self, text: str, out: Print = lambda _text: None) -> None:
        """Parse a query, or raise BadQuery; `out` gets the text that the query prints."""
        self._text = text
        self._out = out
        self._nodes = parse(text)
        self._functions: dict[str, tuple[int, Callable[..., Any]]] = {
            "len": (1, self._len),
            "print": (1, self._print),
            "forEach": (2, self._for_each),
            "startsWith": (2, lambda text, part: self._affix("startsWith", str.startswith, text, part)),
            "endsWith": (2, lambda text, part: self._affix("endsWith", str.endswith, text, part)),
            "int": (1, self._int),
        }
        self._bound: dict[str, object] = {}

    def holds(self, scope: Scope) -> bool:
        """Return True when the first expression of the query is true for an entity."""
        self._bound = {}
        for node in self._nodes:
            return _is_true(self._run(node, scope))
        return False

    # --- nodes --------------------------------------------------------------------------------------------

    def _run(self, node: Node, scope: Scope) -> Any:
        match node:
            case Value():
                return node.value
            case Name():
                return self._bound[node.name] if node.name in self._bound else self._ident(scope, node.name)
            case Infix():
                return self._infix(node, scope)
            case Member():
                return self._member(node, scope)
            case Index():
                return self._index(node, scope)
            case Call():
                return self._call(node, scope)
            case Lambda():
                if not isinstance(node.argument, Name):
                    raise self._fails("argument of a lambda to be a name")
                return _Closure(argument=node.argument.name, body=node.body)

    def _ident(self, scope: Scope, name: str) -> Any:
        read = scope.values.get(name)
        if read is None:
            raise faults.unknown_name(self._text, name, scope.kind, list(scope.values))
        value = read()
        if isinstance(value, Scopes):
            scope.asked.within[name] = {key: inner.asked for key, inner in value.items()}
        else:
            scope.asked.values[name] = value
        return value

    def _infix(self, node: Infix, scope: Scope) -> bool:
        left = self._run(node.left, scope)
        if node.operator in ("&&", "||"):
            return self._logical(node, left, scope)
        right = self._run(node.right, scope)
        if node.operator in ("==", "!="):
            return _equal(left, right) is (node.operator == "==")
        if node.operator in (">", ">="):
            left, right = right, left
        less = _same_kind(left, right) and not isinstance(left, bool) and bool(left < right)
        return less or (node.operator in ("<=", ">=") and _equal(left, right))

    def _logical(self, node: Infix, left: Any, scope: Scope) -> bool:
        """Return the value of `&&` or `||`; the right side is evaluated only when it matters."""
        if not isinstance(left, bool):
            raise faults.not_boolean(self._text, node.place, node.operator)
        if left is (node.operator == "||"):
            return left
        right = self._run(node.right, scope)
        if not isinstance(right, bool):
            raise faults.not_boolean(self._text, node.place, node.operator)
        return right

    def _member(self, node: Member, scope: Scope) -> Any:
        left = self._run(node.left, scope)
        if not isinstance(node.name, Name):
            raise self._fails("name behind a dot to be an identifier")
        if isinstance(left, Scope):
            return self._ident(left, node.name.name)
        if isinstance(left, Mapping):
            return self._entry(left, node.name.name)
        raise self._fails(f"value before .{node.name.name} to be an entity or a map, got {_kind(left)}")

    def _index(self, node: Index, scope: Scope) -> Any:
        left, index = self._run(node.left, scope), self._run(node.index, scope)
        if isinstance(left, Mapping):
            return self._entry(left, index)
        if isinstance(left, Sequence) and not isinstance(left, str):
            if not isinstance(index, int) or isinstance(index, bool):
                raise self._fails(f"index of a list to be an integer, got {_kind(index)}")
            if not 0 <= index < len(left):
                raise self._fails(f"index {index} to be in range of the list")
            return left[index]
        raise self._fails(f"value before [...] to be a map or a list, got {_kind(left)}")

    def _entry(self, found: Mapping[str, Any], key: Any) -> Any:
        if not isinstance(key, str):
            raise self._fails(f"index of a map to be a string, got {_kind(key)}")
        if key not in found:
            raise self._fails(f'index "{key}" to be in the map')
        return found[key]

    # --- functions ----------------------------------------------------------------------------------------

    def _call(self, node: Call, scope: Scope) -> Any:
        if not isinstance(node.function, Name):
            raise self._fails("name of a function to be an identifier")
        name = node.function.name
        if name not in self._functions:
            raise faults.unknown_function(self._text, name, list(self._functions))
        count, function = self._functions[name]
        if len(node.arguments) != count:
            given = len(node.arguments)
            raise self._fails(f"number of arguments for a function call to be {count}, but got: {given}")
        arguments = [self._run(argument, scope) for argument in node.arguments]
        return function(*arguments, scope) if name == "forEach" else function(*arguments)

    def _len(self, value: Any) -> int:
        if isinstance(value, (str, Mapping, list, tuple)):
            return len(value)
        raise self._fails(f"argument of len to be a string, a list or a map, got {_kind(value)}")

    def _print(self, value: Any) -> Any:
        self._out(f"{' '.join(value) if isinstance(value, Scopes) else value}\n")
        return value

    def _for_each(self, values: Any, closure: Any, scope: Scope) -> bool:
        if not isinstance(closure, _Closure):
            raise self._fails(f"second argument of forEach to be a lambda, got {_kind(closure)}")
        if isinstance(values, Mapping):
            each = [values[name] for name in sorted(values, key=natural_key)]
        else:
            each = list(values) if isinstance(values, list) else [values]
        return all(self._apply(closure, value, scope) for value in each)

    def _apply(self, closure: _Closure, value: Any, scope: Scope) -> bool:
        before = self._bound
        self._bound = {**before, closure.argument: value}
        try:
            return _is_true([self._run(node, scope) for node in closure.body][-1])
        finally:
            self._bound = before

    def _affix(self, name: str, has: Callable[[str, str], bool], text: Any, part: Any) -> bool:
        for value in (text, part):
            if not isinstance(value, str):
                raise self._fails(f"arguments of {name} to be strings, got {_kind(value)}")
        return has(text, part)

    def _int(self, value: Any) -> int:
        if not isinstance(value, str):
            raise self._fails(f"argument of int to be a string, got {_kind(value)}")
        try:
            return int(value)
        except ValueError:
            raise self._fails(f'argument of int to be a number, got "{value}"') from None

    def _fails(self, why: str) -> faults.BadQuery:
        return faults.cannot_run(self._text, why)


def _is_true(value: Any) -> bool:
    """Return True when a value counts as true; a number has to be at least 1."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value >= 1
    return isinstance(value, (Scope, _Closure)) or bool(value)


def _same_kind(left: Any, right: Any) -> bool:
    return type(left) is type(right) and isinstance(left, (str, int, float))


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, (Scope, Scopes, _Closure)):
        return False
    return type(left) is type(right) and bool(left == right)


def _kind(value: Any) -> str:
    """Return the name of a value's type in errors."""
    names = {bool: "bool", int: "int64", float: "float64", str: "string", list: "[]string", dict: "map"}
    return names.get(type(value), "map" if isinstance(value, Mapping) else "an entity")
