"""Formats network spaces. Pure. Mirrors: juju cmd/juju/space list.go, move.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.portable.gotypes import Struct


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
