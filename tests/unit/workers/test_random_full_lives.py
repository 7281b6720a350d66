"""Lives by chance of charms with all that charms have: storage, subordinates, actions and secrets."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.core.model.tasks import TaskStatus
from pushjuju.core.storage import Directive, Kind
from pushjuju.plugins.api.storage_types import StorageMade, StorageSeen
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.storage import storage_work
from pushjuju.services.entities.storage.storage_work import Step, Todo
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.action.operations import ActionRequest
from pushjuju.services.requests.relation import integrate
from pushjuju.services.requests.storage import storage_requests
from pushjuju.store.rows.records import Relation, Task
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.dispatch import Dispatch
from pushjuju.workers.loops import cleaner
from tests.unit.workers.test_random_lives import Life
from tests.world.charms import Charms
from tests.world.controller import TestController

STORES = {"data": {"type": "filesystem", "multiple": {"range": "0-3"}}}
HOST = {"host": {"interface": "juju-info", "scope": "container"}}
MATES = {"mates": {"interface": "log"}}
ACTIONS = {"actions.yaml": "tell:\n  description: Tell.\n"}
HOOKS = ("data-storage-attached", "data-storage-detaching", "host-relation-joined", "host-relation-departed")
ENDS: tuple[dict[str, Any], ...] = ({"outcome": "failed", "exit": 1}, {"cut": True}, {"reboot": "after"})
SIZE = 1024


class FullLife(Life):
    """A model of charms with storage, of which an application is a subordinate of the others."""

    GONE = (*Life.GONE, "storage_instance", "storage_attachment", "backing", "backing_attachment", "secret")

    def __init__(self, runtime: TestController, chance: Random) -> None:
        super().__init__(runtime, chance)
        self.calmed = False
        self.secrets = itertools.count()
        self.versions = itertools.count()

    def acts(self) -> tuple[Callable[[], Any], ...]:
        return (
            *super().acts(), self.add_storage, self.detach_storage, self.remove_storage, self.attach_storage,
            self.lodge, self.lodge, self.unlodge, self.ask, self.ask, self.cancel, self.fail_more,
            self.fail_more,
        )  # fmt: skip

    def _charm(self, version: int = 0) -> PackedCharm:
        files = {**ACTIONS, "version": str(version % 4)}
        return self.runtime.charms.make(storage=STORES, files=files)

    # --- what people do -----------------------------------------------------------------------------------

    def deploy(self) -> None:
        if len(self.runtime.applications()) < 3:
            self.runtime.deploy(
                self.chance.choice("ab"),
                self.chance.randint(1, 2),
                placements=self._placement(),
                packed=self._charm(),
                storage={"data": Directive(size=SIZE, count=self.chance.randint(0, 2))},
            )

    def refresh(self) -> None:
        name = self._application()
        packed = self._log(next(self.versions)) if name == "log" else self._charm(next(self.versions))
        self.runtime.refresh(packed, name, force_units=self.chance.random() < 0.5)

    def _log(self, version: int = 0) -> PackedCharm:
        files = {**ACTIONS, "version": str(version % 4)}
        return self.runtime.charms.make("log", peers=MATES, subordinate=True, requires=HOST, files=files)

    def lodge(self) -> None:
        """Put the subordinate beside an application."""
        if "log" not in self.runtime.applications():
            self.runtime.deploy("log", 0, packed=self._log())
            return
        integrate.integrate(self.runtime.ctx, self.runtime.model, "log:host", self.chance.choice("ab"))

    def unlodge(self) -> None:
        found = self.runtime.read(lambda tx: tx.list(Relation, "relation_list"))
        if found and self.chance.random() < 0.5:
            integrate.remove_relation(
                self.runtime.ctx, self.runtime.model, [str(self.chance.choice(found).id)]
            )

    def add_storage(self) -> None:
        asked = {"data": Directive(size=SIZE, count=1)}
        storage_requests.add(self.runtime.ctx, self.runtime.model, self._unit(), asked)

    def _storage(self) -> list[str]:
        rows = self.runtime.dump()["storage_instance"]
        known = sorted(str(value) for row in rows for value in row if str(value).startswith("data/"))
        return [self.chance.choice(known)] if known else []

    def detach_storage(self) -> None:
        force = self.chance.random() < 0.2
        storage_requests.detach(self.runtime.ctx, self.runtime.model, self._storage(), force=force)

    def attach_storage(self) -> None:
        storage_requests.attach(self.runtime.ctx, self.runtime.model, self._unit(), self._storage())

    def remove_storage(self) -> None:
        force = self.chance.random() < 0.3
        storage_requests.remove(self.runtime.ctx, self.runtime.model, self._storage(), force=force)

    def ask(self) -> None:
        request = ActionRequest(action="tell", receivers=(self._unit(),), parameters={})
        operations.enqueue(self.runtime.ctx, self.runtime.model, request)

    def cancel(self) -> None:
        if numbers := [task.id for task in self.tasks()]:
            operations.cancel(self.runtime.ctx, self.runtime.model, [self.chance.choice(numbers)])

    def tasks(self) -> list[Task]:
        found: list[Task] = self.runtime.read(lambda tx: tx.list(Task, "task_list"))
        return found

    def fail_more(self) -> None:
        if self.runtime.played_machines:
            played = self.chance.choice(list(self.runtime.played_machines.values()))
            played.will(self.chance.choice((*HOOKS, "action")), self.chance.choice(ENDS))

    # --- the lane -----------------------------------------------------------------------------------------

    def worker(self, machine: str, most: int) -> int:
        """Work the storage of a machine before its units, and what is on no machine."""
        if machine in self.runtime.machine_ids():
            self.runtime.played(machine)
        return self._storage_work(machine) + super().worker(machine, most)

    def _todo(self, tx: ModelTx, machine: str) -> list[Todo]:
        found = list(storage_work.on_no_machine(tx))
        if machine in {item.id for item in machines.list_machines(tx)}:
            found += storage_work.on_machine(tx, machines.get(tx, machine))
        now = self.runtime.clock.now()
        return [todo for todo in found if todo.due is None or todo.due <= now]

    def _storage_work(self, machine: str) -> int:
        done = 0
        while todos := self.runtime.read(lambda tx: self._todo(tx, machine)):
            todo = todos[0]
            self.runtime.write(lambda tx, todo=todo: self._do(tx, todo, machine))
            done += 1
            assert done < 100, f"storage never rests: {todo}"
        return done

    def _do(self, tx: ModelTx, todo: Todo, machine: str) -> None:
        _now, backing, host = self.runtime.clock.now(), todo.backing, todo.host
        if not storage_work.begin(tx, todo):
            return
        if todo.step is Step.CREATE:
            made = StorageMade(provider_id=f"{backing.kind}-{backing.id}", size=SIZE)
            storage_work.created(tx, backing, made)
        elif todo.step is Step.DESTROY:
            storage_work.destroyed(tx, backing)
        elif host is not None and todo.step is Step.DETACH:
            storage_work.detached(tx, backing, host)
        elif host is not None:
            where = {"device": "sdx"} if backing.kind == Kind.BLOCK else {"source": f"/srv/{backing.id}"}
            storage_work.seen(tx, host, StorageSeen(**where))
            boot = machines.get(tx, machine).boot_id
            storage_work.attached(tx, backing, host, boot)

    def _run(self, machine: str, dispatch: Dispatch) -> bool:
        """Let some hooks make a secret; one of the application's fails but for the leader."""
        frame = dispatch.frame
        if frame["kind"] == "hook" and not self.calmed and self.chance.random() < 0.1:
            uri = f"{next(self.secrets):020d}"
            made = {uri: {"content": {"token": "YQ=="}, "owner": self.chance.choice(("unit", "application"))}}
            self.runtime.played(machine).will(frame["hook"], {"writes": {"secrets": {"create": made}}})
        return super()._run(machine, dispatch)

    def settle(self) -> None:
        """Work all machines, and what the model's own loop does, until both are at rest."""
        for _ in range(3):
            super().settle()
            cleaner.forced_ends(self.runtime.ctx, self.runtime.model)
            self.runtime.write(self._finish)

    def _finish(self, tx: ModelTx) -> None:
        removal.finish_applications(tx)

    # --- the end ------------------------------------------------------------------------------------------

    def calm(self) -> None:
        """Bring everything to rest; what was forced is over after its minutes."""
        self.calmed = True
        super().calm()
        self.runtime.clock.advance(1000)
        super().calm()

    def check_rest(self) -> None:
        """All that lives is idle; storage is where the model says, and no task waits."""
        super().check_rest()
        for name in self.runtime.units():
            given = {"model": self.runtime.model, "unit": name, "machine": self.runtime.unit(name).machine}
            rows = self.runtime.read(lambda tx, given=given: tx.rows("storage_seen_by_unit", **given))
            seen = [row["storage"] for row in rows]
            assert all(row["life"] == "alive" and row["attached"] for row in rows), (name, rows)
            for storage in seen:
                self._check_told(name, storage)
        assert [task for task in self.tasks() if not TaskStatus(task.status).over] == []

    def _check_told(self, unit: str, storage: str) -> None:
        """The last that a charm heard of storage that it has is that it came."""
        told = [
            frame["hook"]
            for played in self.runtime.played_machines.values()
            for frame in played.frames
            if frame["kind"] == "hook"
            and frame["unit"] == unit
            and frame["context"].get("hook_storage") == storage
        ]
        assert told[-1:] == ["data-storage-attached"], (unit, storage, told)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens(seed: int, tmp_path: Path, empty_controller: Path, packs: Charms) -> None:
    runtime = TestController.copy(empty_controller, tmp_path, packs)
    life = FullLife(runtime, Random(seed))
    for _ in range(70):
        life.act()
    life.calm()
    life.check_rest()
    life.check_end()
    runtime.ctx.close()
