"""The client of a Vault, against a stand-in that speaks its HTTP (`vault_standin.py`), not a real Vault."""

from __future__ import annotations

import pytest

from pushjuju.core.errors import BackendError, NotFound, NotValid
from pushjuju.plugins.backends.vault.client import Vault
from pushjuju.testing.backend_contract import SecretBackendContract
from tests.world.vault import TOKEN, StandIn


def vault(vault_server: StandIn, **more: str) -> Vault:
    return Vault({"endpoint": vault_server.url, "token": TOKEN, **more})


def test_content_is_kept_read_and_deleted(vault_server: StandIn) -> None:
    here = vault(vault_server)
    here.ping()
    here.save("m/s-1", {"token": "YQ=="})
    here.save("m/s-1", {"token": "Yg=="})
    assert here.fetch("m/s-1") == {"token": "Yg=="}
    assert list(vault_server.kept) == ["pushjuju/m/s-1"]
    here.delete("m/s-1")
    here.delete("m/s-1")
    assert vault_server.kept == {}
    with pytest.raises(NotFound):
        here.fetch("m/s-1")


class TestVault(SecretBackendContract):
    """The suite for plugin authors."""

    @pytest.fixture
    def backend(self, vault_server: StandIn) -> Vault:
        """One that is there."""
        return vault(vault_server)

    @pytest.fixture
    def broken(self, vault_server: StandIn) -> Vault:
        """One that is sealed."""
        vault_server.sealed = True
        return vault(vault_server)


DEEP = b"[" * 100_000

FAULTS = [
    ((503, b'{"errors": ["Vault is sealed"]}', {}), "503 Vault is sealed"),
    ((403, b'{"errors": ["permission denied"]}', {}), "403 permission denied"),
    ((500, b"<html>", {}), "500"),
    ((307, b"", {"Location": "http://127.0.0.1:1/steal"}), "307"),
    ((200, b"<html>", {}), "the answer is not a JSON object"),
    ((200, b"[]", {}), "the answer is not a JSON object"),
    ((200, DEEP, {}), "the answer is not a JSON object"),
    ((500, DEEP, {}), "500"),
    ((200, b'{"data": {"data": {"a": 1}}}', {}), "holds no secret of pushjuju"),
]


@pytest.mark.parametrize(("raw", "text"), FAULTS)
def test_a_fault_is_a_sentence_without_the_token(
    vault_server: StandIn, raw: tuple[int, bytes, dict[str, str]], text: str
) -> None:
    vault_server.raw.append(raw)
    with pytest.raises(BackendError) as caught:
        vault(vault_server).fetch("m/s-1")
    assert text in caught.value.message
    assert TOKEN not in str(caught.value.__dict__)
    assert len(vault_server.asked) == 1, "a redirection is not followed: it would take the token along"


def test_nobody_there_is_a_fault(vault_server: StandIn) -> None:
    with pytest.raises(BackendError, match="connection refused"):
        Vault({"endpoint": "http://127.0.0.1:1", "token": TOKEN}).ping()
    with pytest.raises(BackendError, match="403"):
        vault(vault_server, **{"mount-path": "other"}).ping()


@pytest.mark.parametrize("endpoint", ["", "vault:8200", "ftp://vault", "file:///etc/passwd", "http://?x"])
def test_what_is_no_url_is_refused(endpoint: str) -> None:
    with pytest.raises(NotValid, match="endpoint"):
        Vault({"endpoint": endpoint, "token": TOKEN})
