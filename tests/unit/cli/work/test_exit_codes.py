"""The exit code of a command is about what was asked for; what is wrong elsewhere is a warning."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.work import drive, foreground
from pushjuju.core.model.placement import Placement
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.storage import DISK_OF_MACHINE
from pushjuju.store.queue import machine_key, touch
from pushjuju.workers import driver as workers
from pushjuju.workers.driver import Driver, Settled
from pushjuju.workers.machine import machine_run
from tests.world.charms import Charms
from tests.world.commandline import Run
from tests.world.controller import TestController

DOWN = Problem.of(Subject("machine", "1"), "no route to host")


@pytest.fixture
def runtime(runtime: TestController, packs: Charms, monkeypatch: pytest.MonkeyPatch) -> TestController:
    """A model with web/0 on machine 0, and db/0 on machine 1, which does not answer."""
    runtime.active("web", packed=packs.make("web", requires={"db": {"interface": "sql"}}))
    runtime.active("db", packed=packs.make("db", provides={"server": {"interface": "sql"}}))
    runtime.focus()

    async def settle(_: Any, **_more: Any) -> Settled:
        return Settled(problems=(DOWN,))

    monkeypatch.setattr(workers.Driver, "settle", settle)
    monkeypatch.setattr(drive, "background", lambda *_: None)
    return runtime


@pytest.mark.parametrize(
    "words",
    [
        ("config", "web", "title=x"),
        ("add-unit", "web"),
        ("add-unit", "db"),  # the new unit has a machine of its own
        ("add-machine",),
        ("expose", "web"),
        ("trust", "web"),
        ("remove-unit", "web/0", "--no-prompt"),
        ("remove-application", "web", "--no-prompt"),
        ("remove-machine", "0", "--force", "--no-prompt"),
        ("resolved", "--all"),
        ("update-status", "web/0"),
    ],
    ids=" ".join,
)
def test_a_machine_that_is_down_elsewhere_is_a_warning(
    runtime: TestController, run: Run, words: tuple[str, ...]
) -> None:
    ended = run(*words)
    assert (ended.status, "ERROR" in ended.err) == (0, False), ended.err
    assert f"WARNING elsewhere in the model: {DOWN}\n" in ended.err


@pytest.mark.parametrize(
    "words",
    [
        ("config", "db", "title=x"),
        ("add-unit", "db", "--to", "1"),
        ("add-machine", "lxd:1"),
        ("integrate", "web", "db"),
        ("expose", "db"),
        ("remove-unit", "db/0", "--no-prompt"),
        ("remove-application", "db", "--no-prompt", "--force", "--no-wait"),
        ("remove-machine", "1", "--force", "--no-prompt"),
        ("model-config", "ssh-allow=10.0.0.0/8"),
        ("update-status", "db/0"),
        ("update-status",),
    ],
    ids=" ".join,
)
def test_a_machine_that_is_down_where_something_was_asked_for_is_an_error(
    runtime: TestController, run: Run, words: tuple[str, ...]
) -> None:
    ended = run(*words)
    assert (ended.status, f"ERROR {DOWN}\n" in ended.err) == (1, True), ended.err


def test_the_end_of_a_relation_is_about_both_sides(runtime: TestController, run: Run) -> None:
    runtime.integrate("web", "db")
    assert run("remove-relation", "web", "db").status == 1


# --- a unit that was set aside ----------------------------------------------------------------------------

NO_NFT = Problem("no nft on it")
ASIDE = Problem.of(Subject("unit", "db/0"), "start was killed 5 times in a row")
Build = Callable[..., TestController]


@pytest.fixture
def shared(
    tmp_path: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Build:
    """A model with web/0 and db/0 on machine 0, where work ends with a reason; db/0 is set aside."""

    def build(*failed: Problem) -> TestController:
        world = TestController.build(tmp_path, packs)
        request.addfinalizer(world.ctx.close)
        world.active("web", packed=packs.make("web"))
        world.active("db", packed=packs.make("db"), placements=[Placement.parse("0")])
        world.focus()

        async def settle(driver: Driver, **_more: Any) -> Settled:
            key, now = machine_key(world.model, "0"), world.clock.now()
            machine_run.note_failed(driver.ctx, world.model, "db/0", machine_run.LOOP_ERROR, ASIDE.text)
            with driver.ctx.store.write() as tx:
                touch(tx, key, now)
            claim = driver.queue.claim(key, now)
            assert claim is not None
            driver.queue.finish(claim, now, now + timedelta(seconds=5), attempts=1, problems=failed)
            return driver._summary()

        monkeypatch.setattr(workers.Driver, "settle", settle)
        monkeypatch.setattr(drive, "background", lambda *_: None)
        return world

    return build


@pytest.mark.parametrize("words", [("config", "web", "title=x"), ("add-machine", "lxd:0")], ids=" ".join)
def test_a_neighbour_that_was_set_aside_is_a_warning(shared: Build, run: Run, words: tuple[str, ...]) -> None:
    shared(ASIDE)
    ended = run(*words)
    assert (ended.status, "ERROR" in ended.err) == (0, False), ended.err
    assert f"WARNING elsewhere in the model: {ASIDE}\n" in ended.err


@pytest.mark.parametrize(
    "words",
    [
        ("config", "db", "title=x"),
        ("update-status", "db/0"),
        ("update-status",),
        ("remove-machine", "0", "--force", "--no-prompt"),
    ],
    ids=" ".join,
)
def test_a_unit_that_was_set_aside_is_an_error_for_who_asked_for_it(
    shared: Build, run: Run, words: tuple[str, ...]
) -> None:
    shared(ASIDE)
    ended = run(*words)
    assert (ended.status, f"ERROR {ASIDE}\n" in ended.err) == (1, True), ended.err
    assert "pushjuju debug-log --replay --include db/0" in ended.err
    assert "pushjuju resolved" not in ended.err, "there is nothing to resolve"


def test_what_the_machine_cannot_do_is_told_beside_the_unit_that_was_set_aside(
    shared: Build, run: Run
) -> None:
    shared(NO_NFT, ASIDE)
    ended = run("config", "web", "title=x")
    assert ended.status == 1
    assert "ERROR machine 0: no nft on it\n" in ended.err
    assert f"WARNING elsewhere in the model: {ASIDE}\n" in ended.err


def test_a_machine_cannot_make_units_fail_by_what_it_says(shared: Build, run: Run) -> None:
    shared(Problem("no nft on it; unit db/0: gone"))
    ended = run("config", "web", "title=x")
    assert "ERROR machine 0: no nft on it; unit db/0: gone\n" in ended.err


# --- storage and profiles of a neighbour ------------------------------------------------------------------


def of_storage(name: str, where: str, text: str) -> Problem:
    """Return the problem of a storage instance, as the worker of storage hands it up."""
    return Problem(f"storage {name}{where}: {text}", Subject("storage", name))


MKFS = of_storage("data/0", " on machine 0", "create filesystem 0/0: mkfs.ext4: no such program")
LATER = of_storage("logs/1", " on machine 0", "attach filesystem 0/1: no such device")
BUSY = of_storage("data/0", "", "destroy volume 0: busy")
DISK = Problem.of(Subject(DISK_OF_MACHINE, "7"), "destroy volume 0: busy")
PROFILE = Problem.of(
    Subject("unit", "db/0"), "machine 0 cannot have the LXD profiles of its charms: no such device"
)


@pytest.fixture
def stored(
    tmp_path: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Callable[..., TestController]:
    """A model with web/0 and db/0, which has storage, on machine 0, where work ends with a reason."""

    def build(key: str, *failed: Problem) -> TestController:
        world = TestController.build(tmp_path, packs)
        request.addfinalizer(world.ctx.close)
        world.active("web", packed=packs.make("web"))
        store = {"data": {"type": "filesystem", "location": "/srv/data"}}
        world.deploy("db", packed=packs.make("db", storage=store), placements=[Placement.parse("0")])
        world.focus()

        async def settle(driver: Driver, **_more: Any) -> Settled:
            claim, now = None, world.clock.now()
            with driver.ctx.store.write() as tx:
                touch(tx, f"{world.model}/{key}", now)
            claim = driver.queue.claim(f"{world.model}/{key}", now)
            assert claim is not None
            driver.queue.finish(claim, now, None, attempts=1, problems=failed)
            return driver._summary()

        monkeypatch.setattr(workers.Driver, "settle", settle)
        monkeypatch.setattr(drive, "background", lambda *_: None)
        return world

    return build


@pytest.mark.parametrize("words", [("config", "web", "title=x"), ("add-machine",)], ids=" ".join)
@pytest.mark.parametrize(
    ("key", "failed"),
    [("machine/0", (MKFS, LATER, PROFILE)), ("model/storage", (BUSY, DISK))],
    ids=["on a machine", "on no machine"],
)
def test_storage_or_a_profile_of_a_neighbour_that_fails_is_a_warning(
    stored: Callable[..., TestController],
    run: Run,
    words: tuple[str, ...],
    key: str,
    failed: tuple[Problem, ...],
) -> None:
    stored(key, *failed)
    ended = run(*words)
    assert (ended.status, "ERROR" in ended.err) == (0, False), ended.err
    for text in failed:
        assert f"WARNING elsewhere in the model: {text}\n" in ended.err


@pytest.mark.parametrize(
    ("words", "failed"),
    [
        (("config", "db", "title=x"), MKFS),
        (("remove-unit", "db/0", "--no-prompt"), MKFS),
        (("remove-application", "db", "--no-prompt", "--destroy-storage"), MKFS),
        (("remove-storage", "data/0", "--force"), MKFS),
        (("update-status",), MKFS),
        (("update-status", "db/0"), PROFILE),
    ],
    ids=lambda found: " ".join(found) if isinstance(found, tuple) else "",
)
def test_storage_or_a_profile_that_fails_is_an_error_for_who_asked_for_it(
    stored: Callable[..., TestController], run: Run, words: tuple[str, ...], failed: Problem
) -> None:
    stored("machine/0", failed)
    ended = run(*words)
    assert (ended.status, f"ERROR {failed}\n" in ended.err) == (1, True), ended.err
    assert "pushjuju resolved" not in ended.err, "there is nothing to resolve"


def test_a_disk_that_stays_is_an_error_for_who_removed_its_machine(
    stored: Callable[..., TestController], run: Run
) -> None:
    stored("model/storage", Problem.of(Subject(DISK_OF_MACHINE, "0"), "destroy volume 0: busy"))
    assert run("remove-machine", "0", "--force", "--no-prompt").status == 1


@pytest.mark.parametrize(
    ("words", "code"), [(("config", "web", "title=x"), 0), (("exec", "--unit", "web/0", "hostname"), 1)]
)
def test_where_no_process_works_a_change_is_recorded_and_a_question_has_no_answer(
    runtime: TestController, run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int
) -> None:
    """The model is in the pool of another host (only a store in PostgreSQL has several)."""
    nobody = "no process works on the model now: it is in the pool far", "pushjuju controller run"
    monkeypatch.setattr(foreground, "unworked", lambda *_: nobody)
    ended = run(*words)
    assert (ended.status, nobody[0] in ended.err, nobody[1] in ended.err) == (code, True, True)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("remove-unit", "web/0", "--no-prompt"), 1),
        (("remove-application", "web", "--no-prompt"), 1),
        (("remove-unit", "web/1", "--no-prompt"), 0),
        (("config", "web", "title=x"), 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_subordinate_in_error_holds_up_the_removal_of_its_principal(
    runtime: TestController, run: Run, packs: Charms, monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...], status: int,
) -> None:  # fmt: skip
    host = {"host": {"interface": "juju-info", "scope": "container"}}
    runtime.deploy("log", 0, packed=packs.make("log", subordinate=True, peers=None, requires=host))
    runtime.integrate("log", "web")
    run("add-unit", "web")
    assert runtime.units() == ["db/0", "log/0", "web/0", "web/1"]
    problem = Problem.of(Subject("unit", "log/0"), 'hook failed: "stop"')

    async def settle(_: Any, **_more: Any) -> Settled:
        return Settled(problems=(problem,))

    monkeypatch.setattr(workers.Driver, "settle", settle)
    ended = run(*words)
    assert ended.status == status, ended.err
    assert f"{'ERROR' if status else 'WARNING elsewhere in the model:'} {problem}\n" in ended.err
