"""What the tests of machine workers share: storage that is played."""

from __future__ import annotations

import pytest

from tests.world.storage import PlayedStorage, play_mounts


@pytest.fixture
def ground(monkeypatch: pytest.MonkeyPatch) -> PlayedStorage:
    """What machines and the cloud hold of storage: nothing yet."""
    return play_mounts(monkeypatch)
