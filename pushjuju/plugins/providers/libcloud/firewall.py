"""The firewall of clouds with security groups: each machine has a group of its own."""

from __future__ import annotations

from typing import Protocol

from pushjuju.core.errors import ProviderError, RemoteFailed
from pushjuju.core.firewall import MachineRules
from pushjuju.plugins.api.firewalls import GuardedMachine


class HasGroups(Protocol):
    """A provider with security groups."""

    async def set_ingress(self, machine_id: str, rules: MachineRules) -> None:
        """Set the rules of a machine's own group to exactly these."""
        ...


class SecurityGroups:
    """The firewall for the machines of one model, by their security groups."""

    def __init__(self, provider: HasGroups) -> None:
        self._provider = provider

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        """Set the rules of the machine's group; the model's group lets the model's machines reach each other.

        Raises:
            RemoteFailed: The cloud refused the rules.
        """
        try:
            await self._provider.set_ingress(machine.machine_id, rules)
        except ProviderError as error:
            raise RemoteFailed(
                f"the security group of machine {machine.machine_id} was not changed: {error.message}",
                detail=error.detail,
            ) from error

    async def clear(self, machine: GuardedMachine) -> None:
        """Close every port except SSH."""
        await self.apply(machine, MachineRules())
