"""Backends for secrets and the key on the command line; the Vault is a stand-in, not a real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushjuju.cli.work import drive
from tests.world.commandline import Run
from tests.world.vault import TOKEN, StandIn, running


@pytest.fixture(autouse=True)
def driven(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Take the place of the drive."""
    calls: list[str] = []
    monkeypatch.setattr(drive, "settle", lambda *_, **__: calls.append("settle"))
    monkeypatch.setattr(drive, "background", lambda *_, **__: calls.append("background"))
    return calls


@pytest.fixture
def lab(run: Run) -> Run:
    """A controller with a model."""
    assert run("bootstrap", "local", "home").status == 0
    assert run("add-model", "shop").status == 0
    return run


def test_a_backend_from_its_addition_to_its_removal(
    lab: Run, vault_server: StandIn, tmp_path: Path, driven: list[str]
) -> None:
    (tmp_path / "vault.yaml").write_text(f"endpoint: {vault_server.url}\ntoken: {TOKEN}\n")
    done = lab("add-secret-backend", "myvault", "vault", "--config", "vault.yaml")
    assert (done.status, done.out, done.err) == (0, "", "")
    table = [line.split() for line in lab("secret-backends").out.splitlines()]
    assert table == [
        ["Name", "Type", "Secrets", "Message"],
        ["internal", "controller", "0"],
        ["myvault", "vault", "0"],
    ]
    shown = json.loads(lab("show-secret-backend", "myvault", "--format", "json").out)["myvault"]
    assert list(shown) == ["backend", "config", "secrets", "status", "id"]
    assert shown["config"] == {"endpoint": vault_server.url, "token": "*****"}
    revealed = json.loads(lab("secret-backends", "--reveal", "--format", "json").out)
    assert revealed["myvault"]["config"]["token"] == TOKEN
    assert lab("model-config", "secret-backend=myvault").status == 0
    assert driven == ["settle"]
    assert lab("add-secret", "apikey", "token=x").status == 0
    assert driven == ["settle", "settle"]
    assert lab("show-model").out.count("num-secrets: 1") == 1
    done = lab("remove-secret-backend", "myvault")
    assert (done.status, done.err) == (1, 'ERROR backend "myvault" still contains secret content\n')
    assert lab("remove-secret", "apikey").status == 0
    assert lab("model-config", "--reset", "secret-backend").status == 0
    assert lab("update-secret-backend", "myvault", "--reset", "namespace").status == 0
    assert lab("remove-secret-backend", "myvault", "--force").status == 0
    assert list(json.loads(lab("secret-backends", "--format", "json").out)) == ["internal"]


def test_two_backends_never_keep_content_at_one_place(lab: Run, vault_server: StandIn) -> None:
    """What moves from one to the other would be overwritten by itself and then deleted."""
    place = [f"endpoint={vault_server.url}", f"token={TOKEN}"]
    same = 'ERROR secret backend "first" keeps its content at the same place\n'
    assert lab("add-secret-backend", "first", "vault", *place).status == 0
    done = lab("add-secret-backend", "second", "vault", *place, "mount-path=secret/")
    assert (done.status, done.err.startswith(same)) == (1, True)
    with running() as elsewhere:
        other = [f"endpoint={elsewhere.url}", f"token={TOKEN}"]
        assert lab("add-secret-backend", "third", "vault", *other).status == 0
        assert lab("update-secret-backend", "third", *place).err.startswith(same)
        assert lab("update-secret-backend", "third", *other).status == 0
        elsewhere.sealed = True  # a backend that is away is compared later, when it changes
        assert lab("update-secret-backend", "first", *place).status == 0
        assert (vault_server.kept, elsewhere.kept) == ({}, {})


REFUSED = [
    (2, "must specify backend name and type", ["add-secret-backend", "x"]),
    (2, "must specify a config file or key values", ["add-secret-backend", "x", "vault"]),
    (2, 'key value "token" not valid', ["add-secret-backend", "x", "vault", "token"]),
    (2, 'key "token" specified more than once', ["add-secret-backend", "x", "vault", "token=a", "token=b"]),
    (2, "must specify backend name", ["update-secret-backend"]),
    (2, "must specify a config file or key/reset values", ["update-secret-backend", "x"]),
    (1, 'secret backend "x" not found', ["update-secret-backend", "x", "token=a"]),
    (1, 'secret backend "x" not found', ["remove-secret-backend", "x"]),
    (1, 'secret backend "x" not found', ["show-secret-backend", "x"]),
    (1, 'secret backend "x" not found', ["model-config", "secret-backend=x"]),
    (2, "controller run does not take that flag", ["controller", "run", "--forget-old"]),
]


@pytest.mark.parametrize(("status", "text", "words"), REFUSED)
def test_what_is_refused(lab: Run, status: int, text: str, words: list[str]) -> None:
    done = lab(*words)
    assert (done.status, done.err.splitlines()[0]) == (status, f"ERROR {text}")
    assert "secret-backend  " not in lab("model-config", "secret-backend").out


def test_a_new_key_for_the_secrets(lab: Run, tmp_path: Path) -> None:
    path = tmp_path / "data" / "controllers" / "home" / "secrets.key"
    assert lab("add-secret", "apikey", "token=x").status == 0
    old = path.read_text()
    done = lab("controller", "renew-key")
    assert (done.status, done.err[:31]) == (0, "Sealed 1 records with the new k")
    assert path.read_text().startswith(old)
    assert lab("controller", "renew-key", "--forget-old").status == 0
    assert len(path.read_text().splitlines()) == 2
    assert "token: x" in lab("show-secret", "apikey", "--reveal").out
    path.write_text(old)
    done = lab("controller", "renew-key")
    assert done.status == 1
    assert path.read_text() == old
