"""The terminal picture of the README shows what pushjuju prints today."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from contrib import record

ROOT = Path(__file__).parents[2]


def test_the_picture_is_what_the_commands_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert record.main(["--check"]) == 0, "`python -m contrib.record` draws docs/demo.svg anew"


def test_the_picture_is_small_and_runs_no_script() -> None:
    text = record.TARGET.read_text(encoding="utf-8")
    assert len(text) < 150_000
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}
    assert tags == {"svg", "title", "style", "rect", "g", "text"}
    assert "prefers-reduced-motion" in text


def test_the_readme_has_the_picture_in_its_first_screen_and_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    (place,) = [number for number, line in enumerate(lines) if re.match(r"!\[.+\]\(docs/demo\.svg\)", line)]
    assert place < 10
