"""A model that users change at random: its charms, and the checks of what happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.core.model.series import SeriesStatus
from pushjuju.services.entities.application import units
from pushjuju.store.rows.records import Machine, Relation, Task, Unit
from tests.world.charms import Charms
from tests.world.stepped.controller import SteppedController
from tests.world.stepped.machine import SteppedMachine
from tests.world.witness import Witness

CONTAINER = {"scope": "container"}
OPTIONS = {"title": {"type": "string", "default": "hello"}}
METADATA: dict[str, dict[str, Any]] = {
    "web": {
        "peers": {"cluster": {"interface": "web"}},
        "requires": {"db": {"interface": "sql"}, "cache": {"interface": "mem"}},
        "provides": {"site": {"interface": "http"}},
    },
    "db": {
        "peers": {"replicas": {"interface": "db"}},
        "provides": {"server": {"interface": "sql"}, "fast": {"interface": "mem"}},
    },
    "log": {
        "subordinate": True,
        "peers": {"mates": {"interface": "log"}},
        "requires": {
            "host": {"interface": "juju-info", **CONTAINER},
            "access": {"interface": "http", **CONTAINER},
        },
        "provides": {"lines": {"interface": "lines", **CONTAINER}},
    },
    "ship": {
        "subordinate": True,
        "requires": {
            "host": {"interface": "juju-info", **CONTAINER},
            "source": {"interface": "lines", **CONTAINER},
        },
    },
    "mon": {"requires": {"target": {"interface": "juju-info"}}},
}
NAMES = tuple(METADATA)
EXTRA = {"extra": {"interface": "extra"}}


def charm(packs: Charms, name: str, version: int) -> PackedCharm:
    """Pack one of the charms; charms with an odd version have one more peer relation."""
    metadata = dict(METADATA[name])
    peers = {**metadata.pop("peers", {}), **(EXTRA if version % 2 else {})}
    files = {"version": str(version % 3), "actions.yaml": "tell:\n  description: Tell.\n"}
    return packs.make(name, config=OPTIONS, peers=peers, files=files, **metadata)


def _port(unit: str) -> dict[str, Any]:
    """Return a port that only this unit opens."""
    number = 1000 + _number(unit)
    return {"endpoint": "", "protocol": "tcp", "from": number, "to": number}


def _number(unit: str) -> int:
    """Return a number that only this unit has."""
    name, _, number = unit.partition("/")
    return NAMES.index(name) * 1000 + int(number)


_SAID = {"message": "ready", "time": None}
ENDS: tuple[dict[str, Any], ...] = (
    {"outcome": "failed", "exit": 1},
    {"outcome": "failed", "exit": None, "recovered": True},
    {"outcome": "terminated", "exit": None, "signal": 15},
    {"reboot": "after"},
    {"outcome": "terminated", "exit": None, "reboot": "now"},
)


class RandomModel(SteppedController):
    """A model whose charms exchange settings, whose hooks fail on demand, and whose hooks are checked."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.witness = Witness()
        self.ends: dict[str, list[dict[str, Any]]] = {}
        self.tasks: set[str] = set()
        self.asked: set[str] = set()  # requests of juju-exec that ran
        self.forced: set[str] = set()  # units, and relations as text, that were removed by force

    # --- charms -------------------------------------------------------------------------------------------

    async def charm(self, played: SteppedMachine, frame: dict[str, Any], on_live: Any) -> dict[str, Any]:
        """Run a hook: the charm writes its state into every relation."""
        if "after" in frame and all(unit.name != frame["unit"] for unit in self.all_units()):
            return {}  # the unit was removed while the charm was sent: nobody stops a running operation
        hook = self.witness.began(frame)
        assert not SeriesStatus(self.unit(hook.unit).series).frozen, f"{hook} on a machine under upgrade"
        result: dict[str, Any] = {"writes": {"relations": self._says(frame)}}
        ends = self.ends.get(hook.unit, [])
        if ends:
            result |= ends.pop(0)
        elif hook.name == "start":
            result["writes"] |= {"state": {"k": hook.unit}, "ports": {"open": [_port(hook.unit)]}}
            result["events"] = [
                {"seq": 1, "e": {"k": "status", "scope": "unit", "status": "active", **_SAID}}
            ]
        elif hook.name == "leader-elected":
            call = {"tool": "leader-set", "argv": [f"leader={hook.unit}"]}
            assert (await on_live(call))[0] == 0
            result["asked"] = True
        self.witness.sent(frame, result)
        return result

    def task(self, played: SteppedMachine, frame: dict[str, Any]) -> dict[str, Any]:
        """Run an action or commands; an action writes into a relation."""
        unit = frame.get("unit", "")
        self.witness.story.append(f"{unit or played.number} {frame['kind']}")
        if "request" in frame:
            return self._asked(frame)
        if frame["kind"] != "action":
            return {}
        number = frame["context"]["action"]["id"]
        assert number not in self.tasks, f"task {number} runs twice"
        self.tasks.add(number)
        known = sorted(frame["context"]["relations"])[:1]
        writes = {"relations": {name: {"unit": {"task": number}} for name in known}}
        result = {"writes": writes, "exit": 0}
        self.witness.sent(frame, result)
        return result

    def _asked(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """Run a request of juju-exec: it writes into its relation, and exits with 3."""
        assert frame["request"] not in self.asked, f"{frame['request']} runs twice"
        self.asked.add(frame["request"])
        about = frame["context"]["relation"]
        if about is not None:
            assert about["remote_unit"] in frame["context"]["relations"][str(about["id"])]["members"], frame
        known = [str(about["id"])] if about else []
        writes = {"relations": {name: {"unit": {"asked": frame["request"]}} for name in known}}
        result = {"writes": writes, "outcome": "failed", "exit": 3}
        self.witness.sent(frame, result)
        return result

    def _says(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a charm writes: its name, and what it has read of the remote unit."""
        context, about = frame["context"], frame["context"]["relation"]
        if about is None:
            return {}
        relation = context["relations"][str(about["id"])]
        said = {"i-am": frame["unit"], "title": context["config"]["title"]}
        remote = about["remote_unit"]
        if remote in relation["members"]:
            said[f"saw {remote}"] = relation["unit_bags"][remote].get("title", "-")
        bags: dict[str, Any] = {"unit": said}
        if context["leader"] and frame["hook"].endswith("-created"):
            bags["app"] = {"leader": frame["unit"]}
        return {str(about["id"]): bags}

    def committed(self, operation: str) -> None:
        """Check the result of an operation."""
        row = self.operation(operation)
        self.witness.committed(operation, row.outcome if row else "", row.unit if row else "")

    # --- looking ------------------------------------------------------------------------------------------

    def all_units(self) -> list[Unit]:
        found: list[Unit] = self.read(lambda tx: tx.list(Unit, "unit_list"))
        return found

    def all_relations(self) -> list[Relation]:
        found: list[Relation] = self.read(lambda tx: tx.list(Relation, "relation_list"))
        return found

    def all_tasks(self) -> list[Task]:
        found: list[Task] = self.read(lambda tx: tx.list(Task, "task_list"))
        return found

    def in_error(self, unit: str) -> bool:
        """Return True when a unit waits for `resolved`."""
        return bool(self.read(lambda tx: units.in_error(tx, unit)))

    def box_of(self, machine: Machine) -> SteppedMachine | None:
        return self.cloud.played_machines.get(machine.instance_id)
