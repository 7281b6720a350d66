"""Firewalls for machines that their provider does not guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from pushjuju.core.firewall import MachineRules
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.targets import ScriptResult


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedMachine:
    """A machine, in the form in which a firewall gets it.

    Attributes:
        instance_id: The cloud's id of the instance.
        run: Runs a POSIX shell script on the machine as root, over the open connection; raises the errors of
            `RemoteRunner.run_script`.
    """

    machine_id: str
    instance_id: str
    run: Callable[[str], Awaitable[ScriptResult]]


class Firewall(Protocol):
    """A firewall for the machines of one model; the controller decides which rules it applies."""

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        """Replace the firewall rules of a machine. Applying the same rules again changes nothing.

        Open connections survive, and the addresses in `rules.ssh` can still reach the SSH port.

        Raises:
            RemoteFailed: The rules could not be applied.
        """
        ...

    async def clear(self, machine: GuardedMachine) -> None:
        """Remove the firewall from a machine that leaves the model and keeps running.

        Raises:
            RemoteFailed: The firewall could not be removed completely.
        """
        ...
