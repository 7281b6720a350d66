"""Formats operations and tasks as text. Pure: moments have a time zone.

Mirrors: juju cmd/juju/action/{common,run,exec,listoperations,showoperation}.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from pushjuju.cli.terminal.table import TabWriter, naturally
from pushjuju.cli.terminal.times import with_texts
from pushjuju.portable.gotypes import Struct
from pushjuju.portable.yamltext import to_yaml

_STREAMS = ("stdout", "stderr")
_ENCODINGS = ("stdout-encoding", "stderr-encoding")
_SHOWN_TASKS = 5  # number of ids that the table of operations shows
_OPERATION = ("summary", "status", "fail", "error", "action", "timing", "tasks")
_TASK = ("name", "host", "status", "timing", "log", "message", "results")
_TIMING = ("enqueued", "started", "completed")

Task = Mapping[str, Any]


def moment_text(moment: datetime, *, utc: bool) -> str:
    """Return `2025-03-01 09:12:44 +0000 UTC`."""
    shown = moment.astimezone(UTC) if utc else moment.astimezone()
    return f"{shown:%Y-%m-%d %H:%M:%S %z} {shown.tzname()}"


def task_texts(task: Task, *, utc: bool) -> dict[str, object]:
    shown: dict[str, object] = dict(task)
    if "log" in shown:
        shown["log"] = [f"{moment_text(line['time'], utc=utc)} {line['message']}" for line in task["log"]]
    if "results" in shown:
        shown["results"] = {key: _unix(key, value) for key, value in task["results"].items()}
    return dict(with_texts(shown, lambda moment: moment_text(moment, utc=utc)))


def _unix(key: str, value: Any) -> Any:
    return value.replace("\r\n", "\n") if key in _STREAMS else value


def operation_texts(operation: Mapping[str, Any], *, utc: bool) -> Struct:
    """Return an operation with its moments as texts, in Juju's order of keys."""
    shown = _ordered(operation, _OPERATION, utc)
    if "tasks" in shown:
        shown["tasks"] = {
            key: _ordered(task_texts(task, utc=utc), _TASK, utc) for key, task in operation["tasks"].items()
        }
    if "action" in shown:
        shown["action"] = Struct(shown["action"])
    return shown


def _ordered(document: Mapping[str, Any], keys: tuple[str, ...], utc: bool) -> Struct:
    found = Struct((key, document[key]) for key in keys if key in document)
    if "timing" in found:
        times = found["timing"]
        found["timing"] = Struct((key, _text(times[key], utc)) for key in _TIMING if key in times)
    return found


def _text(moment: Any, utc: bool) -> Any:
    return moment_text(moment, utc=utc) if isinstance(moment, datetime) else moment


# --- plain ------------------------------------------------------------------------------------------------


def run_formatters() -> dict[str, Callable[[Any], str]]:
    """Return the formats of `run` for a map receiver -> task."""
    return {"plain": _plain_results}


def _plain_results(results: Mapping[str, Task]) -> str:
    if len(results) == 1:
        return plain_task(next(iter(results.values())))
    return to_yaml({receiver: _plain_entry(task) for receiver, task in results.items()})


def _plain_entry(task: Task) -> dict[str, object]:
    entry = {"id": task["id"], "output": _values(task) + _streams(task), "status": task["status"]}
    return {**entry, "message": task["message"]} if task.get("message") else entry


def plain_task(task: Task) -> str:
    """Return a task as plain text: its values, an empty line, its output."""
    failed = task["status"] == "failed"
    text = f"Action id {task['id']} failed: {task.get('message', '')}\n" if failed else ""
    return f"{text}{_values(task)}\n{_streams(task)}"


def _values(task: Task) -> str:
    """Return a task's results as YAML; for a task without results, its status."""
    results = task.get("results")
    if not results:
        return f"Task {task['id']} {task['status']}\n"
    left_out = ("return-code", *_STREAMS, *_ENCODINGS)
    values = {key.lower(): value for key, value in results.items() if key.lower() not in left_out}
    return to_yaml(values) if values else ""


def _streams(task: Task) -> str:
    """Return what a task's script printed."""
    results = task.get("results", {})
    texts = [str(results[stream]).strip("\n") for stream in _STREAMS if results.get(stream)]
    return "".join(f"{text}\n" for text in texts)


def exec_formatters() -> dict[str, Callable[[Any], str]]:
    """Return the formats of `exec` for a map receiver -> task."""
    return {"plain": _plain_commands}


def _plain_commands(results: Mapping[str, Task]) -> str:
    """Return what the commands printed, with headings when several receivers printed, as Juju does."""
    texts = [(name, _printed(task)) for name, task in naturally(results)]
    if sum(bool(text) for _, text in texts) < 2:
        return "".join(text for _, text in texts)
    return "".join(f"{name}:\n{text}\n" for name, text in texts)


def _printed(task: Task) -> str:
    found = (str(task.get("results", {}).get(stream, "")) for stream in _STREAMS)
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in found if text)


# --- operations -------------------------------------------------------------------------------------------


def operations_table(operations: Mapping[int, Mapping[str, Any]], *, utc: bool) -> str:
    """Return the table of `operations`."""
    table = TabWriter("ID", "Status", "Started", "Finished", "Task IDs", "Summary", right=[0])
    for number, operation in operations.items():
        times = operation.get("timing", {})
        ids = list(operation.get("tasks", {}))
        shown = ",".join(ids[:_SHOWN_TASKS]) + ("..." if len(ids) > _SHOWN_TASKS else "")
        started, finished = (_stamp(times.get(key), utc) for key in ("started", "completed"))
        table.row(str(number), operation["status"], started, finished, shown, operation["summary"])
    return table.text()


def _stamp(moment: datetime | None, utc: bool) -> str:
    if moment is None:
        return ""
    shown = moment.astimezone(UTC) if utc else moment.astimezone()
    return f"{shown:%Y-%m-%dT%H:%M:%S}"


# --- actions ----------------------------------------------------------------------------------------------


def actions_table(descriptions: Mapping[str, str]) -> str:
    """Return the table of `actions`; further lines of a description are below its first line."""
    table = TabWriter("Action", "Description")
    for name in sorted(descriptions):
        first, *more = descriptions[name].rstrip("\n").split("\n")
        table.row(name, first.strip())
        for line in more:
            table.row("", line.strip())
    return table.text()


def action_text(schema: Mapping[str, Any]) -> str:
    """Return what `show-action` prints."""
    arguments = {
        name: Struct(
            (key, spec.get(key))
            for key in ("type", "description", "default")
            if key != "default" or key in spec
        )
        for name, spec in schema.get("properties", {}).items()
        if isinstance(spec, Mapping)
    }
    description = str(schema.get("description", "")).rstrip("\n")
    body = to_yaml(arguments).rstrip("\n") if arguments else "{}"
    return f"{description}\n\nArguments\n{body}\n\n"
