"""Tells controller processes at once that work has become due, so that they need not look often."""

from __future__ import annotations

from typing import Any

import psycopg

from pushjuju.store.postgres import address
from pushjuju.store.postgres.faults import explain_error
from pushjuju.store.postgres.pipeline import Failed

TELL = "SELECT pg_notify('pushjuju_work', (:process)::text)"
# Statements that make keys of the work queue due. A process that gives a key back takes it again itself.
STATEMENTS = (
    "work_touch", "work_touch_routine", "work_take_due", "firewall_wake", "firewall_wake_connected",
    "clock_work_due_now",
)  # fmt: skip
LEAST_S = 0.05  # seconds between two notifications of a process


class Wakes:
    """A connection that hears when other processes have made work due.

    Args:
        process: The number of this process, whose own notifications do not count.

    Raises:
        StoreError: The server cannot be reached.
    """

    def __init__(self, place: address.Place, process: int) -> None:
        self._own = str(process).encode()
        self._link: psycopg.Connection[Any] = address.connected(place)
        try:
            self._link.execute("LISTEN pushjuju_work")
        except psycopg.Error as error:
            self._link.close()
            raise explain_error(Failed(str(error), error.sqlstate or ""), place.shown) from error
        self._descriptor = self._link.fileno()  # a lost connection names it no more

    def fileno(self) -> int:
        return self._descriptor

    def heard(self) -> bool | None:
        try:
            self._link.pgconn.consume_input()
        except psycopg.Error:
            return None
        heard = False
        while (told := self._link.pgconn.notifies()) is not None:
            heard |= told.extra != self._own
        return heard

    def close(self) -> None:
        """End the connection."""
        self._link.close()
