"""Reads TOML of unknown authors: within limits, with one kind of error."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from pushjuju.core.values import regex

MOST = 16 * 1024 * 1024  # characters; the lock file of a large project has some millions
DEPTH = 64  # nested brackets, and names in a key; the time of Python's reader grows with their square
# Comments and texts; an unclosed one runs to the end, so the pattern looks at each character once. Without
# lookaheads: before 3.11.4, Python goes on behind what a lookahead in a possessive repetition has read.
_TEXTS = regex(
    r"#[^\n]*+"
    r'|"""(?:[^"\\]|\\.|"[^"\\]|""[^"\\]|"\\.|""\\.)*+(?:"{3,5}|"{0,2}\Z)'
    r"|'''(?:[^']|'[^']|''[^'])*+(?:'{3,5}|'{0,2}\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+(?:"|\n|\Z)'
    r"|'[^'\n]*+(?:'|\n|\Z)",
    re.DOTALL,
)
_NAMES = regex(r"[\w\-. \t]+")
_BRACKETS = regex(r"[\[\]{}]")


class TomlFault(ValueError):
    """A document is not TOML or exceeds the limits; the text says where."""


def load_toml(text: str) -> dict[str, Any]:
    """Return the data of a TOML document.

    Raises:
        TomlFault: The document is not TOML, or exceeds the limits.
    """
    if len(text) > MOST:
        raise TomlFault(f"it is larger than {MOST} characters")
    bare = _TEXTS.sub("t", text)
    if _depth(bare) > DEPTH or any(names.count(".") >= DEPTH for names in _NAMES.findall(bare)):
        raise TomlFault(f"it is nested more than {DEPTH} levels deep")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TomlFault(f"it is nested more than {DEPTH} levels deep") from None
    except ValueError as error:  # also raised for a number with more digits than Python reads
        raise TomlFault(str(error)) from None


def _depth(bare: str) -> int:
    """Return the depth of nested brackets, of any kind."""
    depth = most = 0
    for bracket in _BRACKETS.findall(bare):
        depth += 1 if bracket in "[{" else -1
        most = max(most, depth)
    return most
