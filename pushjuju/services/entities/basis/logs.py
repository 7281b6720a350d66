"""Reads and writes the log of a model. Mirrors: juju debug-log records (3.6)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime

from pushjuju.core.names import machine_tag, unit_tag
from pushjuju.core.values import dataclass
from pushjuju.store.db import Store
from pushjuju.store.rows.records import LogRecord
from pushjuju.store.tx import ModelTx, Tx

_FIRST_PAGE = 32
_PAGE = 2048
_BATCH = 2000  # lines that one transaction deletes


def append(
    tx: ModelTx,
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
        time=now,
        entity=entity,
        level=level,
        module=module,
        location=location,
        labels=labels,
        message=message,
    )


def _has(tx: Tx, model: str, name: str, tag: str) -> bool:
    """Return True when the log has a line with a tag, or without a tag, a line of an application's unit."""
    units = f"unit-{name}-"  # and a number; a colon sorts after the digits
    return tx.scalar("log_has", model=model, first=tag or units, last=tag or f"{units}:") is not None


def unknown(store: Store, model: str, tags: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the names that neither an entity of a model nor a line of its log has.

    Args:
        tags: Name -> tag; an application has an empty tag, and its name stands for its units.

    Returns:
        Each unknown name -> the names of all entities, sorted.
    """
    with store.read() as tx:
        units = [str(row["name"]) for row in tx.rows("unit_list", model=model)]
        hosts = [str(row["id"]) for row in tx.rows("machine_list", model=model)]
        known = {*units, *hosts, *(str(row["name"]) for row in tx.rows("application_list", model=model))}
        there = known | {*map(unit_tag, units), *map(machine_tag, hosts)}
        return {
            name: sorted(known)
            for name, tag in tags.items()
            if not {name, tag} & there and not _has(tx, model, name, tag)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """The lines that a statement returns; a statement skips all other lines of the log."""

    levels: tuple[str, ...] = ()  # names of levels, or empty for all levels
    entities: tuple[str, ...] = ()  # tags, or empty for all entities

    def parameters(self) -> dict[str, str]:
        return {"levels": _within_commas(self.levels), "entities": _within_commas(self.entities)}


def _within_commas(words: tuple[str, ...]) -> str:
    return f",{','.join(words)}," if words else ""


ALL = Among()
LAST = 1 << 62
"""A number after those of all records."""


def newest(store: Store, model: str) -> int:
    """Return the number of the newest line; 0 for an empty log."""
    with store.read() as tx:
        return int(tx.scalar("log_newest", model=model))


def pages_after(store: Store, model: str, last: int, among: Among = ALL) -> Iterator[list[LogRecord]]:
    """Yield the records after a record, in pages that grow, so that the first page comes fast."""
    limit, listed = _FIRST_PAGE, among.parameters()
    while True:
        with store.read() as tx:
            page = tx.list(LogRecord, "log_after", model=model, after=last, limit=limit, **listed)
        if page:
            yield page
        if len(page) < limit:
            return
        last, limit = page[-1].id, min(limit * 2, _PAGE)


def after(store: Store, model: str, last: int) -> list[LogRecord]:
    """Return all records that came after a record, oldest first."""
    return [record for page in pages_after(store, model, last) for record in page]


def newest_first(store: Store, model: str, among: Among = ALL, *, before: int = LAST) -> Iterator[LogRecord]:
    """Yield the records of the log before a record, newest first."""
    limit, listed = _FIRST_PAGE, among.parameters()
    while True:
        with store.read() as tx:
            page = tx.list(LogRecord, "log_before", model=model, before=before, limit=limit, **listed)
        yield from page
        if len(page) < limit:
            return
        before, limit = page[-1].id, min(limit * 2, _PAGE)


async def prune(store: Store, model: str, *, before: datetime, most_bytes: int) -> None:
    """Delete lines older than a time, and the oldest lines beyond a size; other writers work between batches.

    Args:
        most_bytes: The size of all messages that may stay.
    """
    await _delete(store, model, before=before, last=1 << 62)
    with store.read() as tx:
        letters = tx.scalar("log_letters", model=model) or 1.0
        most = max(int(most_bytes / letters), 1)
        last = tx.scalar("log_nth_newest", model=model, most=most)
    if last is not None:
        await _delete(store, model, before="~", last=int(last))


async def _delete(store: Store, model: str, *, before: datetime | str, last: int) -> None:
    while True:
        with store.write(model) as tx:
            if tx.run("log_prune", model=model, before=before, last=last, batch=_BATCH) < _BATCH:
                return
        await asyncio.sleep(0)  # others of this process work, and commit, between two batches
