"""What goes wrong on clouds with an adapter, through the provisioner: a clear status, no orphan, no double.

The requests go over HTTP to the fakes; machines answer in this process. EC2: `test_ec2_faults.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.plugins.api.providers import Started, StartRequest
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.services.entities.machine import machines
from pushjuju.services.requests import removals
from pushjuju.workers.loops import poller
from pushjuju.workers.provision import firstboot
from tests.clouds.benches import BENCHES, bench_of
from tests.clouds.cases import CloudBench
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine
from tests.world.runtime import Died, PlayedRuntime, die_at, worker

pytest.importorskip("libcloud", reason="the providers need apache-libcloud")
pytestmark = pytest.mark.timeout(120)
BASE = Base.parse("ubuntu@24.04")


class CloudRuntime(PlayedRuntime):
    """A runtime whose cloud is one of these; a played machine of this process stands behind each instance."""

    def __init__(self, world: TestController, bench: CloudBench, step: str = "") -> None:
        super().__init__(world, die_at(step))
        self.cloud = bench.open(world.model)
        plain = self.cloud.start

        async def start(request: StartRequest) -> Started:
            started = await plain(request)
            number = request.machine_id
            if number not in world.played_machines:
                world.played_machines[number] = PlayedMachine(
                    id=number, address=started.instance.addresses[0].value
                )
            return started

        vars(self.cloud)["start"] = start
        self.kind = bench.cloud.type

    def provider(self, model: str, cloud: str | None = None) -> CloudProvider:
        return self.cloud

    def cloud_type(self, model: str) -> str:
        return self.kind


@pytest.fixture(params=BENCHES)
def bench(request: pytest.FixtureRequest, tmp_path: Path, runtime: TestController) -> Iterator[CloudBench]:
    made = bench_of(request.param, tmp_path)
    yield made
    made.fake.close()
    assert made.fake.problems == []


Made = Callable[..., CloudRuntime]


@pytest.fixture
def make(runtime: TestController, bench: CloudBench, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Return a function that opens a controller process; played machines have no cloud-init to wait for."""

    async def ready(*_: Any) -> None:
        return None

    monkeypatch.setattr(firstboot, "wait", ready)

    def call(step: str = "") -> CloudRuntime:
        return CloudRuntime(runtime, bench, step)

    return call


def add(runtime: TestController) -> None:
    machines.add_machine(runtime.ctx, runtime.model, base=BASE, constraints={})


def told(runtime: TestController) -> tuple[str, str]:
    return runtime.status(StatusKind.INSTANCE, "0")


async def test_a_full_zone_is_left_for_the_next(
    runtime: TestController, make: Made, bench: CloudBench
) -> None:
    """At once where there is another one, else the same is tried again."""
    bench.fake.fail(*bench.create, answer=bench.full)
    add(runtime)
    work = make()
    zones = len(await work.cloud.zones())
    done = await worker(work)
    if zones < 2:
        assert told(runtime)[0] == "allocating"
        assert "failed to start machine 0" in told(runtime)[1]
        assert bench.instances() == 0
        done = await worker(work)
    assert not done.failed
    assert (told(runtime)[0], bench.instances()) == ("running", 1)
    left = [event.text for event in work.events if "new availability zone" in event.text]
    assert len(left) == (1 if zones > 1 else 0)
    (instance,) = await work.cloud.list()
    here = f'failed to start machine 0 in zone "{instance.hardware.availability_zone}"'
    assert not [text for text in left if here in text]


async def test_no_capacity_in_all_zones(runtime: TestController, make: Made, bench: CloudBench) -> None:
    bench.fake.fail(*bench.create, answer=bench.full, times=9999)
    add(runtime)
    work = make()
    for _ in range(11):
        await worker(work)
    status, message = told(runtime)
    assert (status, bench.instances()) == ("provisioning error", 0)
    assert message
    bench.fake.faults.clear()
    runtime.write(lambda tx: machines.retry_start(tx, "0"))
    await worker(work)
    assert (told(runtime)[0], bench.instances()) == ("running", 1)


async def test_a_refused_credential_waits_for_another(
    runtime: TestController, make: Made, bench: CloudBench
) -> None:
    good, bench.credential = bench.credential, bench.wrong
    add(runtime)
    assert (await worker(make())).due is None
    status, message = told(runtime)
    assert status == "provisioning error"
    assert message.startswith("the cloud refuses the credential: ")
    assert not [item for item in bench.secrets if item in message]
    bench.credential = good
    runtime.write(lambda tx: machines.retry_start(tx, "0"))
    await worker(make())
    assert (told(runtime)[0], bench.instances()) == ("running", 1)


async def test_a_quota_is_told(runtime: TestController, make: Made, bench: CloudBench) -> None:
    bench.fake.fail(*bench.create, answer=bench.quota)
    add(runtime)
    await worker(make())
    assert (
        "quota" in told(runtime)[1].lower()
        or "limit" in told(runtime)[1].lower()
        or "licenses" in told(runtime)[1]
    )
    assert (runtime.machine("0").attempts, bench.instances()) == (1, 0)


async def test_killed_at_each_step_leaves_one_instance(
    runtime: TestController, make: Made, bench: CloudBench
) -> None:
    add(runtime)
    for step, there in (("zone-chosen", 0), ("instance-made", 1), ("machine-started", 1)):
        with pytest.raises(Died):
            await worker(make(step))
        assert bench.instances() == there
    assert not (await worker(make())).failed
    assert (bench.fake.count(*bench.create), bench.instances()) == (1, 1)
    assert told(runtime)[0] == "running"


async def test_removed_during_its_start_leaves_none(
    runtime: TestController, make: Made, bench: CloudBench
) -> None:
    add(runtime)
    with pytest.raises(Died):
        await worker(make("instance-made"))
    assert bench.instances() == 1
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    await worker(make())
    assert (bench.instances(), runtime.machine_ids()) == (0, [])


async def test_an_instance_without_an_address_is_ended(
    runtime: TestController, make: Made, bench: CloudBench
) -> None:
    bench.no_address()
    add(runtime)
    work = make()
    work.cloud.adapter.address_s = 0.1
    await worker(work)
    assert "got no address in 0 s" in told(runtime)[1]
    assert bench.instances() == 0


async def test_an_instance_that_disappears_is_told(
    runtime: TestController, make: Made, bench: CloudBench
) -> None:
    add(runtime)
    work = make()
    await worker(work)
    await bench.open(runtime.model).stop([runtime.machine("0").instance_id])
    runtime.clock.advance(3600)
    await poller.poll(work, runtime.model)
    assert told(runtime) == (str(InstanceStatus.UNKNOWN), "the cloud has no such instance any more")
