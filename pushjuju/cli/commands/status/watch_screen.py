"""`status --watch`: shows a text again and again on the alternate screen of the terminal.

With a terminal at stdin too, keys choose a row of the status and open pages about the row.

Mirrors: juju cmd/juju/status/status.go, with its viewer (3.6)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pushjuju.cli.terminal import keys
from pushjuju.cli.terminal.paint import harmless
from pushjuju.cli.terminal.screen import cut, size
from pushjuju.core.values import regex

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli

_LOOK_S = 0.1  # how often to check the size of the window
_OWN_SCREEN, _OLD_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_FOOT_FROM = 8  # smaller screens have no line for the keys

Once = Callable[[], tuple[str, str]]
Details = Callable[[str, str], str]
Read = Callable[[float], str]
PAGES = {"enter": "explain", "l": "log", "h": "hooks"}
"""Key -> page about the chosen row."""
_SECTIONS = ("App", "Unit", "Machine")
_COLOURS = regex(r"\x1b\[[0-9;]*m")
_STEP = {"up": -1, "down": 1, "page-up": -10, "page-down": 10, "home": -(10**6), "end": 10**6}
_BACK = ("q", "escape")


def watch(cli: Cli, once: Once, seconds: float, details: Details | None = None) -> None:
    """Show a text at intervals until Ctrl-C; a terminal shows it on its alternate screen.

    Args:
        once: A function that returns the text, and the message to show below the text.
        seconds: The pause between two calls of `once`.
        details: A function (page, name of a row) -> text, or None when there are no keys.
    """
    out = cli.console.stdout
    if not out.isatty():
        return _copies(cli, once, seconds)
    with_keys = details is not None and keys.can_read(cli.console.stdin)
    try:
        with _own_screen(cli), _reader(cli, with_keys=with_keys) as read:
            _loop(cli, once, seconds, read, details if with_keys else None)
    except KeyboardInterrupt:
        return None  # Ctrl-C is the regular end
    return None


@contextmanager
def _own_screen(cli: Cli) -> Iterator[None]:
    out = cli.console.stdout
    out.write(_OWN_SCREEN)
    try:
        yield
    finally:
        out.write(_OLD_SCREEN)
        out.flush()


@contextmanager
def _reader(cli: Cli, *, with_keys: bool) -> Iterator[Read]:
    """Give the function that waits for a key: it returns an empty text when no key came in time."""
    if not with_keys:
        yield _no_key
        return
    with keys.reading(cli.console.stdin) as found:
        yield found.read


def _no_key(seconds: float) -> str:
    time.sleep(seconds)
    return ""


def _loop(cli: Cli, once: Once, seconds: float, read: Read, details: Details | None) -> None:
    view = View()
    while not view.ended:
        text = details(view.page, view.chosen) if details and view.page else "".join(once())
        view = _show(cli, harmless(text).splitlines(), seconds, view, read, with_keys=details is not None)


def _copies(cli: Cli, once: Once, seconds: float) -> None:
    while True:
        text, note = once()
        cli.output.text(text)
        if note:
            cli.console.info(note)
        time.sleep(seconds)
        cli.output.text("\n")


def _show(cli: Cli, lines: Sequence[str], seconds: float, view: View, read: Read, *, with_keys: bool) -> View:
    """Draw a text, again when a key or the window changes it; return the view when the next text is due."""
    out, end = cli.console.stdout, time.monotonic() + seconds
    names = [] if view.page else list(rows(lines))
    drawn: tuple[tuple[int, int], View] | None = None
    while (left := end - time.monotonic()) > 0:
        now = size(out)
        if (now, view) != drawn:
            out.write(_drawing(view, lines, *now) if with_keys else frame(lines, *now))
            out.flush()
            drawn = (now, view)
        key = read(min(left, _LOOK_S))
        before, view = view, pressed(view, key, names, len(lines)) if with_keys and key else view
        if view.ended or view.page != before.page:
            return view
    return view


def _drawing(view: View, lines: Sequence[str], columns: int, height: int) -> str:
    """Return the text that draws a view, with the line of keys at the lower edge."""
    if height < _FOOT_FROM:
        return frame(visible(view, lines, columns, height), columns, height)
    shown = visible(view, lines, columns, height - 1)
    foot = f"\x1b[{height};1H\x1b[2m{cut(foot_text(view), columns)}\x1b[0m\x1b[K"
    return frame(shown, columns, height - 1) + foot


def frame(lines: Sequence[str], columns: int, height: int) -> str:
    """Return the text that draws lines over the earlier ones without erasing, so nothing flickers."""
    shown = [cut(line, columns) for line in lines]
    if len(shown) > height:
        left = len(shown) - height + 1
        shown = [*shown[: height - 1], cut(f"... {left} more lines", columns)]
    body = "\x1b[K\r\n".join(shown)
    return f"\x1b[?7l\x1b[H{body}\x1b[K\x1b[J\x1b[?7h"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the screen shows."""

    chosen: str = ""  # the name of the chosen row, or empty
    page: str = ""  # the page about the chosen row: `explain`, `log`, `hooks`; empty for the table
    top: int = 0  # the first line of a page that is shown
    ended: bool = False  # whether the user wants to end


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


def foot_text(view: View) -> str:
    """Return the line that names the keys."""
    if view.page:
        return "arrows scroll  Enter explain  l log  h hooks  q back"
    return "arrows choose  Enter explain  l log  h hooks  q end"
