"""Repairs due times in the store after the clock has been set back.

The store keeps the latest time at which any process took work (see `store.queue`). When that time is in the
future, the clock was ahead, and due times may be hours or years too late. The repair makes workers read their
models and retry at once, update-status run after its interval, forced ends keep the rest of their wait, and
secrets rotate after their period at the latest. A clock that was behind needs no repair, because its due
times have passed.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pushjuju.core.model.secrets import Rotation
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.queue import LEASE_S, clock_is_right, latest_moment
from pushjuju.store.rows.records import Cleanup
from pushjuju.store.rows.secret_records import SecretRow
from pushjuju.store.tx import Tx

SLACK = timedelta(seconds=5)  # smaller steps back are corrections by NTP


def after_jump(ctx: Context, latest: datetime | None = None) -> bool:
    """Bring due times forward when the clock was set back; return True in this case.

    Args:
        latest: The latest time that this process has seen, or None to use only the times in the store.
    """
    now = ctx.clock.now()
    if latest is not None and latest - now > SLACK:
        with ctx.store.write() as tx:
            _bring_near(tx, now, latest)
        return True
    with ctx.store.read() as tx:
        if _latest_ahead(tx, now) is None:
            return False
    with ctx.store.write() as tx:
        ahead = _latest_ahead(tx, now)
        if ahead is None:
            return False
        _bring_near(tx, now, ahead)
    return True


def _latest_ahead(tx: Tx, now: datetime) -> datetime | None:
    """Return the latest time of any process when that time is in the future, else None."""
    latest = latest_moment(tx)
    return latest if latest is not None and latest - now > SLACK else None


def _bring_near(tx: Tx, now: datetime, latest: datetime) -> None:
    for end in tx.list(Cleanup, "clock_forced_ends", latest=latest):
        due = now + (end.due - latest)
        tx.run("cleanup_defer", id=end.id, due=due, reason=end.reason)
    tx.run("clock_retries_now", now=now)
    tx.run("clock_update_status_anew", now=now)
    for statement in (
        "clock_storage_now",
        "clock_mounts_now",
        "clock_alarms_now",
        "clock_notices_now",
        "clock_targets_now",
        "clock_links_end",
        "clock_silence_from_now",
        "clock_expiries_again",
    ):
        tx.run(statement, now=now)
    _bring_rotations_near(tx, now)
    tx.run("clock_leases_end", until=now + timedelta(seconds=LEASE_S))
    tx.run("clock_work_due_now", now=now)
    clock_is_right(tx, now)


def _bring_rotations_near(tx: Tx, now: datetime) -> None:
    for row in tx.list(SecretRow, "clock_rotations", now=now):
        latest = Rotation(row.rotation).next(now)
        if latest is not None and row.next_rotation is not None and row.next_rotation > latest:
            key = {"model": row.model, "id": row.id}
            tx.run("secret_set_rotation", **key, next_rotation=latest, due=row.rotation_due)
