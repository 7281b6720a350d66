"""What every adapter must do on the fake of its cloud: a suite, as the contract of providers is one.

Subclass `CloudCases` with a fixture `bench`. Machines behind the instances are not needed here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.constraints import check
from pushjuju.core.errors import CredentialInvalid, NotFound, NotValid, ProviderError, QuotaExceeded
from pushjuju.core.firewall import IngressRule, MachineRules
from pushjuju.core.model.ports import PortRange
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import (
    Constrained,
    Instance,
    ModelInfo,
    Provider,
    Reachable,
    Services,
    StartRequest,
    Zoned,
)
from pushjuju.plugins.providers.libcloud.calls import Calls
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers import open_adapter
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from tests.clouds.httpfake import Answer, HttpFake
from tests.clouds.vanishing import at_each_moment, start_in_the_end

MODEL = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
OTHER = "bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEhunter2 controller"


@dataclass(kw_only=True)
class CloudBench:
    """A cloud and its fake.

    Attributes:
        create: Method and path (a regular expression) of the request that starts an instance.
        quota: An answer to it that tells of a quota.
        full: An answer to it that tells that a zone has no room.
        wrong: A credential that the cloud refuses.
        size: A type of the fake's with 4 GiB of memory or more, the cheapest.
        secrets: Texts that may never be shown.
    """

    fake: HttpFake
    cloud: CloudSpec
    credential: Credential
    wrong: Credential
    create: tuple[str, str]
    quota: Answer
    full: Answer
    size: str
    secrets: Sequence[str]
    data_dir: Path
    config: dict[str, Any] = field(default_factory=dict)
    pauses: list[float] = field(default_factory=list)

    def open(
        self, model: str = MODEL, *, credential: Credential | None = None, **cloud: Any
    ) -> CloudProvider:
        """Return the provider as a controller has it, but not as patient."""
        site = Site(
            cloud=replace(self.cloud, **cloud),
            credential=credential or self.credential,
            model=ModelInfo(uuid=model, name="shop", controller_uuid="c"),
            config=self.config,
            services=Services(data_dir=self.data_dir),
        )
        adapter = open_adapter(site)
        adapter.look_s, adapter.address_s = 0.01, 5.0
        silent = any(fault.kind == "never" for fault in self.fake.faults)
        adapter.timeout_s = 0.5 if silent else 30.0  # a busy machine answers late
        return CloudProvider(adapter, Calls(adapter.connect, self.pauses.append, adapter.errors))

    def request(self, machine: str = "0", **changes: Any) -> StartRequest:
        """Return a request as the provisioner makes it."""
        wanted: dict[str, Any] = {
            "machine_id": machine,
            "base": Base.parse("ubuntu@24.04"),
            "nonce": f"machine-0:{machine}",
            "hostname": f"juju-eeeeee-{machine}",
            "authorized_keys": (KEY,),
            "tags": {"juju-model-uuid": MODEL, "juju-units-deployed": "web/0 db/1", "owner": "Me & You"},
            "user_data": {"hostname": "x", "packages": ["python3"]},
        }
        return StartRequest(**{**wanted, **changes})

    def no_address(self) -> None:
        """Let new instances never have an address."""
        vars(self.fake)["looks"] = -1

    def vanish(self) -> Callable[[], None]:
        """Return a function that ends the model's instances as another client of the cloud does."""
        adapter = self.open().adapter

        def end_all() -> None:
            driver = adapter.connect()
            for seen in adapter.machines(driver):
                adapter.end(driver, seen)

        return end_all

    def instances(self) -> int:
        """Return how many instances there are, whosever they are."""
        raise NotImplementedError

    def leftovers(self) -> list[str]:
        """Return what of models is left in the cloud besides volumes."""
        raise NotImplementedError

    def user_data(self) -> list[str]:
        """Return the user data of the instances."""
        raise NotImplementedError


class CloudCases:
    """The suite.

    Attributes:
        scope: Of the first address of a plain instance.
    """

    scope = "public"

    async def test_the_life_of_a_machine(self, bench: CloudBench) -> None:
        provider = bench.open()
        for kind in (Provider, Zoned, Constrained, Reachable):
            assert isinstance(provider, kind)
        told: list[str] = []
        request = bench.request(
            constraints={"mem": 4096}, progress=lambda status, message: told.append(message)
        )
        zones = [zone.name for zone in await provider.zones() if zone.available]
        request = replace(request, zone=zones[0]) if zones else request
        instance = (await provider.start(request)).instance
        assert told == [f"starting {bench.size}"]
        assert instance.status in (
            InstanceStatus.PENDING, InstanceStatus.RUNNING, InstanceStatus.ALLOCATING,
        )  # fmt: skip
        assert (instance.hardware.mem or 0) >= 4096
        assert instance.hardware.arch == "amd64"
        assert instance.hardware.availability_zone == (zones[0] if zones else "")
        assert (instance.machine_id, instance.display_name) == ("0", "juju-eeeeee-0")
        assert [item.id for item in await bench.open().list()] == [instance.id]
        target = await provider.ssh_target(instance)
        assert target.host == instance.addresses[0].value
        assert instance.addresses[0].scope == self.scope
        await provider.stop([instance.id, "no-such-instance"])
        assert list(await provider.get([instance.id, "nor-this"])) == [None, None]
        with pytest.raises(NotFound):
            await provider.ssh_target(instance)
        await provider.stop([instance.id])
        await provider.destroy_model()
        assert (bench.instances(), bench.leftovers()) == (0, [])

    async def test_user_data_arrives(self, bench: CloudBench) -> None:
        await bench.open().start(bench.request())
        (text,) = bench.user_data()
        assert text.startswith("#cloud-config\nhostname: x\npackages:\n- python3\n")

    async def test_a_repeated_start_finds_its_instance_and_another_replaces_it(
        self, bench: CloudBench
    ) -> None:
        first = await bench.open().start(bench.request())
        again = await bench.open().start(bench.request())
        assert (again.instance.id, bench.fake.count(*bench.create)) == (first.instance.id, 1)
        other = await bench.open().start(bench.request(nonce="machine-0:other"))
        assert other.instance.id != first.instance.id
        assert [item.id for item in await bench.open().list()] == [other.instance.id]
        assert bench.instances() == 1

    async def test_models_do_not_see_each_other(self, bench: CloudBench) -> None:
        one = await bench.open().start(bench.request())
        two = await bench.open(OTHER).start(bench.request())
        assert one.instance.id != two.instance.id
        assert await bench.open().get([two.instance.id]) == [None]
        await bench.open().stop([two.instance.id])
        await bench.open().destroy_model()
        assert [item.id for item in await bench.open(OTHER).list()] == [two.instance.id]
        await bench.open(OTHER).destroy_model()
        assert (bench.instances(), bench.leftovers()) == (0, [])

    async def test_several_at_once(self, bench: CloudBench) -> None:
        provider = bench.open()
        started = await asyncio.gather(*(provider.start(bench.request(str(item))) for item in range(8)))
        assert len({item.instance.id for item in started}) == 8
        assert sorted(item.machine_id for item in await provider.list()) == list("01234567")
        await provider.destroy_model()
        assert (bench.instances(), bench.leftovers()) == (0, [])

    async def test_what_bootstrap_hears(self, bench: CloudBench) -> None:
        found = await bench.open().check()
        assert "No machine is started now. A machine without constraints is a " in found.costs
        assert [item.ok for item in await bench.open().doctor()] == [True]
        assert bench.instances() == 0

    async def test_rules_and_placement(self, bench: CloudBench) -> None:
        provider = bench.open()
        base = Base.parse("ubuntu@24.04")
        await provider.precheck(base, {}, "")
        for placement, problem in (("zone=moon", "not valid"), ("host.maas", "unknown placement directive")):
            with pytest.raises(NotValid, match=problem):
                await provider.precheck(base, {}, placement)
        with pytest.raises(NotValid, match='matching constraints "cores=4000"'):
            await provider.precheck(base, {"cores": 4000}, "")
        rules = await provider.rules()
        assert check({"tags": ["x"]}, rules) == ["tags"]
        assert check({"mem": 4096, "instance-type": ""}, rules) == []
        with pytest.raises(NotValid, match="invalid constraint value: instance-type=m99"):
            check({"instance-type": "m99"}, rules)
        with pytest.raises(NotValid, match='"instance-type" overlaps with "mem"'):
            check({"instance-type": bench.size, "mem": 5}, rules)

    async def test_a_base_without_an_image(self, bench: CloudBench) -> None:
        with pytest.raises(NotValid, match=r"no image for base ubuntu@16\.04: name one"):
            await bench.open().start(bench.request(base=Base.parse("ubuntu@16.04")))
        assert bench.instances() == 0

    async def test_too_much_user_data(self, bench: CloudBench) -> None:
        with pytest.raises(NotValid, match="the user data is larger than"):
            await bench.open().start(bench.request(user_data={"x": "y" * 300_000}))
        assert bench.instances() == 0

    async def test_a_wrong_credential(self, bench: CloudBench) -> None:
        provider = bench.open(credential=bench.wrong)
        with pytest.raises(CredentialInvalid) as caught:
            await provider.check()
        self._tells_no_secret(bench, caught.value)
        with pytest.raises(CredentialInvalid):
            await provider.start(bench.request())
        assert [item.ok for item in await provider.doctor()] == [False]

    async def test_a_credential_that_was_withdrawn(self, bench: CloudBench) -> None:
        """Nothing is done by halves, and the machine is found again with a new one."""
        started = (await bench.open().start(bench.request())).instance
        provider = bench.open(credential=bench.wrong)
        for refused in (provider.list(), provider.stop([started.id]), provider.destroy_model()):
            with pytest.raises(CredentialInvalid) as caught:
                await refused
            self._tells_no_secret(bench, caught.value)
        assert [item.id for item in await bench.open().list()] == [started.id]

    async def test_a_credential_that_lacks_something(self, bench: CloudBench) -> None:
        with pytest.raises(NotValid, match="needs a credential"):
            await bench.open(credential=Credential(name="x", auth_type=bench.credential.auth_type)).check()

    async def test_an_unknown_region(self, bench: CloudBench) -> None:
        with pytest.raises(NotValid, match="mars"):
            await bench.open(region="mars").check()

    async def test_a_quota(self, bench: CloudBench) -> None:
        bench.fake.fail(*bench.create, answer=bench.quota)
        with pytest.raises(QuotaExceeded) as caught:
            await bench.open().start(bench.request())
        assert caught.value.detail
        assert bench.instances() == 0

    async def test_a_full_zone_is_left_for_another(self, bench: CloudBench) -> None:
        bench.fake.fail(*bench.create, answer=bench.full)
        with pytest.raises(ProviderError) as caught:
            await bench.open().start(bench.request())
        assert type(caught.value) is ProviderError  # the provisioner goes on with the next zone
        assert (caught.value.retryable, bench.instances()) == (True, 0)

    async def test_no_room_in_any_zone(self, bench: CloudBench) -> None:
        provider = bench.open()
        zones = [zone.name for zone in await provider.zones() if zone.available] or [""]
        bench.fake.fail(*bench.create, answer=bench.full, times=len(zones))
        for zone in zones:
            with pytest.raises(ProviderError) as caught:
                await provider.start(bench.request(zone=zone))
            assert (caught.value.retryable, bench.instances()) == (True, 0)
            assert caught.value.detail
        await provider.start(bench.request(zone=zones[0]))
        assert bench.instances() == 1

    @pytest.mark.parametrize("kind", ["answer", "lost", "half", "never"])
    async def test_the_first_answer_is_no_good(self, bench: CloudBench, kind: str) -> None:
        """Of whatever is asked first: a token, a session, a list."""
        bench.fake.fail("", ".*", kind=kind)
        provider = bench.open()
        await provider.start(bench.request())
        assert len(await provider.list()) == bench.instances() == 1
        assert len(bench.pauses) == 1

    async def test_throttling_and_faults_are_waited_out(self, bench: CloudBench) -> None:
        slow = Answer(status=429, body={"message": "slow down"}, headers={"retry-after": "7"})
        bench.fake.fail(*bench.create, answer=slow)
        bench.fake.fail(*bench.create, answer=Answer(status=503, body="<html>busy</html>"))
        bench.fake.fail(*bench.create)
        bench.fake.fail(*bench.create, kind="never")
        await bench.open().start(bench.request())
        assert bench.pauses[0] >= 0.5
        assert len(bench.pauses) == 4
        assert bench.instances() == 1

    @pytest.mark.parametrize("kind", ["lost", "half", "never"])
    async def test_a_yes_that_was_lost_starts_nothing_twice(self, bench: CloudBench, kind: str) -> None:
        bench.fake.fail(*bench.create, kind=kind)
        started = await bench.open().start(bench.request())
        assert bench.instances() == 1
        assert bench.fake.count(*bench.create) == (2 if kind == "never" else 1)
        assert [item.id for item in await bench.open().list()] == [started.instance.id]

    async def test_a_cloud_that_fails_for_good(self, bench: CloudBench) -> None:
        bench.fake.fail(*bench.create, times=99)
        with pytest.raises(ProviderError) as caught:
            await bench.open().start(bench.request())
        assert (caught.value.retryable, bench.instances()) == (True, 0)

    async def test_a_cloud_that_is_away(self, bench: CloudBench) -> None:
        bench.fake.close()
        with pytest.raises(ProviderError, match="the cloud does not answer") as caught:
            await bench.open().check()
        self._tells_no_secret(bench, caught.value)
        assert [item.ok for item in await bench.open().doctor()] == [False]

    async def test_no_address_in_time(self, bench: CloudBench) -> None:
        bench.no_address()
        provider = bench.open()
        provider.adapter.address_s = 0.1
        with pytest.raises(ProviderError, match="got no address in 0 s"):
            await provider.start(bench.request())
        assert bench.instances() == 0

    async def test_an_instance_that_disappears_while_it_starts(self, bench: CloudBench) -> None:
        """Before any request of a start: it ends with another instance, or may be tried again."""
        vars(bench.fake)["looks"] = 1
        provider = bench.open()
        await provider.list()  # what is asked for once is known

        async def start(_none: None) -> None:
            started = await start_in_the_end(lambda: provider.start(bench.request()))
            assert [item.id for item in await provider.list()] in ([], [started.instance.id])

        async def clean() -> None:
            await provider.destroy_model()
            assert (bench.instances(), bench.leftovers()) == (0, [])

        await at_each_moment(bench.fake, bench.vanish(), bench.instances, clean, start)

    async def test_an_instance_that_disappears_at_any_other_time(self, bench: CloudBench) -> None:
        """Before any request for a thing that was there a moment before."""
        provider = bench.open()
        zones = [zone.name for zone in await provider.zones()]
        rules = MachineRules(ingress=(IngressRule(range=PortRange("tcp", 80, 80), sources=("0.0.0.0/0",)),))

        async def begin() -> Instance:
            return (await provider.start(bench.request(zone=zones[0] if zones else ""))).instance

        async def ask(instance: Instance) -> None:
            with contextlib.suppress(NotFound):
                await provider.ssh_target(instance)
            await provider.list()
            await provider.get([instance.id])
            with contextlib.suppress(ProviderError):
                await provider.set_ingress("0", rules)
            await provider.stop([instance.id])
            await provider.destroy_model()
            assert (bench.instances(), bench.leftovers()) == (0, [])

        await at_each_moment(bench.fake, bench.vanish(), bench.instances, begin, ask)

    async def test_a_start_that_was_given_up_is_taken_on(self, bench: CloudBench) -> None:
        """The controller dies while the instance has no address yet."""
        bench.no_address()
        dying = bench.open()
        task = asyncio.create_task(dying.start(bench.request()))
        async with asyncio.timeout(10):
            while not bench.instances():  # noqa: ASYNC110 - in another thread
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        dying._call._threads.shutdown()  # they end with their process
        vars(bench.fake)["looks"] = 0
        await bench.open().start(bench.request())
        assert (bench.instances(), bench.fake.count(*bench.create)) == (1, 1)

    @staticmethod
    def _tells_no_secret(bench: CloudBench, error: ProviderError) -> None:
        shown = f"{error} {error.message} {error.detail} {error.hint}"
        assert not [item for item in bench.secrets if item in shown]
