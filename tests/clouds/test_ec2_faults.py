"""What goes wrong on EC2, through the provisioner: a clear status, no orphan, no double.

The requests go over HTTP through a proxy with faults to moto; machines answer in this process.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import CredentialInvalid, NotFound, NotValid, ProviderError
from pushjuju.core.firewall import MachineRules
from pushjuju.core.instance_types import InstanceType
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import Started, StartRequest
from pushjuju.plugins.providers.libcloud.calls import Calls
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers import open_adapter
from pushjuju.plugins.providers.libcloud.drivers.amazon import ec2, ec2_types
from pushjuju.services.entities.machine import machines
from pushjuju.services.requests import removals
from pushjuju.workers.loops import poller
from pushjuju.workers.provision import firstboot
from tests.clouds.ec2_proxy import Ec2Proxy, asked_for, refusal
from tests.clouds.httpfake import Answer, Asked
from tests.clouds.moto_server import Moto, server  # noqa: F401
from tests.clouds.test_ec2 import CREDENTIAL, cloud, driver_of, site_of  # noqa: F401
from tests.clouds.vanishing import at_each_moment, start_in_the_end
from tests.world.charms import UBUNTU
from tests.world.clock import FakeClock
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine
from tests.world.runtime import Died, PlayedRuntime, die_at, worker

pytestmark = pytest.mark.timeout(120)
FULL = refusal(
    "InsufficientInstanceCapacity",
    "We currently do not have sufficient t3a.small capacity in the Availability Zone you requested.",
    500,
)


TYPES = {
    item.name: item
    for item in (
        InstanceType(name="t3a.small", cores=2, mem=2048, cost=0.0188),
        InstanceType(name="t3.medium", cores=2, mem=4096, cost=0.0416),
    )
}


class Boxed(CloudProvider):
    """EC2 whose instances have a played machine of this process behind them."""

    world: TestController

    async def start(self, request: StartRequest) -> Started:
        """Start an instance; it boots."""
        started = await super().start(request)
        number = request.machine_id
        if number not in self.world.played_machines:
            self.world.played_machines[number] = PlayedMachine(
                id=number, address=started.instance.addresses[0].value
            )
        return started


class Ec2Runtime(PlayedRuntime):
    """A runtime whose cloud is EC2."""

    def __init__(
        self, world: TestController, proxy: Ec2Proxy, spec: CloudSpec, step: str = "", *, told: bool = False
    ) -> None:
        super().__init__(world, die_at(step))
        self.pauses: list[float] = []
        here = replace(spec, endpoint=proxy.url)
        adapter = open_adapter(site_of(here, world.ctx.datadir.root, world.model))
        adapter.look_s = 0.01
        self.ec2 = Boxed(adapter, Calls(adapter.connect, self.pauses.append, adapter.errors))
        self.ec2.world = world
        if not told:
            self.ec2._types = TYPES

    def provider(self, model: str, cloud: str | None = None) -> Any:  # noqa: F811
        return self.ec2

    def cloud_type(self, model: str) -> str:
        return "ec2"


@pytest.fixture
def proxy(server: Moto) -> Iterator[Ec2Proxy]:  # noqa: F811
    made = Ec2Proxy(server.url)
    yield made
    made.close()


@pytest.fixture
def spec(cloud: CloudSpec) -> CloudSpec:  # noqa: F811
    images = dict(cloud.config["images"])
    return replace(cloud, config={"images": {**images, UBUNTU.display: images["ubuntu@24.04"]}})


Made = Callable[..., Ec2Runtime]


@pytest.fixture
def make(runtime: TestController, proxy: Ec2Proxy, spec: CloudSpec, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Return a function that opens a controller process; played machines have no cloud-init to wait for."""

    async def ready(*_: Any) -> None:
        return None

    monkeypatch.setattr(firstboot, "wait", ready)

    def call(step: str = "", *, told: bool = False) -> Ec2Runtime:
        return Ec2Runtime(runtime, proxy, spec, step, told=told)

    return call


def add(runtime: TestController, **constraints: Any) -> None:
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints=constraints)


def nodes(spec: CloudSpec) -> list[Any]:
    """What really runs in the account."""
    return ec2.nodes(driver_of(spec), {})


def told(runtime: TestController, machine: str = "0") -> tuple[str, str]:
    return runtime.status(StatusKind.INSTANCE, machine)


async def test_a_full_zone_is_left_for_the_next(
    runtime: TestController, make: Made, proxy: Ec2Proxy, spec: CloudSpec
) -> None:
    proxy.break_("RunInstances", answer=FULL)
    add(runtime)
    work = make()
    assert not (await worker(work)).failed
    left = next(event.text for event in work.events if "new availability zone" in event.text)
    assert "InsufficientInstanceCapacity: We currently do not have" in left
    assert work.pauses == []  # the same request would not work in a moment
    (node,) = nodes(spec)
    assert f'failed to start machine 0 in zone "{node.extra["availability"]}"' not in left
    assert told(runtime)[0] == "running"


async def test_no_capacity_in_all_zones(
    runtime: TestController, make: Made, proxy: Ec2Proxy, spec: CloudSpec
) -> None:
    proxy.break_("RunInstances", answer=FULL, times=9999)
    add(runtime, zones=["us-east-1a", "us-east-1b"])
    work = make()
    await worker(work)
    assert "retrying in 10s (10 more attempts)" in told(runtime)[1]
    for _ in range(10):
        await worker(work)
    status, message = told(runtime)
    assert status == "provisioning error"
    assert "InsufficientInstanceCapacity" in message
    assert nodes(spec) == []
    proxy.faults.clear()
    runtime.write(lambda tx: machines.retry_start(tx, "0"))
    await worker(work)
    assert len(nodes(spec)) == 1


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (refusal("AuthFailure", "AWS was not able to validate the credentials", 401), "AuthFailure"),
        (refusal("InvalidClientTokenId", "The security token is invalid", 403), "InvalidClientTokenId"),
        (refusal("RequestExpired", "Request has expired."), "RequestExpired"),
        (refusal("ExpiredToken", "The provided token has expired."), "ExpiredToken"),
        (refusal("UnauthorizedOperation", "You are not authorized", 403), "UnauthorizedOperation"),
    ],
)
async def test_a_refused_credential_waits_for_another(
    runtime: TestController, make: Made, proxy: Ec2Proxy, spec: CloudSpec, answer: Any, text: str
) -> None:
    proxy.break_("RunInstances", answer=answer)
    add(runtime)
    assert (await worker(make())).due is None
    status, message = told(runtime)
    assert status == "provisioning error"
    assert message.startswith("the cloud refuses the credential: ")
    assert text in message
    assert "hunter2" not in message
    assert nodes(spec) == []


async def test_a_quota_is_told(runtime: TestController, make: Made, proxy: Ec2Proxy, spec: CloudSpec) -> None:
    proxy.break_("RunInstances", answer=refusal("VcpuLimitExceeded", "You have requested more vCPU capacity"))
    add(runtime)
    await worker(make())
    assert "VcpuLimitExceeded: You have requested more vCPU capacity" in told(runtime)[1]
    assert runtime.machine("0").attempts == 1
    assert nodes(spec) == []


async def test_an_image_that_is_not_there(runtime: TestController, make: Made, spec: CloudSpec) -> None:
    add(runtime, **{"image-id": "ami-0000000000000bad0"})
    await worker(make())
    assert "ami-0000000000000bad0" in told(runtime)[1]
    assert nodes(spec) == []


@pytest.mark.parametrize(
    "fault",
    [
        {"answer": refusal("RequestLimitExceeded", "Request limit exceeded.", 503)},
        {"answer": refusal("InternalError", "An internal error has occurred", 500)},
        {"answer": refusal("Throttling", "Rate exceeded", 429)},
        {"kind": "lost"},
        {"kind": "half"},
    ],
)
async def test_faults_are_waited_out_and_start_nothing_twice(
    runtime: TestController, make: Made, proxy: Ec2Proxy, spec: CloudSpec, fault: dict[str, Any]
) -> None:
    proxy.break_("RunInstances", **fault)
    add(runtime)
    work = make()
    assert not (await worker(work)).failed
    assert work.pauses == [0.5]
    assert [node.id for node in nodes(spec)] == [runtime.machine("0").instance_id]


async def test_an_answer_that_never_comes(
    runtime: TestController, make: Made, proxy: Ec2Proxy, spec: CloudSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ec2.Ec2, "timeout_s", 4.0)
    proxy.break_("RunInstances", kind="never")
    add(runtime)
    assert not (await worker(make())).failed
    assert len(nodes(spec)) == 1


@pytest.mark.parametrize("point", ["zone-chosen", "instance-made", "machine-started"])
async def test_killed_at_each_step_leaves_one_instance(
    runtime: TestController, make: Made, proxy: Ec2Proxy, spec: CloudSpec, point: str
) -> None:
    add(runtime)
    with pytest.raises(Died):
        await worker(make(point))
    assert not (await worker(make())).failed
    assert proxy.times("RunInstances") == 1
    assert [node.id for node in nodes(spec)] == [runtime.machine("0").instance_id]
    assert told(runtime)[0] == "running"


async def test_removed_during_its_start_leaves_none(
    runtime: TestController, make: Made, spec: CloudSpec
) -> None:
    add(runtime)
    with pytest.raises(Died):
        await worker(make("instance-made"))
    assert len(nodes(spec)) == 1
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    await worker(make())
    assert (nodes(spec), runtime.machine_ids()) == ([], [])


async def test_an_instance_without_an_address_is_ended(
    runtime: TestController, make: Made, spec: CloudSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ec2.Ec2, "address_s", 0.05)
    plain = ec2.nodes

    def without(driver: Any, filters: Any) -> list[Any]:
        return [_bare(node) for node in plain(driver, filters)]

    monkeypatch.setattr(ec2, "nodes", without)
    run = ec2.run
    monkeypatch.setattr(ec2, "run", lambda *asked: _bare(run(*asked)))
    add(runtime)
    await worker(make())
    assert "got no address in 0 s" in told(runtime)[1]
    assert plain(driver_of(spec), {}) == []


def _bare(node: Any) -> Any:
    node.public_ips, node.private_ips = [], []
    return node


async def test_an_instance_that_disappears_is_told(
    runtime: TestController, make: Made, spec: CloudSpec
) -> None:
    add(runtime)
    work = make()
    await worker(work)
    ec2.terminate(driver_of(spec), [runtime.machine("0").instance_id])
    runtime.clock.advance(3600)
    await poller.poll(work, runtime.model)
    assert told(runtime) == (str(InstanceStatus.UNKNOWN), "the cloud has no such instance any more")


class Vanished(Ec2Proxy):
    """EC2 that answers a request once more, as Amazon does, and knows an ended instance no more.

    Moto starts another instance for the same token, and takes the end of one that is over.
    """

    def __init__(self, moto: str) -> None:
        super().__init__(moto)
        self._answers: dict[str, Answer] = {}
        self.alive: set[str] = set()
        self.ended: set[str] = set()

    def work(self, asked: Asked) -> Answer:
        """Answer."""
        params = asked_for(asked)
        named = {value for key, value in params.items() if key.startswith("InstanceId")}
        if params.get("Action") == "TerminateInstances" and named & self.ended:
            return refusal("InvalidInstanceID.NotFound", "The instance ID does not exist")
        token = params.get("ClientToken", "") if params.get("Action") == "RunInstances" else ""
        if token in self._answers:
            known = self._answers[token]
            gone = any(name.encode() in known.body for name in self.ended)
            return replace(known, body=known.body.replace(b"pending", b"terminated")) if gone else known
        answer = super().work(asked)
        if token:
            self._answers[token] = answer
            self.alive |= {item.decode() for item in re.findall(rb"<instanceId>([^<]+)<", answer.body)}
        if params.get("Action") == "TerminateInstances":
            self.alive -= named
        return answer


@pytest.fixture
def vanished(server: Moto) -> Iterator[Vanished]:  # noqa: F811
    made = Vanished(server.url)
    yield made
    made.close()


async def test_an_instance_that_disappears_at_any_moment(
    runtime: TestController,
    vanished: Vanished,
    spec: CloudSpec,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before any request that is made while there is an instance: the start may be tried again."""
    run = ec2.run
    monkeypatch.setattr(ec2, "run", lambda *asked: _bare(run(*asked)))
    provider = Ec2Runtime(runtime, vanished, spec).ec2
    driver, count = driver_of(spec), itertools.count()

    def vanish() -> None:
        ec2.terminate(driver, sorted(vanished.alive))
        vanished.ended |= vanished.alive
        vanished.alive.clear()

    async def begin() -> StartRequest:
        nonce = f"machine-0:{next(count)}"
        return StartRequest(machine_id="0", base=UBUNTU, nonce=nonce, hostname="x", zone="us-east-1a")

    async def call(request: StartRequest) -> None:
        started = await start_in_the_end(lambda: provider.start(request))
        with contextlib.suppress(NotFound):
            await provider.ssh_target(started.instance)
        await provider.list()
        await provider.get([started.instance.id])
        other = await start_in_the_end(
            lambda: provider.start(replace(request, machine_id="1", nonce=f"{request.nonce}/1"))
        )
        await provider.set_ingress("0", MachineRules())
        await provider.stop([started.instance.id, other.instance.id])
        await provider.destroy_model()
        assert nodes(spec) == []

    await at_each_moment(vanished, vanish, lambda: len(vanished.alive), begin, call)


# --- what the region tells --------------------------------------------------------------------------------


@pytest.mark.timeout(300)
async def test_types_are_those_of_the_region_and_kept(
    make: Made, proxy: Ec2Proxy, runtime: TestController, spec: CloudSpec
) -> None:
    found = {item.name: item for item in await make(told=True).ec2.ask(ec2_types.described)}
    small = found["t3.small"]
    assert (small.cores, small.mem, small.arches, small.deprecated) == (2, 2048, ("amd64",), False)
    assert 0 < small.cost < 1
    assert found["t4g.small"].arches == ("arm64",)
    assert found["m1.small"].deprecated
    assert found["m5.metal"].deprecated
    proxy.asked.clear()
    await make(told=True).ec2.check()
    await make(told=True).ec2.check()
    assert proxy.times("DescribeInstanceTypes") == 1


async def test_an_endpoint_that_does_not_tell_types(make: Made, proxy: Ec2Proxy) -> None:
    proxy.break_("DescribeInstanceTypes", answer=refusal("InvalidAction", "not valid"), times=9)
    found = await make(told=True).ec2.check()
    assert "USD an hour" in found.costs


def test_a_damaged_or_old_file_is_asked_for_again(tmp_path: Path) -> None:
    file, clock = tmp_path / "types.json", FakeClock(datetime.now(UTC))
    ec2_types._keep(file, ec2types_sample())
    assert ec2_types._kept(file, clock) == ec2types_sample()
    assert ec2_types._kept(file, FakeClock(datetime.now(UTC) + timedelta(days=2))) == []
    file.write_text('[{"name": 3}]')
    assert ec2_types._kept(file, clock) == []


def test_types_that_cannot_be_kept_are_asked_for_again(tmp_path: Path) -> None:
    (tmp_path / "libcloud").write_text("a file is in the way, as a full disk would be")
    ec2_types._keep(tmp_path / "libcloud" / "types.json", ec2types_sample())


def ec2types_sample() -> list[Any]:
    return [ec2_types.InstanceType(name="x", cores=1, mem=1024, cost=float("inf"))]


async def test_user_data_that_is_too_long_for_an_address(
    runtime: TestController, make: Made, proxy: Ec2Proxy, spec: CloudSpec
) -> None:
    request = StartRequest(
        machine_id="0", base=UBUNTU, nonce="n", user_data={"runcmd": ["x" * 12000]}, zone="us-east-1a"
    )
    await make().ec2.start(request)
    (asked,) = [item for item in proxy.asked if item.method == "POST"]
    assert b"Action=RunInstances" in asked.body
    assert len(nodes(spec)) == 1


async def test_a_wrong_credential_at_bootstrap(
    server: Moto, proxy: Ec2Proxy, spec: CloudSpec, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    proxy.break_("DescribeAvailabilityZones", answer=refusal("AuthFailure", "not able to validate", 401))
    here = replace(spec, endpoint=proxy.url)

    def provider(there: CloudSpec = here, **more: Any) -> CloudProvider:
        return CloudProvider(open_adapter(site_of(there, tmp_path, **more)))

    with pytest.raises(CredentialInvalid, match="credential"):
        await provider().check()
    with pytest.raises(NotValid, match="needs a credential with access-key, secret-key"):
        await provider(credential=Credential(name="x", auth_type="access-key")).check()
    with pytest.raises(NotValid, match="mars"):
        await provider(replace(here, region="mars")).check()
    proxy.break_("DescribeAvailabilityZones", kind="half", times=9)
    with pytest.raises(ProviderError, match="the cloud"):
        await provider().check()
