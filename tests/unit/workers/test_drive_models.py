"""A command works the models that its own is related to; what fails there is told apart."""

from __future__ import annotations

import asyncio

import pytest

from pushjuju.store.queue import Claim, machine_key
from pushjuju.store.rows.records import Model
from pushjuju.workers.driver import Driver
from pushjuju.workers.events import Event
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.runtime import Runtime
from tests.world.two_models import TwoModels


@pytest.fixture
def twins(twins: TwoModels) -> TwoModels:
    """Two models, related and at rest."""
    twins.ready()
    return twins


def test_related_models_are_worked_together(twins: TwoModels) -> None:
    assert Driver(twins.ctx, twins.shop.model)._related() == (twins.shop.model, twins.prod.model)
    assert Driver(twins.ctx, twins.prod.model)._related() == (twins.prod.model, twins.shop.model)
    assert Driver(twins.ctx)._related() == ("",)


def test_work_of_a_related_model_is_due(twins: TwoModels) -> None:
    twins.shop.forget_work()
    driver = Driver(twins.ctx, twins.shop.model)
    driver._prefixes = driver._related()
    assert not driver.anything_due()
    twins.prod.write(lambda tx: tx.run("work_touch", **_due(twins)))
    assert driver.anything_due()


def _due(twins: TwoModels) -> dict[str, str]:
    now = twins.shop.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "key": machine_key(twins.prod.model, "0"),
        "due": now,
        "reason": "a test",
        "trace": "",
        "cause": "",
    }


def test_what_is_told_of_another_model_names_it(twins: TwoModels) -> None:
    """Both have a machine 0."""
    told: list[Event] = []
    driver = Driver(twins.ctx, twins.shop.model, tell=told.append)
    for world in (twins.shop, twins.prod):
        claim = Claim(
            key=machine_key(world.model, "0"), owner="me", lease=1, generation=1, attempts=0, reason=""
        )
        driver.runtime.holding(claim).tell(Event(entity="db/0", text="start: running", parent="machine 0"))
    name = twins.prod.read(lambda tx: tx.get(Model, "model_by_uuid", "", uuid=twins.prod.model)).name
    assert {(event.entity, event.parent) for event in told} == {("db/0", "machine 0")}
    shown = [(event.shown, event.shown_parent) for event in told]
    assert shown == [("db/0", "machine 0"), (f"db/0 ({name})", f"machine 0 ({name})")]


async def test_a_provider_may_report_from_a_thread(twins: TwoModels, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Event] = []

    class Reporting:
        def __init__(self, runtime: Runtime, *_: object) -> None:
            self.tell = runtime.tell

        async def work(self) -> Outcome:
            await asyncio.to_thread(self.tell, Event(entity="machine 0", text="making an image"))
            return Outcome()

    monkeypatch.setattr("pushjuju.workers.driver.MachineWorker", Reporting)
    key = machine_key(twins.shop.model, "0")
    claim = Claim(key=key, owner="me", lease=1, generation=1, attempts=0, reason="")
    await Driver(twins.ctx, tell=told.append)._dispatch(claim)
    name = twins.shop.read(lambda tx: tx.get(Model, "model_by_uuid", "", uuid=twins.shop.model)).name
    assert [event.shown for event in told] == [f"machine 0 ({name})"]


def test_what_fails_elsewhere_is_no_failure_of_the_command(twins: TwoModels) -> None:
    twins.prod.played().fail("update-status", times=9)
    twins.shop.clock.advance(600)
    twins.settle()
    driver = Driver(twins.ctx, twins.shop.model)
    driver._prefixes = driver._related()
    ended = driver._summary()
    assert ended.problems == ()
    assert tuple(map(str, ended.elsewhere)) == ('unit db/0: hook failed: "update-status"',)
