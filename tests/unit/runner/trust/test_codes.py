"""Codes of results: what an older program on a machine said in words is known by its code."""

from __future__ import annotations

import pytest

from pushjuju.runner.remote.base.results import CHARM_GONE, TIMED_OUT
from pushjuju.runner.trust.intake import read_result


@pytest.mark.parametrize(
    ("outcome", "message", "code"),
    [
        ("failed", "charm missing from disk", CHARM_GONE),
        ("interrupted", "command cancelled", TIMED_OUT),
        ("failed", "command cancelled", None),
        ("failed", "exit status 1", None),
    ],
)
def test_results_of_an_older_program_get_their_code(outcome: str, message: str, code: str | None) -> None:
    assert read_result({"outcome": outcome, "message": message}).get("code") == code


def test_a_code_needs_no_words() -> None:
    assert read_result({"outcome": "interrupted", "code": TIMED_OUT}).get("code") == TIMED_OUT
