"""A data directory and a backup of the commit before the work on the rooms are used by the code of today.

`write_old_data.py` wrote the files of `old/`, with the commands of that commit on real machines. The
controller died while a hook ran on each machine of `web`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.work import drive
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
from tests.migration.write_old_data import OLD, SHOWN, unpack
from tests.world.charms import Charms
from tests.world.clock import FakeClock
from tests.world.commandline import Ended, call, ok
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine
from tests.world.runtime import PlayedCloud, PlayedRuntime, PlayedSession
from tests.world.runtime import drive as work

SAID: Mapping[str, str] = json.loads((OLD / "shown.json").read_text())
MOVES_ON = re.compile(r"^ *(since|last-connection|date-created|timestamp): .*|\d\d:\d\d:\d\dZ$", re.MULTILINE)

pytestmark = pytest.mark.usefixtures("utc")


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the old data directory, for commands that change nothing."""
    folder = tmp_path_factory.mktemp("old")
    unpack(OLD / "data.tar.xz", folder)
    return folder


@pytest.mark.parametrize("line", SHOWN)
def test_a_command_prints_what_it_printed_before(untouched: Path, line: str) -> None:
    printed = ok(call(untouched, *line.split()))
    assert MOVES_ON.sub("", printed) == MOVES_ON.sub("", SAID[line])


class Taken:
    """The old data directory, taken over: commands, and the machines of both models, which are played."""

    def __init__(self, home: Path, charms: Charms) -> None:
        self.home = home
        data, clock = DataDir(home / "data"), FakeClock()
        controller = data.controller("home")
        self.ctx = Context(
            datadir=data, controller=controller, store=Store.open(controller.store_path), clock=clock
        )
        self.models = {
            name: TestController(self.ctx, clock, charms, models.resolve(self.ctx, name))
            for name in ("shop", "prod")
        }
        self.shop = self.models["shop"]
        for world in self.models.values():
            for machine in world.machine_ids():
                world.played_machines[machine] = self.machine(world, machine)

    def machine(self, world: TestController, number: str) -> PlayedMachine:
        """Return a machine as the old runner left it: its boot, its charms, its journal."""
        row = world.machine(number)
        units = {unit: "" for unit in world.units() if world.unit(unit).machine == number}
        played = PlayedMachine(
            id=number, boot_id=row.boot_id, address=row.addresses[0]["value"], charms=units
        )
        journal = json.loads((OLD / "journal.json").read_text())
        for operation in world.open_operations():
            if operation.machine == number:
                played.results[operation.id] = result(operation.id, journal[f"op-{operation.id}"])
        return played

    def run(self, line: str) -> Ended:
        """Run a command that records only."""
        return call(self.home, *line.split(), env={"PUSHJUJU_WAIT": "0"})

    async def work(self) -> None:
        """Work both models to rest, now: commands go by the clock of this computer."""
        self.ctx.clock.advance((datetime.now(UTC) - self.ctx.clock.now()).total_seconds())
        for world in self.models.values():
            settled = await work(world, TwoClouds(self.models, world))
            assert not settled.problems


def result(operation: str, journal: str) -> dict[str, Any]:
    """Return the result as the machine sends it, from the lines of its journal."""
    lines = [json.loads(line) for line in journal.splitlines()]
    events = [event for line in lines for event in line.get("events", ())]
    return {"t": "result", "id": operation, **lines[-1]["result"], "events": events}


class TwoClouds(PlayedRuntime):
    """A runtime for two models that have machines of the same number."""

    def __init__(self, worlds: Mapping[str, TestController], world: TestController) -> None:
        super().__init__(world)
        self.clouds = {world.model: PlayedCloud(world) for world in worlds.values()}

    def provider(self, model: str, cloud: str | None = None) -> Any:
        """Return the cloud of a model."""
        return self.clouds[model]

    async def session(self, machine: Any) -> Any:
        """Return a session to a machine of its model."""
        return PlayedSession(self.clouds[machine.model].world.played_machines[machine.id])

    def attached(self, machine: Any) -> Any:
        """Return no session: each contact is new."""
        return None


@pytest.fixture
def taken(tmp_path: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch) -> Iterator[Taken]:
    """The old data directory, with today's code at work."""
    monkeypatch.setattr(drive, "background", lambda *_: None)
    unpack(OLD / "data.tar.xz", tmp_path)
    made = Taken(tmp_path, packs)
    yield made
    made.ctx.close()


async def test_the_hook_that_ran_when_the_controller_died_is_committed_and_runs_no_more(taken: Taken) -> None:
    shop = taken.shop
    assert {item.name for item in shop.open_operations()} == {"config-changed"}
    await taken.work()
    assert shop.open_operations() == []
    assert shop.workload("web/0") == shop.workload("web/1") == ("active", "held with a page")
    assert [hook for hook in shop.hooks() if hook[1] != "update-status"] == []
    assert [played.results for played in shop.played_machines.values()] == [{}, {}]


async def test_a_further_change_runs_the_hook_with_what_was_kept_before(taken: Taken) -> None:
    await taken.work()
    taken.shop.clear()
    ok(taken.run("config web title=next"))
    ok(taken.run("run web/1 dump name=tuesday --background"))
    await taken.work()
    assert taken.shop.of("web/0") == ["config-changed"]
    frame = taken.shop.played_machines["0"].frame_of("config-changed", "web/0")
    assert frame["context"]["config"] == {"title": "next", "port": 8080}
    assert frame["context"]["state"] == {"made": "a page"}
    assert "dump" in {
        item.get("hook") or item.get("action") for item in taken.shop.played_machines["1"].frames
    }


async def test_what_was_made_before_can_be_removed(taken: Taken) -> None:
    await taken.work()
    for line in (
        "remove-relation web db",
        "remove-application web log --destroy-storage --no-prompt",
        "remove-secret token",
        "remove-saas db",
    ):
        ok(taken.run(line))
    await taken.work()
    ok(taken.run("remove-offer prod.db"))
    ok(taken.run("remove-application -m prod db --no-prompt"))
    ok(taken.run("remove-user kim --yes"))
    assert taken.run("destroy-model shop --no-prompt").status == 1
    ok(taken.run("enable-command destroy-model"))
    await taken.work()
    assert [world.units() for world in taken.models.values()] == [[], []]
    assert [world.machine_ids() for world in taken.models.values()] == [[], []]
    assert [world.applications() for world in taken.models.values()] == [[], []]
    assert json.loads(ok(taken.run("list-storage --format json")) or "{}") == {}
    assert ok(taken.run("secrets --format json")) == "{}\n"


@pytest.mark.parametrize("there", [True, False])
def test_a_backup_of_before_is_restored(tmp_path: Path, *, there: bool) -> None:
    if there:
        unpack(OLD / "data.tar.xz", tmp_path)
    ok(call(tmp_path, "restore-backup", str(OLD / "backup.tar.gz"), "--no-prompt"))
    assert ok(call(tmp_path, "config", "-m", "shop", "web", "title")) == "hi\n"
    assert ok(call(tmp_path, "show-secret", "-m", "shop", "token", "--reveal", "--format", "json")).count(
        "two"
    )
    status = json.loads(ok(call(tmp_path, "status", "-m", "shop", "--format", "json")))
    assert status["applications"]["web"]["units"]["web/0"]["juju-status"]["current"] == "idle"
