"""Finds the lines of build scripts (`override-build`) that a build with wheels can leave out. Pure.

Packages are installed as wheels, so neither a compiler nor the tool that fetches packages is needed. A script
with any other line has to run, or is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pushjuju.core.values import dataclass, regex

DEFAULT = "craftctl default"
# A part with such a name installs the tool of a plugin (`poetry-deps`). Mirrors: craft-parts plugins
TOOL_PART = regex(r"(?P<tool>poetry|uv|python)-deps")

_WHEELS = "packages are installed as wheels"
_COMMENT = regex(r"(?:^|\s+)#.*$")
_NOTHING = regex(rf"{DEFAULT}|set [-+][\w\s-]*")
# These patterns match no quotes, substitutions, pipes or further commands, so nothing else can run.
_RUSTUP = r"rustup(?:\s+[\w.@=+/:-]+)*"
_INSTALLS = (
    r"(?:snap\s+install|apt(?:-get)?\s+install)(?:\s+-[\w-]+)*\s+(?:rustup|rustc|cargo)(?:\s+-[\w-]+)*"
)
_POINTLESS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(f"{_RUSTUP}|{_INSTALLS}"), _WHEELS),
    (
        re.compile(r'cp\s+requirements\.txt\s+"?\$\{?CRAFT_PART_INSTALL\}?(?:/(?:requirements\.txt)?)?"?'),
        "the copy is for information only",
    ),
)
_VERSION = regex(r'git\s+describe(?:\s+--[\w-]+)*\s*>\s*"?\$\{?CRAFT_PART_INSTALL\}?/version"?')
_UV_EXPORT = ["uv", "export"]
_UV_FLAGS = frozenset(
    {
        "--frozen", "--locked", "--no-dev", "--no-default-groups", "--no-hashes", "--no-emit-project",
        "--no-editable", "--quiet", "-q", "--format", "requirements-txt", "requirements.txt",
    }
)  # fmt: skip
# An `if` may test names and variables; it cannot run a command.
_OPENS = regex(r"if\s+\[\[?\s[\w\s\"'$@:.*=!|{}/-]+\s\]\]?(?:\s*;\s*then)?")
_TURNS, _CLOSES = ("then", "else"), "fi"


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of `judge` for a script."""

    left_out: tuple[tuple[str, str], ...] = ()  # each line that can be left out, and the reason
    exported: tuple[str, ...] = ()  # the files that the script would write from `uv.lock`
    needed: bool = False  # True when the script has other lines, so that it must run


def judge(text: str, *, python: bool) -> Judged:
    """Return which lines of a script can be left out.

    Args:
        python: True when `craftctl default` in the script installs Python packages.
    """
    lines = [" ".join(_COMMENT.sub("", line).split()) for line in text.splitlines()]
    depth, default = 0, False
    left_out: list[tuple[str, str]] = []
    exported: list[str] = []
    for line in filter(None, lines):
        if _OPENS.fullmatch(line):
            depth += 1
        elif depth and line in _TURNS:
            continue
        elif depth and line == _CLOSES:
            depth -= 1
        elif _NOTHING.fullmatch(line) and (line != DEFAULT or not depth):
            default = default or line == DEFAULT
        elif python and not depth and (file := _exported(line)):
            exported.append(file)
            left_out.append((line, "the packages of uv.lock are installed"))
        elif reason := _reason(line, python=python):
            left_out.append((line, reason))
        else:
            return Judged(needed=True)
    return Judged(tuple(left_out), tuple(exported), needed=bool(depth) or not default)


def _exported(line: str) -> str:
    """Return the file that a line writes from `uv.lock`; empty for any other line.

    A line that also exports development groups does not match: those packages are not installed here.
    """
    words = line.replace("=", " ").replace(">", " -o ").replace("--output-file", "-o").split()
    flags, _, file = " ".join(words[2:]).partition("-o ")
    file, *more = file.split() or [""]
    given = {*flags.split(), *more}
    known = words[:2] == _UV_EXPORT and given <= _UV_FLAGS and given & {"--no-dev", "--no-default-groups"}
    return file if known and re.fullmatch(r"[\w.-]+", file) else ""


def _reason(line: str, *, python: bool) -> str:
    """Return why a line can be left out; empty when no reason is known."""
    if _VERSION.fullmatch(line):
        return "the version is written in the way of Juju's client"
    return next((reason for form, reason in _POINTLESS if python and form.fullmatch(line)), "")


def brings_tool(name: str, plugin: str, plugins: Iterable[str]) -> bool:
    """Return True for a part that only installs the tool which the plugin of another part uses."""
    match = TOOL_PART.fullmatch(name)
    return match is not None and plugin == "nil" and match["tool"] in plugins
