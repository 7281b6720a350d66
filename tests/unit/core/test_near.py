"""What was probably meant."""

from __future__ import annotations

import pytest

from pushjuju.core.suggest import closest, did_you_mean, distance


@pytest.mark.parametrize(
    ("left", "right", "slips"),
    [
        ("", "", 0),
        ("web", "web", 0),
        ("wbe", "web", 1),
        ("wb", "web", 1),
        ("foo", "o", 2),
        ("abcd", "badc", 2),
    ],
)
def test_slips_between_two_words(left: str, right: str, slips: int) -> None:
    assert distance(left, right) == distance(right, left) == slips


def test_a_short_word_is_like_those_with_one_slip() -> None:
    assert closest("wbe", ["web", "db"]) == "web"
    assert closest("foo", ["o", "color"]) == ""
    assert closest("nope", ["home"]) == ""
    assert closest("deplyo", ["deploy", "destroy"]) == "deploy"
    assert did_you_mean("x", ["y"]) == ""


def test_a_long_word_may_have_a_slip_in_three_letters() -> None:
    assert closest("--firehose", ["--verbose"]) == ""
    assert closest("remve-aplicaton", ["remove-application", "remove-unit"]) == "remove-application"
