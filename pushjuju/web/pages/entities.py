"""The pages of one application, unit or machine: why it is in its state, what ran, what it logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from pushjuju.core.errors import NotFound
from pushjuju.core.names import application_of
from pushjuju.services.entities.basis import logs
from pushjuju.services.views import application_documents, hook_runs, unit_documents
from pushjuju.services.views.listings import log_selection
from pushjuju.services.views.status import document as status
from pushjuju.web.pages import details
from pushjuju.web.pages.overview import every_machine, unit_rows
from pushjuju.web.pages.visit import Content, Visit
from pushjuju.workers import deciding

_RUNS, _LINES = 50, 100
_REASONS = 20  # units of an application that are not idle


def application(visit: Visit) -> Content:
    name = visit.path["name"]
    whole = status.document(visit.ctx, visit.model)
    found = whole.get("applications", {}).get(name)
    if found is None:
        raise NotFound(f'application "{name}" not found')
    rows = [row for row in unit_rows(whole) if application_of(row.name) == name]
    values = {
        "application": found,
        "units": rows,
        "trusted": application_documents.about(visit.ctx, visit.model.uuid, name).trusted,
        **_about(visit, name),
        "runs": hook_runs.of_application(visit.ctx, visit.model.uuid, name, _RUNS)[::-1],
        "details": details.of_application(visit, name),
    }

    def document() -> Mapping[str, Any]:
        shown = application_documents.show_applications(visit.ctx, visit.model.uuid, [name])
        return {**shown, "status": found}

    command = visit.command(f"show-application {name}")
    return Content(title=name, command=command, values=values, document=document)


def unit(visit: Visit) -> Content:
    name = f"{visit.path['name']}/{visit.path['number']}"
    rows = unit_rows(status.document(visit.ctx, visit.model))
    found = next((row for row in rows if row.name == name), None)
    if found is None:
        raise NotFound(f'unit "{name}" not found')
    values = {
        "unit": found,
        **_about(visit, name),
        "runs": _runs(visit, [name]),
        "lines": _lines(visit, name),
        "details": details.of_unit(visit, name),
    }
    crumb = (visit.path["name"], visit.pages.entity("application", visit.path["name"]))
    return Content(
        title=name,
        command=visit.command(f"explain {name}"),
        values=values,
        crumbs=(crumb,),
        document=lambda: unit_documents.show_units(visit.ctx, visit.model.uuid, [name]),
    )


def machine(visit: Visit) -> Content:
    """Return the page of a machine or container."""
    name = visit.path["name"]
    document = status.document(visit.ctx, visit.model)
    found = dict(every_machine(document)).get(name)
    if found is None:
        raise NotFound(f'machine "{name}" not found')
    rows = [row for row in unit_rows(document) if row.machine == name]
    values = {
        "machine": found,
        "units": rows,
        **_about(visit, name),
        "runs": _runs(visit, [row.name for row in rows]),
        "lines": _lines(visit, name),
        "details": details.of_machine(visit, name),
    }
    crumb = ("Machines", visit.pages.page("machines"))
    return Content(
        title=f"Machine {name}",
        command=visit.command(f"show-machine {name}"),
        values=values,
        crumbs=(crumb,),
        document=lambda: {name: found},
    )


def _about(visit: Visit, name: str) -> dict[str, Any]:
    """Return why an entity is in its state, and the commands that help."""
    reasons = deciding.explained(visit.ctx, visit.model.uuid, (name,), _REASONS)
    steps = [line.partition("    ") for reason in reasons for line in reason.next]
    return {"reasons": reasons, "steps": [(visit.command(line), told.strip()) for line, _, told in steps]}


def _runs(visit: Visit, units: Sequence[str]) -> list[hook_runs.HookRun]:
    """Return the newest runs of some units, newest first."""
    if not units:
        return []
    wanted = hook_runs.Wanted(units=units, most=_RUNS)
    return hook_runs.history(visit.ctx, visit.model.uuid, wanted)[::-1]


def _lines(visit: Visit, name: str) -> list[Any]:
    """Return the newest lines of the log of an entity, oldest first."""
    selection = log_selection.Selection(include=(name,))
    among = logs.Among(entities=selection.tags())
    newest = filter(selection.predicate(), logs.newest_first(visit.ctx.store, visit.model.uuid, among))
    return list(islice(newest, _LINES))[::-1]
