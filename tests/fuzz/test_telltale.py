"""What people, charms and machines keep secret is in no metric, span, event, audit line or log line.

A mark stands in everything that they can set. The messages of statuses, and of hooks and actions that fail,
are meant to be read and have none.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pushjuju.workers import background, serving
from tests.unit.plugins.notifiers.receivers import Posted, web
from tests.world.charm_trees import charm_tree
from tests.world.commandline import ok
from tests.world.machine import event
from tests.world.played_home import PlayedHome
from tests.world.span_receiver import SpanReceiver, span_receiver

MARK = "telltale-3f9c"
CONTENT = f"{MARK}-content"  # hidden in the log of the model, where the plain mark is not
CODED = base64.b64encode(CONTENT.encode()).decode()
SECRET = "9m4e2mr0ui3e8a215n4g"
METADATA = "name: web\nsummary: s\ndescription: d\nseries: [noble]\npeers: {ring: {interface: ring}}\n"
FILES = {
    "config.yaml": "options: {title: {type: string}}\n",
    "actions.yaml": "back-up: {params: {password: {type: string}}}\n",
}
PRINTED = [
    event(1, "log", level="ERROR", module="unit.web/0.juju-log", message=MARK),
    event(2, "output", stream="stderr", line=MARK),
]
WRITES = {
    "state": {"token": MARK},
    "relations": {"0": {"unit": {"password": MARK}, "app": {"password": MARK}}},
    "secrets": {"create": {SECRET: {"content": {"token": CODED}, "owner": "application", "label": MARK}}},
}
TIMED = {"calls": [[MARK, 1, 1, 0], ["config-get", 2, 1, 0], [f"config-get {MARK}", 3, 1, 0]], "more": MARK}
START = {
    "writes": WRITES,
    "events": PRINTED,
    "live": [("leader-set", [f"token={MARK}"]), (MARK, [MARK])],
    "timed": TIMED,
    "message": MARK,
}
FAILED = {"outcome": "failed", "exit": 1, "events": PRINTED, "code": MARK, "trace": MARK}
ACTION = {
    **FAILED,
    "stdout": MARK,
    "stderr": MARK,
    "writes": {"action": {"failed": True, "message": "no room", "results": {"password": MARK}}},
}

PLACES = (
    ("config", "web", "title"),
    ("model-config", "http-proxy"),
    ("show-secret", "own", "--reveal"),
    ("show-secret", SECRET, "--reveal"),
    ("show-unit", "web/0"),
    ("show-task", "2"),
    ("show-task", "4"),
    ("debug-log",),
)


@pytest.fixture
def collector() -> Iterator[SpanReceiver]:
    with span_receiver() as found:
        yield found


@pytest.fixture
def chat() -> Iterator[Posted]:
    with web() as found:
        yield found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collector: SpanReceiver) -> PlayedHome:
    """A home whose commands leave the work to a process, which writes its log as JSON."""
    monkeypatch.setattr(background, "ensure", lambda *_: None)
    monkeypatch.setattr(serving, "LINGER_S", 0.0)
    charm_tree(tmp_path / "web", FILES, METADATA)
    made = PlayedHome(tmp_path, _does)
    ok(made("bootstrap", "local", "home", "--add-model", "shop"))
    made.env = {**collector.env, "PUSHJUJU_WAIT": "0", "PUSHJUJU_LOG_FORMAT": "json"}
    return made


def _does(frame: Mapping[str, Any]) -> Mapping[str, Any]:
    if frame["hook"] == "config-changed" and frame["context"]["config"].get("title") == f"{MARK}-fails":
        return FAILED
    return START if frame["hook"] == "start" else {}


def _worked(home: PlayedHome) -> str:
    return home("controller", "run", "--until-idle").err


def _lived(home: PlayedHome, chat: Posted) -> str:
    """Let a model live with a mark in all that can be set; return the log of the process that worked."""
    file = home.folder / "credentials.yaml"
    file.write_text(
        f"credentials: {{aws: {{me: {{auth-type: access-key, access-key: k, secret-key: {MARK}}}}}}}\n"
    )
    ok(home("notify", "add", "chat", f"http://127.0.0.1:{chat.port}/{MARK}"))
    ok(home("add-credential", "aws", "-f", str(file), "--client"))
    ok(home("model-config", f"http-proxy=http://user:{MARK}@proxy.example.com"))
    ok(home("deploy", str(home.folder / "web"), "--config", f"title={MARK}"))
    said = _worked(home)
    ok(home("add-secret", "own", f"value={MARK}"))
    ok(home("update-secret", "own", f"value={MARK}-new"))
    ok(home("exec", "--background", "--unit", "web/0", f"echo {MARK}"))
    home.played_machines["0"].will("action", ACTION)
    home.played_machines["0"].will("commands", ACTION)
    ok(home("run", "--background", "web/0", "back-up", f"password={MARK}"))
    said += _worked(home)
    ok(home("config", "web", f"title={MARK}-fails"))
    return said + _worked(home)


def test_a_mark_in_all_that_can_be_set_stays_where_it_belongs(
    home: PlayedHome, collector: SpanReceiver, chat: Posted
) -> None:
    said = _lived(home, chat)
    told = {
        "log": said,
        "metrics": ok(home("metrics", "--per-unit")),
        "audit": ok(home("audit", "--format", "json")),
        "spans": b"".join(collector.bodies).decode(),
        "events": json.dumps([body for _, _, body in chat.requests]),
    }
    assert [name for name, text in told.items() if MARK in text or CODED in text] == []
    assert chat.events == ["task.finished", "task.finished", "unit.error"]
    names = [span["name"] for span in collector.spans]
    assert [name for name in names if name.startswith("tool")] == ["tool config-get"]
    assert {"hook start", "action back-up", "commands", "pushjuju add-credential"} <= set(names)
    for words in PLACES:
        assert MARK in ok(home(*words)), words
