"""The command metrics."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pushjuju.cli.work import metrics_file
from pushjuju.workers.counts import Counts
from tests.waiting import until
from tests.world.charms import Charms
from tests.world.commandline import Run, ok
from tests.world.controller import TestController


@pytest.fixture
def runtime(runtime: TestController, packs: Charms) -> TestController:
    """A model with a unit."""
    runtime.active("web", packed=packs.make("web"))
    runtime.focus()
    return runtime


def test_the_file_is_replaced_in_one_step_and_all_users_can_read_it(
    runtime: TestController, run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "node" / "pushjuju.prom"
    path.parent.mkdir()
    path.write_text("old")
    with path.open() as old:
        assert ok(run("metrics", "-o", str(path))) == ""
        assert old.read() == "old"
    assert path.read_text().splitlines()[:3] == ok(run("metrics")).splitlines()[:3]
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_a_link_or_pipe_stays_and_gets_the_metrics(runtime: TestController, run: Run, tmp_path: Path) -> None:
    """As root, the other way would make a file of /dev/stdout or /dev/null."""
    link, pipe, behind = (tmp_path / name for name in ("link", "pipe", "behind"))
    link.symlink_to(behind)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (link, pipe):
        assert ok(run("metrics", "-o", str(path))) == ""
    assert (link.is_symlink(), pipe.is_fifo()) == (True, True)
    first = f"{ok(run('metrics')).splitlines()[0]}\n"
    assert behind.read_text().startswith(first)
    assert os.read(reader, 1 << 16).decode().startswith(first)
    os.close(reader)


def test_a_directory_that_is_missing_is_an_error(runtime: TestController, run: Run, tmp_path: Path) -> None:
    ended = run("metrics", "-o", str(tmp_path / "missing" / "pushjuju.prom"))
    assert ended.status == 1
    assert str(tmp_path / "missing") in ended.err


def test_update_status_writes_the_metrics_after_a_round_that_failed_too(
    runtime: TestController, run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "pushjuju.prom"
    assert run("update-status", "--metrics-file", str(path)).status == 1  # the machine is gone
    assert 'pushjuju_units{model="admin/shop",application="web"' in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o644


async def test_a_process_writes_its_metrics_again_and_at_its_end(
    runtime: TestController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_file, "EVERY_S", 0.01)
    path, counts = tmp_path / "pushjuju.prom", Counts()
    said: list[str] = []
    async with metrics_file.kept(runtime.ctx, str(path), counts.samples, said.append):
        assert "pushjuju_leases_lost_total 0\n" in path.read_text()
        counts.lost = 1
        await until(lambda: "pushjuju_leases_lost_total 1\n" in path.read_text())
        monkeypatch.setattr(metrics_file, "EVERY_S", 60)
        counts.lost = 2
    assert "pushjuju_leases_lost_total 2\n" in path.read_text()
    assert said == []


async def test_a_file_that_can_no_longer_be_written_is_one_warning(
    runtime: TestController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_file, "EVERY_S", 0.01)
    folder = tmp_path / "node"
    folder.mkdir()
    said: list[str] = []
    async with metrics_file.kept(runtime.ctx, str(folder / "x.prom"), list, said.append):
        shutil.rmtree(folder)
        await until(lambda: said)
    assert [text.startswith(f"the metrics cannot be written to {folder}/x.prom: ") for text in said] == [True]


def test_promtool_accepts_the_text(runtime: TestController, run: Run) -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    done = subprocess.run(
        [tool, "check", "metrics"], input=ok(run("metrics")), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_tokens_are_made_and_ended(runtime: TestController, run: Run) -> None:
    made = {ok(run("metrics", "token")).strip() for _ in range(2)}
    assert [len(token) for token in made] == [43, 43]
    shown = ok(run("audit"))
    assert not any(token in shown for token in made)
    assert "2 tokens ended." in run("metrics", "token", "--revoke").err
    assert "0 tokens ended." in run("metrics", "token", "--revoke").err


@pytest.mark.parametrize("words", [("tokens",), ("token", "--per-unit"), ("token", "-o", "x"), ("--revoke",)])
def test_words_and_flags_of_tokens_that_do_not_fit(run: Run, words: tuple[str, ...]) -> None:
    assert run("metrics", *words).status == 2
