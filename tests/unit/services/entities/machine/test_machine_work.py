"""Which work nobody does."""

from __future__ import annotations

from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.machine import machine_work
from pushjuju.store.queue import WorkQueue
from tests.world.controller import TestController


def test_work_is_left_when_it_is_late_and_nothing_of_its_model_is_held(runtime: TestController) -> None:
    for machine in ("7", "8"):
        runtime.write(lambda tx, machine=machine: wake.machine(tx, machine, "a test"))
    assert not machine_work.is_any_left(runtime.ctx)
    runtime.clock.advance(10)
    assert machine_work.is_any_left(runtime.ctx)
    queue = WorkQueue(runtime.ctx.store, "another process")
    (claim,) = queue.claim_some(runtime.model, runtime.clock.now(), 1)
    assert not machine_work.is_any_left(runtime.ctx)
    queue.finish(claim, runtime.clock.now(), None, attempts=0)
    assert machine_work.is_any_left(runtime.ctx)
