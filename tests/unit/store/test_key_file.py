"""Where a host has the controller key, and which files are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pushjuju.core.errors import WrongKey
from pushjuju.store import databases

vault = pytest.importorskip("pushjuju.store.postgres.vault", reason="psycopg is not installed")

KEY = bytes(range(32))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a controller that this host shares."""
    for name in (databases.KEY_FILE, "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "prod"
    folder.mkdir()
    (folder / "vault.json").write_text("{}")
    return folder


def written(path: Path, mode: int = 0o600, text: str = "") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text or vault.key_text(KEY))
    path.chmod(mode)
    return path


def test_the_key_of_the_controller_comes_before_those_of_the_environment(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert databases.key_file(root) is None
    found = []
    credential = written(root.parent / "credentials" / "controller.key", 0o440)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(credential.parent))
    found.append(databases.key_file(root))
    named = written(root.parent / "named")
    monkeypatch.setenv(databases.KEY_FILE, str(named))
    found.append(databases.key_file(root))
    own = written(root / "controller.key")
    found.append(databases.key_file(root))
    assert found == [credential, named, own]


def test_a_controller_that_this_host_does_not_share_takes_no_key_of_the_environment(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "vault.json").unlink()
    monkeypatch.setenv(databases.KEY_FILE, str(written(root.parent / "named")))
    assert databases.key_file(root) is None


def test_a_service_without_the_credential_has_no_key(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(root.parent / "none"))
    assert databases.key_file(root) is None


def test_systemd_shows_a_list_of_rights_as_the_right_of_a_group(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = written(root.parent / "credentials" / "controller.key", 0o440)
    with pytest.raises(WrongKey, match="others can read it"):
        vault.read_key(credential, is_own=False)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(credential.parent))
    assert vault.read_key(credential, is_own=False) == KEY
    credential.chmod(0o444)
    with pytest.raises(WrongKey, match="others can read it"):
        vault.read_key(credential, is_own=False)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_a_key_that_others_can_read_or_replace_is_refused(root: Path, mode: int) -> None:
    named = written(root / "named", mode)
    with pytest.raises(WrongKey, match="others can read it") as refused:
        vault.read_key(named, is_own=False)
    assert refused.value.hint == f"chown {os.geteuid()} {named} && chmod 0600 {named}"
    named.chmod(0o600)
    assert vault.read_key(named, is_own=False) == KEY


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_key_of_another_user_is_refused(root: Path) -> None:
    named = written(root / "named")
    os.chown(named, 4242, -1)
    with pytest.raises(WrongKey, match="belongs to another user"):
        vault.read_key(named, is_own=False)


@pytest.mark.parametrize(
    "text", ["\n", "bm9uc2Vuc2U=\n", vault.key_text(KEY) * 2, "x" * 9000, "no base64!", "\0" * 32], ids=ascii
)
def test_a_file_with_another_content_is_no_key(root: Path, text: str) -> None:
    named = written(root / "named", text=text)
    with pytest.raises(WrongKey, match="has no controller key") as refused:
        vault.read_key(named, is_own=False)
    assert text.strip()[:9] not in str(refused.value) or not text.strip()


def test_an_empty_file_is_no_key(root: Path) -> None:
    named = written(root / "named")
    named.write_text("")
    with pytest.raises(WrongKey, match="has no controller key"):
        vault.read_key(named, is_own=False)


def test_what_is_no_plain_file_is_refused(root: Path) -> None:
    link = root / "link"
    link.symlink_to(written(root / "named"))
    with pytest.raises(WrongKey, match="is a symbolic link") as refused:
        vault.read_key(link, is_own=False)
    assert refused.value.hint == f"name the file: {root / 'named'}"
    os.mkfifo(root / "pipe", 0o600)
    with pytest.raises(WrongKey, match="is not a file"):
        vault.read_key(root / "pipe", is_own=False)
    for other, reason in ((".", "Is a directory"), ("missing", "No such file")):
        with pytest.raises(WrongKey, match=reason):
            vault.read_key(root / other, is_own=False)
