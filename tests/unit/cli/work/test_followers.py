"""Commands that follow a model or controller end when it is gone: the real program, in processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, cast

import pytest

from pushjuju.cli.work import drive, waiting
from pushjuju.core.errors import StoreGone
from pushjuju.services.entities.model.sessions import Session
from pushjuju.workers import background
from tests.waiting import comes
from tests.world.controller import TestController

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Cli

PROGRAM = shutil.which("pushjuju", path=str(Path(sys.executable).parent)) or "pushjuju"
WITHIN_S = 60.0
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the program beside the test; what is left of it is ended."""
    env = {**os.environ, "PUSHJUJU_DATA": str(tmp_path / "data"), "PUSHJUJU_WAIT": "0", "HOME": str(tmp_path)}
    begun: list[subprocess.Popen[str]] = []

    def run(*words: str) -> subprocess.Popen[str]:
        out, err = tmp_path / f"{len(begun)}.out", tmp_path / f"{len(begun)}.err"
        with out.open("w") as stdout, err.open("w") as stderr:
            begun.append(
                subprocess.Popen(
                    [PROGRAM, *words], env=env, cwd=tmp_path, stdout=stdout, stderr=stderr, text=True
                )
            )
        return begun[-1]

    assert run("bootstrap", "local", "lab", "--add-model", "shop").wait(WITHIN_S) == 0
    yield run
    for process in begun:
        process.kill()
        process.wait()


def wait_for(path: Path, text: str) -> None:
    """Wait until a file has a text."""
    comes(lambda: path.exists() and text in path.read_text(), f"{path} never had {text!r}", WITHIN_S)


def test_a_removed_model_ends_what_follows_it(start: Start, tmp_path: Path) -> None:
    tail = start("debug-log", "--tail")
    watch = start("status", "--watch", "100ms")
    waits = start("wait-for", "application", "later")
    wait_for(tmp_path / "2.out", "shop")
    wait_for(tmp_path / "3.err", "not found, waiting")
    assert start("destroy-model", "shop", "--no-prompt").wait(WITHIN_S) == 0
    assert (tail.wait(WITHIN_S), watch.wait(WITHIN_S), waits.wait(WITHIN_S)) == (0, 1, 1)
    assert (tmp_path / "1.err").read_text() == "model admin/shop is gone\n"
    assert "ERROR " in (tmp_path / "2.err").read_text()
    assert (tmp_path / "3.err").read_text().endswith("ERROR model admin/shop removed\n")


def test_a_removed_controller_ends_what_follows_it(start: Start, tmp_path: Path) -> None:
    followers = [
        start("debug-log", "--tail", "-m", "lab:shop"),
        start("status", "--watch", "100ms", "-m", "lab:shop"),
        start("wait-for", "application", "later", "-m", "lab:shop"),
        start("wait-for", "model", "later", "-m", "lab:shop"),
        start("controller", "run", "-c", "lab"),
    ]
    wait_for(tmp_path / "2.out", "shop")
    for number in (3, 4):
        wait_for(tmp_path / f"{number}.err", "not found, waiting")
    assert start("unregister", "lab", "--no-prompt").wait(WITHIN_S) == 0
    assert [follower.wait(WITHIN_S) for follower in followers][1:] == [1, 1, 1, 1]
    for number in range(2, len(followers) + 1):
        assert "ERROR " in (tmp_path / f"{number}.err").read_text(), number


def test_a_task_of_a_removed_controller_is_not_waited_for(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "waits", lambda _cli: False)
    opened = Session(ctx=runtime.ctx, model=runtime.resolve_model())
    root = runtime.ctx.controller.root
    root.rename(root.with_name("aside"))
    with pytest.raises(StoreGone):
        waiting.work(cast("Cli", None), opened, lambda: False)


def test_a_model_is_destroyed_by_one_background_process(start: Start, tmp_path: Path) -> None:
    destroying = start("destroy-model", "shop", "--no-prompt")
    assert destroying.wait(WITHIN_S) == 0
    assert (tmp_path / "1.err").read_text().endswith("Model destroyed.\n")


def test_who_asks_for_the_background_process_keeps_none_from_its_work(runtime: TestController) -> None:
    controller = runtime.ctx.controller
    asking = Thread(target=lambda: [background.running(controller) for _ in range(2000)])
    asking.start()
    for _ in range(50):
        with background.only_one(controller, tries=20) as free:
            assert free
    asking.join()
