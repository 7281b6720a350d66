"""The pages of actions: what charms can do, what was asked for, and one operation or task."""

from __future__ import annotations

from pushjuju.core.errors import NotFound
from pushjuju.services.entities.charm import charms
from pushjuju.services.views import tasks
from pushjuju.store.rows.records import Application
from pushjuju.web.pages import cells
from pushjuju.web.pages.cells import Cell, Table
from pushjuju.web.pages.visit import Content, Visit

_OPERATIONS = 100
_DIGITS = 18  # of the number of an operation or a task


def charm_actions(visit: Visit) -> Content:
    """Return the page of the actions of all applications, each with a link to its form."""
    with visit.ctx.read(visit.model.uuid) as tx:
        listed = tx.list(Application, "application_list")
        known = {url: charms.get(tx, url).actions for url in {item.charm_url for item in listed}}
    every = {item.name: known[item.charm_url] for item in listed if known[item.charm_url]}
    table = Table(
        name="Actions",
        heads=("Application", "Action", "What it does"),
        rows=[
            cells.row(cells.link(visit, "application", name), _form(visit, name, action), spec.description)
            for name, specs in every.items()
            for action, spec in sorted(specs.items())
        ],
        none="No charm of this model has actions.",
    )
    document = {
        name: {action: spec.description for action, spec in specs.items()} for name, specs in every.items()
    }
    # `actions` lists one application
    command = visit.command(f"actions {next(iter(every))}") if len(every) == 1 else ""
    return Content(
        title="Actions",
        command=command,
        values={"tables": [table], "page": "actions"},
        document=lambda: document,
    )


def _form(visit: Visit, application: str, action: str) -> Cell:
    address = visit.pages.entity("application", application)
    return Cell(text=action, address=f"{address}/actions#action-{action}")


def operations(visit: Visit) -> Content:
    """Return the page of actions and commands that were asked for, newest first."""
    before = visit.query.get("before", "")
    last = max(int(before), 1) if before.isdecimal() and len(before) < _DIGITS else 2**31
    limit = min(_OPERATIONS, last)
    found, older = tasks.newest(visit.ctx, visit.model.uuid, limit, last)
    page = {"limit": limit, "offset": older}

    return Content(
        title="Operations",
        command=visit.command("operations" + "".join(f" --{key} {page[key]}" for key in page)),
        values={
            "operations": [(item, rows, tasks.status_of(rows)) for item, rows in reversed(found)],
            "older": visit.pages.page("operations", before=str(older)) if older else "",
            "newest": visit.pages.page("operations") if before else "",
        },
        document=lambda: tasks.operations(visit.ctx, visit.model.uuid, tasks.Filter(), **page).operations,
    )


def operation(visit: Visit) -> Content:
    """Return the page of an operation: its tasks with results and messages."""
    number = _number(visit, "operation")
    found = tasks.show_operation(visit.ctx, visit.model.uuid, number)
    return Content(
        title=f"Operation {number}",
        command=visit.command(f"show-operation {number}"),
        values={"operation": found, "page": "operations"},
        crumbs=(("Operations", visit.pages.page("operations")),),
        document=lambda: found,
    )


def task(visit: Visit) -> Content:
    """Return the page of a task: where it runs, its progress and its results."""
    number = _number(visit, "task")
    record, _ = tasks.with_log(visit.ctx, visit.model.uuid, number)
    found = tasks.show_task(visit.ctx, visit.model.uuid, number)
    above = f"operation/{record.operation}"
    return Content(
        title=f"Task {number}",
        command=visit.command(f"show-task {number}"),
        values={"number": number, "task": found, "record": record, "page": "operations"},
        crumbs=(
            ("Operations", visit.pages.page("operations")),
            (f"Operation {record.operation}", visit.pages.page(above)),
        ),
        document=lambda: found,
    )


def _number(visit: Visit, noun: str) -> int:
    """Return the number in the address."""
    text = visit.path["id"]
    if not (text.isdecimal() and len(text) < _DIGITS):
        raise NotFound(f'{noun} "{text}" not found')
    return int(text)
