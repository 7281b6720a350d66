"""Explains PostgreSQL's errors to users."""

from __future__ import annotations

from pushjuju.core.errors import StoreAway, StoreBusy, StoreError, StoreGone
from pushjuju.store.postgres.pipeline import Failed

_AGAIN = "wait for the other pushjuju to end, then run the command again"
WAITED = ("55P03", "57014", "40P01", "40001")  # locks, limits of time, deadlocks
_NO_TABLE = "42P01"
NO_RIGHT = "42501"
NO_SCHEMA = "3F000"  # that of the store is there, and not for this role
STANDBY = ("25006", "55000")  # the second: a standby does not know the position of its writes
_BACK = "run the command again when the server is back"
NOT_MADE = f"the change was not made: {_BACK}"
PERHAPS_MADE = "the change may have been made: look when the server is back, before you run the command again"
_RIGHTS = (
    "as a superuser of the server: CREATE DATABASE pushjuju OWNER the_role; or name the owner of the store"
)
_NOT_OF_THE_STORE = ("22", "23", "42")  # values, constraints and texts of a statement


def is_of_the_store(error: BaseException) -> bool:
    """Return True when the server is the cause (away, full, busy), not the statement."""
    if not isinstance(error, Failed):
        return False
    return error.state in ("", _NO_TABLE, NO_RIGHT) or error.state[:2] not in _NOT_OF_THE_STORE


def explain_error(error: Failed, place: str, lost: str = _BACK) -> StoreError:
    """Return the error for a fault of the server, with the next step for the user.

    Args:
        place: The store as users know it, without a password.
        lost: The next step after a lost connection.
    """
    state, text = error.state, str(error)
    if state == _NO_TABLE:
        return StoreGone(f"the store {place} is gone: its controller was removed or moved", detail=text)
    if state in WAITED:
        return StoreBusy(f"the store {place} is held by another process", detail=text, hint=_AGAIN)
    if state == "25P03":
        text = "this process did not go on for 20 seconds, and others could not write"
        return StoreBusy(
            f"the store {place} has ended a transaction", detail=text, hint="run the command again"
        )
    if state == "53300":
        return StoreBusy(
            f"the store {place} has too many connections",
            detail=text,
            hint="end other processes, or raise max_connections or the role's CONNECTION LIMIT",
        )
    if state == "53100":
        return StoreError(
            f"the store {place} cannot be written: the disk of its server is full",
            detail=text,
            hint="free some space on the server, then run the command again",
        )
    if state in STANDBY:
        return StoreError(
            f"the store {place} cannot be written: the server is read-only",
            detail=text,
            hint="name the primary server in the store's address, or end its standby mode or "
            "default_transaction_read_only",
        )
    if state == NO_RIGHT:
        return StoreError(
            f"the store {place} cannot be used: the role lacks a right", detail=text, hint=_RIGHTS
        )
    if not state or state[:2] in ("08", "57"):
        return StoreAway(f"the store {place} does not answer", detail=text, hint=lost)
    return StoreError(f"the store {place} cannot be used: {text}")
