"""The firewall of EC2: each machine has a security group of its own. Layer: plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.core.errors import ProviderError, RemoteFailed
from pushjuju.core.firewall import MachineRules
from pushjuju.plugins.types import GuardedMachine

if TYPE_CHECKING:
    from pushjuju.plugins.providers.libcloud.ec2provider import Ec2Provider


class SecurityGroups:
    """Keeps machines of one model from being reached, by their security groups."""

    def __init__(self, provider: Ec2Provider) -> None:
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
