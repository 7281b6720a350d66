"""Runs actions and commands on a model, and reads how their tasks end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.client.connection import Connection
from pushjuju.core.clock import from_iso
from pushjuju.services.requests.action.operations import ActionRequest, CommandRequest, Enqueued
from pushjuju.services.views.tasks import Task

Wire = Mapping[str, Any]


def enqueue(connection: Connection, request: ActionRequest) -> Enqueued:
    wanted = [
        {"receiver": name if name.endswith("/leader") else tag_of("unit", name), "name": request.action,
         "parameters": dict(request.parameters)}
        for name in request.receivers
    ]  # fmt: skip
    return _queued(connection.call("Action", "EnqueueOperation", {"actions": wanted}), connection.model)


def enqueue_commands(connection: Connection, request: CommandRequest) -> Enqueued:
    """Enqueue commands on units and machines."""
    params = {
        "commands": request.command,
        "timeout": int(request.timeout_s * 1e9),
        "machines": list(request.machines),
        "applications": list(request.applications),
        "units": list(request.units),
        "parallel": request.parallel,
        "execution-group": request.execution_group,
    }
    method = "RunOnAllMachines" if request.every_machine else "Run"
    return _queued(connection.call("Action", method, params), connection.model)


def read(connection: Connection, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Return tasks as the server has them."""
    entities = [{"tag": f"action-{number}"} for number in numbers]
    return connection.each("Action", "Actions", {"entities": entities})


def tag_of(kind: str, name: str) -> str:
    """Return the tag of a unit or a machine."""
    return f"{kind}-{name.replace('/', '-')}"


def _queued(answer: Wire, model: str) -> Enqueued:
    found = answer.get("actions") or ()
    operation = int(str(answer["operation"]).removeprefix("operation-"))
    return Enqueued(
        operation=operation,
        tasks=tuple(task(item, operation, model) for item in found if "action" in item),
        errors=tuple(str(item["error"]["message"]) for item in found if "error" in item),
    )


def task(wire: Wire, operation: int = 0, model: str = "") -> Task:
    about = wire["action"]
    kind, _, name = about["receiver"].partition("-")
    if kind == "unit":
        application, _, number = name.rpartition("-")
        name = f"{application}/{number}"
    return Task(
        model=model,
        id=int(about["tag"].removeprefix("action-")),
        operation=operation,
        kind=kind,
        receiver=name.replace("-", "/") if kind == "machine" else name,
        action=about["name"],
        parameters=about.get("parameters") or {},
        status=wire["status"],
        message=wire.get("message", ""),
        results=wire.get("output") or {},
        enqueued=from_iso(wire["enqueued"]),
        started=from_iso(wire["started"]) if wire.get("started") else None,
        completed=from_iso(wire["completed"]) if wire.get("completed") else None,
    )


def document(wire: Wire) -> dict[str, Any]:
    """Return a task as `run` prints it, as `services.views.tasks.task_document` does."""
    row = task(wire)
    found: dict[str, Any] = {"id": str(row.id), "status": row.status, row.kind: row.receiver}
    if row.message:
        found["message"] = row.message
    if row.results:
        found["results"] = dict(row.results)
    if lines := log(wire):
        found["log"] = lines
    times = {"enqueued": row.enqueued, "started": row.started, "completed": row.completed}
    found["timing"] = {name: moment for name, moment in times.items() if moment}
    return found


def log(wire: Wire) -> list[dict[str, Any]]:
    """Return the progress messages of a task."""
    return [
        {"time": from_iso(line["timestamp"]), "message": line["message"]} for line in wire.get("log") or ()
    ]
