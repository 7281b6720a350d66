"""`.jujuignore`: which files stay out of a packed charm. Mirrors: juju/charm jujuignore.go."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pushjuju.core.errors import InvalidCharm
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote

FILE = ".jujuignore"
BUILT_IN = (".git", ".svn", ".hg", ".bzr", ".tox", "/build/", "/revision", "/version", ".jujuignore")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of the file: a pattern, and whether a match leaves a file out or takes the file in again."""

    pattern: re.Pattern[str]
    ignore: bool
    directories_only: bool


def parse_rules(lines: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules of a `.jujuignore`, in order."""
    rules = []
    for number, line in enumerate(lines, 1):
        try:
            rule = _rule(line)
        except ValueError as error:
            raise InvalidCharm(f'parsing "{FILE}" file: [line {number}]: {error}', file=FILE) from None
        if rule:
            rules.append(rule)
    return tuple(rules)


def built_in_rules() -> tuple[Rule, ...]:
    """Return the rules that apply to every charm."""
    return parse_rules(BUILT_IN)


def ignored(rules: Iterable[Rule], path: str, *, is_dir: bool) -> bool:
    """Return True when a path is left out of the archive; the last rule that matches decides.

    Args:
        rules: Built-in rules, then the charm's.
        path: The path relative to the charm's root, with `/`.
        is_dir: True for a directory. The caller does not look into an ignored directory.
    """
    out = False
    for rule in rules:
        if (is_dir or not rule.directories_only) and rule.pattern.fullmatch(path):
            out = rule.ignore
    return out


def _rule(line: str) -> Rule | None:
    text = _strip(line)
    if not text or text.startswith("#"):
        return None
    ignore = not text.startswith("!")
    text = text if ignore else text[1:]
    directories = text.endswith("/")
    text = text.rstrip("/")
    anchored = text.startswith("/")
    text = text.lstrip("/")
    if not text:
        raise ValueError(f"empty pattern {quote(line.strip())}")
    start = "" if anchored or text.startswith("**/") else "(?:.*/)?"
    return Rule(
        pattern=re.compile(start + _translate(text), re.DOTALL), ignore=ignore, directories_only=directories
    )


def _strip(line: str) -> str:
    """Return a line without leading and trailing blanks; a blank after a backslash stays."""
    text = line.rstrip("\r\n").lstrip(" \t")
    while text and text[-1] in " \t" and not text.endswith("\\ "):
        text = text[:-1]
    return text


def _translate(pattern: str) -> str:
    out, at = [], 0
    while at < len(pattern):
        part, at = _token(pattern, at)
        out.append(part)
    return "".join(out)


def _token(pattern: str, at: int) -> tuple[str, int]:
    char = pattern[at]
    if pattern.startswith("**/", at):
        return "(?:.*/)?", at + 3
    if pattern.startswith("**", at):
        return ".*", at + 2
    if char == "*":
        return "[^/]*", at + 1
    if char == "?":
        return "[^/]", at + 1
    if char == "[":
        return _char_class(pattern, at)
    if char == "\\":
        if at + 1 == len(pattern):
            raise ValueError(f"trailing backslash in pattern {quote(pattern)}")
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(char), at + 1


def _char_class(pattern: str, at: int) -> tuple[str, int]:
    end = pattern.find("]", at + 2)
    if end < 0:
        raise ValueError(f"unterminated character class in pattern {quote(pattern)}")
    body = pattern[at + 1 : end]
    negated = body[0] in "!^"
    body = body[1:] if negated else body
    escaped = body.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("^", "\\^")
    text = f"(?!/)[{'^' if negated else ''}{escaped}]"
    try:
        re.compile(text)
    except re.error:
        raise ValueError(f"bad character class in pattern {quote(pattern)}") from None
    return text, end + 1
