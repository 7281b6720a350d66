"""The tables on the pages of an application, unit or machine: relations, storage, resources, statuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pushjuju.core.names import application_of
from pushjuju.core.status import StatusKind
from pushjuju.services.views import relation_rows, resource_documents
from pushjuju.services.views.listings import statuses
from pushjuju.services.views.status import storage_document
from pushjuju.web.pages import cells
from pushjuju.web.pages.cells import Cell, Table
from pushjuju.web.pages.visit import Visit

STORAGE = ("Storage", "Status", "Message", "Kind", "Unit", "Machine", "Location", "Pool", "MiB", "Kept")
_STATUSES = 10


def of_application(visit: Visit, name: str) -> list[Table]:
    """Return the tables of an application: relations, resources, storage of its units, statuses."""
    return [
        _relations_of(visit, name),
        *_filled(_resources_of(visit, name), _storage(visit, lambda unit, _: application_of(unit) == name)),
        _statuses(visit, "application", name),
    ]


def of_unit(visit: Visit, name: str) -> list[Table]:
    """Return the tables of a unit: relations of its application, storage, statuses."""
    return [
        _relations_of(visit, application_of(name)),
        *_filled(_storage(visit, lambda unit, _: unit == name)),
        _statuses(visit, "unit", name),
    ]


def of_machine(visit: Visit, name: str) -> list[Table]:
    """Return the tables of a machine: storage on the machine, statuses."""
    found = _storage(visit, lambda _, machine: machine == name)
    return [*_filled(found), _statuses(visit, "machine", name)]


def _filled(*tables: Table) -> list[Table]:
    return [table for table in tables if table.rows]


def of_relations(visit: Visit, rows: Iterable[Mapping[str, Any]], none: str) -> Table:
    """Return the table of some relations, from the rows of `status --relations`."""
    return Table(
        name="Relations",
        heads=("Id", "Provider", "Requirer", "Interface", "Type", "Status", "Message"),
        rows=[
            cells.row(
                cells.link(visit, "relation", str(row["id"])), row["provider"], row["requirer"],
                row["interface"], row["type"], cells.status(row["status"]), row["message"],
            )
            for row in rows
        ],
        none=none,
    )  # fmt: skip


def _relations_of(visit: Visit, application: str) -> Table:
    every = relation_rows.relation_rows(visit.ctx, visit.model.uuid)
    own = [row for row in every if application in map(_application, (row["provider"], row["requirer"]))]
    return of_relations(visit, own, f"{application} has no relations.")


def _application(endpoint: object) -> str:
    return str(endpoint).partition(":")[0]


def _resources_of(visit: Visit, name: str) -> Table:
    listed = resource_documents.listing(visit.ctx, visit.model.uuid, name)
    return Table(
        name="Resources",
        heads=("Resource", "Type", "From", "Revision", "Bytes"),
        rows=[
            cells.row(item.name, item.type, item.supplier, item.revision_text, item.size or "")
            for item in listed.resources
        ],
        none="",
    )


def _storage(visit: Visit, belongs: Callable[[str, str], bool]) -> Table:
    document = storage_document.document(visit.ctx, visit.model.uuid)
    return Table(name="Storage", heads=STORAGE, rows=list(stored(visit, document, belongs)), none="")


def stored(
    visit: Visit, document: Mapping[str, Any], belongs: Callable[[str, str], bool] = lambda *_: True
) -> Iterator[list[Cell]]:
    """Yield the rows of storage: one for each unit that has the storage.

    Args:
        belongs: Unit, machine -> True when the page shows the row.
    """
    places = (*document.get("volumes", {}).values(), *document.get("filesystems", {}).values())
    backing = {item.get("storage"): item for item in places}
    for name, item in document.get("storage", {}).items():
        state, size = item["status"], backing.get(name, {})
        begin = cells.row(name, cells.status(state["current"]), state.get("message", ""), item["kind"])
        kept = "with the model" if item.get("persistent") else "with the unit"
        for unit, place in (item.get("attachments", {}).get("units", {}) or {"": {}}).items():
            machine = str(place.get("machine", ""))
            if belongs(unit, machine):
                where = cells.link(visit, "unit", unit), cells.link(visit, "machine", machine)
                yield [
                    *begin,
                    *cells.row(*where, place.get("location", ""), size.get("pool"), size.get("size"), kept),
                ]


def _statuses(visit: Visit, kind: str, entity: str) -> Table:
    """Return the newest entries of the history of an entity's statuses, newest first."""
    kinds: Sequence[StatusKind] = statuses.KINDS[kind]
    found = statuses.history_of(visit.ctx, visit.model.uuid, kinds, entity, limit=_STATUSES, since=None)
    return Table(
        name="Statuses",
        heads=("Since", "Of", "Status", "Message"),
        rows=[
            cells.row(cells.time(item.since), item.kind, cells.status(item.status), item.message)
            for item in reversed(found)
        ],
        none="No status has been recorded yet.",
    )
