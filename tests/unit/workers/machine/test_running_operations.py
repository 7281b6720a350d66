"""What runs beside what on one machine: hooks one by one, parallel actions and other groups beside them."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.errors import LeaseLost
from pushjuju.core.model.placement import Placement
from pushjuju.services.entities.action import actions
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.action.operations import CommandRequest
from pushjuju.workers.machine import machine_run, running_operations
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, PlayedSession, worker
from tests.world.said import reason_of

HERE = Placement.parse("0")


class Gates:
    """Sessions whose tasks wait until as many of them are under way as the test says.

    Attributes:
        most: How many operations were under way at once.
        order: What began (+) and ended (-).
    """

    def __init__(self, world: TestController, together: int = 1) -> None:
        self.world = world
        self.together = together
        self.under_way: list[str] = []
        self.most = 0
        self.order: list[str] = []
        self.met = asyncio.Event()

    async def session(self, _: Any) -> PlayedSession:
        """Return a session through the gates."""
        gates = self

        class Gated(PlayedSession):
            async def run(self, frame: Any, on_event: Any = None, on_live: Any = None, plan: Any = ()) -> Any:
                return await gates.run(frame, super().run(frame, on_event, on_live))

        return Gated(self.world.played())

    async def run(self, frame: Any, work: Any) -> Any:
        """Run an operation; tasks wait for each other."""
        title = f"{frame.get('unit') or 'machine'} {frame.get('hook') or frame['kind']}"
        self.under_way.append(title)
        self.order.append(f"+{title}")
        self.most = max(self.most, len(self.under_way))
        if len(self.under_way) >= self.together:
            self.met.set()
        if frame["kind"] in ("commands", "exec"):
            await asyncio.wait_for(self.met.wait(), 5)
        else:
            await asyncio.sleep(0)
        self.under_way.remove(title)
        self.order.append(f"-{title}")
        return await work


def gated(
    world: TestController, monkeypatch: pytest.MonkeyPatch, together: int = 1
) -> tuple[PlayedRuntime, Gates]:
    made, gates = PlayedRuntime(world), Gates(world, together)
    monkeypatch.setattr(made, "session", gates.session)
    return made, gates


def two_units(world: TestController) -> None:
    world.active()
    world.active("db", packed=world.charms.make("db"), placements=[HERE])


def execute(world: TestController, units: Iterable[str], **more: Any) -> list[int]:
    request = CommandRequest(command="date", timeout_s=5, units=list(units), **more)
    return [task.id for task in operations.enqueue_commands(world.ctx, world.model, request).tasks]


def states(world: TestController, numbers: Iterable[int]) -> set[str]:
    return {world.read(lambda tx, n=n: actions.get_task(tx, n)).status for n in numbers}


async def test_parallel_commands_of_units_of_one_machine_overlap(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_units(runtime)
    numbers = execute(runtime, ["web/0", "db/0"])
    made, gates = gated(runtime, monkeypatch, together=2)
    await worker(made)
    assert (states(runtime, numbers), gates.most) == ({"completed"}, 2)


async def test_commands_that_are_not_parallel_follow_one_another(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_units(runtime)
    numbers = execute(runtime, ["web/0", "db/0"], parallel=False)
    made, gates = gated(runtime, monkeypatch)
    await worker(made)
    assert (states(runtime, numbers), gates.most) == ({"completed"}, 1)


async def test_groups_wait_for_their_own_alone(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_units(runtime)
    runtime.active("cache", packed=runtime.charms.make("cache"), placements=[HERE])
    numbers = execute(runtime, ["web/0", "db/0"], parallel=False, execution_group="one")
    numbers += execute(runtime, ["cache/0"], parallel=False, execution_group="two")
    made, gates = gated(runtime, monkeypatch, together=2)
    await worker(made)
    assert (states(runtime, numbers), gates.most) == ({"completed"}, 2)
    ones = [item for item in gates.order if "cache" not in item]
    assert [item[0] for item in ones] == ["+", "-", "+", "-"]


async def test_a_hook_runs_beside_a_parallel_action_of_another_unit(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_units(runtime)
    numbers = execute(runtime, ["web/0"])
    runtime.write(lambda tx: _update_status_now(tx, runtime, "db/0"))
    made, gates = gated(runtime, monkeypatch, together=2)
    await worker(made)
    assert states(runtime, numbers) == {"completed"}
    assert sorted(gates.order[:2]) == ["+db/0 update-status", "+web/0 commands"]


async def test_an_action_that_is_asked_for_while_a_hook_runs_begins_beside_it(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_operations, "LOOK_S", 0.01)
    two_units(runtime)
    runtime.write(lambda tx: _update_status_now(tx, runtime, "db/0"))
    made, asked, seen = PlayedRuntime(runtime), [], asyncio.Event()

    class Slow(PlayedSession):
        async def run(self, frame: Any, on_event: Any = None, on_live: Any = None, plan: Any = ()) -> Any:
            if frame.get("hook") == "update-status":
                asked.extend(execute(runtime, ["web/0"]))
                await asyncio.wait_for(seen.wait(), 5)
            elif frame["kind"] == "commands":
                seen.set()
            return await super().run(frame, on_event, on_live)

    async def session(_: Any) -> Any:
        return Slow(runtime.played())

    monkeypatch.setattr(made, "session", session)
    await worker(made)
    assert states(runtime, asked) == {"completed"}


async def test_a_unit_never_runs_two_operations_at_once(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.active()
    numbers = execute(runtime, ["web/0"]) + execute(runtime, ["web/0"])
    made, gates = gated(runtime, monkeypatch)
    await worker(made)
    assert (states(runtime, numbers), gates.most) == ({"completed"}, 1)


async def test_a_reboot_waits_for_what_runs_beside_it(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_units(runtime)
    numbers = execute(runtime, ["web/0"])
    runtime.played().will("update-status", {"reboot": "after"})
    runtime.write(lambda tx: _update_status_now(tx, runtime, "db/0"))
    made, gates = gated(runtime, monkeypatch, together=2)
    await worker(made)
    assert states(runtime, numbers) == {"completed"}
    kinds = [frame["kind"] for frame in runtime.played().frames]
    assert kinds.index("reboot") > kinds.index("commands")
    assert gates.order.count("-db/0 start") == 1, "it runs again after the boot"


def _update_status_now(tx: Any, world: TestController, name: str) -> None:
    tx.run("unit_update_status_now", model=world.model, name=name, due="2000-01-01T00:00:00Z")


async def test_a_unit_whose_state_breaks_a_rule_holds_nobody_up(runtime: TestController) -> None:
    two_units(runtime)
    kept = runtime.unit("web/0").state
    runtime.change_unit("web/0", state='{"kind": "odd"}')
    runtime.write(lambda tx: _update_status_now(tx, runtime, "db/0"))
    ran = len(runtime.of("db/0"))
    outcome = await worker(PlayedRuntime(runtime))
    assert (outcome.failed, runtime.of("db/0")[ran:]) == (True, ["update-status"])
    assert reason_of(outcome).startswith("unit web/0: ")
    assert outcome.due == runtime.clock.now() + timedelta(seconds=5)
    assert runtime.agent("web/0") == ("failed", "resolver loop error")
    runtime.change_unit("web/0", state=kept)
    await worker(PlayedRuntime(runtime))
    assert runtime.agent("web/0") == ("idle", "")


async def test_a_result_is_never_acknowledged_before_its_own_commit(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One waits for the disk while another one's result is taken in, which belongs to the next commit."""
    runtime.active()
    session = PlayedSession(runtime.played())
    acknowledged: list[str] = []

    async def ack(operation_id: str) -> None:
        acknowledged.append(operation_id)

    monkeypatch.setattr(session, "ack", ack)
    work: Any = machine_run.MachineRun(PlayedRuntime(runtime), runtime.machine("0"), session)  # type: ignore[arg-type]
    work._committed.append(("first", "", ""))
    with work.ctx.store.write() as tx:
        tx.next("", "first")
    saving = asyncio.create_task(work._save())
    await asyncio.sleep(0)  # it waits
    runtime.ctx.store.group().flush()  # its commit is there, and it has not gone on yet
    with work.ctx.store.write() as tx:
        tx.next("", "second")
    work._committed.append(("second", "", ""))
    await saving
    assert acknowledged == ["first"]
    await work._save()
    assert acknowledged == ["first", "second"]


async def test_a_result_of_an_earlier_contact_is_acknowledged_when_its_commit_is_on_the_disk(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The contact ended, or its process died, after the commit and before the disk had it."""
    runtime.active()
    store = runtime.ctx.store
    session = PlayedSession(runtime.played())
    acknowledged: list[bool] = []

    async def ack(operation_id: str) -> None:
        acknowledged.append(not store.group().is_open and getattr(store.engine, "is_durable", True))

    monkeypatch.setattr(session, "ack", ack)
    with store.write(later=True) as tx:
        tx.next("", "of the commit")
    work: Any = machine_run.MachineRun(PlayedRuntime(runtime), runtime.machine("0"), session)  # type: ignore[arg-type]
    await work._acknowledge()
    assert acknowledged == [True] * len(session.hello["journal"])
    assert acknowledged


async def test_a_unit_that_cannot_decide_holds_nobody_up_while_others_run(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_units(runtime)
    execute(runtime, ["web/0"])
    numbers = execute(runtime, ["db/0"], parallel=False)
    runtime.change_unit("web/0", state='{"kind": "odd"}')
    runtime.write(lambda tx: _update_status_now(tx, runtime, "db/0"))
    made, _ = gated(runtime, monkeypatch)
    outcome = await worker(made)
    assert (outcome.failed, states(runtime, numbers)) == (True, {"completed"})
    assert runtime.agent("web/0") == ("failed", "resolver loop error")


async def test_a_lease_that_is_lost_while_units_begin_leaves_nothing_half_made(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_units(runtime)
    numbers = execute(runtime, ["web/0", "db/0"])
    turns: list[str] = []
    take_turn = machine_run.take_turn

    def lose(ctx: Any, model: str, unit: str, **more: Any) -> Any:
        turns.append(unit)
        if len(turns) > 1:
            raise LeaseLost("another controller process works on it now")
        return take_turn(ctx, model, unit, **more)

    monkeypatch.setattr(machine_run, "take_turn", lose)
    made, gates = gated(runtime, monkeypatch)
    with pytest.raises(LeaseLost):
        await worker(made)
    gc.collect()  # a coroutine that nobody awaited would be told here, which fails the test
    assert (len(turns), gates.order, "completed" in states(runtime, numbers)) == (2, [], False)
