"""What the scripts of parts (`override-build`) do that is pointless here, so that it can be left out. Pure.

Packages come as wheels, so no compiler is wanted, nor the tool that would have fetched them. What is not
known to be pointless is never guessed at: such a script has to run, or is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

DEFAULT = "craftctl default"
# Parts with these names bring a plugin its tool (`poetry-deps`). Mirrors: craft-parts plugins
TOOL_PART = re.compile(r"(?P<tool>poetry|uv|python)-deps")

_WHEELS = "packages come as wheels"
_COMMENT = re.compile(r"(?:^|\s+)#.*$")
_NOTHING = re.compile(rf"{DEFAULT}|set [-+][\w\s-]*")
# No word of these can run anything else: no quotes, substitutions, pipes or further commands.
_RUSTUP = r"rustup(?:\s+[\w.@=+/:-]+)*"
_INSTALLS = (
    r"(?:snap\s+install|apt(?:-get)?\s+install)(?:\s+-[\w-]+)*\s+(?:rustup|rustc|cargo)(?:\s+-[\w-]+)*"
)
_POINTLESS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(f"{_RUSTUP}|{_INSTALLS}"), _WHEELS),
    (
        re.compile(r'cp\s+requirements\.txt\s+"?\$\{?CRAFT_PART_INSTALL\}?(?:/(?:requirements\.txt)?)?"?'),
        "it is a list for people",
    ),
)
_VERSION = re.compile(r'git\s+describe(?:\s+--[\w-]+)*\s*>\s*"?\$\{?CRAFT_PART_INSTALL\}?/version"?')
_UV_EXPORT = ["uv", "export"]
_UV_FLAGS = frozenset(
    {
        "--frozen", "--locked", "--no-dev", "--no-default-groups", "--no-hashes", "--no-emit-project",
        "--no-editable", "--quiet", "-q", "--format", "requirements-txt", "requirements.txt",
    }
)  # fmt: skip
# A test may look at names and variables; it runs nothing.
_OPENS = re.compile(r"if\s+\[\[?\s[\w\s\"'$@:.*=!|{}/-]+\s\]\]?(?:\s*;\s*then)?")
_TURNS, _CLOSES = ("then", "else"), "fi"


@dataclass(frozen=True, slots=True)
class Judged:
    """What there is in a script.

    Attributes:
        left_out: Each line that is not run, with the reason.
        exported: The files that the script would write from `uv.lock`.
        needed: Whether there is more, which has to run.
    """

    left_out: tuple[tuple[str, str], ...] = ()
    exported: tuple[str, ...] = ()
    needed: bool = False


def judge(text: str, *, python: bool) -> Judged:
    """Return what of a script can be left out.

    Args:
        python: Whether `craftctl default` in it installs packages of Python.
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
    """Return the file that a line writes from `uv.lock`; empty for another line.

    With development groups there would be more in the file than what is installed here.
    """
    words = line.replace("=", " ").replace(">", " -o ").replace("--output-file", "-o").split()
    flags, _, file = " ".join(words[2:]).partition("-o ")
    file, *more = file.split() or [""]
    given = {*flags.split(), *more}
    known = words[:2] == _UV_EXPORT and given <= _UV_FLAGS and given & {"--no-dev", "--no-default-groups"}
    return file if known and re.fullmatch(r"[\w.-]+", file) else ""


def _reason(line: str, *, python: bool) -> str:
    """Return why a line is pointless; empty when it is not known to be."""
    if _VERSION.fullmatch(line):
        return "the version is written as Juju's client does"
    return next((reason for form, reason in _POINTLESS if python and form.fullmatch(line)), "")


def brings_tool(name: str, plugin: str, plugins: Iterable[str]) -> bool:
    """Return True for a part that only brings the tool of a plugin that other parts use."""
    match = TOOL_PART.fullmatch(name)
    return match is not None and plugin == "nil" and match["tool"] in plugins
