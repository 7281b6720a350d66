"""A model that people change at random, and what must hold whenever it rests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.core.base import Base
from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.life import Life
from pushjuju.core.model.placement import Placement
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.model.tasks import TaskStatus
from pushjuju.core.status import Agent, StatusKind
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import leadership, statuses
from pushjuju.services.entities.machine import machines, upgrade_machine
from pushjuju.services.entities.model import firewall, models
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import deploy as deploy_request
from pushjuju.services.requests import expose, integrate, refresh
from pushjuju.store.queue import machine_key
from pushjuju.store.rows.records import (
    Application,
    Cleanup,
    Machine,
    Model,
    Relation,
    RelationScope,
    Task,
    Unit,
)
from pushjuju.store.tx import Tx
from pushjuju.uniter.decide import Answer, decide, reconcile_effects
from pushjuju.uniter.input.snapshot import read_view
from tests.world.charms import UBUNTU, Charms
from tests.world.stepped import SteppedController, SteppedMachine
from tests.world.witness import Witness

NOBLE = Base.parse("ubuntu@24.04")
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
PAIRS = (
    ("web:db", "db:server"), ("web:cache", "db:fast"), ("log:host", "web"), ("log:access", "web:site"),
    ("log:host", "db"), ("ship:host", "web"), ("ship:source", "log:lines"), ("mon:target", "db"),
    ("mon:target", "web"), ("mon:target", "log"),
)  # fmt: skip
NAMES = tuple(METADATA)
EXTRA = {"extra": {"interface": "extra"}}


def charm(packs: Charms, name: str, version: int) -> PackedCharm:
    """Pack one of the charms; odd versions have one more peer relation."""
    metadata = dict(METADATA[name])
    peers = {**metadata.pop("peers", {}), **(EXTRA if version % 2 else {})}
    files = {"version": str(version % 3), "actions.yaml": "tell:\n  description: Tell.\n"}
    return packs.make(name, config=OPTIONS, peers=peers, files=files, **metadata)


def _port(unit: str) -> dict[str, Any]:
    """Return a port that no other unit opens."""
    number = 1000 + _number(unit)
    return {"endpoint": "", "protocol": "tcp", "from": number, "to": number}


def _number(unit: str) -> int:
    """Return a number of a unit's own."""
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
    """A fleet whose charms talk to each other, whose hooks fail when told, and whose story is checked."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.witness = Witness()
        self.ends: dict[str, list[dict[str, Any]]] = {}
        self.tasks: set[str] = set()
        self.asked: set[str] = set()  # requests of juju-exec that ran
        self.forced: set[str] = set()  # units, and relations as text, that were not left to go by themselves

    # --- charms -------------------------------------------------------------------------------------------

    async def charm(self, box: SteppedMachine, frame: dict[str, Any], on_live: Any) -> dict[str, Any]:
        """Run a hook of a charm that tells everybody what it sees."""
        if "after" in frame and all(unit.name != frame["unit"] for unit in self.all_units()):
            return {}  # it was removed while the charm was on its way: nobody is told to stop at once
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

    def task(self, box: SteppedMachine, frame: dict[str, Any]) -> dict[str, Any]:
        """Run an action or commands; an action tells one relation of itself."""
        unit = frame.get("unit", "")
        self.witness.story.append(f"{unit or box.number} {frame['kind']}")
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
        """Run what juju-exec asks for: it tells the relation that it is about, and ends with 3."""
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
        """Return what a charm writes: its name, and what it has read of the unit that the hook is about."""
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
        """Hear how an operation ended."""
        row = self.operation(operation)
        self.witness.committed(operation, row.outcome if row else "", row.unit if row else "")

    # --- looking ------------------------------------------------------------------------------------------

    def all_units(self) -> list[Unit]:
        """Return every unit."""
        found: list[Unit] = self.read(lambda tx: tx.list(Unit, "unit_list", model=self.model))
        return found

    def all_relations(self) -> list[Relation]:
        """Return every relation."""
        found: list[Relation] = self.read(lambda tx: tx.list(Relation, "relation_list", model=self.model))
        return found

    def all_tasks(self) -> list[Task]:
        """Return every task."""
        found: list[Task] = self.read(lambda tx: tx.list(Task, "task_list", model=self.model))
        return found

    def in_error(self, unit: str) -> bool:
        """Tell whether a unit waits for a person."""
        return bool(self.read(lambda tx: units.in_error(tx, self.model, unit)))

    def box_of(self, machine: Machine) -> SteppedMachine | None:
        """Return the machine behind a machine."""
        return self.cloud.boxes.get(machine.instance_id)


# --- what people do ---------------------------------------------------------------------------------------


def _pick(items: list[Any], number: int) -> Any:
    if not items:
        raise PushjujuError("nothing to choose from")
    return items[number % len(items)]


class People:
    """Commands; each picks what it is about with a number, and may be refused."""

    def __init__(self, town: RandomModel, packs: Charms) -> None:
        self.town = town
        self.packs = packs
        self.versions: dict[str, int] = {}
        self.requests = 0

    def do(self, word: str, which: int, how: int) -> None:
        """Do one command; a refusal is an answer."""
        self.town.witness.story.append(f"> {word} {which} {how}")
        act: Callable[[int, int], None] = getattr(self, word)
        try:
            act(which, how)
        except PushjujuError as error:
            self.town.witness.story.append(f"  refused: {error}")

    def _force(self, how: int) -> Force | None:
        return (None, None, None, Force(wait_s=0.0), Force(wait_s=60.0))[how % 5]

    def deploy(self, which: int, how: int) -> None:
        """Deploy an application, sometimes onto a machine that is there."""
        town, name = self.town, NAMES[which % len(NAMES)]
        packed = charm(self.packs, name, how)
        count = 0 if packed.charm.meta.subordinate else 1 + how % 2
        there = town.machine_ids()
        placements = [Placement.parse(_pick(there, how))] if there and count and how % 3 else []
        request = deploy_request.DeployRequest(
            application=name, packed=packed, base=UBUNTU, count=count, placements=placements
        )
        deploy_request.deploy(town.ctx, town.model, request)

    def relate(self, which: int, how: int) -> None:
        """Relate two applications."""
        first, second = PAIRS[(which + how) % len(PAIRS)]
        integrate.integrate(self.town.ctx, self.town.model, first, second)

    def add_unit(self, which: int, how: int) -> None:
        """Add a unit."""
        town = self.town
        placements = [Placement.parse(_pick(town.machine_ids(), how))] if how % 2 else []
        units.add_units(town.ctx, town.model, _pick(town.applications(), which), 1, placements)

    def remove_unit(self, which: int, how: int) -> None:
        """Remove a unit, sometimes by force."""
        town, force = self.town, self._force(how)
        unit = _pick(town.all_units(), which)
        removal.remove_units(town.ctx, town.model, [unit.name], force)
        if force:
            self._note_forced(lambda one: unit.name in (one.name, one.principal))

    def _note_forced(self, concerns: Callable[[Unit], bool]) -> None:
        self.town.forced |= {unit.name for unit in self.town.all_units() if concerns(unit)}

    def remove_application(self, which: int, how: int) -> None:
        """Remove an application, sometimes by force."""
        town, force = self.town, self._force(how)
        name = _pick(town.applications(), which)
        if force:
            mine = {unit.name for unit in town.all_units() if unit.application == name}
            self._note_forced(lambda one: one.name in mine or one.principal in mine)
        removal.remove_application(town.ctx, town.model, [name], force)

    def remove_relation(self, which: int, how: int) -> None:
        """Remove a relation, sometimes by force."""
        town, force = self.town, self._force(how)
        relation = _pick(town.all_relations(), which)
        integrate.remove_relation(town.ctx, town.model, [str(relation.id)], force)
        if force:
            town.forced.add(str(relation.id))

    def suspend(self, which: int, how: int) -> None:
        """Suspend a relation, or let it go on."""
        town = self.town
        relation = _pick(town.all_relations(), which)
        integrate.set_suspended(town.ctx, town.model, [str(relation.id)], suspended=how % 3 > 0)

    def config(self, which: int, how: int) -> None:
        """Change a setting."""
        town = self.town
        name = _pick(town.applications(), which)
        applications.set_config(town.ctx, town.model, name, values={"title": str(how)})

    def expose(self, which: int, how: int) -> None:
        """Expose an application to somebody, or to nobody any more."""
        town = self.town
        name = _pick(town.applications(), which)
        if how % 3:
            expose.expose(town.ctx, town.model, name, cidrs=[f"10.{how % 200}.0.0/16"] if how % 2 else ())
        else:
            expose.unexpose(town.ctx, town.model, name)

    def refresh(self, which: int, how: int) -> None:
        """Put an application on another charm."""
        town = self.town
        name = _pick(town.applications(), which)
        request = refresh.RefreshRequest(
            application=name, packed=charm(self.packs, name, how), force_units=how % 4 == 3
        )
        refresh.refresh(town.ctx, town.model, request)

    def fail(self, which: int, how: int) -> None:
        """Let the next hooks of a unit fail, be cut off, or ask for a reboot."""
        unit = _pick(self.town.all_units(), which).name
        self.town.ends[unit] = [ENDS[how % len(ENDS)]] * (1 + how % 3)

    def resolved(self, which: int, how: int) -> None:
        """Let a unit in error go on."""
        town = self.town
        failed = [unit.name for unit in town.all_units() if town.in_error(unit.name)]
        units.resolve(town.ctx, town.model, [_pick(failed, which)], retry=how % 2 == 0)

    def run(self, which: int, how: int) -> None:
        """Run an action on a unit or a leader, or commands on all machines."""
        town = self.town
        unit: str = _pick(town.all_units(), which).name
        if how % 3 == 2:
            commands = actions.CommandRequest(command="true", timeout_s=60, units=[unit], every_machine=True)
            actions.enqueue_commands(town.ctx, town.model, commands)
            return
        receiver = unit if how % 3 else f"{unit.partition('/')[0]}/leader"
        request = actions.ActionRequest(action="tell", receivers=[receiver], parallel=how % 2 == 0)
        actions.enqueue(town.ctx, town.model, request)

    def ask(self, which: int, how: int) -> None:
        """Let juju-exec ask for commands on a unit's machine, now and then about a relation."""
        town = self.town
        unit = _pick(town.all_units(), which)
        machine = town.machine(unit.machine)
        box = town.box_of(machine)
        if box is None or unit.name not in box.units:
            raise PushjujuError("the unit has no files there")
        self.requests += 1
        name = f"r{self.requests}-1"
        number = _pick(town.all_relations(), how).id if how % 3 else None
        box.requests[name] = {"id": name, "unit": unit.name, "script": "true", "relation": number}
        session = town.runtime.attached(machine)
        if session is not None:
            session.on_requests()

    def cancel(self, which: int, how: int) -> None:
        """Cancel a task."""
        town = self.town
        actions.cancel(town.ctx, town.model, [_pick(town.all_tasks(), which + how).id])

    def wait(self, which: int, how: int) -> None:
        """Let time pass."""
        self.town.clock.advance((5, 30, 61, 400)[how % 4])

    def work(self, which: int, how: int) -> None:
        """Let some workers go on."""
        for _ in range(how + 1):
            self.town.step(which)

    def rest(self, which: int, how: int) -> None:
        """Let all workers go on until nothing is due."""
        self.town.rest((which, how))
        check_awake(self.town)

    def crash(self, which: int, how: int) -> None:
        """Kill the controller's process."""
        self.town.crash()

    def reboot(self, which: int, how: int) -> None:
        """Boot a machine behind our back."""
        _pick(self._boxes(), which).boot += 1

    def lose(self, which: int, how: int) -> None:
        """Cut a machine that was seen off, or bring all back."""
        if how % 2:
            self.come_back()
        else:
            _pick(self._boxes(), which).down = True

    def come_back(self) -> None:
        """Let every machine answer again."""
        for box in self.town.cloud.boxes.values():
            box.down = False

    def _boxes(self) -> list[SteppedMachine]:
        town = self.town
        seen = [row for row in town.read(lambda tx: machines.list_machines(tx, town.model)) if row.last_seen]
        return [box for row in seen if (box := town.box_of(row)) is not None]

    def remove_machine(self, which: int, how: int) -> None:
        """Remove a machine, sometimes by force."""
        town, force = self.town, self._force(how)
        machine = _pick(town.machine_ids(), which)
        if force:
            self._note_forced(lambda one: one.machine == machine)
        removal.remove_machines(town.ctx, town.model, [machine], force=force)

    def upgrade(self, which: int, how: int) -> None:
        """Begin the upgrade of a machine to another base, or end it."""
        town = self.town
        machine = _pick(town.machine_ids(), which)
        if how % 3 == 0:
            upgrade_machine.complete(town.ctx, town.model, machine)
        else:
            upgrade_machine.prepare(town.ctx, town.model, machine, NOBLE, force=True)

    def _complete_upgrades(self) -> bool:
        """End every upgrade that is prepared; tell whether there was one."""
        town = self.town
        ready = [
            machine
            for machine in town.machine_ids()
            if town.read(lambda tx, machine=machine: upgrade_machine.status_of(tx, town.model, machine))
            is SeriesStatus.PREPARE_COMPLETED
        ]
        for machine in ready:
            upgrade_machine.complete(town.ctx, town.model, machine)
        return bool(ready)

    # --- the ends -----------------------------------------------------------------------------------------

    def mend(self) -> None:
        """Put everything right: machines answer, hooks work, whoever is in error or half upgraded goes on."""
        town = self.town
        town.witness.story.append("> mend")
        self.come_back()
        town.ends.clear()
        self.rest(0, 0)
        for _ in range(20):
            town.clock.advance(400)
            town.rest()
            resolved = units.resolve_all(town.ctx, town.model, retry=True)
            if not (self._complete_upgrades() or resolved):
                return
        raise AssertionError("never without errors")

    def destroy(self, force: Force | None = None) -> None:
        """Ask for the end of the model."""
        town = self.town
        town.witness.story.append(f"> destroy-model {force or ''}")
        if force:
            self._note_forced(lambda one: True)

        def ask(tx: Tx) -> None:
            removal.destroy_model(tx, models.get(tx, town.model), town.clock.now(), force)

        town.write(ask)


# --- what holds at rest -----------------------------------------------------------------------------------


def check_rest(town: RandomModel) -> None:
    """Check what holds whenever nothing is due and all machines answer."""
    with town.ctx.store.read() as tx:
        every = {unit.name: unit for unit in tx.list(Unit, "unit_list", model=town.model)}
        stuck = {name for name in every if units.in_error(tx, town.model, name)}
        for unit in every.values():
            _check_unit(tx, town, unit, stuck)
            _check_home(every, unit)
        for relation in tx.list(Relation, "relation_list", model=town.model):
            _check_relation(tx, town, relation, every, stuck)
        for application in tx.list(Application, "application_list", model=town.model):
            _check_application(tx, town, application, every, stuck)
        for machine in machines.list_machines(tx, town.model):
            assert upgrade_machine.lock_of(tx, town.model, machine.id) is None
            mine = [unit for unit in every.values() if unit.machine == machine.id]
            box = town.box_of(machine)
            waiting = box.requests.values() if box else ()
            assert not any(item["unit"] in every for item in waiting), f"{machine.id}: {waiting}"
            assert machine.life == Life.ALIVE or any(unit.life != Life.ALIVE for unit in mine), machine.id
            _check_firewall(tx, town, machine)
        now = town.clock.now()
        assert all(item.due > str(now) for item in tx.list(Cleanup, "cleanup_list", model=town.model))
    _check_gone(town, set(every))
    assert [task for task in town.all_tasks() if not TaskStatus(task.status).over] == []


def _check_firewall(tx: Tx, town: RandomModel, machine: Machine) -> None:
    """Check that the rules that the model asks for are in force on a machine."""
    known, box = firewall.state(tx, town.model, machine.id), town.box_of(machine)
    if not town.guarded:
        return
    if known is None or box is None:
        assert not machine.last_seen, f"machine {machine.id} was never guarded"
        return
    wanted = firewall.rules(tx, town.model, machine.id, known).digest()
    assert (box.rules, known.applied, known.seen) == (wanted, wanted, known.changes), machine.id


def check_awake(town: RandomModel) -> None:
    """Check that nobody was forgotten: whoever has work left is tried again later."""
    if any(box.down for box in town.cloud.boxes.values()):
        return
    later = {item.key for item in town.queue.items(town.model) if item.attempts}
    with town.ctx.store.read() as tx:
        for unit in tx.list(Unit, "unit_list", model=town.model):
            if machine_key(town.model, unit.machine or "") in later:
                continue
            view = read_view(tx, town.model, unit.name)
            assert view is not None
            decision = decide(view.local, view.remote)
            assert decision.answer in (Answer.IDLE, Answer.WAITING), f"{unit.name}: {decision.reason}"
            if all(life is Life.ALIVE for life in view.remote.subordinates.values()):
                left = reconcile_effects(view.local, view.remote)
                assert not left, f"{unit.name}: {left}"
            if unit.life == Life.ALIVE:
                assert leadership.holder(tx, town.model, unit.application), f"nobody leads {unit.application}"


def _held(tx: Tx, town: RandomModel, unit: Unit, stuck: set[str]) -> bool:
    """Tell whether a unit may rest on its way: it is in error, or waits for one that is."""
    mates = {other.name for other in removal.subordinates(tx, unit)} | {unit.name, unit.principal or ""}
    return bool(mates & stuck)


def _check_unit(tx: Tx, town: RandomModel, unit: Unit, stuck: set[str]) -> None:
    view = read_view(tx, town.model, unit.name)
    assert view is not None
    agent = statuses.get_status(tx, town.model, StatusKind.AGENT, unit.name)
    assert agent is not None
    if unit.name in stuck:
        return
    effects = list(reconcile_effects(view.local, view.remote))
    decision = decide(view.local, view.remote)
    if not _held(tx, town, unit, stuck):
        assert not effects, f"{unit.name} was forgotten: {effects}"
        assert unit.life == Life.ALIVE, f"{unit.name} is {unit.life}: {decision.reason}"
        assert decision.answer is Answer.IDLE, f"{unit.name} was forgotten: {decision.reason}"
        assert agent.status == Agent.IDLE, f"{unit.name}: {agent}"
        assert view.local.current_charm_url == view.application.charm_url
    else:
        assert decision.answer in (Answer.IDLE, Answer.WAITING), f"{unit.name}: {decision.reason}"


def _check_home(every: Mapping[str, Unit], unit: Unit) -> None:
    if unit.principal:
        assert unit.principal in every, f"{unit.name} lost {unit.principal}"
        assert every[unit.principal].machine == unit.machine
        twins = [
            other.name
            for other in every.values()
            if (other.principal, other.application) == (unit.principal, unit.application)
        ]
        assert twins == [unit.name], twins


def _check_relation(
    tx: Tx, town: RandomModel, relation: Relation, every: Mapping[str, Unit], stuck: set[str]
) -> None:
    sides = relations.endpoints(tx, town.model, relation.id)
    scopes = {scope.unit: scope for scope in relations.scopes(tx, town.model, relation.id)}
    assert set(scopes) <= set(every), f"{relation.key}: strangers in scope"
    if relation.life != Life.ALIVE:
        assert any(_held(tx, town, every[name], stuck) for name in scopes), f"{relation.key} is dying"
        return
    for unit in every.values():
        if unit.application not in {side.application for side in sides} or _held(tx, town, unit, stuck):
            continue
        if relation.suspended:
            assert unit.name not in scopes, f"{relation.key}: {unit.name}"
            continue
        if not _implemented(tx, town, relation, unit):
            continue
        assert unit.name in scopes, f"{relation.key}: {unit.name} is not in scope"
        _check_members(tx, town, relation, unit, scopes)
        _check_subordinate(tx, relation, unit, every, stuck)
    _check_bags(tx, town, relation, scopes)


def _implemented(tx: Tx, town: RandomModel, relation: Relation, unit: Unit) -> bool:
    """Tell whether a unit's charm has the endpoint; a refresh may take a peer relation away."""
    view = read_view(tx, town.model, unit.name)
    return view is not None and view.remote.relations[relation.id].implemented


def _check_members(
    tx: Tx, town: RandomModel, relation: Relation, unit: Unit, scopes: Mapping[str, RelationScope]
) -> None:
    view = read_view(tx, town.model, unit.name)
    assert view is not None
    if view.remote.relations[relation.id].implicit:
        return
    track = town.witness.tracks[(unit.name, relation.id)]
    other = view.remote.relations[relation.id].remote_application
    container = scopes[unit.name].container
    wanted = {
        name
        for name, scope in scopes.items()
        if scope.application == other
        and name != unit.name
        and not scope.departing
        and scope.container == container * (relation.scope == "container")
    }
    assert set(track.members) == wanted, f"{relation.key}: {unit.name} knows {track.members}"
    assert not track.pending
    assert track.created


def _check_subordinate(
    tx: Tx, relation: Relation, unit: Unit, every: Mapping[str, Unit], stuck: set[str]
) -> None:
    if relation.scope != "container" or unit.principal:
        return
    sides = relations.endpoints(tx, relation.model, relation.id)
    other = relations.remote_endpoint(sides, unit.application).application
    mine = [one for one in every.values() if (one.principal, one.application) == (unit.name, other)]
    assert len(mine) == 1, f"{relation.key}: {unit.name} has {mine}"


def _check_bags(tx: Tx, town: RandomModel, relation: Relation, scopes: Mapping[str, RelationScope]) -> None:
    """Check that nothing that was written is lost, of members and of those that left."""
    bags = relations.bags(tx, town.model, relation.id)
    for (number, entity), said in town.witness.wrote.items():
        if number == relation.id and said:
            kept = {key: bags[entity].data.get(key) for key in said}
            assert kept == said, f"{relation.key}: {entity}"
    for name in scopes:
        assert "private-address" in bags[name].data


def _check_application(
    tx: Tx, town: RandomModel, application: Application, every: Mapping[str, Unit], stuck: set[str]
) -> None:
    mine = [unit for unit in every.values() if unit.application == application.name]
    held = [unit for unit in mine if _held(tx, town, unit, stuck)]
    if application.life != Life.ALIVE:
        every_held = held or any(
            relation.life != Life.ALIVE or relation.suspended
            for relation in relations.of_application(tx, town.model, application.name)
        )
        assert every_held, f"{application.name} is {application.life}"
    holder = leadership.holder(tx, town.model, application.name)
    assert holder is None or holder in every
    if len(mine) > len(held):
        assert holder is not None, f"nobody leads {application.name}"


def _check_gone(town: RandomModel, there: set[str]) -> None:
    """Check that whoever is gone has departed from all, unless forced."""
    present = {relation.id for relation in town.all_relations()}
    for (unit, relation), track in town.witness.tracks.items():
        if unit in town.forced or str(relation) in town.forced:
            continue
        if unit not in there:
            assert not track.members, f"{unit} never departed from {track.members} in {relation}"
        elif relation not in present:
            assert not track.created, f"{unit} never broke relation {relation}"


def check_nothing_left(town: RandomModel) -> None:
    """Check that the model is gone without a trace."""
    assert town.read(lambda tx: tx.find(Model, "model_by_uuid", uuid=town.model)) is None
    assert town.rows(town.model) == {}
    assert town.cloud.boxes == {}
    assert not town.ctx.controller.known_hosts(town.model).exists()
