"""Record the terminal picture of the README, docs/demo.svg: `python -m contrib.record` writes the file again.

The commands run on simulated machines with a clock of their own, so each run gives the same bytes; a test
compares them with the file. The picture moves by CSS alone, without a script; a reader who
wants no motion sees the last screen.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from tests.world.machine import event, status_event
from tests.world.played_home import PlayedHome

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "demo.svg"
COMMANDS = """\
pushjuju deploy ./contrib/charms/hello-page web
pushjuju status
pushjuju config web greeting=Moin
pushjuju explain web/0
pushjuju resolved web/0     # the disk has room again
pushjuju status
"""
FULL = "lib/hello.sh: line 68: index.html: No space left on device"
PORT = {"endpoint": "", "protocol": "tcp", "from": 8080, "to": 8080}
COLUMNS, ROWS = 108, 22
CHARACTER, LINE, EDGE = 8.0, 18, 14
TYPING_S, READING_S = 1.2, 3.2  # before and after the output of a command


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the terminal, and the second at which the line appears."""

    text: str
    second: float

    @property
    def kind(self) -> str:
        """Return the class of the line in the style sheet."""
        return "p" if self.text.startswith("$ ") else "e" if self.text.startswith("ERROR") else "o"


def main(arguments: list[str]) -> int:
    """Write the picture, or compare the picture with the file (`--check`)."""
    made = picture(list(lines()))
    if "--check" in arguments:
        return int(made != TARGET.read_text(encoding="utf-8"))
    TARGET.write_text(made, encoding="utf-8")
    return 0


def lines() -> Iterator[Line]:
    """Run the commands and yield the lines of the terminal."""
    second = 0.0
    with tempfile.TemporaryDirectory(prefix="pushjuju-record-") as folder:
        home = PlayedHome(Path(folder), Hooks())
        for command in COMMANDS.splitlines():
            yield Line(f"$ {command}", second)
            ended = home(*shlex.split(command, comments=True)[1:])
            second += TYPING_S
            for text in (ended.err + ended.out).splitlines():
                yield Line(text[:COLUMNS], second)
            second += READING_S
            yield Line("", second)


class Hooks:
    """What the charm's hooks do: the second config-changed hook finds a full disk."""

    def __init__(self) -> None:
        self.configured = 0

    def __call__(self, frame: Mapping[str, Any]) -> Mapping[str, Any]:
        self.configured += frame["hook"] == "config-changed"
        if self.configured == 2 and frame["hook"] == "config-changed":
            line = event(1, "log", level="WARNING", module="config-changed", message=FULL)
            return {"outcome": "failed", "exit": 1, "events": [line]}
        events = [status_event(1, "active", "serving on port 8080")]
        return {"events": events, "writes": {"status_set": True, "ports": {"open": [PORT]}}}


def picture(shown: list[Line]) -> str:
    """Return the lines as an SVG file that plays and begins again."""
    total = shown[-1].second + 2
    width, height = round(COLUMNS * CHARACTER) + 2 * EDGE, ROWS * LINE + 2 * EDGE
    seconds = sorted({line.second for line in shown})
    rows = ((seconds.index(line.second), number * LINE, line) for number, line in enumerate(shown, 1))
    texts = "".join(
        f'<text class="{line.kind} t{group}" y="{y}">{escape(line.text)}</text>\n'
        for group, y, line in rows
        if line.text
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">\n'
        "<title>pushjuju deploys a charm, says why a hook failed, and goes on</title>\n"
        f"<style>\n{_style(shown, seconds, total)}</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#16161d"/>\n'
        f'<svg x="{EDGE}" y="{EDGE}" width="{width - 2 * EDGE}" height="{height - 2 * EDGE}">'
        f'<g id="s">\n{texts}</g></svg>\n</svg>\n'
    )


def _style(shown: list[Line], seconds: list[float], total: float) -> str:
    """Return the style sheet: when each group of lines appears, and how far the screen has moved by then."""

    def percent(second: float) -> str:
        return f"{100 * second / total:.2f}%"

    def moved(second: float) -> int:
        return -LINE * max(sum(line.second <= second for line in shown) - ROWS, 0)

    rules = [
        'text{font:13.2px/18px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}',
        "text{white-space:pre;fill:#dcdce4}",
        "text.p{fill:#8fd18f;font-weight:bold}",
        "text.e{fill:#ff8f8f;font-weight:bold}",
        f"#s{{transform:translateY({moved(total)}px)}}",
        "@media (prefers-reduced-motion:no-preference){",
        f"#s{{animation:m {total:.1f}s step-end infinite}}",
        "@keyframes m{0%{transform:translateY(0)}",
        *(f"{percent(at)}{{transform:translateY({moved(at)}px)}}" for at in seconds if moved(at)),
        "}",
    ]
    for number, at in enumerate(seconds):
        rules.append(f".t{number}{{animation:a{number} {total:.1f}s step-end infinite}}")
        rules.append(f"@keyframes a{number}{{0%{{opacity:0}}{percent(at)}{{opacity:1}}}}")
    return "\n".join([*rules, "}", ""])


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
