"""Tells users of the revisions of secrets that expire soon."""

from __future__ import annotations

from datetime import datetime, timedelta

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.problems import Subject
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
        if item.next_expiry is not None:
            _tell(tx, item, item.next_expiry)
    later = tx.scalar("secret_expiry_after", after=until)
    return from_iso(later) - timedelta(seconds=notices.EXPIRING_S) if later else None


def _tell(tx: ModelTx, item: RevisionRow, end: datetime) -> None:
    label = secrets.get(tx, item.secret).label
    name = f"{item.secret} ({label})" if label else item.secret
    text = f"revision {item.revision} of secret {name} expires at {to_iso(end)}"
    notices.alarm(tx, notices.EXPIRING, Subject("secret", f"{item.secret}/{item.revision}"), text)
