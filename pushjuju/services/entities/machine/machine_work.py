"""Says which process works on an entity, or when its failed work is tried again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pushjuju.core.clock import to_iso
from pushjuju.core.values import dataclass
from pushjuju.services.entities.model import pools
from pushjuju.store import processes
from pushjuju.store.queue import WorkItem

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.tx import ModelTx

UNUSABLE = "why"
"""Key in the data of an instance's status: the text why the machine cannot be used."""
_MACHINE = "/machine/"
_LATE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """The process that works on an entity."""

    working: str = ""  # the process that works on the entity now, with host, pid and start; else empty
    waiting: str = ""  # the process that will work on the entity when it is due; else empty

    @property
    def none(self) -> bool:
        """Return True when no process works on the entity, so that the work waits for a command of a user."""
        return not (self.working or self.waiting)

    def text(self, program: str = "pushjuju", again: str = "") -> str:
        """Return which process works on the entity, and what happens next, as a clause.

        Args:
            again: The time of the next try; empty for at once.
        """
        if self.working:
            return f"process {self.working} works on it"
        at = f" at {again}" if again else " now"
        if self.waiting:
            return f"process {self.waiting} tries it again{at}"
        return f"nobody is working on this; next: {program} update-status, or any command"


def hands(ctx: Context, tx: ModelTx) -> Callable[[WorkItem], Hands]:
    """Return a function that returns the process which works on a row of the work queue."""
    now, lives = ctx.clock.now(), ctx.store.lives
    waiting = processes.waiting(tx, lives, pools.pool_of(tx) if ctx.store.engine.locks_models else "")
    return lambda item: Hands(working=item.worked_by(now, lives), waiting=waiting)


def is_left(ctx: Context, tx: ModelTx) -> bool:
    """Return True when work that this host may do has been due for some seconds, and no process does it."""
    now = ctx.clock.now()
    late = now - timedelta(seconds=_LATE_S)
    if pools.is_elsewhere(ctx, tx) or tx.row("work_left", prefix=f"{tx.model}/", late=late, now=now) is None:
        return False
    pool = pools.pool_of(tx) if ctx.store.engine.locks_models else ""
    return not processes.waiting(tx, ctx.store.lives, pool)


def is_any_left(ctx: Context) -> bool:
    """Return True when `is_left` holds for any model."""
    with ctx.store.read() as tx:
        models = sorted({str(row["uuid"]) for row in tx.rows("model_list")})
        return any(is_left(ctx, ctx.of(tx, model)) for model in models)


def failing(ctx: Context, tx: ModelTx, moment: Callable[[str], Any] = str) -> dict[str, str]:
    """Return machine whose last work failed -> the process that works on the machine or will try again.

    Args:
        moment: Converts a time from the store's text to the form for users.
    """
    items = tx.list(WorkItem, "work_failing")
    if not items:
        return {}
    of, now, found = hands(ctx, tx), ctx.clock.now(), {}
    for item in items:
        again = str(moment(to_iso(item.due))) if item.due and item.due > now else ""
        found[item.key.partition(_MACHINE)[2]] = of(item).text(again=again)
    return found
