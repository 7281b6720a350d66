"""Secrets of the model on the command line."""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.world.charms import Charms
from tests.world.commandline import Run
from tests.world.controller import TestController

HUSH = "correct-horse"


pytestmark = pytest.mark.usefixtures("unworked")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> Path:
    """A data directory with the application web."""
    world = TestController.build(tmp_path_factory.mktemp("lab"), packs)
    world.deploy()
    return world.keep()


@pytest.fixture
def lab(run: Run, built: Path, tmp_path: Path) -> Run:
    """Return `run` with one application."""
    shutil.copytree(built, tmp_path / "data")
    return run


def add(lab: Run, name: str = "apikey", *words: str) -> str:
    """Add a secret; return its id."""
    done = lab("add-secret", name, *(words or (f"token={HUSH}",)))
    assert (done.status, done.err) == (0, "")
    found = re.fullmatch(r"secret:([0-9a-v]{20})\n", done.out)
    assert found
    return found[1]


def shown(lab: Run, *words: str) -> Any:
    done = lab("show-secret", *words, "--format", "json")
    assert done.status == 0, done.err
    return next(iter(json.loads(done.out).values()))


def test_a_secret_is_added_shown_and_revealed_only_when_asked(lab: Run) -> None:
    secret = add(lab)
    plain = lab("show-secret", "apikey")
    assert HUSH not in plain.out
    document = yaml.safe_load(plain.out)
    assert list(document) == [secret]
    assert document[secret].keys() == {"revision", "rotation", "owner", "name", "created", "updated"}
    assert (document[secret]["owner"], document[secret]["name"]) == ("<model>", "apikey")
    assert isinstance(document[secret]["created"], datetime)  # bare in yaml, as a Go time is
    revealed = lab("show-secret", secret, "--reveal")
    assert yaml.safe_load(revealed.out)[secret]["content"] == {"token": HUSH}
    assert list(yaml.safe_load(revealed.out)[secret])[:2] == ["revision", "checksum"]
    assert shown(lab, f"secret:{secret}", "--reveal")["content"] == {"Data": {"token": HUSH}}


def test_the_store_holds_no_content_in_clear(lab: Run, tmp_path: Path) -> None:
    add(lab)
    for path in (tmp_path / "data").rglob("*"):
        if path.is_file():
            assert HUSH.encode() not in path.read_bytes(), path


def test_content_comes_from_a_file(lab: Run, tmp_path: Path) -> None:
    (tmp_path / "content.yaml").write_text("token: a\nraw#base64: AAE=\n")
    done = lab("add-secret", "one", "--file", "content.yaml", "--info", "the one")
    assert done.status == 0
    found = shown(lab, "one", "--reveal")
    assert found["content"]["Data"] == {"token": "a", "raw": "\0\1"}
    assert found["description"] == "the one"


def test_numbers_in_a_file_are_texts_as_written(lab: Run, tmp_path: Path) -> None:
    (tmp_path / "content.yaml").write_text("pin: 0123\nport: 5432\nbig: 1e3\nyes-no: yes\nday: 2025-03-01\n")
    assert lab("add-secret", "one", "--file", "content.yaml").status == 0
    found = shown(lab, "one", "--reveal")["content"]["Data"]
    assert found == {"pin": "0123", "port": "5432", "big": "1e3", "yes-no": "yes", "day": "2025-03-01"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"token: [{HUSH}]\n", "line 1: not a map of keys and texts"),
        (HUSH, "line 1: not a map of keys and texts"),
        (f"a: b\ntoken: {{{HUSH}\n", ": not a map of keys and texts"),
        (f"token: *{HUSH}\n", ": not a map of keys and texts"),
        (f"token: {HUSH * 100_000}\n", 'secret content in file "content.yaml" too large: 1300008 bytes'),
    ],
    ids=["list", "text", "cut", "alias", "large"],
)
def test_a_file_that_is_no_map_is_refused_without_what_it_holds(
    lab: Run, tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "content.yaml").write_text(text)
    done = lab("add-secret", "one", "--file", "content.yaml")
    assert done.status == 1
    assert told in done.err
    assert HUSH not in done.err


def test_an_update_makes_a_revision_only_for_new_content(lab: Run) -> None:
    secret = add(lab)
    assert lab("update-secret", "apikey", f"token={HUSH}").status == 0
    assert shown(lab, secret)["revision"] == 1
    assert lab("update-secret", "apikey", "token=new", "--info", "changed", "--name", "key").status == 0
    found = shown(lab, "key", "--revisions")
    assert (found["revision"], found["description"], found["name"]) == (2, "changed", "key")
    assert [item["revision"] for item in found["revisions"]] == [1, 2]
    assert found["revisions"][0]["backend"] == "internal"
    assert shown(lab, secret, "--reveal", "--revision", "1")["content"]["Data"] == {"token": HUSH}
    assert lab("update-secret", "key", "--auto-prune").status == 0


def test_the_table(lab: Run) -> None:
    one = add(lab, "one")
    add(lab, "two")
    lab("update-secret", "one", "token=new")
    done = lab("secrets")
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert lines[0] == "ID                    Name  Owner    Rotation  Revision  Last updated"
    assert lines[1].startswith(f"{one}  one   <model>  never            2  ")
    assert json.loads(lab("secrets", "--format", "json").out)[one]["revision"] == 2
    assert json.loads(lab("secrets", "--owner", "application-web", "--format", "json").out) == {}
    assert len(json.loads(lab("secrets", "--owner", "model-x", "--format", "json").out)) == 2


def test_grants_are_shown_and_taken_back(lab: Run) -> None:
    secret = add(lab)
    assert lab("grant-secret", "apikey", "web").status == 0
    assert lab("grant-secret", "apikey", "web").status == 0
    (access,) = shown(lab, secret)["access"]
    assert (access["target"], access["role"]) == ("application-web", "view")
    assert access["scope"].startswith("model-")
    assert lab("revoke-secret", secret, "web").status == 0
    assert "access" not in shown(lab, secret)


def test_revisions_are_removed_one_by_one_or_all_at_once(lab: Run) -> None:
    add(lab)
    lab("update-secret", "apikey", "token=new")
    assert lab("remove-secret", "apikey", "--revision", "1").status == 0
    assert [item["revision"] for item in shown(lab, "apikey", "--revisions")["revisions"]] == [2]
    assert lab("remove-secret", "apikey", "--revision", "1").err.startswith("ERROR secret revision ")
    assert lab("remove-secret", "apikey").status == 0
    done = lab("show-secret", "apikey")
    assert (done.status, done.err) == (1, 'ERROR secret "apikey" not found\n')


REFUSED = [
    (2, "missing secret name", ["add-secret"]),
    (2, "missing secret name", ["add-secret", "", f"token={HUSH}"]),
    (2, "missing secret value or filename", ["add-secret", "x"]),
    (2, 'key value "token" not valid', ["add-secret", "x", "token"]),
    (2, 'key "ab" not valid', ["add-secret", "x", f"ab={HUSH}"]),
    (1, 'secret name "a\\nb" not valid', ["add-secret", "a\nb", f"token={HUSH}"]),
    (1, 'secret with name "apikey" already exists', ["add-secret", "apikey", f"token={HUSH}"]),
    (1, 'secret "none" not found', ["update-secret", "none", f"token={HUSH}"]),
    (2, "specify at least one of label, description, or content to update", ["update-secret", "apikey"]),
    (2, "missing secret URI", ["remove-secret"]),
    (2, "revision must be a positive integer", ["remove-secret", "apikey", "--revision", "0"]),
    (2, "secret ID is required", ["show-secret"]),
    (
        2,
        "specify either --revisions or --reveal but not both",
        ["show-secret", "apikey", "--reveal", "--revisions"],
    ),
    (2, "revision must be a positive integer", ["show-secret", "apikey", "--revision", "-1"]),
    (2, "missing secret URI or application name", ["grant-secret", "apikey"]),
    (1, 'application "db" not found', ["grant-secret", "apikey", "web,db"]),
    (1, 'secret "none" not found', ["revoke-secret", "none", "web"]),
    (1, 'invalid owner "web"', ["secrets", "--owner", "web"]),
]


@pytest.mark.parametrize(("status", "text", "words"), REFUSED)
def test_what_is_refused_changes_nothing(lab: Run, status: int, text: str, words: list[str]) -> None:
    add(lab)
    before = lab("secrets", "--format", "json").out
    done = lab(*words)
    assert (done.status, done.err.splitlines()[0]) == (status, f"ERROR {text}")
    assert HUSH not in done.err
    assert lab("secrets", "--format", "json").out == before
    assert "access" not in shown(lab, "apikey")


def test_content_over_the_limit_is_refused(lab: Run, tmp_path: Path) -> None:
    (tmp_path / "big").write_text("x" * 1_000_000)
    done = lab("add-secret", "big", "token#file=big")
    assert done.status == 2
    assert done.err == 'ERROR base64 encoded secret content for key "token" too large: 1333336 bytes\n'
    assert lab("secrets", "--format", "json").out == "{}\n"


def test_without_its_key_a_secret_is_listed_but_not_revealed(lab: Run, tmp_path: Path) -> None:
    add(lab)
    key = tmp_path / "data" / "controllers" / "home" / "secrets.key"
    kept = key.read_text()
    key.unlink()
    assert lab("secrets").status == 0
    done = lab("show-secret", "apikey", "--reveal")
    assert done.status == 1
    assert re.match(r"ERROR secrets are sealed with key [0-9a-f]{16}, and .*secrets.key is missing", done.err)
    assert lab("add-secret", "other", "token=x").status == 1
    assert not key.exists()
    key.write_text(kept)
    assert shown(lab, "apikey", "--reveal")["content"]["Data"] == {"token": HUSH}
