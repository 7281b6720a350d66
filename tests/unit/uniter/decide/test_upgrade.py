"""Charm upgrades in every state of a unit, with and without force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Answer, EffectKind
from pushjuju.uniter.decide.remote import PendingAction, RemoteStorage
from pushjuju.uniter.decide.state import HookKind, OperationKind, ResolvedMode, Step
from pushjuju.uniter.state.operation import Outcome

NEW = {"charm_url": "ch:2", "charm_modified_version": 1, "config_hash": "config-2"}
FORCED = {**NEW, "force_charm": True}
WORLD = Callable[..., Any]
both = pytest.mark.parametrize("refresh", [NEW, FORCED], ids=["unforced", "forced"])


class TestSteadyState:
    @both
    def test_order(self, idle: WORLD, refresh: dict[str, Any]) -> None:
        """9.2: start is not run again."""
        world = idle(**refresh)
        assert world.settle().answer is Answer.IDLE
        assert world.hooks == ["upgrade-charm", "config-changed", "leader-settings-changed"]
        assert world.operations[0] == "upgrade to ch:2"
        assert world.local.current_charm_url == "ch:2"

    def test_restart_between(self, idle: WORLD) -> None:
        world = idle(**NEW)
        assert [world.step().answer for _ in range(3)] == [Answer.RUN, Answer.RESTART, Answer.RUN]

    def test_leader_hears_nothing_of_its_settings(self, idle: WORLD) -> None:
        assert idle({"leader": True}, **NEW).new_hooks() == ["upgrade-charm", "config-changed"]

    def test_new_peer_relation_follows(self, idle: WORLD) -> None:
        """The unit enters it once the charm on the machine has the endpoint."""
        world = idle(**NEW)
        world.relate(0, "cluster", peer=True, remote_application="web", implemented=False)
        world.step()
        world.relate(0, implemented=True)
        assert world.new_hooks()[:3] == ["upgrade-charm", "config-changed", "cluster-relation-created"]

    def test_endpoint_that_only_the_new_charm_has(self, idle: WORLD) -> None:
        world = idle()
        world.relate(0, "cluster", peer=True, remote_application="web", implemented=False)
        assert world.new_hooks() == []
        world.relate(0, implemented=True)
        assert world.new_hooks() == ["cluster-relation-created"]

    def test_new_storage_follows(self, idle: WORLD) -> None:
        """However soon it is attached, the old charm does not hear of it."""
        world = idle(**NEW, storage={"data/0": RemoteStorage(attached=True, implemented=False)})
        world.step()
        world.model(storage={"data/0": RemoteStorage(attached=True)})
        assert world.new_hooks() == [
            "upgrade-charm", "config-changed", "leader-settings-changed", "data-storage-attached"
        ]  # fmt: skip

    def test_resource(self, idle: WORLD) -> None:
        """9.1: the same charm with another resource."""
        world = idle(charm_modified_version=1)
        assert world.new_hooks()[:2] == ["upgrade-charm", "config-changed"]
        assert world.local.charm_modified_version == 1

    def test_resource_seen_first_by_another_hook(self, idle: WORLD) -> None:
        """A stronger hook does not swallow the change, as it would in Juju."""
        world = idle(charm_modified_version=1, boot_id="boot-2")
        assert world.new_hooks()[:3] == ["start", "upgrade-charm", "config-changed"]

    def test_new_unit_of_an_old_application(self, world: WORLD) -> None:
        made = world(charm_modified_version=5)
        made.settle()
        assert "upgrade-charm" not in made.hooks


class TestQueued:
    @both
    @pytest.mark.parametrize("hook", [HookKind.START, HookKind.LEADER_ELECTED])
    def test_queued_hooks_first(self, world: WORLD, refresh: dict[str, Any], hook: HookKind) -> None:
        """9.3, hook queued."""
        made = world(leader=True)
        while made.local.hook is None or (made.local.hook.kind, made.local.step) != (hook, Step.QUEUED):
            made.step()
        made.model(**refresh)
        made.settle()
        assert made.hooks.index(hook) < made.hooks.index("upgrade-charm")
        assert made.hooks.count("start") == 1
        assert made.local.current_charm_url == "ch:2"

    @both
    def test_config_changed_queued_by_the_upgrade_before(self, idle: WORLD, refresh: dict[str, Any]) -> None:
        world = idle(charm_modified_version=1)
        while "upgrade-charm" not in world.hooks:
            world.step()
        world.model(**{**refresh, "charm_modified_version": 2})
        world.settle()
        assert world.hooks == [
            "upgrade-charm", "config-changed", "leader-settings-changed",
            "upgrade-charm", "config-changed", "leader-settings-changed",
        ]  # fmt: skip

    @both
    def test_install_queued(self, world: WORLD, refresh: dict[str, Any]) -> None:
        """9.3, not installed: install with the old unpacked charm first."""
        made = world()
        made.step()
        made.model(**refresh)
        made.settle()
        assert made.hooks[:4] == ["install", "leader-settings-changed", "upgrade-charm", "config-changed"]
        assert made.operations[:2] == ["install local:web-0", "run install hook"]
        assert "start" in made.hooks

    @both
    def test_nothing_unpacked_yet(self, world: WORLD, refresh: dict[str, Any]) -> None:
        made = world(**refresh)
        made.settle()
        assert made.operations[0] == "install ch:2"
        assert "upgrade-charm" not in made.hooks


class TestHookError:
    def test_not_started_unforced(self, world: WORLD) -> None:
        """9.3: ignored until resolved; then the queued hooks, then the upgrade."""
        made = world()
        made.fail("config-changed", 2)
        made.settle()
        made.model(**NEW)
        assert made.new_hooks() == []
        made.retry_due()
        assert made.new_hooks() == ["config-changed"]
        made.model(resolved=ResolvedMode.RETRY_HOOKS)
        hooks = made.new_hooks()
        assert hooks[:4] == ["config-changed", "start", "upgrade-charm", "config-changed"]

    def test_started_unforced(self, idle: WORLD) -> None:
        """9.3 with the recommendation: the error is left alone, also at a retry."""
        world = idle(config_hash="new")
        world.fail("config-changed", 2)
        world.settle()
        world.model(**NEW)
        world.retry_due()
        world.settle()
        assert world.local.current_charm_url == "local:web-0"
        world.retry_due()
        assert world.new_hooks()[:3] == ["config-changed", "upgrade-charm", "config-changed"]

    @pytest.mark.parametrize("started", [False, True], ids=["not started", "started"])
    def test_forced(self, world: WORLD, started: bool) -> None:
        """9.3: at once; the error of the hook comes back, upgrade-charm never runs."""
        made = world()
        if started:
            made.settle()
            made.model(trust_hash="new")
        made.fail("config-changed")
        made.settle()
        made.model(**FORCED)
        decision = made.settle()
        assert decision.reason.startswith('hook failed: "config-changed"')
        assert made.local.current_charm_url == "ch:2"
        made.model(resolved=ResolvedMode.NO_HOOKS)
        made.settle()
        assert "upgrade-charm" not in made.hooks

    def test_forced_brings_config_changed_later(self, idle: WORLD) -> None:
        world = idle(update_status_version=1)
        world.fail("update-status")
        world.settle()
        world.model(**FORCED)
        world.settle()
        world.model(resolved=ResolvedMode.NO_HOOKS)
        assert world.new_hooks() == ["leader-settings-changed", "config-changed"]

    def test_upgrade_charm_itself_unforced(self, idle: WORLD) -> None:
        world = idle(**NEW)
        world.fail("upgrade-charm")
        world.settle()
        world.model(charm_url="ch:3", charm_modified_version=2)
        assert world.new_hooks() == []
        world.model(resolved=ResolvedMode.RETRY_HOOKS)
        assert world.new_hooks()[:2] == ["upgrade-charm", "config-changed"]
        assert world.local.current_charm_url == "ch:3"

    def test_upgrade_charm_itself_forced(self, idle: WORLD) -> None:
        world = idle(**NEW)
        world.fail("upgrade-charm")
        world.settle()
        world.model(**{**FORCED, "charm_url": "ch:3"})
        assert world.settle().reason.startswith('hook failed: "upgrade-charm"')
        world.retry_due()
        assert world.new_hooks()[:2] == ["upgrade-charm", "config-changed"]
        assert world.hooks.count("upgrade-charm") == 2


class TestOtherStates:
    @both
    def test_upgrading(self, idle: WORLD, refresh: dict[str, Any]) -> None:
        """9.3: the present upgrade goes on toward the newest charm."""
        world = idle(**NEW)
        world.fail("upgrade to ch:2", outcome=Outcome.INTERRUPTED)
        world.step()
        world.model(**{**refresh, "charm_url": "ch:3"})
        world.settle()
        assert world.operations[:2] == ["upgrade to ch:2", "upgrade to ch:3"]
        assert world.hooks.count("upgrade-charm") == 1

    @both
    def test_dying_idle(self, idle: WORLD, refresh: dict[str, Any]) -> None:
        """9.3: never, teardown comes first."""
        world = idle(life=Life.DYING, **refresh)
        assert world.settle().answer is Answer.DEAD
        assert world.hooks == ["stop", "remove"]

    def test_dying_in_hook_error(self, idle: WORLD) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed")
        world.settle()
        world.model(life=Life.DYING, **NEW)
        world.settle()
        assert world.local.current_charm_url == "local:web-0"
        world.model(**FORCED)
        assert world.settle().reason.startswith('hook failed: "config-changed"')
        assert world.local.current_charm_url == "ch:2"

    @both
    def test_dead(self, idle: WORLD, refresh: dict[str, Any]) -> None:
        world = idle(life=Life.DEAD, **refresh)
        assert world.settle().answer is Answer.DEAD
        assert world.operations == []

    @both
    def test_profile(self, idle: WORLD, refresh: dict[str, Any]) -> None:
        """9.3: it waits, and all below it waits too."""
        world = idle(profile_ready=False, update_status_version=1, **refresh)
        decision = world.settle()
        assert (decision.answer, world.operations) == (Answer.IDLE, [])
        assert decision.reason == "required charm profile not yet applied to machine"
        world.model(profile_ready=True)
        assert world.new_hooks()[0] == "upgrade-charm"

    def test_vanished_directory(self, idle: WORLD) -> None:
        """7.2: it is brought again, and upgrade-charm and config-changed run."""
        world = idle(charm_present=False)
        world.step()
        world.model(charm_present=True)
        assert world.new_hooks()[:2] == ["upgrade-charm", "config-changed"]

    def test_vanished_directory_keeps_a_queued_hook(self, world: WORLD) -> None:
        made = world()
        while "config-changed" not in made.hooks:
            made.step()
        made.model(charm_present=False)
        made.step()
        made.model(charm_present=True)
        assert made.new_hooks()[0] == "start"
        assert made.local.started


class TestConflict:
    @pytest.fixture
    def conflicted(self, idle: WORLD) -> Any:
        world = idle(**NEW)
        world.fail("upgrade to ch:2", outcome=Outcome.CONFLICT)
        world.settle()
        return world

    def test_waits_and_says_so(self, conflicted: Any) -> None:
        decision = conflicted.settle()
        assert decision.answer is Answer.WAITING
        [report] = decision.effects
        assert (report.kind, report.message, report.data) == (EffectKind.REPORT_ERROR, "upgrade failed", {})
        assert (conflicted.local.kind, conflicted.local.step) == (OperationKind.UPGRADE, Step.PENDING)

    @pytest.mark.parametrize("mode", [ResolvedMode.RETRY_HOOKS, ResolvedMode.NO_HOOKS])
    def test_resolved(self, conflicted: Any, mode: ResolvedMode) -> None:
        conflicted.model(resolved=mode)
        assert conflicted.new_hooks()[:2] == ["upgrade-charm", "config-changed"]
        assert "continue upgrade to ch:2" in conflicted.operations
        assert conflicted.remote.resolved is ResolvedMode.NONE
        assert not conflicted.local.conflicted

    def test_another_charm_unforced_waits(self, conflicted: Any) -> None:
        conflicted.model(charm_url="ch:3")
        assert conflicted.settle().answer is Answer.WAITING

    def test_another_charm_forced(self, conflicted: Any) -> None:
        conflicted.model(**{**FORCED, "charm_url": "ch:3"})
        assert conflicted.new_hooks()[0] == "upgrade-charm"
        assert "switch upgrade to ch:3" in conflicted.operations

    def test_dying_does_not_end_it(self, conflicted: Any) -> None:
        conflicted.model(life=Life.DYING)
        assert conflicted.settle().answer is Answer.WAITING
        conflicted.model(resolved=ResolvedMode.RETRY_HOOKS)
        assert conflicted.new_hooks() == ["upgrade-charm", "config-changed", "stop", "remove"]

    def test_dead_ends_it(self, conflicted: Any) -> None:
        conflicted.model(life=Life.DEAD)
        assert conflicted.settle().answer is Answer.DEAD

    def test_profile(self, conflicted: Any) -> None:
        conflicted.model(profile_ready=False, resolved=ResolvedMode.RETRY_HOOKS)
        assert conflicted.settle().answer is Answer.IDLE

    def test_no_action_meanwhile(self, conflicted: Any) -> None:
        conflicted.model(actions=(PendingAction(id="1", name="dump"),))
        assert conflicted.settle().answer is Answer.WAITING
