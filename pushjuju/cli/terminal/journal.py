"""Priorities of lines that the journal of systemd stores: `<3>` before a line. Mirrors: sd-daemon(3)"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

_PRIORITIES = {"DEBUG": 7, "INFO": 6, "WARN": 4, "ERROR": 3}


def stores(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Return True when a stream goes to the journal: `JOURNAL_STREAM` has its device and inode, `8:1234`."""
    wanted = env.get("JOURNAL_STREAM", "")
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError):  # a stream without a file
        return False
    return wanted == f"{found.st_dev}:{found.st_ino}"


def marked(text: str, severity: str) -> str:
    """Return text whose lines have the priority of a severity: `DEBUG`, `INFO`, `WARN` or `ERROR`."""
    return "".join(f"<{_PRIORITIES[severity]}>{line}" for line in text.splitlines(keepends=True))
