"""The flag parser follows gnuflag's rules and texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.cli.syntax.gnuflag import FlagSet, FlagSpec, Kind
from pushjuju.core.errors import UsageError
from pushjuju.portable.flags import HelpWanted

FLAGS = FlagSet(
    [
        FlagSpec(name="model", short="m", kind=Kind.STRING),
        FlagSpec(name="verbose", short="v"),
        FlagSpec(name="quiet", short="q"),
        FlagSpec(name="parallel", default=True),
        FlagSpec(name="num-units", short="n", kind=Kind.INT, default=1),
        FlagSpec(name="lines", kind=Kind.UINT, default=10),
        FlagSpec(name="wait", kind=Kind.DURATION, default="0s"),
        FlagSpec(name="timeout", kind=Kind.DURATION, default="unset"),
        FlagSpec(name="include", kind=Kind.LIST),
        FlagSpec(name="reset", kind=Kind.LIST, split=True),
        FlagSpec(name="unit", kind=Kind.COMMA_LIST, aliases=("u-s",)),
        FlagSpec(name="resource", kind=Kind.KEY_VALUE),
        FlagSpec(name="trust", kind=Kind.OPTIONAL_BOOL),
        FlagSpec(name="format", kind=Kind.STRING, default="tabular", choices=("tabular", "json")),
        FlagSpec(name="help", short="h"),
    ]
)


def values(*words: str) -> dict[str, object]:
    parsed = FLAGS.parse(words)
    return {key: parsed.values[key] for key in parsed.given}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--model", "x"], {"model": "x"}),
        (["--model=x=y"], {"model": "x=y"}),
        (["-m", "x"], {"model": "x"}),
        (["-mx"], {"model": "x"}),
        (["-m=x"], {"model": "=x"}),
        (["-model", "x"], {"model": "odel"}),
        (["--m", "x"], {"model": "x"}),
        (["--n=3"], {"num_units": 3}),
        (["-n3"], {"num_units": 3}),
        (["-vq"], {"verbose": True, "quiet": True}),
        (["-vn", "0x10"], {"verbose": True, "num_units": 16}),
        (["--parallel=false"], {"parallel": False}),
        (["--verbose=F"], {"verbose": False}),
        (["--model", "a", "--model", "b"], {"model": "b"}),
        (["--model", "-x"], {"model": "-x"}),
        (["--include", "a,b", "--include", "c"], {"include": ("a,b", "c")}),
        (["--reset", "a,b", "--reset", "c"], {"reset": ("a", "b", "c")}),
        (["--unit", "a", "--u-s", "b,c"], {"unit": ("b", "c")}),
        (["--wait", "1m30s"], {"wait": 90.0}),
        (["--wait=30.0s"], {"wait": 30.0}),
        (["--timeout", "0"], {"timeout": 0.0}),
        (["--trust"], {"trust": True}),
        (["--trust=false"], {"trust": False}),
        (["--resource", "a=1", "--resource", "b=x=y"], {"resource": {"a": "1", "b": "x=y"}}),
    ],
)
def test_a_flag_is_read_as_gnuflag_does(words: list[str], expected: dict[str, object]) -> None:
    assert values(*words) == expected


def test_what_is_not_given_has_its_default() -> None:
    found = FLAGS.parse([]).values
    assert found["num_units"] == 1
    assert found["lines"] == 10
    assert found["wait"] == 0.0
    assert found["timeout"] is None
    assert found["trust"] is None
    assert found["parallel"] is True
    assert found["include"] == ()
    assert found["format"] == "tabular"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--xx"], "option provided but not defined: --xx"),
        (["-x"], "option provided but not defined: -x"),
        (["--mod", "x"], "option provided but not defined: --mod"),
        (["--model"], "option needs an argument: --model"),
        (["-m"], "option needs an argument: -m"),
        (["--=x"], 'empty option in argument "--=x"'),
        (["-n", "x"], 'invalid value "x" for option -n: strconv.ParseInt: parsing "x": invalid syntax'),
        (
            ["--lines", "-1"],
            'invalid value "-1" for option --lines: strconv.ParseUint: parsing "-1": invalid syntax',
        ),
        (["--wait", "5"], 'invalid value "5" for option --wait: time: missing unit in duration "5"'),
        (
            ["--quiet=maybe"],
            'invalid value "maybe" for option --quiet: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (["--format", "xml"], 'invalid value "xml" for option --format: unknown format "xml"'),
        (
            ["--resource", "x"],
            'invalid value "x" for option --resource: badly formatted name value pair: x',
        ),
        (
            ["--resource", "x=1", "--resource", "x=2"],
            'invalid value "x=2" for option --resource: duplicate name specified: "x"',
        ),
        (["-5"], "option provided but not defined: -5"),
    ],
)
def test_a_bad_command_line_is_refused_with_gnuflags_text(words: list[str], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        FLAGS.parse(words)
    assert str(caught.value) == text
    assert caught.value.exit_code == 2


def test_flags_and_arguments_mix() -> None:
    parsed = FLAGS.parse(["a", "-m", "x", "b", "-", "-v", "--", "-q", "--", "c"])
    assert parsed.args == ["a", "b", "-", "-q", "--", "c"]
    assert parsed.given == {"model", "verbose"}


def test_the_ssh_family_stops_at_the_first_argument() -> None:
    parsed = FLAGS.parse(["-m", "x", "web/0", "-v", "--", "ls", "-l"], interspersed=False)
    assert parsed.args == ["web/0", "-v", "--", "ls", "-l"]
    assert parsed.given == {"model"}


def test_two_dashes_in_front_of_raw_arguments_vanish() -> None:
    assert FLAGS.parse(["-m", "x", "--", "-r", "a", "b:"], interspersed=False).args == ["-r", "a", "b:"]


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["a", "--help", "--nonsense"], ["-vh"]])
def test_help_stops_the_reading(words: list[str]) -> None:
    with pytest.raises(HelpWanted):
        FLAGS.parse(words)


def test_values_from_before_the_command_stay() -> None:
    assert FLAGS.parse([], start={"verbose": True}).values["verbose"] is True
    assert FLAGS.parse(["--verbose=false"], start={"verbose": True}).values["verbose"] is False


@given(st.lists(st.text(min_size=1).filter(lambda word: not word.startswith("-"))))
def test_words_without_dash_are_arguments(words: list[str]) -> None:
    assert FLAGS.parse(words).args == words
