"""Console blocks of the docs are read as the tests that play them read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world import console


def test_numbers_times_and_addresses_may_differ_and_words_may_not() -> None:
    shown = ["Unit    Address", "web/0*  10.0.0.7", "...", "done at 10:04:12Z"]
    assert console.matches(shown, "Unit    Address\nweb/0*  10.180.198.20\nx\ny\ndone at 16:39:44Z\n")
    assert console.matches(shown, "Unit    Address\nweb/0*  10.180.198.20\ndone at 16:39:44Z\n")
    assert not console.matches(shown, "Unit    Address\ndb/0*  10.0.0.7\ndone at 16:39:44Z\n")
    assert not console.matches(["one"], "one\ntwo\n")


def test_a_command_may_fail_only_where_the_page_shows_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ good\n$ bad\nERROR no\n...\n```\n")
    ran: list[str] = []

    def run(command: str) -> tuple[int, str]:
        ran.append(command)
        return (command == "bad", "ERROR no\nhint\n" if command == "bad" else "words\n")

    console.play(page, run)
    assert ran == ["good", "bad"]
    with pytest.raises(AssertionError, match="exit code 1"):
        console.play(page, lambda _: (1, "ERROR no\n"))
