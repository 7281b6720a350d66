"""Charms deployed and packed from their sources: for which base and architecture they are built."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.charms_tools.wheelhouse import wheel
from tests.world.charm_trees import write_tree

X86, ARM = "x86_64", "aarch64"
CHARM = """\
name: web
summary: s
description: d
base: ubuntu@22.04
platforms:
  amd64:
  arm64:
  both: {build-on: [amd64], build-for: [amd64]}
parts: {charm: {plugin: charm, source: .}}
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unworked: None) -> Path:
    """Return a source tree in `web`; the package that it needs has other wheels for each machine."""
    index = tmp_path / "index"
    index.mkdir()
    for python in ("cp310", "cp312"):
        for machine in (X86, ARM):
            wheel(index, "fast", tag=f"{python}-{python}-manylinux_2_17_{machine}")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.chdir(tmp_path)
    files = {"charmcraft.yaml": CHARM, "src/charm.py": "", "requirements.txt": "fast\n"}
    return write_tree(tmp_path / "web", files)


def tag(archive: Path) -> str:
    with zipfile.ZipFile(archive) as opened:
        return opened.read("venv/fast.py").decode().split("'")[1].replace("-manylinux_2_17", "")


def stored(tmp_path: Path) -> list[str]:
    """Return what the archives of a controller are built for."""
    blobs = tmp_path / "data/controllers/lab/blobs"
    files = sorted(
        (path for path in blobs.rglob("*") if path.is_file()), key=lambda path: path.stat().st_mtime_ns
    )
    return [tag(path) for path in files]


def test_the_usual_architecture(cached: Any, tree: Path, tmp_path: Path) -> None:
    assert cached("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    assert cached("deploy", "./web").status == 0
    assert stored(tmp_path) == [f"cp310-cp310_{X86}"]


def test_the_constraint_of_the_application_then_of_the_model(cached: Any, tree: Path, tmp_path: Path) -> None:
    assert cached("bootstrap", "manual", "lab", "--add-model", "shop").status == 0
    assert cached("set-model-constraints", "arch=arm64").status == 0
    # No machine can be had here: this cloud has only those that somebody adds.
    assert "for Python 3.10 on arm64\n" in cached("deploy", "./web", "--dry-run").err
    venvs = list((tmp_path / "cache/venvs").glob("*/venv/fast.py"))
    assert [ARM in path.read_text() for path in venvs] == [True]
    ended = cached("deploy", "./web", "--dry-run", "--constraints", "arch=amd64")
    assert "for Python 3.10 on amd64\n" in ended.err
    assert len(list((tmp_path / "cache/venvs").glob("*/venv/fast.py"))) == 2


def test_an_architecture_that_the_charm_is_not_for(cached: Any, tree: Path) -> None:
    assert cached("bootstrap", "manual", "lab", "--add-model", "shop").status == 0
    ended = cached("deploy", "./web", "--constraints", "arch=s390x")
    assert ended.status == 1
    assert ended.err.startswith('ERROR charm "web" is for amd64, arm64 on ubuntu@22.04, not for s390x\n')
    assert "charmcraft.yaml" in ended.err


def test_a_charm_for_another_architecture_only(cached: Any, tree: Path) -> None:
    (tree / "charmcraft.yaml").write_text(CHARM.replace("  amd64:\n", "").replace("[amd64]}", "[arm64]}"))
    assert cached("pack", "./web").status == 0
    assert tag(Path("web.charm")) == f"cp310-cp310_{ARM}"


def test_pack_writes_a_file_for_each_architecture(cached: Any, tree: Path) -> None:
    ended = cached("pack", "./web")
    assert ended.status == 0, ended.err
    assert sorted(path.name for path in Path().glob("*.charm")) == ["web_amd64.charm", "web_arm64.charm"]
    assert tag(Path("web_arm64.charm")) == f"cp310-cp310_{ARM}"
    with zipfile.ZipFile("web_arm64.charm") as archive:
        found = json.loads(archive.read("manifest.yaml"))
    assert found == {"bases": [{"name": "ubuntu", "channel": "22.04", "architectures": ["arm64"]}]}


def test_pack_for_a_platform(cached: Any, tree: Path) -> None:
    assert cached("pack", "./web", "--platform", "both").err.endswith("Packed web_both.charm\n")
    assert tag(Path("web_both.charm")) == f"cp310-cp310_{X86}"
    ended = cached("pack", "./web", "--platform", "vax")
    assert ended.err == 'ERROR platform "vax" is not one of the charm\'s, which are: amd64, arm64, both\n'
    ended = cached("pack", "./web", "--platform", "arm64", "--base", "ubuntu@24.04")
    assert ended.err == 'ERROR platform "arm64" is not for the base "ubuntu@24.04"\n'


def test_machine_code_is_not_for_every_architecture(cached: Any, tree: Path, tmp_path: Path) -> None:
    text = CHARM.replace("  amd64:\n  arm64:\n", "").replace("build-for: [amd64]", "build-for: all")
    (tree / "charmcraft.yaml").write_text(text)
    assert cached("pack", "./web", "--platform", "both").status == 0
    wheel(tmp_path / "index", "quick", tag=f"cp310-cp310-manylinux_2_17_{X86}", suffix=".so")
    (tree / "requirements.txt").write_text("quick\n")
    ended = cached("pack", "./web", "--platform", "both")
    assert ended.err.splitlines()[1] == (
        "ERROR the packages are not for every architecture: quick.so is machine code"
    )


def test_a_source_in_a_bundle_is_built_for_its_application(cached: Any, tree: Path, tmp_path: Path) -> None:
    assert cached("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    app = "    charm: ./web\n    num_units: 1\n"
    Path("bundle.yaml").write_text(f"applications:\n  web:\n{app}")
    ended = cached("deploy", "./bundle.yaml")
    assert ended.status == 0, ended.err
    assert stored(tmp_path) == [f"cp310-cp310_{X86}"]


def test_sources_are_built_for_the_default_base(cached: Any, tree: Path, tmp_path: Path) -> None:
    bases = "platforms: {'ubuntu@22.04:amd64': , 'ubuntu@24.04:amd64': }\n"
    head, tail = CHARM.partition("base:")[0], "parts:" + CHARM.partition("parts:")[2]
    (tree / "charmcraft.yaml").write_text(head + bases + tail)
    assert cached("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    assert cached("model-config", "default-base=ubuntu@22.04").status == 0
    assert cached("deploy", "./web").status == 0
    assert stored(tmp_path) == [f"cp310-cp310_{X86}"]
    assert cached("deploy", "./web", "new", "--base", "ubuntu@24.04").status == 0
    assert stored(tmp_path)[1] == f"cp312-cp312_{X86}"
    assert cached("refresh", "web", "--path", "./web").status == 0
    assert len(stored(tmp_path)) == 2


def test_pack_leaves_out_what_cannot_be_built_here(cached: Any, tree: Path, tmp_path: Path) -> None:
    """Architectures without packages are named; the computer's own must be there."""
    (tree / "charmcraft.yaml").write_text(CHARM.replace("  amd64:\n", "  s390x:\n  amd64:\n"))
    ended = cached("pack", "./web", "--base", "ubuntu@22.04")
    assert ended.status == 0, ended.err
    reason = "cannot install the packages of requirements.txt for Python 3.10 on s390x"
    assert f"WARNING left out web_s390x.charm: {reason}\n" in ended.err
    assert sorted(path.name for path in Path().glob("*.charm")) == ["web_amd64.charm", "web_arm64.charm"]
    for path in (tmp_path / "index").glob(f"*cp310*{X86}*"):
        path.unlink()
    shutil.rmtree(tmp_path / "cache")
    assert cached("pack", "./web", "--base", "ubuntu@22.04").status == 1


def test_bases_without_architectures_are_for_this_computer(cached: Any, tree: Path) -> None:
    bases = "bases:\n- {name: ubuntu, channel: '22.04'}\n- {name: ubuntu, channel: '24.04'}\n"
    (tree / "charmcraft.yaml").write_text(CHARM.partition("base:")[0] + bases)
    (tree / "requirements.txt").write_text("fast\n")
    (tree / "src/charm.py").write_text("")
    ended = cached("pack", "./web")
    assert ended.status == 0, ended.err
    with zipfile.ZipFile("web_ubuntu-24.04.charm") as archive:
        found = json.loads(archive.read("manifest.yaml"))
    assert found == {"bases": [{"name": "ubuntu", "channel": "24.04", "architectures": ["amd64"]}]}
