"""TOML of strangers: data, or one kind of error, in a time that grows with the text."""

from __future__ import annotations

import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.charms.format.tomlsafe import DEPTH, MOST, TomlFault, load_toml
from tests.fuzz.hostile import fuzz

DEEP = f"nested more than {DEPTH} levels"
PIECES = (
    "a", "b.c", "=", "1", "[", "]", "[[", "]]", "{", "}", ",", ".", " ", "\n", "\\", "\\n", "#", "\0", "é",
    '"', '""', '"""', '""""', "'", "'''", "'''''", "2001-02-03", "inf", "true", "0x1f",
    "a.b = 1\n", "[t.u]\n",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x = " + "[" * 100_000, DEEP),
        ("x = " + "{a = " * 50_000, DEEP),
        ("a." * 20_000 + "b = 1", DEEP),
        ('"a" . ' * 20_000 + "b = 1", DEEP),
        ("[" + "a." * 20_000 + "b]", DEEP),
        ("x = {" + "a." * 20_000 + "b = 1}", DEEP),
        ('x = """a"""" # \\\n' + "a." * 20_000 + "b = 1", DEEP),
        ("x = '''a''''' # '\n" + "a." * 20_000 + "b = 1", DEEP),
        ("x = " + "9" * 5000, "limit"),
        ("#" * (MOST + 1), f"larger than {MOST} characters"),
    ],
)
def test_what_is_dear_to_read_is_refused_at_once(text: str, fault: str) -> None:
    """A key of 40 KB takes the standard reader 13 seconds, and four times that when it is twice as long."""
    began = time.process_time()
    with pytest.raises(TomlFault, match=fault):
        load_toml(text)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("unit", ['"', "'''\\\"", '"\\\n', '\\"""', "# ", "a.b "])
def test_the_time_of_a_look_grows_with_the_text(unit: str) -> None:
    began = time.process_time()
    with pytest.raises(TomlFault):
        load_toml("\n]" + unit * (2_000_000 // len(unit)))
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    "text",
    [
        "a = '" + "[" * 100 + "'",
        'a = """' + "x.y" * 200 + '\n[[[["" \\""" """',
        "# " + "{" * 500 + "\na = 1",
        "a = " + "[" * 20 + "]" * 20,
        ".".join("abc" * 10) + " = 1",
    ],
)
def test_texts_and_comments_are_no_nesting(text: str) -> None:
    assert load_toml(text) == tomllib.loads(text)


@fuzz(300)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=16))
def test_what_the_standard_reader_takes_is_taken(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        wanted = tomllib.loads(text)
    except ValueError:
        with pytest.raises(TomlFault):
            load_toml(text)
    else:
        assert repr(load_toml(text)) == repr(wanted)
