"""The fleet bench: `python -m tests.bench.fleet --hosts 10,50 --round-trip 0,50`.

Each tool does the same on all hosts at once, as a whole process from its start to its end; processor time and
memory are those of everything that it starts. One run prints one table and keeps it as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.figures import RESULTS, describe_machine, summary
from tests.bench.fleet import tools
from tests.bench.fleet.bed import Bed, bed, require
from tests.bench.fleet.cgroups import Group
from tests.bench.fleet.workload import HOOKS_OF, WORKLOADS, prepare, setting

LIMIT_S = 900.0
FOLDER = Path("/var/tmp/pushjuju-bench")
SLOW = ("ansible", "ansible-mitogen")
MANY = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One run of one tool.

    Attributes:
        controller_ms: Processor time of the controller's side, everything that it spawned included, per host.
        target_ms: Of the hosts, per host.
        peak_mb: Memory of the controller's side at its highest, page cache included.
        load: Of the machine before the run, over a minute: what else used its processors.
    """

    tool: str
    workload: str
    hosts: int
    round_trip_ms: float
    wall_s: float
    controller_ms: float
    target_ms: float
    peak_mb: float
    load: float = 0.0


def measure(made: Bed, command: tools.Command, *, hooks: int, log: Path) -> tuple[float, float, float, float]:
    """Run a command; return wall seconds, processor milliseconds here and there, peak megabytes.

    Raises:
        SystemExit: The command failed, or another number of hooks ran on a host.
    """
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(made.folder / "home"), "LANG": "C.UTF-8",
        "PYTHONPATH": str(tools.ROOT) if "ours.py" in " ".join(command.argv) else "", **command.environ,
    }  # fmt: skip
    for words in command.before:
        subprocess.run(words, env=environ, check=True, capture_output=True)
    time.sleep(command.pause_s)
    made.hooks_that_ran()
    group, there = Group("pjbed-controller"), made.group.cpu_ms()
    begin = time.perf_counter()
    with log.open("ab") as out:
        out.write(f"\n--- {' '.join(command.argv)}\n".encode())
        out.flush()
        done = subprocess.run(
            command.argv, env=environ, cwd=made.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            preexec_fn=group.enter, timeout=LIMIT_S, check=False,
        )  # fmt: skip
    wall = time.perf_counter() - begin
    found = (wall, group.cpu_ms(), made.group.cpu_ms() - there, group.peak_mb())
    ran = made.hooks_that_ran()
    for words in command.after:
        ours = "ours.py" in " ".join(words)
        environ |= {"PYTHONPATH": str(tools.ROOT)}
        subprocess.run(words, env=environ, check=ours, capture_output=True)
    group.kill()
    group.remove()
    if done.returncode:
        raise SystemExit(f"ERROR {command.argv[0]} ended with {done.returncode}; see {log}")
    if set(ran) != {hooks}:
        raise SystemExit(f"ERROR {command.argv[0]} ran {ran} hooks on the hosts, not {hooks} on each")
    return found


def run(options: argparse.Namespace) -> Iterator[Sample]:
    """Yield what was measured, fleet by fleet."""
    for round_trip in options.round_trip:
        for count in options.hosts:
            shutil.rmtree(FOLDER / "data", ignore_errors=True)
            with bed(FOLDER, count, round_trip_ms=round_trip) as made:
                path = setting(made)
                if "pushjuju" in options.tools:
                    tools.set_up(made, path)
                for tool, workload in _plan(options, count):
                    found = _sample(made, path, tool, workload, round_trip)
                    print(
                        f"{tool:16} {workload:8} {count:4} hosts {found.wall_s:7.2f} s "
                        f"{found.controller_ms:7.1f} ms",
                        flush=True,
                    )
                    yield found


def _plan(options: argparse.Namespace, count: int) -> Iterator[tuple[str, str]]:
    """Yield tool and workload in rounds: A B C A B C, so that a slow minute hits all alike."""
    for number in range(options.rounds):
        for workload in options.workloads:
            for tool in options.tools:
                if number and tool in SLOW and count >= MANY:
                    continue  # one run tells enough, and takes minutes
                yield tool, workload


def _sample(made: Bed, path: Path, tool: str, workload: str, round_trip: float) -> Sample:
    load, count = os.getloadavg()[0], len(made.hosts)
    command = tools.TOOLS[tool](made, path, workload)
    found = measure(made, command, hooks=HOOKS_OF[workload], log=FOLDER / "tools.log")
    wall, here, there, peak = found
    return Sample(
        tool=tool, workload=workload, hosts=count, round_trip_ms=round_trip, wall_s=wall,
        controller_ms=here / count, target_ms=there / count, peak_mb=peak, load=load,
    )  # fmt: skip


# --- the table --------------------------------------------------------------------------------------------


def medians(samples: list[Sample]) -> dict[tuple[float, int, str, str], Sample]:
    """Return the middle of each tool's runs, by wall time."""
    found: dict[tuple[float, int, str, str], list[Sample]] = {}
    for item in samples:
        found.setdefault((item.round_trip_ms, item.hosts, item.workload, item.tool), []).append(item)
    return {
        key: Sample(
            tool=key[3], workload=key[2], hosts=key[1], round_trip_ms=key[0],
            **{name: statistics.median(getattr(item, name) for item in items)
               for name in ("wall_s", "controller_ms", "target_ms", "peak_mb", "load")},
        )
        for key, items in found.items()
    }  # fmt: skip


def table(samples: list[Sample]) -> str:
    """Return the figures as tables in Markdown; the ratios are of wall times in the same run."""
    lines: list[str] = []
    middle = medians(samples)
    for round_trip, count, workload in dict.fromkeys(key[:3] for key in middle):
        network = f"{round_trip:g} ms round trip" if round_trip else "LAN"
        lines += [
            "", f"**{WORKLOADS[workload]}, {count} hosts, {network}**", "",
            "| tool | wall s | x floor | x pushjuju | controller ms/host | hosts ms/host | peak MB | load |",
            "|---|---|---|---|---|---|---|---|",
        ]  # fmt: skip
        place = (round_trip, count, workload)
        for key, item in middle.items():
            if key[:3] == place:
                floor, ours = (_ratio(item, middle.get((*place, tool))) for tool in ("floor", "pushjuju"))
                lines.append(
                    f"| {item.tool} | {item.wall_s:.2f} | {floor} | {ours} | {item.controller_ms:.1f} | "
                    f"{item.target_ms:.1f} | {item.peak_mb:.0f} | {item.load:.1f} |"
                )
    return "\n".join(lines)


def _ratio(item: Sample, other: Sample | None) -> str:
    return f"{item.wall_s / other.wall_s:.2f}" if other else ""


def kept(path: Path) -> list[Sample]:
    """Return the samples of an earlier run."""
    return [Sample(**item) for item in json.loads(path.read_text())["samples"]]


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def _words(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=_numbers, default=[10, 100])
    parser.add_argument("--round-trip", type=_numbers, default=[0], help="milliseconds; 0: no delay line")
    parser.add_argument("--tools", type=_words, default=list(tools.TOOLS))
    parser.add_argument("--workloads", type=_words, default=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--again",
        type=Path,
        nargs="+",
        help="kept JSON files: measure nothing, show them as one run",
    )
    options = parser.parse_args()
    if options.again:
        samples = [sample for path in options.again for sample in kept(path)]
        print(table(samples))
        return
    require()
    prepare(FOLDER)
    (FOLDER / "home").mkdir(exist_ok=True)
    tools.install(FOLDER, {tools.NEEDS.get(name, name) for name in options.tools})
    samples = list(run(options))
    machine = describe_machine()
    print(table(samples))
    print(f"\n{summary(machine)}")
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"fleet-{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.json"
    document = {"machine": machine, "samples": [asdict(item) for item in samples]}
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"kept in {path}")


if __name__ == "__main__":
    sys.exit(main())
