"""What a command says of a hook that failed: its own log, from its start."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.work import failures
from pushjuju.core.problems import Problem, Subject
from tests.unit.cli.test_hints import cli_of
from tests.world.controller import TestController
from tests.world.machine import event, failed, ok


def said(number: int, text: str) -> dict[str, Any]:
    return event(number, "log", level="INFO", module="unit", message=text)


def failure(runtime: TestController, lines: int) -> list[str]:
    """Let install say something, and start fail after some lines; return the detail of the error."""
    runtime.deploy()
    runtime.hook("install", ok(events=[said(1, "of install")]))
    runtime.clock.advance(5)
    runtime.hook("start", failed(events=[said(number, f"line {number}") for number in range(1, lines + 1)]))
    runtime.turn()
    problems = [
        Problem.of(Subject("machine", "7"), "does not answer"),
        Problem.of(Subject("unit", "web/0"), 'hook failed: "start"'),
    ]
    error = failures._failure(cli_of(runtime), runtime.ctx, runtime.model, problems)
    assert error.message == str(problems[1])
    return error.detail.splitlines()


def test_a_failed_hook_is_told_before_a_machine_with_its_own_log_alone(runtime: TestController) -> None:
    first, second, last, other = failure(runtime, 2)
    assert ("line 1" in first, "line 2" in second, "exit status 1" in last) == (True, True, True)
    assert other == "machine 7: does not answer"


def test_a_long_log_is_told_from_its_start_and_its_end(runtime: TestController) -> None:
    told = failure(runtime, 50)
    assert told[0].endswith("line 1")
    assert told[10] == "... 31 lines more: pushjuju debug-log --include web/0 --replay"
    assert "exit status 1" in told[-2]
