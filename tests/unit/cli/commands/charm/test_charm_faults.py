"""Faults of charms, as the commands that read charms tell them."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

BAD = """\
name: web
summary: s
description: d
storage:
  data: {type: tape}
requires:
  db: {interface: pgsql, limit: many}
"""
TOLD = """\
ERROR parsing "metadata.yaml" file: metadata: requires.db.limit: expected int, got string("many")
at {0}/metadata.yaml:7
also:
  parsing "metadata.yaml" file: metadata: storage.data.type: unexpected value "tape" ({0}/metadata.yaml:5)
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unworked: None) -> Path:
    """Return a good charm in `web` of the working directory."""
    root = tmp_path / "web"
    (root / "hooks").mkdir(parents=True)
    (root / "hooks/install").write_text("#!/bin/sh\n")
    (root / "metadata.yaml").write_text("name: web\nsummary: s\ndescription: d\n")
    (root / "manifest.yaml").write_text('bases: [{name: ubuntu, channel: "24.04"}]\n')
    monkeypatch.chdir(tmp_path)
    return root


@pytest.mark.parametrize(
    "words", [("pack", "./web"), ("deploy", "./web"), ("refresh", "web", "--path", "./web")]
)
def test_each_fault_is_told_with_its_line(run: Any, tree: Path, words: tuple[str, ...]) -> None:
    assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    assert run("deploy", "./web").status == 0
    (tree / "metadata.yaml").write_text(BAD)
    ended = run(*words)
    assert (ended.status, ended.err) == (1, TOLD.format("web"))


def test_those_of_an_archive_too(run: Any, tree: Path) -> None:
    (tree / "metadata.yaml").write_text(BAD)
    with zipfile.ZipFile("web.charm", "w") as archive:
        for name in ("metadata.yaml", "manifest.yaml", "hooks/install"):
            archive.write(tree / name, name)
    assert run("deploy", "./web.charm").err.endswith(TOLD.format("web.charm"))


def test_those_of_a_charm_in_a_bundle(run: Any, tree: Path) -> None:
    assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    (tree / "metadata.yaml").write_text(BAD)
    Path("bundle.yaml").write_text("applications:\n  web:\n    charm: ./web\n    num_units: 1\n")
    ended = run("deploy", "./bundle.yaml")
    assert ended.status == 1
    assert "/web/metadata.yaml:7" in ended.err
    assert "/web/metadata.yaml:5)" in ended.err


def test_those_of_sources_before_anything_is_installed(run: Any, tree: Path) -> None:
    shutil.rmtree(tree)
    (tree / "src").mkdir(parents=True)
    (tree / "src/charm.py").write_text("")
    (tree / "requirements.txt").write_text("there-is-no-such-package-at-all\n")
    (tree / "charmcraft.yaml").write_text(f"type: charm\nbase: ubuntu@24.04\nplatforms: {{amd64: }}\n{BAD}")
    ended = run("deploy", "./web")
    assert "at web/charmcraft.yaml:10\n" in ended.err
    assert '"tape" (web/charmcraft.yaml:8)' in ended.err
