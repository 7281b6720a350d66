"""Leadership: its table, and who is told what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Operation, OperationName
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind
from pushjuju.uniter.state.operation import committed, skip_reason
from tests.world.decided_unit import decided_text

WORLD = Callable[..., Any]
REMOTE = RemoteState(unit="web/0", charm_url="ch:1")
IDLE = LocalState(installed=True, started=True, current_charm_url="ch:1", leader_settings_version=1)
A, B = "secret:aaaaaaaaaaaaaaaaaaaa", "secret:bbbbbbbbbbbbbbbbbbbb"


LEADERSHIP = [
    ("1 accept", {}, {"leader": True}, "accept leadership"),
    ("2 resign", {"leader": True}, {}, "resign leadership"),
    ("2 resign when dying", {"leader": True}, {"leader": True, "life": Life.DYING}, "resign leadership"),
    (
        "2 resign with a queued hook",
        {"leader": True, "kind": OperationKind.RUN_HOOK, "hook": HookInfo(kind=HookKind.START)},
        {},
        "resign leadership",
    ),
    ("3 settings", {"leader_settings_version": 0}, {}, "run leader-settings-changed hook"),
    ("3 never on the leader", {"leader": True, "leader_settings_version": 0}, {"leader": True}, "idle"),
    ("3 never on a dying unit", {"leader_settings_version": 0}, {"life": Life.DYING}, "run stop hook"),
    ("3 nothing new", {"leader_settings_version": 4}, {"leader_settings_version": 4}, "idle"),
]


@pytest.mark.parametrize(
    ("local", "remote", "answer"), [pytest.param(*case[1:], id=case[0]) for case in LEADERSHIP]
)
def test_leadership(local: dict[str, Any], remote: dict[str, Any], answer: str) -> None:
    """12.2."""
    assert decided_text(replace(IDLE, **local), replace(REMOTE, **remote)) == answer


class TestLeadershipStories:
    def test_first_hooks(self, world: WORLD) -> None:
        made = world(leader=True)
        made.settle()
        assert made.hooks == ["install", "leader-elected", "config-changed", "start"]
        made = world()
        made.settle()
        assert made.hooks == ["install", "leader-settings-changed", "config-changed", "start"]

    def test_lost_and_regained(self, idle: WORLD) -> None:
        world = idle({"leader": True})
        world.model(leader=False)
        assert world.new_hooks() == ["leader-settings-changed"]
        world.model(leader=True)
        assert world.new_hooks() == ["leader-elected"]
        world.model(leader=False)
        assert world.new_hooks() == []

    def test_lost_just_before_leader_elected(self, idle: WORLD) -> None:
        """2.1: it is skipped silently."""
        world = idle(leader=True)
        world.step()
        decision = world.decide()
        assert decision.operation is not None
        world.model(leader=False)
        assert skip_reason(world.local, decision.operation, world.remote) == "the unit is no longer leader"
        assert world.new_hooks() == []
        assert (world.local.leader, world.local.kind) == (False, OperationKind.CONTINUE)

    def test_leader_settings(self, idle: WORLD) -> None:
        assert idle(leader_settings_version=5).new_hooks() == ["leader-settings-changed"]

    def test_accept_needs_kind_continue(self) -> None:
        accept = Operation(name=OperationName.ACCEPT_LEADERSHIP)
        queued = replace(IDLE, kind=OperationKind.RUN_HOOK, hook=HookInfo(kind=HookKind.START))
        with pytest.raises(NotValid):
            committed(queued, accept)
        assert committed(replace(IDLE, leader=True), accept) == replace(IDLE, leader=True)
