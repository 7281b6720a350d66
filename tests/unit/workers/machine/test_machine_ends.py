"""Machines that go while they or their cloud refuse: what stays, what goes, what is reported."""

from __future__ import annotations

import pytest

from pushjuju.core.errors import HeldElsewhere, ProviderError, PushjujuError, Unreachable
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.machine import machines
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.workers.machine.machine_worker import Outcome
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine
from tests.world.runtime import PlayedRuntime, worker
from tests.world.said import reason_of


@pytest.fixture
async def unrecorded(runtime: TestController) -> PlayedRuntime:
    """The cloud has a machine whose start was cut off before anybody recorded the instance."""
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    runtime.played_machines["0"] = PlayedMachine(id="0")
    runtime.write(lambda tx: statuses.set_status(tx, StatusKind.INSTANCE, "0", InstanceStatus.ALLOCATING))
    return PlayedRuntime(runtime)


async def test_an_unrecorded_instance_is_not_forgotten_while_the_cloud_keeps_it(
    runtime: TestController, unrecorded: PlayedRuntime
) -> None:
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    unrecorded.cloud.stuck = [ProviderError("cloud is down")]
    outcome = await worker(unrecorded)
    assert (outcome.failed, reason_of(outcome)) == (True, "cloud is down")
    assert outcome.due is not None
    assert runtime.machine_ids() == ["0"]
    assert await worker(unrecorded) == Outcome()
    assert (unrecorded.cloud.stopped, runtime.machine_ids()) == (["i-0"], [])


async def test_a_forced_removal_forgets_an_unrecorded_instance_that_the_cloud_keeps(
    runtime: TestController, unrecorded: PlayedRuntime
) -> None:
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], force=Force())
    unrecorded.cloud.stuck = [ProviderError("cloud is down")]
    assert await worker(unrecorded) == Outcome()
    assert runtime.machine_ids() == []


async def _kept(runtime: TestController, force: Force | None = None) -> PlayedRuntime:
    """Return a runtime with a machine that runs on when it leaves the model, which is asked for."""
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    await worker(work)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], force=force, keep_instance=True)
    return work


@pytest.mark.parametrize("force", [None, Force()])
async def test_nothing_is_removed_from_a_kept_machine_that_another_controller_holds(
    runtime: TestController, force: Force | None
) -> None:
    work = await _kept(runtime, force)
    played, frames = runtime.played_machines["0"], len(runtime.played_machines["0"].frames)
    work.unreachable["0"] = HeldElsewhere("model other of controller office works it")
    assert await worker(work) == Outcome()
    assert (len(played.frames), work.cloud.stopped, runtime.machine_ids()) == (frames, [], [])
    assert [item.text for item in work.events][-3:] == [
        "nothing is changed there: model other of controller office works it",
        "being released",
        "released",
    ]


async def test_a_kept_machine_that_is_silent_stays_in_the_model_until_its_files_are_gone(
    runtime: TestController,
) -> None:
    work = await _kept(runtime)
    work.unreachable["0"] = Unreachable("no route to host")
    outcome = await worker(work)
    assert (outcome.failed, reason_of(outcome)) == (True, "no route to host")
    assert runtime.machine_ids() == ["0"]
    work.unreachable.clear()
    assert await worker(work) == Outcome()
    assert runtime.played_machines["0"].frames[-1]["release"]
    assert (work.cloud.stopped, runtime.machine_ids()) == ([], [])


@pytest.mark.parametrize("error", [Unreachable("no route to host"), ProviderError("cloud is down")])
async def test_a_kept_machine_that_is_forced_away_is_released_with_its_files(
    runtime: TestController, error: PushjujuError
) -> None:
    work = await _kept(runtime, Force())
    work.unreachable["0"] = error
    assert await worker(work) == Outcome()
    assert (work.cloud.stopped, runtime.machine_ids()) == ([], [])
    assert f"files of pushjuju stay there: {error}" in [item.text for item in work.events]
