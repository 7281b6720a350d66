#!/usr/bin/env python3
"""Print what CHANGES.md says about a version, or fail: `contrib/notes.py 0.1.0`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGES = Path(__file__).resolve().parent.parent / "CHANGES.md"


def notes(version: str, text: str) -> str:
    """Return the part of the changes about a version; empty when there is none."""
    found = re.search(rf"^## {re.escape(version)}(?: .*)?\n([\s\S]*?)(?=^## |\Z)", text, re.MULTILINE)
    return found[1].strip() if found else ""


if __name__ == "__main__":
    found = notes(sys.argv[1], CHANGES.read_text(encoding="utf-8"))
    print(found or sys.exit(f"ERROR CHANGES.md has no part about {sys.argv[1]}"))
