"""How a controller process ends when its store is gone for good, and that other errors do not end it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreBusy, StoreGone, StoreTooNew
from pushjuju.core.values import changed
from pushjuju.store import processes
from pushjuju.workers import driver, serving
from pushjuju.workers.driver import Driver
from tests.world.charms import Charms
from tests.world.controller import TestController


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestController]:
    """A controller whose processes look often, and learn of the store only by their look at it."""
    monkeypatch.setattr(serving, "_DRAIN_LOOK_S", 0.01)
    monkeypatch.setattr(driver, "STORE_POLL_S", 0.01)
    monkeypatch.setattr(Driver, "_claim_if_usable", lambda _: False)
    world = TestController.build(tmp_path, Charms(tmp_path / "charms"))
    yield world
    world.ctx.close()


def failing(monkeypatch: pytest.MonkeyPatch, *errors: Exception) -> Callable[[], int]:
    """Let the first looks of a process fail, each with one of the errors; return how to count them."""
    left, found = list(errors), processes.gone

    def gone(*given: object) -> list[str]:
        if left:
            raise left.pop(0)
        return found(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(processes, "gone", gone)
    return lambda: len(errors) - len(left)


@pytest.mark.parametrize("error", [StoreGone("moved to a file"), StoreTooNew("schema 9999")], ids=repr)
@pytest.mark.parametrize("until_idle", [False, True])
def test_a_process_whose_store_is_gone_for_good_ends_with_the_error(
    world: TestController, monkeypatch: pytest.MonkeyPatch, error: Exception, until_idle: bool
) -> None:
    failing(monkeypatch, error)
    with pytest.raises(type(error), match=str(error)):
        serving.serve(world.ctx, until_idle=until_idle)


def test_settings_with_which_the_store_loses_commits_are_reported_at_the_start(
    world: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, StoreGone("moved"))
    monkeypatch.setattr(world.ctx.store.engine, "doubts", lambda: ["the server forgets"])
    monkeypatch.setattr(serving, "_seconds_apart", lambda ctx: 0.0)
    said: list[str] = []
    with pytest.raises(StoreGone):
        serving.serve(world.ctx, warn=said.append)
    assert said == ["the server forgets"]


def test_a_clock_that_becomes_wrong_is_reported_once(
    world: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter([0.0, 1.9, 2.1, 9.0, 0.0, 9.0])
    looks: list[None] = []
    compare = serving._Clocks.compare

    def compared(clocks: serving._Clocks) -> None:
        looks.append(None)
        if len(looks) > 5:
            raise StoreGone("end of the test")
        compare(clocks)

    monkeypatch.setattr(serving._Clocks, "compare", compared)
    monkeypatch.setattr(serving, "_seconds_apart", lambda ctx: next(seconds))
    monkeypatch.setattr(world.ctx.store.engine, "doubts", list)
    said: list[str] = []
    with pytest.raises(StoreGone):
        serving.serve(world.ctx, warn=said.append)
    assert said == ["the clock of this host is 2 s ahead of the clock of the store, which counts"]


def test_a_process_still_ends_when_asked_after_a_busy_store_and_a_bug(
    world: TestController, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    count = failing(monkeypatch, StoreBusy("held"), ZeroDivisionError("a bug"), ZeroDivisionError("a bug"))
    own = processes.own

    def asked(tx: processes.Tx) -> processes.Process | None:
        found = own(tx)
        return changed(found, draining=count() == 3) if found is not None else None

    monkeypatch.setattr(processes, "own", asked)
    with pytest.raises(serving.Drained):
        serving.serve(world.ctx)
    assert capsys.readouterr().err.count("ZeroDivisionError: a bug") == 1
