"""notify: targets are added, listed, tried and removed at the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.plugins.notifiers.receivers import web
from tests.world.commandline import Run, ok

pytestmark = pytest.mark.usefixtures("unworked")


def test_a_target_from_its_file_to_its_removal(lab: Run, tmp_path: Path) -> None:
    with web() as posted:
        file = tmp_path / "address"
        file.write_text(f"http://127.0.0.1:{posted.port}/s3cret\nk3y\n")
        added = lab("notify", "add", "chat", "--file", str(file), "--events", "unit.*", "--models", "shop")
        assert added.err.splitlines() == [
            f"Added target chat: http://127.0.0.1:{posted.port}/…",
            "next: pushjuju notify test chat",
        ]
        assert lab("notify", "test", "chat").err == "Target chat has taken the event\n"
        assert posted.events == ["test"]
        assert "X-Pushjuju-Signature" in posted.requests[0][1]
        posted.status = 403
        assert "answered with status 403" in lab("notify", "test", "chat").err
        heads, line = ok(lab("notify", "list")).splitlines()
    assert heads.split() == ["Target", "Address", "Events", "Models", "Waiting", "State"]
    assert line.split() == ["chat", f"http://127.0.0.1:{posted.port}/…", "unit.*", "shop", "0", "ok"]
    (document,) = json.loads(ok(lab("notify", "list", "--format", "json")))
    assert (document["events"], document["models"], document["body"]) == (["unit.*"], ["shop"], "json")
    assert "s3cret" not in str(ok(lab("audit", "--format", "json"))) + line
    assert lab("notify", "remove", "chat").err == "Removed target chat\n"
    assert lab("notify", "list").err == "Nobody is told of events; next: pushjuju notify add NAME ADDRESS\n"


def test_an_address_on_the_command_line_is_in_no_audit_log(lab: Run) -> None:
    ok(lab("notify", "add", "chat", "https://hooks.example.com/services/T0/s3cret"))
    (line,) = json.loads(ok(lab("audit", "--limit", "1", "--format", "json")))
    assert (line["command"], line["arguments"]) == ("notify", ["add", "chat", "***"])


def test_the_events_and_when_they_come(lab: Run) -> None:
    lines = ok(lab("notify", "events")).splitlines()
    assert lines[1].split(maxsplit=1) == ["unit.error", "a hook of a unit failed"]
    assert "unit.error" in json.loads(ok(lab("notify", "events", "--format", "json")))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["notify"], "no subcommand specified"),
        (["notify", "ring"], 'unknown subcommand "ring"'),
        (["notify", "add", "chat"], "say where events go"),
        (["notify", "add", "chat", "https://h/", "--file", "-"], "say where events go"),
        (["notify", "list", "--body", "text"], "notify list does not take that flag"),
        (["notify", "test"], "usage: notify test NAME"),
        (["notify", "add", "chat", "--file", "/nonexistent"], "cannot read /nonexistent"),
        (["notify", "add", "chat", "--file", "/dev/null"], "has not one or two lines"),
    ],
)
def test_words_that_do_not_fit_are_refused(lab: Run, words: list[str], told: str) -> None:
    refused = lab(*words)
    assert refused.status == 2
    assert told in refused.err


def test_what_cannot_be_a_target_is_refused(lab: Run) -> None:
    assert "without encryption" in lab("notify", "add", "x", "http://example.com/").err
    assert "cannot be used" in lab("notify", "add", "x", "command:page").err
    assert 'target "x" not found' in lab("notify", "remove", "x").err
