"""Reboots of the machine and its upgrade to another base."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import EffectKind
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.decide.remote import RemoteRelation, RemoteState
from pushjuju.uniter.decide.state import LocalState, OperationKind, RelationRecord, Step
from pushjuju.uniter.state.effects import begin_effects, commit_effects
from pushjuju.uniter.state.operation import Outcome

WORLD = Callable[..., Any]
REMOTE = RemoteState(unit="web/0", charm_url="ch:1")
IDLE = LocalState(installed=True, started=True, current_charm_url="ch:1", leader_settings_version=1)
A, B = "secret:aaaaaaaaaaaaaaaaaaaa", "secret:bbbbbbbbbbbbbbbbbbbb"


class TestReboot:
    """16.1."""

    def test_start_runs_once_more(self, idle: WORLD) -> None:
        world = idle(boot_id="boot-2")
        assert world.new_hooks() == ["start"]
        assert world.new_hooks() == []

    def test_not_started_yet_is_forgotten(self, world: WORLD) -> None:
        made = world()
        while "config-changed" not in made.hooks:
            made.step()
        made.model(boot_id="boot-2")
        assert made.new_hooks() == ["start"]

    def test_hook_queued_goes_first(self, idle: WORLD) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed", outcome=Outcome.TERMINATED)
        world.step()
        world.model(boot_id="boot-2")
        assert world.new_hooks() == ["config-changed", "start"]

    def test_error_goes_first(self, idle: WORLD) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed")
        world.settle()
        world.model(boot_id="boot-2")
        assert world.new_hooks() == []
        world.retry_due()
        assert world.new_hooks() == ["config-changed", "start"]

    def test_upgrade_is_not_overwritten(self, idle: WORLD) -> None:
        world = idle(charm_url="ch:2")
        world.fail("upgrade to ch:2", outcome=Outcome.INTERRUPTED)
        world.step()
        world.model(boot_id="boot-2")
        assert world.new_hooks()[:3] == ["upgrade-charm", "config-changed", "start"]

    def test_failing_start_is_retried_not_forgotten(self, idle: WORLD) -> None:
        world = idle(boot_id="boot-2")
        world.fail("start")
        world.settle()
        world.retry_due()
        assert world.new_hooks() == ["start"]
        assert world.local.boot_id == "boot-2"

    def test_juju_reboot_after_the_hook(self, idle: WORLD) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed", outcome=Outcome.REBOOT_AFTER)
        world.step()
        world.model(boot_id="boot-2")
        assert world.new_hooks() == ["start"]
        assert world.hooks == ["config-changed", "start"]

    def test_juju_reboot_now(self, idle: WORLD) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed", outcome=Outcome.REBOOT_NOW)
        world.step()
        assert (world.local.kind, world.local.step) == (OperationKind.RUN_HOOK, Step.QUEUED)
        world.model(boot_id="boot-2")
        assert world.new_hooks() == ["config-changed", "start"]

    def test_boot_learnt_late(self, world: WORLD) -> None:
        made = world(boot_id="")
        made.settle()
        made.model(boot_id="boot-1")
        assert made.new_hooks() == []
        made.model(config_hash="new")
        made.settle()
        made.model(boot_id="boot-2")
        assert made.new_hooks() == ["start"]


class TestSeries:
    """16.2."""

    def test_whole_upgrade(self, idle: WORLD) -> None:
        world = idle(series=SeriesStatus.VALIDATE)
        assert world.new_hooks() == []
        world.model(series=SeriesStatus.PREPARE_STARTED, series_target="ubuntu@24.04")
        assert world.new_hooks() == ["pre-series-upgrade"]
        assert world.remote.series is SeriesStatus.PREPARE_COMPLETED
        world.model(config_hash="new", boot_id="boot-2")
        assert world.new_hooks() == []
        world.model(series=SeriesStatus.COMPLETE_STARTED)
        assert world.new_hooks() == ["post-series-upgrade", "config-changed"]
        world.model(series=SeriesStatus.NOT_STARTED)
        assert world.new_hooks() == ["start"]
        assert world.local.series is SeriesStatus.NOT_STARTED

    def test_given_up(self, idle: WORLD) -> None:
        world = idle(series=SeriesStatus.PREPARE_STARTED, series_target="ubuntu@24.04")
        world.settle()
        world.model(series=SeriesStatus.NOT_STARTED)
        world.settle()
        world.model(series=SeriesStatus.PREPARE_STARTED)
        assert world.new_hooks() == ["pre-series-upgrade"]

    def test_nothing_is_set_right_meanwhile(self) -> None:
        """No scope is entered or left, and no subordinate comes or goes."""
        left = {1: RelationRecord()}
        relations = {1: RemoteRelation(endpoint="juju-info", implicit=True, life=Life.DYING),
                     2: RemoteRelation(endpoint="db")}  # fmt: skip
        local, remote = replace(IDLE, relations=left), replace(REMOTE, relations=relations)
        assert [effect.kind for effect in reconcile_effects(local, remote)] == [
            EffectKind.LEAVE_SCOPE,
            EffectKind.ENTER_SCOPE,
        ]
        assert reconcile_effects(local, replace(remote, series=SeriesStatus.PREPARE_COMPLETED)) == ()

    @pytest.mark.parametrize("series", [SeriesStatus.PREPARE_STARTED, SeriesStatus.COMPLETED])
    def test_subordinates_come_afterwards(self, series: SeriesStatus) -> None:
        relations = {
            1: RemoteRelation(endpoint="juju-info", container=True), 2: RemoteRelation(endpoint="db"),
        }  # fmt: skip
        remote = replace(REMOTE, relations=relations)
        assert [effect.relation_id for effect in reconcile_effects(IDLE, remote)] == [1, 2]
        during = reconcile_effects(IDLE, replace(remote, series=series))
        assert [effect.relation_id for effect in during] == [2]

    def test_hooks_tell_how_far_they_are(self) -> None:
        remote = replace(REMOTE, series=SeriesStatus.PREPARE_STARTED, series_target="ubuntu@24.04")
        operation = decide(IDLE, remote).operation
        assert operation is not None
        told = [
            *begin_effects(operation), *commit_effects(operation), *commit_effects(operation, missing=True),
        ]  # fmt: skip
        assert [(effect.message, effect.data["message"]) for effect in told] == [
            ("prepare running", "pre-series-upgrade hook running"),
            ("prepare completed", "pre-series-upgrade completed"),
            ("prepare completed", "pre-series-upgrade hook not found, skipping"),
        ]
