"""The model's log. Layer: services. Mirrors: juju debug-log records (3.6)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pushjuju.core.clock import to_iso
from pushjuju.runner.remote.levels import LEVELS, kept, threshold
from pushjuju.state.records import LogRecord
from pushjuju.state.store import Store, Tx

__all__ = ("LEVELS", "after", "append", "kept", "newest_first", "threshold")

_PAGE = 500


def append(
    tx: Tx,
    model: str,
    entity: str,
    level: str,
    module: str,
    message: str,
    *,
    now: datetime,
    location: str = "",
    labels: str = "",
) -> None:
    """Add a line to the log.

    Args:
        entity: Tag: `unit-web-0`, `machine-0`, `controller-0`.
        module: Logger: `unit.web/0.juju-log`, `juju.worker.uniter`, ...
    """
    tx.run(
        "log_add",
        model=model,
        time=to_iso(now),
        entity=entity,
        level=level,
        module=module,
        location=location,
        labels=labels,
        message=message,
    )


def after(store: Store, model: str, last: int) -> list[LogRecord]:
    """Return the records that came after a record id, oldest first."""
    found: list[LogRecord] = []
    while True:
        with store.read() as tx:
            page = tx.list(LogRecord, "log_after", model=model, after=last, limit=_PAGE)
        found += page
        if len(page) < _PAGE:
            return found
        last = page[-1].id


def newest_first(store: Store, model: str) -> Iterator[LogRecord]:
    """Walk the log backwards."""
    before = 1 << 62
    while True:
        with store.read() as tx:
            page = tx.list(LogRecord, "log_before", model=model, before=before, limit=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        before = page[-1].id
