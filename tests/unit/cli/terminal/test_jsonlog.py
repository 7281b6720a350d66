"""Log lines as JSON."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.jsonlog import JsonLog, is_wanted
from pushjuju.cli.terminal.progress import progress
from pushjuju.core.errors import PushjujuError, UsageError
from pushjuju.services.entities.basis import logs
from pushjuju.store.tx import ModelTx
from pushjuju.workers.events import PLACE, Event
from tests.world.clock import FakeClock
from tests.world.commandline import Run, ok
from tests.world.controller import TestController

MODEL = "11111111-0000-4000-8000-000000000000"


def console(stderr: io.StringIO) -> Console:
    made = Console(stdin=io.StringIO(), stdout=io.StringIO(), stderr=stderr, env={})
    made.log = JsonLog(stderr, FakeClock())
    return made


def lines(stderr: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stderr.getvalue().splitlines()]


def test_information_warnings_and_errors_are_objects_with_a_severity() -> None:
    err = io.StringIO()
    made = console(err)
    made.info("working")
    made.warn("slow\nand late")
    made.error(PushjujuError("failed", hint="try again"))
    shown = [(line["severity_text"], line["severity_number"], line["body"]) for line in lines(err)]
    assert shown == [
        ("INFO", 9, "working"),
        ("WARN", 13, "slow\nand late"),
        ("ERROR", 17, "failed"),
        ("ERROR", 17, "try again"),
    ]
    assert {(line["timestamp"], line["logger"]) for line in lines(err)} == {
        ("2025-03-01T09:00:00.000000Z", "pushjuju")
    }


def test_steps_of_the_work_name_model_machine_and_unit_and_are_not_repeated() -> None:
    err = io.StringIO()
    with progress(console(err)) as report:
        report(Event(entity="machine 0", text="connecting", model=MODEL))
        for _ in range(2):
            report(Event(entity="web/0", text="running install hook", parent="machine 0", model=MODEL))
        report(Event(entity="web/0", text="hook failed", state="failed", parent="machine 0"))
        report(Event(entity="web/0", line="what a hook prints"))
        report(Event(entity="db/0", text="start", parent="machine 1", model=MODEL, of="shop"))
    fields = ("severity_text", "body", "model", "machine", "unit")
    assert [tuple(line.get(name) for name in fields) for line in lines(err)] == [
        ("INFO", "connecting", MODEL, "0", None),
        ("INFO", "running install hook", MODEL, "0", "web/0"),
        ("ERROR", "hook failed", None, "0", "web/0"),
        ("INFO", "start", MODEL, "1", "db/0"),
    ]


def test_steps_of_an_operation_name_it_and_the_span_of_the_contact() -> None:
    err = io.StringIO()
    token = PLACE.set(("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"))
    try:
        console(err).log.report(Event(entity="web/0", text="install", operation="17"))  # type: ignore[union-attr]
    finally:
        PLACE.reset(token)
    console(err).log.report(Event(entity="machine 0", text="connecting"))  # type: ignore[union-attr]
    with_all, without = lines(err)
    assert (with_all["operation"], with_all["trace_id"], with_all["span_id"]) == (
        "17", "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331",
    )  # fmt: skip
    assert {"operation", "trace_id", "span_id"}.isdisjoint(without)


def test_the_flag_decides_before_the_environment() -> None:
    wanted = {"PUSHJUJU_LOG_FORMAT": "json"}
    assert [is_wanted("", {}), is_wanted("", wanted), is_wanted("text", wanted), is_wanted("json", {})] == [
        False, True, False, True,
    ]  # fmt: skip
    with pytest.raises(UsageError, match='log format "xml" is not one of text, json'):
        is_wanted("xml", {})


def test_the_log_of_a_model_has_the_fields_of_the_controller_process(
    runtime: TestController, run: Run
) -> None:
    def add(tx: ModelTx) -> None:
        for entity, level in (("unit-web-0", "WARNING"), ("machine-0-lxd-1", "CRITICAL")):
            logs.append(
                tx, entity, level, "unit.web/0.juju-log", "a\nb", now=runtime.clock.now(), location="x:1"
            )

    runtime.focus()
    runtime.write(add)
    unit, machine = lines(io.StringIO(ok(run("debug-log", "--no-tail", "--format", "json"))))
    assert unit == {
        "timestamp": "2025-03-01T09:00:00.000000Z", "severity_text": "WARN", "severity_number": 13,
        "body": "a\nb", "logger": "unit.web/0.juju-log", "model": runtime.model, "unit": "web/0",
        "location": "x:1",
    }  # fmt: skip
    assert (machine["machine"], machine["severity_number"]) == ("0/lxd/1", 21)
    assert run("debug-log", "--format", "xml").status == 2


def test_a_controller_process_writes_json_alone(lab: Run) -> None:
    ended = lab("controller", "run", "--until-idle", env={"PUSHJUJU_LOG_FORMAT": "json"})
    assert ended.status == 0
    shown = lines(io.StringIO(ended.err))
    assert shown[0]["body"].startswith("Working on what becomes due in controller lab")
    assert lab("controller", "run", "--log-format", "xml").status == 2
    assert lab("controller", "renew-key", "--log-format", "json").status == 2
