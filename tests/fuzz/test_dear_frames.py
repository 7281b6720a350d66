"""What frames cost a controller that are cheap to send and dear to read: measured, at three sizes each."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import pytest

from pushjuju.core import limits
from tests.fuzz import dear
from tests.fuzz.hostile import TIMES

MIB = limits.MIB
LARGEST = 64 * MIB - 64 * limits.KIB if TIMES else 8 * MIB
SIZES = (LARGEST // 16, LARGEST // 4, LARGEST)
PARTS = 6  # tests that share the kinds
READING = 8  # bytes of memory for each byte of the largest frame that is just taken: 512 MiB
KEPT = 1.5 * limits.KEPT  # the bytes that are counted, and what the allocator adds
ROUND = 24 * MIB  # what an attack takes that sends next to nothing
SECONDS = 3.0  # of processor time, whatever is sent


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_dear_to_read_costs_in_proportion_and_has_an_end(part: int) -> None:
    kinds = dear.KINDS[part::PARTS]
    rows = _measured(kinds)
    print("\nsent, processor time, longest step, memory at most, memory afterwards")
    for row in rows:
        print(_line(row))
    told = [(kind, fault) for kind, group in groupby(rows, itemgetter("kind")) for fault in _faults([*group])]
    assert not told
    assert {row["kind"] for row in rows} == set(kinds)


def _measured(kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.fuzz.attacked", *map(str, SIZES)]
    done = subprocess.run(
        command, input="\n".join(kinds), capture_output=True, text=True, timeout=500, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _line(row: dict[str, Any]) -> str:
    seconds = [f"{row[name]:6.2f} s" for name in ("cpu", "longest")]
    amounts = [f"{row[name] / MIB:8.2f} MiB" for name in ("sent", "peak", "kept")]
    return " ".join([f"{row['kind']:<25}", amounts[0], *seconds, *amounts[1:], row["end"]])


def _faults(rows: list[dict[str, Any]]) -> list[str]:
    """Return what is more than it may be."""
    found = [
        f"{larger['cpu']:.2f} s of {larger['size']} bytes"
        for smaller, larger in pairwise(rows)
        # The square would be 16 times as much. What ends otherwise took other steps: SECONDS judges that.
        if larger["cpu"] > 8 * smaller["cpu"] + 0.2 and larger["end"] == smaller["end"]
    ]
    found += [_line(row) for row in rows if row["peak"] > max(READING * row["size"], KEPT) + ROUND]
    found += [_line(row) for row in rows if row["kept"] > KEPT or row["cpu"] > SECONDS]
    found += [_line(row) for row in rows if row["kind"].startswith("UTF") and not row["end"]]
    return found
