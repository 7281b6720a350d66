"""Plays the console blocks of a page of the docs: its commands run, and print what the page shows.

A line with `$ ` is a command; the lines below are what the command prints on stdout and stderr. `...` stands
for any number of lines. Numbers, ids, times and addresses may differ, and so may the width of columns. A
command may fail only where the page shows `ERROR`; `plan` ends with 2 where there is a difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ANY = "..."
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIES = re.compile(r"\b(?=[0-9a-f.:-]*\d)[0-9a-f.:-]+Z?\b")


@dataclass
class Step:
    """A command of a page, and the lines that the page shows below the command."""

    command: str
    shown: list[str] = field(default_factory=list)

    @property
    def fails(self) -> bool:
        """Return True when the page shows that the command fails, or that a plan has changes."""
        return any(line.startswith(("ERROR", "Plan: ")) for line in self.shown)


def steps(page: Path) -> list[Step]:
    """Return the commands of a page in their order."""
    found: list[Step] = []
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Step(line[2:]))
            else:
                found[-1].shown.append(line)
    for step in found:
        while step.shown and not step.shown[-1]:
            step.shown.pop()  # an empty line before the next command
    return found


def play(page: Path, run: Callable[[str], tuple[int, str]]) -> None:
    """Run the commands of a page.

    Args:
        run: Runs a command line; returns its exit code and what it printed.
    """
    for step in steps(page):
        code, printed = run(step.command)
        assert bool(code) == step.fails, f"$ {step.command}\n{printed}\nexit code {code}"
        if step.shown:
            assert matches(step.shown, printed), f"$ {step.command}\n{printed}\nis not\n" + "\n".join(
                step.shown
            )


def matches(shown: list[str], printed: str) -> bool:
    """Return True when a command printed what a page shows."""
    parts = ["(?:.*\n)*?" if line.strip() == ANY else f"{re.escape(_plain(line))}\n" for line in shown]
    return (
        re.fullmatch("".join(parts), "".join(f"{_plain(line)}\n" for line in printed.splitlines()))
        is not None
    )


def _plain(line: str) -> str:
    """Return a line without what differs from run to run."""
    return " ".join(_VARIES.sub("N", line).split())
