"""The figures of a run as a picture. matplotlib gets an environment of its own, like the peers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

DRAW = """
import json, sys
import matplotlib
matplotlib.use("svg" if sys.argv[2].endswith(".svg") else "agg")
import matplotlib.pyplot as plt
charts = json.load(sys.stdin)
across = min(3, len(charts))
down = -(-len(charts) // across)
figure, axes = plt.subplots(down, across, figsize=(4.6 * across, 2.9 * down), squeeze=False)
spots = [axis for row in axes for axis in row]
for axis in spots[len(charts):]:
    axis.axis("off")
for axis, chart in zip(spots, charts):
    names = [bar["tool"] for bar in chart["bars"]][::-1]
    values = [bar["wall_s"] for bar in chart["bars"]][::-1]
    bars = axis.barh(names, values, color=["#c2410c" if name == "pushjuju" else "#94a3b8" for name in names])
    axis.bar_label(bars, [f" {value:.2f} s" for value in values], fontsize=8)
    axis.set_title(chart["title"], fontsize=9)
    axis.set_xlabel("wall seconds", fontsize=8)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(x=0.2)
figure.tight_layout()
figure.savefig(sys.argv[2], dpi=110)
"""


def plot(folder: Path, title: str, bars: dict[str, list[tuple[str, float]]], target: Path) -> None:
    """Draw one chart for each title: tool and wall seconds.

    Args:
        folder: Where environments live.
        title: Of the whole; kept in the file's metadata only.
        bars: Title of a chart -> its bars.
        target: PNG file.
    """
    venv = folder / "peers" / "plot"
    if not (venv / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        pip = [
            venv / "bin" / "python",
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "matplotlib",
        ]
        subprocess.run(pip, check=True)
        (venv / "done").touch()
    charts = [
        {"title": name, "bars": [{"tool": tool, "wall_s": wall} for tool, wall in items]}
        for name, items in bars.items()
    ]
    draw = [venv / "bin" / "python", "-c", DRAW, title, target]
    subprocess.run(draw, input=json.dumps(charts), text=True, check=True)
