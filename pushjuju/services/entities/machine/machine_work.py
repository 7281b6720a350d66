"""What keeps the work of a machine from being done, since when, and who works on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pushjuju.core.clock import to_iso
from pushjuju.store import processes
from pushjuju.store.queue import work_item

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.queue import WorkItem
    from pushjuju.store.tx import ModelTx

UNUSABLE = "why"
"""The key in the data of an instance's status: why the machine cannot be used, with the remote text."""
_MACHINE = "/machine/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """Who works on an entity.

    Attributes:
        working: The process that works on it at this moment: host, pid and start.
        waiting: The process that will work on it when it is due.
    """

    working: str = ""
    waiting: str = ""

    @property
    def none(self) -> bool:
        """Return True when no process works on it: it waits for a command of the user."""
        return not (self.working or self.waiting)

    def text(self, program: str = "pushjuju", again: str = "") -> str:
        """Return who works on it, and what is next, as a clause.

        Args:
            again: When it is tried again; empty for at once.
        """
        if self.working:
            return f"process {self.working} works on it"
        at = f" at {again}" if again else " now"
        if self.waiting:
            return f"process {self.waiting} tries it again{at}"
        return f"nobody is working on this; next: {program} update-status, or any command"


def waiting_process(ctx: Context) -> str:
    """Return a process that works what becomes due; empty when no such process runs."""
    return processes.waiting(ctx.controller.root)


def hands(ctx: Context) -> Callable[[WorkItem], Hands]:
    """Return a function that says of a row of the queue who works on it."""
    now, waiting = ctx.clock.now(), waiting_process(ctx)
    return lambda item: Hands(working=item.worked_by(now), waiting=waiting)


def failing(ctx: Context, tx: ModelTx, moment: Callable[[str], Any] = str) -> dict[str, str]:
    """Return machine -> who works on it, where something failed when it was worked last.

    Args:
        moment: Makes of a time as the store keeps it what users see.
    """
    rows = tx.rows("work_failing")
    if not rows:
        return {}
    of, now, found = hands(ctx), ctx.clock.now(), {}
    for item in map(work_item, rows):
        again = str(moment(to_iso(item.due))) if item.due and item.due > now else ""
        found[item.key.partition(_MACHINE)[2]] = of(item).text(again=again)
    return found
