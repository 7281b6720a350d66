"""Durations in Go's notation."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.portable.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("-0", 0.0),
        ("+0", 0.0),
        ("5s", 5.0),
        ("5m", 300.0),
        ("1h30m", 5400.0),
        ("1h30m0.5s", 5400.5),
        ("300ms", 0.3),
        ("10us", 1e-5),
        ("10µs", 1e-5),
        ("10μs", 1e-5),
        ("7ns", 7e-9),
        (".5s", 0.5),
        ("5.s", 5.0),
        ("-2s", -2.0),
        ("+2s", 2.0),
        ("1m1m", 120.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("m", 'time: invalid duration "m"'),
        (".s", 'time: invalid duration ".s"'),
        (" 5s", 'time: invalid duration " 5s"'),
        ("5", 'time: missing unit in duration "5"'),
        ("1h5", 'time: missing unit in duration "1h5"'),
        ("5x", 'time: unknown unit "x" in duration "5x"'),
        ("1h-5m", 'time: unknown unit "h-" in duration "1h-5m"'),
        ("5 s", 'time: unknown unit " s" in duration "5 s"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ("٣s", 'time: invalid duration "٣s"'),
        ("9" * 400 + "h", f'time: invalid duration "{"9" * 400}h"'),
    ],
)
def test_what_go_refuses(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        parse_duration(text)


@given(st.integers(0, 2000), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_what_go_prints_reads_back(hours: int, minutes: int, seconds: int, millis: int) -> None:
    expected = hours * 3600 + minutes * 60 + seconds + millis / 1000
    assert parse_duration(f"{hours}h{minutes}m{seconds}.{millis:03d}s") == pytest.approx(expected)


@given(st.text(max_size=12))
def test_any_text_is_a_number_or_refused(text: str) -> None:
    try:
        assert isinstance(parse_duration(text), float)
    except ValueError as refused:
        message = str(refused)
    else:
        return
    assert message.startswith("time: ")


@given(st.text("0123456789.+-numsh\u00b5\u03bcd ", max_size=10))
def test_what_go_reads_has_this_form(text: str) -> None:
    part = r"(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)"
    form = re.compile(rf"[+-]?(0|({part})+)", re.ASCII)
    try:
        parse_duration(text)
    except ValueError:
        assert not form.fullmatch(text)
    else:
        assert form.fullmatch(text)
