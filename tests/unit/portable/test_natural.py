"""Natural order: runs of digits compare as numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.portable.natural import natural_key, natural_order

NAMES = st.text(st.characters(codec="utf-8"), max_size=20)


@pytest.mark.parametrize(
    "ordered",
    [
        ["web/0", "web/2", "web/10"],
        ["0", "0/lxd/2", "0/lxd/10", "1", "2", "10"],
        ["", "1a", "a", "a1", "a2b1", "a2b10", "a10", "ab"],
        ["mysql", "mysql-router/0", "mysql/0"],
        ["x" + "9" * 5000, "x1" + "0" * 5000],  # longer than what int() reads
    ],
)
def test_order(ordered: list[str]) -> None:
    assert sorted(set(ordered), key=natural_key) == ordered


@pytest.mark.parametrize("text", ["²", "x²", "٣", "a٣2"])
def test_digits_of_other_scripts_are_letters(text: str) -> None:
    assert natural_key(text)


@given(NAMES, NAMES)
def test_the_key_tells_names_apart_and_any_two_compare(one: str, other: str) -> None:
    first, second = natural_key(one), natural_key(other)
    assert (first < second) + (first == second) + (first > second) == 1
    if first == second:
        assert one.replace("0", "") == other.replace("0", "")  # only zeros in front of a number do not count


@given(
    NAMES.filter(lambda text: not text[-1:].isascii() or not text[-1:].isdigit()),
    st.integers(0),
    st.integers(0),
)
def test_numbers_behind_one_prefix_sort_by_value(prefix: str, one: int, other: int) -> None:
    assert (natural_key(f"{prefix}{one}") < natural_key(f"{prefix}{other}")) is (one < other)


PLACES = st.tuples(
    st.sampled_from(["", "a/", "a0/", "a00/", "a-1/", "web/", "web2/", "0/lxd/"]), st.integers(0, 120)
)


@given(
    st.lists(PLACES | st.sampled_from([("a/", "007"), ("", "x"), ("b/", ""), ("", "9" * 30)]), unique=True)
)
def test_units_and_machines_come_in_the_same_order_as_all_names(places: list[tuple[str, object]]) -> None:
    names = [f"{front}{number}" for front, number in places]
    assert natural_order(names) == sorted(names, key=natural_key)
