"""Relations: the strict order of hooks of one relation, scopes, departing units, special kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Answer, Effect, EffectKind, Operation, OperationName
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.decide.remote import RemoteRelation, RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind, RelationRecord
from pushjuju.uniter.state.operation import committed, prepare, skip_reason

WORLD = Callable[..., Any]
REMOTE = RemoteState(unit="web/0", charm_url="ch:1")
IDLE = LocalState(installed=True, started=True, current_charm_url="ch:1", leader_settings_version=1)
PG = RemoteRelation(endpoint="db", remote_application="pg", app_members={"pg": 0})
RECORD = RelationRecord(created=True, application_members={"pg": 0})


def decided(record: RelationRecord, relation: RemoteRelation, **remote: Any) -> Operation | None:
    """The decision about one relation, which has id 1."""
    local = replace(IDLE, relations={1: record})
    return decide(local, replace(REMOTE, relations={1: relation}, **remote)).operation


def info(kind: HookKind, **parts: Any) -> HookInfo:
    """A hook of relation 1."""
    parts.setdefault("remote_application", "pg")
    return HookInfo(kind=kind, relation_id=1, **parts)


JOINED = replace(RECORD, members={"pg/0": 1, "pg/10": 1, "pg/2": 1})
ROWS = [
    (
        "1 pending, version of the snapshot",
        replace(RECORD, members={"pg/0": 1}, changed_pending="pg/0"),
        replace(PG, members={"pg/0": 5}),
        info(HookKind.RELATION_CHANGED, remote_unit="pg/0", change_version=5),
    ),
    (
        "1 pending, unit gone",
        replace(RECORD, members={"pg/0": 1}, changed_pending="pg/0"),
        PG,
        info(HookKind.RELATION_CHANGED, remote_unit="pg/0"),
    ),
    (
        "1 pending, relation dying",
        replace(RECORD, members={"pg/0": 1}, changed_pending="pg/0"),
        replace(PG, members={"pg/0": 5}, life=Life.DYING),
        info(HookKind.RELATION_CHANGED, remote_unit="pg/0"),
    ),
    (
        "2 departed, sorted as text",
        JOINED,
        replace(PG, members={"pg/0": 1}),
        info(HookKind.RELATION_DEPARTED, remote_unit="pg/10", change_version=1, departee="pg/10"),
    ),
    (
        "2 before 4",
        JOINED,
        replace(PG, members={"pg/0": 1, "pg/10": 1}, app_members={"pg": 3}),
        info(HookKind.RELATION_DEPARTED, remote_unit="pg/2", change_version=1, departee="pg/2"),
    ),
    (
        "2 relation dying: all depart",
        JOINED,
        replace(PG, members=JOINED.members, life=Life.DYING),
        info(HookKind.RELATION_DEPARTED, remote_unit="pg/0", change_version=1, departee="pg/0"),
    ),
    (
        "2 suspended: all depart",
        JOINED,
        replace(PG, members=JOINED.members, suspended=True),
        info(HookKind.RELATION_DEPARTED, remote_unit="pg/0", change_version=1, departee="pg/0"),
    ),
    ("3 broken", RECORD, replace(PG, life=Life.DYING), info(HookKind.RELATION_BROKEN)),
    ("3 broken when suspended", RECORD, replace(PG, suspended=True), info(HookKind.RELATION_BROKEN)),
    ("3 never for a peer", RECORD, replace(PG, life=Life.DYING, peer=True), None),
    (
        "4 application settings before joined",
        RECORD,
        replace(PG, members={"pg/0": 1}, app_members={"pg": 2}),
        info(HookKind.RELATION_CHANGED, change_version=2),
    ),
    (
        "4 version never seen counts as 0",
        RelationRecord(created=True),
        replace(PG, app_members={"pg": 0}),
        None,
    ),
    (
        "4 versions differ, not grow",
        replace(RECORD, application_members={"pg": 9}),
        replace(PG, app_members={"pg": 2}),
        info(HookKind.RELATION_CHANGED, change_version=2),
    ),
    (
        "5 joined, sorted as text",
        RECORD,
        replace(PG, members={"pg/2": 4, "pg/10": 3}),
        info(HookKind.RELATION_JOINED, remote_unit="pg/10", change_version=3),
    ),
    (
        "5 before 6",
        replace(RECORD, members={"pg/0": 1}),
        replace(PG, members={"pg/0": 2, "pg/1": 0}),
        info(HookKind.RELATION_JOINED, remote_unit="pg/1"),
    ),
    (
        "6 settings changed",
        replace(RECORD, members={"pg/0": 1}),
        replace(PG, members={"pg/0": 2}),
        info(HookKind.RELATION_CHANGED, remote_unit="pg/0", change_version=2),
    ),
    ("nothing new", replace(RECORD, members={"pg/0": 1}), replace(PG, members={"pg/0": 1}), None),
    ("implicit: no hooks", RECORD, replace(PG, members={"pg/0": 1}, implicit=True), None),
    ("implicit: not created", RelationRecord(), replace(PG, implicit=True), None),
]


@pytest.mark.parametrize(
    ("record", "relation", "hook"), [pytest.param(*case[1:], id=case[0]) for case in ROWS]
)
def test_row(record: RelationRecord, relation: RemoteRelation, hook: HookInfo | None) -> None:
    """11.4, in strict order."""
    operation = decided(record, relation)
    assert (operation.hook if operation else None) == hook
    if operation:
        assert operation.endpoint == "db"


COMMITS = [
    ("created", RelationRecord(), info(HookKind.RELATION_CREATED), RECORD),
    (
        "joined",
        RECORD,
        info(HookKind.RELATION_JOINED, remote_unit="pg/0", change_version=3),
        replace(RECORD, members={"pg/0": 3}, changed_pending="pg/0"),
    ),
    (
        "changed after joined",
        replace(RECORD, members={"pg/0": 3}, changed_pending="pg/0"),
        info(HookKind.RELATION_CHANGED, remote_unit="pg/0", change_version=4),
        replace(RECORD, members={"pg/0": 4}),
    ),
    (
        "application changed",
        RECORD,
        info(HookKind.RELATION_CHANGED, change_version=7),
        replace(RECORD, application_members={"pg": 7}),
    ),
    (
        "departed",
        replace(RECORD, members={"pg/0": 3, "pg/1": 1}),
        info(HookKind.RELATION_DEPARTED, remote_unit="pg/0", departee="pg/0"),
        replace(RECORD, members={"pg/1": 1}),
    ),
    ("broken", RECORD, info(HookKind.RELATION_BROKEN), None),
]


@pytest.mark.parametrize(
    ("before", "hook", "after"), [pytest.param(*case[1:], id=case[0]) for case in COMMITS]
)
def test_commit(before: RelationRecord, hook: HookInfo, after: RelationRecord | None) -> None:
    """11.4, last column."""
    operation = Operation(name=OperationName.RUN_HOOK, hook=hook, endpoint="db")
    local = committed(replace(IDLE, relations={1: before, 2: RECORD}), operation)
    assert local.relations.get(1) == after
    assert local.relations[2] == RECORD


REFUSED = [
    ("joined twice", JOINED, info(HookKind.RELATION_JOINED, remote_unit="pg/0"), "unit already joined"),
    (
        "changed of a stranger",
        RECORD,
        info(HookKind.RELATION_CHANGED, remote_unit="pg/0"),
        "unit has not joined",
    ),
    (
        "departed of a stranger",
        RECORD,
        info(HookKind.RELATION_DEPARTED, remote_unit="pg/0"),
        "unit has not joined",
    ),
    (
        "anything but the pending changed",
        replace(JOINED, changed_pending="pg/0"),
        info(HookKind.RELATION_CHANGED, remote_unit="pg/2"),
        'expected "relation-changed" for "pg/0"',
    ),
    ("broken with members", JOINED, info(HookKind.RELATION_BROKEN), "cannot run while units still present"),
]


@pytest.mark.parametrize(
    ("record", "hook", "text"), [pytest.param(*case[1:], id=case[0]) for case in REFUSED]
)
def test_refused_at_prepare(record: RelationRecord, hook: HookInfo, text: str) -> None:
    """11.4, notes: an operation error, not a hook failure."""
    operation = Operation(name=OperationName.RUN_HOOK, hook=hook, endpoint="db")
    with pytest.raises(NotValid, match=text):
        prepare(replace(IDLE, relations={1: record}), operation, REMOTE)


def test_relation_gone_before_the_run() -> None:
    hook = info(HookKind.RELATION_CHANGED, remote_unit="pg/0")
    operation = Operation(name=OperationName.RUN_HOOK, hook=hook)
    queued = replace(IDLE, kind=OperationKind.RUN_HOOK, hook=hook)
    assert skip_reason(queued, operation, REMOTE) == "relation 1 is gone"
    assert committed(queued, operation).kind is OperationKind.CONTINUE


def test_ascending_id() -> None:
    local = replace(IDLE, relations={10: RelationRecord(), 2: RelationRecord()})
    operation = decide(local, replace(REMOTE, relations={10: PG, 2: PG})).operation
    assert operation is not None
    assert operation.hook is not None
    assert operation.hook.relation_id == 2


DEPARTEES = [
    ("unit dying", {"life": Life.DYING}, "web/0"),
    ("application dying", {"application_life": Life.DYING}, "web/0"),
    ("both alive", {}, "pg/0"),
]


@pytest.mark.parametrize(("remote", "departee"), [pytest.param(*case[1:], id=case[0]) for case in DEPARTEES])
def test_departing_unit(remote: dict[str, Any], departee: str) -> None:
    """11.6."""
    operation = decided(replace(RECORD, members={"pg/0": 0}), replace(PG, life=Life.DYING), **remote)
    assert operation is not None
    assert operation.hook is not None
    assert operation.hook.departee == departee


def effect(kind: EffectKind, relation_id: int | None = 1) -> Effect:
    return Effect(kind=kind, relation_id=relation_id)


ENTER, LEAVE, FORGET = EffectKind.ENTER_SCOPE, EffectKind.LEAVE_SCOPE, EffectKind.FORGET_RELATION
CONTAINER = replace(PG, container=True, implicit=True)
UNTOLD = RelationRecord()
CREATED = HookInfo(kind=HookKind.RELATION_CREATED, relation_id=1, remote_application="pg")
SCOPES = [
    ("untracked, alive", {}, PG, {}, [effect(ENTER)]),
    ("untracked, dying", {}, replace(PG, life=Life.DYING), {}, []),
    ("untracked, suspended", {}, replace(PG, suspended=True), {}, []),
    ("untracked, not in the charm yet", {}, replace(PG, implemented=False), {}, []),
    ("not installed", {"installed": False}, PG, {}, []),
    ("hook current", {"kind": OperationKind.RUN_HOOK, "hook": HookInfo(kind=HookKind.START)}, PG, {}, []),
    ("unit dying", {}, PG, {"life": Life.DYING}, []),
    ("unit dead", {"relations": {1: RECORD}}, CONTAINER, {"life": Life.DEAD}, []),
    ("tracked", {"relations": {1: RECORD}}, PG, {}, []),
    ("tracked, dying", {"relations": {1: RECORD}}, replace(PG, life=Life.DYING), {}, []),
    (
        "implicit, dying",
        {"relations": {1: RECORD}},
        replace(PG, implicit=True, life=Life.DYING),
        {},
        [effect(LEAVE)],
    ),
    (
        "implicit, suspended",
        {"relations": {1: RECORD}},
        replace(PG, implicit=True, suspended=True),
        {},
        [effect(LEAVE)],
    ),
    (
        "implicit container, unit dying",
        {"relations": {1: RECORD}},
        CONTAINER,
        {"life": Life.DYING},
        [effect(LEAVE)],
    ),
    ("gone from the model", {"relations": {1: RECORD}}, None, {}, [effect(FORGET)]),
    ("over before created", {"relations": {1: UNTOLD}}, replace(PG, life=Life.DYING), {}, [effect(LEAVE)]),
    (
        "suspended before created",
        {"relations": {1: UNTOLD}},
        replace(PG, suspended=True),
        {},
        [effect(LEAVE)],
    ),
    ("unit dying before created", {"relations": {1: UNTOLD}}, PG, {"life": Life.DYING}, [effect(LEAVE)]),
    (
        "over while created runs",
        {"relations": {1: UNTOLD}, "kind": OperationKind.RUN_HOOK, "hook": CREATED},
        replace(PG, life=Life.DYING),
        {},
        [],
    ),
    (
        "peer of a dying unit before created",
        {"relations": {1: UNTOLD}},
        replace(PG, peer=True),
        {"life": Life.DYING},
        [],
    ),
]


@pytest.mark.parametrize(
    ("local", "relation", "remote", "effects"), [pytest.param(*case[1:], id=case[0]) for case in SCOPES]
)
def test_scopes(
    local: dict[str, Any], relation: RemoteRelation | None, remote: dict[str, Any], effects: list[Effect]
) -> None:
    """11.3: what the controller sets right before it decides."""
    relations = {1: relation} if relation else {}
    assert (
        list(reconcile_effects(replace(IDLE, **local), replace(REMOTE, relations=relations, **remote)))
        == effects
    )


class TestSubordinate:
    REMOTE = replace(REMOTE, unit="log/0", principal="web/0")
    TIE = RemoteRelation(endpoint="juju-info", remote_application="web", container=True)

    def destroyed(self, *relations: RemoteRelation) -> bool:
        remote = replace(self.REMOTE, relations=dict(enumerate(relations)))
        effects = reconcile_effects(IDLE, remote)
        return EffectKind.DESTROY_UNIT in [item.kind for item in effects]

    def test_lives_with_its_principal(self) -> None:
        assert not self.destroyed(self.TIE)
        assert not self.destroyed(replace(self.TIE, life=Life.DYING), replace(self.TIE, endpoint="logs"))

    def test_goes_with_its_last_relation(self) -> None:
        assert self.destroyed()
        assert self.destroyed(replace(self.TIE, life=Life.DYING))
        assert self.destroyed(replace(self.TIE, container=False))

    def test_another_subordinate_does_not_keep_it(self) -> None:
        assert self.destroyed(replace(self.TIE, remote_application="nrpe"))

    def test_principal_unit_has_no_tie(self) -> None:
        assert reconcile_effects(IDLE, REMOTE) == ()


class TestStories:
    def test_first_hooks_of_a_peer(self, world: WORLD) -> None:
        made = world(leader=True)
        made.relate(0, "cluster", peer=True, remote_application="web")
        made.settle()
        assert made.hooks == [
            "install",
            "cluster-relation-created",
            "leader-elected",
            "config-changed",
            "start",
        ]

    def test_joined_is_followed_by_changed(self, idle: WORLD) -> None:
        world = idle()
        world.relate(1, members={"pg/0": 0, "pg/1": 0})
        assert world.new_hooks() == [
            "db-relation-created",
            "db-relation-joined", "db-relation-changed", "db-relation-joined", "db-relation-changed",
        ]  # fmt: skip

    def test_remove_relation(self, idle: WORLD) -> None:
        world = idle()
        world.relate(1, members={"pg/0": 0, "pg/1": 0})
        world.settle()
        world.relate(1, life=Life.DYING)
        assert world.new_hooks() == ["db-relation-departed", "db-relation-departed", "db-relation-broken"]
        assert world.remote.relations == {}
        assert world.local.relations == {}
        assert world.scopes == set()

    def test_peer_of_a_dying_unit_has_no_broken(self, idle: WORLD) -> None:
        world = idle()
        world.relate(0, "cluster", peer=True, remote_application="web", members={"web/1": 0})
        world.settle()
        world.model(life=Life.DYING)
        assert world.new_hooks() == ["cluster-relation-departed", "stop", "remove"]

    def test_suspend_and_resume(self, idle: WORLD) -> None:
        world = idle()
        world.relate(1, members={"pg/0": 0})
        world.settle()
        world.relate(1, suspended=True)
        assert world.new_hooks() == ["db-relation-departed", "db-relation-broken"]
        world.relate(1, suspended=False)
        assert world.new_hooks() == ["db-relation-created", "db-relation-joined", "db-relation-changed"]

    def test_broken_once_when_suspended_and_removed(self, idle: WORLD) -> None:
        world = idle()
        world.relate(1)
        world.settle()
        world.relate(1, suspended=True)
        world.settle()
        world.relate(1, life=Life.DYING)
        assert world.new_hooks() == []

    def test_forced_away(self, idle: WORLD) -> None:
        """11.8: no more hooks of it, and the record goes."""
        world = idle()
        world.relate(1, members={"pg/0": 0})
        world.settle()
        world.unrelate(1)
        assert world.new_hooks() == []
        assert world.local.relations == {}

    def test_forced_away_in_error(self, idle: WORLD) -> None:
        world = idle()
        world.relate(1, members={"pg/0": 0})
        world.fail("db-relation-joined")
        world.settle()
        world.unrelate(1)
        assert 'relation-joined: relation: 1 not found"' in world.settle().reason
        world.retry_due()
        assert world.settle().answer is Answer.IDLE
        assert world.local.kind is OperationKind.CONTINUE
        assert world.hooks.count("db-relation-joined") == 1

    def test_principal_with_implicit_container_relation(self, idle: WORLD) -> None:
        """17.3 as recommended: nothing stalls, only being dead waits for the subordinate."""
        world = idle(subordinates={"log/0": Life.ALIVE})
        world.relate(1, "juju-info", remote_application="log", container=True, implicit=True)
        world.settle()
        world.model(life=Life.DYING)
        assert world.settle().answer is Answer.WAITING
        assert world.hooks == ["stop", "remove"]
        assert world.remote.subordinates == {"log/0": Life.DYING}
        world.model(subordinates={})
        assert world.settle().answer is Answer.DEAD

    def test_created_is_not_lost_in_a_crash(self, idle: WORLD, crash: type[Exception]) -> None:
        world = idle()
        world.relate(1)
        world.decide()  # scope entered, nothing else
        assert world.scopes == {1}
        assert world.new_hooks() == ["db-relation-created"]
