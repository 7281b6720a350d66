"""Packages of charms for the machine's Python; the sources are packages of our own, and no index is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pushjuju.charms.archive.pack import pack
from pushjuju.core.base import Base
from pushjuju.core.errors import InvalidCharm, ProviderError
from pushjuju.plugins.sources.places import GitCheckout
from pushjuju.services.supply import charm_build, requirement_files, source_packages, wheels
from tests.charms_tools.gitserver import git, repository, serving
from tests.charms_tools.unpacking import unpack
from tests.charms_tools.wheelhouse import sdist, wheel
from tests.world.charm_trees import write_tree

CHARM = """\
name: web
summary: s
description: d
base: ubuntu@22.04
platforms: {amd64: }
parts: {charm: {plugin: charm, source: .}}
"""


def build(
    tmp_path: Path, files: Mapping[str, str | bytes], *, track: str = "22.04", arch: str = "amd64"
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


def test_packages_without_a_wheel_are_left_to_the_machine(tmp_path: Path, index: Path) -> None:
    """Building them would run what is in them; what they need is read from their files."""
    sdist(index, "plain", more="Requires-Dist: other\nRequires-Dist: fast\n")
    sdist(index, "other")
    wheel(index, "fast")
    tree, names = build(tmp_path, {"requirements.txt": "plain>=1\n"})
    assert names == ["fast.py"]
    assert (tree / "pending/requirements.txt").read_text() == "other==1.0\nplain==1.0\n"


def test_what_the_build_needs_goes_along_with_the_sources(tmp_path: Path, index: Path) -> None:
    """Then the machine builds them with no index, and with no pip of its own."""
    for name in ("pip", "setuptools", "wheel", "flit-core"):
        wheel(index, name.replace("-", "_"))
    own = {"own/setup.cfg": "[metadata]\nname = own\nversion = 1.2\n", "own/setup.py": "import setuptools\n"}
    project = '[project]\nname = "new"\nversion = "2"\n[build-system]\nrequires = ["flit-core>=1", "x @ file:///"]\n'
    files = {**own, "new/pyproject.toml": project, "requirements.txt": "./own\n./new\n"}
    tree, _ = build(tmp_path, files)
    names = {path.name.removesuffix("-py3-none-any.whl") for path in (tree / "pending").iterdir()}
    assert names == {
        "own-1.2.tar.gz", "new-2.tar.gz", "requirements.txt",
        "pip-1.0", "setuptools-1.0", "wheel-1.0", "flit_core-1.0",
    }  # fmt: skip


SETUP_PY = "import setuptools\nsetuptools.setup(setup_requires=['pbr>=0.5'], pbr=True)\n"


@pytest.mark.parametrize(
    "files",
    [
        {"own/setup.cfg": "[metadata]\nname = own\nversion = 1\n", "own/setup.py": SETUP_PY},
        {"own/setup.cfg": "[metadata]\nname = own\nversion = 1\n[options]\nsetup_requires =\n    pbr\n"},
    ],
    ids=["setup.py", "setup.cfg"],
)
def test_what_setup_requires_names_goes_along_too(tmp_path: Path, index: Path, files: dict[str, str]) -> None:
    """charmhelpers is built with pbr, which only its setup.py names."""
    for name in ("pip", "setuptools", "wheel", "pbr"):
        wheel(index, name)
    tree, _ = build(tmp_path, {**files, "requirements.txt": "./own\n"})
    assert (tree / "pending/pbr-1.0-py3-none-any.whl").is_file()


@pytest.mark.parametrize("text", ["setup(setup_requires=open('x'))", "not(", "setup(setup_requires=3)"])
def test_a_setup_py_that_would_have_to_run_is_left_to_the_build(
    tmp_path: Path, index: Path, text: str
) -> None:
    for name in ("pip", "setuptools", "wheel"):
        wheel(index, name)
    own = {"own/setup.cfg": "[metadata]\nname = own\nversion = 1\n", "own/setup.py": text}
    tree, _ = build(tmp_path, {**own, "requirements.txt": "./own\n"})
    assert (tree / "pending/own-1.tar.gz").is_file()


def test_an_archive_of_a_tree_has_the_name_that_pip_looks_for(tmp_path: Path, index: Path) -> None:
    sdist(index, "plain")
    files = {
        "requirements.txt": "./plain.tar.gz\n",
        "plain.tar.gz": (index / "plain-1.0.tar.gz").read_bytes(),
    }
    tree, _ = build(tmp_path, files)
    assert (tree / "pending/plain-1.0.tar.gz").is_file()


CONSTRAINED = CHARM.replace(
    "plugin: charm", "plugin: python, python-requirements: [lines.txt], python-constraints: [limits.txt]"
)


@pytest.mark.parametrize("kind", [wheel, sdist])
def test_constraints_narrow_the_versions(tmp_path: Path, index: Path, kind: Callable[..., None]) -> None:
    for version in ("1.0", "2.0", "3.0"):
        kind(index, "fast", version=version)
    wheel(index, "top", more="Requires-Dist: fast\n")
    files = {"charmcraft.yaml": CONSTRAINED, "lines.txt": "top\n", "limits.txt": "fast<3\n"}
    tree, _ = build(tmp_path, files)
    found = (tree / "venv/fast-2.0.dist-info", tree / "pending/fast-2.0.tar.gz")
    assert any(path.exists() for path in found)
    tree, _ = build(tmp_path / "less", {**files, "limits.txt": "fast == 1.0  # no more\n"})
    found = (tree / "venv/fast-1.0.dist-info", tree / "pending/fast-1.0.tar.gz")
    assert any(path.exists() for path in found)


def test_packages_are_installed_anew_when_an_included_file_changes(tmp_path: Path, index: Path) -> None:
    wheel(index, "fast")
    wheel(index, "other")
    files = {"requirements.txt": "-r more/lines.txt\n", "more/lines.txt": "fast\n"}
    assert build(tmp_path, files)[1] == ["fast.py"]
    shutil.rmtree(tmp_path / "work-22.04-amd64")
    assert build(tmp_path, {**files, "more/lines.txt": "other\n"})[1] == ["other.py"]


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


def test_a_package_that_is_nowhere(tmp_path: Path, index: Path) -> None:
    wheel(index, "fast")
    with pytest.raises(InvalidCharm) as caught:
        build(tmp_path, {"requirements.txt": "fast\n# elsewhere\nnowhere_at.all==3\n"})
    assert caught.value.message == (
        "cannot install the packages of requirements.txt for Python 3.10 on amd64"
    )
    assert caught.value.detail.startswith("at requirements.txt:3\n")
    assert "No matching distribution found for nowhere" in caught.value.detail


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("No matching distribution found for Two.x (from versions: none)", 4),
        ("cannot clone https://git.test/three", 5),
        ("Cannot install one and two-x because these package versions have conflicting dependencies.", 3),
        ("there is no space left", 0),
    ],
)
def test_a_package_at_fault_is_found_in_the_file_that_asks_for_it(
    tmp_path: Path, message: str, line: int
) -> None:
    text = 'python = "3"\ndependencies = [\n  "one>=1",\n  "two_x",\n  "three @ git+https://git.test/three@1",\n]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    fault = InvalidCharm("cannot install the packages for Python 3.12", detail=message)
    found = requirement_files.placed(fault, tmp_path, "pyproject.toml")
    assert found.detail == (f"at pyproject.toml:{line}\n{message}" if line else message)


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
    assert build(tmp_path, tree)[1] == ["fast.py"]
    assert not ran.exists()


PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "own"
dynamic = ["version"]
dependencies = ["fast"]
[tool.setuptools.dynamic]
version = {attr = "own.version.NUMBER"}
"""


def test_packages_that_lie_in_a_tree_are_found_and_not_run(tmp_path: Path, index: Path) -> None:
    wheel(index, "fast")
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w').close()\n"
    files: dict[str, str | bytes] = {
        "requirements.txt": "-r more/lines.txt  # others\n./own ; python_version > '3'\n",
        "more/lines.txt": "fast \\\n  >= 0\n-c limits.txt\n",
        "more/limits.txt": "fast < 9\n",
        "own/pyproject.toml": PROJECT,
        "own/backend.py": code,
        "own/setup.py": code,
        "own/own/version.py": f"{code}VERSION = '2.1'\n",
    }
    tree, names = build(tmp_path, files)
    assert names == ["fast.py"]
    assert (tree / "pending/requirements.txt").read_text() == "own==2.1\n"
    assert not ran.exists()
    first = (tree / "pending/own-2.1.tar.gz").read_bytes()
    files["own/own/version.py"] = "VERSION = '2.2'\n"
    tree, _ = build(tmp_path, files, track="24.04")
    assert (tree / "pending/own-2.2.tar.gz").read_bytes() != first


def test_links_that_are_put_into_a_tree_meanwhile_are_not_followed(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner waits until the tree was looked at, and puts a link where a folder was."""
    wheel(index, "fast")
    write_tree(tmp_path / "secret", {"key.txt": "private"})
    look = charm_build._left_out

    def look_and_swap(root: Path) -> Callable[[str, list[str]], set[str]]:
        left = look(root)

        def filtered(folder: str, names: list[str]) -> set[str]:
            out = left(folder, names)
            if folder.endswith("/data"):
                (root / "data").rename(tmp_path / "away")
                (root / "data").symlink_to(tmp_path / "secret")
            return out

        return filtered

    monkeypatch.setattr(charm_build, "_left_out", look_and_swap)
    with pytest.raises(InvalidCharm, match=r'cannot read ".*/data/key.txt": Not a directory'):
        build(tmp_path, {"requirements.txt": "fast\n", "data/key.txt": "own"})


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg", "PKG-INFO", "own/version.py"])
def test_links_out_of_a_package_are_not_read(tmp_path: Path, name: str) -> None:
    """What such a file says, its name and version, would travel to a machine."""
    outside = tmp_path / "outside"
    texts = {"setup.cfg": "[metadata]\nname = own\nversion = 6.6\n", "own/version.py": "VERSION = '6.6'\n"}
    texts |= {"PKG-INFO": "Metadata-Version: 2.1\nName: own\nVersion: 6.6\n"}
    outside.write_text(texts.get(name, "[project]\nname = 'own'\nversion = '6.6'\n"))
    folder = tmp_path / "tree/own"
    write_tree(folder, {"own/x.py": ""} | ({"pyproject.toml": PROJECT} if name == "own/version.py" else {}))
    place = folder / name
    place.unlink(missing_ok=True)
    place.symlink_to(outside)
    found = source_packages.describe(folder)
    assert "6.6" not in (found.version, found.name)


def test_a_package_that_says_its_version_only_when_built_is_refused(tmp_path: Path, index: Path) -> None:
    with pytest.raises(InvalidCharm) as caught:
        build(tmp_path, {"requirements.txt": "./own\n", "own/setup.py": "raise SystemExit(1)\n"})
    assert caught.value.message == 'name and version of package "own" are known only when it is built'
    assert "--allow-build-scripts" in caught.value.hint


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


SPAM = '[project]\nname = "spam"\nversion = "3.0"\ndependencies = ["fast"]\n'


def test_packages_of_repositories_are_brought_and_not_run(tmp_path: Path, index: Path) -> None:
    wheel(index, "fast")
    ran = tmp_path / "ran"
    hostile = f"open({str(ran)!r}, 'w').close()\n"
    served = tmp_path / "served"
    shell = f'[submodule "x"]\n\tpath = x\n\turl = ../x\n\tupdate = !touch {ran}\n'
    files = {"lib/pyproject.toml": SPAM, "lib/setup.py": hostile, ".gitattributes": "* filter=evil\n"}
    commit = repository(served / "spam", files)
    git(served / "spam", "tag", "v3")
    repository(served / "spam", {"lib/pyproject.toml": SPAM.replace("3.0", "4.0")})
    repository(served / "evil", {"pyproject.toml": SPAM, ".gitmodules": shell})
    with serving(served) as url:
        for ref, version in ((f"@{commit}", "3.0"), ("@v3", "3.0"), ("@main", "4.0"), ("", "4.0")):
            line = f"spam[x] @ git+{url}/spam{ref}#subdirectory=lib ; python_version > '3'\n"
            tree, names = build(tmp_path / (ref or "none"), {"requirements.txt": line})
            assert names == ["fast.py"]
            assert (tree / "pending/requirements.txt").read_text() == f"spam=={version}\n"
        with pytest.raises(InvalidCharm, match="cannot clone"):
            build(tmp_path / "gone", {"requirements.txt": f"git+{url}/spam@nothing\n"})
        with pytest.raises(InvalidCharm, match="contains no package"):
            build(tmp_path / "empty", {"requirements.txt": f"git+{url}/spam\n"})
        build(tmp_path / "evil", {"requirements.txt": f"git+{url}/evil\n"})
    assert not ran.exists()


def test_packages_of_lock_files_may_come_from_repositories(tmp_path: Path, index: Path) -> None:
    served = tmp_path / "served"
    commit = repository(served / "spam", {"pyproject.toml": SPAM.replace('"fast"', "")})
    own = '[[package]]\nname = "web"\nversion = "0"\nsource = { virtual = "." }\n'
    with serving(served) as url:
        place = f"{url}/spam?rev=main#{commit}"
        lock = (
            f'version = 1\n{own}dependencies = [{{ name = "spam" }}]\n'
            f'[[package]]\nname = "spam"\nversion = "3.0"\nsource = {{ git = "{place}" }}\n'
        )
        text = CHARM.replace("plugin: charm", "plugin: uv")
        tree, _ = build(tmp_path / "uv", {"charmcraft.yaml": text, "uv.lock": lock})
        assert (tree / "pending/spam-3.0.tar.gz").is_file()
        source = f'type = "git"\nurl = "{url}/spam"\nreference = "main"\nresolved_reference = "{commit}"\n'
        lock = f'[[package]]\nname = "spam"\nversion = "3.0"\n[package.source]\n{source}'
        text = CHARM.replace("plugin: charm", "plugin: poetry")
        project = "[tool.poetry.dependencies]\nspam = {git = 'x'}\n"
        files: dict[str, str | bytes] = {
            "charmcraft.yaml": text,
            "poetry.lock": lock,
            "pyproject.toml": project,
        }
        tree, _ = build(tmp_path / "poetry", files)
        assert (tree / "pending/spam-3.0.tar.gz").is_file()


def test_repositories_of_charms_come_with_their_submodules(tmp_path: Path) -> None:
    served = tmp_path / "served"
    repository(served / "mod", {"code.py": "X = 1\n"})
    repository(served / "charm", {"charmcraft.yaml": CHARM, "src/charm.py": ""})
    git(served / "charm", "submodule", "--quiet", "add", "../mod", "lib/mod")
    commit = repository(served / "charm", {})
    local = tmp_path / "local"
    repository(local, {"charmcraft.yaml": CHARM})
    git(local, "submodule", "--quiet", "add", str(served / "mod"), "lib/mod")
    repository(local, {})
    with serving(served) as url:
        for number, ref in enumerate(("", "@main", f"@{commit}")):
            work = tmp_path / f"brought-{number}"
            found = GitCheckout(f"git+{url}/charm{ref}", {}).bring(work)
            assert (found / "lib/mod/code.py").read_text() == "X = 1\n"
    with pytest.raises(ProviderError) as caught:  # a path of this computer is no place of a submodule
        GitCheckout(f"git+file://{local}", {}).bring(tmp_path / "refused")
    assert "transport 'file' not allowed" in caught.value.detail


@pytest.mark.parametrize("reason", ["", " (from plain)", " (from -r /tmp/lines/0.txt (line 1))"])
def test_what_pip_says_of_a_missing_package_is_read_of_all_its_releases(reason: str) -> None:
    said = f"ERROR: Could not find a version that satisfies the requirement other>=1{reason}\nERROR: "
    found = wheels._MISSING.search(f"{said}No matching distribution found for other>=1{reason}\n")
    assert found is not None
    assert found[1] == "other>=1"
