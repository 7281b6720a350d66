"""Pages that are tables: relations, storage, resources, secrets, offers, access, settings, history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotFound
from pushjuju.core.values import dataclass
from pushjuju.services.entities.application.resources import FILE
from pushjuju.services.entities.relation.offers import Wanted as WantedOffers
from pushjuju.services.requests.model import model_config
from pushjuju.services.views import documents, offer_documents, relation_rows, relation_view
from pushjuju.services.views import resource_documents as resources_of
from pushjuju.services.views.listings import audit_lines, blocks, processes, user_secrets, users
from pushjuju.services.views.listings import settings as settings_of
from pushjuju.services.views.status import storage_document
from pushjuju.web.call import is_superuser
from pushjuju.web.pages.visit import Content, Visit

_MOST_LINES = 200
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table.

    Attributes:
        address: Where a link leads; empty for plain text.
        status: True for a word that is shown as a status.
        time: A moment that is shown in place of the text.
    """

    text: str = ""
    address: str = ""
    status: bool = False
    time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with a heading; `none` says in a sentence that there are no rows."""

    name: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    none: str


def _cells(*values: object) -> list[Cell]:
    return [value if isinstance(value, Cell) else Cell(text=_text(value)) for value in values]


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _status(word: object) -> Cell:
    return Cell(text=str(word), status=True)


def _time(moment: datetime | str | None) -> Cell:
    return Cell(time=from_iso(moment) if isinstance(moment, str) else moment)


def _link(visit: Visit, kind: str, name: str) -> Cell:
    return Cell(text=name, address=visit.pages.entity(kind, name))


def _page(title: str, command: str, document: Any, *tables: Table) -> Content:
    values = {"tables": tables, "page": title.lower()}
    return Content(title=title, command=command, values=values, document=lambda: document)


# --- a model ----------------------------------------------------------------------------------------------


def relations(visit: Visit) -> Content:
    """Return the page of all relations."""
    rows = relation_rows.relation_rows(visit.ctx, visit.model.uuid)
    table = Table(
        name="Relations",
        heads=("Id", "Provider", "Requirer", "Interface", "Type", "Status", "Message"),
        rows=[
            _cells(
                _link(visit, "relation", str(row["id"])), row["provider"], row["requirer"], row["interface"],
                row["type"], _status(row["status"]), row["message"],
            )
            for row in rows
        ],
        none="This model has no relations.",
    )  # fmt: skip
    return _page("Relations", visit.command("status --relations"), rows, table)


def relation(visit: Visit) -> Content:
    """Return the page of one relation: both sides with their units and settings."""
    number = visit.path["id"]
    if not number.isdecimal():
        raise NotFound(f'relation "{number}" not found')
    found = relation_view.show(visit.ctx, visit.model.uuid, [number])
    tables = [_side(visit, side) for side in found.sides]
    about = Table(
        name="State",
        heads=("Relation", "Status", "Scope", "Suspended"),
        rows=[_cells(found.key, _status(found.status.status if found.status else "joining"),
                     found.scope, found.suspended)],
        none="",
    )  # fmt: skip
    return Content(
        title=f"Relation {number}",
        command=visit.command(f"show-relation {number}"),
        values={"tables": (about, *tables), "page": "relations"},
        crumbs=(("Relations", visit.pages.page("relations")),),
        document=lambda: asdict(found),
    )


def _side(visit: Visit, side: relation_view.RelationSide) -> Table:
    """Return what one side of a relation says; the charm's own data, as `show-unit` shows it."""
    where = _cells(
        Cell(text=side.application) if side.remote else _link(visit, "application", side.application)
    )
    rows = [[*where, *_cells(key, value)] for key, value in sorted(side.data.items())]
    for member in side.units:
        name = _cells(member.name if side.remote else _link(visit, "unit", member.name))
        said = sorted(member.data.items()) or [("", "")]
        rows += [[*name, *_cells(key, value)] for key, value in said]
    return Table(
        name=f"{side.application}:{side.endpoint} ({side.role})",
        heads=("From", "Key", "Value"),
        rows=rows,
        none="No unit takes part yet.",
    )


def storage(visit: Visit) -> Content:
    """Return the page of storage."""
    document = storage_document.document(visit.ctx, visit.model.uuid)
    table = Table(
        name="Storage",
        heads=("Storage", "Status", "Message", "Kind", "Unit", "Machine", "Location", "Kept"),
        rows=[
            row for name, item in document.get("storage", {}).items() for row in _stored(visit, name, item)
        ],
        none="This model has no storage.",
    )
    return _page("Storage", visit.command("storage"), document, table)


def _stored(visit: Visit, name: str, item: Mapping[str, Any]) -> Iterable[list[Cell]]:
    state = item["status"]
    begin = _cells(name, _status(state["current"]), state.get("message", ""), item["kind"])
    kept = "with the model" if item.get("persistent") else "with the unit"
    units = item.get("attachments", {}).get("units", {}) or {"": {}}
    for unit, place in units.items():
        machine = str(place.get("machine", ""))
        yield [
            *begin,
            *_cells(
                _link(visit, "unit", unit), _link(visit, "machine", machine), place.get("location", ""), kept
            ),
        ]


def resources(visit: Visit) -> Content:
    """Return the page of the resources of all applications."""
    every = resources_of.of_model(visit.ctx, visit.model.uuid)
    table = Table(
        name="Resources",
        heads=("Application", "Resource", "Type", "From", "Revision", "Bytes", "Newer in the store"),
        rows=[
            _cells(
                _link(visit, "application", name), item.name, item.type, item.supplier, item.revision_text,
                item.size or "", any(update.name == item.name for update in listed.updates),
            )
            for name, listed in every.items()
            for item in listed.resources
        ],
        none="No application of this model has resources.",
    )  # fmt: skip
    document = {name: [item.document() for item in listed.resources] for name, listed in every.items()}
    command = f"resources {next(iter(every))}" if every else "status"  # the terminal lists one application
    page = _page("Resources", visit.command(command), document, table)
    files = [
        f"{name}/{it.name}" for name, listed in every.items() for it in listed.resources if it.type == FILE
    ]
    return replace(page, values={**page.values, "files": files})


def secrets(visit: Visit) -> Content:
    """Return the page of secrets, without any content; for administrators of the model."""
    _require(visit, "admin")
    document: Mapping[str, Any] = user_secrets.documents(visit.ctx, visit.model.uuid)
    table = Table(
        name="Secrets",
        heads=("Id", "Name or label", "Owner", "Revision", "Rotation", "Rotates", "Expires", "Changed"),
        rows=[
            _cells(
                number, item.get("name") or item.get("label", ""), item["owner"], item["revision"],
                item.get("rotation", ""), _time(item.get("rotates")), _time(item.get("expires")),
                _time(item.get("updated")),
            )
            for number, item in document.items()
        ],
        none="This model has no secrets.",
    )  # fmt: skip
    return _page("Secrets", visit.command("secrets"), document, table)


def offers(visit: Visit) -> Content:
    """Return the page of offers, with the models that use them, and of what the model consumes."""
    document: Mapping[str, Any] = offer_documents.list_offers(visit.ctx, visit.model, WantedOffers())
    offered = Table(
        name="Offers",
        heads=("Offer", "Application", "Endpoints", "Relations", "URL"),
        rows=[
            _cells(
                name, _link(visit, "application", item["application"]), sorted(item["endpoints"]),
                len(item.get("connections", ())), item["offer-url"],
            )
            for name, item in document.items()
        ],
        none="This model offers nothing to other models.",
    )  # fmt: skip
    with visit.ctx.read(visit.model.uuid) as tx:
        consumed: Mapping[str, Any] = offer_documents.sections(tx).get("application-endpoints", {})
    used = Table(
        name="Consumed",
        heads=("Name here", "Status", "Message", "Offer"),
        rows=[
            _cells(
                name,
                _status(item["application-status"]["current"]),
                item["application-status"].get("message", ""),
                item["url"],
            )
            for name, item in consumed.items()
        ],
        none="This model consumes no offers.",
    )
    shown = {"offers": document, "consumed": consumed}
    return _page("Offers", visit.command("offers"), shown, offered, used)


def access(visit: Visit) -> Content:
    """Return the page of who may do what in the model; for administrators of the model."""
    _require(visit, "admin")
    document = documents.model_users(visit.ctx, visit.model)
    table = Table(
        name="Access",
        heads=("User", "Access", "Last connection"),
        rows=[
            _cells(name, item["access"], _time(item["last-connection"])) for name, item in document.items()
        ],
        none="",
    )
    command = f"pushjuju show-model {visit.ctx.controller.name}:{visit.model.qualified}"
    return _page("Access", command, document, table)


def settings(visit: Visit) -> Content:
    """Return the page of the configuration, the constraints and the disabled commands of a model."""
    config = model_config.effective(visit.ctx, visit.model)
    limits = settings_of.model_constraints(visit.ctx, visit.model.uuid)
    disabled = blocks.of_model(visit.ctx, visit.model.uuid)
    tables = (
        Table(
            name="Configuration",
            heads=("Key", "Value", "From"),
            rows=[_cells(key, item["value"], item["source"]) for key, item in config.items()],
            none="",
        ),
        Table(
            name="Constraints of new machines",
            heads=("Constraint", "Value"),
            rows=[_cells(key, value) for key, value in limits.items()],
            none="There are no constraints.",
        ),
        Table(
            name="Disabled commands",
            heads=("Commands", "Message"),
            rows=[_cells(item["command-set"], item.get("message", "")) for item in disabled],
            none="No commands are disabled.",
        ),
    )
    document = {"config": config, "constraints": limits, "disabled-commands": disabled}
    return _page("Settings", visit.command("model-config"), document, *tables)


def history(visit: Visit) -> Content:
    """Return the page of who changed what; users who do not administer the model see their own changes."""
    user = "" if visit.may("admin") else visit.ctx.user
    wanted = audit_lines.Wanted(model=visit.model.uuid, user=user, most=_MOST_LINES)
    found = audit_lines.lines(visit.ctx, wanted)
    table = Table(
        name="History",
        heads=("When", "User", "From", "Command", "Changed"),
        rows=[
            _cells(
                _time(line["time"]), line["user"], line["door"] or "pushjuju",
                " ".join((line["command"], *line.get("arguments", ()))), _names(line.get("changed", ())),
            )
            for line in reversed(found)
        ],
        none="Nobody has changed this model yet.",
    )  # fmt: skip
    line = f"audit -c {visit.ctx.controller.name} -m {visit.model.qualified} --limit {_MOST_LINES}"
    return _page("History", f"pushjuju {line}{f' --user {user}' if user else ''}", found, table)


def _names(changed: Sequence[str]) -> str:
    more = f" and {len(changed) - _MOST_NAMES} more" if len(changed) > _MOST_NAMES else ""
    return ", ".join(changed[:_MOST_NAMES]) + more


def _require(visit: Visit, level: str) -> None:
    if not visit.may(level):
        raise NotFound(f"only users with {level} access to the model see this page")


# --- the controller ---------------------------------------------------------------------------------------


def controller(visit: Visit) -> Content:
    """Return the page of users, processes and settings; for superusers."""
    if not is_superuser(visit.ctx):
        raise NotFound("only superusers of the controller see this page")
    people = users.documents(visit.ctx, disabled=True)
    working = processes.documents(visit.ctx)
    config = settings_of.of_controller(visit.ctx)
    tables = (
        Table(
            name="Users",
            heads=("User", "Access", "Disabled", "Last connection"),
            rows=[
                _cells(
                    item["user-name"], item["access"], bool(item.get("disabled")),
                    Cell(time=item["last-connection"]),  # type: ignore[arg-type] # a datetime or None
                )
                for item in people
            ],
            none="",
        ),
        Table(
            name="Processes that work",
            heads=("Host", "Process id", "State", "Keys", "Version", "Started"),
            rows=[
                _cells(item["host"], item["pid"], item["state"], item["keys"], item["version"],
                       Cell(time=item["started"]))
                for item in working
            ],
            none="No process works now.",
        ),
        Table(
            name="Settings",
            heads=("Key", "Value"),
            rows=[_cells(key, value) for key, value in config.items()],
            none="",
        ),
    )  # fmt: skip
    document = {"users": people, "processes": working, "settings": config}
    return _page("Controller", f"pushjuju show-controller {visit.ctx.controller.name}", document, *tables)
