"""What `status --watch` draws."""

from __future__ import annotations

from pushjuju.cli.commands.status.watch_screen import frame


def _plain(text: str) -> list[str]:
    for code in ("\x1b[?7l\x1b[H", "\x1b[?7h", "\x1b[J", "\x1b[K"):
        text = text.replace(code, "")
    return text.split("\r\n")


def test_lines_are_written_over_those_of_before() -> None:
    text = frame(["one", "two"], 80, 24)
    assert text == "\x1b[?7l\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J\x1b[?7h"
    assert "\x1b[2J" not in text


def test_what_does_not_fit_is_counted() -> None:
    lines = [f"line {number}" for number in range(10)]
    assert _plain(frame(lines, 80, 4)) == ["line 0", "line 1", "line 2", "... 7 more lines"]
    assert _plain(frame(lines, 4, 10)) == ["line"] * 10
    assert _plain(frame(lines, 10, 2)) == ["line 0", "... 9 more"]


def test_nothing_is_an_empty_screen() -> None:
    assert _plain(frame([], 80, 24)) == [""]
