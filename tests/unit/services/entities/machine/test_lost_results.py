"""Which hooks count as lost after a machine was asked, and when their units may go on."""

from __future__ import annotations

from typing import Any

from pushjuju.services.entities.machine import lost_results, machines
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.action.operations import ActionRequest
from pushjuju.services.views import tasks
from pushjuju.store.queue import lease_at_least
from pushjuju.store.rows.records import Machine, Operation
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, worker

START: Any = {"id": "nobody-knows-it", "unit": "web/0", "name": "start"}


def machine(world: TestController) -> Machine:
    found: Machine = world.read(lambda tx: machines.get(tx, "0"))
    return found


def restored(world: TestController) -> None:
    """Let the store be a copy that was restored."""
    with world.ctx.store.write() as tx:
        lost_results.mark_restored(tx, world.clock.now())


def test_a_machine_is_asked_once_after_each_restore(runtime: TestController) -> None:
    runtime.active()
    assert lost_results.seconds(runtime.ctx, machine(runtime)) is None
    for _ in range(2):
        restored(runtime)
        assert machine(runtime).look_again
        assert lost_results.seconds(runtime.ctx, machine(runtime)) is not None
        lost_results.note(runtime.ctx, machine(runtime), [])
        assert lost_results.seconds(runtime.ctx, machine(runtime)) is None


def test_a_machine_is_asked_from_the_moment_of_the_copy_on(runtime: TestController) -> None:
    runtime.active()
    with runtime.ctx.store.write() as tx:
        tx.run("sequence_raise", scope="", name="clock", number=lease_at_least(runtime.clock.now()))
    restored(runtime)
    runtime.clock.advance(100)
    seconds = lost_results.seconds(runtime.ctx, machine(runtime))
    assert seconds is not None
    assert 100 <= seconds < 86400


def take_over(world: TestController, line: str) -> float | None:
    """Let another server have the store; return of how many seconds a machine must tell."""
    world.ctx.store.engine.line = line
    return lost_results.seconds(world.ctx, machine(world))


def test_a_machine_is_asked_when_another_server_takes_over(runtime: TestController) -> None:
    runtime.active()
    assert take_over(runtime, "server/1") is None  # the first server that the store knows
    assert (asked := take_over(runtime, "server/2")) is not None
    assert asked >= 3600
    lost_results.note(runtime.ctx, machine(runtime), [START])
    assert take_over(runtime, "server/2") is None
    assert machine(runtime).lost == {"web/0": {"shown": "", "names": ["start"]}}


def test_a_server_that_was_behind_for_days_lacks_all_since_its_last_claim(runtime: TestController) -> None:
    runtime.active()
    with runtime.ctx.store.write() as tx:
        tx.run("sequence_raise", scope="", name="clock", number=lease_at_least(runtime.clock.now()))
    take_over(runtime, "server/1")
    runtime.clock.advance(3 * 86400)
    asked = take_over(runtime, "server/2")
    assert asked is not None
    assert 3 * 86400 <= asked < 4 * 86400


def test_a_machine_is_not_asked_for_what_the_store_has_deleted(runtime: TestController) -> None:
    runtime.active()
    take_over(runtime, "server/1")
    take_over(runtime, "server/2")
    runtime.clock.advance(30 * 86400)
    asked = take_over(runtime, "server/2")
    assert asked is not None
    assert asked < 14 * 86400  # max-status-history-age


def test_what_the_store_knows_is_not_lost(runtime: TestController) -> None:
    runtime.active()
    restored(runtime)
    asked = {"unit": "web/0", "since": "", "until": "", "name": "", "failed": 0, "most": 1}
    known = runtime.read(lambda tx: tx.list(Operation, "operation_history", **asked))[0].id
    lost_results.note(
        runtime.ctx,
        machine(runtime),
        [START, {**START, "id": known, "name": "stop"}, {**START, "name": "update-status"}],
    )
    assert machine(runtime).lost == {"web/0": {"shown": "", "names": ["start"]}}


def test_a_machine_that_lies_stops_no_unit_of_another_machine(runtime: TestController) -> None:
    runtime.active("web", 2)
    restored(runtime)
    lies: Any = [{**START, "unit": unit} for unit in ("web/1", "db/0", "no unit")]
    lost_results.note(runtime.ctx, machine(runtime), lies)
    assert machine(runtime).lost == {}


async def test_an_action_that_has_run_fails_and_does_not_run_again(runtime: TestController) -> None:
    runtime.active(packed=runtime.charms.make(files={"actions.yaml": "greet: {description: Greet}\n"}))
    restored(runtime)
    lost_results.note(runtime.ctx, machine(runtime), [{**START, "name": "action greet"}])
    runtime.clear()
    request = ActionRequest(action="greet", receivers=["web/0"])
    number = operations.enqueue(runtime.ctx, runtime.model, request).tasks[0].id
    await worker(PlayedRuntime(runtime))
    shown = tasks.show_task(runtime.ctx, runtime.model, number)
    assert (shown["status"], runtime.of("web/0")) == ("failed", [])
    assert machine(runtime).lost == {}


async def test_resolved_without_retry_leaves_the_hooks_behind_it_in_question(runtime: TestController) -> None:
    runtime.active()
    restored(runtime)
    lost_results.note(runtime.ctx, machine(runtime), [START, {**START, "name": "stop"}, START])
    unit = runtime.unit("web/0")
    runtime.write(lambda tx: lost_results.show(tx, "0", "web/0", "start", again=True))
    runtime.write(lambda tx: lost_results.excuse(tx, unit, retry=False))
    assert machine(runtime).lost == {"web/0": {"shown": "", "names": ["stop", "start"]}}
    runtime.write(lambda tx: lost_results.show(tx, "0", "web/0", "start", again=True))
    runtime.write(lambda tx: lost_results.excuse(tx, unit, retry=True))
    assert not lost_results.is_lost(machine(runtime), "web/0", "start")
    assert lost_results.is_lost(machine(runtime), "web/0", "stop")
