"""The command line of juju-exec: what it asks for, and what it says when it is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.portable.flags import HelpWanted
from pushjuju.runner.remote.tools import jujuexec
from pushjuju.runner.remote.tools.jujuexec import Failed, parse

ONE, TWO = ["web/0"], ["agent/3", "web/0"]
PLAIN = {
    "unit": "web/0",
    "script": "date",
    "relation": None,
    "remote_unit": "",
    "remote_app": "",
    "force": False,
}

ASKED: list[tuple[str, list[str], list[str], dict[str, Any]]] = [
    ("name", ["web/0", "date"], TWO, {}),
    ("tag", ["unit-web-0", "date"], TWO, {}),
    ("by flag", ["-u", "web/0", "date"], TWO, {}),
    ("tag by flag", ["-uunit-web-0", "date"], TWO, {}),
    ("flag behind", ["date", "-u", "web/0"], TWO, {}),
    ("all positionals are commands", ["-u", "web/0", "web/0", "date"], TWO, {"script": "web/0 date"}),
    ("left out", ["date"], ONE, {}),
    ("left out by flag", ["-u", "", "date"], ONE, {}),
    ("left out, a dash in the command", ["apt-get update"], ONE, {"script": "apt-get update"}),
    ("one is shell text", ["web/0", "a; b | c"], ONE, {"script": "a; b | c"}),
    ("several are quoted", ["web/0", "echo", "a b", ""], ONE, {"script": "echo 'a b' ''"}),
    ("with quotes", ["web/0", "echo", "it's"], ONE, {"script": "echo 'it'\"'\"'s'"}),
    ("flags of the commands", ["web/0", "--", "ls", "-l"], ONE, {"script": "ls -l"}),
    ("relation", ["-r", "db:3", "web/0", "date"], ONE, {"relation": 3}),
    ("relation number", ["--relation=3", "web/0", "date"], ONE, {"relation": 3}),
    ("relation zero", ["-r0", "web/0", "date"], ONE, {"relation": 0}),
    (
        "all of a relation",
        ["-r", "1", "--remote-unit", "a/1", "--remote-app", "a", "--force-remote-unit", "web/0", "date"],
        ONE,
        {"relation": 1, "remote_unit": "a/1", "remote_app": "a", "force": True},
    ),
]  # fmt: skip

REFUSED: list[tuple[str, list[str], list[str], int, str]] = [
    ("nothing", [], TWO, 2, "missing unit-name"),
    ("nothing, one unit", [], ONE, 2, "missing unit-name"),
    ("no commands", ["web/0"], ONE, 2, "missing commands"),
    ("no commands by flag", ["-u", "web/0"], ONE, 2, "missing commands"),
    ("no commands, inferred", ["-u", ""], ONE, 2, "missing commands"),
    ("no commands without context", ["--no-context"], ONE, 2, "missing commands"),
    (
        "both",
        ["--no-context", "-u", "web/0", "date"],
        ONE,
        2,
        '-no-context cannot be passed with an explicit unit-name (-u "web/0")',
    ),
    ("no unit", ["bad", "date"], TWO, 2, '"bad" is not a valid tag'),
    ("a bad tag", ["unit-bad", "date"], TWO, 2, '"unit-bad" is not a valid unit tag'),
    ("another tag", ["-u", "machine-0", "date"], ONE, 2, '"machine-0" is not a valid unit tag'),
    ("a bad name", ["-u", "web/x", "date"], ONE, 2, '"web/x" is not a valid unit name'),
    ("a path is no unit", ["-u", "../../etc/0", "date"], ONE, 2, '"../../etc/0" is not a valid unit name'),
    ("not here", ["web/7", "date"], TWO, 1, 'unit "web/7" not found on this machine'),
    ("which one", ["-u", "", "date"], TWO, 1, "cannot infer the unit: this machine has agent/3, web/0"),
    ("no one", ["-u", "", "date"], [], 1, "cannot infer the unit: this machine has none"),
    ("no number", ["-r", "db:x", "web/0", "date"], ONE, 1, "invalid relation id"),
    ("bad remote unit", ["-r", "1", "--remote-unit", "a", "web/0", "date"], ONE, 1, "invalid remote unit: a"),
    (
        "no relation",
        ["--remote-unit", "a/0", "web/0", "date"],
        ONE,
        1,
        "remote unit provided without a relation: a/0",
    ),
    ("unknown flag", ["--nope", "web/0", "date"], ONE, 2, "option provided but not defined: --nope"),
    ("no value", ["web/0", "date", "-r"], ONE, 2, "option needs an argument: -r"),
    ("bytes", ["web/0", "printf \udcff"], ONE, 2, "the commands are not UTF-8"),
    ("kubernetes", ["--operator", "web/0", "date"], ONE, 2, "--operator is for charms on Kubernetes"),
]


@pytest.mark.parametrize(("argv", "units", "more"), [row[1:] for row in ASKED], ids=[row[0] for row in ASKED])
def test_what_is_asked_for(argv: list[str], units: list[str], more: dict[str, Any]) -> None:
    assert parse(argv, {}, units) == PLAIN | more


@pytest.mark.parametrize(
    ("argv", "units", "code", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_is_refused(argv: list[str], units: list[str], code: int, text: str) -> None:
    with pytest.raises(Failed) as caught:
        parse(argv, {}, units)
    assert (str(caught.value), caught.value.code) == (text, code)


@pytest.mark.parametrize("argv", [["web/0", "date"], ["--no-context", "date"], []])
def test_never_inside_a_hook(argv: list[str]) -> None:
    with pytest.raises(Failed) as caught:
        parse(argv, {"JUJU_CONTEXT_ID": "web/0-start-1"}, ONE)
    text = 'juju-exec cannot be called from within a hook, have context "web/0-start-1"'
    assert (str(caught.value), caught.value.code) == (text, 2)


def test_without_context_there_is_no_unit() -> None:
    assert parse(["--no-context", "web/0", "date"], {}, TWO) == {"unit": "", "script": "web/0 date"}


def test_help() -> None:
    with pytest.raises(HelpWanted):
        parse(["--help"], {}, ONE)


def test_help_names_every_flag(capfd: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    import signal

    kept = {number: signal.getsignal(number) for number in (1, 2, 15)}
    try:
        assert jujuexec.main(["-h"], {}, str(tmp_path)) == 0
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    text = capfd.readouterr().out
    assert text.startswith("Usage: juju-exec [options] [UNIT] COMMANDS\n")
    for flag in jujuexec.FLAGS:
        assert all(f"-{name}" in text for name in flag.names)
