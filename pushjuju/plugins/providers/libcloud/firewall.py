"""The firewall of clouds: each machine has a security group of its own."""

from __future__ import annotations

from typing import Protocol

from pushjuju.core.errors import ProviderError, RemoteFailed
from pushjuju.core.firewall import MachineRules
from pushjuju.plugins.api.firewalls import GuardedMachine


class HasGroups(Protocol):
    """A provider with security groups."""

    async def set_ingress(self, machine_id: str, rules: MachineRules) -> None:
        """Let a machine's own group have these rules and no others."""
        ...


class SecurityGroups:
    """Keeps machines of one model from being reached, by their security groups."""

    def __init__(self, provider: HasGroups) -> None:
        self._provider = provider

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        """Let these rules be the group's; members of the model reach each other by another group.

        Raises:
            RemoteFailed: The cloud did not take them.
        """
        try:
            await self._provider.set_ingress(machine.machine_id, rules)
        except ProviderError as error:
            raise RemoteFailed(
                f"the security group of machine {machine.machine_id} was not changed: {error.message}",
                detail=error.detail,
            ) from error

    async def clear(self, machine: GuardedMachine) -> None:
        """Close everything but SSH."""
        await self.apply(machine, MachineRules())
