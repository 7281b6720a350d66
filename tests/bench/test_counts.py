"""A figure that is counted fails when it is a fifth above that of the last release."""

from __future__ import annotations

from tests.bench import counts


def test_a_figure_may_rise_by_a_fifth_and_a_new_one_has_nothing_to_compare() -> None:
    before = {"statements": 20, "files": 10, "gone": 5}
    assert list(counts.risen(before, {"statements": 24, "files": 13, "new": 99})) == ["files: 10 -> 13"]
