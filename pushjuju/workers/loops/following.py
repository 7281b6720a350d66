"""Events that the store shows: the progress of other processes, and the removal of applications."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from pushjuju.core.clock import to_iso
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.engine import Row
from pushjuju.store.rows.records import Application, Machine, Unit
from pushjuju.store.tx import ModelTx, Tx
from pushjuju.workers.events import Event, Tell
from pushjuju.workers.machine.machine_run import stays

EVERY = timedelta(seconds=0.25)
_BEFORE = timedelta(hours=1)  # age of running operations that are shown
_KEYS = 50
_RUNS = 20  # operations of a unit between two looks
_STATES = {"failed": "failed", "terminated": "failed", "error": "failed"}


class Follower:
    """Emits events of machines that another process works on, of their hooks, and of removed applications.

    The removal of an application belongs to no machine: it follows its last unit or relation.
    """

    def __init__(self, ctx: Context, tell: Tell, owner: str, prefixes: Iterable[str] = ()) -> None:
        self._ctx = ctx
        self._tell = tell
        self._owner = owner
        self._begun = self._looked = ctx.clock.now()
        self._machines: set[tuple[str, str]] = set()
        self._told: dict[str, str] = {}
        self._units: dict[tuple[str, str], set[str]] = {}
        self._ends: dict[tuple[str, str], str] = {}  # machine -> the word for its end
        with ctx.store.read() as tx:
            self._going = [
                (model, str(row["name"]))
                for model in prefixes
                for row in tx.rows("application_dying", model=model)
            ]

    def look(self, prefixes: Iterable[str], busy: Container[str] = ()) -> None:
        """Emit events of what has changed, at most every 0.25 seconds.

        Args:
            busy: Keys that this process works, which tells of them itself: it may have taken them over.
        """
        now = self._ctx.clock.now()
        if now - self._looked < EVERY:
            return
        self._looked = now
        with self._ctx.store.read() as tx:
            for prefix in prefixes:
                self._machines.update(self._held(tx, prefix, now))
        self._machines = {key for key in self._machines if "/machine/".join(key) not in busy}
        self.catch_up()

    def catch_up(self) -> None:
        """Emit events for changes on machines that other processes work on, and for removed applications."""
        if not (self._machines or self._going):
            return
        events: list[Event] = []
        with self._ctx.store.read() as tx:
            for model, machine in sorted(self._machines, key=lambda key: natural_key("/".join(key))):
                events += [
                    replace(event, model=model)
                    for event in self._of_machine(self._ctx.of(tx, model), machine)
                ]
            events += self._gone_applications(tx)
        for event in events:
            self._tell(event)

    def _held(self, tx: Tx, prefix: str, now: datetime) -> Iterable[tuple[str, str]]:
        for row in tx.rows("work_due", prefix=prefix, now=now, owner=self._owner, most=_KEYS):
            model, kind, name = row["key"].split("/", 2)
            if kind == "machine" and row["owner"] is not None:
                yield model, name

    def _of_machine(self, tx: ModelTx, name: str) -> Iterable[Event]:
        home = f"machine {name}"
        machine = tx.find(Machine, "machine_get", id=name)
        units = tx.list(Unit, "unit_on_machine", machine=name) if machine is not None else []
        yield from self._gone(tx.model, name, {unit.name for unit in units})
        if machine is None:
            if end := self._ends.pop((tx.model, name), ""):
                yield Event(entity=home, text=end, state="done")
            return
        self._ends[tx.model, name] = "released" if stays(machine) else "removed"
        if not machine.instance_id and self._is_news(f"{tx.model}/{name}", "starting"):
            yield Event(entity=home, text="starting machine")
        for unit in units:
            since = self._begun - _BEFORE
            rows = tx.rows(
                "operation_history", unit=unit.name, since=since, until="", name="", failed=0, most=_RUNS
            )
            for row in reversed(rows):
                if event := self._of_run(row, home):
                    yield event

    def _gone_applications(self, tx: Tx) -> list[Event]:
        gone = [
            key for key in self._going
            if tx.find(Application, "application_get", model=key[0], name=key[1]) is None
        ]  # fmt: skip
        self._going = [key for key in self._going if key not in gone]
        return [
            Event(entity=f"application {name}", text="removed", state="done", model=model)
            for model, name in gone
        ]

    def _gone(self, model: str, machine: str, present: set[str]) -> Iterable[Event]:
        """Yield an event for each removed unit, whose last hooks were deleted with the unit."""
        before = self._units.get((model, machine), set())
        if present or before:
            self._units[model, machine] = present
        for name in sorted(before - present, key=natural_key):
            yield Event(entity=name, text="removed", state="done")

    def _of_run(self, row: Row, home: str) -> Event | None:
        over = row["committed"]
        if row["state"] == "planned" or (over and over < to_iso(self._begun)):
            return None
        state = _STATES.get(row["outcome"], "done") if over else "running"
        if not self._is_news(row["id"], state):
            return None
        return Event(entity=row["unit"], text=f"{row['name']}: {state}", state=state, parent=home)

    def _is_news(self, what: str, state: str) -> bool:
        if self._told.get(what) == state:
            return False
        self._told[what] = state
        return True
