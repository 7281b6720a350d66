"""Lives by chance: whatever happens in whatever order, everything comes to rest and to its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.placement import Placement
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings, unit_requests
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.uniter.commit import commit
from pushjuju.uniter.decide.decision import Answer, Decision
from pushjuju.uniter.decide.wire import from_wire, replay
from pushjuju.uniter.dispatch import Dispatch, prepared_operation, read_operation
from pushjuju.uniter.input.snapshot import read_view
from tests.world.charms import Charms
from tests.world.controller import TestController

HOOKS = (
    "install", "config-changed", "start", "leader-elected", "leader-settings-changed", "upgrade-charm",
    "update-status", "stop", "remove", "cluster-relation-created", "cluster-relation-joined",
    "cluster-relation-changed", "cluster-relation-departed",
)  # fmt: skip
ENDS: tuple[dict[str, Any], ...] = (
    {"outcome": "failed", "exit": 1},
    {"outcome": "failed", "exit": 1},
    {"outcome": "terminated", "signal": 15},
    {"outcome": "error", "message": "no space left on device"},
    {"outcome": "ok", "reboot": "after"},
    {"outcome": "terminated", "signal": 9, "reboot": "now"},
    {"outcome": "ok", "writes": {"relations": {"0": {"unit": {"k": "v"}}}}},
    {"outcome": "ok", "writes": {"relations": {"0": {"app": {"a": "b"}}}}},
    {"cut": True},
)
ACTS = 40


class Life:
    """A model to which things happen; lanes die in the middle now and then.

    Attributes:
        GONE: Tables without a row of a model that has ended.
    """

    GONE: tuple[str, ...] = (
        "application", "unit", "machine", "charm", "relation", "relation_bag", "lease", "port",
    )  # fmt: skip

    def __init__(self, runtime: TestController, chance: Random) -> None:
        self.runtime = runtime
        self.chance = chance

    # --- what people and machines do ----------------------------------------------------------------------

    def act(self) -> None:
        """Let something happen; what is refused changes nothing."""
        before = {**self.runtime.dump(), "blobs": []}  # one that nobody uses may go at any time
        try:
            self.chance.choice(self.acts())()
        except PushjujuError:
            assert {**self.runtime.dump(), "blobs": []} == before

    def acts(self) -> tuple[Callable[[], Any], ...]:
        """Return what may happen, the likely things more than once."""
        return (
            self.deploy, self.add, self.remove, self.force, self.configure, self.refresh, self.resolve,
            self.fail, self.fail, self.wait, self.wait, self.boot, self.remove_application, self.lead,
            self.tick, self.work, self.work, self.work, self.work, self.settle,
        )  # fmt: skip

    def deploy(self) -> None:
        if len(self.runtime.applications()) < 2:
            self.runtime.deploy(
                self.chance.choice("ab"), self.chance.randint(1, 2), placements=self._placement()
            )

    def _placement(self) -> list[Placement]:
        machines = self.runtime.machine_ids()
        somewhere = machines and self.chance.random() < 0.5
        return [Placement.parse(self.chance.choice(machines))] if somewhere else []

    def add(self) -> None:
        if len(self.runtime.units()) < 5:
            units.add_units(self.runtime.ctx, self.runtime.model, self._application(), 1, self._placement())

    def _application(self) -> str:
        return self.chance.choice(self.runtime.applications() or ["none"])

    def _unit(self) -> str:
        return self.chance.choice(self.runtime.units() or ["none/0"])

    def remove(self) -> None:
        removals.remove_units(self.runtime.ctx, self.runtime.model, [self._unit()])

    def force(self) -> None:
        name = self._unit()
        removals.remove_units(self.runtime.ctx, self.runtime.model, [name], Force())
        if name in self.runtime.units() and self.chance.random() < 0.5:
            self.runtime.write(lambda tx: removal.force_unit(tx, units.get(tx, name)))

    def configure(self) -> None:
        values = {"title": str(self.chance.randint(0, 2))}
        settings.set_config(
            self.runtime.ctx,
            self.runtime.model,
            ConfigOptions(application=self._application(), values=values),
        )

    def refresh(self) -> None:
        packed = self.runtime.charms.make(files={"x": str(self.chance.randint(0, 3))})
        self.runtime.refresh(packed, self._application(), force_units=self.chance.random() < 0.5)

    def resolve(self) -> None:
        unit_requests.resolve_all(self.runtime.ctx, self.runtime.model, retry=self.chance.random() < 0.5)

    def fail(self) -> None:
        if self.runtime.played_machines:
            played = self.chance.choice(list(self.runtime.played_machines.values()))
            played.will(self.chance.choice(HOOKS), self.chance.choice(ENDS))

    def wait(self) -> None:
        self.runtime.clock.advance(self.chance.choice([1, 6, 30, 400]))

    def boot(self) -> None:
        if machines := [item for item in self.runtime.machine_ids() if item in self.runtime.played_machines]:
            self.runtime.reboot(self.chance.choice(machines))

    def remove_application(self) -> None:
        if self.chance.random() < 0.3:
            removals.remove_applications(self.runtime.ctx, self.runtime.model, [self._application()])

    def lead(self) -> None:
        name, value = self._application(), str(self.chance.randint(0, 9))
        leader = self.runtime.read(lambda tx: leadership.holder(tx, name))
        if leader:
            self.runtime.clock.now()
            self.runtime.write(lambda tx: leadership.set_settings(tx, units.get(tx, leader), {"k": value}))

    def tick(self) -> None:
        unit_requests.make_due(self.runtime.ctx, self.runtime.model)

    def work(self) -> None:
        if machines := self.runtime.machine_ids():
            self.worker(self.chance.choice(machines), self.chance.randint(1, 4))

    def settle(self) -> None:
        for _ in range(50):
            if not sum(self.worker(machine, 1000) for machine in self.runtime.machine_ids()):
                return
        raise AssertionError("never at rest")

    # --- the lane -----------------------------------------------------------------------------------------

    def worker(self, machine: str, most: int) -> int:
        """Work a machine for so many operations at most, first what an earlier lane left."""
        if machine not in self.runtime.machine_ids():
            return 0
        played, done, busy = self.runtime.played(machine), 0, True
        for operation in self.runtime.open_operations():
            if operation.machine == machine:
                done += self._again(operation)
        while busy:
            busy = False
            for unit in [name for name in self.runtime.units() if self.runtime.unit(name).machine == machine]:
                if unit not in self.runtime.units():
                    continue  # a subordinate, which went with its principal
                turn = self.runtime.turn(unit)
                self._check_decision(unit)
                if turn.dispatch is not None:
                    done += 1
                    busy = self._run(machine, turn.dispatch)
                    if not busy or done >= most:
                        return done
                elif turn.answer is Answer.DEAD:
                    row = self.runtime.unit(unit)
                    self.runtime.write(lambda tx, row=row: removal.remove_unit(tx, row))
                    busy = True
        assert played.id == machine
        return done + self.runtime._end(machine)

    def _again(self, operation: Any) -> int:
        if operation.name == "reboot":
            self.runtime.reboot(operation.machine)
            commit(self.runtime.ctx, operation.id, {"outcome": "ok"})
            return 1

        def build(tx: Any) -> Dispatch | None:
            view = read_view(tx, self.runtime.model, operation.unit)
            return view and prepared_operation(tx, view, read_operation(operation.document), operation.id)

        dispatch = self.runtime.read(build)
        if dispatch is None:
            commit(self.runtime.ctx, operation.id, {"outcome": "gone"})
        else:
            self._run(operation.machine, dispatch)
        return 1

    def _run(self, machine: str, dispatch: Dispatch) -> bool:
        result = self.runtime.played(machine).run(dispatch.frame)
        if result.pop("cut", False):
            return False
        committed = self.runtime.commit(dispatch, result)
        if committed.reboot:
            self.runtime.reboot(machine)
            commit(self.runtime.ctx, committed.reboot, {"outcome": "ok"})
        return True

    def _check_decision(self, unit: str) -> None:
        kept = json.loads(self.runtime.unit(unit).decision) if unit in self.runtime.units() else {}
        if kept:
            assert replay(kept) == from_wire(Decision, kept["decision"])

    # --- the end ------------------------------------------------------------------------------------------

    def calm(self) -> None:
        """Let nothing fail any more, and bring everything to rest."""
        for played in self.runtime.played_machines.values():
            played.script.clear()
        for _ in range(5):
            self.settle()
            unit_requests.resolve_all(self.runtime.ctx, self.runtime.model, retry=True)
        self.settle()

    def check_rest(self) -> None:
        """Everything alive is idle on its charm, led by one of its own, in the right order of hooks."""
        runtime = self.runtime
        assert runtime.open_operations() == []
        for name in runtime.units():
            unit = runtime.unit(name)
            assert (unit.life, *runtime.agent(name)) == ("alive", "idle", "")
            assert unit.charm_url == runtime.application(unit.application).charm_url
            leader = runtime.read(lambda tx, unit=unit: leadership.holder(tx, unit.application))
            assert leader.partition("/")[0] == unit.application
        for name in {unit for unit, _ in runtime.hooks()}:
            ran = [hook for hook in runtime.of(name) if "-storage-" not in hook]  # storage comes before
            assert ran[:1] in ([], ["install"])
            assert "remove" not in ran or set(ran[ran.index("remove") :]) == {"remove"}

    def check_end(self) -> None:
        """A destroyed model leaves only itself."""
        runtime = self.runtime
        runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx), destroy_storage=True))
        self.settle()
        dump, gone = runtime.dump(), self.GONE
        assert {table: dump[table] for table in gone} == {table: [] for table in gone}
        assert {row[1] for row in dump["status"]} == {"model"}


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens(seed: int, tmp_path: Path, empty_controller: Path, packs: Charms) -> None:
    runtime = TestController.copy(empty_controller, tmp_path, packs)
    live(runtime, Random(seed))
    runtime.ctx.close()


def live(runtime: TestController, chance: Random) -> None:
    """Let anything happen for a while, then bring all to its end."""
    life = Life(runtime, chance)
    for _ in range(ACTS):
        life.act()
    life.calm()
    life.check_rest()
    life.check_end()
