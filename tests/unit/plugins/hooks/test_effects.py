"""What the tools leave behind: events, buffered writes, live calls, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushjuju.runner.remote import toolkit


def test_status_set_streams_at_once(hook: Any) -> None:
    hook.ok("status-set blocked 'no db'")
    hook.ok("status-set --application active")
    assert hook.events == [
        {"k": "status", "scope": "unit", "status": "blocked", "message": "no db"},
        {"k": "status", "scope": "app", "status": "active", "message": ""},
    ]
    assert hook.writes == {"status_set": True}


def test_status_set_keeps_lines_and_dashes(hook: Any) -> None:
    hook.run("status-set", "--", "active", "-- a\nb --")
    assert hook.events[0]["message"] == "-- a\nb --"


def test_refused_status_set_leaves_nothing(hook: Any) -> None:
    hook.context["leader"] = False
    hook.fails("status-set --application active")
    hook.fails("status-set nonsense")
    assert (hook.events, hook.writes) == ([], {})


@pytest.mark.parametrize(
    ("line", "level", "message"),
    [
        ("juju-log hello world", "INFO", "hello world"),
        ("juju-log --debug -l ERROR x", "DEBUG", "x"),
        ("juju-log -l warn x", "WARNING", "x"),
        ("juju-log -lWARNING x", "WARNING", "x"),
        ("juju-log --log-level=critical x", "CRITICAL", "x"),
        ("juju-log -l trace -- -x-", "TRACE", "-x-"),
        ("juju-log ''", "INFO", ""),
        ("juju-log 'two\nlines'", "INFO", "two\nlines"),
    ],
)
def test_juju_log(hook: Any, line: str, level: str, message: str) -> None:
    hook.ok(line)
    assert hook.events == [{"k": "log", "level": level, "module": "unit.web/0.juju-log", "message": message}]


def test_juju_log_with_an_unknown_level(hook: Any) -> None:
    hook.in_relation_hook("changed", 1, "pg/0")
    hook.ok("juju-log -l LOUD x")
    assert [(event["level"], event["message"]) for event in hook.events] == [
        ("WARNING", 'Specified log level of "LOUD" is not valid'),
        ("INFO", "db:1: x"),
    ]


@pytest.mark.parametrize(
    "line", ["juju-log --format json x", "open-port --format json 80", "close-port --format x 80"]
)
def test_deprecated_format_warns_without_a_newline(hook: Any, line: str) -> None:
    name = line.split(maxsplit=1)[0]
    assert hook.line(line) == (0, "", f'--format flag deprecated for command "{name}"')


def test_deprecated_format_of_relation_set(hook: Any) -> None:
    answer = hook.line("relation-set -r 1 --format=json a=b")
    assert answer == (0, "", '--format flag deprecated for command "relation-set"')
    assert hook.writes["relations"]["1"]["unit"] == {"a": "b"}


def test_application_version_set(hook: Any) -> None:
    hook.ok("application-version-set 14.2")
    hook.ok("application-version-set ''")
    assert hook.events == [{"k": "version", "version": "14.2"}, {"k": "version", "version": ""}]


def test_relation_set_is_buffered_per_relation_and_bag(hook: Any) -> None:
    hook.ok("relation-set -r 1 a=1 b=2")
    hook.ok("relation-set -r 1 b= c=3")
    hook.ok("relation-set -r 0 --app d=4")
    assert hook.writes == {
        "relations": {"1": {"unit": {"a": "1", "b": None, "c": "3"}}, "0": {"app": {"d": "4"}}}
    }
    assert hook.events == []


def test_reads_leave_no_writes(hook: Any) -> None:
    for line in (
        "relation-get -r 1 - web/0",
        "relation-get -r 0 --app - web",
        "opened-ports",
        "state-get",
        "leader-get",
        "config-get",
        "relation-set -r 1",
        "state-set",
        "state-delete",
    ):
        hook.ok(line)
    assert (hook.writes, hook.events, hook.live) == ({}, [], [])


def test_relation_set_reads_a_file_of_the_callers_directory(hook: Any) -> None:
    (hook.cwd / "s.json").write_text('{"a": "x\\ud83d\\ude00\\/y", "n": 1.0}')
    hook.ok("relation-set -r 1 --file s.json")
    assert hook.writes["relations"]["1"]["unit"] == {"a": "x😀/y", "n": "1.0"}


def test_values_that_are_not_utf8(hook: Any) -> None:
    hook.run("relation-set", "-r", "1", "a=\udcff!")
    assert hook.writes["relations"]["1"]["unit"] == {"a": "\ufffd!"}
    hook.run("status-set", "active", "caf\udce9")
    assert hook.events[0]["message"] == "caf\ufffd"


def test_state_limits(hook: Any) -> None:
    hook.run("state-set", "k" * 256 + "=" + "v" * 65536)
    hook.again()
    assert hook.run("state-set", "k" * 257 + "=v")[2] == b"ERROR max allowed key length (256) exceeded\n"
    assert (
        hook.run("state-set", "k=" + "v" * 65537)[2] == b"ERROR max allowed value length (65536) exceeded\n"
    )
    assert hook.run("state-set", "é" * 129 + "=v")[0] == 1
    assert hook.writes == {}


def test_state_writes(hook: Any) -> None:
    hook.ok("state-set a=1 b=")
    hook.ok("state-delete c")
    assert hook.writes == {"state": {"a": "1", "b": "", "c": None}}


def test_port_writes(hook: Any) -> None:
    hook.ok("open-port 80")
    hook.ok("open-port --endpoints db,site 10-20/udp")
    hook.ok("open-port icmp")
    hook.ok("close-port --endpoints db 10-20/udp")
    hook.ok("close-port 443")
    assert hook.writes["ports"] == {
        "open": [
            {"endpoint": "", "protocol": "tcp", "from": 80, "to": 80},
            {"endpoint": "site", "protocol": "udp", "from": 10, "to": 20},
            {"endpoint": "", "protocol": "icmp", "from": -1, "to": -1},
        ],
        "close": [],
    }


def test_open_port_cancels_a_pending_close(hook: Any) -> None:
    hook.context["ports"]["unit"] = [{"endpoint": "", "protocol": "tcp", "from": 80, "to": 80}]
    hook.ok("close-port 80")
    assert len(hook.writes["ports"]["close"]) == 1
    hook.ok("open-port 80")
    assert hook.writes["ports"] == {"open": [], "close": []}


def test_leader_set_asks_the_controller_once_and_reads_it_back(hook: Any) -> None:
    hook.ok("leader-set a=1 b=")
    assert hook.live == [("leader-set", ["--", "a=1", "b="])]
    assert hook.ok("leader-get a") == "1\n"
    assert hook.writes == {}


def test_leader_set_passes_the_controllers_refusal_on(hook: Any) -> None:
    hook.live_answer = (1, b"", b"ERROR cannot write leadership settings: lost\n")
    assert hook.line("leader-set a=1") == (1, "", "ERROR cannot write leadership settings: lost\n")
    assert hook.ok("leader-get") == "{}\n"


def test_leader_set_by_another_unit_asks_nobody(hook: Any) -> None:
    hook.context["leader"] = False
    hook.fails("leader-set a=1")
    assert hook.live == []


@pytest.mark.parametrize(("line", "kept"), [("juju-reboot", "after"), ("juju-reboot --now", "now")])
def test_reboot(hook: Any, line: str, kept: str) -> None:
    hook.ok(line)
    assert hook.writes == {"reboot": kept}


def test_output_goes_to_a_file(hook: Any) -> None:
    out = hook.cwd / "out.json"
    assert hook.ok("config-get --format json -o out.json port") == ""
    assert out.read_bytes() == b"8080\n"
    assert hook.ok(f"config-get --output={out} motd") == ""
    assert out.read_bytes() == b""


def test_output_expands_home(hook: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    hook.ok("is-leader -o ~/leader")
    assert (tmp_path / "home" / "leader").read_text() == "True\n"


def test_output_that_cannot_be_written(hook: Any) -> None:
    assert hook.fails("config-get -o missing/x") == (
        1,
        f"open {hook.cwd}/missing/x: no such file or directory",
    )
    (hook.cwd / "dir").mkdir()
    assert hook.fails("config-get -o dir") == (1, f"open {hook.cwd}/dir: is a directory")


def test_a_failing_tool_writes_no_output_file(hook: Any) -> None:
    hook.fails("relation-get -r 1 --output f - pg/9")
    assert not (hook.cwd / "f").exists()


def test_help_of_every_tool(hook: Any) -> None:
    from pushjuju.plugins.hooks import relations

    text = hook.ok("relation-set --help")
    assert text.startswith(
        "Usage: relation-set [options] <key>=<value> [...]\n\nSummary:\nSet relation settings.\n"
    )
    assert "\nOptions:\n--app (= false)\n    " in text
    assert '\n--file (= "")\n' in text
    assert "\n-r, --relation (= )\n" in text
    assert text == hook.ok("relation-set -r 1 -h")
    assert '\n-o, --output (= "")\n' in hook.ok("relation-get -h")
    assert "relation-get" in relations.TOOLS
    assert hook.ok("application-version-set --help").startswith(
        "Usage: application-version-set <new-version>\n"
    )
    assert "Options:" not in hook.ok("application-version-set --help")
    assert hook.ok("pod-spec-set --help").startswith("Usage: pod-spec-set\n")
    # An earlier fault wins over help, as the arguments are read from left to right.
    assert hook.fails("relation-set -r 9 --help")[0] == 2


def test_a_fault_in_a_tool_is_an_answer(hook: Any) -> None:
    def broken(ctx: toolkit.ToolContext, args: toolkit.Args) -> None:
        raise KeyError("x")

    registry = {"broken": toolkit.Tool("broken", broken, summary="")}
    answer = toolkit.run_tool(
        registry,
        "broken",
        [],
        {},
        {},
        stdin=bytes,
        cwd="/",
        emit=print,
        live=lambda *_: (0, b"", b""),
        reads={},
    )
    assert answer == (1, b"", b"ERROR broken: internal error: KeyError: 'x'\n")


def test_what_an_action_says(hook: Any) -> None:
    hook.context["action"] = {"name": "backup", "id": "2", "params": {}}
    hook.ok("action-set out.size=10G out.file=a.gz flat=1 empty=")
    hook.ok("action-set flat.more=x out.size=' 11G '")
    hook.ok("action-fail first")
    hook.ok("action-fail 'at last'")
    hook.ok("action-log step 1 of 2")
    assert hook.writes["action"] == {
        "results": {"out": {"size": " 11G ", "file": "a.gz"}, "flat": {"more": "x"}, "empty": ""},
        "failed": True,
        "message": "at last",
    }
    assert hook.events == [{"k": "action-log", "message": "step 1 of 2"}]
    hook.ok("action-set out=gone")
    hook.ok("action-fail")
    assert hook.writes["action"]["results"]["out"] == "gone"
    assert hook.writes["action"]["message"] == "action failed without reason given, check action for errors"


def test_a_refused_result_leaves_nothing(hook: Any) -> None:
    hook.context["action"] = {"name": "backup", "id": "2", "params": {}}
    hook.fails("action-set a=1 B=2")
    assert "action" not in hook.writes


def test_payloads_are_the_controllers(hook: Any) -> None:
    hook.context["payload_classes"] = {"web": "docker"}
    hook.ok("payload-register docker web 1 a b")
    hook.ok("payload-status-set web 1 stopping")
    hook.ok("payload-unregister web 1")
    assert hook.live == [
        ("payload-register", ["--", "docker", "web", "1", "a", "b"]),
        ("payload-status-set", ["--", "web", "1", "stopping"]),
        ("payload-unregister", ["--", "web", "1"]),
    ]


@pytest.mark.parametrize(
    ("line", "what", "word"), [("add-metric k=", "metrics", "k="), ("add-metric -l x,y=1 k=1", "labels", "x")]
)
def test_add_metric_says_which_pairs_are_wrong(hook: Any, line: str, what: str, word: str) -> None:
    assert hook.fails(line) == (2, f'invalid {what}: expected "key=value", got "{word}"')
