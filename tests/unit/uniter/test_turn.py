"""One turn of a unit on a real store: what is prepared, announced, kept and timed."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.model import model_config
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import unit_requests
from pushjuju.services.requests.application.unit_requests import make_due
from pushjuju.uniter import turn as turns
from pushjuju.uniter.decide.decision import Answer, Decision
from pushjuju.uniter.decide.state import LocalState, Step
from pushjuju.uniter.decide.wire import from_wire, replay
from pushjuju.uniter.dispatch import prepared_operation, read_operation
from pushjuju.uniter.input.snapshot import read_view
from pushjuju.uniter.turn import take_turn
from tests.bench.statements import counted
from tests.world.charms import SETUP
from tests.world.controller import TestController
from tests.world.machine import failed, ok


def _local(runtime: TestController, unit: str = "web/0") -> LocalState:
    return from_wire(LocalState, json.loads(runtime.unit(unit).state))


def _config(runtime: TestController, **values: Any) -> None:
    named = {key.replace("_", "-"): value for key, value in values.items()}
    runtime.write(lambda tx: model_config.change(tx, named))


# --- preparing --------------------------------------------------------------------------------------------


def test_first_turn_brings_the_charm(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played()
    turn = runtime.turn()
    assert (turn.answer, turn.reason) == (Answer.RUN, "install local:web-0")
    dispatch = turn.dispatch
    assert dispatch is not None
    blob = runtime.charms.make().sha256
    assert (dispatch.unit, dispatch.title, dispatch.blob) == ("web/0", "charm local:web-0", blob)
    assert dispatch.frame == {
        "t": "op", "id": dispatch.id, "kind": "deploy", "unit": "web/0", "url": "local:web-0", "sha256": blob,
    }  # fmt: skip
    (row,) = runtime.open_operations()
    assert (row.id, row.unit, row.machine, row.state, row.name) == (
        dispatch.id, "web/0", "0", "prepared", "charm local:web-0",
    )  # fmt: skip
    assert _local(runtime).step is Step.PENDING


def test_frame_of_a_hook(runtime: TestController) -> None:
    runtime.deploy()
    dispatch = runtime.until("install")
    frame = dispatch.frame
    assert sorted(frame) == ["context", "env", "hook", "id", "kind", "logging", "t", "unit"]
    assert (frame["t"], frame["kind"], frame["unit"], frame["hook"]) == ("op", "hook", "web/0", "install")
    assert frame["id"] == dispatch.id
    assert dispatch.blob == ""
    json.dumps(frame)


def test_hooks_of_a_new_unit_in_order(runtime: TestController) -> None:
    runtime.active()
    assert tuple(runtime.of("web/0")) == SETUP
    turn = runtime.turn()
    assert (turn.answer, turn.reason, turn.dispatch) == (Answer.IDLE, "nothing to do", None)


def test_every_operation_has_an_id_of_its_own(runtime: TestController) -> None:
    runtime.active(count=2)
    ids = [frame["id"] for played in runtime.played_machines.values() for frame in played.frames]
    assert len(ids) == len(set(ids)) == len(runtime.dump()["operation"])


def test_a_prepared_operation_is_built_again_alike(runtime: TestController) -> None:
    """A controller that died after prepare sends the same request, with the same id."""
    runtime.deploy()
    for title in ("charm local:web-0", "install", "cluster-relation-created", "start"):
        dispatch = runtime.until(title)
        (row,) = runtime.open_operations()

        def again(tx: Any, row: Any = row) -> Any:
            view = read_view(tx, "web/0")
            assert view is not None
            return prepared_operation(tx, view, read_operation(row.document), row.id)

        assert runtime.read(again) == dispatch
        runtime.commit(dispatch, runtime.played().run(dispatch.frame))


def test_unit_whose_hook_fate_is_unknown_is_in_error(runtime: TestController) -> None:
    """Nobody prepares a second operation while one is open, but if so the hook is not run twice."""
    runtime.deploy()
    runtime.until("install")
    turn = runtime.turn()
    assert turn.dispatch is None
    assert runtime.agent() == ("error", 'hook failed: "install"')


def test_unit_that_is_gone(runtime: TestController) -> None:
    turn = runtime.turn("web/7")
    assert (turn.answer, turn.reason) == (Answer.DEAD, "the unit is gone")


def test_dead_unit_is_left_alone(runtime: TestController) -> None:
    runtime.active()
    runtime.write(lambda tx: tx.run("unit_set_life", name="web/0", life="dead"))
    assert runtime.turn().answer is Answer.DEAD


def test_a_broken_state_changes_nothing(runtime: TestController) -> None:
    runtime.active()
    state = json.dumps({"kind": "run-hook", "step": "queued"})
    runtime.change_unit("web/0", state=state)
    runtime.clock.advance(1000)
    before = runtime.dump()
    with pytest.raises(NotValid, match="invalid operation state: missing hook info with kind run-hook"):
        runtime.turn()
    assert runtime.dump() == before


def test_going_round_in_circles_is_noticed(runtime: TestController, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.active()
    before = runtime.dump()
    monkeypatch.setattr(turns, "_step", lambda *_, **__: None)
    with pytest.raises(PushjujuError) as caught:
        runtime.turn()
    assert caught.value.message == "unit web/0 does not come to a decision after 100 steps"
    assert runtime.dump() == before


# --- what people see --------------------------------------------------------------------------------------


def test_statuses_from_the_first_turn_to_rest(runtime: TestController) -> None:
    runtime.deploy()
    runtime.settle()
    assert runtime.history(StatusKind.WORKLOAD, "web/0") == [
        ("waiting", "waiting for machine"),
        ("waiting", "agent initialising"),
        ("maintenance", "installing charm software"),
        ("unknown", ""),
    ]
    assert runtime.history(StatusKind.AGENT, "web/0") == [
        ("allocating", ""),
        *[("executing", f"running {hook} hook") for hook in SETUP],
        ("idle", ""),
    ]


def test_statuses_of_the_end(runtime: TestController) -> None:
    runtime.active()
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    runtime.until("stop")
    assert runtime.workload() == ("maintenance", "stopping charm software")
    (row,) = runtime.open_operations()
    _commit_row(runtime, row.id)
    assert runtime.workload() == ("maintenance", "")
    runtime.until("remove")
    assert runtime.workload() == ("maintenance", "cleaning up prior to charm deletion")
    (row,) = runtime.open_operations()
    _commit_row(runtime, row.id)
    assert runtime.workload() == ("terminated", "")


def _commit_row(runtime: TestController, operation: str) -> None:
    from pushjuju.uniter.commit import commit

    assert commit(runtime.ctx, operation, ok()).ok


def test_a_status_that_the_charm_set_is_left_alone(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().will(
        "install",
        ok(
            writes={"status_set": True},
            events=[{"seq": 1, "e": {"k": "status", "scope": "unit", "status": "waiting", "message": "db"}}],
        ),
    )
    runtime.settle()
    assert runtime.workload() == ("waiting", "db")  # no `unknown` after start


def test_status_set_in_the_start_hook_itself(runtime: TestController) -> None:
    runtime.deploy()
    event = {"seq": 1, "e": {"k": "status", "scope": "unit", "status": "active", "message": ""}}
    runtime.played().will("start", ok(writes={"status_set": True}, events=[event]))
    runtime.settle()
    assert runtime.workload() == ("active", "")


def test_retried_install_after_status_set_keeps_the_charms_word(runtime: TestController) -> None:
    runtime.deploy()
    event = {"seq": 1, "e": {"k": "status", "scope": "unit", "status": "blocked", "message": "no licence"}}
    runtime.played().will("install", failed(writes={"status_set": True}, events=[event]))
    runtime.settle()
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=True)
    runtime.until("install")
    assert runtime.workload() == ("blocked", "no licence")


def test_relation_hook_names_the_remote_unit(runtime: TestController) -> None:
    runtime.deploy(count=2)
    runtime.work("0")
    runtime.work("1")
    runtime.until("cluster-relation-joined", "web/0")
    assert runtime.agent() == ("executing", "running cluster-relation-joined hook for web/1")


def test_update_status_is_not_announced(runtime: TestController) -> None:
    runtime.active()
    make_due(runtime.ctx, runtime.model)
    before = runtime.history(StatusKind.AGENT, "web/0")
    dispatch = runtime.until("update-status")
    assert runtime.agent() == ("idle", "")
    runtime.commit(dispatch, ok())
    runtime.settle()
    assert runtime.history(StatusKind.AGENT, "web/0") == before


# --- update-status ----------------------------------------------------------------------------------------


def _due_in(runtime: TestController, unit: str = "web/0") -> float:
    due = runtime.unit(unit).update_status_due
    return (due - runtime.clock.now()).total_seconds()


def test_update_status_comes_within_a_fifth_of_its_interval(runtime: TestController) -> None:
    runtime.active()
    runtime.clear()
    for _ in range(5):
        assert 240 <= _due_in(runtime) <= 360
        runtime.clock.advance(_due_in(runtime) - 1)
        runtime.settle()
        assert runtime.of("web/0") == []
        runtime.clock.advance(1)
        runtime.settle()
        assert runtime.of("web/0") == ["update-status"]
        runtime.clear()


def test_waits_are_drawn_anew(runtime: TestController) -> None:
    runtime.active()
    waits = set()
    for _ in range(5):
        waits.add(round(_due_in(runtime), 3))
        runtime.clock.advance(400)
        runtime.settle()
    assert len(waits) == 5


def test_ticks_while_away_run_one_hook(runtime: TestController) -> None:
    runtime.active()
    runtime.clear()
    runtime.clock.advance(timedelta(days=1).total_seconds())
    runtime.settle()
    assert runtime.of("web/0") == ["update-status"]


def test_another_hook_swallows_the_tick(runtime: TestController) -> None:
    from pushjuju.services.requests.application import settings

    runtime.active()
    runtime.clear()
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    runtime.clock.advance(400)
    runtime.settle()
    assert runtime.of("web/0") == ["config-changed"]


def test_error_swallows_the_tick_with_the_hook_that_ends_it(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("config-changed")
    _config(runtime, automatically_retry_hooks=False)
    runtime.settle()
    runtime.clear()
    for _ in range(3):
        runtime.clock.advance(400)
        runtime.settle()
    assert runtime.of("web/0") == []
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=True)
    runtime.settle()
    assert runtime.of("web/0") == ["config-changed", "start"]


# --- retries ----------------------------------------------------------------------------------------------


def _retry_in(runtime: TestController, unit: str = "web/0") -> float | None:
    due = runtime.unit(unit).retry_due
    return None if due is None else (due - runtime.clock.now()).total_seconds()


def test_retries_back_off_and_fire(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("install", 9)
    _config(runtime, update_status_hook_interval="1000h")
    runtime.settle()
    waits = []
    for attempt in range(1, 9):
        wait = _retry_in(runtime)
        assert wait is not None
        waits.append(wait)
        assert runtime.of("web/0") == ["install"] * attempt
        assert runtime.unit("web/0").retry_count == attempt
        runtime.clock.advance(wait - 0.01)
        runtime.settle()
        assert runtime.of("web/0") == ["install"] * attempt  # not a moment too early
        runtime.clock.advance(0.01)
        runtime.settle()
    for wait, wanted in zip(waits, (5, 10, 20, 40, 80, 160, 300, 300), strict=True):
        assert wanted * 0.97 <= wait <= min(wanted * 1.03, 300)
    runtime.clock.advance(300)
    runtime.settle()
    assert runtime.of("web/0")[9:] == ["install", *SETUP[1:]]
    assert _retry_in(runtime) is None
    assert runtime.agent() == ("idle", "")


def test_no_retries_when_they_are_switched_off(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("install")
    _config(runtime, automatically_retry_hooks=False)
    runtime.settle()
    assert _retry_in(runtime) is None
    assert runtime.agent() == ("error", 'hook failed: "install"')
    turn = runtime.turn()
    assert (turn.answer, turn.reason) == (
        Answer.IDLE,
        'hook failed: "install": retries are disabled; resolve the hook',
    )


def test_switching_retries_on_and_off(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("install", 3)
    runtime.settle()
    _config(runtime, automatically_retry_hooks=False)
    runtime.settle()
    assert _retry_in(runtime) is None
    _config(runtime, automatically_retry_hooks=True)
    runtime.settle()
    wait = _retry_in(runtime)
    assert wait is not None
    assert wait <= 5.2


def test_resolved_starts_the_series_anew(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("install", 4)
    runtime.settle()
    for _ in range(2):
        runtime.clock.advance(30)
        runtime.settle()
    wait = _retry_in(runtime)
    assert wait is not None
    assert wait > 15
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=True)
    runtime.settle()
    wait = _retry_in(runtime)
    assert wait is not None
    assert wait <= 5.2


def test_success_starts_the_series_anew(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("install", 2)
    runtime.played().fail("start", 1)
    runtime.settle()
    for _ in range(2):
        runtime.clock.advance(30)
        runtime.settle()
    assert runtime.agent() == ("error", 'hook failed: "start"')
    wait = _retry_in(runtime)
    assert wait is not None
    assert wait <= 5.2


def test_error_says_when_it_began(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("install", 2)
    runtime.settle()
    assert runtime.history(StatusKind.AGENT, "web/0")[-1] == ("error", 'hook failed: "install"')
    runtime.clock.advance(1)
    before = runtime.history(StatusKind.AGENT, "web/0")
    runtime.settle()
    assert runtime.history(StatusKind.AGENT, "web/0") == before


# --- decisions kept ---------------------------------------------------------------------------------------


def test_kept_decisions_replay_alike(runtime: TestController) -> None:
    """Every decision of a life, decided again from what was kept of it, is the same."""
    kept: list[dict[str, Any]] = []
    texts: list[str] = []
    text_of, step, settle = turns._text_of, turns._step, turns._settle

    def noted(view: Any, decision: Decision) -> str:
        texts.append(text_of(view, decision))
        return texts[-1]

    def stored(act: Any) -> Any:
        def watched(ctx: Any, tx: Any, view: Any, *rest: Any, **more: Any) -> Any:
            before = len(texts)
            turn = act(ctx, tx, view, *rest, **more)
            if len(texts) > before:
                assert tx.row("unit_get", name=view.unit.name)["decision"] == texts[-1]
                kept.append(json.loads(texts[-1]))
            return turn

        return watched

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "_text_of", noted)
        patch.setattr(turns, "_step", stored(step))
        patch.setattr(turns, "_settle", stored(settle))
        runtime.deploy(count=2)
        runtime.played("0").fail("start")
        runtime.settle()
        runtime.clock.advance(10)
        runtime.settle()
        runtime.refresh(runtime.charms.make(files={"a": "b"}))
        runtime.settle()
        removals.remove_applications(runtime.ctx, runtime.model, ["web"])
        runtime.settle()
    assert len(kept) > 30
    for item in kept:
        assert replay(item) == from_wire(Decision, item["decision"])
    badges = {item["decision"]["badge"] for item in kept}
    assert {"install", "hooks", "core", "leadership", "relation-created", "restart", "unit-dead"} <= badges


def test_last_decision_is_on_the_unit(runtime: TestController) -> None:
    runtime.active()
    kept = json.loads(runtime.unit("web/0").decision)
    assert kept["decision"]["reason"] == "nothing to do"
    assert replay(kept) == from_wire(Decision, kept["decision"])


# --- the size of a turn -----------------------------------------------------------------------------------


def _statements(runtime: TestController, unit: str) -> int:
    seen: list[str] = []
    connection = runtime.ctx.store._connection
    connection.set_trace_callback(seen.append)
    try:
        runtime.turn(unit)
    finally:
        connection.set_trace_callback(None)
    return len(seen)


def test_a_turn_does_not_grow_with_the_model(runtime: TestController) -> None:
    """Statements of a decision, and of a prepared hook, with 2 and with 8 unrelated units."""
    runtime.active(count=2)
    runtime.active("other", count=2, packed=runtime.charms.make("other", peers=None))
    idle = _statements(runtime, "web/0")
    make_due(runtime.ctx, runtime.model, ["web/0"])
    hook = _statements(runtime, "web/0")
    (row,) = runtime.open_operations()
    _commit_row(runtime, row.id)
    units.add_units(runtime.ctx, runtime.model, "other", 6, [])
    runtime.settle()
    assert _statements(runtime, "web/0") == idle
    make_due(runtime.ctx, runtime.model, ["web/0"])
    assert _statements(runtime, "web/0") == hook
    assert hook < 100


# --- what has to wait -------------------------------------------------------------------------------------


def test_an_update_status_that_waits_is_found_once_and_runs_as_it_was_decided(
    runtime: TestController,
) -> None:
    runtime.ctx.store.remember()
    runtime.active()
    runtime.clock.advance(400)
    first = take_turn(runtime.ctx, runtime.model, "web/0", routine=False)
    assert (first.dispatch, first.postponed, first.reason) == (None, True, "update-status is due")
    with counted(runtime.ctx.store) as statements:
        again = take_turn(runtime.ctx, runtime.model, "web/0", routine=False)
    assert again.postponed
    assert [text for text in statements if not text.startswith("PRAGMA")] == []
    turn = take_turn(runtime.ctx, runtime.model, "web/0", decided=first.decided)
    assert turn.dispatch is not None
    assert turn.dispatch.title == "update-status"


def test_what_the_leader_remembers_does_not_wake_its_followers(runtime: TestController) -> None:
    runtime.ctx.store.remember()
    leader, *others = runtime.active(count=3)
    for name in others:
        runtime.turn(name)
    runtime.clock.advance(100)
    make_due(runtime.ctx, runtime.model, [leader])
    dispatch = runtime.prepared(leader)
    runtime.commit(dispatch, ok())
    with counted(runtime.ctx.store) as statements:
        assert [runtime.turn(name).reason for name in others] == ["nothing to do"] * 2
    assert [text for text in statements if not text.startswith("PRAGMA")] == []
