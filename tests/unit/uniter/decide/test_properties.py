"""What holds for every unit, whatever happens to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Answer, EffectKind, OperationName
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
    validate_local,
)
from pushjuju.uniter.decide.wire import to_wire
from pushjuju.uniter.state.operation import Outcome, committed, executed, prepare, skip_reason

WORLD = Callable[..., Any]
# The world fixtures only make new worlds: nothing is shared between examples.
QUICK = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
URI = "secret:9m4e2mr0ui3e8a215n4g"
PLAIN = (
    HookKind.INSTALL, HookKind.LEADER_ELECTED, HookKind.LEADER_SETTINGS_CHANGED, HookKind.CONFIG_CHANGED,
    HookKind.START, HookKind.UPGRADE_CHARM, HookKind.UPDATE_STATUS, HookKind.STOP, HookKind.REMOVE,
)  # fmt: skip

small = st.integers(0, 2)
members = st.dictionaries(st.sampled_from(["pg/0", "pg/1", "pg/10"]), small, max_size=2)
apps = st.dictionaries(st.just("pg"), small)
flags = st.booleans()


@st.composite
def records(draw: st.DrawFn) -> RelationRecord:
    known = draw(members)
    pending = draw(st.sampled_from(["", *known]))
    return RelationRecord(
        created=draw(flags), members=known, application_members=draw(apps), changed_pending=pending
    )


relations = st.builds(
    RemoteRelation,
    endpoint=st.just("db"),
    remote_application=st.just("pg"),
    life=st.sampled_from([Life.ALIVE, Life.DYING]),
    peer=flags,
    implicit=flags,
    container=flags,
    suspended=flags,
    members=members,
    app_members=apps,
)
storage = st.builds(RemoteStorage, life=st.sampled_from(Life), attached=flags)
remotes = st.builds(
    RemoteState,
    unit=st.just("web/0"),
    life=st.sampled_from([Life.ALIVE, Life.ALIVE, Life.DYING, Life.DEAD]),
    resolved=st.sampled_from(ResolvedMode),
    charm_url=st.sampled_from(["", "ch:1", "ch:2"]),
    force_charm=flags,
    charm_modified_version=small,
    charm_present=flags,
    config_hash=st.sampled_from("ab"),
    leader=flags,
    leader_settings_version=st.integers(1, 2),
    update_status_version=small,
    retry_hook_version=small,
    boot_id=st.sampled_from(["", "boot-1", "boot-2"]),
    relations=st.dictionaries(small, relations, max_size=2),
    storage=st.dictionaries(st.sampled_from(["data/0", "data/1"]), storage, max_size=2),
    actions=st.sampled_from([(), (PendingAction(id="1"),), (PendingAction(id="1"), PendingAction(id="2"))]),
    commands=st.sampled_from([(), ("1",)]),
    secrets_rotate=st.sampled_from([(), (URI,)]),
    secrets_expired=st.sampled_from([(), (SecretRevision(uri=URI, revision=1),)]),
    secrets_consumed=st.sampled_from([{}, {URI: ConsumedSecret(revision=2)}]),
    secrets_owned=st.sampled_from([{}, {URI: OwnedSecret(revision=2, application=True)}]),
    secrets_obsolete=st.sampled_from([{}, {URI: (1,)}]),
    secrets_deleted=st.sampled_from([(), (URI,)]),
    series=st.sampled_from(
        [
            SeriesStatus.NOT_STARTED,
            SeriesStatus.NOT_STARTED,
            SeriesStatus.PREPARE_STARTED,
            SeriesStatus.COMPLETE_STARTED,
            SeriesStatus.VALIDATE,
        ]
    ),
    series_target=st.just("ubuntu@24.04"),
    subordinates=st.sampled_from([{}, {"log/0": Life.ALIVE}]),
)


@st.composite
def locals_(draw: st.DrawFn) -> LocalState:
    """Any valid local state."""
    kind = draw(st.sampled_from(OperationKind))
    kept = draw(st.sampled_from([HookInfo(kind=each) for each in PLAIN]))
    holds = kind is OperationKind.RUN_HOOK or (kind is not OperationKind.CONTINUE and draw(flags))
    deploys = kind in (OperationKind.INSTALL, OperationKind.UPGRADE)
    return LocalState(
        kind=kind,
        step=draw(st.sampled_from(Step)),
        hook=kept if holds else None,
        hook_step=draw(st.sampled_from([None, *Step])) if holds else None,
        action_id="1" if kind is OperationKind.RUN_ACTION else "",
        charm_url=draw(st.sampled_from(["ch:1", "ch:2"])) if deploys else "",
        installed=kind is not OperationKind.INSTALL and draw(flags),
        started=draw(flags),
        stopped=draw(flags),
        removed=draw(st.sampled_from([False, False, True])),
        leader=draw(flags),
        config_hash=draw(st.sampled_from(["", "a"])),
        relations=draw(st.dictionaries(small, records(), max_size=2)),
        storage=draw(st.frozensets(st.sampled_from(["data/0", "data/1"]))),
        secret_revisions=draw(st.sampled_from([{}, {URI: 1}])),
        current_charm_url="ch:1",
        retry_hook_version=draw(small),
        retry_timer_running=draw(flags),
        update_status_version=draw(small),
        leader_settings_version=draw(small),
        boot_id=draw(st.sampled_from(["", "boot-1"])),
        conflicted=kind is OperationKind.UPGRADE and draw(flags),
        restart=draw(flags),
        series=draw(st.sampled_from([SeriesStatus.NOT_STARTED, SeriesStatus.COMPLETED])),
    )


def document(*states: Any) -> str:
    return json.dumps([to_wire(state) for state in states], sort_keys=True)


@QUICK
@given(local=locals_(), remote=remotes)
def test_1_same_answer_and_nothing_changed(local: LocalState, remote: RemoteState) -> None:
    validate_local(local)
    before = document(local, remote)
    assert decide(local, remote) == decide(local, remote)
    assert document(local, remote) == before


@QUICK
@given(local=locals_(), remote=remotes)
def test_2_comes_to_rest_without_repeating_itself(
    world: WORLD, local: LocalState, remote: RemoteState
) -> None:
    made = world()
    made.local, made.remote = local, remote
    seen = set()
    for _ in range(120):
        decision = made.decide()
        if decision.answer not in (Answer.RUN, Answer.RESTART):
            return
        text = decision.operation.text if decision.operation else ""
        turn = (text, document(made.local, made.remote))
        assert turn not in seen
        seen.add(turn)
        made.step()
    raise AssertionError("never at rest")


@QUICK
@given(local=locals_(), remote=remotes)
def test_9_idle_only_in_kind_continue(local: LocalState, remote: RemoteState) -> None:
    decision = decide(local, remote)
    told = EffectKind.REPORT_IDLE in [effect.kind for effect in decision.effects]
    assert told is (decision.answer is Answer.IDLE and local.kind is OperationKind.CONTINUE)
    assert (decision.operation is not None) is (decision.answer is Answer.RUN)
    assert decision.reason
    assert decision.badge


HOOKS = st.one_of(
    st.sampled_from([HookInfo(kind=kind) for kind in PLAIN]),
    st.sampled_from(
        [
            HookInfo(kind=HookKind.RELATION_CREATED, relation_id=0, remote_application="pg"),
            HookInfo(
                kind=HookKind.RELATION_JOINED, relation_id=0, remote_application="pg", remote_unit="pg/7"
            ),
            HookInfo(
                kind=HookKind.RELATION_CHANGED, relation_id=0, remote_application="pg", change_version=4
            ),
            HookInfo(kind=HookKind.STORAGE_ATTACHED, storage_id="data/7"),
            HookInfo(kind=HookKind.SECRET_REMOVE, secret_uri=URI, secret_revision=3),
        ]
    ),
)


@st.composite
def failed(draw: st.DrawFn) -> LocalState:
    """A unit in hook error, with a hook that fits what it noted."""
    local = draw(locals_())
    hook = draw(HOOKS)
    record = replace(draw(records()), changed_pending="")
    return replace(
        local,
        kind=OperationKind.RUN_HOOK,
        step=Step.PENDING,
        hook=hook,
        hook_step=None,
        charm_url="",
        action_id="",
        conflicted=False,
        restart=False,
        relations={**local.relations, 0: record},
    )


QUIET = RemoteState(
    unit="web/0",
    relations={0: RemoteRelation(endpoint="db")},
    storage={"data/7": RemoteStorage()},
    leader=True,
)


@QUICK
@given(local=failed())
def test_6_failure_changes_no_record(local: LocalState) -> None:
    remote = replace(QUIET, retry_hook_version=local.retry_hook_version + 1)
    local = replace(local, removed=False, leader=False, series=SeriesStatus.NOT_STARTED)
    operation = decide(local, remote).operation
    assert operation is not None
    assert (operation.name, operation.hook) == (OperationName.RUN_HOOK, local.hook)
    pending = prepare(local, operation, remote)
    after = executed(pending, operation, Outcome.FAILED)
    volatile = {
        "retry_hook_version": local.retry_hook_version,
        "retry_timer_running": local.retry_timer_running,
    }
    assert replace(after, **volatile) == local
    again = replace(remote, retry_hook_version=remote.retry_hook_version + 1)
    retried = decide(after, again).operation
    assert retried is not None
    assert retried.hook == operation.hook


@QUICK
@given(local=failed(), remote=remotes)
def test_7_skipping_and_succeeding_lead_to_the_same(local: LocalState, remote: RemoteState) -> None:
    hook = local.hook
    assert hook is not None
    skip = decide(replace(local, removed=False, leader=False), replace(QUIET, resolved=ResolvedMode.NO_HOOKS))
    assume(skip.operation is not None and skip.operation.name is OperationName.SKIP_HOOK)
    assert skip.operation is not None
    run = replace(skip.operation, name=OperationName.RUN_HOOK)
    assert not skip_reason(local, run, QUIET)
    skipped = committed(local, skip.operation)
    done = committed(executed(prepare(local, run, remote), run, Outcome.OK), run)
    assert replace(done, retry_hook_version=skipped.retry_hook_version) == skipped


# Things that happen to a unit. Each gets a small number to choose with.
def bump(world: Any, relation_id: int, field: str) -> None:
    relation = world.remote.relations.get(relation_id)
    if relation is None:
        return
    versions = getattr(relation, field)
    names = {"members": ("pg/0", "pg/1"), "app_members": ("pg",)}[field]
    name = names[len(versions) % len(names)]
    world.relate(relation_id, **{field: {**versions, name: versions.get(name, -1) + 1}})


def leave(world: Any, relation_id: int) -> None:
    if relation_id in world.remote.relations:
        world.relate(relation_id, members=dict(list(world.remote.relations[relation_id].members.items())[1:]))


def change(world: Any, relation_id: int, **parts: Any) -> None:
    if relation_id in world.remote.relations:
        world.relate(relation_id, **parts)


def add(world: Any, relation_id: int) -> None:
    if relation_id not in world.remote.relations:
        world.relate(relation_id)


def attach(world: Any, number: int) -> None:
    item = f"data/{number % 2}"
    world.model(storage={**world.remote.storage, item: RemoteStorage(attached=number < 2)})


def fade(world: Any, _: int) -> None:
    world.model(storage={key: replace(item, life=Life.DYING) for key, item in world.remote.storage.items()})


def fail(world: Any, number: int) -> None:
    world.fail_next = [Outcome.FAILED, Outcome.TERMINATED, Outcome.INTERRUPTED][number % 3]


def steps(world: Any, number: int) -> None:
    for _ in range(number + 1):
        world.step()


EVENTS: tuple[Callable[[Any, int], None], ...] = (
    steps,
    steps,
    steps,
    fail,
    add,
    leave,
    attach,
    fade,
    lambda w, n: bump(w, n, "members"),
    lambda w, n: bump(w, n, "app_members"),
    lambda w, n: change(w, n, life=Life.DYING),
    lambda w, n: change(w, n, suspended=True),
    lambda w, n: change(w, n, suspended=False),
    lambda w, n: w.unrelate(n),
    lambda w, n: w.retry_due(),
    lambda w, n: w.model(resolved=[ResolvedMode.RETRY_HOOKS, ResolvedMode.NO_HOOKS][n % 2]),
    lambda w, n: w.model(config_hash=f"config-{n}"),
    lambda w, n: w.model(charm_url=f"ch:{n}", charm_modified_version=w.remote.charm_modified_version + 1),
    lambda w, n: w.model(force_charm=n == 0),
    lambda w, n: w.model(boot_id=f"boot-{n}"),
    lambda w, n: w.model(leader=n % 2 == 0),
    lambda w, n: w.model(actions=(*w.remote.actions, PendingAction(id=str(len(w.operations))))),
    lambda w, n: w.model(update_status_version=w.remote.update_status_version + 1),
)
plot = st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 3)), max_size=30)


def play(world: Any, events: list[tuple[Callable[[Any, int], None], int]]) -> Any:
    """Let things happen, then let the unit settle with every failure resolved."""
    for event, number in events:
        event(world, number)
    world.fail_next = None
    while world.settle().effects and world.local.kind is not OperationKind.CONTINUE:
        world.model(resolved=ResolvedMode.RETRY_HOOKS)
    return world


@settings(QUICK, max_examples=120)
@given(events=plot, dies=flags)
def test_3_4_5_order_of_hooks(world: WORLD, events: list[Any], dies: bool) -> None:
    made = play(world(), events)
    if dies:
        made.model(life=Life.DYING)
        made = play(made, [])
    validate_local(made.local)
    check_install_and_remove([hook.kind for hook, _ in made.infos])
    check_relations(made.infos)


def check_install_and_remove(kinds: list[HookKind]) -> None:
    """Only storage before install, nothing after remove."""
    first = kinds.index(HookKind.INSTALL) if HookKind.INSTALL in kinds else len(kinds)
    assert all(kind.is_storage for kind in kinds[:first])
    assert HookKind.REMOVE not in kinds[:-1]
    assert kinds.count(HookKind.INSTALL) <= 1


def check_relations(infos: list[tuple[HookInfo, LocalState]]) -> None:
    """Joined is followed by changed of the same unit; broken only at the end, once, without members."""
    pending: dict[int, str] = {}
    created: set[int] = set()
    for hook, local in infos:
        if hook.relation_id is None:
            continue
        relation_id = hook.relation_id
        if relation_id not in local.relations:
            pending.pop(relation_id, None)  # taken away by force: no more of it
            created.discard(relation_id)
            continue
        waited = pending.pop(relation_id, "")
        if waited and local.relations[relation_id].changed_pending:  # else the relation was made anew
            assert (hook.kind, hook.remote_unit) == (HookKind.RELATION_CHANGED, waited)
        if hook.kind is HookKind.RELATION_JOINED:
            pending[relation_id] = hook.remote_unit
        if hook.kind is HookKind.RELATION_CREATED:
            created.add(relation_id)
        elif hook.kind is HookKind.RELATION_BROKEN:
            assert local.relations[relation_id].members == {}
            created.discard(relation_id)
        else:
            assert relation_id in created


@QUICK
@given(events=plot, before=st.integers(0, 25))
def test_3_dead_runs_nothing(world: WORLD, events: list[Any], before: int) -> None:
    made = world()
    for event, number in events[:before]:
        event(made, number)
    made.model(life=Life.DEAD)
    ran = len(made.operations)
    for event, number in events[before:]:
        event(made, number)
    assert made.settle().answer is Answer.DEAD
    assert len(made.operations) == ran


@QUICK
@given(events=plot, crash_at=st.integers(1, 40))
@example(events=[(steps, 0), (steps, 0), (attach, 2)], crash_at=3)
def test_8_a_crash_changes_nothing(
    world: WORLD, crash: type[Exception], events: list[Any], crash_at: int
) -> None:
    """The machine keeps what it knows, so the end is the same; counters may be read a step later."""
    straight, crashed = play(world(), events), world()
    crashed.crash = crash_at
    for event, number in events:
        for _ in range(number + 1 if event is steps else 1):
            try:
                event(crashed, 0 if event is steps else number)
            except crash:
                began = crashed.started is None or crashed.journal is not None
                crashed.recover()
                if not began or crashed.half:
                    crashed.step()
    crashed.crash = None
    play(crashed, [])
    assert lasting(crashed.local) == lasting(straight.local)


def lasting(local: LocalState) -> dict[str, Any]:
    """What of a local state does not depend on when exactly a change was noticed."""
    names = [
        "kind",
        "installed",
        "started",
        "stopped",
        "leader",
        "config_hash",
        "relations",
        "storage",
        "current_charm_url",
    ]
    return {name: getattr(local, name) for name in names}


DIFFERENCES: dict[str, tuple[dict[str, Any], str]] = {
    "config": ({"config_hash": "new"}, "config-changed"),
    "trust": ({"trust_hash": "new"}, "config-changed"),
    "addresses": ({"addresses_hash": "new"}, "config-changed"),
    "charm": ({"charm_url": "ch:2", "charm_modified_version": 1}, "upgrade-charm"),
    "resource": ({"charm_modified_version": 2}, "upgrade-charm"),
    "leader": ({"leader": True}, "leader-elected"),
    "boot": ({"boot_id": "boot-2"}, "start"),
    "storage": ({"storage": {"data/0": RemoteStorage(attached=True)}}, "data-storage-attached"),
    "expired": ({"secrets_expired": (SecretRevision(uri=URI, revision=1),)}, "secret-expired"),
    "rotation": ({"secrets_rotate": (URI,)}, "secret-rotate"),
    "consumed": ({"secrets_consumed": {URI: ConsumedSecret(revision=2)}}, "secret-changed"),
    "obsolete": ({"secrets_obsolete": {URI: (1,)}}, "secret-remove"),
}
OF_RELATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "joined": ({"members": {"pg/0": 0, "pg/1": 0}}, "db-relation-joined"),
    "changed": ({"members": {"pg/0": 1}}, "db-relation-changed"),
    "application": ({"app_members": {"pg": 1}}, "db-relation-changed"),
    "departed": ({"members": {}}, "db-relation-departed"),
    "dying": ({"life": Life.DYING}, "db-relation-broken"),
    "suspended": ({"suspended": True}, "db-relation-broken"),
}


@QUICK
@given(
    names=st.sets(st.sampled_from(sorted(DIFFERENCES)), min_size=1),
    of_relation=st.sampled_from([None, *sorted(OF_RELATIONS)]),
)
def test_10_every_difference_is_told(idle: WORLD, names: set[str], of_relation: str | None) -> None:
    made = idle(
        {"relations": {1: RemoteRelation(endpoint="db", remote_application="pg", members={"pg/0": 0})}}
    )
    for name in sorted(names):
        made.model(**DIFFERENCES[name][0])
    expected = {DIFFERENCES[name][1] for name in names}
    if of_relation:
        parts, hook = OF_RELATIONS[of_relation]
        made.relate(1, **parts)
        expected.add(hook)
    assert expected <= set(made.new_hooks())


@pytest.mark.parametrize(("changes", "hook"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_10_each_difference_alone(idle: WORLD, changes: dict[str, Any], hook: str) -> None:
    assert idle(**changes).new_hooks()[0] == hook


def test_10_counters(idle: WORLD) -> None:
    assert idle(leader_settings_version=2).new_hooks() == ["leader-settings-changed"]
    assert idle(update_status_version=1).new_hooks() == ["update-status"]
