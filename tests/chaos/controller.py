"""A controller with one model on real machines, and what a test does to them.

Hooks are counted on the machine itself: the charm `tally` writes a line when a hook begins and one when it
ends. The controller runs in this process (`settle`) or in one of its own that a test may kill (`Drive`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pushjuju.charms.archive.pack import PackedCharm, pack
from pushjuju.charms.format.config import parse_settings
from pushjuju.core.base import Base
from pushjuju.core.clock import Clock, to_iso
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.core.storage import Directive
from pushjuju.plugins.providers.nspawn.cgroups import Cgroup
from pushjuju.plugins.providers.nspawn.layout import Layout, Record
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import model_config, models
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import new_application, new_charm, settings, unit_requests
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.controller import new_controllers
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.store import databases
from pushjuju.store.datadir import DataDir
from pushjuju.store.rows.records import LogRecord, Machine, Model, Operation, Status, Unit
from pushjuju.workers.driver import Driver, Settled
from tests.waiting import paths_below
from tests.world.init_process import init_process

REPOSITORY = Path(__file__).parents[2]
CHARMS = Path(__file__).parent / "charms"
DRIVE = Path(__file__).parent / "drive.py"
DEPLOY_HOOKS = ("install", "cluster-relation-created", "leader-elected", "config-changed", "start")
REMOVE_HOOKS = ("stop", "remove")
UNIT = "tally/0"


class RealController:
    """One controller, one model."""

    def __init__(
        self, data: Path, base: Base, work: Path, clock: Clock | None = None, store: str = ""
    ) -> None:
        self.data = data
        self.base = base
        self.work = work
        datadir = DataDir(data)
        made = context.SystemClock()
        database = new_controllers.Database(url=store, insecure=True) if store else None
        new_controllers.bootstrap(datadir, "local", "local", now=made.now(), database=database)
        self.ctx = context.open_context(datadir, "local", environ=dict(os.environ), clock=clock)
        own = models.resolve(self.ctx, models.CONTROLLER)
        with self.ctx.write(own.uuid) as tx:  # the tests count the rows of `chaos`
            models.purge(tx)
        self.model: Model = add_model(self.ctx, AddModelOptions(name="chaos"))
        self.told: list[str] = []

    @property
    def uuid(self) -> str:
        """The model's UUID."""
        return self.model.uuid

    @property
    def layout(self) -> Layout:
        """Where the provider keeps the machines."""
        return Layout.of(self.ctx.controller.machines)

    # --- what a person asks for ---------------------------------------------------------------------------

    def pack(self, folder: Path = CHARMS / "tally", **files: str) -> PackedCharm:
        """Pack a charm, with some files of it replaced or added."""
        copy = self.work / f"charm{len(list(self.work.iterdir()))}"
        subprocess.run(["cp", "-a", folder, copy], check=True)
        for name, text in files.items():
            (copy / name).write_text(text)
        return pack(copy, self.work / f"{copy.name}.charm")

    def deploy(
        self,
        do: str = "",
        *,
        name: str = "tally",
        count: int = 1,
        to: Sequence[str] = (),
        base: Base | None = None,
        storage: Mapping[str, Directive] | None = None,
        **files: str,
    ) -> None:
        """Deploy the charm `tally`; nothing runs yet.

        Args:
            do: Shell that each hook runs.
        """
        packed = self.pack(**files)
        request = new_application.NewApplication(
            application=name,
            packed=packed,
            base=base or self.base,
            count=count,
            settings=parse_settings(packed.charm.config, {"do": do}),
            placements=[Placement.parse(item) for item in to],
            storage=storage or {},
        )
        new_application.add(self.ctx, self.uuid, request)

    def add_machine(self) -> None:
        """Add a machine without a unit."""
        machines.add_machine(self.ctx, self.uuid, base=self.base, constraints={})

    def given_base(self) -> Base:
        """Return the base of machine 0."""
        return Base.parse(self.machines()[0].base)

    def refresh(self, name: str = "tally", *, force: bool = False, **files: str) -> None:
        """Put an application on a changed charm."""
        request = new_charm.NewCharm(application=name, packed=self.pack(**files), force_units=force)
        new_charm.put(self.ctx, self.uuid, request)

    def config(self, name: str = "tally", **values: str) -> None:
        """Change settings."""
        settings.set_config(self.ctx, self.uuid, ConfigOptions(application=name, values=values))

    def model_config(self, **values: str) -> None:
        """Change the model's configuration."""
        with self.ctx.write(self.uuid) as tx:
            model_config.change(tx, {key.replace("_", "-"): value for key, value in values.items()})

    def resolve(self, unit: str = UNIT, *, retry: bool = True) -> None:
        """Let a unit in error go on."""
        unit_requests.resolve(self.ctx, self.uuid, [unit], retry=retry)

    def remove(self, name: str = "tally", force: removal.Force | None = None) -> None:
        """Remove an application."""
        removals.remove_applications(self.ctx, self.uuid, [name], force)

    # --- the controller -----------------------------------------------------------------------------------

    def driver(self, **options: Any) -> Driver:
        """Return a controller of this process."""
        return Driver(self.ctx, self.uuid, tell=self._take, warn=self.told.append, **options)

    def _take(self, event: Any) -> None:
        self.told.append(f"{event.entity} {event.text}")

    async def settle(self, limit: float = 60.0) -> Settled:
        """Drive to rest in this process.

        Raises:
            AssertionError: It does not come to rest; what is known of that is told.
        """
        try:
            async with asyncio.timeout(limit):
                return await self.driver().settle()
        except TimeoutError:
            raise AssertionError(f"not at rest after {limit} s\n{self._look_around()}") from None

    def _look_around(self) -> str:
        """Return what can be seen of a model that does not come to rest."""
        lines = [*self.told[-20:], str(self.work_reasons()), str(self.open_operations())]
        for record in self.layout.records():
            machine = RealMachine(layout=self.layout, record=record)
            lines += [machine.run("ps", "axf", "-o", "pid,comm,args"), *machine.journal()]
        return "\n".join(lines)

    @contextmanager
    def process(self, *args: str, host: str = "", **environment: str) -> Iterator[Drive]:
        """Run a controller in a process of its own; it is killed at the end of the block.

        Args:
            host: The name of the host on which the process believes it runs; empty for this host.
            environment: Variables that only this process has.
        """
        there = ["unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', host] if host else []
        argv = [*there, sys.executable, str(DRIVE), str(self.data), self.uuid, *args]
        log = self.work / f"drive{time.monotonic_ns()}.log"
        with log.open("wb") as stream:
            env = {**os.environ, "PYTHONPATH": str(REPOSITORY), **environment}
            running = subprocess.Popen(argv, stdout=stream, stderr=subprocess.STDOUT, env=env)
        try:
            yield Drive(process=running, log=log)
        finally:
            running.kill()
            running.wait()

    def drive(self, *args: str, limit: float = 60.0) -> Drive:
        """Run a controller in a process of its own to its end."""
        with self.process(*args) as drive:
            drive.process.wait(limit)
            return drive

    # --- what the store says ------------------------------------------------------------------------------

    def statuses(self, kind: StatusKind) -> dict[str, str]:
        """Return entity -> status."""
        with self.ctx.read(self.uuid) as tx:
            every = tx.list(Status, "status_list")
        return {item.entity: item.status for item in every if item.kind == kind}

    def message(self, kind: StatusKind, entity: str) -> str:
        """Return the message of a status."""
        with self.ctx.read(self.uuid) as tx:
            every = tx.list(Status, "status_list")
        return next(item.message for item in every if (item.kind, item.entity) == (kind, entity))

    def agent(self, unit: str = UNIT) -> tuple[str, str]:
        """Return status and message of a unit's agent."""
        return self.statuses(StatusKind.AGENT)[unit], self.message(StatusKind.AGENT, unit)

    def workload(self, unit: str = UNIT) -> tuple[str, str]:
        """Return status and message of a unit's workload."""
        return self.statuses(StatusKind.WORKLOAD)[unit], self.message(StatusKind.WORKLOAD, unit)

    def unit(self, name: str = UNIT) -> Unit:
        """Return a unit's row."""
        with self.ctx.read(self.uuid) as tx:
            return units.get(tx, name)

    def units(self) -> list[str]:
        """Return the names of all units."""
        with self.ctx.read(self.uuid) as tx:
            return [unit.name for unit in tx.list(Unit, "unit_list")]

    def machines(self) -> list[Machine]:
        """Return the rows of all machines."""
        with self.ctx.read(self.uuid) as tx:
            return tx.list(Machine, "machine_list")

    def logs(self) -> list[str]:
        """Return all log lines: level and message."""
        with self.ctx.read(self.uuid) as tx:
            every = tx.list(LogRecord, "log_after", after=0, limit=100_000, levels="", entities="")
        return [f"{line.level} {line.message}" for line in every]

    def open_operations(self) -> list[Operation]:
        """Return the operations that are prepared and not committed."""
        with self.ctx.read(self.uuid) as tx:
            found = [
                tx.list(Operation, "operation_open", machine=machine.id)
                for machine in tx.list(Machine, "machine_list")
            ]
        return [operation for some in found for operation in some]

    def work_reasons(self) -> dict[str, str]:
        """Return what the queue waits for: key without the model -> reason."""
        return {
            item.key.partition("/")[2]: item.reason
            for item in self.driver().queue.items(self.uuid)
            if item.due
        }

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return every row of every table, and the archives, as they are now.

        The audit log is without the results of commands, which tell of failures, too.
        """
        place = self.ctx.store.place
        with TemporaryDirectory() as folder:
            if isinstance(place, str):
                url, place = place, Path(folder) / "copy.db"
                databases.to_file(url, place)
            with contextlib.closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as copy:
                names = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                found = {name: sorted(copy.execute(f"SELECT * FROM {name}"), key=repr) for (name,) in names}
        found["audit"] = [row for row in found["audit"] if '"answers":' not in row[2]]
        found["blobs"] = [
            (path.name,) for path in sorted(self.ctx.controller.blobs.root.rglob("*")) if path.is_file()
        ]
        return found

    def retry_now(self, unit: str = UNIT) -> float:
        """Make the retry of a failed hook due now; return the seconds for which it would have waited."""
        due = self.unit(unit).retry_due
        assert due is not None
        now = self.ctx.clock.now()
        waits = (due - now).total_seconds()
        self.sql("UPDATE unit SET retry_due = ? WHERE name = ?", to_iso(now), unit)
        self.work_now()
        return waits

    def work_now(self) -> None:
        """Make every key of the queue due now."""
        self.sql("UPDATE work SET due = ? WHERE due IS NOT NULL", to_iso(self.ctx.clock.now()))

    def update_status_now(self, unit: str = UNIT) -> None:
        """Make a unit's update-status due now."""
        self.sql("UPDATE unit SET update_status_due = ? WHERE name = ?", to_iso(self.ctx.clock.now()), unit)
        self.work_now()

    def at_rest(self, machine: RealMachine, *hooks: str) -> None:
        """Fail the test unless exactly these hooks ran, each once, and all is well."""
        machine.once(*hooks)
        assert self.agent() == ("idle", "")
        assert self.workload()[0] == "active"
        assert not self.open_operations()

    def keep_log(self, number: str = "0") -> Path:
        """Give a machine's log a second name, so that it can be read when the machine is gone."""
        machine = self.machine(number)
        kept = self.layout.state.parent / f"tally-{number}"
        kept.hardlink_to(self.layout.machine(machine.record.id) / "up" / machine.log)
        return kept

    def sql(self, text: str, *values: Any) -> None:
        """Change the store behind the controller's back: time is data there."""
        connection = sqlite3.connect(self.ctx.controller.store_path, timeout=10)
        try:
            with connection:
                connection.execute(text, values)
        finally:
            connection.close()

    # --- the machines -------------------------------------------------------------------------------------

    def machine(self, number: str = "0") -> RealMachine:
        """Return a machine as its host sees it."""
        record = next(item for item in self.layout.records() if item.machine_id == number)
        return RealMachine(layout=self.layout, record=record)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A controller process."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def text(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(errors="replace")

    @property
    def killed(self) -> bool:
        """Whether it died of SIGKILL."""
        return self.process.returncode == -signal.SIGKILL

    def check(self) -> None:
        """Fail the test when the process failed."""
        assert self.process.returncode == 0, self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class RealMachine:
    """A local machine seen from its host."""

    layout: Layout
    record: Record
    log: str = field(default="var/log/tally")

    @property
    def root(self) -> Path:
        """Its root directory."""
        return self.layout.machine(self.record.id) / "root"

    def begun(self) -> list[str]:
        """Return the hooks that began, in order, each as `hook number`."""
        return _lines(self.root / self.log)

    def ended(self) -> list[str]:
        """Return the hooks that ended well, in order."""
        return _lines(self.root / f"{self.log}-ended")

    def hooks(self) -> list[str]:
        """Return the names of the hooks that began."""
        return [line.split()[0] for line in self.begun()]

    def log_exists(self) -> bool:
        """Tell whether any hook ever began."""
        return (self.root / self.log).exists()

    def once(self, *hooks: str) -> None:
        """Fail the test unless exactly these hooks ran, in this order, each once and to its end."""
        assert self.begun() == [f"{hook} 1" for hook in hooks]
        assert self.ended() == self.begun()

    def behave(self, hook: str, script: str) -> None:
        """Tell a hook what to do from now on."""
        (self.root / "etc/tally").mkdir(exist_ok=True)
        (self.root / "etc/tally" / hook).write_text(script + "\n")

    def run(self, *argv: str) -> str:
        """Run a command inside, without SSH."""
        init = init_process(self.layout.cgroup(self.record.id))
        assert init, "the machine does not run"
        namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd"]
        command = ["nsenter", "--target", str(init), *namespaces, *argv]
        try:
            return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout
        except subprocess.CalledProcessError as error:
            error.add_note(error.stderr)
            raise

    def pids(self, pattern: str) -> list[int]:
        """Return the processes inside (pids of the host) whose command line matches."""
        found = []
        for pid in Cgroup.of(self.layout.cgroup(self.record.id)).pids():
            try:
                words = (
                    Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
            except OSError:
                continue
            if re.search(pattern, words):
                found.append(pid)
        return found

    def kill(self, *names: str) -> None:
        """End processes of ours inside, by the name that they gave themselves."""
        found = 0
        for pid in Cgroup.of(self.layout.cgroup(self.record.id)).pids():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # others end meanwhile
                if Path(f"/proc/{pid}/comm").read_text().strip() in names:
                    os.kill(pid, signal.SIGKILL)
                    found += 1
        assert found, f"nothing named {names} runs"

    def cut_connections(self) -> int:
        """End every SSH session of the machine at once; return how many."""
        found = self.pids(r"^sshd(-session)?: root")
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        return len(found)

    def link(self, state: str) -> None:
        """Take the machine's network away (`down`), or give it back (`up`)."""
        device = self.layout.namespace(self.record.index)
        subprocess.run(["ip", "link", "set", device, state], check=True)

    def files(self) -> list[str]:
        """Return every path that differs from the base."""
        top = self.layout.machine(self.record.id) / "up"
        return sorted(str(path.relative_to(top)) for path in paths_below(top))

    def journal(self) -> list[str]:
        """Return the operations that the machine keeps."""
        kept = paths_below(self.root / "var/lib/juju/pushjuju")
        return sorted(path.name for path in kept if path.name.startswith("op-"))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []


async def until(condition: Callable[[], object], limit: float = 60.0, what: str = "") -> None:
    """Wait until a condition holds.

    Raises:
        AssertionError: It does not within the limit.
    """
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, what or "it did not happen in time"
        await asyncio.sleep(0.02)


def counts(lines: Sequence[str]) -> Mapping[str, int]:
    """Return how often each hook is in a list of `hook number`."""
    return Counter(line.split()[0] for line in lines)
