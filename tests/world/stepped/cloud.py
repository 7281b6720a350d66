"""Provider and firewall for stepped machines."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.firewall import MachineRules
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.firewalls import GuardedMachine
from pushjuju.plugins.api.providers import Instance, Started, StartRequest
from pushjuju.plugins.api.targets import SSHTarget
from tests.world.stepped.machine import SteppedMachine, pause


class SteppedFirewall:
    """A firewall that sends the digest of its rules to the machine."""

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        assert (await machine.run(rules.digest())).rc == 0

    async def clear(self, machine: GuardedMachine) -> None:
        assert (await machine.run("")).rc == 0


class SteppedCloud:
    """A provider whose machines start at once."""

    box_type = SteppedMachine

    def __init__(self) -> None:
        self.played_machines: dict[str, SteppedMachine] = {}
        self.of: dict[str, str] = {}
        self.made = 0

    async def start(self, request: StartRequest) -> Started:
        """Start a machine; a second start for the same id replaces the first machine."""
        played = self.box_type(number=self.made)
        self.made += 1
        self.played_machines.pop(self.of.get(request.machine_id, ""), None)
        self.of[request.machine_id] = name = f"i-{played.number}"
        self.played_machines[name] = played
        await pause()
        return Started(instance=self._instance(name), base=request.base, nonce=request.nonce)

    def _instance(self, name: str) -> Instance:
        machine = next((machine for machine, mine in self.of.items() if mine == name), "")
        return Instance(id=name, status=InstanceStatus.RUNNING, message="Running", machine_id=machine)

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return the address of a machine."""
        return SSHTarget(host=self.played_machines[instance.id].address)

    async def get(self, ids: Sequence[str]) -> list[Instance | None]:
        return [self._instance(name) if name in self.played_machines else None for name in ids]

    async def list(self) -> list[Instance]:
        return [self._instance(name) for name in self.played_machines]

    async def stop(self, ids: Sequence[str]) -> None:
        """End machines."""
        for name in ids:
            self.played_machines.pop(name, None)

    async def destroy_model(self) -> None:
        """Remove the model's machines."""
        assert not self.played_machines
