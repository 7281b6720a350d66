"""The commands that users run on a random model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.placement import Placement
from pushjuju.core.model.series import SeriesStatus
from pushjuju.services.entities.application import units
from pushjuju.services.entities.machine import machines, upgrade_machine
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import expose, new_application, new_charm, settings
from pushjuju.services.requests.application import unit_requests as resolved_requests
from pushjuju.services.requests.application.expose import ExposeOptions
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.machine import upgrade_machine as upgrade_machine_requests
from pushjuju.services.requests.relation import integrate
from pushjuju.store.rows.records import Unit
from pushjuju.store.tx import ModelTx
from tests.world.charms import UBUNTU, Charms
from tests.world.stepped.checks import check_awake
from tests.world.stepped.machine import SteppedMachine
from tests.world.stepped.random_model import ENDS, NAMES, RandomModel, charm

NOBLE = Base.parse("ubuntu@24.04")
PAIRS = (
    ("web:db", "db:server"), ("web:cache", "db:fast"), ("log:host", "web"), ("log:access", "web:site"),
    ("log:host", "db"), ("ship:host", "web"), ("ship:source", "log:lines"), ("mon:target", "db"),
    ("mon:target", "web"), ("mon:target", "log"),
)  # fmt: skip


def _pick(items: list[Any], number: int) -> Any:
    if not items:
        raise PushjujuError("nothing to choose from")
    return items[number % len(items)]


class People:
    """Commands of users; `which` selects the entity, and a command may be refused."""

    def __init__(self, town: RandomModel, packs: Charms) -> None:
        self.town = town
        self.packs = packs
        self.versions: dict[str, int] = {}
        self.requests = 0

    def do(self, word: str, which: int, how: int) -> None:
        """Run a command; a refusal is a valid outcome."""
        self.town.witness.story.append(f"> {word} {which} {how}")
        act: Callable[[int, int], None] = getattr(self, word)
        try:
            act(which, how)
        except PushjujuError as error:
            self.town.witness.story.append(f"  refused: {error}")

    def _force(self, how: int) -> Force | None:
        return (None, None, None, Force(wait_s=0.0), Force(wait_s=60.0))[how % 5]

    def deploy(self, which: int, how: int) -> None:
        """Deploy an application, sometimes to an existing machine."""
        town, name = self.town, NAMES[which % len(NAMES)]
        packed = charm(self.packs, name, how)
        count = 0 if packed.charm.meta.subordinate else 1 + how % 2
        there = town.machine_ids()
        placements = [Placement.parse(_pick(there, how))] if there and count and how % 3 else []
        request = new_application.NewApplication(
            application=name, packed=packed, base=UBUNTU, count=count, placements=placements
        )
        new_application.add(town.ctx, town.model, request)

    def relate(self, which: int, how: int) -> None:
        """Relate two applications."""
        first, second = PAIRS[(which + how) % len(PAIRS)]
        integrate.integrate(self.town.ctx, self.town.model, first, second)

    def add_unit(self, which: int, how: int) -> None:
        town = self.town
        placements = [Placement.parse(_pick(town.machine_ids(), how))] if how % 2 else []
        units.add_units(town.ctx, town.model, _pick(town.applications(), which), 1, placements)

    def remove_unit(self, which: int, how: int) -> None:
        """Remove a unit, sometimes by force."""
        town, force = self.town, self._force(how)
        unit = _pick(town.all_units(), which)
        removals.remove_units(town.ctx, town.model, [unit.name], force)
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
        removals.remove_applications(town.ctx, town.model, [name], force)

    def remove_relation(self, which: int, how: int) -> None:
        """Remove a relation, sometimes by force."""
        town, force = self.town, self._force(how)
        relation = _pick(town.all_relations(), which)
        integrate.remove_relation(town.ctx, town.model, [str(relation.id)], force)
        if force:
            town.forced.add(str(relation.id))

    def suspend(self, which: int, how: int) -> None:
        """Suspend or resume a relation."""
        town = self.town
        relation = _pick(town.all_relations(), which)
        integrate.set_suspended(town.ctx, town.model, [str(relation.id)], suspended=how % 3 > 0)

    def config(self, which: int, how: int) -> None:
        """Change a setting."""
        town = self.town
        name = _pick(town.applications(), which)
        settings.set_config(town.ctx, town.model, ConfigOptions(application=name, values={"title": str(how)}))

    def expose(self, which: int, how: int) -> None:
        """Expose or unexpose an application."""
        town = self.town
        name = _pick(town.applications(), which)
        if how % 3:
            expose.expose(
                town.ctx,
                town.model,
                ExposeOptions(application=name, cidrs=[f"10.{how % 200}.0.0/16"] if how % 2 else ()),
            )
        else:
            expose.unexpose(town.ctx, town.model, name)

    def refresh(self, which: int, how: int) -> None:
        """Refresh an application to another charm."""
        town = self.town
        name = _pick(town.applications(), which)
        request = new_charm.NewCharm(
            application=name, packed=charm(self.packs, name, how), force_units=how % 4 == 3
        )
        new_charm.put(town.ctx, town.model, request)

    def fail(self, which: int, how: int) -> None:
        """Make the next hooks of a unit fail, lose the connection, or reboot the machine."""
        unit = _pick(self.town.all_units(), which).name
        self.town.ends[unit] = [ENDS[how % len(ENDS)]] * (1 + how % 3)

    def resolved(self, which: int, how: int) -> None:
        """Mark a unit in error as resolved."""
        town = self.town
        failed = [unit.name for unit in town.all_units() if town.in_error(unit.name)]
        resolved_requests.resolve(town.ctx, town.model, [_pick(failed, which)], retry=how % 2 == 0)

    def run(self, which: int, how: int) -> None:
        """Run an action on a unit or a leader, or commands on all machines."""
        town = self.town
        unit: str = _pick(town.all_units(), which).name
        if how % 3 == 2:
            commands = operations.CommandRequest(
                command="true", timeout_s=60, units=[unit], every_machine=True
            )
            operations.enqueue_commands(town.ctx, town.model, commands)
            return
        receiver = unit if how % 3 else f"{unit.partition('/')[0]}/leader"
        request = operations.ActionRequest(action="tell", receivers=[receiver], parallel=how % 2 == 0)
        operations.enqueue(town.ctx, town.model, request)

    def ask(self, which: int, how: int) -> None:
        """Call juju-exec on a unit's machine, sometimes for a relation."""
        town = self.town
        unit = _pick(town.all_units(), which)
        machine = town.machine(unit.machine)
        played = town.box_of(machine)
        if played is None or unit.name not in played.units:
            raise PushjujuError("the unit has no files there")
        self.requests += 1
        name = f"r{self.requests}-1"
        number = _pick(town.all_relations(), how).id if how % 3 else None
        played.requests[name] = {"id": name, "unit": unit.name, "script": "true", "relation": number}
        session = town.runtime.attached(machine)
        if session is not None:
            session.on_requests()

    def cancel(self, which: int, how: int) -> None:
        town = self.town
        operations.cancel(town.ctx, town.model, [_pick(town.all_tasks(), which + how).id])

    def wait(self, which: int, how: int) -> None:
        """Advance the clock."""
        self.town.clock.advance((5, 30, 61, 400)[how % 4])

    def work(self, which: int, how: int) -> None:
        """Step some workers."""
        for _ in range(how + 1):
            self.town.step(which)

    def rest(self, which: int, how: int) -> None:
        """Step all workers until nothing is due."""
        self.town.rest((which, how))
        check_awake(self.town)

    def crash(self, which: int, how: int) -> None:
        """Kill the controller's process."""
        self.town.crash()

    def reboot(self, which: int, how: int) -> None:
        """Reboot a machine without the controller."""
        _pick(self._machines(), which).boot += 1

    def lose(self, which: int, how: int) -> None:
        """Disconnect a machine, or reconnect all."""
        if how % 2:
            self.come_back()
        else:
            _pick(self._machines(), which).down = True

    def come_back(self) -> None:
        """Make every machine answer again."""
        for played in self.town.cloud.played_machines.values():
            played.down = False

    def _machines(self) -> list[SteppedMachine]:
        town = self.town
        seen = [row for row in town.read(machines.list_machines) if row.last_seen]
        return [played for row in seen if (played := town.box_of(row)) is not None]

    def remove_machine(self, which: int, how: int) -> None:
        """Remove a machine, sometimes by force."""
        town, force = self.town, self._force(how)
        machine = _pick(town.machine_ids(), which)
        if force:
            self._note_forced(lambda one: one.machine == machine)
        removals.remove_machines(town.ctx, town.model, [machine], force=force)

    def upgrade(self, which: int, how: int) -> None:
        """Begin or complete the upgrade of a machine to another base."""
        town = self.town
        machine = _pick(town.machine_ids(), which)
        if how % 3 == 0:
            upgrade_machine_requests.complete(town.ctx, town.model, machine)
        else:
            upgrade_machine_requests.prepare(town.ctx, town.model, machine, NOBLE, force=True)

    def _complete_upgrades(self) -> bool:
        """Complete every prepared upgrade; return True when there was one."""
        town = self.town
        ready = [
            machine
            for machine in town.machine_ids()
            if town.read(lambda tx, machine=machine: upgrade_machine.status_of(tx, machine))
            is SeriesStatus.PREPARE_COMPLETED
        ]
        for machine in ready:
            upgrade_machine_requests.complete(town.ctx, town.model, machine)
        return bool(ready)

    # --- the ends -----------------------------------------------------------------------------------------

    def mend(self) -> None:
        """Repair everything: machines answer, hooks succeed, units in error and upgrades go on."""
        town = self.town
        town.witness.story.append("> mend")
        self.come_back()
        town.ends.clear()
        self.rest(0, 0)
        for _ in range(20):
            town.clock.advance(400)
            town.rest()
            resolved = resolved_requests.resolve_all(town.ctx, town.model, retry=True)
            if not (self._complete_upgrades() or resolved):
                return
        raise AssertionError("never without errors")

    def destroy(self, force: Force | None = None) -> None:
        town = self.town
        town.witness.story.append(f"> destroy-model {force or ''}")
        if force:
            self._note_forced(lambda one: True)

        def ask(tx: ModelTx) -> None:
            removal.destroy_model(tx, models.get(tx), force)

        town.write(ask)
