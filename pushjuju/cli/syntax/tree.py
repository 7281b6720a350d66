"""The tree of commands: a program with its commands, and the context of each call."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Self, TypeVar

T = TypeVar("T")


class _Calls(threading.local):
    """The contexts that a thread has entered, the innermost last."""

    def __init__(self) -> None:
        self.entered: list[Context] = []


_calls = _Calls()


class Context:
    """One call of a command.

    Attributes:
        parent: The call of the program that has the command, or None.
        obj: What the call is about; a command has its parent's.
        params: The values of the flags.
        args: The positional arguments.
        given: Keys of the flags that the command line has.
    """

    def __init__(self, command: Node, parent: Context | None = None, obj: Any = None) -> None:
        self.command = command
        self.parent = parent
        self.obj: Any = parent.obj if obj is None and parent else obj
        self.params: dict[str, Any] = {}
        self.args: list[str] = []
        self.given: frozenset[str] = frozenset()

    def __enter__(self) -> Self:
        _calls.entered.append(self)
        return self

    def __exit__(self, *_error: object) -> None:
        _calls.entered.pop()

    def find_root(self) -> Context:
        """Return the outermost context."""
        return self.parent.find_root() if self.parent else self

    def find_object(self, kind: type[T]) -> T | None:
        """Return the nearest object of a class, or None."""
        if isinstance(self.obj, kind):
            return self.obj
        return self.parent.find_object(kind) if self.parent else None


class Node:
    """A command, or a program with commands."""

    def __init__(self, name: str) -> None:
        self.name = name

    def make_context(
        self, _word: str, args: Sequence[str], parent: Context | None = None, obj: Any = None
    ) -> Context:
        """Parse the words after a name, and return the context to invoke with."""
        context = Context(self, parent, obj)
        with context:
            self.parse_args(context, list(args))
        return context

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Set the flags and the arguments of a context; return the arguments."""
        raise NotImplementedError

    def invoke(self, ctx: Context) -> None:
        """Run what the context asks for."""
        raise NotImplementedError


class Group(Node):
    """A program with commands."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the words of all commands."""
        raise NotImplementedError

    def get_command(self, ctx: Context, cmd_name: str) -> Node | None:
        """Return the command of a word, or None."""
        raise NotImplementedError


def get_current_context() -> Context:
    """Return the innermost context that this thread has entered."""
    return _calls.entered[-1]
