"""Masks the values of secrets in the texts of units that the controller keeps, such as logs and statuses.

The machine masks the values that a run has read or written. The controller masks all values that the unit may
know, because the unit may have kept a value from an earlier run, and because the controller does not trust
machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from pushjuju.core.errors import StoreError
from pushjuju.core.model.secrets import MASK, Content
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import remote_secrets, secrets
from pushjuju.store.rows.records import Application, Unit
from pushjuju.store.rows.secret_records import RevisionRow, SecretRow
from pushjuju.store.tx import ModelTx

SHORTEST = 4  # characters; masking shorter values would make texts unreadable
MOST = 200  # revisions whose values are masked
MOST_VALUES = 1000  # values that are masked, the newest first, because each text is searched for each value
Mask = Callable[[str], str]


def plain(text: str) -> str:
    """Return a text unchanged: the mask of a unit that knows no secrets."""
    return text


def mask_of(ctx: Context, tx: ModelTx, unit: str) -> Mask:
    """Return the mask for a unit's secret values; for a unit without secrets, this costs one query."""
    name = unit.partition("/")[0]
    application = tx.find(Application, "application_get", name=name) if unit else None
    if application is None or not application.secrets:
        return plain
    found = tx.find(Unit, "unit_get", name=unit)
    if found is None:
        return plain
    values = sorted(_values(_contents(ctx, tx, found, remote=application.secrets > 1)), key=len, reverse=True)
    return _masking(values) if values else plain


def _masking(values: list[str]) -> Mask:
    def mask(text: str) -> str:
        for value in values:
            if value in text:
                text = text.replace(value, MASK)
        return text

    return mask


def _contents(ctx: Context, tx: ModelTx, unit: Unit, *, remote: bool) -> Iterator[Content]:
    """Yield the secret values of a unit that the store keeps; stop when the key to open them is missing."""
    try:
        for row in _revisions(tx, unit, remote=remote):
            content = secrets.stored(ctx, row).content
            if content is not None:
                yield content
    except StoreError:
        return


def _revisions(tx: ModelTx, unit: Unit, *, remote: bool) -> list[RevisionRow]:
    known = {row.id: row for row in secrets.managed(tx, unit)}
    for read in tx.rows("secret_consumed", model=unit.model, unit=unit.name):
        row = known.get(read["secret"]) or tx.find(
            SecretRow, "secret_get", model=unit.model, id=read["secret"]
        )
        if row is not None:
            known[row.id] = row
    if remote:
        for alias, read in remote_secrets.consumed(tx, unit):
            row = secrets.find(tx.beside(alias.model), read["secret"])
            if row is not None:
                known[remote_secrets.uri(alias.model, row.id)] = row
    every = [item for row in known.values() for item in secrets.revisions(tx, row)]
    return sorted(every, key=lambda item: item.created, reverse=True)[:MOST]


def _values(contents: Iterable[Content]) -> set[str]:
    """Return the forms that values may have in a text: whole, line by line, and base64; limited in number."""
    found: set[str] = set()
    for value in chain.from_iterable(map(_forms, contents)):
        if len(value.strip()) >= SHORTEST:
            found.add(value)
        if len(found) >= MOST_VALUES:
            break
    return found


def _forms(content: Content) -> Iterator[str]:
    for value in content.plain().values():
        yield value
        yield from value.splitlines()
    yield from content.values()
