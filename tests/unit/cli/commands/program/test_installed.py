"""`doctor` tells whether shells complete and `man` finds the page; the commands that it names work."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pushjuju.cli.commands.program import doctor
from tests.world import how_to

pytestmark = pytest.mark.skipif(
    not shutil.which("man"), reason="man is not installed: apt-get install man-db"
)


def entries(environ: dict[str, str]) -> dict[str, dict[str, str]]:
    return {entry["subject"]: entry for entry in doctor.installed(environ)}


@pytest.fixture
def shell(tmp_path: Path) -> how_to.Shell:
    """A home with a blank in its name, whose programs include pushjuju."""
    return how_to.Shell(tmp_path / "a home")


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("package", [True, False])
def test_the_command_that_is_named_makes_the_shell_complete(
    shell: how_to.Shell, name: str, package: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bash_completion").touch()
    place = tmp_path / ("bash_completion" if package else "missing")
    monkeypatch.setattr(doctor, "_BASH_COMPLETION", place)
    environ = {**shell.environ, "SHELL": f"/usr/bin/{name}"}
    lacking = entries(environ)["completion"]
    assert (lacking["level"], name in lacking["message"]) == ("warning", True)
    code, said = shell(lacking["fix"])
    assert not code, said
    assert entries(environ)["completion"] == {
        "subject": "completion", "level": "ok", "message": f"{name} completes commands, flags and names",
    }  # fmt: skip


def test_a_line_that_sources_the_script_counts_unless_it_is_a_comment(shell: how_to.Shell) -> None:
    start = shell.home / ".bashrc"
    environ = {**shell.environ, "SHELL": "/bin/bash"}
    start.write_text("# source <(pushjuju completion bash)\n")
    assert entries(environ)["completion"]["level"] == "warning"
    start.write_text("source <(pushjuju completion bash)\n")
    assert entries(environ)["completion"]["level"] == "ok"


def test_the_page_is_told_as_man_finds_it(shell: how_to.Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.os, "geteuid", lambda: 1000)
    (shell.home / ".local/bin").mkdir(parents=True)
    shell.environ["PATH"] += f":{shell.home}/.local/bin"  # as with pipx; man looks beside it
    lacking = entries(shell.environ)["manual page"]
    assert lacking["level"] == "warning"
    code, said = shell(lacking["fix"])
    assert not code, said
    assert entries(shell.environ)["manual page"]["level"] == "ok"


def test_where_there_is_no_such_shell_and_no_man_nothing_is_told(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "SHELL": "/bin/dash", "PATH": str(tmp_path)}
    assert doctor.installed(environ) == []
