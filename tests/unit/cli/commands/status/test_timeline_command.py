"""The command timeline."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from tests.world.charms import Charms
from tests.world.commandline import Run, ok
from tests.world.controller import TestController


@pytest.fixture
def runtime(runtime: TestController, packs: Charms) -> TestController:
    """A model with two units that have run their first hooks."""
    runtime.active("web", packed=packs.make("web", peers=None))
    runtime.active("db", packed=packs.make("db", peers=None))
    runtime.focus()
    return runtime


def test_the_table_has_a_row_for_each_unit(runtime: TestController, run: Run) -> None:
    lines = ok(run("timeline", "--utc")).splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["Unit", "web/0", "db/0"]


@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1", "C.UTF-8", "en_GB.utf8", ""])
def test_the_table_is_ascii_where_the_locale_has_no_utf8(
    runtime: TestController, run: Run, locale: str
) -> None:
    printed = ok(run("timeline", env={"LC_ALL": locale, "LANG": "C.UTF-8"}))
    assert printed.isascii() is (bool(locale) and "utf" not in locale.lower())


def test_json_has_the_runs_of_hooks(runtime: TestController, run: Run) -> None:
    shown = json.loads(ok(run("timeline", "--all", "--format", "json")))
    assert shown == json.loads(ok(run("hooks", "--limit", "0", "--format", "json")))


def test_units_and_times_choose_what_is_shown(runtime: TestController, run: Run) -> None:
    shown = json.loads(ok(run("timeline", "web/0", "--format", "json")))
    assert {item["unit"] for item in shown} == {"web/0"}
    before = json.loads(ok(run("timeline", "--until", "2001-01-01", "--format", "json")))
    assert 'invalid value "soon" for option --until' in run("timeline", "--until", "soon").err
    assert not (before["runs"] if isinstance(before, dict) else before)
    ended = run("timeline", "--since", "2999-01-01")
    assert (ended.status, ended.out) == (0, "")
    assert "No runs to display." in ended.err


def test_svg_and_trace_hold_every_unit(runtime: TestController, run: Run) -> None:
    drawn = ok(run("timeline", "--format", "svg"))
    words = [
        element.text for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {"web/0", "db/0"} <= set(words)
    events = json.loads(ok(run("timeline", "--format", "trace")))["traceEvents"]
    assert {"web/0", "db/0"} <= {event["args"].get("name") for event in events}


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["web"], 'invalid unit name "web"'),
        (["--follow", "--format", "svg"], "--follow draws the table"),
        (["--since", "soon"], "invalid value"),
    ],
)
def test_what_it_refuses(runtime: TestController, run: Run, words: list[str], text: str) -> None:
    ended = run("timeline", *words)
    assert ended.status == 2
    assert text in ended.err


def test_an_unknown_unit_is_an_error(runtime: TestController, run: Run) -> None:
    ended = run("timeline", "nope/7")
    assert ended.status == 1
    assert 'unit "nope/7" not found' in ended.err
