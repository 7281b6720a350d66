"""Packages of charms for the machine's Python; the sources are packages of our own, and no index is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pushjuju.charms.pack import pack
from pushjuju.charms.unpack import unpack
from pushjuju.core.base import Base
from pushjuju.core.errors import InvalidCharm
from pushjuju.services import charm_build
from tests.charms_tools.wheelhouse import sdist, wheel
from tests.unit.charms.charmdirs import write_tree

CHARM = """\
name: web
summary: s
description: d
base: ubuntu@22.04
platforms: {amd64: }
parts: {charm: {plugin: charm, source: .}}
"""


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return folder


def build(
    tmp_path: Path, files: Mapping[str, str], *, track: str = "22.04", arch: str = "amd64"
) -> tuple[Path, list[str]]:
    """Build a tree; return it with the names in its venv."""
    root = write_tree(tmp_path / "web", {"charmcraft.yaml": CHARM, "src/charm.py": "", **files})
    work = tmp_path / f"work-{track}-{arch}"
    work.mkdir()
    environ = {"PUSHJUJU_CACHE": str(tmp_path / "cache")}
    tree = charm_build.built(root, work, base=Base("ubuntu", track), arch=arch, environ=environ)
    return tree, sorted(path.name for path in (tree / "venv").iterdir() if path.suffix != ".dist-info")


def test_wheels_are_those_of_the_machine(tmp_path: Path, index: Path) -> None:
    for tag in ("cp310-cp310-manylinux_2_17_x86_64", "cp310-cp310-manylinux_2_17_aarch64"):
        wheel(index, "fast", tag=tag)
    wheel(index, "fast", tag="cp312-cp312-manylinux_2_17_x86_64")
    for track, arch, tag in (
        ("22.04", "amd64", "cp310-cp310-manylinux_2_17_x86_64"),
        ("22.04", "arm64", "cp310-cp310-manylinux_2_17_aarch64"),
        ("24.04", "amd64", "cp312-cp312-manylinux_2_17_x86_64"),
    ):
        tree, _ = build(tmp_path, {"requirements.txt": "fast\n"}, track=track, arch=arch)
        assert (tree / "venv/fast.py").read_text() == f"TAG = {tag!r}\n"


def test_markers_mean_the_python_of_the_machine(tmp_path: Path, index: Path) -> None:
    wheel(index, "top", more='Requires-Dist: old; python_version < "3.11"\nRequires-Dist: arm; '
          'platform_machine == "aarch64"\n')  # fmt: skip
    wheel(index, "old")
    wheel(index, "arm")
    lines = {"requirements.txt": "top\n"}
    assert build(tmp_path, lines)[1] == ["old.py", "top.py"]
    assert build(tmp_path, lines, track="24.04")[1] == ["top.py"]
    assert build(tmp_path, lines, track="24.04", arch="arm64")[1] == ["arm.py", "top.py"]


def test_pure_packages_without_a_wheel_are_built_here(tmp_path: Path, index: Path) -> None:
    sdist(index, "plain", more="Requires-Dist: other\n")
    sdist(index, "other")
    assert build(tmp_path, {"requirements.txt": "plain>=1\n"})[1] == ["other.py", "plain.py"]


def compiled(index: Path) -> None:
    tag = f"cp3{sys.version_info[1]}-cp3{sys.version_info[1]}-linux_{os.uname().machine}"
    sdist(index, "native", tag=tag, suffix=".abi3.so", more="Requires-Dist: other\n")
    wheel(index, "other")


def test_what_has_to_be_compiled_is_left_to_the_machine(tmp_path: Path, index: Path) -> None:
    compiled(index)
    tree, names = build(tmp_path, {"requirements.txt": "native\n"})
    assert names == ["other.py"]
    pending = sorted(path.name for path in (tree / "pending").iterdir())
    assert pending == ["native-1.0.tar.gz", "requirements.txt"]
    packed = pack(tree, tmp_path / "web.charm")
    charm = tmp_path / "unpacked"
    unpack(packed.path, charm)
    # What the machine does: its own pip, in the charm's directory, before the first event and never again.
    tools = write_tree(tmp_path / "tools", {"gcc": "#!/bin/sh\n"}, executable=("gcc",))
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{tools}:{os.environ['PATH']}"}
    (charm / "src/charm.py").write_text("import os\nprint(sorted(os.listdir('venv')))\n")
    for _ in range(2):
        ran = subprocess.run(
            ["./dispatch"], cwd=charm, env=environ, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        assert "native.abi3.so" in ran.stdout
        environ["PIP_FIND_LINKS"] = "/nowhere"
        (charm / "pending/native-1.0.tar.gz").unlink(missing_ok=True)


def test_a_charm_with_its_own_entry_is_told_so(tmp_path: Path, index: Path) -> None:
    compiled(index)
    with pytest.raises(InvalidCharm) as caught:
        build(tmp_path, {"requirements.txt": "native\n", "dispatch": "#!/bin/sh\n"})
    assert caught.value.message.startswith("there is no wheel of native==1.0 for the machines")


def test_sources_that_cannot_be_built(tmp_path: Path, index: Path) -> None:
    sdist(index, "broken", suffix='"')
    with pytest.raises(InvalidCharm) as caught:
        build(tmp_path, {"requirements.txt": "broken\n"})
    assert caught.value.message == "broken has no wheel for Python 3.10 on amd64 and cannot be built here"
    assert "SyntaxError" in caught.value.detail


def test_a_package_that_is_nowhere(tmp_path: Path, index: Path) -> None:
    with pytest.raises(InvalidCharm) as caught:
        build(tmp_path, {"requirements.txt": "nowhere-at-all==3\n"})
    assert caught.value.message == (
        "cannot install the packages of requirements.txt for Python 3.10 on amd64"
    )
    assert "No matching distribution found for nowhere-at-all==3" in caught.value.detail


MODULES = ("json", "pip", "sitecustomize", "usercustomize", "encodings", "site", "os", "re", "markers", "git")


def test_files_of_a_tree_are_not_run(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(index, "fast")
    sdist(index, "plain")
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w').close()\nraise SystemExit(7)\n"
    shell = f"#!/bin/sh\ntouch {ran}\n"
    tree = {
        **{f"{name}.py": code for name in MODULES}, "evil.pth": f"import os; open({str(ran)!r}, 'w')\n",
        "setup.cfg": "[install]\nprefix=/nowhere\n", "pip.conf": "[global]\nindex-url=http://127.0.0.1:1/\n",
        "git": shell, "gcc": shell, "requirements.txt": "fast\nplain\n",
    }  # fmt: skip
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "web"))
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    root = write_tree(tmp_path / "web", tree, executable=("git", "gcc"))
    monkeypatch.chdir(root)
    assert build(tmp_path, tree)[1] == ["fast.py", "plain.py"]
    assert not ran.exists()


BACKEND = """
import os, zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(folder + "/own-1.0-py3-none-any.whl", "w") as file:
        file.writestr("own.py", repr(sorted(os.environ)))
        file.writestr("own-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: own\\nVersion: 1.0\\n")
        lines = ("Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any", "")
        file.writestr("own-1.0.dist-info/WHEEL", "\\n".join(lines))
        file.writestr("own-1.0.dist-info/RECORD", "")
    return "own-1.0-py3-none-any.whl"
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def test_packages_that_lie_in_a_tree_are_found_and_see_no_secrets(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(index, "fast")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere")
    tree, names = build(
        tmp_path,
        {
            "requirements.txt": "-r more/lines.txt  # others\n./own ; python_version > '3'\n",
            "more/lines.txt": "fast \\\n  >= 0\n-c limits.txt\n",
            "more/limits.txt": "fast < 9\n",
            "own/pyproject.toml": PROJECT,
            "own/backend.py": BACKEND,
        },
    )
    assert names == ["fast.py", "own.py"]
    seen = (tree / "venv/own.py").read_text()
    assert "'PATH'" in seen
    assert "AWS_SECRET_ACCESS_KEY" not in seen
    assert "SSH_AUTH_SOCK" not in seen


@pytest.mark.parametrize(
    "line",
    [
        "/etc/passwd", "../other", "-r /etc/passwd", "-r../lines.txt", "--requirement=../lines.txt",
        "-c ../lines.txt", "-e ../other", "--editable=../other", "-f /srv", "--find-links=../wheels",
        "own @ file:///srv/own", "file:///srv/own", "git+file:///srv/own", "own/../../other", "link/own",
        "--index-url file:///srv", "-r link/lines.txt",
    ],
)  # fmt: skip
def test_lines_that_lead_out_of_the_tree_are_refused(tmp_path: Path, index: Path, line: str) -> None:
    write_tree(tmp_path / "other", {"lines.txt": "fast\n", "own/pyproject.toml": PROJECT})
    write_tree(tmp_path / "web", {"own/pyproject.toml": PROJECT})
    (tmp_path / "web/link").symlink_to(tmp_path / "other")
    with pytest.raises(InvalidCharm) as caught:
        build(tmp_path, {"requirements.txt": f"{line}\n"})
    assert "asks for a file outside of the tree" in caught.value.message


@pytest.mark.parametrize("option", ["--log={}", "--report={}", "--target={}", "--cache-dir={}"])
def test_a_package_name_is_no_option_of_pip(tmp_path: Path, index: Path, option: str) -> None:
    word = option.format(tmp_path / "written")
    text = CHARM.replace("source: .", f"source: ., charm-python-packages: ['{word}']")
    with pytest.raises(InvalidCharm):
        build(tmp_path, {"charmcraft.yaml": text})
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize("address", ["git+ext::sh%20-c%20touch", "git+ext://sh -c touch"])
def test_a_line_names_no_command_of_git(tmp_path: Path, index: Path, address: str) -> None:
    with pytest.raises(InvalidCharm):
        build(tmp_path, {"requirements.txt": f"own @ {address}% {tmp_path}/ran\n"})
    assert not (tmp_path / "ran").exists()
