"""Zones, retries, kills at each step, harvest, the poller: with a cloud that keeps the contract in memory."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from pushjuju.core.errors import CredentialInvalid, NotFound, NotValid, ProviderError, QuotaExceeded
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.plugins.api.clouds import ProviderType
from pushjuju.plugins.api.providers import Address, Instance, Started, StartRequest, Zone
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import model_config
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.workers.loops import poller
from pushjuju.workers.provision import provisioner
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.runtime import Died, PlayedCloud, PlayedRuntime, die_at, worker
from tests.world.said import reason_of


class ZonedCloud(PlayedCloud):
    """A cloud with zones, that finds an instance again by its request.

    Attributes:
        full: Zone -> the error of starts in it.
        nonces: Instance -> the request that it was made for.
    """

    def __init__(self, world: TestController) -> None:
        super().__init__(world)
        self.full: dict[str, Exception] = {}
        self.nonces: dict[str, str] = {}
        self.forced: list[str] = []
        self.listed = ["a", "b", "c"]

    async def zones(self) -> Sequence[Zone]:
        """Return three zones, and one that is closed."""
        return [*(Zone(name=name) for name in self.listed), Zone(name="closed", available=False)]

    async def derive_zones(self, request: StartRequest) -> Sequence[str]:
        """Return what the test forces."""
        return self.forced

    async def start(self, request: StartRequest) -> Started:
        """Make a played machine in a zone, or find the one of this request."""
        number = request.machine_id
        if number in self.world.played_machines and self.nonces.get(number) == request.nonce:
            return Started(instance=self._instance(number), base=request.base)
        if request.zone in self.full:
            self.asked.append(request)
            raise self.full[request.zone]
        started = await super().start(request)
        self.nonces[number] = request.nonce
        return started


@pytest.fixture
def work(runtime: TestController) -> PlayedRuntime:
    """A runtime of that cloud."""
    made = PlayedRuntime(runtime)
    made.cloud = ZonedCloud(runtime)
    return made


def _add(runtime: TestController, count: int = 1, **constraints: Any) -> None:
    for _ in range(count):
        machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints=constraints)


def _zone(runtime: TestController, machine: str) -> str:
    with runtime.ctx.read(runtime.model) as tx:
        return str(next(iter(tx.rows("zone_get", machine=machine)))["zone"])


def _status(runtime: TestController, machine: str = "0") -> tuple[str, str]:
    return runtime.status(StatusKind.INSTANCE, machine)


async def test_machines_spread_over_zones(runtime: TestController, work: PlayedRuntime) -> None:
    _add(runtime, 7)
    for number in range(7):
        await worker(work, str(number))
    held = Counter(_zone(runtime, str(number)) for number in range(7))
    assert sorted(held.values()) == [2, 2, 3]


async def test_units_of_an_application_spread_by_themselves(
    runtime: TestController, work: PlayedRuntime
) -> None:
    work.cloud.forced = ["a"]
    _add(runtime, 2)
    await worker(work, "0")
    await worker(work, "1")
    work.cloud.forced = []
    runtime.deploy(count=3)
    for number in "234":
        await worker(work, number)
    assert {_zone(runtime, number) for number in "234"} == {"a", "b", "c"}


async def test_zones_constraint_and_what_placement_forces(
    runtime: TestController, work: PlayedRuntime
) -> None:
    _add(runtime, 1, zones=["b"])
    await worker(work, "0")
    assert work.cloud.asked[-1].zone == "b"
    _add(runtime, 1, zones=["nowhere"])
    outcome = await worker(work, "1")
    assert outcome.due is None
    assert _status(runtime, "1") == (
        "provisioning error",
        "suitable availability zone for machine 1 not found",
    )


async def test_a_full_zone_is_left_for_the_next_at_once_and_costs_no_try(
    runtime: TestController, work: PlayedRuntime
) -> None:
    work.cloud.listed = ["a", "b"]
    work.cloud.full = {"a": ProviderError("no capacity"), "b": ProviderError("no capacity")}
    _add(runtime)
    await worker(work)
    first, second = (request.zone for request in work.cloud.asked)
    assert {first, second} == {"a", "b"}
    left = f'failed to start machine 0 in zone "{first}", retrying with new availability zone: no capacity'
    assert (left, "running") in [(event.text, event.state) for event in work.events]
    assert (
        _status(runtime)[1] == "failed to start machine 0 (no capacity), retrying in 10s (10 more attempts)"
    )
    assert runtime.machine("0").attempts == 1
    work.cloud.full = {"a": ProviderError("no capacity")}
    assert not (await worker(work)).failed
    assert runtime.machine("0").instance_id == "i-0"
    assert _zone(runtime, "0") == "b"


async def test_every_zone_is_tried_in_one_start(runtime: TestController, work: PlayedRuntime) -> None:
    work.cloud.full = {name: ProviderError("no machine fits") for name in "ab"}
    _add(runtime, 3)
    for number in "012":
        assert not (await worker(work, number)).failed
        assert (_zone(runtime, number), runtime.machine(number).attempts) == ("c", 0)


async def test_an_instance_that_went_before_it_is_asked_for_is_made_again(
    runtime: TestController, work: PlayedRuntime
) -> None:
    work.cloud.listed = ["a"]
    plain = work.cloud.ssh_target

    async def vanish(instance: Instance) -> SSHTarget:
        runtime.played_machines.clear()
        vars(work.cloud)["ssh_target"] = plain
        raise NotFound(f"instance {instance.id} not found")

    vars(work.cloud)["ssh_target"] = vanish
    _add(runtime)
    await worker(work)
    status, message = _status(runtime)
    assert (status, runtime.machine("0").attempts) == ("allocating", 1)
    assert "(instance i-0 ended while it started: instance i-0 not found), retrying in 10s" in message
    assert not (await worker(work)).failed
    assert (_status(runtime)[0], list(runtime.played_machines)) == ("running", ["0"])


async def test_a_machine_that_is_removed_meanwhile_goes_to_no_other_zone(
    runtime: TestController, work: PlayedRuntime
) -> None:
    work.cloud.full = {name: ProviderError("no capacity") for name in "abc"}
    start = work.cloud.start

    async def removed(request: StartRequest) -> Started:
        removals.remove_machines(runtime.ctx, runtime.model, ["0"])
        return await start(request)

    work.cloud.start = removed
    _add(runtime)
    await worker(work)
    assert len(work.cloud.asked) == 1
    await worker(work)
    assert (runtime.played_machines, runtime.machine_ids()) == ({}, [])


async def test_killed_between_two_zones(runtime: TestController) -> None:
    killed = PlayedRuntime(runtime, die_at("zone-left"))
    cloud = killed.cloud = ZonedCloud(runtime)
    cloud.full = {name: ProviderError("no capacity") for name in "ab"}
    _add(runtime, zones=["a", "b", "c"])
    died = 0
    while not runtime.machine("0").instance_id:
        try:
            await worker(killed)
        except Died:
            died += 1
    assert [request.zone for request in cloud.asked][-1] == "c"
    assert (len({request.zone for request in cloud.asked}), len(cloud.asked)) == (died + 1, died + 1)


async def test_eleven_rounds_then_a_person(runtime: TestController, work: PlayedRuntime) -> None:
    work.cloud.listed = ["a", "b"]
    work.cloud.full = {name: ProviderError("no capacity", detail="429 slow down") for name in "ab"}
    _add(runtime)
    rounds = 0
    while (await worker(work)).due is not None:
        rounds += 1
    assert (rounds, len(work.cloud.asked)) == (10, 22)
    assert _status(runtime) == ("provisioning error", "no capacity: 429 slow down")
    with runtime.ctx.read(runtime.model) as tx:
        assert machines.not_started(tx) == ["0"]


async def test_a_quota_is_no_matter_of_zones(runtime: TestController, work: PlayedRuntime) -> None:
    work.cloud.full = dict.fromkeys("abc", QuotaExceeded("quota of 3 instances is used up"))
    _add(runtime)
    await worker(work)
    assert runtime.machine("0").attempts == 1


async def test_a_refused_credential_waits_for_another_one(
    runtime: TestController, work: PlayedRuntime
) -> None:
    work.cloud.full = dict.fromkeys("abc", CredentialInvalid(detail="AuthFailure"))
    _add(runtime)
    assert (await worker(work)).due is None
    assert _status(runtime) == ("provisioning error", "the cloud refuses the credential: AuthFailure")
    assert runtime.write(machines.retry_refused) == ["0"]
    work.cloud.full = {}
    await worker(work)
    assert _status(runtime)[0] == "running"


@pytest.mark.parametrize(
    ("error", "told", "again"),
    [
        (ProviderError(detail="500 internal error"), "the cloud failed: 500 internal error", True),
        (ProviderError("no capacity", detail="in any zone"), "no capacity: in any zone", True),
        (QuotaExceeded(detail="3 of 3 servers"), "the quota of the account is used up: 3 of 3 servers", True),
        (ValueError("half an answer"), "the provider failed: ValueError('half an answer')", True),
        (NotFound("no image for ubuntu@24.04"), "no image for ubuntu@24.04", False),
        (NotValid('region "moon" not found'), 'region "moon" not found', False),
        (CredentialInvalid(detail="expired"), "the cloud refuses the credential: expired", False),
    ],
)
async def test_every_failure_has_its_sentence(
    runtime: TestController, work: PlayedRuntime, error: Exception, told: str, again: bool
) -> None:
    """One instance at the end, and none before; whoever may be tried again is, others wait for a person."""
    work.cloud.listed = []
    work.cloud.refusals = [error]
    _add(runtime)
    outcome = await worker(work)
    assert (outcome.due is not None, runtime.played_machines) == (again, {})
    word = "allocating" if again else "provisioning error"
    text = f"failed to start machine 0 ({told}), retrying in 10s (10 more attempts)" if again else told
    assert _status(runtime) == (word, text)
    if not again:
        assert (await worker(work)).due is None
        assert len(work.cloud.asked) == 1
        runtime.write(lambda tx: machines.retry_start(tx, "0"))
    await worker(work)
    assert (_status(runtime)[0], list(runtime.played_machines)) == ("running", ["0"])


async def test_a_cloud_that_never_answers(
    runtime: TestController, work: PlayedRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_request: StartRequest) -> Started:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(provisioner, "START_S", 0.01)
    monkeypatch.setattr(work.cloud, "start", never)
    work.cloud.listed = []
    _add(runtime)
    assert (await worker(work)).due is not None
    assert "the cloud did not answer within 1 minutes" in _status(runtime)[1]


@pytest.mark.parametrize("force", [None, removal.Force()])
async def test_removed_during_its_start(
    runtime: TestController, work: PlayedRuntime, force: removal.Force | None
) -> None:
    """What was made is ended as soon as the start is."""
    start = work.cloud.start

    async def slowly(request: StartRequest) -> Started:
        removals.remove_machines(runtime.ctx, runtime.model, ["0"], force=force)
        return await start(request)

    work.cloud.start = slowly
    _add(runtime)
    await worker(work)
    await worker(work)
    assert (work.cloud.stopped, runtime.played_machines, runtime.machine_ids()) == (["i-0"], {}, [])


@pytest.mark.parametrize("point", ["zone-chosen", "instance-made", "machine-started"])
async def test_killed_at_each_step_leaves_one_instance(runtime: TestController, point: str) -> None:
    killed = PlayedRuntime(runtime, die_at(point))
    cloud = killed.cloud = ZonedCloud(runtime)
    _add(runtime)
    with pytest.raises(Died):
        await worker(killed)
    again = PlayedRuntime(runtime)
    again.cloud = cloud
    assert not (await worker(again)).failed
    assert len(cloud.asked) == 1
    assert list(runtime.played_machines) == ["0"]
    assert runtime.machine("0").instance_id == "i-0"


async def test_killed_after_the_answer_and_removed_leaves_none(runtime: TestController) -> None:
    killed = PlayedRuntime(runtime, die_at("instance-made"))
    cloud = killed.cloud = ZonedCloud(runtime)
    _add(runtime)
    with pytest.raises(Died):
        await worker(killed)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    again = PlayedRuntime(runtime)
    again.cloud = cloud
    await worker(again)
    assert (list(runtime.played_machines), runtime.machine_ids()) == ([], [])


@pytest.mark.parametrize(
    ("mode", "stopped"),
    [("destroyed", ["i-0"]), ("none", []), ("unknown", ["i-7"]), ("all", ["i-0", "i-7"])],
)
async def test_harvest(runtime: TestController, work: PlayedRuntime, mode: str, stopped: list[str]) -> None:
    _add(runtime, 2)
    await worker(work, "0")
    await worker(work, "1")
    runtime.played_machines["7"] = dataclasses.replace(runtime.played_machines["1"], id="7")
    runtime.write(lambda tx: model_config.change(tx, {"provisioner-harvest-mode": mode}))
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    await worker(work, "0")
    assert sorted(work.cloud.stopped) == stopped
    assert runtime.machine_ids() == ["1"]


async def test_tags_of_an_instance(runtime: TestController, work: PlayedRuntime) -> None:
    runtime.write(lambda tx: model_config.change(tx, {"resource-tags": "owner=ann"}))
    runtime.deploy()
    await worker(work)
    tags = work.cloud.asked[-1].tags
    assert tags["juju-model-uuid"] == runtime.model
    assert tags["juju-machine-id"].endswith("-machine-0")
    assert (tags["juju-units-deployed"], tags["owner"]) == ("web/0", "ann")


async def test_the_image_stream_of_the_model_is_asked_for(
    runtime: TestController, work: PlayedRuntime
) -> None:
    runtime.deploy(count=2)
    await worker(work, "0")
    runtime.write(lambda tx: model_config.change(tx, {"image-stream": "daily"}))
    await worker(work, "1")
    assert [request.daily_images for request in work.cloud.asked] == [False, True]


# --- the poller -------------------------------------------------------------------------------------------


@pytest.fixture
def polled(work: PlayedRuntime, monkeypatch: pytest.MonkeyPatch) -> PlayedRuntime:
    """A runtime whose cloud is looked after."""
    kind = ProviderType(name="local", summary="", features=frozenset({"poll"}))
    monkeypatch.setattr(work.host, "provider_type", lambda _name: kind)
    return work


async def _delay(runtime: TestController, work: PlayedRuntime, attempts: int) -> tuple[float, int]:
    outcome = await poller.poll(work, runtime.model, attempts)
    assert outcome.due is not None
    return (outcome.due - runtime.clock.now()).total_seconds(), outcome.attempts


async def test_a_model_is_looked_at_ever_later(runtime: TestController, polled: PlayedRuntime) -> None:
    _add(runtime)
    await worker(polled)
    runtime.write(lambda tx: tx.run("machine_set_addresses", id="0", addresses="[]"))
    delays, attempts = [], 0
    for _ in range(7):
        delay, attempts = await _delay(runtime, polled, attempts)
        delays.append(delay)
    assert delays == [6.0, 12.0, 24.0, 48.0, 60.0, 60.0, 60.0]


async def test_all_is_well_is_looked_at_every_quarter_of_an_hour(
    runtime: TestController, polled: PlayedRuntime
) -> None:
    _add(runtime)
    await worker(polled)
    found = '[{"value": "10.0.0.2"}]'
    runtime.write(lambda tx: tx.run("machine_set_addresses", id="0", addresses=found))
    assert await _delay(runtime, polled, 3) == (900.0, 0)


async def test_others_let_in_a_machine_whose_address_came_later(
    runtime: TestController, polled: PlayedRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(runtime, 2)
    await worker(polled, "0")
    await worker(polled, "1")
    runtime.write(lambda tx: tx.run("firewall_add", machine="1"))
    runtime.write(lambda tx: tx.run("machine_set_ssh", id="0", ssh="{}"))
    address = Address(value="10.0.0.2", scope="local-cloud")

    async def get(ids: Sequence[str]) -> list[Instance]:
        return [Instance(id=name, status=InstanceStatus.RUNNING, addresses=(address,)) for name in ids]

    monkeypatch.setattr(polled.cloud, "get", get)
    runtime.forget_work()
    await poller.poll(polled, runtime.model, 0)
    assert runtime.touched() == ["loop/firewall", "machine/0"]


async def test_an_instance_that_disappears_is_told(runtime: TestController, polled: PlayedRuntime) -> None:
    _add(runtime)
    await worker(polled)
    runtime.played_machines.clear()
    delay, attempts = await _delay(runtime, polled, 4)
    assert (delay, attempts) == (3.0, 0)
    assert _status(runtime) == ("unknown", "the cloud has no such instance any more")


async def test_an_instance_that_goes_during_the_look_hides_no_other(
    runtime: TestController, polled: PlayedRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(runtime, 2)
    for number in "01":
        await worker(polled, number)
        runtime.write(lambda tx, number=number: tx.run("machine_set_ssh", id=number, ssh="{}"))
    plain = polled.cloud.ssh_target

    async def target(instance: Instance) -> SSHTarget:
        if instance.id == "i-0":
            raise NotFound("instance i-0 not found")
        return await plain(instance)

    async def get(ids: Sequence[str]) -> list[Instance]:
        found = Address(value="10.0.0.2", scope="local-cloud")
        return [Instance(id=name, status=InstanceStatus.RUNNING, addresses=(found,)) for name in ids]

    monkeypatch.setattr(polled.cloud, "ssh_target", target)
    monkeypatch.setattr(polled.cloud, "get", get)
    outcome = await poller.poll(polled, runtime.model)
    assert reason_of(outcome) == ""
    assert [bool(runtime.machine(number).ssh.get("host")) for number in "01"] == [False, True]


async def test_a_cloud_that_fails_is_asked_later(
    runtime: TestController, polled: PlayedRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(runtime)
    await worker(polled)

    async def fail(_ids: Sequence[str]) -> Sequence[Instance | None]:
        raise ProviderError("the cloud failed", detail="503")

    monkeypatch.setattr(polled.cloud, "get", fail)
    outcome = await poller.poll(polled, runtime.model, 0)
    assert (reason_of(outcome), outcome.failed) == ("instances: the cloud failed: 503", False)


async def test_clouds_that_need_no_looking_after_are_left_alone(
    runtime: TestController, work: PlayedRuntime
) -> None:
    _add(runtime)
    await worker(work)
    assert (await poller.poll(work, runtime.model)).due is None
