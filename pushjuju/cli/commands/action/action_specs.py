"""Checks the application name of commands about actions."""

from __future__ import annotations

from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote


def application_of(args: tuple[str, ...]) -> str:
    if not is_application(args[0]):
        raise UsageError(f"invalid application name {quote(args[0])}")
    return args[0]
