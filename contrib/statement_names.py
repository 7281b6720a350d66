"""Writes pushjuju/store/statement_names.pyi after statements have changed: `make statements`."""

from __future__ import annotations

import textwrap
from pathlib import Path

from pushjuju.store.statements import queries

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "pushjuju" / "store" / "statement_names.pyi"
_HEAD = '''"""The names of all statements, for type checkers alone: a wrong name is a type error.

`make statements` writes this file from the statements in `sql/`.
"""

from typing import Literal

StatementName = Literal[
'''


def text() -> str:
    """Return the new text of the module."""
    names = " ".join(f'"{name}",' for name in sorted(queries()))
    lines = textwrap.wrap(names, 110, initial_indent="    ", subsequent_indent="    ")
    return "\n".join((_HEAD.rstrip("\n"), *lines, "]  # fmt: skip", ""))


if __name__ == "__main__":
    TARGET.write_text(text())
