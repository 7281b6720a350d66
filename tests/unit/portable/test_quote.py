"""Texts, booleans and integers as Go writes and reads them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.portable.quote import atoi, bool_of, parse_bool, parse_int, quote, quote_list, trim

# strconv.ParseInt with base 0, as a pattern.
INTEGER = re.compile(
    r"[+-]?(0[xX](_?[0-9a-fA-F])+|0[bB](_?[01])+|0[oO](_?[0-7])+|0(_?[0-7])*|[1-9](_?[0-9])*)", re.ASCII
)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ("web/0", '"web/0"'),
        ('a"b\n\x01é\u200b', '"a\\"b\\n\\x01é\\u200b"'),
        ("a\\b", '"a\\\\b"'),
        ("é\x00\x7f\u200b\U000e0001 ", '"é\\x00\\x7f\\u200b\\U000e0001 "'),
        ("\udcff", '"\\xff"'),
    ],
)
def test_texts_are_quoted_as_go_does(text: str, quoted: str) -> None:
    assert quote(text) == quoted


def test_lists_are_quoted_as_go_does() -> None:
    assert quote_list(["a", "b"]) == '["a" "b"]'
    assert quote_list([]) == "[]"


def test_white_space_is_gos() -> None:
    assert trim("\x85\xa0 a b\u3000\n") == "a b"
    assert trim("\x1ca\x1f") == "\x1ca\x1f"  # white space to Python alone


@pytest.mark.parametrize("text", ["1", "t", "T", "true", "TRUE", "True"])
def test_words_for_true(text: str) -> None:
    assert parse_bool(text) is True
    assert (
        parse_bool({"1": "0", "t": "f", "T": "F", "true": "false", "TRUE": "FALSE", "True": "False"}[text])
        is False
    )


@pytest.mark.parametrize("text", ["", "yes", "tRUE", " true", "2"])
def test_other_words_are_no_booleans(text: str) -> None:
    assert bool_of(text) is None
    with pytest.raises(ValueError, match=re.escape(f'strconv.ParseBool: parsing "{text}": invalid syntax')):
        parse_bool(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10", 10),
        ("010", 8),
        ("0_7", 7),
        ("0o10", 8),
        ("0b11", 3),
        ("-0x1f", -31),
        ("1_000", 1000),
        ("0", 0),
        ("00", 0),
        ("+5", 5),
        ("-9223372036854775808", -(2**63)),
    ],
)
def test_integers_are_gos(text: str, number: int) -> None:
    assert parse_int(text) == number


@pytest.mark.parametrize(
    "text", ["", "+", "-", "08", "0x", "1__0", "_1", "1_", " 1", "1 ", "٣", "+-1", "1.0"]
)
def test_what_is_no_integer(text: str) -> None:
    with pytest.raises(
        ValueError, match=re.escape(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    ):
        parse_int(text)


@pytest.mark.parametrize(
    "text", ["9223372036854775808", "-9223372036854775809", "9" * 10_000, "0x" + "f" * 17]
)
def test_integers_have_64_bits(text: str) -> None:
    with pytest.raises(ValueError, match="value out of range"):
        parse_int(text)


def test_unsigned_integers_have_no_sign() -> None:
    assert parse_int("18446744073709551615", signed=False) == 2**64 - 1
    for text in ("-1", "+1"):
        with pytest.raises(
            ValueError, match=re.escape(f'strconv.ParseUint: parsing "{text}": invalid syntax')
        ):
            parse_int(text, signed=False)


@given(st.text("0123456789abfxXoOB_+- ٣", max_size=8))
def test_an_integer_is_read_exactly_where_go_reads_one(text: str) -> None:
    try:
        parse_int(text)
    except ValueError:
        assert not INTEGER.fullmatch(text)
    else:
        assert INTEGER.fullmatch(text)


def test_plain_decimals() -> None:
    assert [atoi(text) for text in ("7", "-7", "+7", "007")] == [7, -7, 7, 7]
    assert atoi("-9223372036854775808") == -(2**63)
    for text in ("", "0x7", "1_0", "٣"):
        with pytest.raises(
            ValueError, match=re.escape(f"strconv.Atoi: parsing {quote(text)}: invalid syntax")
        ):
            atoi(text)
    for text in ("9223372036854775808", "9" * 10_000):
        with pytest.raises(ValueError, match="value out of range"):
            atoi(text)
