"""Programs that get events: only those that nobody else can change."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pushjuju.core.errors import NotifyError, NotValid
from pushjuju.plugins.api.notices import NotifyTarget
from pushjuju.plugins.notifiers.command import Command
from tests.unit.plugins.notifiers.test_webhook import EVENT
from tests.waiting import until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notify.d"
    made.mkdir(mode=0o700)
    return made


def program(folder: Path, text: str, mode: int = 0o700) -> NotifyTarget:
    """Write a program and return the target that runs it."""
    path = folder / "page"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return NotifyTarget(name="t", address="command:page", folder=folder)


def failure(target: NotifyTarget, timeout_s: float = 10) -> str:
    with pytest.raises(NotifyError) as caught:
        Command(timeout_s).send(target, EVENT)
    return caught.value.message


def test_a_program_reads_the_event_in_a_neutral_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD_OF_A_USER", "x")
    target = program(folder, f"cat > {tmp_path}/event; pwd > {tmp_path}/place; env > {tmp_path}/env")
    Command().check(target)
    Command().send(target, EVENT)
    assert json.loads((tmp_path / "event").read_text()) == EVENT.document()
    assert (tmp_path / "place").read_text() == "/\n"
    assert "LD_PRELOAD_OF_A_USER" not in (tmp_path / "env").read_text()


def test_the_last_line_of_a_program_that_fails_is_shown(folder: Path) -> None:
    target = program(folder, "echo first >&2; printf 'no\\033[31m pager\\n' >&2; exit 3")
    assert failure(target) == "command:page exited with 3: no[31m pager"


def test_a_program_that_hangs_is_killed(folder: Path) -> None:
    assert failure(program(folder, "exec sleep 60"), 0.2) == "command:page took longer than 0 s"


async def test_what_a_program_that_hangs_has_started_is_killed_too(folder: Path, tmp_path: Path) -> None:
    assert failure(program(folder, f"sleep 60 & echo $! > {tmp_path}/pid; wait"), 1)
    await until(lambda: not _lives(int((tmp_path / "pid").read_text())))


def _lives(pid: int) -> bool:
    """Return False for a process that has ended, also when nobody has waited for it."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o600])
def test_a_program_that_others_may_change_or_nobody_may_run_is_refused(folder: Path, mode: int) -> None:
    target = program(folder, "true", mode)
    with pytest.raises(NotValid):
        Command().check(target)
    assert failure(target)


def test_a_folder_that_others_may_change_is_refused(folder: Path) -> None:
    target = program(folder, "true")
    folder.chmod(0o777)
    assert "others may change" in failure(target)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("given", ["notify.d", "notify.d/page"])
def test_a_program_or_folder_of_another_user_is_refused(folder: Path, tmp_path: Path, given: str) -> None:
    target = program(folder, "true")
    os.chown(tmp_path / given, 65534, 65534)
    assert failure(target) == f"others may change {tmp_path / given}"


@pytest.mark.parametrize("name", ["", "../page", ".hidden", "a/b", "-x", "gone"])
def test_only_a_program_of_the_folder_is_run(folder: Path, name: str) -> None:
    with pytest.raises(NotValid):
        Command().check(NotifyTarget(name="t", address=f"command:{name}", folder=folder))
