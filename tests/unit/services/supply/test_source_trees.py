"""The source trees of `tests/trees`: what is built of them, and what is refused with its reason."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from pushjuju.charms.archive.pack import PackedCharm, pack
from pushjuju.charms.archive.reader import read_charm
from pushjuju.charms.values.charm_bases import BaseRequest, choose_base
from pushjuju.core.base import Base
from pushjuju.core.errors import InvalidCharm
from pushjuju.services.supply import charm_build
from tests.charms_tools import trees
from tests.charms_tools.unpacking import unpack
from tests.charms_tools.wheelhouse import wheel


@pytest.fixture
def index(index: Path) -> Path:
    """Return a folder that packages come from; it has the package `fast`."""
    wheel(index, "fast")
    return index


def built(tmp_path: Path, tree: Path, track: str = "22.04") -> PackedCharm:
    work = tmp_path / f"work-{tree.name}-{track}"
    work.mkdir()
    environ = {"PUSHJUJU_CACHE": str(tmp_path / "cache")}
    found = charm_build.built(tree, work, base=Base("ubuntu", track), environ=environ)
    return pack(found, tmp_path / f"{tree.name}.charm")


def test_jujuignore_is_for_the_source_tree_not_for_installed_packages(tmp_path: Path, index: Path) -> None:
    tree = trees.copy("ignored-venv", tmp_path)
    (tree / "venv").mkdir()
    (tree / "venv/pyvenv.cfg").write_text("")
    (tree / "src/left.pyc").write_text("")
    assert charm_build.is_source(tree)
    members = built(tmp_path, tree).members
    assert "venv/fast.py" in members
    assert not {"venv/pyvenv.cfg", "src/left.pyc", "doc", ".jujuignore", "charmcraft.yaml"} & set(members)


def test_jujuignore_cannot_hide_what_the_build_reads(tmp_path: Path, index: Path) -> None:
    tree = trees.copy("ignored-venv", tmp_path)
    (tree / ".jujuignore").write_text("/venv\n/*.yaml\n/*.txt\nrevision\n")
    (tree / "revision").write_text("7")
    packed = built(tmp_path, tree)
    assert {"venv/fast.py", "metadata.yaml", "dispatch"} <= set(packed.members)
    assert packed.charm.revision == 7


def test_hooks_that_lead_to_the_entry_point_lead_to_dispatch(tmp_path: Path, index: Path) -> None:
    packed = built(tmp_path, trees.copy("linked-hooks", tmp_path))
    charm = tmp_path / "unpacked"
    unpack(packed.path, charm)
    assert (charm / "dispatch").read_text().endswith("exec python3 src/charm.py\n")
    targets = {path.name: str(path.readlink()) for path in (charm / "hooks").iterdir() if path.is_symlink()}
    assert targets == {"install": "../dispatch", "upgrade-charm": "../dispatch"}
    assert (charm / "hooks/stop").read_text() == "#!/bin/sh\nexit 0\n"


def test_a_source_tree_is_for_the_newest_base_that_it_names() -> None:
    charm = read_charm(trees.TREES / "many-bases").charm
    first, second = charm.bases()
    assert (first.track, second.track) == ("20.04", "22.04")
    assert choose_base(charm.name, charm.bases(), BaseRequest(source=True)) == second
    # An archive that names several keeps to Juju's rule: its default base, else the first.
    assert choose_base(charm.name, charm.bases(), BaseRequest()) == first


def test_a_dispatch_of_the_tree_stays(tmp_path: Path, index: Path) -> None:
    tree = trees.copy("linked-hooks", tmp_path)
    (tree / "dispatch").write_text("#!/bin/sh\nexec src/charm.py\n")
    (tree / "dispatch").chmod(0o755)
    with zipfile.ZipFile(built(tmp_path, tree).path) as archive:
        assert archive.read("dispatch") == b"#!/bin/sh\nexec src/charm.py\n"
        assert archive.read("hooks/install") == b"../dispatch"


def test_a_charm_of_plain_hooks_gets_no_dispatch(tmp_path: Path) -> None:
    tree = trees.copy("linked-hooks", tmp_path)
    text = (tree / "charmcraft.yaml").read_text()
    (tree / "charmcraft.yaml").write_text(text.replace("plugin: charm", "plugin: dump"))
    (tree / "requirements.txt").unlink()
    for name in ("install", "upgrade-charm"):
        (tree / "hooks" / name).unlink()
    assert "dispatch" not in pack(tree, tmp_path / "c.charm").members
    (tree / "hooks/start").symlink_to("../src/charm.py")
    assert "dispatch" in pack(tree, tmp_path / "c.charm").members


def test_a_submodule_that_is_not_there_is_named(tmp_path: Path, index: Path) -> None:
    tree = trees.copy("linked-hooks", tmp_path)
    (tree / ".gitmodules").write_text('[submodule "ops"]\n\tpath = mod/ops\n\turl = https://x/ops\n')
    with pytest.raises(InvalidCharm, match="the git submodule mod/ops is not in the tree"):
        built(tmp_path, tree)


@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        ("rustup-script", {"venv/fast.py", "dispatch", "src/charm.py", "manifest.yaml"}, {"charmcraft.yaml"}),
        ("dumped-hooks", {"hooks/install", "files/limits.conf", "metadata.yaml"}, {"dispatch", "venv"}),
        ("no-architectures", {"venv/fast.py", "dispatch"}, {"charmcraft.yaml"}),
        (
            "poetry-project",
            {"venv/fast.py", "venv/extra.py", "dispatch"},
            {"venv/never.py", "charmcraft.yaml"},
        ),
        (
            "uv-project",
            {"venv/fast.py", "venv/extra.py", "venv/grouped.py", "dispatch"},
            {"venv/never.py", "charmcraft.yaml"},
        ),
    ],
)
def test_trees_in_the_shapes_of_public_charms_are_packed_whole(
    tmp_path: Path, index: Path, name: str, has: set[str], lacks: set[str]
) -> None:
    for package in ("extra", "grouped", "never"):
        wheel(index, package)
    packed = built(tmp_path, trees.copy(name, tmp_path), "24.04")
    members = set(packed.members)
    assert (has - members, lacks & members) == (set(), set())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("scripted", 'part "charm" has "override-build"'),
        ("reactive", 'part "charm" uses the plugin "reactive", which runs the code of layers'),
    ],
)
def test_trees_that_run_code_are_refused_with_the_reason_and_the_line(
    tmp_path: Path, index: Path, name: str, reason: str
) -> None:
    tree = trees.copy(name, tmp_path)
    with pytest.raises(InvalidCharm) as caught:
        built(tmp_path, tree, "24.04")
    assert reason in f"{caught.value.message}\n{caught.value.detail}"
    assert "--allow-build-scripts" in caught.value.hint
    lines = (tree / "charmcraft.yaml").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.strip() == "charm:")
    assert f"charmcraft.yaml:{line}" in f"{caught.value.message}\n{caught.value.detail}", str(caught.value)
