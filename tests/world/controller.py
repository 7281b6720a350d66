"""A controller in a folder with a fake clock, small charms, and machines that answer in this process.

The store, the services and the uniter are the real ones; only SSH and what is behind it is played.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import yaml

from pushjuju.charms.archive.pack import PackedCharm, pack
from pushjuju.core.base import Base
from pushjuju.core.clock import FakeClock, to_iso
from pushjuju.core.life import Life
from pushjuju.core.status import InstanceStatus, MachineStatus, StatusKind
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import controllers, models
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import deploy as deploy_request
from pushjuju.services.requests import refresh
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
from pushjuju.store.rows.records import Application, Machine, Model, Operation, Unit
from pushjuju.store.tx import Tx
from pushjuju.uniter.commit import Committed, commit
from pushjuju.uniter.decide import Answer
from pushjuju.uniter.dispatch import Prepared
from pushjuju.uniter.requests import Request
from pushjuju.uniter.turn import Turn, take_turn

UBUNTU = Base.parse("ubuntu@22.04")
CONFIG = {
    "title": {"type": "string", "default": "hello"},
    "port": {"type": "int", "default": 80},
    "debug": {"type": "boolean", "default": False},
    "ratio": {"type": "float"},
    "note": {"type": "string"},
}
PEERS = {"cluster": {"interface": "web-cluster"}}
SETUP = ("install", "cluster-relation-created", "leader-elected", "config-changed", "start")


class Charms:
    """Packs small charms; equal ones once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._made: dict[str, PackedCharm] = {}

    def make(
        self,
        name: str = "web",
        *,
        config: Mapping[str, Any] | None = CONFIG,
        peers: Mapping[str, Any] | None = PEERS,
        files: Mapping[str, str] | None = None,
        **metadata: Any,
    ) -> PackedCharm:
        """Pack a charm.

        Args:
            name: Its name.
            config: Its options; None for no config.yaml.
            peers: Its peer endpoints.
            files: More files: path -> text.
            metadata: More keys of metadata.yaml.
        """
        document = {"name": name, "summary": "s", "description": "d", "series": ["jammy"], **metadata}
        if peers:
            document["peers"] = dict(peers)
        tree = {"metadata.yaml": yaml.safe_dump(document), "hooks/install": "#!/bin/sh\n", **(files or {})}
        if config is not None:
            tree["config.yaml"] = yaml.safe_dump({"options": dict(config)})
        key = hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()
        if key not in self._made:
            folder = self.root / key[:16]
            for path, text in tree.items():
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            (folder / "hooks" / "install").chmod(0o755)
            self._made[key] = pack(folder, self.root / f"{key[:16]}.charm")
        return self._made[key]


@dataclass
class Box:
    """A machine: it answers frames, runs an id once, and keeps what it did.

    Attributes:
        hooks: (unit, hook), in the order of their runs.
        charms: Unit -> URL of the charm that lies there.
        frames: Every frame that started something.
        script: Hook name, or (unit, hook) -> what its next runs lead to; then all is well.
        results: Those that nobody acknowledged.
        answers: What live calls were answered.
        blobs: Archives that were sent.
        cancelled: Operations that were interrupted.
        requests: What `juju-exec` asks for there.
        answered: Requests that were refused, with the error.
        left: Units whose files lie there, when it says so.
    """

    id: str
    boot_id: str = "boot-1"
    address: str = "10.0.0.2"
    hooks: list[tuple[str, str]] = field(default_factory=list)
    charms: dict[str, str] = field(default_factory=dict)
    frames: list[dict[str, Any]] = field(default_factory=list)
    script: dict[Any, list[dict[str, Any]]] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    blobs: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    answered: list[tuple[str, str]] = field(default_factory=list)
    left: list[str] | None = None

    def hello(self) -> dict[str, Any]:
        """What the machine tells at each contact."""
        return {
            "t": "hello",
            "python": "3.10",
            "arch": "amd64",
            "boot_id": self.boot_id,
            "hostname": f"juju-{self.id}",
            "ssh": f"192.0.2.9 50022 {self.address} 22",
            "os": {"id": "ubuntu", "version_id": "22.04"},
            "cores": 2,
            "mem_mib": 2048,
            "nics": [
                {
                    "name": "lo",
                    "mac": "",
                    "up": True,
                    "addresses": [{"value": "127.0.0.1", "cidr": "127.0.0.1/8"}],
                },
                {
                    "name": "eth0",
                    "mac": "00:16:3e:00:00:01",
                    "up": True,
                    "addresses": [{"value": self.address, "cidr": f"{self.address}/24"}],
                },
            ],
            "journal": [{"id": key, "done": True} for key in self.results],
            "blobs": [],
            "running": [],
            **({} if self.left is None else {"units": self.left}),
            "charms": list(self.charms),
        }

    def will(self, hook: str, *answers: Mapping[str, Any], unit: str = "") -> None:
        """Say how the next runs of a hook end."""
        self.script.setdefault((unit, hook) if unit else hook, []).extend(dict(item) for item in answers)

    def fail(self, hook: str, times: int = 1, unit: str = "") -> None:
        """Let the next runs of a hook fail."""
        self.will(hook, *[{"outcome": "failed", "exit": 1}] * times, unit=unit)

    def run(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a frame asks, once per id."""
        known = self.results.get(frame["id"])
        if known is not None:
            return known
        self.frames.append(dict(frame))
        answer = self._do(frame)
        self.results[frame["id"]] = answer
        return answer

    def _do(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        plain: dict[str, Any] = {
            "t": "result", "id": frame["id"], "outcome": "ok", "exit": 0, "signal": None, "via": None,
            "message": "", "writes": {}, "events": [], "reboot": "",
        }  # fmt: skip
        title = frame.get("hook") or frame["kind"]
        if frame["kind"] == "hook":
            self.hooks.append((frame["unit"], title))
            plain["via"] = "hook"
        if frame["kind"] == "reboot":
            self.boot_id += "+"
        for key in ((frame.get("unit"), title), title):
            if self.script.get(key):
                plain.update(self.script[key].pop(0))
                break
        if frame["kind"] == "deploy" and plain["outcome"] == "ok":
            self.charms[frame["unit"]] = frame["url"]
        if frame["kind"] == "remove-unit":
            self.charms.pop(frame["unit"], None)
        return plain

    def of(self, unit: str) -> list[str]:
        """The hooks of one unit."""
        return [hook for name, hook in self.hooks if name == unit]

    def frame_of(self, hook: str, unit: str = "") -> dict[str, Any]:
        """The last frame that ran a hook."""
        return next(
            frame
            for frame in reversed(self.frames)
            if frame.get("hook") == hook and unit in ("", frame["unit"])
        )


def ok(**more: Any) -> dict[str, Any]:
    """A result of a hook that ran well."""
    plain = {"outcome": "ok", "exit": 0, "via": "hook", "message": "", "writes": {}, "events": []}
    return {**plain, **more}


def failed(code: int = 1, **more: Any) -> dict[str, Any]:
    """A result of a hook that failed."""
    return ok(**{"outcome": "failed", "exit": code, **more})


def event(seq: int, kind: str, **fields: Any) -> dict[str, Any]:
    """An event as results carry it."""
    return {"seq": seq, "e": {"k": kind, "time": None, **fields}}


def status_event(seq: int, status: str, message: str = "", scope: str = "unit") -> dict[str, Any]:
    """A status-set."""
    return event(seq, "status", scope=scope, status=status, message=message)


def _open(datadir: DataDir, clock: FakeClock) -> Context:
    controller = datadir.controller("home")
    store = Store.open(controller.store_path)
    store._connection.execute("PRAGMA synchronous = OFF")  # no test pulls the plug
    return Context(datadir=datadir, controller=controller, store=store, clock=clock, random=Random(7))


class World:
    """One controller with one model."""

    def __init__(self, ctx: Context, clock: FakeClock, charms: Charms, model: Model) -> None:
        self.ctx = ctx
        self.clock = clock
        self.charms = charms
        self.model = model.uuid
        self.boxes: dict[str, Box] = {}
        self.gone: list[Box] = []  # machines that were stopped

    @classmethod
    def build(cls, root: Path, charms: Charms) -> World:
        """Make a controller `home` for the local cloud, with the model `shop`."""
        clock, datadir = FakeClock(), DataDir(root / "data")
        controllers.bootstrap(datadir, "local", "home", now=clock.now())
        ctx = _open(datadir, clock)
        own = models.resolve(ctx, models.CONTROLLER)
        with ctx.store.write() as tx:  # the tests count the rows of `shop`
            models.purge(tx, own.uuid)
        return cls(ctx, clock, charms, models.add_model(ctx, "shop"))

    @classmethod
    def copy(cls, source: Path, root: Path, charms: Charms) -> World:
        """Copy a controller that `build` made and nobody has open."""
        shutil.copytree(source, root, dirs_exist_ok=True)
        clock = FakeClock()
        ctx = _open(DataDir(root / "data"), clock)
        return cls(ctx, clock, charms, models.resolve(ctx, "shop"))

    # --- looking ------------------------------------------------------------------------------------------

    def read(self, look: Callable[[Tx], Any]) -> Any:
        """Read something in one transaction."""
        with self.ctx.store.read() as tx:
            return look(tx)

    def write(self, change: Callable[[Tx], Any]) -> Any:
        """Change something in one transaction."""
        with self.ctx.store.write() as tx:
            return change(tx)

    def unit(self, name: str) -> Unit:
        """Return a unit's row."""
        return self.read(lambda tx: tx.get(Unit, "unit_get", f"no {name}", model=self.model, name=name))

    def units(self) -> list[str]:
        """Return the names of all units."""
        return [unit.name for unit in self.read(lambda tx: tx.list(Unit, "unit_list", model=self.model))]

    def machine(self, machine: str) -> Machine:
        """Return a machine's row."""
        return self.read(lambda tx: machines.get(tx, self.model, machine))

    def machine_ids(self) -> list[str]:
        """Return the ids of all machines."""
        return [item.id for item in self.read(lambda tx: machines.list_machines(tx, self.model))]

    def application(self, name: str = "web") -> Application:
        """Return an application's row."""
        return self.read(lambda tx: applications.get(tx, self.model, name))

    def applications(self) -> list[str]:
        """Return the names of all applications."""
        return [
            item.name
            for item in self.read(lambda tx: tx.list(Application, "application_list", model=self.model))
        ]

    def status(self, kind: StatusKind, entity: str) -> tuple[str, str]:
        """Return a status as (word, message)."""
        found = self.read(lambda tx: statuses.get_status(tx, self.model, kind, entity))
        return (str(found.status), found.message) if found else ("", "")

    def agent(self, unit: str = "web/0") -> tuple[str, str]:
        """Return a unit's agent status."""
        return self.status(StatusKind.AGENT, unit)

    def workload(self, unit: str = "web/0") -> tuple[str, str]:
        """Return a unit's workload status."""
        return self.status(StatusKind.WORKLOAD, unit)

    def history(self, kind: StatusKind, entity: str) -> list[tuple[str, str]]:
        """Return all that a status ever was, oldest first."""
        found = self.read(lambda tx: statuses.history(tx, self.model, kind, entity, limit=1000))
        return [(item.status, item.message) for item in found]

    def open_operations(self) -> list[Operation]:
        """Return the operations whose result is not known."""

        def look(tx: Tx) -> list[Operation]:
            found = []
            for machine in machines.list_machines(tx, self.model):
                found += tx.list(Operation, "operation_open", model=self.model, machine=machine.id)
            return found

        return self.read(look)

    def due(self, key: str) -> str | None:
        """Return when a key of the queue (without the model) is due."""
        row = self.read(lambda tx: tx.row("work_get", key=f"{self.model}/{key}"))
        return row["due"] if row else None

    def forget_work(self) -> None:
        """Empty the queue, to see who is touched next."""
        self.ctx.store._connection.execute("DELETE FROM work")
        self.ctx.store.forget()

    def touched(self) -> list[str]:
        """Return the keys of the model that are in the queue."""
        rows = self.read(lambda tx: tx.rows("work_list", prefix=self.model))
        return [row["key"].partition("/")[2] for row in rows if row["due"]]

    def dump(self) -> dict[str, Any]:
        """Return all that the store and the blobs folder hold."""
        connection = self.ctx.store._connection
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables: dict[str, Any] = {
            name: sorted(tuple(row) for row in connection.execute(f"SELECT * FROM {name}")) for name in names
        }
        tables["blobs"] = self.blobs()
        return tables

    def left(self) -> dict[str, Any]:
        """Return what `dump` does without empty tables and without number and moment of the last lease."""
        dump = self.dump()
        dump["sequence"] = [row for row in dump["sequence"] if row[:2] not in (("", "lease"), ("", "clock"))]
        return {table: rows for table, rows in dump.items() if rows}

    def blobs(self) -> list[str]:
        """Return the names of the archives that are kept."""
        root = self.ctx.controller.blobs.root
        return sorted(path.name for path in root.rglob("*") if path.is_file())

    # --- asking -------------------------------------------------------------------------------------------

    def deploy(self, name: str = "web", count: int = 1, **more: Any) -> deploy_request.Deployed:
        """Deploy an application of the small charm, or of another one."""
        packed = more.pop("packed", None) or self.charms.make()
        more.setdefault("base", UBUNTU)
        request = deploy_request.DeployRequest(application=name, packed=packed, count=count, **more)
        return deploy_request.deploy(self.ctx, self.model, request)

    def refresh(self, packed: PackedCharm, name: str = "web", **more: Any) -> tuple[int, list[str]]:
        """Refresh an application."""
        request = refresh.RefreshRequest(application=name, packed=packed, **more)
        return refresh.refresh(self.ctx, self.model, request)

    def resolve_model(self) -> Model:
        """Return the model's row."""
        return self.read(lambda tx: models.get(tx, self.model))

    # --- working ------------------------------------------------------------------------------------------

    def box(self, machine: str = "0") -> Box:
        """Return a machine that runs; the first call starts it."""
        if machine not in self.boxes:
            self.boxes[machine] = Box(id=machine, address=f"10.0.0.{int(machine) + 2}")
            self.write(lambda tx: self._started(tx, machine))
        return self.boxes[machine]

    def _started(self, tx: Tx, machine: str) -> None:
        now, hello = self.clock.now(), self.boxes[machine].hello()
        tx.run(
            "machine_set_instance", model=self.model, id=machine, provider="local",
            instance_id=f"i-{machine}", display_name="", hardware=json.dumps({"arch": "amd64", "cores": "2"}),
            ssh=json.dumps({"host": self.boxes[machine].address}), base=str(UBUNTU), nonce="n",
        )  # fmt: skip
        self.note_facts(tx, machine, hello)
        statuses.set_status(tx, self.model, StatusKind.MACHINE, machine, MachineStatus.STARTED, now=now)
        statuses.set_status(tx, self.model, StatusKind.INSTANCE, machine, InstanceStatus.RUNNING, now=now)

    def note_facts(self, tx: Tx, machine: str, hello: Mapping[str, Any]) -> None:
        """Record what a machine tells."""
        from pushjuju.services.entities.basis.network import addresses_from_nics

        tx.run(
            "machine_set_facts", model=self.model, id=machine, hostname=hello["hostname"],
            boot_id=hello["boot_id"], hardware=json.dumps({"arch": "amd64", "cores": "2"}),
            now=to_iso(self.clock.now()),
        )  # fmt: skip
        addresses = json.dumps(addresses_from_nics(hello["nics"]))
        tx.run("machine_set_addresses", model=self.model, id=machine, addresses=addresses)

    def turn(self, unit: str = "web/0", requests: Iterable[Request] = ()) -> Turn:
        """Let a unit decide."""
        return take_turn(self.ctx, self.model, unit, requests)

    def prepared(self, unit: str = "web/0") -> Prepared:
        """Let a unit decide; it must come to an operation."""
        turn = self.turn(unit)
        assert turn.prepared is not None, turn.reason
        return turn.prepared

    def until(self, title: str, unit: str = "web/0") -> Prepared:
        """Work one unit until an operation is prepared; it is not run."""
        machine = self.unit(unit).machine or ""
        for _ in range(50):
            prepared = self.prepared(unit)
            if prepared.title == title:
                return prepared
            self.commit(prepared, self.box(machine).run(prepared.frame))
        raise AssertionError(f"{title} never comes")

    def commit(self, prepared: Prepared, result: Mapping[str, Any]) -> Committed:
        """Take a result in."""
        return commit(self.ctx, prepared.id, result)

    def hook(self, title: str, result: Mapping[str, Any], unit: str = "web/0") -> Committed:
        """Work one unit up to a hook, and let that one end as told."""
        return self.commit(self.until(title, unit), result)

    def work(self, machine: str) -> bool:
        """Work one machine as its lane does, once; tell whether anything was done."""
        box, done, busy = self.box(machine), False, True
        while busy:
            busy = False
            for unit in self.read(lambda tx: machines.units_on(tx, self.model, machine)):
                turn = self.turn(unit.name)
                if turn.prepared is not None:
                    committed = self.commit(turn.prepared, box.run(turn.prepared.frame))
                    if committed.reboot:
                        self.reboot(machine)
                        commit(self.ctx, committed.reboot, {"outcome": "ok"})
                    busy = True
                elif turn.answer is Answer.DEAD:
                    self.write(lambda tx, unit=unit: removal.remove_unit(tx, unit, self.clock.now()))
                    busy = True
            done |= busy
        return self._end(machine) or done

    def _end(self, machine: str) -> bool:
        row = self.machine(machine)
        if row.life == Life.ALIVE or self.read(lambda tx: machines.units_on(tx, self.model, machine)):
            return False
        self.write(lambda tx: removal.remove_machine(tx, row, self.clock.now()))
        return True

    def reboot(self, machine: str) -> None:
        """Boot a machine anew."""
        box = self.box(machine)
        box.boot_id += "+"
        self.write(lambda tx: self.note_facts(tx, machine, box.hello()))

    def settle(self) -> None:
        """Work all machines until nothing is left to do."""
        for _ in range(50):
            if not sum(self.work(machine) for machine in self.machine_ids()):
                return
        raise AssertionError("never at rest")

    def active(self, name: str = "web", count: int = 1, **more: Any) -> list[str]:
        """Deploy an application and bring it to rest; return its units."""
        deployed = self.deploy(name, count, **more)
        self.settle()
        return list(deployed.units)

    def hooks(self) -> list[tuple[str, str]]:
        """All hooks of all machines; per machine in order."""
        return [item for box in (*self.gone, *self.boxes.values()) for item in box.hooks]

    def of(self, unit: str) -> list[str]:
        """The hooks of one unit, in order."""
        return [hook for name, hook in self.hooks() if name == unit]

    def clear(self) -> None:
        """Forget the hooks that ran."""
        for box in (*self.gone, *self.boxes.values()):
            box.hooks.clear()


def moment(clock: FakeClock) -> float:
    """The present moment as machines tell it."""
    return clock.now().timestamp()


def at(seconds: float) -> datetime:
    """A moment, from seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC)


def names(items: Iterable[Any]) -> list[str]:
    """The names of some records."""
    return [item.name for item in items]
