"""The pages of the controller's models, of a model, and of its units and machines in lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.status import Agent
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.model import models
from pushjuju.services.pictures import folding, graph, machine_tree, machines_svg, svg
from pushjuju.services.pictures.looks import Look, look_of, rank
from pushjuju.services.views.explain_basis import Reason
from pushjuju.services.views.listings import audit_lines, processes
from pushjuju.services.views.listings.model_summary import summary
from pushjuju.services.views.status import document as status
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import Tx
from pushjuju.web.pages import topology
from pushjuju.web.pages.addresses import ModelPages
from pushjuju.web.pages.visit import Content, Visit
from pushjuju.workers import deciding

MOST_ROWS = 500
WORST = "worst"

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[Row]):
    """The rows that a page shows."""

    rows: tuple[Row, ...]  # at most `MOST_ROWS`
    found: int  # how many rows there are with the name
    find: str
    sort: str  # the column of the order, or `worst`
    page: int  # the number of the page, from 1
    pages: int  # how many pages there are

    def to(self, **changed: object) -> str:
        """Return the address of the same table with another order or page."""
        asked = {"find": self.find, "sort": self.sort, "page": self.page, **changed}
        usual = {"find": "", "sort": WORST, "page": 1}
        return "?" + urlencode({key: value for key, value in asked.items() if value != usual[key]})


def table(
    query: Mapping[str, str],
    rows: Iterable[Row],
    name: Callable[[Row], str],
    orders: Mapping[str, Callable[[Row], Any]],
) -> Table[Row]:
    """Return the rows that a query asks for; rows that are equal in the order keep theirs.

    Args:
        query: `find`, `sort` and `page` of the address; what does not fit is ignored.
        orders: Column -> key of a row; that of `worst` is used when the query names no other.
    """
    find, sort, page = query.get("find", "").strip(), query.get("sort", ""), query.get("page", "")
    if sort not in orders:
        sort = WORST
    found = sorted((row for row in rows if find in name(row)), key=orders[sort])
    pages = max(-(-len(found) // MOST_ROWS), 1)
    at = min(max(int(page), 1), pages) if page.isdecimal() and len(page) < 9 else 1
    shown = tuple(found[(at - 1) * MOST_ROWS : at * MOST_ROWS])
    return Table(rows=shown, found=len(found), find=find, sort=sort, page=at, pages=pages)


_MOST_REASONS = 20
_MOST_EXPLAINED = 100  # of a model of which nothing is well, not all units are explained
_WELL = (Look.OK, Look.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRow:
    """A unit in a list; a subordinate names its principal. The status of a lost unit is its agent's."""

    name: str
    principal: str
    status: Mapping[str, Any]
    agent: Mapping[str, Any]
    machine: str
    address: str
    ports: str
    leader: bool


def all_models(visit: Visit) -> Content:
    """Return the page of all models that the user may read."""
    lost = to_iso(visit.ctx.clock.now() - timedelta(seconds=status.LOST_AFTER_S))
    changes = audit_lines.newest_of_models(visit.ctx)
    with visit.ctx.store.read() as tx:
        seen = [
            model
            for model in models.listed(tx)
            if not models.is_controller(model) and models.may_access(tx, visit.ctx.user, model, "read")
        ]
        working = processes.of_models(visit.ctx, tx, [model.uuid for model in seen])
        found: list[dict[str, Any]] = [
            {
                "name": model.qualified,
                "address": ModelPages.of(model.qualified).page(),
                "cloud": f"{model.cloud}/{model.region}" if model.region else model.cloud,
                **summary(visit.ctx.of(tx, model.uuid), model, visit.ctx.controller.name),
                "last-change": _change(visit, tx, model, changes.get(model.uuid)),
                "processes": working[model.uuid],
                "down": visit.ctx.of(tx, model.uuid).scalar("machines_down", lost=lost),
            }
            for model in seen
        ]
    document = {"models": [{key: entry[key] for key in entry if key != "down"} for entry in found]}
    for entry in found:
        down = entry.pop("down")
        entry["is"] = "down" if down and entry["status"] != "red" else _COLOURS[str(entry["status"])]
        entry["told"] = f"{svg.many(down, 'machine')} cannot be reached" if down else ""
        entry["size"] = [svg.many(number, noun[:-1]) for noun, number in entry["size"].items() if number]
        if not entry["size"] and entry["is"] == "active":
            entry["is"] = "available"  # as in `models`: nothing in the model could be active
    values = {"models": found}
    return Content(title="Models", command=visit.command("models"), values=values, document=lambda: document)


def _change(visit: Visit, tx: Tx, model: Model, line: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return when a model was changed last; also who asked for what, when the page History shows that."""
    if line is None:
        return None
    found = {"time": line["time"]}
    if line["user"] != visit.ctx.user and not models.may_access(tx, visit.ctx.user, model, "admin"):
        return found
    return {**found, **{key: line[key] for key in ("user", "door", "command", "arguments")}}


_COLOURS = {"red": "error", "yellow": "blocked", "green": "active"}


def model(visit: Visit) -> Content:
    """Return the first page of a model: what is not well, the picture, and the applications."""
    document = status.document(visit.ctx, visit.model)
    shown = folding.fold(topology.read_graph(visit, document))
    rows = list(unit_rows(document))
    odd = _odd(rows)
    every = deciding.of_overview(visit.ctx, visit.model.uuid, odd[:_MOST_EXPLAINED])
    reasons = _not_well(rows, every)
    values = {
        "status": document["model"]["model-status"],
        "counts": _counts(rows),
        "reasons": reasons[:_MOST_REASONS],
        "more": len(reasons) - _MOST_REASONS + max(len(odd) - _MOST_EXPLAINED, 0),
        "unattended": any(reason.unattended for reason in every),
        "due": _next_due(visit),
        "now": visit.now,
        "picture": topology.picture(visit, document, shown, {}),
        "applications": document.get("applications", {}),
        "consumed": document.get("application-endpoints", {}),
        "machines": document.get("machines", {}),
    }
    command = visit.command("status")
    return Content(title=visit.model.name, command=command, values=values, document=lambda: document)


def _next_due(visit: Visit) -> datetime | None:
    """Return when a process looks at something in the model again, or None."""
    with visit.ctx.store.read() as tx:
        found = tx.scalar("work_next_due", prefix=f"{visit.model.uuid}/")
    return from_iso(found) if isinstance(found, str) else found


def _not_well(rows: Iterable[UnitRow], reasons: Iterable[Reason]) -> list[tuple[Reason, UnitRow | None]]:
    """Return the explanations of units that are not well, the worst first, and of all that runs or failed."""
    by_name = {row.name: row for row in rows}
    found = [
        (reason, row)
        for reason, row in ((reason, by_name.get(reason.subject)) for reason in reasons)
        if reason.attempts or reason.running or (row and _odd([row]))
    ]
    return sorted(found, key=lambda pair: rank(pair[1].status["current"] if pair[1] else ""))


def _odd(rows: Iterable[UnitRow]) -> list[str]:
    """Return the names of the units that are not well."""
    return [row.name for row in rows if look_of(row.status["current"]) not in _WELL]


def _counts(rows: Iterable[UnitRow]) -> list[tuple[str, int]]:
    """Return (status, number of units), the worst first."""
    counts = Counter(row.status["current"] for row in rows)
    return sorted(counts.items(), key=lambda pair: (rank(pair[0]), pair[0]))


def unit_rows(document: Mapping[str, Any]) -> Iterator[UnitRow]:
    """Yield the units of a status document; a subordinate follows its principal."""
    for application in document.get("applications", {}).values():
        for name, unit in application.get("units", {}).items():
            machine = unit.get("machine", "")
            yield _row(name, unit, "", machine)
            for below, subordinate in unit.get("subordinates", {}).items():
                yield _row(below, subordinate, name, machine)


def _row(name: str, unit: Mapping[str, Any], principal: str, machine: str) -> UnitRow:
    return UnitRow(
        name=name,
        principal=principal,
        status=graph.status_of_unit(unit),
        agent=unit["juju-status"],
        machine=machine,
        address=unit.get("public-address", ""),
        ports=", ".join(unit.get("open-ports", ())),
        leader=bool(unit.get("leader")),
    )


def units(visit: Visit) -> Content:
    """Return the page of all units, what is not well first, with the reasons of that and of busy units."""
    document = status.document(visit.ctx, visit.model)
    found = table(visit.query, unit_rows(document), lambda row: row.name, _UNIT_ORDERS)
    names = [row.name for row in found.rows if _odd([row]) or row.agent["current"] != Agent.IDLE]
    every = deciding.explained(visit.ctx, visit.model.uuid, names[:_MOST_EXPLAINED]) if names else ()
    values = {"table": found, "reasons": {reason.subject: reason.reason for reason in every}}
    return Content(title="Units", command=visit.command("status"), values=values, document=lambda: document)


_UNIT_ORDERS: Mapping[str, Callable[[UnitRow], Any]] = {
    WORST: lambda row: rank(row.status["current"]),
    "name": lambda row: natural_key(row.name),
    "status": lambda row: (rank(row.status["current"]), row.status["current"]),
    "machine": lambda row: natural_key(row.machine),
    "address": lambda row: natural_key(row.address),
}


def machines(visit: Visit) -> Content:
    """Return the page of all machines, with the reasons of those that are not well."""
    document = status.document(visit.ctx, visit.model)
    tree = machine_tree.of_status(document)
    drawn = machines_svg.draw(visit.model.name, tree, visit.pages.entity) if tree else ""
    found = table(visit.query, every_machine(document), lambda row: row[0], _MACHINE_ORDERS)
    odd = [name for name, item in found.rows if look_of(item["juju-status"]["current"]) is not Look.OK]
    every = deciding.explained(visit.ctx, visit.model.uuid, odd[:_MOST_EXPLAINED]) if odd else ()
    reasons = {reason.subject.removeprefix("machine "): reason.reason for reason in every}
    values = {"table": found, "picture": svg.of_page(drawn), "reasons": reasons}
    command = visit.command("machines")
    return Content(title="Machines", command=command, values=values, document=lambda: document["machines"])


_Machine = tuple[str, Mapping[str, Any]]
_MACHINE_ORDERS: Mapping[str, Callable[[_Machine], Any]] = {
    WORST: lambda row: rank(row[1]["juju-status"]["current"]),
    "name": lambda row: natural_key(row[0]),
    "status": lambda row: (rank(row[1]["juju-status"]["current"]), row[1]["juju-status"]["current"]),
    "address": lambda row: natural_key(row[1].get("dns-name", "")),
}


def every_machine(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (id, machine) for the machines of a status document, with containers after their host."""
    for name, machine in document.get("machines", {}).items():
        yield name, machine
        yield from every_machine({"machines": machine.get("containers", {})})
