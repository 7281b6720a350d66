"""A controller in a folder, with a fake clock and machines simulated in this process.

Store, services and uniter are real; only SSH and the machines are simulated.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Self

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import PushjujuError
from pushjuju.core.status import InstanceStatus, Life, MachineStatus, StatusKind
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.application import new_application, new_charm
from pushjuju.services.requests.controller import new_controllers
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.relation import integrate
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
from pushjuju.store.rows.records import Application, Machine, Model, Operation, Relation, Unit
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.commit import Committed, commit
from pushjuju.uniter.decide.decision import Answer
from pushjuju.uniter.dispatch import Dispatch
from pushjuju.uniter.requests import Request
from pushjuju.uniter.turn import Turn, take_turn
from tests.world.charms import UBUNTU, Charms
from tests.world.clock import FakeClock
from tests.world.machine import PlayedMachine


def _open(datadir: DataDir, clock: FakeClock) -> Context:
    controller = datadir.controller("home")
    store = Store.open(controller.store_place)
    if isinstance(store.place, Path):
        store._connection.execute("PRAGMA synchronous = OFF")  # no test cuts the power
    return Context(datadir=datadir, controller=controller, store=store, clock=clock, random=Random(7))


class TestController:
    """A controller with one model."""

    __test__ = False  # the name begins with Test

    def __init__(self, ctx: Context, clock: FakeClock, charms: Charms, model: Model) -> None:
        self.ctx = ctx
        self.clock = clock
        self.charms = charms
        self.model = model.uuid
        self.played_machines: dict[str, PlayedMachine] = {}
        self.gone: list[PlayedMachine] = []  # played machines that are stopped

    @classmethod
    def build(cls, root: Path, charms: Charms, database: Database | None = None) -> Self:
        """Make a controller `home` for the local cloud, with the model `shop`."""
        clock, datadir = FakeClock(), DataDir(root / "data")
        new_controllers.bootstrap(datadir, "local", "home", now=clock.now(), database=database)
        ctx = _open(datadir, clock)
        own = models.resolve(ctx, models.CONTROLLER)
        with ctx.write(own.uuid) as tx:  # tests count the rows of `shop`
            models.purge(tx)
        return cls(ctx, clock, charms, add_model(ctx, AddModelOptions(name="shop")))

    @classmethod
    def copy(cls, source: Path, root: Path, charms: Charms) -> Self:
        """Copy a controller that `build` made and that no process has open."""
        shutil.copytree(source, root, dirs_exist_ok=True)
        return cls.at(root, charms)

    @classmethod
    def at(cls, root: Path, charms: Charms, model: str = "shop") -> TestController:
        """Open the controller `home` of a folder, with one of its models."""
        clock = FakeClock()
        ctx = _open(DataDir(root / "data"), clock)
        return cls(ctx, clock, charms, models.resolve(ctx, model))

    def focus(self) -> None:
        """Make the model current, which commands without `-m` need."""
        self.ctx.controller.set("current-model", self.resolve_model().qualified)
        self.ctx.datadir.set_current_controller(self.ctx.controller.name)

    def keep(self) -> Path:
        """Make the model current and close the controller; return the data directory, to be copied."""
        self.focus()
        self.ctx.close()
        return self.ctx.datadir.root

    # --- looking ------------------------------------------------------------------------------------------

    def read(self, look: Callable[[ModelTx], Any]) -> Any:
        """Return what a function reads in one transaction of the model."""
        with self.ctx.read(self.model) as tx:
            return look(tx)

    def write(self, change: Callable[[ModelTx], Any], *, whole: bool = False) -> Any:
        """Return what a function changes in one transaction of the model, or of the whole store."""
        with self.ctx.write(self.model, whole=whole) as tx:
            return change(tx)

    def change_unit(self, name: str, **columns: Any) -> None:
        """Set columns of a unit's row that a turn changes."""
        self.write(lambda tx: tx.change(Unit, "unit_get", "unit_set_turn", {"name": name}, **columns))

    def unit(self, name: str) -> Unit:
        """Return a unit's row."""
        return self.read(lambda tx: tx.get(Unit, "unit_get", f"no {name}", name=name))

    def units(self) -> list[str]:
        return [unit.name for unit in self.read(lambda tx: tx.list(Unit, "unit_list"))]

    def machine(self, machine: str) -> Machine:
        """Return a machine's row."""
        return self.read(lambda tx: machines.get(tx, machine))

    def machine_ids(self) -> list[str]:
        return [item.id for item in self.read(machines.list_machines)]

    def application(self, name: str = "web") -> Application:
        """Return an application's row."""
        return self.read(lambda tx: applications.get(tx, name))

    def applications(self) -> list[str]:
        return [item.name for item in self.read(lambda tx: tx.list(Application, "application_list"))]

    def status(self, kind: StatusKind, entity: str) -> tuple[str, str]:
        """Return a status as (word, message)."""
        found = self.read(lambda tx: statuses.get_status(tx, kind, entity))
        return (str(found.status), found.message) if found else ("", "")

    def agent(self, unit: str = "web/0") -> tuple[str, str]:
        """Return a unit's agent status."""
        return self.status(StatusKind.AGENT, unit)

    def workload(self, unit: str = "web/0") -> tuple[str, str]:
        """Return a unit's workload status."""
        return self.status(StatusKind.WORKLOAD, unit)

    def history(self, kind: StatusKind, entity: str) -> list[tuple[str, str]]:
        """Return all past statuses, oldest first."""
        found = self.read(lambda tx: statuses.history(tx, kind, entity, limit=1000))
        return [(item.status, item.message) for item in found]

    def open_operations(self) -> list[Operation]:
        """Return the operations whose result is unknown."""

        def look(tx: ModelTx) -> list[Operation]:
            found = []
            for machine in machines.list_machines(tx):
                found += tx.list(Operation, "operation_open", model=self.model, machine=machine.id)
            return found

        return self.read(look)

    def due(self, key: str) -> str | None:
        """Return when a key of the queue, without the model's part, is due."""
        row = self.read(lambda tx: tx.row("work_get", key=f"{self.model}/{key}"))
        return row["due"] if row else None

    def relation_keys(self) -> list[str]:
        return [item.key for item in self.read(lambda tx: tx.list(Relation, "relation_list"))]

    def scopes(self, relation: int) -> list[str]:
        return [item.unit for item in self.read(lambda tx: relations.scopes(tx, relation))]

    def bags(self, relation: int) -> dict[str, dict[str, Any]]:
        """Return the settings of all units and applications in a relation."""
        found = self.read(lambda tx: relations.bags(tx, relation))
        return {name: dict(bag.data) for name, bag in found.items()}

    def forget_work(self) -> None:
        """Empty the queue, so that `touched` shows who is woken next."""
        with self.ctx.store.write() as tx:
            tx._connection.execute("DELETE FROM work")
        self.ctx.store.forget()

    def touched(self) -> list[str]:
        """Return the keys of the model that are in the queue."""
        rows = self.read(lambda tx: tx.rows("work_list", prefix=self.model))
        return [row["key"].partition("/")[2] for row in rows if row["due"]]

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return the content of the store, without the journal of changes and the results in the audit log.

        Returns:
            table -> rows. The audit log notes the result of each command that began a change.
        """
        names = re.findall(r"CREATE TABLE \"?(\w+)", "\n".join(self.ctx.store.engine.tables()))
        with self.ctx.store.read() as tx:
            rows = {name: tx._connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
        found = {name: [dict(row) for row in made] for name, made in rows.items() if name != "change"}
        found["audit"] = [row for row in found["audit"] if '"answers":' not in row["line"]]
        return found

    def dump(self) -> dict[str, Any]:
        """Return the content of the store and of the blobs folder."""
        tables: dict[str, Any] = {
            name: sorted(tuple(row.values()) for row in rows) for name, rows in self.tables().items()
        }
        tables["blobs"] = self.blobs()
        return tables

    def left(self) -> dict[str, Any]:
        """Return the result of `dump` without empty tables, the audit log, and the last lease."""
        dump = self.dump()
        del dump["audit"]  # stays when what it tells of is gone
        dump["sequence"] = [row for row in dump["sequence"] if row[:2] not in (("", "lease"), ("", "clock"))]
        return {table: rows for table, rows in dump.items() if rows}

    def blobs(self) -> list[str]:
        """Return the names of the archives in the blobs folder."""
        root = self.ctx.controller.blobs.root
        return sorted(path.name for path in root.rglob("*") if path.is_file())

    # --- asking -------------------------------------------------------------------------------------------

    def deploy(self, name: str = "web", count: int = 1, **more: Any) -> new_application.Deployed:
        """Deploy an application of the small charm, or of another charm."""
        packed = more.pop("packed", None) or self.charms.make()
        more.setdefault("base", UBUNTU)
        request = new_application.NewApplication(application=name, packed=packed, count=count, **more)
        return new_application.add(self.ctx, self.model, request)

    def integrate(self, first: str, second: str) -> int:
        """Relate two applications and work until all is at rest; return the id of the relation."""
        made = integrate.integrate(self.ctx, self.model, first, second)
        self.settle()
        return made

    def remove_relation(self, *words: str, force: removal.Force | None = None, rest: bool = True) -> None:
        """Remove a relation, and work until all is at rest unless `rest` is False."""
        integrate.remove_relation(self.ctx, self.model, words, force)
        if rest:
            self.settle()

    def destroy_model(self, force: removal.Force | None = None) -> None:
        self.write(lambda tx: removal.destroy_model(tx, models.get(tx), force))

    def refused(self, ask: Callable[[], object]) -> str:
        """Return the text of the refusal of a request, which must change nothing."""
        before = self.dump()
        try:
            ask()
        except PushjujuError as error:
            assert self.dump() == before
            return error.message
        raise AssertionError("it was not refused")

    def refresh(self, packed: PackedCharm, name: str = "web", **more: Any) -> tuple[int, list[str]]:
        request = new_charm.NewCharm(application=name, packed=packed, **more)
        return new_charm.put(self.ctx, self.model, request)

    def resolve_model(self) -> Model:
        """Return the model's row."""
        return self.read(models.get)

    # --- working ------------------------------------------------------------------------------------------

    def played(self, machine: str = "0") -> PlayedMachine:
        """Return the played machine of a machine; the first call starts it."""
        if machine not in self.played_machines:
            self.played_machines[machine] = PlayedMachine(id=machine, address=f"10.0.0.{int(machine) + 2}")
            self.write(lambda tx: self._started(tx, machine))
        return self.played_machines[machine]

    def _started(self, tx: ModelTx, machine: str) -> None:
        _now, hello = self.clock.now(), self.played_machines[machine].hello()
        tx.run(
            "machine_set_instance", id=machine, provider="local",
            instance_id=f"i-{machine}", display_name="", hardware=json.dumps({"arch": "amd64", "cores": "2"}),
            ssh=json.dumps({"host": self.played_machines[machine].address}), base=str(UBUNTU), nonce="n",
        )  # fmt: skip
        self.note_facts(tx, machine, hello)
        statuses.set_status(tx, StatusKind.MACHINE, machine, MachineStatus.STARTED)
        statuses.set_status(tx, StatusKind.INSTANCE, machine, InstanceStatus.RUNNING)

    def note_facts(self, tx: ModelTx, machine: str, hello: Mapping[str, Any]) -> None:
        """Record the facts that a machine reports."""
        from pushjuju.services.entities.basis.network import addresses_from_nics

        tx.run(
            "machine_set_facts", id=machine, hostname=hello["hostname"],
            boot_id=hello["boot_id"], hardware=json.dumps({"arch": "amd64", "cores": "2"}),
            now=to_iso(self.clock.now())
        )  # fmt: skip
        addresses = json.dumps(addresses_from_nics(hello["nics"]))
        tx.run("machine_set_addresses", id=machine, addresses=addresses)

    def turn(self, unit: str = "web/0", requests: Iterable[Request] = ()) -> Turn:
        """Run the turn of a unit: it decides what to do next."""
        return take_turn(self.ctx, self.model, unit, requests)

    def prepared(self, unit: str = "web/0") -> Dispatch:
        """Run the turn of a unit and return the operation, which there must be."""
        turn = self.turn(unit)
        assert turn.dispatch is not None, turn.reason
        return turn.dispatch

    def until(self, title: str, unit: str = "web/0") -> Dispatch:
        """Work a unit until it has prepared a certain operation, which does not run."""
        machine = self.unit(unit).machine or ""
        for _ in range(50):
            dispatch = self.prepared(unit)
            if dispatch.title == title:
                return dispatch
            self.commit(dispatch, self.played(machine).run(dispatch.frame))
        raise AssertionError(f"{title} never comes")

    def commit(self, dispatch: Dispatch, result: Mapping[str, Any]) -> Committed:
        return commit(self.ctx, dispatch.id, result)

    def hook(self, title: str, result: Mapping[str, Any], unit: str = "web/0") -> Committed:
        """Work a unit up to a hook, and commit the given result for this hook."""
        return self.commit(self.until(title, unit), result)

    def work(self, machine: str) -> bool:
        """Work a machine once, as its worker does; return True when there was work."""
        played, done, busy = self.played(machine), False, True
        while busy:
            busy = False
            for unit in self.read(lambda tx: machines.units_on(tx, machine)):
                turn = self.turn(unit.name)
                if turn.dispatch is not None:
                    committed = self.commit(turn.dispatch, played.run(turn.dispatch.frame))
                    if committed.reboot:
                        self.reboot(machine)
                        commit(self.ctx, committed.reboot, {"outcome": "ok"})
                    busy = True
                elif turn.answer is Answer.DEAD:
                    self.write(lambda tx, unit=unit: removal.remove_unit(tx, unit))
                    busy = True
            done |= busy
        return self._end(machine) or done

    def _end(self, machine: str) -> bool:
        row = self.machine(machine)
        if row.life == Life.ALIVE or self.read(lambda tx: machines.units_on(tx, machine)):
            return False
        self.write(lambda tx: removal.remove_machine(tx, row))
        return True

    def reboot(self, machine: str) -> None:
        played = self.played(machine)
        played.boot_id += "+"
        self.write(lambda tx: self.note_facts(tx, machine, played.hello()))

    def settle(self) -> None:
        """Work all machines until the model is at rest."""
        for _ in range(50):
            if not sum(self.work(machine) for machine in self.machine_ids()):
                return
        raise AssertionError("never at rest")

    def active(self, name: str = "web", count: int = 1, **more: Any) -> list[str]:
        """Deploy an application, work until all is at rest, and return its units."""
        deployed = self.deploy(name, count, **more)
        self.settle()
        return list(deployed.units)

    def hooks(self) -> list[tuple[str, str]]:
        """The hooks that ran on all machines, machine by machine."""
        return [item for played in (*self.gone, *self.played_machines.values()) for item in played.hooks]

    def of(self, unit: str) -> list[str]:
        """The hooks that ran on one unit, in order."""
        return [hook for name, hook in self.hooks() if name == unit]

    def clear(self) -> None:
        """Forget the hooks that ran so far."""
        for played in (*self.gone, *self.played_machines.values()):
            played.hooks.clear()
