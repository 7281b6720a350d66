"""Pages that are tables: relations, storage, resources, secrets, offers, access, settings, history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from pushjuju.core.errors import NotFound
from pushjuju.core.status import Life
from pushjuju.portable.natural import natural_order
from pushjuju.services.entities.application.resources import FILE
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation.offers import Wanted as WantedOffers
from pushjuju.services.pictures import svg
from pushjuju.services.requests.model import model_config
from pushjuju.services.views import documents, hook_runs, offer_documents, relation_rows, relation_view
from pushjuju.services.views import resource_documents as resources_of
from pushjuju.services.views.listings import audit_lines, blocks, user_secrets
from pushjuju.services.views.listings import settings as settings_of
from pushjuju.services.views.status import storage_document
from pushjuju.store.rows.records import Unit
from pushjuju.web.pages import cells, details
from pushjuju.web.pages.cells import Cell, Table
from pushjuju.web.pages.visit import Content, Visit

_MOST_LINES = 200
_MOST_NAMES = 4
_NO_OWN_CHANGES = "You have not changed this model. Its administrators see the changes of all users."


def _page(title: str, command: str, document: Any, *tables: Table) -> Content:
    values = {"tables": tables, "page": title.lower()}
    return Content(title=title, command=command, values=values, document=lambda: document)


# --- a model ----------------------------------------------------------------------------------------------


def relations(visit: Visit) -> Content:
    rows = relation_rows.relation_rows(visit.ctx, visit.model.uuid)
    table = details.of_relations(visit, rows, "This model has no relations.")
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
        rows=[cells.row(found.key, cells.status(found.status.status if found.status else "joining"),
                     found.scope, found.suspended)],
        none="",
    )  # fmt: skip
    return Content(
        title=f"Relation {number}",
        command=visit.command(f"show-relation {number}"),
        values={"tables": (about, *tables), "page": "relations", "ends": _ends(found), "sides": True},
        crumbs=(("Relations", visit.pages.page("relations")),),
        document=lambda: asdict(found),
    )


def _ends(found: relation_view.RelationView) -> list[str]:
    """Return both endpoints of a relation that a user may remove here, as `remove-relation` takes them."""
    ends = [f"{side.application}:{side.endpoint}" for side in found.sides]
    return ends if len(ends) == 2 and not any(side.remote for side in found.sides) else []


def _side(visit: Visit, side: relation_view.RelationSide) -> Table:
    """Return what one side of a relation says; the charm's own data, as `show-unit` shows it."""
    where = cells.row(
        Cell(text=side.application) if side.remote else cells.link(visit, "application", side.application)
    )
    rows = [[*where, *cells.row(key, value)] for key, value in sorted(side.data.items())]
    for member in side.units:
        name = cells.row(member.name if side.remote else cells.link(visit, "unit", member.name))
        said = sorted(member.data.items()) or [("", "")]
        rows += [[*name, *cells.row(key, value)] for key, value in said]
    return Table(
        name=f"{side.application}:{side.endpoint} ({side.role})",
        heads=("From", "Key", "Value"),
        rows=rows,
        none="No unit takes part yet.",
    )


def storage(visit: Visit) -> Content:
    document = storage_document.document(visit.ctx, visit.model.uuid)
    table = Table(
        name="Storage",
        heads=details.STORAGE,
        rows=list(details.stored(visit, document)),
        none="This model has no storage.",
    )
    page = _page("Storage", visit.command("storage"), document, table)
    owned, names = _by_owner(document), []
    if owned["detached"]:
        with visit.ctx.read(visit.model.uuid) as tx:
            names = natural_order(unit.name for unit in tx.list(Unit, "unit_list"))
    return replace(page, values={**page.values, **owned, "units": names})


def _by_owner(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the names of the storage that units have, and of the storage that no unit has."""
    found: dict[str, list[str]] = {"attached": [], "detached": []}
    for name, item in document.get("storage", {}).items():
        if item["life"] == Life.ALIVE:
            found["attached" if item.get("attachments", {}).get("units") else "detached"].append(name)
    return found


def resources(visit: Visit) -> Content:
    """Return the page of the resources of all applications."""
    every = resources_of.of_model(visit.ctx, visit.model.uuid)
    table = Table(
        name="Resources",
        heads=("Application", "Resource", "Type", "From", "Revision", "Bytes", "Newer in the store"),
        rows=[
            cells.row(
                cells.link(visit, "application", name), item.name, item.type, item.supplier,
                item.revision_text, item.size or "",
                any(update.name == item.name for update in listed.updates),
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
    granted = user_secrets.grants(visit.ctx, visit.model.uuid)
    table = Table(
        name="Secrets",
        heads=("Id", "Name or label", "Owner", "Revision", "Rotation", "Rotates", "Expires", "Changed",
               "May read"),
        rows=[
            cells.row(
                number, item.get("name") or item.get("label", ""), item["owner"], item["revision"],
                item.get("rotation", ""), cells.time(item.get("rotates")), cells.time(item.get("expires")),
                cells.time(item.get("updated")), granted.get(number, []),
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
            cells.row(
                name, cells.link(visit, "application", item["application"]), sorted(item["endpoints"]),
                len(item.get("connections", ())), item["offer-url"],
            )
            for name, item in document.items()
        ],
        none="This model offers nothing to other models.",
    )  # fmt: skip
    with visit.ctx.read(visit.model.uuid) as tx:
        consumed: Mapping[str, Any] = offer_documents.sections(tx).get("application-endpoints", {})
    with visit.ctx.store.read() as tx:
        known = {
            model.uuid: model.qualified
            for model in models.listed(tx)
            if models.may_access(tx, visit.ctx.user, model, "read")
        }
    links = Table(
        name="Connections",
        heads=("Offer", "Model", "Relation", "Endpoint", "Status"),
        rows=[
            cells.row(
                name, known.get(link["source-model-uuid"], link["source-model-uuid"]),
                cells.link(visit, "relation", str(link["relation-id"])), link["endpoint"],
                cells.status(link["status"]["current"]),
            )
            for name, item in document.items() for link in item.get("connections", ())
        ],
        none="No model uses an offer of this model.",
    )  # fmt: skip
    used = Table(
        name="Consumed",
        heads=("Name here", "Status", "Message", "Offer"),
        rows=[
            cells.row(
                name,
                cells.status(item["application-status"]["current"]),
                item["application-status"].get("message", ""),
                item["url"],
            )
            for name, item in consumed.items()
        ],
        none="This model consumes no offers.",
    )
    shown = {"offers": document, "consumed": consumed}
    return _page("Offers", visit.command("offers"), shown, offered, links, used)


def access(visit: Visit) -> Content:
    """Return the page of who may do what in the model; for administrators of the model."""
    _require(visit, "admin")
    document = documents.model_users(visit.ctx, visit.model)
    table = Table(
        name="Access",
        heads=("User", "Access", "Last connection"),
        rows=[
            cells.row(name, item["access"], cells.time(item["last-connection"]))
            for name, item in document.items()
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
            rows=[
                cells.row(key, cells.setting(item["value"]), item["source"])
                for key, item in sorted(config.items(), key=lambda pair: pair[1]["source"] == "default")
            ],
            none="",
        ),
        Table(
            name="Constraints of new machines",
            heads=("Constraint", "Value"),
            rows=[cells.row(key, value) for key, value in limits.items()],
            none="There are no constraints.",
        ),
        Table(
            name="Disabled commands",
            heads=("Commands", "Message"),
            rows=[cells.row(item["command-set"], item.get("message", "")) for item in disabled],
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
    first = min((line["cause"] for line in found if line.get("cause")), default="")
    followed = hook_runs.counts_by_request(visit.ctx, visit.model.uuid, first) if first else {}
    table = Table(
        name="Your changes" if user else "History",
        heads=("When", "User", "From", "Command", "Changed", "Result", "Followed by"),
        rows=[
            cells.row(
                cells.time(line["time"]), line["user"], line["door"] or "pushjuju",
                " ".join((line["command"], *line.get("arguments", ()))), _names(line.get("changed", ())),
                audit_lines.failed(line), _followed(visit, line.get("cause", ""), followed),
            )
            for line in reversed(found)
        ],
        none=_NO_OWN_CHANGES if user else "Nobody has changed this model yet.",
    )  # fmt: skip
    line = f"audit -c {visit.ctx.controller.name} -m {visit.model.qualified} --limit {_MOST_LINES}"
    return _page("History", f"pushjuju {line}{f' --user {user}' if user else ''}", found, table)


def _followed(visit: Visit, cause: str, counts: Mapping[str, tuple[int, int]]) -> Cell:
    """Return how many runs of hooks and actions followed a request, with a link to them."""
    if cause not in counts:
        return Cell()
    runs, failed = counts[cause]
    text = f"{svg.many(runs, 'run')}{f', {failed} failed' if failed else ''}"
    return Cell(text=text, address=visit.pages.page("timeline", cause=cause))


def _names(changed: Sequence[str]) -> str:
    more = f" and {len(changed) - _MOST_NAMES} more" if len(changed) > _MOST_NAMES else ""
    return ", ".join(changed[:_MOST_NAMES]) + more


def _require(visit: Visit, level: str) -> None:
    if not visit.may(level):
        raise NotFound(f"only users with {level} access to the model see this page")
