"""Tests of PostgreSQL are not skipped where nobody would notice."""

from __future__ import annotations

import pytest

from tests.postgres import fixtures


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_without_postgresql_the_tests_fail_in_ci_and_are_skipped_elsewhere(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="PostgreSQL is missing"):
        fixtures.missing("PostgreSQL is missing")
