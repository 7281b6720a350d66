"""What an honest machine says, to be spoilt: results, events and other messages."""

from __future__ import annotations

from typing import Any

from tests.world.scripted import HELLO

PORT = {"endpoint": "site", "protocol": "tcp", "from": 80, "to": 90}
EVENTS: list[dict[str, Any]] = [
    {"k": "log", "level": "INFO", "module": "unit.web/1.juju-log", "message": "hello", "time": 1.5},
    {"k": "output", "stream": "stderr", "line": "oops", "time": 2.5},
    {"k": "status", "scope": "unit", "status": "active", "message": "ready", "time": None},
    {"k": "status", "scope": "app", "status": "blocked", "message": "mine", "time": None},
    {"k": "action-log", "message": "half way", "time": 3},
    {"k": "version", "version": "1.2.3", "time": None},
]
NUMBERED = [{"seq": number, "e": event} for number, event in enumerate(EVENTS, 1)]
HOOK: dict[str, Any] = {
    "t": "result", "id": "x", "outcome": "ok", "exit": 0, "signal": None, "via": "hook", "message": "",
    "reboot": "", "started": 1.0, "ended": 2.0, "recovered": False, "events": NUMBERED,
    "timed": {"calls": [["status-set", 10, 20, 0]], "more": 1},
    "writes": {
        "reboot": "", "status_set": True,
        "relations": {
            "0": {"unit": {"a": "1", "b": None}, "app": {}},
            "1": {"unit": {"c": "d"}, "app": {"e": "f"}},
        },
        "ports": {"open": [PORT], "close": [PORT]},
        "state": {"key": "value", "gone": None},
        "action": {"failed": False, "message": "", "results": {"a": {"b": "c"}}},
    },
}  # fmt: skip
ACTION = {**HOOK, "stdout": "out", "stderr": "aGk=", "stderr-encoding": "base64"}
CALL = {
    "t": "live",
    "id": "op",
    "call": 1,
    "tool": "leader-set",
    "argv": ["--", "a=b"],
    "stdin": "",
    "cwd": "/",
}
MESSAGES: list[dict[str, Any]] = [
    dict(ACTION, id="op"),
    dict(HOOK, id="other"),
    {"t": "event", "id": "op", "seq": 1, "es": NUMBERED},
    CALL,
    {"t": "ok", "sha256": "00"},
    {"t": "put-error", "sha256": "00", "message": "no", "errno": 28},
    {"t": "error", "id": "op", "message": "unknown frame"},
    {"t": "requests", "requests": HELLO["requests"]},
    {"t": "facts", "hostname": "m", "nics": HELLO["nics"], "gateway": "10.0.0.1"},
    {"t": "pong", "id": None},
]
