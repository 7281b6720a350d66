"""The version of a tree, asked of its version control; what the tree's own settings name is not started."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pushjuju.charms.archive.version import run_vcs, version_text

WHO = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> None:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    subprocess.run(["git", *WHO, *words], cwd=folder, check=True, env=environ, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    git(tree, "init", "-q")
    (tree / "file").write_text("one")
    (tree / ".gitattributes").write_text("* filter=bad diff=bad\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "x")
    git(tree, "tag", "-am", "x", "v4")
    return tree


@pytest.fixture
def trap(tmp_path: Path) -> tuple[Path, str]:
    """Return a program, and the file whose being there tells that it ran."""
    ran, program = tmp_path / "ran", tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch {ran}\nexec cat\n")
    program.chmod(0o755)
    return ran, str(program)


SETTINGS = (
    "core.fsmonitor", "filter.bad.clean", "filter.bad.process", "diff.bad.textconv", "diff.bad.command",
    "diff.external", "core.sshCommand", "core.pager", "pager.describe", "pager.diff", "core.gitProxy",
)  # fmt: skip


def test_settings_of_a_tree_start_no_program(tree: Path, trap: tuple[Path, str], tmp_path: Path) -> None:
    ran, program = trap
    (tmp_path / "more").write_text(f"[core]\n\tfsmonitor = {program}\n")
    for name in SETTINGS:
        git(tree, "config", name, program)
    git(tree, "config", "filter.bad.required", "true")
    git(tree, "config", "include.path", str(tmp_path / "more"))
    git(tree, "config", "alias.describe", f"!{program}")
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout"):
        (tree / ".git/hooks").mkdir(exist_ok=True)
        (tree / ".git/hooks" / hook).symlink_to(program)
    os.utime(tree / "file", (1, 1))  # so that its content has to be compared
    assert version_text(tree, run_vcs) == ("v4", [])
    (tree / "file").write_text("two")
    assert version_text(tree, run_vcs) == ("v4-dirty", [])
    assert not ran.exists()


def test_settings_of_a_submodule_start_no_program(tree: Path, trap: tuple[Path, str], tmp_path: Path) -> None:
    ran, program = trap
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q")
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tree), "sub")
    git(top, "commit", "-qm", "x")
    git(top, "tag", "-am", "x", "v7")
    for name in SETTINGS:
        git(top / "sub", "config", name, program)
    (top / "sub/file").write_text("two")
    assert version_text(top, run_vcs) == ("v7", [])
    assert version_text(top / "sub", run_vcs) == ("v4-dirty", [])
    assert not ran.exists()
    (top / "sub/more").touch()
    for name in SETTINGS:
        git(top / "sub", "config", "--unset", name)
    git(top / "sub", "add", "-A")
    git(top / "sub", "commit", "-qm", "y")
    assert version_text(top, run_vcs) == ("v7-dirty", [])


def test_a_further_work_tree_and_one_without_tags(tree: Path, tmp_path: Path) -> None:
    git(tree, "worktree", "add", "-q", str(tmp_path / "other"))
    (tmp_path / "other/sub").mkdir()
    assert version_text(tmp_path / "other/sub", run_vcs) == ("v4", [])
    (tmp_path / "other/file").write_text("two")
    assert version_text(tmp_path / "other/sub", run_vcs) == ("v4-dirty", [])
    git(tree, "tag", "-d", "v4")
    assert len(version_text(tree, run_vcs)[0]) >= 7


def test_a_tree_whose_objects_are_told_of_with_sha256(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    (tmp_path / "file").touch()
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    git(tmp_path, "tag", "-am", "x", "v5")
    assert version_text(tmp_path, run_vcs) == ("v5", [])


@pytest.mark.parametrize("broken", ["HEAD", "config", "objects"])
def test_a_damaged_repository_is_a_warning(tree: Path, broken: str) -> None:
    (tree / ".git" / broken).rename(tree / ".git/was")
    version, warnings = version_text(tree, run_vcs)
    assert version == ""
    assert warnings[0].startswith('"git" version string generation failed : ')


def test_the_other_tools_are_told_to_pass_over_a_trees_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("hg", "bzr"):
        (tools / name).write_text('#!/bin/sh\necho "$HGRCSKIPREPO $PYTHONPATH $PWD $*"\n')
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert run_vcs("hg", tmp_path) == f"1  / -R {tmp_path} id -n\n"
    assert run_vcs("bzr", tmp_path).endswith(f" / --no-plugins version-info {tmp_path}\n")
