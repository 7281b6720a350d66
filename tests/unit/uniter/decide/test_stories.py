"""Lives of units as people know them: deployment, errors, reboots, removal, and crashes anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Answer, EffectKind
from pushjuju.uniter.decide.remote import PendingAction, RemoteRelation, RemoteStorage
from pushjuju.uniter.decide.state import OperationKind, ResolvedMode, Step
from pushjuju.uniter.state.operation import Outcome

WORLD = Callable[..., Any]
PEER = RemoteRelation(endpoint="cluster", peer=True, remote_application="web", app_members={"web": 0})
PG = RemoteRelation(endpoint="db", remote_application="pg", members={"pg/0": 1}, app_members={"pg": 2})
DATA = {"data/0": RemoteStorage(attached=True)}


class TestDeploy:
    def test_whole_order(self, world: WORLD) -> None:
        """19, set-up."""
        made = world(leader=True, relations={0: PEER, 1: PG}, storage=DATA)
        assert made.settle().answer is Answer.IDLE
        assert made.hooks == [
            "data-storage-attached", "install", "cluster-relation-created", "db-relation-created",
            "leader-elected", "config-changed", "start",
            "db-relation-changed", "db-relation-joined", "db-relation-changed",
        ]  # fmt: skip
        assert made.effects[-1].kind is EffectKind.REPORT_IDLE
        assert (made.local.kind, made.local.storage) == (OperationKind.CONTINUE, {"data/0"})

    def test_rest_stays_rest(self, idle: WORLD) -> None:
        world = idle()
        before = world.local
        assert world.settle().reason == "nothing to do"
        assert (world.local, world.operations) == (before, [])

    def test_charm_without_hooks(self, world: WORLD) -> None:
        made = world()
        for name in ("install", "leader-settings-changed", "config-changed", "start"):
            made.fail(name, outcome=Outcome.MISSING)
        made.settle()
        assert made.local.started

    def test_update_status_comes_last_and_is_swallowed(self, idle: WORLD) -> None:
        assert idle(update_status_version=3).new_hooks() == ["update-status"]
        assert idle(update_status_version=3, config_hash="new").new_hooks() == ["config-changed"]

    def test_terminated_hook_runs_again_at_once(self, idle: WORLD) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed", outcome=Outcome.TERMINATED)
        assert world.new_hooks() == ["config-changed", "config-changed"]

    def test_unpacking_fails_at_install(self, world: WORLD) -> None:
        made = world()
        made.fail("install local:web-0", 2)
        made.settle()
        assert made.operations[:3] == ["install local:web-0"] * 3
        assert made.local.started


class TestErrors:
    @pytest.mark.parametrize("hook", ["install", "leader-settings-changed", "config-changed", "start"])
    def test_each_hook_of_the_setup(self, world: WORLD, hook: str) -> None:
        expected = ["install", "leader-settings-changed", "config-changed", "start"]
        for mode in ResolvedMode:
            made = world()
            made.fail(hook)
            made.settle()
            assert made.hooks == expected[: expected.index(hook) + 1]
            if mode is ResolvedMode.NONE:
                made.retry_due()
            made.model(resolved=mode)
            made.settle()
            again = [] if mode is ResolvedMode.NO_HOOKS else [hook]
            at = expected.index(hook) + 1
            assert made.hooks == [*expected[:at], *again, *expected[at:]]
            assert made.local.started

    def test_joined_skipped_is_still_followed_by_changed(self, idle: WORLD) -> None:
        world = idle(relations={1: PG})
        world.fail("db-relation-joined")
        world.settle()
        world.model(resolved=ResolvedMode.NO_HOOKS)
        assert world.new_hooks() == ["db-relation-changed"]
        assert world.local.relations[1].members == {"pg/0": 1}


class TestRemoval:
    """17.3: the hooks that still run, by the state in which Dying arrives."""

    def test_not_installed(self, world: WORLD) -> None:
        made = world(life=Life.DYING)
        assert made.settle().answer is Answer.DEAD
        assert made.operations == []

    def test_waiting_for_storage(self, world: WORLD) -> None:
        made = world(storage={"data/0": RemoteStorage(attached=True), "data/1": RemoteStorage()})
        made.settle()
        made.model(life=Life.DYING)
        assert made.new_hooks() == ["data-storage-detaching"]
        assert made.remote.storage == {}

    def test_install_queued(self, world: WORLD) -> None:
        made = world()
        made.step()
        made.model(life=Life.DYING)
        assert made.new_hooks() == []
        assert made.settle().answer is Answer.DEAD

    def test_installed_not_started(self, world: WORLD) -> None:
        made = world(relations={1: PG})
        while "db-relation-created" not in made.hooks:
            made.step()
        made.model(life=Life.DYING)
        assert made.new_hooks() == ["db-relation-broken", "remove"]

    def test_hook_queued(self, world: WORLD) -> None:
        made = world()
        while "config-changed" not in made.hooks:
            made.step()
        made.model(life=Life.DYING)
        assert made.new_hooks() == ["start", "stop", "remove"]

    def test_started_idle(self, idle: WORLD) -> None:
        world = idle({"leader": True, "relations": {0: PEER, 1: PG}, "storage": DATA}, life=Life.DYING)
        assert world.settle().answer is Answer.DEAD
        assert world.operations[0] == "resign leadership"
        assert world.hooks == [
            "data-storage-detaching", "db-relation-departed", "db-relation-broken", "stop", "remove"
        ]  # fmt: skip

    @pytest.mark.parametrize("mode", [ResolvedMode.RETRY_HOOKS, ResolvedMode.NO_HOOKS])
    def test_hook_error(self, idle: WORLD, mode: ResolvedMode) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed")
        world.settle()
        world.model(life=Life.DYING)
        assert world.new_hooks() == []
        world.model(resolved=mode)
        retried = ["config-changed"] if mode is ResolvedMode.RETRY_HOOKS else []
        assert world.new_hooks() == [*retried, "stop", "remove"]

    def test_upgrade_under_way(self, idle: WORLD) -> None:
        world = idle(charm_url="ch:2")
        world.step()
        world.model(life=Life.DYING)
        assert world.new_hooks() == ["upgrade-charm", "config-changed", "stop", "remove"]

    @pytest.mark.parametrize("steps", range(9))
    def test_dead_at_once(self, world: WORLD, steps: int) -> None:
        made = world(relations={1: PG})
        for _ in range(steps):
            made.step()
        made.model(life=Life.DEAD)
        assert made.new_hooks() == []
        assert made.settle().answer is Answer.DEAD

    def test_failing_teardown(self, idle: WORLD) -> None:
        world = idle(life=Life.DYING)
        world.fail("stop")
        assert world.settle().answer is Answer.IDLE
        world.retry_due()
        assert world.new_hooks() == ["stop", "remove"]

    def test_principal_waits_for_its_subordinates(self, idle: WORLD) -> None:
        world = idle(life=Life.DYING, subordinates={"log/0": Life.ALIVE})
        decision = world.settle()
        assert (decision.answer, world.hooks) == (Answer.WAITING, ["stop", "remove"])
        assert "log/0" in decision.reason

    def test_subordinate_goes_with_its_relation(self, idle: WORLD) -> None:
        tie = RemoteRelation(endpoint="info", remote_application="web", container=True, members={"web/0": 0})
        world = idle({"unit": "log/0", "principal": "web/0", "relations": {1: tie}})
        world.relate(1, life=Life.DYING)
        assert world.settle().answer is Answer.DEAD
        assert world.hooks == ["info-relation-departed", "info-relation-broken", "stop", "remove"]
        departed = world.infos[-4][0]
        assert departed.departee == "log/0"


FULL = {"leader": True, "relations": {0: PEER, 1: PG}, "storage": DATA}
EVENTS: dict[str, Callable[[Any], None]] = {
    "deploy": lambda world: None,
    "refresh": lambda world: world.model(charm_url="ch:2", charm_modified_version=1, config_hash="new"),
    "action": lambda world: world.model(actions=(PendingAction(id="1", name="dump"),), commands=("1",)),
    "reboot": lambda world: world.model(boot_id="boot-2"),
    "removal": lambda world: world.model(life=Life.DYING),
    "relation goes": lambda world: world.relate(1, life=Life.DYING),
}


class TestCrash:
    """21.1, 8: the controller dies after any write; the machine keeps what it knows."""

    @pytest.mark.parametrize("event", EVENTS)
    def test_anywhere(self, world: WORLD, crash: type[Exception], event: str) -> None:
        straight = self.begin(world, event)
        straight.settle()
        for writes in range(1, straight.writes + 1):
            crashed = self.begin(world, event)
            crashed.crash = writes
            with pytest.raises(crash):
                crashed.settle()
            crashed.recover()
            last = crashed.settle()
            assert last.answer in (Answer.IDLE, Answer.DEAD)
            assert crashed.hooks == straight.hooks
            assert crashed.local == replace(straight.local, completed_actions=crashed.local.completed_actions)

    @pytest.mark.parametrize("event", ["deploy", "refresh", "removal"])
    def test_fate_unknown(self, world: WORLD, crash: type[Exception], event: str) -> None:
        """Lost for good: that hook counts as failed, and runs again only when asked for."""
        straight = self.begin(world, event)
        straight.settle()
        for writes in range(1, straight.writes + 1):
            crashed = self.begin(world, event)
            crashed.crash = writes
            with pytest.raises(crash):
                crashed.settle()
            lost = crashed.started is not None and crashed.started.hook is not None
            if crashed.started is not None:
                crashed.journal = Outcome.INTERRUPTED
            crashed.recover()
            decision = crashed.settle()
            assert (EffectKind.REPORT_ERROR in [item.kind for item in decision.effects]) is lost
            if lost:
                assert crashed.local.step is Step.PENDING
                crashed.model(resolved=ResolvedMode.RETRY_HOOKS)
                crashed.settle()
            assert crashed.local == straight.local
            assert len(crashed.hooks) <= len(straight.hooks) + 1

    def begin(self, world: WORLD, event: str) -> Any:
        made = world(**FULL)
        if event != "deploy":
            made.settle()
        EVENTS[event](made)
        made.hooks.clear()
        made.writes = 0
        return made
