"""Directories and source trees."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pushjuju.charms.archive.pack import pack
from pushjuju.charms.archive.reader import read_charm
from pushjuju.core.errors import InvalidCharm, NotFound
from tests.charms_tools.unpacking import unpack
from tests.world.charm_trees import METADATA, charm_tree, write_tree

PROJECT = """
type: charm
name: web
title: Web
summary: s
description: |
  Many lines: "quoted" – é
base: ubuntu@24.04
platforms:
  amd64:
  other: {build-on: [amd64], build-for: [arm64, riscv64]}
parts: {charm: {plugin: charm}}
links: {contact: me@x, documentation: https://d, website: [https://w]}
requires: {db: {interface: pgsql}}
storage: {data: {type: filesystem}}
assumes: [juju >= 3]
config: {options: {on: {type: boolean, default: false}}}
actions: {go: {params: {x: {type: string}}}}
"""
NAMED = "name: w\nsummary: s\ndescription: d\n"


def test_a_directory(tmp_path: Path) -> None:
    loaded = read_charm(charm_tree(tmp_path / "c"))
    assert (loaded.charm.name, loaded.archive, loaded.generated) == ("web", False, {})


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        read_charm(tmp_path / "x")
    assert caught.value.message == f'no charm was found at "{tmp_path}/x"'
    with pytest.raises(InvalidCharm) as refused:
        read_charm(tmp_path)
    assert refused.value.message == f'charm or bundle at "{tmp_path}" not found'


def test_files_that_are_none(tmp_path: Path) -> None:
    tree = charm_tree(tmp_path / "c")
    (tree / "config.yaml").mkdir()
    with pytest.raises(InvalidCharm, match=r'reading "config\.yaml" file: not a regular file'):
        read_charm(tree)
    (tree / "config.yaml").rmdir()
    os.mkfifo(tree / "config.yaml")
    with pytest.raises(InvalidCharm, match=r'reading "config\.yaml" file: not a regular file'):
        read_charm(tree)


def test_dispatch_warnings(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "c", {"metadata.yaml": METADATA, "dispatch": "exec true\n"})
    assert read_charm(tree).charm.warnings == (
        "dispatch is not executable: every hook will fail",
        'dispatch does not start with "#!": every hook will fail',
    )
    (tree / "dispatch").write_text("#!/bin/sh\n")
    (tree / "dispatch").chmod(0o755)
    assert read_charm(tree).charm.warnings == ()


def test_a_unified_project(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "c", {"charmcraft.yaml": PROJECT, "src/charm.py": "print('hi')\n"})
    loaded = read_charm(tree)
    charm = loaded.charm
    assert (charm.format, charm.name, charm.meta.description) == (2, "web", 'Many lines: "quoted" – é\n')
    assert charm.config["on"].default is False
    assert "x" in charm.actions["go"].schema["properties"]
    assert charm.manifest is not None
    assert [(base.base.display, base.architectures) for base in charm.manifest.bases] == [
        ("ubuntu@24.04", ("amd64", "arm64", "riscv64"))
    ]
    assert charm.warnings == ()
    metadata = json.loads(loaded.generated["metadata.yaml"])
    assert metadata["display-name"] == "Web"
    assert (metadata["maintainers"], metadata["docs"]) == (["me@x"], "https://d")
    packed = pack(tree, tmp_path / "c.charm")
    unpack(packed.path, tmp_path / "out")
    assert os.access(tmp_path / "out/dispatch", os.X_OK)
    assert not (tmp_path / "out/charmcraft.yaml").exists()
    again = read_charm(tmp_path / "out").charm
    assert again.meta == charm.meta
    assert again.manifest == charm.manifest


@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("base: ubuntu@22.04\nplatforms: {amd64: }", [("ubuntu@22.04", ("amd64",))]),
        ("platforms: {'ubuntu@22.04:amd64': , 'ubuntu@24.04:amd64': , 'ubuntu@24.04:arm64': }",
         [("ubuntu@22.04", ("amd64",)), ("ubuntu@24.04", ("amd64", "arm64"))]),
        ("platforms: {jammy: {build-on: ['ubuntu@22.04:amd64'], build-for: ['ubuntu@22.04:riscv64']}}",
         [("ubuntu@22.04", ("riscv64",))]),
        ("base: ubuntu@22.04\nplatforms: {all: {build-on: amd64, build-for: all}}", [("ubuntu@22.04", ())]),
        ("bases: [{name: ubuntu, channel: '20.04'}]", [("ubuntu@20.04", ())]),
        (("bases: [{build-on: [{name: ubuntu, channel: '20.04'}], run-on: [{name: ubuntu, channel: '22.04',"
         " architectures: [amd64]}]}]"), [("ubuntu@22.04", ("amd64",))]),
        ("bases: [{build-on: [{name: ubuntu, channel: '20.04'}]}]", [("ubuntu@20.04", ())]),
    ],
)  # fmt: skip
def test_bases_of_projects(tmp_path: Path, text: str, bases: list[tuple[str, tuple[str, ...]]]) -> None:
    tree = write_tree(tmp_path / "c", {"charmcraft.yaml": NAMED + text})
    manifest = read_charm(tree).charm.manifest
    assert manifest is not None
    assert [(base.base.display, base.architectures) for base in manifest.bases] == bases


def test_a_classic_project_gives_its_bases_to_the_manifest(tmp_path: Path) -> None:
    project = "type: charm\nbases: [{name: ubuntu, channel: '22.04'}]\nparts: {}\n"
    plain = "name: web\nsummary: s\ndescription: d\n"
    tree = charm_tree(tmp_path / "c", {"charmcraft.yaml": project}, metadata=plain)
    loaded = read_charm(tree)
    assert set(loaded.generated) == {"manifest.yaml"}
    assert [base.display for base in loaded.charm.bases()] == ["ubuntu@22.04"]
    (tree / "manifest.yaml").write_text("bases: [{name: ubuntu, channel: '24.04'}]")
    assert [base.display for base in read_charm(tree).charm.bases()] == ["ubuntu@24.04"]


@pytest.mark.parametrize(
    ("text", "extra", "fault"),
    [
        ("[", {}, "yaml: "),
        ("[x]", {}, "expected map, got "),
        ("type: bundle", {}, 'type "bundle" is not a charm'),
        ("summary: s\ndescription: d", {}, "name: expected string, got nothing"),
        (NAMED + "links: [x]", {}, "links: expected map, got "),
        (NAMED + "platforms: [x]", {}, "platforms: expected map, got "),
        (NAMED + "base: ubuntu@22.04", {}, "platforms: expected map, got nothing"),
        (NAMED + "platforms: {amd64: }", {}, 'platform "amd64" has no base'),
        (NAMED + "bases: {}x", {}, "yaml: "),
        (NAMED + "bases: 5", {}, "bases: expected list, got int(5)"),
        (NAMED + "bases: [5]", {}, "bases[0]: expected map, got int(5)"),
        ("requires: {a: b}", {"metadata.yaml": METADATA},
         '"requires" cannot be used when metadata.yaml exists'),
        ("config: {}", {"metadata.yaml": METADATA, "config.yaml": "options:"},
         '"config" cannot be used when config.yaml exists'),
    ],
)  # fmt: skip
def test_project_faults(tmp_path: Path, text: str, extra: dict[str, str | bytes], fault: str) -> None:
    tree = write_tree(tmp_path / "c", {"charmcraft.yaml": text, **extra})
    with pytest.raises(InvalidCharm) as caught:
        read_charm(tree)
    assert caught.value.message.startswith('parsing "charmcraft.yaml" file: ' + fault)
    assert caught.value.file == "charmcraft.yaml"


@pytest.mark.parametrize(
    ("name", "body", "refused"),
    [
        ("requirements.txt", "ops\n", True),
        ("requirements.txt", "# none\n\n", False),
        ("pyproject.toml", "[project]\nname = 'x'\ndependencies = ['ops']\n", True),
        ("pyproject.toml", "[project]\nname = 'x'\n", False),
        ("pyproject.toml", "not toml", False),
        ("uv.lock", "version = 1\n", True),
    ],
)
def test_a_tree_that_was_never_built(tmp_path: Path, name: str, body: str, refused: bool) -> None:
    tree = write_tree(tmp_path / "c", {"charmcraft.yaml": PROJECT, "src/charm.py": "", name: body})
    if not refused:
        assert "dispatch" in pack(tree, tmp_path / "c.charm").members
        return
    with pytest.raises(InvalidCharm) as caught:
        pack(tree, tmp_path / "c.charm")
    assert caught.value.message == f'charm "web" needs the packages of {name}, which are not in its tree'
    assert caught.value.hint.startswith(f"run `charmcraft pack` in {tree}")
    (tree / "venv").mkdir()
    assert "dispatch" in pack(tree, tmp_path / "c.charm").members
