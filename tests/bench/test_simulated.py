"""A thousand machines that are played, below one real controller: what a hook, a pass and a sweep cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.bench.figures import ROOT, Report

MACHINES = int(os.environ.get("BENCH_MACHINES", "1000"))
SWEPT = 10_000  # units, of the figure about update-status


@pytest.mark.bench
@pytest.mark.timeout(3600)  # three minutes of processor time, on any computer
def test_many_machines(report: Report) -> None:
    found = simulated(MACHINES)
    phases = {phase["name"]: phase for phase in found["phases"]}
    around = f"{found['machines']} played machines, {found['units']} units"
    deploy, sweep = phases["deploy to idle"], phases["update-status sweep"]
    _rate(report, deploy, f"deploy to idle, {around}")
    report.add(
        "bytes out for a hook", [deploy["bytes_out"] / deploy["hooks"]], "B", note="in frames, before SSH"
    )
    report.add("bytes back for a hook", [deploy["bytes_in"] / deploy["hooks"]], "B", note="no output, no log")
    report.add("a look at the queue, nothing due", [phases["nothing due"]["cpu"] * 1000], note=around)
    report.add(
        "every lane looks, nothing to do", [phases["idle pass"]["cpu"] * 1000], target="<= 1000 ms",
        note=f"processor time; {around}",
    )  # fmt: skip
    report.add(
        f"update-status of {SWEPT} units", [sweep["cpu"] / sweep["hooks"] * SWEPT], "s", target="<= 12 s",
        note=f"processor time, from a sweep of {sweep['hooks']}; 12 s in 5 minutes are 4 % of a core",
    )  # fmt: skip
    report.add("one application's config changed", [phases["one change"]["cpu"] * 1000], note="4 hooks")
    report.add("memory of the controller", [deploy["rss"]], "MiB", target="< 300 MiB", note="at its highest")
    each = (sweep["rss"] - found["base_rss"]) * 1024 / found["machines"]
    report.add(
        "... for each machine", [each], "KiB", target="<= 100 KiB", note="with its five units, without SSH"
    )


def _rate(report: Report, phase: dict[str, Any], name: str) -> None:
    rate, wall = phase["hooks"] / phase["cpu"], phase["wall"]
    note = f"of processor time, without SSH; {phase['hooks']} hooks in {wall:.0f} s"
    report.add(f"hooks a second: {name}", [rate], "/s", target=">= 700 /s", note=note)


def simulated(machines: int) -> dict[str, Any]:
    """Return the figures of a process of its own."""
    argv = [sys.executable, "-m", "tests.bench.simulated", "--machines", str(machines)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
