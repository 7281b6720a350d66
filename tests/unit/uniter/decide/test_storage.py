"""Storage: its table, waiting before install, teardown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import Answer, EffectKind, Operation, OperationName
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.decide.remote import RemoteState, RemoteStorage
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState
from pushjuju.uniter.state.operation import prepare
from tests.world.decided_unit import decided_text

WORLD = Callable[..., Any]
REMOTE = RemoteState(unit="web/0", charm_url="ch:1")
IDLE = LocalState(installed=True, started=True, current_charm_url="ch:1", leader_settings_version=1)
A, B = "secret:aaaaaaaaaaaaaaaaaaaa", "secret:bbbbbbbbbbbbbbbbbbbb"


FRESH = {"installed": False, "started": False}
THERE, NOT_YET = RemoteStorage(attached=True), RemoteStorage()
STORAGE = [
    ("alive, attached", {}, {"data/0": THERE}, "run storage-attached (data/0) hook"),
    ("alive, pending: install waits", FRESH, {"data/0": NOT_YET}, "waiting"),
    ("alive, pending on an installed unit", {}, {"data/0": NOT_YET}, "idle"),
    (
        "some attached: these first",
        FRESH,
        {"data/0": NOT_YET, "data/1": THERE},
        "run storage-attached (data/1) hook",
    ),
    (
        "all attached: install",
        {**FRESH, "storage": frozenset({"data/0"})},
        {"data/0": THERE},
        "run install hook",
    ),
    ("known", {"storage": frozenset({"data/0"})}, {"data/0": THERE}, "idle"),
    ("ascending id", {}, {"data/10": THERE, "logs/9": THERE}, "run storage-attached (logs/9) hook"),
    (
        "dying, known",
        {"storage": frozenset({"data/0"})},
        {"data/0": replace(THERE, life=Life.DYING)},
        "run storage-detaching (data/0) hook",
    ),
    ("dying, never attached", FRESH, {"data/0": replace(NOT_YET, life=Life.DYING)}, "run install hook"),
    ("dead", {"storage": frozenset({"data/0"})}, {"data/0": replace(THERE, life=Life.DEAD)}, "idle"),
]


@pytest.mark.parametrize(
    ("local", "storage", "answer"), [pytest.param(*case[1:], id=case[0]) for case in STORAGE]
)
def test_storage(local: dict[str, Any], storage: dict[str, RemoteStorage], answer: str) -> None:
    """13.2."""
    assert decided_text(replace(IDLE, **local), replace(REMOTE, storage=storage)) == answer


class TestStorageStories:
    def test_install_waits_for_all(self, world: WORLD) -> None:
        made = world(storage={"data/0": THERE, "data/1": NOT_YET})
        assert made.settle().reason == "storage is not attached yet: data/1"
        made.model(storage={"data/0": THERE, "data/1": THERE})
        assert made.new_hooks()[:2] == ["data-storage-attached", "install"]

    def test_teardown(self, idle: WORLD) -> None:
        world = idle({"storage": {"data/0": THERE}})
        world.relate(1, members={"pg/0": 0})
        world.settle()
        world.model(life=Life.DYING)
        assert world.new_hooks() == [
            "data-storage-detaching", "db-relation-departed", "db-relation-broken", "stop", "remove"
        ]  # fmt: skip
        assert world.remote.storage == {}

    def test_never_attached_goes_without_a_hook(self, world: WORLD) -> None:
        made = world(storage={"data/0": NOT_YET})
        made.settle()
        made.model(life=Life.DYING)
        assert made.settle().answer is Answer.DEAD
        assert (made.hooks, made.remote.storage) == ([], {})

    def test_forced_away(self, idle: WORLD) -> None:
        """The record goes with it: attached again, the charm hears of it again."""
        world = idle({"storage": {"data/0": THERE}}, storage={})
        assert world.new_hooks() == []
        world.model(storage={"data/0": THERE})
        assert world.new_hooks() == ["data-storage-attached"]

    def test_forced_away_in_error(self, idle: WORLD) -> None:
        world = idle(storage={"data/0": THERE})
        world.fail("data-storage-attached")
        world.settle()
        world.model(storage={})
        world.retry_due()
        assert world.new_hooks() == []
        assert world.local.storage == frozenset()

    def test_detached_while_its_hook_is_in_error(self, idle: WORLD) -> None:
        world = idle(storage={"data/0": THERE})
        world.fail("data-storage-attached")
        world.settle()
        world.model(storage={"data/0": replace(THERE, life=Life.DYING)})
        assert world.new_hooks() == []
        world.retry_due()
        assert world.new_hooks() == ["data-storage-attached", "data-storage-detaching"]
        assert world.remote.storage == {}

    def test_dying_marks_come_once(self) -> None:
        remote = replace(REMOTE, life=Life.DYING, storage={"data/0": THERE})
        local = replace(IDLE, storage=frozenset({"data/0"}))
        [effect] = reconcile_effects(local, remote)
        assert effect.kind is EffectKind.DESTROY_STORAGE_ATTACHMENTS
        marked = replace(remote, storage={"data/0": replace(THERE, life=Life.DYING)})
        assert reconcile_effects(local, marked) == ()

    def test_prepare_refuses(self) -> None:
        attached = Operation(
            name=OperationName.RUN_HOOK, hook=HookInfo(kind=HookKind.STORAGE_ATTACHED, storage_id="data/0")
        )
        detaching = replace(attached, hook=replace(attached.hook, kind=HookKind.STORAGE_DETACHING))
        with pytest.raises(NotValid, match="already attached"):
            prepare(replace(IDLE, storage=frozenset({"data/0"})), attached, REMOTE)
        with pytest.raises(NotValid, match="not attached"):
            prepare(IDLE, detaching, REMOTE)
