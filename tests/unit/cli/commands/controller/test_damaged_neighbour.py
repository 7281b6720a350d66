"""One controller of several cannot be read: the others go on, and it is named with its reason."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world.commandline import Run

CLOUD = "clouds: {mine: {type: maas, endpoint: 'http://127.0.0.1:1/MAAS', auth-types: [oauth1]}}\n"
CREDENTIAL = "credentials: {mine: {nix: {auth-type: oauth1, maas-oauth: 'a:b:c'}}}\n"


def _emptied(folder: Path) -> str:
    (folder / "state.db").write_bytes(b"")
    return f"the store {folder}/state.db is damaged: it is empty"


def _overwritten(folder: Path) -> str:
    (folder / "state.db").write_bytes(b"no store " * 1000)
    return f"the store {folder}/state.db cannot be used: file is not a database"


def _removed(folder: Path) -> str:
    (folder / "state.db").unlink()
    return f"{folder}/state.db"


def _of_a_newer_program(folder: Path) -> str:
    store = sqlite3.connect(folder / "state.db")
    store.execute("PRAGMA user_version = 999")
    store.close()
    return f"the store {folder}/state.db has schema 999"


def _settings_broken(folder: Path) -> str:
    (folder / "controller.toml").write_text("name = [")
    return f"cannot read {folder}/controller.toml"


Damage = Callable[[Path], str]
STORES = [_emptied, _overwritten, _removed, _of_a_newer_program]
EVERY = pytest.mark.parametrize("damage", [*STORES, _settings_broken])


@pytest.fixture
def two(run: Run, tmp_path: Path) -> Path:
    """Make controllers good and bad; return the directory of the latter."""
    for name in ("bad", "good"):
        assert run("bootstrap", "local", name).status == 0
        assert run("add-model", f"of-{name}").status == 0
    return tmp_path / "data/controllers/bad"


@EVERY
def test_controllers_lists_the_others_and_says_why_one_is_damaged(
    run: Run, two: Path, damage: Damage
) -> None:
    why = damage(two)
    ended = run("controllers")
    assert ended.status == 0
    assert ended.err.startswith("WARNING controller bad: ")
    assert why in ended.err
    assert ended.err.count("WARNING") == 1
    rows = [line.split() for line in ended.out.splitlines() if line.startswith(("bad", "good"))]
    assert [row[0] for row in rows] == ["bad", "good*"]
    assert rows[0][-4:-2] == ["-", "-"]
    assert rows[1][-4:-2] == ["2", "0"]
    shown = json.loads(run("controllers", "--format", "json").out)["controllers"]
    assert "model-count" not in shown["bad"]
    assert shown["good"]["model-count"] == 2


@EVERY
def test_commands_for_a_sound_controller_go_on_beside_a_damaged_one(
    run: Run, two: Path, damage: Damage
) -> None:
    damage(two)
    for words in ("models --all", "status", "add-model more", "switch good:more", "show-controller"):
        ended = run(*words.split())
        assert (ended.status, "bad" in ended.err) == (0, False), words
    assert run("plan", "--", "add-machine").status == 2


@EVERY
def test_who_is_at_a_damaged_controller_gets_away(run: Run, two: Path, damage: Damage) -> None:
    why = damage(two)
    assert run("switch", "bad").status == 0
    ended = run("status")
    assert ended.status == 1
    assert why in ended.err
    planned = run("plan", "--", "add-machine")
    assert planned.status == 1
    assert why in planned.err  # and not the name of a copy that is gone by then
    assert run("switch", "good").status == 0
    assert run("status").status == 0


@pytest.mark.parametrize("damage", STORES)
def test_what_a_damaged_controller_may_use_is_kept_for_it(
    run: Run, two: Path, tmp_path: Path, damage: Damage
) -> None:
    (tmp_path / "cloud.yaml").write_text(CLOUD)
    (tmp_path / "credential.yaml").write_text(CREDENTIAL)
    assert run("add-cloud", "mine", "cloud.yaml", "--client").status == 0
    assert run("add-credential", "mine", "-f", "credential.yaml", "--client").status == 0
    why = damage(two)
    ended = run("update-credential", "mine", "nix", "-f", "credential.yaml", "--client")
    assert (ended.status, ended.err.count(why)) == (0, 1), ended
    for words in ("remove-credential mine nix --client", "remove-cloud mine --client"):
        ended = run(*words.split())
        assert (ended.status, ended.err.count(why)) == (0, 1), ended
    assert "nix" in (two / "credentials.toml").read_text()
    assert "mine" in (two / "clouds.toml").read_text()
    assert not (two.parent / "good/clouds.toml").exists()


def test_a_controller_of_somebody_else_is_named_as_such(
    run: Run, two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read all, so the refusal is played: a folder of root's in a person's data directory."""
    refused = ("exists", "is_file", "stat", "open")
    for name in refused:
        monkeypatch.setattr(Path, name, _refusing(getattr(Path, name), two))
    ended = run("controllers")
    assert ended.status == 0
    assert f"WARNING controller bad: cannot read {two}/controller.toml: permission denied" in ended.err
    assert run("status").status == 0
    assert run("plan", "--", "add-machine").status == 2
    ended = run("status", "-m", "bad:of-bad")
    assert ended.status == 1
    assert "permission denied" in ended.err


def _refusing(real: Callable[..., object], folder: Path) -> Callable[..., object]:
    def call(path: Path, *args: object, **kwargs: object) -> object:
        if folder in path.parents:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **kwargs)

    return call
