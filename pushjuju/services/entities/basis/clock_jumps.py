"""A clock that was ahead and is set right: what it made due later than anybody meant.

The number of a lease tells the latest moment at which any process took work (see `state.work`), and never
falls. Where that lies ahead of the present, the clock went back, and due times may lie hours or years ahead.
Work is looked at again then, retries come at once, update-status after its interval, forced ends after the
wait that was asked for. A clock that was behind needs nothing: what it made due is due.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.services.entities.basis.context import Context
from pushjuju.state.store import Tx
from pushjuju.state.work import LEASE_S, next_lease

SLACK_S = 5.0  # leases outrun the clock by a thousandth of a second each, and clocks are trimmed
_SETTLED = "clock-jump"  # the sequence that keeps up to which lease this was done


def after_jump(ctx: Context, latest: datetime | None = None) -> bool:
    """Bring due times near where the clock went back; return True when it did.

    Args:
        latest: The latest moment that this process has seen; None: look in the store alone.
    """
    now = ctx.clock.now()
    if latest is not None and (latest - now).total_seconds() > SLACK_S:
        with ctx.store.write() as tx:
            _bring_near(tx, now, latest)
        return True
    with ctx.store.read() as tx:
        if not _is_ahead(tx, now):
            return False
    with ctx.store.write() as tx:
        if not _is_ahead(tx, now):
            return False
        _bring_near(tx, now, _moment(next_lease(tx)))
    return True


def _is_ahead(tx: Tx, now: datetime) -> bool:
    """Return True when leases are ahead of the clock by more than was settled before."""
    lease, slack = next_lease(tx), int(SLACK_S * 1000)
    if lease <= int(now.timestamp() * 1000) + slack:
        return False
    return lease > int(tx.scalar("sequence_get", scope="", name=_SETTLED) or 0) + slack


def _moment(lease: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=lease)


def _bring_near(tx: Tx, now: datetime, latest: datetime) -> None:
    text = to_iso(now)
    for end in tx.rows("clock_forced_ends", latest=to_iso(latest)):
        due = now + (from_iso(end["due"]) - latest)
        tx.run("cleanup_defer", id=end["id"], due=to_iso(due), reason=end["reason"])
    tx.run("clock_retries_now", now=text)
    tx.run("clock_update_status_anew", now=text)
    tx.run("clock_leases_end", until=to_iso(now + timedelta(seconds=LEASE_S)))
    tx.run("clock_work_due_now", now=text)
    tx.next("", _SETTLED, at_least=next_lease(tx))
