"""Packing a directory: equal trees give equal bytes; rules and refusals."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pushjuju.charms.archive import pack as packing
from pushjuju.charms.archive.pack import pack
from pushjuju.core.errors import InvalidCharm, NotFound, StoreError
from tests.charms_tools.unpacking import unpack
from tests.world.charm_trees import METADATA, charm_tree, write_tree


def modes(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as file:
        return {info.filename: stat.filemode(info.external_attr >> 16) for info in file.infolist()}


def test_equal_trees_give_equal_archives(tmp_path: Path) -> None:
    one = charm_tree(tmp_path / "one", {"src/a.py": "x = 1\n"})
    two = charm_tree(tmp_path / "two", {"src/a.py": "x = 1\n"})
    os.utime(two / "src/a.py", (1, 1))
    (two / "src").chmod(0o700)
    (two / "metadata.yaml").chmod(0o600)
    first, second = pack(one, tmp_path / "1.charm"), pack(two, tmp_path / "2.charm")
    assert first.sha256 == second.sha256
    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.size == first.path.stat().st_size


@pytest.mark.parametrize("swapped", ["src/deep/a.py", "src/deep", "src"])
@pytest.mark.parametrize("by", ["link", "pipe"])
def test_what_is_swapped_while_a_tree_is_packed_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str, by: str
) -> None:
    """The owner of the tree may be another user than who packs it, and need not wait until that is over."""
    write_tree(tmp_path / "secret", {"src/deep/a.py": "private", "deep/a.py": "private", "a.py": "private"})
    tree, out = charm_tree(tmp_path / "tree", {"src/deep/a.py": "own"}), tmp_path / "c.charm"
    targets = {"src": "secret/src", "src/deep": "secret/deep", "src/deep/a.py": "secret/a.py"}

    def swap(_members: object) -> None:
        (tree / swapped).rename(tmp_path / "away")
        if by == "link":
            (tree / swapped).symlink_to(tmp_path / targets[swapped])
        else:
            os.mkfifo(tree / swapped)

    monkeypatch.setattr(packing, "_check_documents", swap)
    with pytest.raises(InvalidCharm, match=r'cannot read ".*/src/deep/a\.py": '):
        pack(tree, out)
    assert not out.exists()


def test_modes_entries_and_members(tmp_path: Path) -> None:
    tree = charm_tree(
        tmp_path / "c", {"hooks/start": "#!/bin/sh\n", "hooks/helper": "x", "src/charm.py": "x"}
    )
    (tree / "src/charm.py").chmod(0o500)
    (tree / "hooks/stop").symlink_to("install")
    packed = pack(tree, tmp_path / "c.charm")
    assert modes(packed.path) == {
        "hooks/": "drwxr-xr-x",
        "hooks/helper": "-rw-r--r--",
        "hooks/install": "-rwxr-xr-x",
        "hooks/start": "-rwxr-xr-x",
        "hooks/stop": "lrwxrwxrwx",
        "metadata.yaml": "-rw-r--r--",
        "revision": "-rw-r--r--",
        "src/": "drwxr-xr-x",
        "src/charm.py": "-rwxr-xr-x",
    }
    assert packed.members == tuple(sorted(name.rstrip("/") for name in modes(packed.path)))
    assert packed.charm.warnings == (f'making "{tree}/hooks/start" executable in charm',)


def test_built_in_and_own_ignore_rules(tmp_path: Path) -> None:
    kept = {"src/build/x": "", "src/keep.pyc": "", "docs/revision": ""}
    left = {".git/config": "", ".tox/x": "", "build/x": "", "sub/.bzr/x": "", "a.pyc": "", "revision": "7",
            "version": "9.9", ".jujuignore": "*.pyc\n!keep.pyc\n", "sub/skip/deep": ""}  # fmt: skip
    tree = charm_tree(tmp_path / "c", {**kept, **left})
    (tree / ".jujuignore").write_text("*.pyc\n!keep.pyc\n/sub/skip\n")
    packed = pack(tree, tmp_path / "c.charm", run=lambda tool, path: "v1-dirty\n")
    with zipfile.ZipFile(packed.path) as file:
        names = {name for name in file.namelist() if not name.endswith("/")}
        assert names == {"metadata.yaml", "hooks/install", "revision", "version", *kept}
        assert file.read("revision") == b"7"
        assert file.read("version") == b"v1-dirty"
    assert packed.charm.revision == 7
    assert packed.charm.version == "v1-dirty"


def test_version_text_comes_from_git(tmp_path: Path) -> None:
    tree = charm_tree(tmp_path / "c")
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    who = ("-c", "user.name=n", "-c", "user.email=e")
    for argv in (
        ("init", "-q"),
        ("add", "-A"),
        (*who, "commit", "-qm", "x"),
        (*who, "tag", "-am", "x", "v4"),
    ):
        subprocess.run(["git", *argv], cwd=tree, check=True, env=env)
    assert pack(tree, tmp_path / "c.charm").charm.version == "v4"
    (tree / "metadata.yaml").write_text(METADATA + "tags: [x]\n")
    assert pack(tree, tmp_path / "c.charm").charm.version == "v4-dirty"


def test_version_tools_are_asked_without_a_shell_and_may_fail(tmp_path: Path) -> None:
    asked: list[tuple[str, Path]] = []

    def fail(tool: str, path: Path) -> str:
        asked.append((tool, path))
        raise subprocess.CalledProcessError(128, [tool])

    tree = charm_tree(tmp_path / "c", {".hg/x": ""})
    packed = pack(tree, tmp_path / "c.charm", run=fail)
    assert asked == [("hg", tree)]
    assert packed.charm.version == ""
    assert packed.charm.warnings[0].startswith('"hg" version string generation failed : ')
    assert packed.charm.warnings[0].endswith("charm version won't show in pushjuju status.")


def test_version_file_without_version_control(tmp_path: Path) -> None:
    tree = charm_tree(tmp_path / "c", {"version": "revision-id: abc" + "d" * 200 + "\nsecond line\n"})
    version = pack(tree, tmp_path / "c.charm").charm.version
    assert version.startswith("abcddd")
    assert len(version) == 100


def test_a_charm_without_a_version_is_logged_with_its_absolute_path(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = charm_tree(tmp_path / "c", {})
    monkeypatch.chdir(tree)
    caplog.set_level("DEBUG")
    pack(Path(), tmp_path / "c.charm")
    assert caplog.messages == [f'charm is not versioned, charm path "{tree}"']
    (tree / "version").write_text("v1")
    pack(Path(), tmp_path / "c.charm")
    assert caplog.messages[1:] == [
        f'charm is not in version control, but uses a version file, charm path "{tree}"'
    ]


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(path))


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda path: path.symlink_to("/etc/passwd"), 'symlink "x" is absolute: "/etc/passwd"'),
        (lambda path: path.symlink_to("../x"), 'symlink "x" links out of charm: "../x"'),
        (lambda path: path.symlink_to("hooks/../.."), 'symlink "x" links out of charm: "hooks/../.."'),
        (lambda path: path.symlink_to("x"), 'symlink "x" links out of charm: "x"'),
        (make_fifo, 'file is a named pipe: "x"'),
        (make_socket, 'file is a socket: "x"'),
        (lambda path: (path.parent / "a\\b").write_text(""), "file name has a backslash"),
        (lambda path: (path.parent / ".jujuignore").write_text("ok\n[a\n"),
         'parsing ".jujuignore" file: [line 2]: unterminated character class in pattern "[a"'),
        (lambda path: (path.parent / ".jujuignore").write_text("/metadata.yaml\n"),
         "metadata.yaml is left out by .jujuignore"),
    ],
)  # fmt: skip
def test_refusals_write_nothing(tmp_path: Path, make: Callable[[Path], object], fault: str) -> None:
    tree = charm_tree(tmp_path / "c")
    make(tree / "x")
    with pytest.raises(InvalidCharm) as caught:
        pack(tree, tmp_path / "out" / "c.charm")
    assert fault in caught.value.message
    assert list(tmp_path.glob("out/*")) == []


def test_all_that_cannot_be_part_of_a_charm_is_told_at_once(tmp_path: Path) -> None:
    tree = charm_tree(tmp_path / "c", {"a/keep": "", "b\\c/inside": ""})
    make_fifo(tree / "a/pipe")
    (tree / "absolute").symlink_to("/tmp")
    (tree / "circle").symlink_to("circle")
    with pytest.raises(InvalidCharm) as caught:
        pack(tree, tmp_path / "c.charm")
    assert caught.value.message == 'file is a named pipe: "a/pipe"'
    assert caught.value.file == "a/pipe"
    assert caught.value.detail.splitlines() == [
        "also:",
        '  symlink "absolute" is absolute: "/tmp"',
        '  file name has a backslash or control character: "b\\\\c"',
        '  symlink "circle" links out of charm: "circle"',
    ]


def test_a_link_that_leaves_by_way_of_another_link_is_refused(tmp_path: Path) -> None:
    tree = charm_tree(tmp_path / "c", {"a/b/c/keep": ""})
    (tree / "deep").symlink_to("a/b/c")
    (tree / "fine").symlink_to("deep/keep")
    pack(tree, tmp_path / "c.charm")
    (tree / "a/b/c/up").symlink_to("../../..")
    (tree / "bad").symlink_to("a/b/c/up/../x")
    with pytest.raises(InvalidCharm, match='symlink "bad" links out of charm'):
        pack(tree, tmp_path / "c.charm")


def test_a_linked_root_is_resolved(tmp_path: Path) -> None:
    charm_tree(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    assert pack(tmp_path / "link", tmp_path / "c.charm").charm.name == "web"
    assert (
        pack(tmp_path / "link", tmp_path / "d.charm").sha256
        == pack(tmp_path / "real", tmp_path / "e.charm").sha256
    )


def test_needs_hooks_or_dispatch_and_a_valid_name(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "c", {"metadata.yaml": METADATA})
    (tree / "hooks").mkdir()
    with pytest.raises(InvalidCharm, match='invalid charm "web": has no hooks nor dispatch file'):
        pack(tree, tmp_path / "c.charm")
    charm_tree(tmp_path / "d", metadata=METADATA.replace("web", "Web_1"))
    with pytest.raises(InvalidCharm, match='charm name "Web_1" not valid'):
        pack(tmp_path / "d", tmp_path / "c.charm")


def test_missing_path(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match='no charm was found at "'):
        pack(tmp_path / "nothing", tmp_path / "c.charm")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    tree = charm_tree(tmp_path / "c")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match='cannot write "'):
        pack(tree, tmp_path / "file" / "c.charm")


def test_an_own_archive_is_taken_byte_by_byte(tmp_path: Path) -> None:
    tree = charm_tree(tmp_path / "c", {"lib/x.py": "y\n"})
    first = pack(tree, tmp_path / "1.charm")
    second = pack(first.path, tmp_path / "2.charm")
    assert (second.sha256, second.size, second.members) == (first.sha256, first.size, first.members)


NAMES = st.text(alphabet="abcXYZ09._- äß", min_size=1, max_size=8).filter(
    lambda name: name.strip(" .") and name not in ("metadata.yaml", "revision", "version", "build", "hooks")
)
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=3).map("/".join),
    st.tuples(st.binary(max_size=50), st.booleans()),
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(TREES)
def test_pack_then_unpack_gives_the_tree_back(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, tuple[bytes, bool]]
) -> None:
    work = tmp_path_factory.mktemp("trip")
    paths = [path for path in files if not any(other.startswith(path + "/") for other in files)]
    tree = charm_tree(work / "c", {path: files[path][0] for path in paths})
    for path in paths:
        (tree / path).chmod(0o755 if files[path][1] else 0o640)
    packed = pack(tree, work / "c.charm")
    unpack(packed.path, work / "out", revision=12)
    assert (work / "out/revision").read_text() == "12"
    for path in paths:
        found = work / "out" / path
        assert found.read_bytes() == files[path][0]
        assert stat.S_IMODE(found.stat().st_mode) == (0o755 if files[path][1] else 0o644)
    again = pack(work / "out", work / "d.charm")
    assert set(again.members) == set(packed.members)
