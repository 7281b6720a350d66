"""What the tests of printed texts share: the moment of printing, and the comparison with files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

Golden = Callable[[str, str], None]  # compares the file of a name with a text
NINE = datetime(2025, 3, 1, 9, 0, 0, tzinfo=UTC)


@contextmanager
def in_utc(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let times be printed in UTC; what was patched meanwhile is undone with it."""
    patch.setenv("TZ", "UTC")
    time.tzset()
    yield
    patch.undo()
    time.tzset()
