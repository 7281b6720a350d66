"""Tells users of the revisions of secrets that expire soon."""

from __future__ import annotations

from datetime import datetime, timedelta

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.services.entities.basis import notices
from pushjuju.services.entities.secret import secrets
from pushjuju.store.rows.secret_records import RevisionRow
from pushjuju.store.tx import ModelTx


def announce(tx: ModelTx) -> datetime | None:
    """Tell of the revisions that expire within a day; return when to look again, or None.

    Without a target that wants to know, nothing is read.
    """
    if not notices.wanted(tx, notices.EXPIRING):
        return None
    until = tx.now + timedelta(seconds=notices.EXPIRING_S)
    for item in tx.list(RevisionRow, "secret_expiries_due", now=until):
        if item.expires is not None and item.expires == item.next_expiry:  # else the hook is tried again
            _tell(tx, item, item.expires)
    later = tx.scalar("secret_expiry_after", after=until)
    return from_iso(later) - timedelta(seconds=notices.EXPIRING_S) if later else None


def schedule(tx: ModelTx) -> None:
    """Make the loop for a model's secrets due in time for a target that has just been added."""
    first = tx.scalar("secret_expiry_next")
    if first:
        when = notices.before_expiry(tx, from_iso(first))
        secrets.wake_loop(tx, when, "a target wants to know of expiry")


def _tell(tx: ModelTx, item: RevisionRow, end: datetime) -> None:
    label = secrets.get(tx, item.secret).label
    name = f"{item.secret} ({label})" if label else item.secret
    text = f"revision {item.revision} of secret {name} expires at {to_iso(end)}"
    notices.alarm(tx, notices.EXPIRING, secrets.subject(item), text)
