"""What a machine says of an operation of a plan before anybody waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pushjuju.core import limits
from pushjuju.runner.push.heard import Ahead, Room
from pushjuju.runner.remote.base import wire

LINK: Any = object()


def live(stdin: str) -> dict[str, Any]:
    """Return a live call."""
    return {"t": "live", "id": "a", "call": 1, "tool": "goal-state", "argv": [], "stdin": stdin, "cwd": "/"}


def event(seq: int, text: str) -> dict[str, Any]:
    """Return a frame of one event."""
    line = {"k": "output", "stream": "stdout", "line": text, "time": None}
    return {"t": "event", "id": "a", "es": [{"seq": seq, "e": line}]}


def test_messages_are_kept_in_their_order() -> None:
    ahead = Ahead(Room(), LINK)
    said = [event(1, "one"), live(""), {"t": "result", "id": "a", "outcome": "ok", "events": []}]
    for message in said:
        ahead.take(message, 100)
    assert [message for message, _ in ahead.messages] == said


def test_there_is_an_end_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EVENTS", 10_000)
    monkeypatch.setattr(limits, "LIVE_CALLS", 10_000)
    with pytest.raises(wire.BadFrame, match="too many messages of one operation"):
        _flood(event(number, "x" * 500) for number in range(1, 100))
    with pytest.raises(wire.BadFrame, match="too many messages of one operation"):
        _flood(live("x" * 500) for _ in range(100))


def _flood(messages: Iterable[dict[str, Any]]) -> None:
    ahead = Ahead(Room(), LINK)
    for message in messages:
        ahead.take(message, 100)


@pytest.mark.parametrize("message", [{"t": "live"}, {"t": "event", "es": 7}, {"t": "result", "events": [{}]}])
def test_what_is_no_message_ends_the_contact(message: dict[str, Any]) -> None:
    with pytest.raises(wire.BadFrame):
        Ahead(Room(), LINK).take(message, 100)
