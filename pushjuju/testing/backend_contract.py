"""The contract suite for backends that keep the content of secrets.

from pushjuju.testing.backend_contract import SecretBackendContract

class TestMine(SecretBackendContract):
    @pytest.fixture
    def backend(self):
        return MyBackend(...)

    @pytest.fixture
    def broken(self):
        return MyBackend(...)  # cannot be reached
"""

from __future__ import annotations

import pytest

from pushjuju.core.errors import BackendError, NotFound
from pushjuju.plugins.api.backends import SecretBackend

PATH = "8f14e45f-ceea-467f-9575-6a9b3f0a1c11/d0abc0000000000000a0-1"
FIRST, SECOND = {"token": "YQ==", "raw": "AP8="}, {"token": "Yg=="}


class SecretBackendContract:
    """The suite; a subclass adds the fixtures `backend` and `broken`."""

    def test_it_says_that_it_is_there(self, backend: SecretBackend) -> None:
        """A backend that works raises no error."""
        backend.ping()

    def test_what_is_saved_is_fetched(self, backend: SecretBackend) -> None:
        """The bytes that come back are those that were saved."""
        backend.save(PATH, FIRST)
        assert dict(backend.fetch(PATH)) == FIRST

    def test_saving_again_replaces_all(self, backend: SecretBackend) -> None:
        """A save that is repeated after a crash does no harm, and old keys do not stay."""
        backend.save(PATH, FIRST)
        backend.save(PATH, SECOND)
        backend.save(PATH, SECOND)
        assert dict(backend.fetch(PATH)) == SECOND

    def test_paths_do_not_touch_each_other(self, backend: SecretBackend) -> None:
        """Revision 1 and revision 11 do not share a path."""
        backend.save(PATH, FIRST)
        backend.save(f"{PATH}1", SECOND)
        backend.delete(PATH)
        assert dict(backend.fetch(f"{PATH}1")) == SECOND

    def test_what_is_deleted_is_gone(self, backend: SecretBackend) -> None:
        """A delete may be repeated; deleted content cannot be fetched."""
        backend.save(PATH, FIRST)
        backend.delete(PATH)
        backend.delete(PATH)
        with pytest.raises(NotFound):
            backend.fetch(PATH)

    def test_one_that_is_away_says_so(self, broken: SecretBackend) -> None:
        """When the backend is down, every method raises the error that is retried, without secret content."""
        for call in (
            broken.ping,
            lambda: broken.save(PATH, FIRST),
            lambda: broken.fetch(PATH),
            lambda: broken.delete(PATH),
        ):
            with pytest.raises(BackendError) as caught:
                call()
            assert FIRST["raw"] not in str(caught.value)
