"""Parses names and subnets of spaces."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pushjuju.core.errors import PushjujuError, UsageError
from pushjuju.core.names import is_space
from pushjuju.portable.quote import quote

BAD = "invalid arguments specified: "


def space_name(text: str) -> str:
    if not is_space(text):
        raise UsageError(f"{BAD}{quote(text)} is not a valid space name")
    return text


def name_and_cidrs(args: Sequence[str], *, optional: bool) -> tuple[str, list[str]]:
    """Parse the arguments `NAME CIDR...`."""
    if not args:
        raise UsageError(f"{BAD}space name is required")
    found: list[str] = []
    name = space_name(args[0])
    for text in args[1:]:
        cidr = _cidr(text)
        if cidr in found:
            same = f"duplicate subnet {quote(cidr)} specified"
            raise UsageError(
                BAD + (same if cidr == text else f"subnet {quote(text)} overlaps with {quote(cidr)}")
            )
        found.append(cidr)
    if not found and not optional:
        raise UsageError(f"{BAD}CIDRs required but not provided")
    return name, sorted(found)


def _cidr(text: str) -> str:
    try:
        if "/" not in text:
            raise ValueError
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise UsageError(f"{BAD}{quote(text)} is not a valid CIDR") from None


@contextmanager
def failing_to(what: str) -> Iterator[None]:
    """Put what the command could not do in front of an error's message."""
    try:
        yield
    except PushjujuError as error:
        raise error.prefixed(what) from None
