"""Names, subnets and tables of spaces."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pushjuju.core.errors import PushjujuError, UsageError
from pushjuju.core.names import is_space
from pushjuju.portable.gotypes import Struct
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


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return a table with padded cells, a tab between cells, and a line of blanks at the end.

    Mirrors: gosuri/uitable, which Juju uses only for these tables
    """
    every = [*rows, [""] * len(rows[0])]
    widths = [max(len(row[column]) for row in every) for column in range(len(rows[0]))]
    lines = ("\t".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in every)
    return "".join(f"{line}\n" for line in lines)


def table(spaces: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of `spaces`, with a line for each subnet."""
    rows = [["Name", "Space ID", "Subnets"]]
    for space in spaces:
        first, *rest = sorted(space["subnets"]) or [""]
        rows.append([space["name"], space["id"], first])
        rows.extend(["", "", cidr] for cidr in rest)
    return _aligned(rows)


def names(found: Sequence[str]) -> str:
    """Return the output of `spaces --short`."""
    return "".join(f"{name}\n" for name in ("Space", *sorted(found)))


def moved(item: Mapping[str, str]) -> Struct:
    """Return an entry of `move-to-space` with its keys in Juju's order."""
    return Struct((key, item[key]) for key in ("from", "to", "cidr"))


def moved_lines(found: Sequence[Mapping[str, str]]) -> str:
    """Return a sentence for each subnet that was moved."""
    return "".join(f"Subnet {item['cidr']} moved from {item['from']} to {item['to']}\n" for item in found)


def moved_table(found: Sequence[Mapping[str, str]]) -> str:
    """Return the table of the subnets that were moved."""
    return _aligned([["Space From", "Space To", "CIDR"], *([*item.values()] for item in found)])
