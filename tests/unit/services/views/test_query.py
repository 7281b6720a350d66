"""The language of `wait-for`: what holds, what does not, and how errors show their place."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.services.views.query.faults import BadQuery
from pushjuju.services.views.query.run import Asked, Query, Scope, Scopes


def _scope(kind: str, **values: Any) -> Scope:
    def reads(value: Any) -> Callable[[], Any]:
        return lambda: value

    named = {name.replace("_", "-"): reads(value) for name, value in values.items()}
    return Scope(kind=kind, values=named, asked=Asked())


def _app(**more: Any) -> Scope:
    units = Scopes(
        {
            "pg/0": _scope("UnitInfo", workload_status="active", name="pg/0"),
            "pg/1": _scope("UnitInfo", workload_status="waiting", name="pg/1"),
        }
    )
    values = {
        "name": "pg", "life": "alive", "status": "active", "exposed": False, "min_units": 2, "units": units,
        "machines": Scopes(), "config": {"a": "b", "n": 3}, "supported_containers": ["lxd", "kvm"],
        "workload_version": "14",
    }  # fmt: skip
    return _scope("ApplicationInfo", **{**values, **more})


@pytest.mark.parametrize(
    "text",
    [
        'life=="alive" && status=="active"',
        "life=='alive'",
        'name=="pg" && (status=="active" || status=="idle")',
        'status=="x" || status=="active" && life=="alive"',
        'name=="no" && nothing=="read" || exposed==false',
        "min-units > 1 && min-units >= 2 && min-units < 3 && min-units <= 2 && 1 < min-units",
        'name < "ph" && name != "ph"',
        "1.5 < 2.5",
        "exposed != TRUE",
        "min-units",
        "len(units) == 2",
        "len(name) == 2 && len(config) == 2 && len(supported-containers) == 2",
        'forEach(units, u => startsWith(u.name, "pg/"))',
        "forEach(machines, m => false)",
        'forEach(units, u => u.workload-status == "active" || endsWith(u.name, "/1"))',
        "forEach(units, u => forEach(units, v => len(v.name) == len(u.name)))",
        "forEach(units, u => false; true)",
        'config["a"] == "b" && config.n == 3',
        'supported-containers[1] == "kvm"',
        "int(workload-version) >= 14",
        "(((true)))",
        'life == "alive"; nonsense',
        'life==\n"alive"',
    ],
)
def test_it_holds(text: str) -> None:
    assert Query(text).holds(_app())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "false",
        'status=="blocked"',
        "min-units == 1",
        'min-units == "2"',
        "exposed",
        "0",
        '""',
        "machines",
        'forEach(units, u => u.workload-status=="active")',
        "1 < 1.5",
        "units == units",
    ],
)
def test_it_does_not_hold(text: str) -> None:
    assert not Query(text).holds(_app())


TYPE = "The type doesn't match the expected syntax. Maybe try removing the character and try again."
QUOTE = "Try adding a closing quote to the string."


@pytest.mark.parametrize(
    ("text", "reason", "mark", "advice"),
    [
        ('(life=="alive"', "expected )", '1 | (life=="alive"\n                  ^', TYPE),
        ('life=="alive', "string is not correctly terminated", '1 | life=="alive\n          ^', QUOTE),
        ('life=="a" &&\n !exposed', "unexpected character", "2 |  !exposed\n     ^", "!"),
        ("life==", "expected an expression", "1 | life==\n          ^", TYPE),
        ("life $ 3", "unexpected character", "1 | life $ 3\n         ^", "$"),
        ("len(1, ]", "unexpected character", "1 | len(1, ]\n           ^", "]"),
    ],
)
def test_errors_of_the_grammar_show_their_place(text: str, reason: str, mark: str, advice: str) -> None:
    with pytest.raises(BadQuery) as caught:
        Query(text)
    if len(advice) == 1:
        advice = f"wait-for doesn't support '{advice}'. Maybe try removing the character and try again."
    assert caught.value.message == f"Cannot parse query: {reason}.\n\n{mark}\n{advice}"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("lief", 'No possible matches for "lief" on ApplicationInfo\nDid you mean:\n\n    life\n'),
        (
            "forEach(units, u => u.nam)",
            'No possible matches for "nam" on UnitInfo\nDid you mean:\n\n    name\n',
        ),
        ("forEch(units, u => true)", 'wait-for has no function "forEch".\nDid you mean:\n\n    forEach\n'),
        ("len(1)", "wait-for requires the argument of len to be a string, a list or a map, got int64"),
        ("len()", "number of arguments for a function call to be 1, but got: 0"),
        ("name && true", "invalid AND (&&) operator"),
        ("false || name", "each side of the || operator can be evaluated to a boolean"),
        ('config["z"]', 'index "z" to be in the map'),
        ("supported-containers[7]", "index 7 to be in range of the list"),
        ('int("x")', 'argument of int to be a number, got "x"'),
        ("name.x", "value before .x to be an entity or a map, got string"),
        ("forEach(units, true)", "second argument of forEach to be a lambda, got bool"),
        ("startsWith(name, 1)", "arguments of startsWith to be strings, got int64"),
    ],
)
def test_errors_while_it_runs(text: str, part: str) -> None:
    with pytest.raises(BadQuery) as caught:
        Query(text).holds(_app())
    assert part in caught.value.message
    assert f"1 | {text}" in caught.value.message


def test_brackets_may_not_be_nested_without_end() -> None:
    with pytest.raises(BadQuery, match="too deeply"):
        Query("(" * 5000)


def test_print_shows_a_value_and_is_it() -> None:
    said: list[str] = []
    assert Query("print(len(units)) == 2", said.append).holds(_app())
    assert said == ["2\n"]


def test_what_was_asked_is_taken_down() -> None:
    scope = _app()
    Query('life=="alive" && forEach(units, u => u.name != "")').holds(scope)
    assert scope.asked.values == {"life": "alive"}
    assert scope.asked.within["units"]["pg/1"].values == {"name": "pg/1"}


@given(st.text(alphabet="abu \n\"'()[]{}=!<>&|.,;_-0123456789é$", max_size=60))
def test_any_text_is_answered_or_refused(text: str) -> None:
    with contextlib.suppress(BadQuery):
        Query(text).holds(_app())
