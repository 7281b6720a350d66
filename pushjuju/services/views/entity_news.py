"""Reads the entities of a model that have changed since an entry of the journal of changes.

The journal (`store/migrations/0023_change.sql`) names entities. Data of an entity may depend on its
neighbours, so after a change of a machine, the machine's units are read too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from pushjuju.core.values import dataclass
from pushjuju.services.entities.model import models
from pushjuju.services.views import entity_picture
from pushjuju.services.views.entity_picture import Part, Picture
from pushjuju.services.views.status import status_rows
from pushjuju.store.rows import records

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.store.tx import ModelTx, Tx

Key = tuple[str, str]
"""(kind, id) of an entity, as the journal and `entity_picture` name it."""

_OF_OTHERS = ("relation", "application", "remote", "offer")  # an offer has the number of its relations
_LATE = 1024  # earlier entries that are read again: their transactions may have committed late
_JOURNAL = {"remote": "remoteApplication", "offer": "applicationOffer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The entries of the journal after an entry, which is known by its number."""

    number: int
    # model -> changed entity -> number of its newest entry; None when old entries were already deleted
    changed: Mapping[str, Mapping[Key, int]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """The changes of a model."""

    entities: Picture = field(default_factory=dict)
    gone: Collection[Key] = ()  # the changed entities that do not exist now, and may never have existed


def newest(ctx: Context) -> int:
    """Return the number of the newest entry in the journal."""
    with ctx.store.read() as tx:
        return number_of(tx)


def number_of(tx: Tx) -> int:
    """Do the same as `newest` in a transaction."""
    return int(tx.scalar("change_newest") or 0)


def marks(ctx: Context, model: str) -> tuple[int, int]:
    """Return the numbers of the newest entry in the journal, and of the newest entry of a model."""
    with ctx.store.read() as tx:
        return number_of(tx), int(tx.scalar("change_newest_of", model=model) or 0)


def sign(ctx: Context, tx: Tx, model: str) -> str:
    """Return a text that differs after each change of a model, or of all models when `model` is empty."""
    late = tx.scalar("change_newest_of", model=model) if model and ctx.store.engine.locks_models else 0
    return f"{number_of(tx)}.{late or 0}"


def journal(ctx: Context, after: int, *, late: bool = False) -> Journal:
    """Return the entries after the entry with a number, of all models.

    Args:
        late: Also return entries a little before it, when transactions of several models may be open at once:
            an entry of one model may be committed after a later entry of another model.
    """
    with ctx.store.read() as tx:
        number = number_of(tx)
        oldest = int(tx.scalar("change_oldest") or 0)
        if oldest > after + 1 or number < after:
            return Journal(number=number, changed=None)
        found: dict[str, dict[Key, int]] = {}
        since = after - _LATE if late and ctx.store.engine.locks_models else after
        for row in tx.rows("change_after", after=since):
            found.setdefault(row["model"], {})[row["kind"], row["entity"]] = row["number"]
        return Journal(number=number, changed=found)


def news(ctx: Context, model: str, changed: Iterable[Key]) -> News | None:
    """Return the changed entities as they are now; None for a model that was removed."""
    named: dict[str, set[str]] = {}
    for kind, entity in changed:
        named.setdefault(kind, set()).add(entity)
    with ctx.read(model) as tx:
        found = models.find_in(tx, model)
        if found is None:
            return None
        units = named.get("unit", set()) | _units_of(tx, named)
        apps = named.get("application", set()) | _of_others(tx, named)
        rows = status_rows.part(ctx, tx, found, named.get("machine", ()), apps, units, str)
        fresh = entity_picture.entities(ctx, tx, rows, _part(tx, named, rows.applications))
    asked = {(_JOURNAL.get(kind, kind), entity) for kind, entities in named.items() for entity in entities}
    return News(entities=fresh, gone=asked - fresh.keys())


def _units_of(tx: ModelTx, named: Mapping[str, Collection[str]]) -> set[str]:
    """Return the units whose data changes with their machine or application."""
    rows = [row for name in named.get("machine", ()) for row in tx.rows("unit_seats", machine=name)]
    rows += [row for app in named.get("units", ()) for row in tx.rows("unit_of_application", application=app)]
    return {row["name"] for row in rows}


def _of_others(tx: ModelTx, named: Mapping[str, Collection[str]]) -> set[str]:
    """Return the consumed and offered applications, when the changes may concern them."""
    if not _tells_others(named) or not tx.scalar("crossmodel_any"):
        return set()
    consumed = {item.name for item in tx.list(records.RemoteApplication, "remote_application_list")}
    return consumed | {offer.application for offer in tx.list(records.Offer, "offer_list")}


def _tells_others(named: Mapping[str, Collection[str]]) -> bool:
    return not named.keys().isdisjoint(_OF_OTHERS)


def _part(tx: ModelTx, named: Mapping[str, Collection[str]], applications: Iterable[str]) -> Part:
    """Read the data for watchers that the rows of status do not have."""
    numbers = [int(name) for name in named.get("relation", ())]
    found = [tx.find(records.Relation, "relation_get", id=number) for number in numbers]
    apps = [tx.find(records.Application, "application_get", name=name) for name in applications]
    charms = [tx.find(records.CharmRecord, "charm_by_url", url=url) for url in named.get("charm", ())]
    tasks = [tx.find(records.Task, "task_get", id=int(name)) for name in named.get("action", ())]
    return Part(
        charms=[charm for charm in charms if charm],
        applications={app.name: app for app in apps if app},
        relations=[relation for relation in found if relation],
        sides=[
            side
            for number in numbers
            for side in tx.list(records.RelationEndpoint, "relation_endpoints", relation=number)
        ],
        tasks=[task for task in tasks if task],
        model="model" in named,
        others=_tells_others(named),
        notes="annotation" in named,
        blocks="block" in named,
    )
