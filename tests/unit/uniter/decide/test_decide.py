"""Every row of the decision: top level, core, guards of the sub-resolvers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Decision, EffectKind
from pushjuju.uniter.decide.loop import RESOLVERS, decide
from pushjuju.uniter.decide.remote import (
    PendingAction,
    RemoteRelation,
    RemoteState,
    RemoteStorage,
    SecretRevision,
)
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind, RelationRecord, Step

SAME = {"config_hash": "c", "trust_hash": "t", "addresses_hash": "a"}
REMOTE = RemoteState(unit="web/0", charm_url="ch:1", boot_id="boot-1", **SAME)
IDLE = LocalState(
    installed=True,
    started=True,
    current_charm_url="ch:1",
    leader_settings_version=1,
    boot_id="boot-1",
    **SAME,
)
FRESH = LocalState(current_charm_url="ch:1")
URI = "secret:9m4e2mr0ui3e8a215n4g"


def queued(kind: HookKind) -> dict[str, Any]:
    """The part of a local state whose hook is queued."""
    return {"kind": OperationKind.RUN_HOOK, "step": Step.QUEUED, "hook": HookInfo(kind=kind)}


def pending(kind: HookKind) -> dict[str, Any]:
    """The part of a local state whose hook is in error."""
    return {**queued(kind), "step": Step.PENDING}


def said(decision: Decision) -> str:
    """The operation, else the answer."""
    return decision.operation.text if decision.operation else decision.answer.value


UPGRADING = {"kind": OperationKind.UPGRADE, "charm_url": "ch:2"}
CREATED = {0: RelationRecord(created=True)}
RELATED = {0: RemoteRelation(endpoint="db", remote_application="pg")}
JOINED = {0: RemoteRelation(endpoint="db", remote_application="pg", members={"pg/0": 0})}
ACTION = (PendingAction(id="1", name="dump"),)
ATTACHED = {"data/0": RemoteStorage(attached=True)}

# id, changes of the local state, changes of the remote state, operation or answer, badge
TOP = [
    ("0 remote dead", {}, {"life": Life.DEAD}, "dead", "unit-dead"),
    (
        "0 remote dead ends a hook error",
        pending(HookKind.START),
        {"life": Life.DEAD},
        "dead",
        "unit-dead",
    ),
    ("0 remote dead ends an upgrade", UPGRADING, {"life": Life.DEAD}, "dead", "unit-dead"),
    ("0 removed", {"removed": True}, {"life": Life.DYING}, "dead", "unit-dead"),
    (
        "0 removed, subordinates left",
        {"removed": True},
        {"life": Life.DYING, "subordinates": {"log/0": Life.DYING}},
        "waiting",
        "unit-dead",
    ),
    ("1 validate idles", {}, {"series": SeriesStatus.VALIDATE}, "idle", "series-upgrade"),
    (
        "1 prepare completed idles, nothing below is looked at",
        queued(HookKind.START),
        {"series": SeriesStatus.PREPARE_COMPLETED, "commands": ("1",)},
        "idle",
        "series-upgrade",
    ),
    (
        "1 prepare started",
        {},
        {"series": SeriesStatus.PREPARE_STARTED, "series_target": "ubuntu@24.04"},
        "run pre-series-upgrade hook",
        "series-upgrade",
    ),
    (
        "1 complete started",
        {"series": SeriesStatus.PREPARE_COMPLETED},
        {"series": SeriesStatus.COMPLETE_STARTED},
        "run post-series-upgrade hook",
        "series-upgrade",
    ),
    (
        "1 complete started after a restart",
        {},
        {"series": SeriesStatus.COMPLETE_STARTED},
        "run post-series-upgrade hook",
        "series-upgrade",
    ),
    ("1 completed", {"series": SeriesStatus.COMPLETED}, {}, "complete upgrade series", "series-upgrade"),
    (
        "1 the next upgrade began before the end of the last was heard of",
        {"series": SeriesStatus.COMPLETED},
        {"series": SeriesStatus.PREPARE_STARTED, "series_target": "ubuntu@24.04"},
        "complete upgrade series",
        "series-upgrade",
    ),
    (
        "1 completed, still completing",
        {"series": SeriesStatus.COMPLETED},
        {"series": SeriesStatus.COMPLETED},
        "idle",
        "core",
    ),
    (
        "1 series hooks only in kind continue",
        queued(HookKind.CONFIG_CHANGED),
        {"series": SeriesStatus.PREPARE_STARTED, "series_target": "ubuntu@24.04"},
        "run config-changed hook",
        "hooks",
    ),
    ("2 rebooted", {}, {"boot_id": "boot-2"}, "run start hook", "reboot"),
    ("2 rebooted while dying", {}, {"boot_id": "boot-2", "life": Life.DYING}, "run start hook", "reboot"),
    (
        "2 rebooted, not started",
        {"started": False},
        {"boot_id": "boot-2"},
        "idle",
        "core",
    ),
    (
        "2 rebooted after stop",
        {"stopped": True},
        {"boot_id": "boot-2", "life": Life.DYING},
        "run remove hook",
        "core",
    ),
    (
        "2 rebooted in a series upgrade",
        {},
        {"boot_id": "boot-2", "series": SeriesStatus.COMPLETED},
        "idle",
        "core",
    ),
    (
        "2 rebooted, hook queued goes first",
        queued(HookKind.CONFIG_CHANGED),
        {"boot_id": "boot-2"},
        "run config-changed hook",
        "hooks",
    ),
    (
        "2 rebooted in an upgrade",
        UPGRADING,
        {"boot_id": "boot-2", "charm_url": "ch:2"},
        "upgrade to ch:2",
        "upgrade",
    ),
    ("2 boot not known", {}, {"boot_id": ""}, "idle", "core"),
    ("3 upgrade goes on toward the newest", UPGRADING, {"charm_url": "ch:3"}, "upgrade to ch:3", "upgrade"),
    (
        "3 upgrade waits for its profile",
        UPGRADING,
        {"charm_url": "ch:2", "profile_ready": False},
        "idle",
        "upgrade",
    ),
    (
        "3 upgrade goes on while dying",
        UPGRADING,
        {"charm_url": "ch:2", "life": Life.DYING},
        "upgrade to ch:2",
        "upgrade",
    ),
    ("3 conflicted waits", {**UPGRADING, "conflicted": True}, {"charm_url": "ch:2"}, "waiting", "upgrade"),
    ("4 restart", {"restart": True}, {}, "restart", "restart"),
    (
        "4 restart before a queued hook",
        {"restart": True, **queued(HookKind.UPGRADE_CHARM)},
        {},
        "restart",
        "restart",
    ),
    (
        "6 relation-created",
        {"relations": {0: RelationRecord()}},
        {"relations": RELATED},
        "run relation-created (0; app: pg) hook",
        "relation-created",
    ),
    ("7 leadership accepted", {}, {"leader": True}, "accept leadership", "leadership"),
    ("9 secret", {}, {"secrets_rotate": (URI,)}, f"run secret-rotate ({URI}) hook", "secrets"),
    ("10 action", {}, {"actions": ACTION}, "run action 1", "actions"),
    (
        "10 run-action is answered here",
        {"kind": OperationKind.RUN_ACTION, "action_id": "7"},
        {"actions": ACTION},
        "fail action 7",
        "actions",
    ),
    ("11 commands", {}, {"commands": ("1", "2")}, "run commands", "commands"),
    ("12 storage", {}, {"storage": ATTACHED}, "run storage-attached (data/0) hook", "storage"),
    ("14 pending", pending(HookKind.START), {}, "idle", "hooks"),
    (
        "14 hook step wins: done",
        {**pending(HookKind.START), "hook_step": Step.DONE},
        {},
        "run start hook",
        "hooks",
    ),
    (
        "14 hook step wins: pending",
        {**queued(HookKind.START), "hook_step": Step.PENDING},
        {},
        "idle",
        "hooks",
    ),
    ("14 queued, other hook", queued(HookKind.START), {}, "run start hook", "hooks"),
    ("14 done", {**queued(HookKind.START), "step": Step.DONE}, {}, "run start hook", "hooks"),
    (
        "14 queued install goes to the core",
        {**queued(HookKind.INSTALL), "installed": False, "started": False},
        {},
        "run install hook",
        "core",
    ),
    ("14 continue", {}, {}, "idle", "core"),
    (
        "install before the loop",
        {"kind": OperationKind.INSTALL, "charm_url": "ch:1", "installed": False},
        {},
        "install ch:1",
        "install",
    ),
    (
        "install takes the newest charm",
        {"kind": OperationKind.INSTALL, "step": Step.QUEUED, "charm_url": "ch:1", "installed": False},
        {"charm_url": "ch:2"},
        "install ch:2",
        "install",
    ),
    (
        "install waits for its profile",
        {"kind": OperationKind.INSTALL, "charm_url": "ch:1", "installed": False},
        {"profile_ready": False},
        "idle",
        "install",
    ),
    (
        "install of a dying unit",
        {"kind": OperationKind.INSTALL, "charm_url": "ch:1", "installed": False, "started": False},
        {"life": Life.DYING},
        "dead",
        "install",
    ),
]

CORE = [
    (
        "a dying: relations first",
        {"relations": CREATED},
        {"life": Life.DYING, "relations": RELATED},
        "run relation-broken (0; app: pg) hook",
        "core",
    ),
    ("b dying, started", {}, {"life": Life.DYING}, "run stop hook", "core"),
    ("c dying, stopped", {"stopped": True}, {"life": Life.DYING}, "run remove hook", "core"),
    ("c dying, never started", {"started": False}, {"life": Life.DYING}, "run remove hook", "core"),
    ("d dying, not installed", {"installed": False, "started": False}, {"life": Life.DYING}, "dead", "core"),
    (
        "d dying, install queued",
        {**queued(HookKind.INSTALL), "installed": False, "started": False},
        {"life": Life.DYING},
        "dead",
        "core",
    ),
    ("e install", {"installed": False, "started": False}, {}, "run install hook", "core"),
    ("e started without installed goes on", {"installed": False}, {}, "idle", "core"),
    ("f another charm", {}, {"charm_url": "ch:2"}, "upgrade to ch:2", "core"),
    ("f another resource", {}, {"charm_modified_version": 1}, "upgrade to ch:1", "core"),
    ("f charm not known", {}, {"charm_url": "", "charm_modified_version": 1}, "idle", "core"),
    (
        "f profile not there: all below waits too",
        {},
        {"charm_url": "ch:2", "profile_ready": False, "config_hash": "new"},
        "idle",
        "core",
    ),
    ("g config", {}, {"config_hash": "new"}, "run config-changed hook", "core"),
    ("g trust", {}, {"trust_hash": "new"}, "run config-changed hook", "core"),
    ("g addresses", {}, {"addresses_hash": "new"}, "run config-changed hook", "core"),
    (
        "g before h",
        {"relations": CREATED},
        {"relations": JOINED, "config_hash": "new"},
        "run config-changed hook",
        "core",
    ),
    ("f before g", {}, {"charm_url": "ch:2", "config_hash": "new"}, "upgrade to ch:2", "core"),
    (
        "h relations",
        {"relations": CREATED},
        {"relations": JOINED},
        "run relation-joined (0; unit: pg/0) hook",
        "core",
    ),
    (
        "h before i",
        {"relations": CREATED},
        {"relations": JOINED, "update_status_version": 1},
        "run relation-joined (0; unit: pg/0) hook",
        "core",
    ),
    ("i update-status", {}, {"update_status_version": 1}, "run update-status hook", "core"),
    ("j otherwise", {}, {}, "idle", "core"),
]

# What the text after the top-level table promises.
CONSEQUENCES = [
    ("commands run in hook error", pending(HookKind.START), {"commands": ("1",)}, "run commands", "commands"),
    (
        "commands run before queued hooks",
        queued(HookKind.START),
        {"commands": ("1",)},
        "run commands",
        "commands",
    ),
    (
        "commands run on a dying unit",
        {},
        {"commands": ("1",), "life": Life.DYING},
        "run commands",
        "commands",
    ),
    ("actions run in hook error", pending(HookKind.START), {"actions": ACTION}, "run action 1", "actions"),
    ("actions wait for queued hooks", queued(HookKind.START), {"actions": ACTION}, "run start hook", "hooks"),
    (
        "storage-attached comes before install",
        {"installed": False, "started": False, **queued(HookKind.INSTALL)},
        {"storage": ATTACHED},
        "run storage-attached (data/0) hook",
        "storage",
    ),
    (
        "a queued hook runs on a dying unit",
        queued(HookKind.START),
        {"life": Life.DYING},
        "run start hook",
        "hooks",
    ),
    ("dying is not seen in hook error", pending(HookKind.START), {"life": Life.DYING}, "idle", "hooks"),
]

BUSY = {"leader": True, "secrets_rotate": (URI,), "relations": RELATED, "storage": ATTACHED}
ENTERED = {0: RelationRecord()}
GUARDS = [
    (
        "relation-created: not installed",
        {"installed": False, "started": False, "relations": ENTERED},
        {"relations": RELATED},
        "run install hook",
        "core",
    ),
    (
        "relation-created: dying",
        {"relations": ENTERED},
        {"relations": RELATED, "life": Life.DYING},
        "run relation-broken (0; app: pg) hook",
        "core",
    ),
    (
        "relation-created: hook queued",
        {**queued(HookKind.START), "relations": ENTERED},
        {"relations": RELATED},
        "run start hook",
        "hooks",
    ),
    (
        "leadership: not installed",
        {"installed": False, "started": False},
        {"leader": True},
        "run install hook",
        "core",
    ),
    ("leadership: dying", {}, {"leader": True, "life": Life.DYING}, "run stop hook", "core"),
    ("leadership: hook queued", queued(HookKind.START), {"leader": True}, "run start hook", "hooks"),
    (
        "leadership: resign in any kind",
        {**pending(HookKind.START), "leader": True},
        {},
        "resign leadership",
        "leadership",
    ),
    (
        "secrets: not installed",
        {"installed": False, "started": False},
        {"secrets_rotate": (URI,)},
        "run install hook",
        "core",
    ),
    ("secrets: dying", {}, {"secrets_rotate": (URI,), "life": Life.DYING}, "run stop hook", "core"),
    ("secrets: hook queued", queued(HookKind.START), {"secrets_rotate": (URI,)}, "run start hook", "hooks"),
    (
        "actions: not installed",
        {"installed": False, "started": False},
        {"actions": ACTION},
        "run action 1",
        "actions",
    ),
    ("actions: dying", {}, {"actions": ACTION, "life": Life.DYING}, "run action 1", "actions"),
    (
        "actions: completed ones are over",
        {"completed_actions": frozenset({"1"})},
        {"actions": ACTION},
        "idle",
        "core",
    ),
    (
        "commands: not installed",
        {"installed": False, "started": False},
        {"commands": ("1",)},
        "run commands",
        "commands",
    ),
    ("storage: hook error", pending(HookKind.START), {"storage": ATTACHED}, "idle", "hooks"),
    (
        "storage: hook queued on an installed unit",
        queued(HookKind.START),
        {"storage": ATTACHED},
        "run start hook",
        "hooks",
    ),
    ("all of them in hook error", pending(HookKind.CONFIG_CHANGED), BUSY, "idle", "hooks"),
]


@pytest.mark.parametrize(
    ("local", "remote", "answer", "badge"),
    [pytest.param(*case[1:], id=case[0]) for case in (*TOP, *CORE, *CONSEQUENCES, *GUARDS)],
)
def test_row(local: dict[str, Any], remote: dict[str, Any], answer: str, badge: str) -> None:
    decision = decide(replace(IDLE, **local), replace(REMOTE, **remote))
    assert (said(decision), decision.badge) == (answer, badge)
    assert decision.reason


def test_order_is_jujus() -> None:
    assert [name for name, _ in RESOLVERS] == [
        "unit-dead",
        "install",
        "charm-directory",
        "series-upgrade",
        "reboot",
        "upgrade",
        "restart",
        "retry-timer",
        "relation-created",
        "leadership",
        "secrets",
        "actions",
        "commands",
        "storage",
        "hooks",
        "core",
    ]


# Each entry makes its own sub-resolver answer; all stronger ones are silent. Together they answer in order.
LADDER: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("run update-status hook", {}, {"update_status_version": 1}),
    ("run relation-joined (0; unit: pg/0) hook", {"relations": CREATED}, {"relations": JOINED}),
    ("run config-changed hook", {}, {"config_hash": "new"}),
    ("upgrade to ch:2", {}, {"charm_url": "ch:2"}),
    ("run storage-attached (data/0) hook", {}, {"storage": ATTACHED}),
    ("run commands", {}, {"commands": ("1",)}),
    ("run action 1", {}, {"actions": ACTION}),
    (f"run secret-expired ({URI}) hook", {}, {"secrets_expired": (SecretRevision(uri=URI, revision=1),)}),
    ("accept leadership", {}, {"leader": True}),
    ("run relation-created (0; app: pg) hook", {"relations": {0: RelationRecord()}}, {}),
    ("restart", {"restart": True}, {}),
    ("run start hook", {}, {"boot_id": "boot-2"}),
    ("idle", {}, {"series": SeriesStatus.VALIDATE}),
    ("dead", {}, {"life": Life.DEAD}),
]


@pytest.mark.parametrize("rung", range(len(LADDER)), ids=[entry[0] for entry in LADDER])
def test_the_stronger_answers_first(rung: int) -> None:
    local, remote = IDLE, REMOTE
    for _, more_local, more_remote in LADDER[: rung + 1]:
        local, remote = replace(local, **more_local), replace(remote, **more_remote)
    assert said(decide(local, remote)) == LADDER[rung][0]


class TestEffects:
    def test_idle_is_reported_in_kind_continue_only(self) -> None:
        assert [e.kind for e in decide(IDLE, REMOTE).effects] == [EffectKind.REPORT_IDLE]
        failed = decide(replace(IDLE, **pending(HookKind.START)), REMOTE)
        assert EffectKind.REPORT_IDLE not in [e.kind for e in failed.effects]

    def test_waiting_is_not_idle(self) -> None:
        decision = decide(FRESH, replace(REMOTE, storage={"data/0": RemoteStorage()}))
        assert (said(decision), decision.effects) == ("waiting", ())

    def test_retry_timer_is_stopped_outside_hook_error(self) -> None:
        decision = decide(replace(IDLE, retry_timer_running=True), REMOTE)
        assert [e.kind for e in decision.effects] == [EffectKind.DISARM_RETRY_TIMER, EffectKind.REPORT_IDLE]

    def test_dying_principal_takes_subordinates_along(self) -> None:
        remote = replace(REMOTE, life=Life.DYING, subordinates={"log/0": Life.ALIVE})
        decision = decide(IDLE, remote)
        assert said(decision) == "run stop hook"
        assert [e.kind for e in decision.effects] == [EffectKind.DESTROY_SUBORDINATES]
        failed = decide(replace(IDLE, **pending(HookKind.START)), remote)
        assert EffectKind.DESTROY_SUBORDINATES not in [e.kind for e in failed.effects]

    def test_subordinates_are_destroyed_once(self) -> None:
        remote = replace(REMOTE, life=Life.DYING, subordinates={"log/0": Life.DYING})
        assert decide(IDLE, remote).effects == ()


def test_vanished_charm_directory() -> None:
    gone = replace(REMOTE, charm_present=False)
    assert said(decide(IDLE, gone)) == "upgrade to ch:1"
    assert said(decide(replace(IDLE, **pending(HookKind.START)), gone)) == "upgrade to ch:1"
    assert said(decide(replace(FRESH, **pending(HookKind.INSTALL)), gone)) == "install ch:1"
    assert said(decide(IDLE, replace(gone, profile_ready=False))) == "idle"
    assert said(decide(IDLE, replace(gone, charm_url=""))) == "idle"
