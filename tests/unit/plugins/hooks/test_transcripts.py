"""Sessions of hook tools, compared byte for byte with what Juju 3.6 prints.

Each file of tests/golden/hooktools is a session in one or more runs:

    @ reset                      a new run on the original snapshot
    @ again                      a new run on the same snapshot
    @ live TOOL JSON             say what the controller answers when the tool asks
    @ KEY JSON                   change a value of the snapshot (dots descend)
    @ hook NAME ID [UNIT [APP [DEPARTING]]]   be in a relation hook; "-" for nothing
    $ TOOL ARGS [<<EOF]          call a tool; with <<EOF the lines up to EOF are its stdin
    text                         its stdout
    1> text                      the same, for lines that look otherwise special
    2> text                      its stderr
    rc N                         its exit code, if not 0
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.world import CHECKOUT

SESSIONS = sorted((CHECKOUT / "tests/golden/hooktools").glob("*.txt"))


def _change(context: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for name in parents:
        context = context[name]
    context[last] = value


def _direct(hook: Any, line: str) -> None:
    word, _, rest = line[2:].partition(" ")
    if word == "reset":
        hook.__init__(hook.cwd)
    elif word == "live":
        tool, _, answer = rest.partition(" ")
        hook.known[tool] = json.loads(answer)
    elif word == "again":
        hook.again()
    elif word == "hook":
        words = ["" if part == "-" else part for part in rest.split()]
        hook.in_relation_hook(words[0], int(words[1]), *words[2:])
    else:
        _change(hook.context, word, json.loads(rest))


def _blocks(text: str) -> list[tuple[int, str, list[str]]]:
    """Split a session into (line number, head, lines that follow)."""
    blocks: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(("$ ", "@ ")):
            blocks.append((number, line, []))
        elif blocks and not line.startswith("#"):
            blocks[-1][2].append(line)
    return blocks


def _expected(lines: list[str]) -> tuple[int, str, str]:
    rc, out, err = 0, "", ""
    while lines and not lines[-1]:
        lines.pop()
    for line in lines:
        if line.startswith("2> "):
            err += line[3:] + "\n"
        elif line.startswith("rc "):
            rc = int(line[3:])
        else:
            out += line.removeprefix("1> ") + "\n"
    return rc, out, err


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_session(path: Path, hook: Any) -> None:
    for number, head, follow in _blocks(path.read_text()):
        if head.startswith("@ "):
            _direct(hook, head)
            continue
        command, stdin, lines = head[2:], "", follow
        if command.endswith(" <<EOF"):
            command, end = command[: -len(" <<EOF")], lines.index("EOF")
            stdin, lines = "\n".join(lines[:end]) + "\n", lines[end + 1 :]
        assert hook.line(command, stdin) == _expected(lines), f"{path.name}:{number}: {head}"


def test_there_are_sessions() -> None:
    assert len(SESSIONS) >= 10
