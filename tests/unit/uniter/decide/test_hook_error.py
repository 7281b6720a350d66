"""Failing hooks: the report, the retry, the decision in error, what goes on meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Answer, Effect, EffectKind, OperationName
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.naming import hook_error
from pushjuju.uniter.decide.remote import PendingAction, RemoteRelation, RemoteState, RemoteStorage
from pushjuju.uniter.decide.state import (
    HookInfo,
    HookKind,
    LocalState,
    OperationKind,
    RelationRecord,
    ResolvedMode,
    Step,
)
from pushjuju.uniter.decide.timing import next_update_status, retry_delay
from pushjuju.uniter.state.effects import apply_effects
from pushjuju.uniter.state.operation import Outcome, committed

REMOTE = RemoteState(unit="web/0", charm_url="ch:1")
URI = "secret:9m4e2mr0ui3e8a215n4g"
START = HookInfo(kind=HookKind.START)


def in_error(hook: HookInfo = START, **parts: Any) -> LocalState:
    """A unit whose hook failed."""
    parts.setdefault("current_charm_url", "ch:1")
    return LocalState(
        kind=OperationKind.RUN_HOOK, step=Step.PENDING, hook=hook, **{"installed": True, **parts}
    )


def kinds(effects: tuple[Effect, ...]) -> list[EffectKind]:
    return [effect.kind for effect in effects]


RELATION = {"relation_id": 3, "remote_application": "pg"}
REPORTS = [
    ("plain", START, 'hook failed: "start"', {"hook": "start"}),
    (
        "relation",
        HookInfo(kind=HookKind.RELATION_CHANGED, remote_unit="pg/0", **RELATION),
        'hook failed: "db-relation-changed"',
        {"hook": "db-relation-changed", "relation-id": 3, "remote-unit": "pg/0"},
    ),
    (
        "relation without unit",
        HookInfo(kind=HookKind.RELATION_BROKEN, **RELATION),
        'hook failed: "db-relation-broken"',
        {"hook": "db-relation-broken", "relation-id": 3},
    ),
    (
        "relation 0",
        HookInfo(kind=HookKind.RELATION_CREATED, relation_id=0),
        'hook failed: "cluster-relation-created"',
        {"hook": "cluster-relation-created", "relation-id": 0},
    ),
    (
        "relation no longer known",
        HookInfo(kind=HookKind.RELATION_CHANGED, relation_id=9, remote_application="pg"),
        'hook failed: "relation-changed: relation: 9 not found"',
        {"hook": "relation-changed", "relation-id": 9},
    ),
    (
        "storage is not prefixed",
        HookInfo(kind=HookKind.STORAGE_ATTACHED, storage_id="data/0"),
        'hook failed: "storage-attached"',
        {"hook": "storage-attached"},
    ),
    (
        "secret",
        HookInfo(kind=HookKind.SECRET_ROTATE, secret_uri=URI, secret_label="key"),
        'hook failed: "secret-rotate"',
        {"hook": "secret-rotate", "secret-uri": URI, "secret-label": "key"},
    ),
]


@pytest.mark.parametrize(
    ("hook", "message", "data"), [pytest.param(*case[1:], id=case[0]) for case in REPORTS]
)
def test_report(hook: HookInfo, message: str, data: dict[str, object]) -> None:
    """8.1: message and data as tools read them."""
    relations = {
        0: RemoteRelation(endpoint="cluster", peer=True),
        3: RemoteRelation(endpoint="db", remote_application="pg"),
    }
    effect = hook_error(hook, replace(REMOTE, relations=relations))
    assert (effect.kind, effect.message, dict(effect.data)) == (EffectKind.REPORT_ERROR, message, data)


FORCED = {"force_charm": True, "charm_url": "ch:2"}
# id, local, remote, operation or answer, effects after the report
ROWS = [
    ("2 forced and modified", {}, FORCED, "upgrade to ch:2", []),
    ("2 forced, not modified", {"retry_timer_running": True}, {"force_charm": True}, "idle", []),
    ("2 forced, its profile is not there", {}, {**FORCED, "profile_ready": False}, "idle", []),
    (
        "2 forced, its profile is not there: resolved waits",
        {},
        {**FORCED, "profile_ready": False, "resolved": ResolvedMode.RETRY_HOOKS},
        "idle",
        [],
    ),
    (
        "2 forced wins over resolved",
        {},
        {**FORCED, "resolved": ResolvedMode.NO_HOOKS},
        "upgrade to ch:2",
        [],
    ),
    (
        "2 modified, not forced",
        {"retry_timer_running": True},
        {"charm_url": "ch:2"},
        "idle",
        [],
    ),
    ("3 retry is due", {"retry_timer_running": True}, {"retry_hook_version": 1}, "run start hook", []),
    (
        "3 tick used up",
        {"retry_timer_running": True, "retry_hook_version": 1},
        {"retry_hook_version": 1},
        "idle",
        [],
    ),
    ("4 timer starts", {}, {}, "idle", [EffectKind.ARM_RETRY_TIMER]),
    ("4 timer runs", {"retry_timer_running": True}, {}, "idle", []),
    ("4 retries off", {}, {"retry_hooks": False}, "idle", []),
    (
        "4 retries switched off meanwhile",
        {"retry_timer_running": True},
        {"retry_hooks": False},
        "idle",
        [EffectKind.DISARM_RETRY_TIMER],
    ),
    (
        "5 retry-hooks",
        {"retry_timer_running": True},
        {"resolved": ResolvedMode.RETRY_HOOKS},
        "run start hook",
        [EffectKind.DISARM_RETRY_TIMER, EffectKind.CLEAR_RESOLVED],
    ),
    (
        "6 no-hooks",
        {},
        {"resolved": ResolvedMode.NO_HOOKS},
        "skip start",
        [EffectKind.DISARM_RETRY_TIMER, EffectKind.CLEAR_RESOLVED],
    ),
]


@pytest.mark.parametrize(
    ("local", "remote", "answer", "effects"), [pytest.param(*case[1:], id=case[0]) for case in ROWS]
)
def test_row(local: dict[str, Any], remote: dict[str, Any], answer: str, effects: list[EffectKind]) -> None:
    """8.3: in error; the first row, the report, comes with every answer."""
    decision = decide(in_error(**local), replace(REMOTE, **remote))
    operation = decision.operation
    skipped = operation is not None and operation.name is OperationName.SKIP_HOOK
    said = decision.answer.value if operation is None else operation.text
    assert ("skip start" if skipped else said) == answer
    assert kinds(decision.effects) == [EffectKind.REPORT_ERROR, *effects]


def test_only_error_is_told_while_resolved_is_ignored_elsewhere() -> None:
    idle = LocalState(installed=True, started=True, current_charm_url="ch:1", leader_settings_version=1)
    decision = decide(idle, replace(REMOTE, resolved=ResolvedMode.NO_HOOKS))
    assert (decision.answer, kinds(decision.effects)) == (Answer.IDLE, [EffectKind.REPORT_IDLE])


MEANWHILE_RUNS = [
    ("action", {"actions": (PendingAction(id="1", name="dump"),)}, "run action 1"),
    ("commands", {"commands": ("1",)}, "run commands"),
    ("leadership is resigned", {}, "resign leadership"),
]
MEANWHILE_WAITS = [
    ("config-changed", {"config_hash": "new"}),
    ("relation hooks", {"relations": {0: RemoteRelation(endpoint="db", members={"pg/0": 1})}}),
    ("update-status", {"update_status_version": 1}),
    ("storage", {"storage": {"data/0": RemoteStorage(attached=True)}}),
    ("secrets", {"secrets_rotate": (URI,)}),
    ("leadership is not accepted", {"leader": True}),
    ("dying", {"life": Life.DYING, "subordinates": {"log/0": Life.ALIVE}}),
    ("reboot", {"boot_id": "boot-2"}),
]


@pytest.mark.parametrize(("remote", "text"), [pytest.param(*case[1:], id=case[0]) for case in MEANWHILE_RUNS])
def test_goes_on_in_error(remote: dict[str, Any], text: str) -> None:
    decision = decide(in_error(leader="leadership" in text), replace(REMOTE, **remote))
    assert decision.operation is not None
    assert decision.operation.text == text


@pytest.mark.parametrize("remote", [pytest.param(case[1], id=case[0]) for case in MEANWHILE_WAITS])
def test_waits_in_error(remote: dict[str, Any]) -> None:
    local = in_error(started=True, boot_id="boot-1", relations={0: RelationRecord(created=True)})
    decision = decide(local, replace(REMOTE, **remote))
    assert decision.answer is Answer.IDLE
    assert kinds(decision.effects) == [EffectKind.REPORT_ERROR, EffectKind.ARM_RETRY_TIMER]


def test_dead_ends_an_error() -> None:
    assert decide(in_error(), replace(REMOTE, life=Life.DEAD)).answer is Answer.DEAD


class TestRetry:
    def test_series_of_delays(self) -> None:
        assert [retry_delay(n, 0.5) for n in range(1, 9)] == [5, 10, 20, 40, 80, 160, 300, 300]
        assert retry_delay(1, 0.0) == pytest.approx(4.85)
        assert retry_delay(1, 1.0) == pytest.approx(5.15)
        assert retry_delay(10_000, 1.0) == 300
        assert retry_delay(0, 0.5) == 5

    def test_mechanics(self, idle: Callable[..., Any]) -> None:
        """8.2: one tick, one retry; the delay grows, and success begins the series anew."""
        world = idle(config_hash="new")
        world.fail("config-changed", 3)
        attempts = []
        for _ in range(3):
            assert world.settle().answer is Answer.IDLE
            attempts.append(world.local.retry_attempt)
            assert world.local.retry_timer_running
            world.settle()  # a second look arms nothing more
            world.retry_due()
        world.settle()
        assert attempts == [1, 2, 3]
        assert world.hooks == ["config-changed"] * 4
        assert (world.local.retry_attempt, world.local.retry_timer_running) == (0, False)
        armed = [e.attempt for e in world.effects if e.kind is EffectKind.ARM_RETRY_TIMER]
        assert armed == [1, 2, 3]

    def test_resolved_begins_the_series_anew(self, idle: Callable[..., Any]) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed", 3)
        world.settle()
        world.retry_due()
        world.settle()
        assert world.local.retry_attempt == 2
        world.model(resolved=ResolvedMode.RETRY_HOOKS)
        world.settle()
        assert world.local.retry_attempt == 1
        assert world.remote.resolved is ResolvedMode.NONE

    def test_one_resolved_serves_one_failure(self, idle: Callable[..., Any]) -> None:
        world = idle(config_hash="new", charm_url="ch:2")
        world.fail("upgrade-charm")
        world.fail("config-changed")
        world.settle()
        world.model(resolved=ResolvedMode.NO_HOOKS)
        assert world.settle().reason.startswith('hook failed: "config-changed"')
        assert world.hooks == ["upgrade-charm", "config-changed"]

    def test_late_tick_is_swallowed(self, idle: Callable[..., Any]) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed")
        world.settle()
        world.model(resolved=ResolvedMode.RETRY_HOOKS)
        world.retry_due()
        world.settle()
        world.model(config_hash="newer")
        world.fail("config-changed")
        assert world.settle().answer is Answer.IDLE
        assert world.hooks == ["config-changed"] * 3


class TestSkip:
    """8.3, last lines: a skipped hook still counts."""

    def skipped(self, local: LocalState) -> LocalState:
        decision = decide(local, replace(REMOTE, resolved=ResolvedMode.NO_HOOKS, config_hash="new"))
        assert decision.operation is not None
        assert decision.operation.name is OperationName.SKIP_HOOK
        return committed(apply_effects(local, decision.effects), decision.operation)

    def test_relation_hook_updates_the_record(self) -> None:
        hook = HookInfo(kind=HookKind.RELATION_JOINED, remote_unit="pg/0", change_version=4, **RELATION)
        local = self.skipped(in_error(hook, relations={3: RelationRecord(created=True)}))
        assert local.relations[3] == RelationRecord(created=True, members={"pg/0": 4}, changed_pending="pg/0")

    def test_broken_leaves(self) -> None:
        hook = HookInfo(kind=HookKind.RELATION_BROKEN, **RELATION)
        assert self.skipped(in_error(hook, relations={3: RelationRecord(created=True)})).relations == {}

    def test_detaching_detaches(self) -> None:
        hook = HookInfo(kind=HookKind.STORAGE_DETACHING, storage_id="data/0")
        assert self.skipped(in_error(hook, storage=frozenset({"data/0"}))).storage == frozenset()

    def test_config_changed_stores_the_hashes(self) -> None:
        assert self.skipped(in_error(HookInfo(kind=HookKind.CONFIG_CHANGED))).config_hash == "new"

    def test_flags_are_set(self) -> None:
        assert self.skipped(in_error(started=False)).started
        assert self.skipped(in_error(HookInfo(kind=HookKind.INSTALL), installed=False)).installed


def test_update_status_interval() -> None:
    """10.3: uniform in 0.8 to 1.2 times the interval."""
    assert [next_update_status(300.0, draw) for draw in (0.0, 0.5, 1.0)] == pytest.approx([240, 300, 360])


def test_unknown_fate_is_an_error(idle: Callable[..., Any]) -> None:
    world = idle(config_hash="new")
    world.fail("config-changed", outcome=Outcome.INTERRUPTED)
    assert world.settle().reason.startswith('hook failed: "config-changed"')
