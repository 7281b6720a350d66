"""Local state, remote state and decisions as JSON, and decisions decided again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Decision, Operation
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.remote import (
    ConsumedSecret,
    OwnedSecret,
    PendingAction,
    RemoteRelation,
    RemoteState,
    RemoteStorage,
    SecretRevision,
)
from pushjuju.uniter.decide.state import (
    HookInfo,
    HookKind,
    LocalState,
    OperationKind,
    RelationRecord,
    ResolvedMode,
    Step,
)
from pushjuju.uniter.decide.wire import from_wire, record, record_text, replay, to_wire

URI = "secret:9m4e2mr0ui3e8a215n4g"
LOCAL = LocalState(
    kind=OperationKind.RUN_HOOK,
    step=Step.PENDING,
    hook=HookInfo(
        kind=HookKind.RELATION_DEPARTED,
        relation_id=0,
        remote_unit="pg/0",
        remote_application="pg",
        departee="pg/0",
    ),
    hook_step=Step.DONE,
    installed=True,
    relations={
        0: RelationRecord(created=True, members={"pg/0": 3}, changed_pending="pg/0"),
        12: RelationRecord(),
    },
    storage=frozenset({"data/1", "data/0"}),
    secret_revisions={URI: 2},
    secret_obsolete_revisions={URI: (1,)},
    completed_actions=frozenset({"7"}),
    series=SeriesStatus.PREPARE_COMPLETED,
    retry_attempt=3,
)
REMOTE = RemoteState(
    unit="web/0",
    life=Life.DYING,
    subordinates={"log/0": Life.ALIVE},
    resolved=ResolvedMode.NO_HOOKS,
    relations={0: RemoteRelation(endpoint="db", peer=True, app_members={"pg": 1}, members={"pg/0": 4})},
    storage={"data/0": RemoteStorage(kind="block", life=Life.DEAD, location="/dev/sdb")},
    actions=(PendingAction(id="7", name="dump", parallel=True),),
    commands=("1", "2"),
    secrets_expired=(SecretRevision(uri=URI, revision=1),),
    secrets_rotate=(URI,),
    secrets_consumed={URI: ConsumedSecret(revision=2, label="x")},
    secrets_owned={URI: OwnedSecret(revision=3, application=True)},
    secrets_obsolete={URI: (1, 2)},
    retry_hooks=False,
)


def through_json(document: Any) -> Any:
    return json.loads(json.dumps(document, sort_keys=True))


@pytest.mark.parametrize("value", [LOCAL, REMOTE, LocalState(), decide(LOCAL, REMOTE)])
def test_round_trip(value: Any) -> None:
    assert from_wire(type(value), through_json(to_wire(value))) == value


def test_defaults_are_left_out() -> None:
    assert to_wire(LocalState()) == {}
    assert to_wire(LocalState(kind=OperationKind.RUN_HOOK, hook=HookInfo(kind=HookKind.START))) == {
        "kind": "run-hook",
        "hook": {"kind": "start"},
    }
    assert to_wire(HookInfo(kind=HookKind.RELATION_BROKEN, relation_id=0)) == {
        "kind": "relation-broken",
        "relation-id": 0,
    }


def test_operation_by_itself() -> None:
    operation = decide(replace(LOCAL, series=SeriesStatus.NOT_STARTED), REMOTE).operation
    assert operation is not None
    assert from_wire(Operation, through_json(to_wire(operation))) == operation


BAD = [
    ("no object", [], "expected dict"),
    ("unknown key", {"colour": "red"}, "unknown key 'colour'"),
    ("wrong type", {"installed": 1}, r"LocalState\.installed: expected bool, not int"),
    ("unknown word", {"kind": "dance"}, "'dance' is not one of its words"),
    ("bad relation id", {"relations": {"x": {}}}, "'x' is not a number"),
    ("hook without kind", {"kind": "run-hook", "hook": {}}, "missing key 'kind'"),
    ("list for a mapping", {"relations": []}, "expected dict"),
    ("word for a list", {"storage": "data/0"}, "expected list"),
    ("a state that breaks a rule", {"kind": "run-hook"}, "missing hook info"),
]


@pytest.mark.parametrize(("document", "text"), [pytest.param(*case[1:], id=case[0]) for case in BAD])
def test_refused(document: Any, text: str) -> None:
    with pytest.raises(NotValid, match=text):
        from_wire(LocalState, document)


def test_replay_a_whole_life(world: Callable[..., Any]) -> None:
    made = world(leader=True, relations={0: RemoteRelation(endpoint="cluster", peer=True)})
    kept = []
    for _ in range(12):
        decision = made.decide()
        kept.append(json.loads(record_text(made.local, made.remote, decision)))
        assert kept[-1] == through_json(record(made.local, made.remote, decision))
        made.step()
    assert [replay(item) for item in kept] == [from_wire(Decision, item["decision"]) for item in kept]


def test_replay_refuses_what_it_does_not_know() -> None:
    with pytest.raises(NotValid, match="format"):
        replay({"local": {}, "remote": {}})
