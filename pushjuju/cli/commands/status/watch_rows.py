"""The rows of `status --watch` that a user can choose, and what each key does. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pushjuju.core.values import regex

PAGES = {"enter": "explain", "l": "log", "h": "hooks"}
"""Key -> page about the chosen row."""

_SECTIONS = ("App", "Unit", "Machine")
_COLOURS = regex(r"\x1b\[[0-9;]*m")
_STEP = {"up": -1, "down": 1, "page-up": -10, "page-down": 10, "home": -(10**6), "end": 10**6}
_BACK = ("q", "escape")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the screen shows.

    Attributes:
        chosen: The name of the chosen row, or empty.
        page: The page about the chosen row: `explain`, `log`, `hooks`; empty for the table.
        top: The first line of a page that is shown.
        ended: Whether the user wants to end.
    """

    chosen: str = ""
    page: str = ""
    top: int = 0
    ended: bool = False


def plain(line: str) -> str:
    """Return a line without colours."""
    return _COLOURS.sub("", line)


def rows(lines: Sequence[str]) -> dict[str, int]:
    """Return name -> number of the line, for the applications, units and machines of the table."""
    found: dict[str, int] = {}
    section = ""
    for number, line in enumerate(lines):
        words = plain(line).split()
        if not words:
            section = ""
        elif not section:
            section = words[0]
        elif section in _SECTIONS:
            found.setdefault(words[0].rstrip("*"), number)
    return found


def pressed(view: View, key: str, names: Sequence[str], length: int) -> View:
    """Return what is shown after a key.

    Args:
        names: The names of the rows of the table, from the top.
        length: The number of lines of the page that is shown.
    """
    if view.chosen and key in PAGES:
        return replace(view, page=PAGES[key], top=0)
    if view.page:
        if key in _BACK:
            return replace(view, page="", top=0)
        return replace(view, top=max(min(view.top + _STEP.get(key, 0), length - 1), 0))
    if key == "q":
        return replace(view, ended=True)
    if key == "escape":
        return View()
    return replace(view, chosen=_next(view.chosen, _STEP[key], names)) if key in _STEP and names else view


def _next(chosen: str, step: int, names: Sequence[str]) -> str:
    if chosen not in names:
        return names[0] if step > 0 else names[-1]
    return names[max(min(names.index(chosen) + step, len(names) - 1), 0)]


def visible(view: View, lines: Sequence[str], columns: int, height: int) -> list[str]:
    """Return the lines to draw from the top of the screen; the chosen row is marked, and is among them."""
    if view.page:
        return [
            f"\x1b[7m{f' {view.page} {view.chosen} ':<{columns}}\x1b[0m",
            *wrapped(lines[view.top :], columns),
        ]
    at = rows(lines).get(view.chosen)
    if at is None:
        return list(lines)
    shown = [*lines]
    shown[at] = f"\x1b[7m{plain(lines[at]):<{columns}}\x1b[0m"
    return shown[max(at - height + 2, 0) :]


def wrapped(lines: Iterable[str], columns: int) -> Iterator[str]:
    """Yield lines that fit into the columns; a longer one goes on in the next lines, without colours."""
    for line in lines:
        text = plain(line)
        if len(text) <= columns:
            yield line
        else:
            yield from (text[at : at + columns] for at in range(0, len(text), columns))


def foot(view: View) -> str:
    """Return the line that names the keys."""
    if view.page:
        return "arrows scroll  Enter explain  l log  h hooks  q back"
    return "arrows choose  Enter explain  l log  h hooks  q end"
