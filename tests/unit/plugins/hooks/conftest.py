"""A hook whose tools tests call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world.hook_run import HookRun


@pytest.fixture
def hook(tmp_path: Path) -> HookRun:
    """A hook of unit web/0, leader of its application."""
    return HookRun(tmp_path)
