"""Firewalls: what guards a machine that its provider does not guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pushjuju.core.firewall import MachineRules
from pushjuju.plugins.api.targets import ScriptResult


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedMachine:
    """A machine as its firewall sees it.

    Attributes:
        instance_id: What the cloud calls it.
        run: Runs a POSIX shell script on it as root, over the existing connection; its errors are those of
            `RemoteRunner.run_script`.
    """

    machine_id: str
    instance_id: str
    run: Callable[[str], Awaitable[ScriptResult]]


class Firewall(Protocol):
    """Keeps machines of one model from being reached; the controller decides what may reach them."""

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        """Let these rules be in force, all of them and no others; the same ones again do no harm.

        Connections that are open go on, and the SSH port stays within reach of `rules.ssh`.

        Raises:
            RemoteFailed: They are not in force.
        """
        ...

    async def clear(self, machine: GuardedMachine) -> None:
        """Take all of it from a machine that goes on without us.

        Raises:
            RemoteFailed: Something of it is still there.
        """
        ...
