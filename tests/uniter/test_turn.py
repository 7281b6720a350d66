"""One turn of a unit on a real store: what is prepared, announced, kept and timed."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.model import model_config
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests.update_status import make_due
from pushjuju.uniter import turn as turns
from pushjuju.uniter.prepared import prepared_operation, read_operation
from pushjuju.uniter.resolver import Answer, Decision, LocalState, Step, from_wire, replay
from pushjuju.uniter.snapshot import look
from tests.unit.services.world import SETUP, World, failed, ok


def _local(shop: World, unit: str = "web/0") -> LocalState:
    return from_wire(LocalState, json.loads(shop.unit(unit).state))


def _config(shop: World, **values: Any) -> None:
    named = {key.replace("_", "-"): value for key, value in values.items()}
    shop.write(lambda tx: model_config.change(tx, shop.model, named))


# --- preparing --------------------------------------------------------------------------------------------


def test_first_turn_brings_the_charm(shop: World) -> None:
    shop.deploy()
    shop.box()
    turn = shop.turn()
    assert (turn.answer, turn.reason) == (Answer.RUN, "install local:web-0")
    prepared = turn.prepared
    assert prepared is not None
    blob = shop.charms.make().sha256
    assert (prepared.unit, prepared.title, prepared.blob) == ("web/0", "charm local:web-0", blob)
    assert prepared.frame == {
        "t": "op", "id": prepared.id, "kind": "deploy", "unit": "web/0", "url": "local:web-0", "sha256": blob,
    }  # fmt: skip
    (row,) = shop.open_operations()
    assert (row.id, row.unit, row.machine, row.state, row.name) == (
        prepared.id, "web/0", "0", "prepared", "charm local:web-0",
    )  # fmt: skip
    assert _local(shop).step is Step.PENDING


def test_frame_of_a_hook(shop: World) -> None:
    shop.deploy()
    prepared = shop.until("install")
    frame = prepared.frame
    assert sorted(frame) == ["context", "env", "hook", "id", "kind", "logging", "t", "unit"]
    assert (frame["t"], frame["kind"], frame["unit"], frame["hook"]) == ("op", "hook", "web/0", "install")
    assert frame["id"] == prepared.id
    assert prepared.blob == ""
    json.dumps(frame)


def test_hooks_of_a_new_unit_in_order(shop: World) -> None:
    shop.active()
    assert tuple(shop.of("web/0")) == SETUP
    turn = shop.turn()
    assert (turn.answer, turn.reason, turn.prepared) == (Answer.IDLE, "nothing to do", None)


def test_every_operation_has_an_id_of_its_own(shop: World) -> None:
    shop.active(count=2)
    ids = [frame["id"] for box in shop.boxes.values() for frame in box.frames]
    assert len(ids) == len(set(ids)) == len(shop.dump()["operation"])


def test_a_prepared_operation_is_built_again_alike(shop: World) -> None:
    """A controller that died after prepare sends the same request, with the same id."""
    shop.deploy()
    for title in ("charm local:web-0", "install", "cluster-relation-created", "start"):
        prepared = shop.until(title)
        (row,) = shop.open_operations()

        def again(tx: Any, row: Any = row) -> Any:
            view = look(tx, shop.model, "web/0")
            assert view is not None
            return prepared_operation(tx, view, read_operation(row.document), row.id)

        assert shop.read(again) == prepared
        shop.commit(prepared, shop.box().run(prepared.frame))


def test_unit_whose_hook_fate_is_unknown_is_in_error(shop: World) -> None:
    """Nobody prepares a second operation while one is open, but if so the hook is not run twice."""
    shop.deploy()
    shop.until("install")
    turn = shop.turn()
    assert turn.prepared is None
    assert shop.agent() == ("error", 'hook failed: "install"')


def test_unit_that_is_gone(shop: World) -> None:
    turn = shop.turn("web/7")
    assert (turn.answer, turn.reason) == (Answer.DEAD, "the unit is gone")


def test_dead_unit_is_left_alone(shop: World) -> None:
    shop.active()
    shop.write(lambda tx: tx.run("unit_set_life", model=shop.model, name="web/0", life="dead"))
    assert shop.turn().answer is Answer.DEAD


def test_a_broken_state_changes_nothing(shop: World) -> None:
    shop.active()
    state = json.dumps({"kind": "run-hook", "step": "queued"})
    shop.write(lambda tx: tx.run("unit_set_state", model=shop.model, name="web/0", state=state))
    shop.clock.advance(1000)
    before = shop.dump()
    with pytest.raises(NotValid, match="invalid operation state: missing hook info with kind run-hook"):
        shop.turn()
    assert shop.dump() == before


def test_going_round_in_circles_is_noticed(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.active()
    before = shop.dump()
    monkeypatch.setattr(turns, "_step", lambda *_, **__: None)
    with pytest.raises(PushjujuError) as caught:
        shop.turn()
    assert caught.value.message == "unit web/0 does not come to a decision after 100 steps"
    assert shop.dump() == before


# --- what people see --------------------------------------------------------------------------------------


def test_statuses_from_the_first_turn_to_rest(shop: World) -> None:
    shop.deploy()
    shop.settle()
    assert shop.history(StatusKind.WORKLOAD, "web/0") == [
        ("waiting", "waiting for machine"),
        ("waiting", "agent initialising"),
        ("maintenance", "installing charm software"),
        ("unknown", ""),
    ]
    assert shop.history(StatusKind.AGENT, "web/0") == [
        ("allocating", ""),
        *[("executing", f"running {hook} hook") for hook in SETUP],
        ("idle", ""),
    ]


def test_statuses_of_the_end(shop: World) -> None:
    shop.active()
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    shop.until("stop")
    assert shop.workload() == ("maintenance", "stopping charm software")
    (row,) = shop.open_operations()
    _commit_row(shop, row.id)
    assert shop.workload() == ("maintenance", "")
    shop.until("remove")
    assert shop.workload() == ("maintenance", "cleaning up prior to charm deletion")
    (row,) = shop.open_operations()
    _commit_row(shop, row.id)
    assert shop.workload() == ("terminated", "")


def _commit_row(shop: World, operation: str) -> None:
    from pushjuju.uniter.commit import commit

    assert commit(shop.ctx, operation, ok()).ok


def test_a_status_that_the_charm_set_is_left_alone(shop: World) -> None:
    shop.deploy()
    shop.box().will(
        "install",
        ok(
            writes={"status_set": True},
            events=[{"seq": 1, "e": {"k": "status", "scope": "unit", "status": "waiting", "message": "db"}}],
        ),
    )
    shop.settle()
    assert shop.workload() == ("waiting", "db")  # no `unknown` after start


def test_status_set_in_the_start_hook_itself(shop: World) -> None:
    shop.deploy()
    event = {"seq": 1, "e": {"k": "status", "scope": "unit", "status": "active", "message": ""}}
    shop.box().will("start", ok(writes={"status_set": True}, events=[event]))
    shop.settle()
    assert shop.workload() == ("active", "")


def test_retried_install_after_status_set_keeps_the_charms_word(shop: World) -> None:
    shop.deploy()
    event = {"seq": 1, "e": {"k": "status", "scope": "unit", "status": "blocked", "message": "no licence"}}
    shop.box().will("install", failed(writes={"status_set": True}, events=[event]))
    shop.settle()
    units.resolve(shop.ctx, shop.model, ["web/0"], retry=True)
    shop.until("install")
    assert shop.workload() == ("blocked", "no licence")


def test_relation_hook_names_the_remote_unit(shop: World) -> None:
    shop.deploy(count=2)
    shop.work("0")
    shop.work("1")
    shop.until("cluster-relation-joined", "web/0")
    assert shop.agent() == ("executing", "running cluster-relation-joined hook for web/1")


def test_update_status_is_not_announced(shop: World) -> None:
    shop.active()
    make_due(shop.ctx, shop.model)
    before = shop.history(StatusKind.AGENT, "web/0")
    prepared = shop.until("update-status")
    assert shop.agent() == ("idle", "")
    shop.commit(prepared, ok())
    shop.settle()
    assert shop.history(StatusKind.AGENT, "web/0") == before


# --- update-status ----------------------------------------------------------------------------------------


def _due_in(shop: World, unit: str = "web/0") -> float:
    due = from_iso(str(shop.unit(unit).update_status_due))
    return (due - shop.clock.now()).total_seconds()


def test_update_status_comes_within_a_fifth_of_its_interval(shop: World) -> None:
    shop.active()
    shop.clear()
    for _ in range(5):
        assert 240 <= _due_in(shop) <= 360
        shop.clock.advance(_due_in(shop) - 1)
        shop.settle()
        assert shop.of("web/0") == []
        shop.clock.advance(1)
        shop.settle()
        assert shop.of("web/0") == ["update-status"]
        shop.clear()


def test_waits_are_drawn_anew(shop: World) -> None:
    shop.active()
    waits = set()
    for _ in range(5):
        waits.add(round(_due_in(shop), 3))
        shop.clock.advance(400)
        shop.settle()
    assert len(waits) == 5


def test_ticks_while_away_run_one_hook(shop: World) -> None:
    shop.active()
    shop.clear()
    shop.clock.advance(timedelta(days=1).total_seconds())
    shop.settle()
    assert shop.of("web/0") == ["update-status"]


def test_another_hook_swallows_the_tick(shop: World) -> None:
    from pushjuju.services.entities.application import applications

    shop.active()
    shop.clear()
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    shop.clock.advance(400)
    shop.settle()
    assert shop.of("web/0") == ["config-changed"]


def test_error_swallows_the_tick_with_the_hook_that_ends_it(shop: World) -> None:
    shop.deploy()
    shop.box().fail("config-changed")
    _config(shop, automatically_retry_hooks=False)
    shop.settle()
    shop.clear()
    for _ in range(3):
        shop.clock.advance(400)
        shop.settle()
    assert shop.of("web/0") == []
    units.resolve(shop.ctx, shop.model, ["web/0"], retry=True)
    shop.settle()
    assert shop.of("web/0") == ["config-changed", "start"]


# --- retries ----------------------------------------------------------------------------------------------


def _retry_in(shop: World, unit: str = "web/0") -> float | None:
    due = shop.unit(unit).retry_due
    return None if due is None else (from_iso(due) - shop.clock.now()).total_seconds()


def test_retries_back_off_and_fire(shop: World) -> None:
    shop.deploy()
    shop.box().fail("install", 9)
    _config(shop, update_status_hook_interval="1000h")
    shop.settle()
    waits = []
    for attempt in range(1, 9):
        wait = _retry_in(shop)
        assert wait is not None
        waits.append(wait)
        assert shop.of("web/0") == ["install"] * attempt
        assert shop.unit("web/0").retry_count == attempt
        shop.clock.advance(wait - 0.01)
        shop.settle()
        assert shop.of("web/0") == ["install"] * attempt  # not a moment too early
        shop.clock.advance(0.01)
        shop.settle()
    for wait, wanted in zip(waits, (5, 10, 20, 40, 80, 160, 300, 300), strict=True):
        assert wanted * 0.97 <= wait <= min(wanted * 1.03, 300)
    shop.clock.advance(300)
    shop.settle()
    assert shop.of("web/0")[9:] == ["install", *SETUP[1:]]
    assert _retry_in(shop) is None
    assert shop.agent() == ("idle", "")


def test_no_retries_when_they_are_switched_off(shop: World) -> None:
    shop.deploy()
    shop.box().fail("install")
    _config(shop, automatically_retry_hooks=False)
    shop.settle()
    assert _retry_in(shop) is None
    assert shop.agent() == ("error", 'hook failed: "install"')
    turn = shop.turn()
    assert (turn.answer, turn.reason) == (
        Answer.IDLE,
        'hook failed: "install": retries are switched off, resolve it',
    )


def test_switching_retries_on_and_off(shop: World) -> None:
    shop.deploy()
    shop.box().fail("install", 3)
    shop.settle()
    _config(shop, automatically_retry_hooks=False)
    shop.settle()
    assert _retry_in(shop) is None
    _config(shop, automatically_retry_hooks=True)
    shop.settle()
    wait = _retry_in(shop)
    assert wait is not None
    assert wait <= 5.2


def test_resolved_starts_the_series_anew(shop: World) -> None:
    shop.deploy()
    shop.box().fail("install", 4)
    shop.settle()
    for _ in range(2):
        shop.clock.advance(30)
        shop.settle()
    wait = _retry_in(shop)
    assert wait is not None
    assert wait > 15
    units.resolve(shop.ctx, shop.model, ["web/0"], retry=True)
    shop.settle()
    wait = _retry_in(shop)
    assert wait is not None
    assert wait <= 5.2


def test_success_starts_the_series_anew(shop: World) -> None:
    shop.deploy()
    shop.box().fail("install", 2)
    shop.box().fail("start", 1)
    shop.settle()
    for _ in range(2):
        shop.clock.advance(30)
        shop.settle()
    assert shop.agent() == ("error", 'hook failed: "start"')
    wait = _retry_in(shop)
    assert wait is not None
    assert wait <= 5.2


def test_error_says_when_it_began(shop: World) -> None:
    shop.deploy()
    shop.box().fail("install", 2)
    shop.settle()
    assert shop.history(StatusKind.AGENT, "web/0")[-1] == ("error", 'hook failed: "install"')
    shop.clock.advance(1)
    before = shop.history(StatusKind.AGENT, "web/0")
    shop.settle()
    assert shop.history(StatusKind.AGENT, "web/0") == before


# --- decisions kept ---------------------------------------------------------------------------------------


def test_kept_decisions_replay_alike(shop: World) -> None:
    """Every decision of a life, decided again from what was kept of it, is the same."""
    kept: list[dict[str, Any]] = []
    real = turns._keep_decision

    def keep(tx: Any, view: Any, decision: Decision) -> str:
        text = real(tx, view, decision)
        row = tx.row("unit_get", model=view.unit.model, name=view.unit.name)
        assert row["decision"] == text
        kept.append(json.loads(text))
        return text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "_keep_decision", keep)
        shop.deploy(count=2)
        shop.box("0").fail("start")
        shop.settle()
        shop.clock.advance(10)
        shop.settle()
        shop.refresh(shop.charms.make(files={"a": "b"}))
        shop.settle()
        removal.remove_application(shop.ctx, shop.model, ["web"])
        shop.settle()
    assert len(kept) > 30
    for item in kept:
        assert replay(item) == from_wire(Decision, item["decision"])
    badges = {item["decision"]["badge"] for item in kept}
    assert {"install", "hooks", "core", "leadership", "relation-created", "restart", "unit-dead"} <= badges


def test_last_decision_is_on_the_unit(shop: World) -> None:
    shop.active()
    kept = json.loads(shop.unit("web/0").decision)
    assert kept["decision"]["reason"] == "nothing to do"
    assert replay(kept) == from_wire(Decision, kept["decision"])


# --- the size of a turn -----------------------------------------------------------------------------------


def _statements(shop: World, unit: str) -> int:
    seen: list[str] = []
    connection = shop.ctx.store._connection
    connection.set_trace_callback(seen.append)
    try:
        shop.turn(unit)
    finally:
        connection.set_trace_callback(None)
    return len(seen)


def test_a_turn_does_not_grow_with_the_model(shop: World) -> None:
    """Statements of a decision, and of a prepared hook, with 2 and with 8 unrelated units."""
    shop.active(count=2)
    shop.active("other", count=2, packed=shop.charms.make("other", peers=None))
    idle = _statements(shop, "web/0")
    make_due(shop.ctx, shop.model, ["web/0"])
    hook = _statements(shop, "web/0")
    (row,) = shop.open_operations()
    _commit_row(shop, row.id)
    units.add_units(shop.ctx, shop.model, "other", 6, [])
    shop.settle()
    assert _statements(shop, "web/0") == idle
    make_due(shop.ctx, shop.model, ["web/0"])
    assert _statements(shop, "web/0") == hook
    assert hook < 100
