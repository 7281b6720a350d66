"""Juju's flag syntax: one reader for commands, hook tools and juju-exec."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.portable.flags import (
    Flag,
    FlagTable,
    HelpWanted,
    UnknownFlag,
    UsageError,
    help_text,
    parse,
    read,
)
from pushjuju.portable.quote import atoi

FLAGS = (
    Flag("r", "relation", help="A relation", default=None, convert=lambda _, text: atoi(text)),
    Flag("o", "output", help="A file"),
    Flag("a", help="All", boolean=True),
    Flag("strict", help="Strictly", boolean=True),
)
TABLE = FlagTable(FLAGS)
NOTHING = {"relation": None, "output": "", "a": False, "strict": False}


@pytest.mark.parametrize(
    ("words", "values", "positional"),
    [
        ([], {}, []),
        (["x", "-r", "1", "-", "y"], {"relation": 1}, ["x", "-", "y"]),
        (["-r1"], {"relation": 1}, []),
        (["--r=1"], {"relation": 1}, []),
        (["-o=x"], {"output": "=x"}, []),
        (["-ao", "x"], {"a": True, "output": "x"}, []),
        (["--a", "--strict=false"], {"a": True, "strict": False}, []),
        (["--output", "a", "-o", "b"], {"output": "b"}, []),
        (["-o", "--"], {"output": "--"}, []),
        (["a", "--", "-a", "--"], {}, ["a", "-a", "--"]),
    ],
)
def test_flags_and_arguments_mix(words: list[str], values: dict[str, object], positional: list[str]) -> None:
    assert parse(TABLE, words, None) == ({**NOTHING, **values}, positional)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--out", "x"], "option provided but not defined: --out"),
        (["-ax"], "option provided but not defined: -x"),
        (["-o"], "option needs an argument: -o"),
        (["--=x"], 'empty option in argument "--=x"'),
        (["-r", "x"], 'invalid value "x" for option -r: strconv.Atoi: parsing "x": invalid syntax'),
        (["-a=1"], 'invalid value "=1" for option -a: strconv.ParseBool: parsing "=1": invalid syntax'),
    ],
)
def test_a_bad_command_line_is_refused_with_jujus_text(words: list[str], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(TABLE, words, None)
    assert str(caught.value) == text


def test_the_first_argument_may_end_the_flags() -> None:
    names = {name: flag for flag in FLAGS for name in flag.names}
    seen: list[tuple[str, str]] = []
    found = read(
        names, ["-a", "x", "-o", "--"], lambda _, name, text: seen.append((name, text)), interspersed=False
    )
    assert (found, seen) == (["x", "-o", "--"], [("a", "true")])


def test_the_name_of_an_unknown_flag_is_known_to_who_looks_for_a_near_one() -> None:
    with pytest.raises(UnknownFlag) as caught:
        parse(TABLE, ["--relatoin=1"], None)
    assert caught.value.name == "relatoin"


def test_help_counts_before_what_follows() -> None:
    for words in (["-h"], ["--help", "--nonsense"], ["-ah"]):
        with pytest.raises(HelpWanted):
            parse(TABLE, words, None)
    with pytest.raises(UsageError):
        parse(TABLE, ["--nonsense", "--help"], None)


def test_help_lists_the_flags_with_their_defaults() -> None:
    text = help_text("tool", usage="<x>", summary="Do.", details="More.", flags=FLAGS[1:3])
    assert text == (
        "Usage: tool [options] <x>\n\nSummary:\nDo.\n\nOptions:\n-a (= false)\n    All\n"
        '-o, --output (= "")\n    A file\n\nDetails:\nMore.\n'
    )


@given(st.lists(st.text(min_size=1).filter(lambda word: not word.startswith("-"))))
def test_words_without_dash_are_arguments(words: list[str]) -> None:
    assert parse(TABLE, words, None) == (NOTHING, words)
