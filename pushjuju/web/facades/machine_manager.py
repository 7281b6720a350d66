"""MachineManager: machines without units. Mirrors: juju apiserver/facades/client/machinemanager (3.6)"""

from __future__ import annotations

from dataclasses import dataclass, field

from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.core.names import is_machine
from pushjuju.core.storage import Directive
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.model import constraints
from pushjuju.services.requests import removals
from pushjuju.services.requests.machine import manual_machines, provisioning, upgrade_machine
from pushjuju.services.requests.machine.add_machines import AddMachinesOptions, add_machines
from pushjuju.services.views import removal_plan
from pushjuju.web import errors, tags
from pushjuju.web.call import each, result_of
from pushjuju.web.errors import ErrorResult
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes.common import (
    ConstraintsValue,
    Entities,
    Entity,
    Results,
    StringsResult,
    force_of,
    known_constraints,
)
from pushjuju.web.shapes.placement import BaseParams, PlacementParams, StorageParams, place
from pushjuju.web.subscriptions import Wanted
from pushjuju.web.watch import readings


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressParams:
    """An address of a machine that is there already."""

    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMachineParams:
    """A machine to add; with a type of container and a parent, a container in that machine."""

    base: BaseParams = field(default_factory=BaseParams)
    constraints: ConstraintsValue = field(default_factory=ConstraintsValue)
    container_type: str = ""
    parent_id: str = ""
    placement: PlacementParams | None = None
    disks: list[StorageParams] = field(default_factory=list)
    instance_id: str = ""
    nonce: str = ""
    addresses: list[AddressParams] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class DestroyMachines:
    """Machines to remove; the wait is in nanoseconds."""

    machine_tags: list[str] = field(default_factory=list)
    force: bool = False
    keep: bool = False
    dry_run: bool = False
    max_wait: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateChannel:
    """A machine, and the channel of the base that it is to have."""

    tag: Entity = field(default_factory=Entity)
    channel: str = ""
    force: bool = False

    @property
    def base(self) -> Base:
        """The new base; only Ubuntu can be upgraded."""
        return Base.parse(f"ubuntu@{self.channel.partition('/')[0]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeMessagesOf:
    entity: Entity = field(default_factory=Entity)
    watcher_id: str = ""


@facade("MachineManager")
class MachineManager(Facade):
    """The machines of the model."""

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def add_machines(self, params: list[AddMachineParams]) -> dict[str, object]:
        return {"machines": [self._add(item) for item in params]}

    def _add(self, item: AddMachineParams) -> dict[str, object]:
        try:
            if item.instance_id or item.nonce:
                return {"machine": self._add_manual(item)}
            return {"machine": add_machines(self.ctx, self.model, self._options(item))[0]}
        except PushjujuError as error:
            return {"machine": "", "error": errors.told(error)}

    def _add_manual(self, item: AddMachineParams) -> str:
        options = manual_machines.ManualMachineOptions(
            instance_id=item.instance_id,
            nonce=item.nonce,
            address=item.addresses[0].value if item.addresses else "",
            base=item.base.value,
            constraints=known_constraints(item.constraints),
        )
        return manual_machines.add_manual_machine(self.ctx, self.model, options)

    def _options(self, item: AddMachineParams) -> AddMachinesOptions:
        placed = place(item.placement, self.model) if item.placement else None
        container = placed if placed and placed.kind is PlacementKind.CONTAINER else None
        if item.container_type:
            if item.parent_id and not is_machine(item.parent_id):
                raise NotValid(f'"{item.parent_id}" is not a valid machine id')
            container = Placement(PlacementKind.CONTAINER, item.container_type, item.parent_id or None)
        return AddMachinesOptions(
            base=item.base.value or constraints.default_base(self.ctx, self.model),
            constraints=known_constraints(item.constraints),
            placement=placed.value if placed and placed.kind is PlacementKind.PROVIDER else "",
            container=container,
            disks=[Directive(pool=disk.pool, size=disk.size, count=disk.count or 1) for disk in item.disks],
        )

    @method(Needs.WRITE, blocked_by=blocks.REMOVE)
    def destroy_machine_with_params(self, params: DestroyMachines) -> Results:
        return {"results": [result_of(self._destroy, tag, params) for tag in params.machine_tags]}

    def _destroy(self, tag: str, params: DestroyMachines) -> dict[str, object]:
        name, force = tags.machine(tag), force_of(params.max_wait, force=params.force)
        units = removal_plan.unit_names(self.ctx, self.model, [name])
        if not params.dry_run:
            removals.remove_machines(self.ctx, self.model, [name], force=force, keep_instance=params.keep)
        gone = [{"tag": tags.of_unit(unit)} for unit in units]
        return {"info": {"machine-id": name, "destroyed-units": gone}}

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def retry_provisioning(self, machines: list[str], *, all: bool) -> Results:  # noqa: A002 - its name on the wire
        """Try again to start machines."""
        ids = [] if all else [tags.machine(tag) for tag in machines]
        provisioning.retry_provisioning(self.ctx, self.model, ids)
        return {"results": [{} for _ in machines]}

    @method(Needs.READ)
    async def watch_upgrade_series_notifications(self, params: Entities) -> Results:
        """Begin to watch the messages of upgrades of machines."""
        return {"results": [await self._watch(item.tag) for item in params.entities]}

    async def _watch(self, tag: str) -> dict[str, object]:
        try:
            wanted = Wanted(
                facade="NotifyWatcher", model=self.model, read=readings.sign,
                kinds=("upgrade",), entities=(tags.machine(tag),),
            )  # fmt: skip
            return {"NotifyWatcherId": await self.call.watchers.listen(wanted)}
        except PushjujuError as error:
            return {"NotifyWatcherId": "", "error": errors.told(error)}

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def provisioning_script(self, machine_id: str, nonce: str) -> dict[str, str]:
        """Return the script with which a client offers a machine of its own to the controller."""
        if not is_machine(machine_id):
            raise NotValid(f'"{machine_id}" is not a valid machine id')
        made = manual_machines.provisioning_script(self.ctx, self.model, machine_id, nonce)
        return {"script": made}

    @method(Needs.READ)
    def instance_types(self) -> None:
        """Refuse: pushjuju does not query clouds for their instance types."""
        raise errors.not_supported("instance types are not listed")

    # --- upgrades of a machine's base ---------------------------------------------------------------------

    @method(Needs.WRITE, until=10)
    def upgrade_series_validate(self, args: list[UpdateChannel]) -> dict[str, object]:
        """Return the units on machines that are to be upgraded."""
        return {"Results": [self._concerned(item) for item in args]}

    def _concerned(self, item: UpdateChannel) -> dict[str, object]:
        try:
            name = tags.machine(item.tag.tag)
            if not item.channel:
                return {"unit-names": upgrade_machine.units_of(self.ctx, self.model, name)}
            found = upgrade_machine.plan(self.ctx, self.model, name, item.base, force=item.force)
        except PushjujuError as error:
            return {"unit-names": [], "error": errors.told(error)}
        return {"unit-names": found}

    @method(Needs.WRITE, until=10, blocked_by=blocks.CHANGE)
    def upgrade_series_prepare(self, params: UpdateChannel) -> ErrorResult:
        """Lock a machine, and run its units' hooks that prepare for another base."""
        return each(self._prepare, params)

    def _prepare(self, item: UpdateChannel) -> None:
        name = tags.machine(item.tag.tag)
        upgrade_machine.prepare(self.ctx, self.model, name, item.base, force=item.force)

    @method(Needs.WRITE, until=10, blocked_by=blocks.CHANGE)
    def upgrade_series_complete(self, params: UpdateChannel) -> ErrorResult:
        """End the upgrade of a machine's base; the units run their hooks for the new base."""
        return each(self._complete, params)

    def _complete(self, item: UpdateChannel) -> None:
        upgrade_machine.complete(self.ctx, self.model, tags.machine(item.tag.tag))

    @method(Needs.READ, until=10)
    def get_upgrade_series_messages(self, params: list[UpgradeMessagesOf]) -> Results:
        """Return the messages of the upgrades of machines."""
        return {"results": [result_of(self._messages, item.entity.tag) for item in params]}

    def _messages(self, tag: str) -> StringsResult:
        found = upgrade_machine.progress(self.ctx, self.model, tags.machine(tag), (), 0)
        return {"result": [line.message for line in found.new]}
