"""`status --watch`: shows a text again and again on the alternate screen of the terminal.

Mirrors: juju cmd/juju/status/status.go, with its viewer (3.6)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from pushjuju.cli.terminal.paint import harmless
from pushjuju.cli.terminal.screen import cut, size

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli

_LOOK_S = 0.1  # how often to check the size of the window
_OWN_SCREEN, _OLD_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"

Once = Callable[[], tuple[str, str]]


def watch(cli: Cli, once: Once, seconds: float) -> None:
    """Show a text at intervals until Ctrl-C; a terminal shows it on its alternate screen.

    Args:
        once: A function that returns the text, and the message to show below the text.
        seconds: The pause between two calls of `once`.
    """
    out = cli.console.stdout
    if not out.isatty():
        return _copies(cli, once, seconds)
    out.write(_OWN_SCREEN)
    try:
        while True:
            _show(cli, once(), seconds)
    except KeyboardInterrupt:
        return None  # Ctrl-C is the regular end
    finally:
        out.write(_OLD_SCREEN)
        out.flush()


def _copies(cli: Cli, once: Once, seconds: float) -> None:
    while True:
        text, note = once()
        cli.output.text(text)
        if note:
            cli.console.info(note)
        time.sleep(seconds)
        cli.output.text("\n")


def _show(cli: Cli, found: tuple[str, str], seconds: float) -> None:
    """Draw a text, again when the window changes, until the next text is due."""
    out, end = cli.console.stdout, time.monotonic() + seconds
    lines = harmless("".join(found)).splitlines()
    drawn: tuple[int, int] | None = None
    while (left := end - time.monotonic()) > 0:
        now = size(out)
        if now != drawn:
            out.write(frame(lines, *now))
            out.flush()
            drawn = now
        time.sleep(min(left, _LOOK_S))


def frame(lines: list[str], columns: int, height: int) -> str:
    """Return the text that draws lines over the earlier ones without erasing, so nothing flickers."""
    shown = [cut(line, columns) for line in lines]
    if len(shown) > height:
        left = len(shown) - height + 1
        shown = [*shown[: height - 1], cut(f"... {left} more lines", columns)]
    body = "\x1b[K\r\n".join(shown)
    return f"\x1b[?7l\x1b[H{body}\x1b[K\x1b[J\x1b[?7h"
