"""Docs, docstrings and CHANGES use the words of docs/style.md; codespell finds no wrong spelling."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from contrib import shape

ROOT = Path(__file__).parents[2]


def test_phrases_that_the_style_page_replaces_become_fewer() -> None:
    wrong = shape.differences("words")
    more = {text.partition(":")[0] for text in wrong if text.endswith(shape.TOO_MANY)}
    places = [
        f"{path}:{line}: {phrase!r}: {shape.phrases()[phrase]}"
        for path, line, phrase in shape.wordings()
        if path in more
    ]
    assert wrong == [], "\n".join([*wrong, *places])


def test_the_style_page_names_phrases_and_what_to_write_instead() -> None:
    assert shape.phrases()["tell whether"] == "Return True when"
    assert all(shape.phrases().values())


def test_spelling() -> None:
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list=revison"]  # so Juju spells one
    command += ["docs", "pushjuju", "state/README.md", *map(str, ROOT.glob("*.md"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "No module named" not in done.stderr, "codespell is missing; `make setup` installs what is new"
    assert done.returncode == 0, done.stdout + done.stderr
