"""Helpers for tests of printed texts: a fixed time, and the comparison with golden files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

Golden = Callable[[str, str], None]  # compares a text with the golden file of a name
NINE = datetime(2025, 3, 1, 9, 0, 0, tzinfo=UTC)


@contextmanager
def in_utc(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Print times in UTC during the block; the block's end undoes all of `patch`."""
    patch.setenv("TZ", "UTC")
    time.tzset()
    yield
    patch.undo()
    time.tzset()
