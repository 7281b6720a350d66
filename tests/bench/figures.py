"""Figures of one run: gathered, shown as one table, kept as JSON."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).parent / "results"  # git-ignored
LIBRARIES = ("asyncssh", "click", "cryptography")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured thing.

    Attributes:
        name: What was measured, as the table shows it.
        unit: Of the samples.
        samples: Every measurement; the table shows their median.
        target: What is asked for, `<= 10`; empty for a figure that is only told.
        note: What a reader must know beside it.
    """

    name: str
    unit: str
    samples: Sequence[float]
    target: str = ""
    note: str = ""

    @property
    def median(self) -> float:
        """The middle sample."""
        return statistics.median(self.samples)

    @property
    def spread(self) -> tuple[float, float]:
        """The samples between which eight in ten lie."""
        ordered = sorted(self.samples)
        last = len(ordered) - 1
        return ordered[round(last * 0.1)], ordered[round(last * 0.9)]

    def document(self) -> dict[str, Any]:
        """Return the figure as JSON."""
        low, high = self.spread
        return {
            "name": self.name,
            "unit": self.unit,
            "median": self.median,
            "min": min(self.samples),
            "p10": low,
            "p90": high,
            "n": len(self.samples),
            "target": self.target,
            "note": self.note,
        }


@dataclass(slots=True)
class Report:
    """The figures of one run."""

    figures: list[Figure] = field(default_factory=list)
    load_before: float = field(default_factory=lambda: os.getloadavg()[0])

    def add(
        self, name: str, samples: Sequence[float], unit: str = "ms", *, target: str = "", note: str = ""
    ) -> Figure:
        """Take a figure in."""
        made = Figure(name=name, unit=unit, samples=tuple(samples), target=target, note=note)
        self.figures.append(made)
        return made

    def table(self) -> str:
        """Return the figures as a table in Markdown."""
        head = ("what", "median", "10 % to 90 %", "n", "target", "note")
        rows = [head, tuple("" for _ in head), *(_row(item) for item in self.figures)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        rows[1] = tuple("-" * width for width in widths)
        lines = ["| " + " | ".join(_padded(row, widths)) + " |" for row in rows]
        return "\n".join(lines)

    def write(self, folder: Path = RESULTS) -> Path:
        """Keep the figures with the machine that they were measured on."""
        folder.mkdir(exist_ok=True)
        path = folder / f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.json"
        document = {
            "machine": describe_machine(),
            "load": [self.load_before, os.getloadavg()[0]],
            "figures": [item.document() for item in self.figures],
        }
        path.write_text(json.dumps(document, indent=1) + "\n")
        return path


def _row(item: Figure) -> tuple[str, ...]:
    low, high = (_number(value) for value in item.spread)
    spread = f"{low} to {high}" if len(item.samples) > 1 else ""
    return (
        item.name,
        f"{_number(item.median)} {item.unit}",
        spread,
        str(len(item.samples)),
        item.target,
        item.note,
    )


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def describe_machine() -> Mapping[str, Any]:
    """Return what the figures depend on."""
    return {
        "cpu": _first("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory_mib": int(_first("/proc/meminfo", "MemTotal").split()[0]) // 1024,
        "kernel": platform.release(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: version(name) for name in LIBRARIES},
        "commit": _git("rev-parse", "--short", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "yardstick_ms": yardstick(),
    }


def yardstick() -> float:
    """Return the median milliseconds of an empty Python process: how fast this machine is now."""
    from tests.bench.processes import wall

    return statistics.median(wall([sys.executable, "-I", "-S", "-c", "pass"], times=10))


def summary(machine: Mapping[str, Any]) -> str:
    """Return the machine in one line."""
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_mib'] / 1024:.0f} GiB, "
        f"Linux {machine['kernel']}, Python {machine['python']}, SQLite {machine['sqlite']}, "
        f"asyncssh {machine['asyncssh']}; `python3 -I -S -c pass` takes {machine['yardstick_ms']:.1f} ms"
    )


def _first(path: str, key: str) -> str:
    for line in Path(path).read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return "unknown"


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip()
