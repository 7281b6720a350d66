"""The times of hook tools: a machine says what it likes, and what does not fit is dropped."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from pushjuju.core import limits
from pushjuju.runner.remote.base.results import MOST_TIMED
from pushjuju.runner.trust import intake, tool_times
from pushjuju.runner.trust.tool_times import ToolCall
from tests.fuzz.hostile import ODD, fuzz, spoilt

KNOWN = ("status-set", "config-get")
GOOD = {"calls": [["status-set", 10, 20, 0], ["config-get", 40, 5, 2]], "more": 3}


def test_calls_of_known_tools_are_taken() -> None:
    first, second = (
        ToolCall(name="status-set", begun=10, took=20, exit=0),
        ToolCall(name="config-get", begun=40, took=5, exit=2),
    )
    assert tool_times.read(GOOD, KNOWN) == ([first, second], 3)


@pytest.mark.parametrize(
    "call",
    [
        None, [], "status-set", {"name": "status-set"}, ["rm", 1, 1, 0], [["status-set"], 1, 1, 0],
        ["status-set", 1, 1], ["status-set", 1.5, 1, 0], ["status-set", 1, True, 0], ["status-set", -1, 1, 0],
        ["status-set", 1, 10**400, 0], ["status-set", 1, 1, 256], ["status-set", 1, 1, 0, "more"],
    ],
)  # fmt: skip
def test_a_call_that_does_not_fit_is_dropped_alone(call: object) -> None:
    calls, more = tool_times.read({"calls": [call, ["config-get", 1, 2, 0]], "more": -1}, KNOWN)
    assert calls == [ToolCall(name="config-get", begun=1, took=2, exit=0)]
    assert more == 0


def test_no_more_calls_are_taken_than_a_runner_sends() -> None:
    calls, _ = tool_times.read({"calls": [["status-set", 1, 1, 0]] * 10_000}, KNOWN)
    assert len(calls) == MOST_TIMED


@fuzz(100)
@given(said=spoilt(GOOD) | ODD)
def test_nothing_that_a_machine_says_is_an_error(said: Any) -> None:
    calls, more = tool_times.read(said, KNOWN)
    assert all(call.name in KNOWN for call in calls)
    assert more >= 0
    result = intake.read_result({"outcome": "ok", "timed": said})
    assert result == {"outcome": "ok", "writes": {"status_set": False}}


def test_a_large_result_keeps_its_times() -> None:
    assert intake.known_fields({"outcome": "ok", "timed": GOOD, "odd": 1}, limits.LARGE) == {
        "outcome": "ok",
        "timed": GOOD,
    }
