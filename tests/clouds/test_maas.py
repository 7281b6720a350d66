"""MAAS over HTTP, against a fake that keeps its machines' states and checks every request."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.constraints import check
from pushjuju.core.errors import (
    CredentialInvalid,
    NotFound,
    NotSupported,
    NotValid,
    ProviderError,
    PushjujuError,
    ZoneIndependent,
)
from pushjuju.core.status import InstanceStatus
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import (
    Constrained,
    ModelInfo,
    Provider,
    Reachable,
    Services,
    StartRequest,
    Zoned,
)
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.maas import client, documents, provider
from pushjuju.plugins.providers.maas.client import ApiKey, Maas
from pushjuju.plugins.providers.maas.disks import gigabytes
from pushjuju.plugins.providers.maas.provider import MaasProvider
from tests.clouds.asgi import serve
from tests.clouds.crowd import start_twenty
from tests.clouds.maas_fake import (
    ALLOCATED,
    DEPLOYED,
    FAILED,
    KEY,
    READY,
    RELEASING,
    FakeMaas,
    Node,
)
from tests.clouds.vanishing import at_each_moment, start_in_the_end
from tests.world.runtime import Died

pytestmark = pytest.mark.timeout(60)

MODEL = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
OTHER = "aaaaaaaa-bbbb-4ccc-8ddd-ffffffffffff"
BASE = Base.parse("ubuntu@24.04")
ALLOCATE, DEPLOY = "POST machines/ allocate", "POST machines/*/ deploy"
ANNOTATE, RELEASE = "POST machines/*/ set_owner_data", "POST machines/ release"
_SERVER: dict[int, str] = {}


@pytest.fixture
def maas(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMaas]:
    """A server with four machines in two zones; nobody waits long."""
    monkeypatch.setattr(client, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(provider, "LOOK_S", 0.01)
    fake = FakeMaas(
        [
            Node("aaa111", "able", address="192.0.2.11"),
            Node("bbb222", "baker", zone="rack-b", address="192.0.2.12", tags=("gpu",), cores=16, mem=65536),
            Node("ccc333", "charlie", address="192.0.2.13", spaces=("Big Space", "dmz")),
            Node("ddd444", "dog", zone="rack-b", address="192.0.2.14", spaces=("Big Space",)),
        ]
    )
    with serve(fake) as url:
        _SERVER[id(fake)] = url
        yield fake


Open = Callable[..., MaasProvider]


@pytest.fixture
def opened(maas: FakeMaas) -> Open:
    """Return a function that opens the provider as a controller does."""

    def call(model: str = MODEL, *, key: str = KEY, **cloud: Any) -> MaasProvider:
        given = {"name": "lab", "type": "maas", "endpoint": f"{_SERVER[id(maas)]}/MAAS", **cloud}
        return MaasProvider(
            cloud=CloudSpec(**given),
            credential=Credential(name="me", auth_type="oauth1", attributes={"maas-oauth": key}),
            model=ModelInfo(uuid=model, name="shop", controller_uuid="c"),
        )

    return call


def _request(machine: str = "0", **changes: Any) -> StartRequest:
    wanted: dict[str, Any] = {
        "machine_id": machine,
        "base": BASE,
        "nonce": f"machine-0:{machine}",
        "hostname": f"juju-eeeeee-{machine}",
        "tags": {"juju-model-uuid": MODEL, "juju-units-deployed": "web/0", "owner": "me"},
        "user_data": {"hostname": "x"},
        "host_keys": ("ssh-ed25519 AAAA",),
    }
    return StartRequest(**{**wanted, **changes})


def _told(error: PushjujuError) -> str:
    return f"{error.message} | {error.detail} | {error.hint}"


# --- a machine --------------------------------------------------------------------------------------------


async def test_the_life_of_a_machine(opened: Open, maas: FakeMaas) -> None:
    one = opened()
    assert isinstance(one, Provider)
    assert isinstance(one, Zoned)
    assert isinstance(one, Constrained)
    assert isinstance(one, Reachable)
    maas.deploy_s = None
    started = await one.start(
        _request(constraints={"cores": 8, "mem": 4096, "root-disk": 8192, "tags": ["gpu"]})
    )
    instance = started.instance
    assert (instance.id, instance.display_name, instance.machine_id) == ("bbb222", "baker", "0")
    assert (instance.status, instance.message) == (InstanceStatus.ALLOCATING, "Deploying: Configuring OS")
    assert str(instance.hardware) == "arch=amd64 cores=16 mem=65536M tags=gpu availability-zone=rack-b"
    assert dict(maas.allocations[0]) == {
        "agent_name": MODEL,
        "comment": "pushjuju machine=0 nonce=machine-0:0",
        "cpu_count": "8",
        "mem": "4096",
        "storage": "root:8",
        "tags": "gpu",
    }
    node = maas.nodes["bbb222"]
    assert node.deployed_with["distro_series"] == "noble"
    packed = base64.b64decode(node.deployed_with["user_data"])
    assert gzip.decompress(packed).decode() == "#cloud-config\nhostname: x\n"
    assert node.owner_data["owner"] == "me"
    assert instance.tags == {"juju-model-uuid": MODEL, "juju-units-deployed": "web/0"}
    target = await opened().ssh_target(instance)
    assert (target.host, target.user, target.host_keys) == ("192.0.2.12", "ubuntu", ("ssh-ed25519 AAAA",))
    maas.finish("bbb222")
    (now,) = await opened().get(["bbb222"])
    assert now is not None
    assert (now.status, now.message) == (InstanceStatus.RUNNING, "Deployed")
    assert [(item.value, item.cidr) for item in now.addresses] == [("192.0.2.12", "192.0.2.0/24")]
    await one.stop(["bbb222", "nobody"])
    assert await one.get(["bbb222"]) == [None]
    assert await one.list() == []
    with pytest.raises(NotFound):
        await one.ssh_target(instance)
    await one.stop(["bbb222"])
    await one.destroy_model()
    assert len(maas.in_state(READY)) == 4


async def test_models_do_not_see_each_other(opened: Open, maas: FakeMaas) -> None:
    mine, other = await opened().start(_request()), await opened(OTHER).start(_request())
    assert mine.instance.id != other.instance.id
    assert await opened().get([other.instance.id]) == [None]
    await opened().stop([other.instance.id])
    await opened().destroy_model()
    assert [item.id for item in await opened(OTHER).list()] == [other.instance.id]
    assert [node.system_id for node in maas.in_state(DEPLOYED)] == [other.instance.id]


async def test_a_machine_without_an_address_is_reached_by_name(opened: Open, maas: FakeMaas) -> None:
    maas.nodes["aaa111"].address = ""
    started = await opened().start(_request(placement="able"))
    assert started.instance.addresses == ()
    assert (await opened().ssh_target(started.instance)).host == "able.maas"


async def test_twenty_at_once_while_the_loop_goes_on(opened: Open, maas: FakeMaas) -> None:
    for number in range(20):
        maas.nodes[f"n{number}"] = Node(f"n{number}", f"n{number}", address=f"198.51.100.{number}")
    await start_twenty(opened(), _request)


# --- what is asked for ------------------------------------------------------------------------------------


async def test_constraints_become_parameters(opened: Open, maas: FakeMaas) -> None:
    wanted = {"arch": "amd64", "tags": ["virtual", "^gpu"], "spaces": ["big-space", "^undefined", "alpha"]}
    started = await opened().start(_request(zone="default", constraints=wanted))
    assert started.instance.id == "ccc333"
    asked = maas.allocations[0]
    assert [pair for pair in asked if pair[0] not in ("agent_name", "comment")] == [
        ("zone", "default"),
        ("arch", "amd64"),
        ("interfaces", "1:space=1"),
        ("tags", "virtual"),
        ("not_tags", "gpu"),
        ("not_subnets", "space:-1"),
    ]


async def test_a_resource_pool_and_images_of_the_cloud(opened: Open, maas: FakeMaas) -> None:
    maas.nodes["ccc333"].pool = "shop"
    config = {"pool": "shop", "images": {"debian@12": "custom/debian-12"}}
    one = opened(config=config)
    debian = Base.parse("debian@12")
    await one.precheck(debian, {}, "")
    started = await one.start(_request(base=debian))
    assert started.instance.id == "ccc333"
    assert maas.nodes["ccc333"].deployed_with["distro_series"] == "custom/debian-12"
    await opened().start(_request("1", constraints={"image-id": "jammy"}))
    assert maas.nodes["aaa111"].deployed_with["distro_series"] == "jammy"


async def test_placement(opened: Open, maas: FakeMaas) -> None:
    one = opened()
    assert [zone.name for zone in await one.zones()] == ["default", "rack-b"]
    assert await one.derive_zones(_request(placement="zone=rack-b")) == ["rack-b"]
    for placement in ("system-id=ddd444", "dog", "dog.maas"):
        assert await one.derive_zones(_request(placement=placement)) == []
        await one.precheck(BASE, {}, placement)
        started = await one.start(_request(placement=placement, zone="default"))
        assert (started.instance.id, started.instance.hardware.availability_zone) == ("ddd444", "rack-b")
        await one.destroy_model()
        assert len(maas.in_state(READY)) == 4
    started = await one.start(_request(placement="zone=rack-b", zone="rack-b"))
    assert started.instance.hardware.availability_zone == "rack-b"
    for placement, text in {
        "zone=moon": 'availability zone "moon" not valid',
        "system-id=zzz": 'machine "zzz" not found in MAAS',
        "cat": 'machine "cat" not found in MAAS',
        "rack=1": "unknown placement directive: rack=1",
        "system-id=": "unknown placement directive: system-id=",
    }.items():
        with pytest.raises(NotValid, match=text):
            await one.precheck(BASE, {}, placement)


async def test_what_can_never_start_is_refused_before(opened: Open) -> None:
    one = opened()
    rules = await one.rules()
    ignored = check(
        {"mem": 5, "tags": ["x"], "instance-type": "m", "cpu-power": 1, "zones": ["rack-b"]}, rules
    )
    assert ignored == ["cpu-power", "instance-type"]
    for wrong in ({"arch": "arm64"}, {"zones": ["moon"]}):
        with pytest.raises(NotValid, match="valid values are"):
            check(wrong, rules)
    with pytest.raises(NotValid, match=r'no image for base ubuntu@16\.04: MAAS has no "xenial"') as caught:
        await one.precheck(Base.parse("ubuntu@16.04"), {}, "")
    assert "ubuntu/noble" in caught.value.hint
    with pytest.raises(NotValid, match="no image for base debian@11"):
        await one.precheck(Base.parse("debian@11"), {}, "")
    with pytest.raises(NotValid, match='unrecognised space in constraint "moon"'):
        await one.precheck(BASE, {"spaces": ["moon"]}, "")
    with pytest.raises(NotValid, match='negative space "dmz" from constraints clashes'):
        await one.precheck(BASE, {"spaces": ["dmz", "^dmz"]}, "")


# --- nothing twice, nothing left --------------------------------------------------------------------------


async def test_a_repeated_start_finds_its_machine_and_another_replaces_it(
    opened: Open, maas: FakeMaas
) -> None:
    first = await opened().start(_request())
    again = await opened().start(_request(zone="rack-b"))
    assert again.instance.id == first.instance.id
    assert maas.asked.count(ALLOCATE) == 1
    other = await opened().start(_request(nonce="machine-0:other"))
    assert [item.id for item in await opened().list()] == [other.instance.id]
    assert len(maas.in_state(DEPLOYED)) == 1


@pytest.mark.parametrize("step", [ANNOTATE, DEPLOY])
async def test_a_controller_that_dies_in_a_start_finds_its_machine(
    opened: Open, maas: FakeMaas, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Allocated and not noted, or noted and not deployed: the next one goes on with it."""

    async def die(self: Maas, path: str, op: str, *rest: Any, **more: Any) -> Any:
        if op == step.rsplit(maxsplit=1)[-1]:
            raise Died
        return await posted(self, path, op, *rest, **more)

    async def nothing(*_: Any) -> None:
        return

    posted = Maas.post
    with monkeypatch.context() as patched:
        patched.setattr(Maas, "post", die)
        patched.setattr(MaasProvider, "_release", nothing)  # the dead do nothing more
        with pytest.raises(Died):
            await opened().start(_request())
    (left,) = maas.in_state(ALLOCATED)
    assert bool(left.owner_data) == (step == DEPLOY)
    assert [(item.id, item.machine_id) for item in await opened().list()] == [(left.system_id, "0")]
    other = await opened().start(_request("1"))
    assert other.instance.id != left.system_id
    started = await opened().start(_request())
    assert started.instance.id == left.system_id
    assert left.owner_data["pushjuju-nonce"] == "machine-0:0"
    assert maas.asked.count(ALLOCATE) == 2
    assert maas.in_state(ALLOCATED) == []


@pytest.mark.parametrize("how", ["cut", "half", "refuse"])
async def test_an_allocation_whose_answer_is_lost_is_found(opened: Open, maas: FakeMaas, how: str) -> None:
    maas.fail(ALLOCATE, how=how, status=502, done=True)
    started = await opened().start(_request())
    assert maas.asked.count(ALLOCATE) == 1
    assert [node.system_id for node in maas.in_state(DEPLOYED)] == [started.instance.id]
    assert maas.in_state(ALLOCATED) == []


async def test_an_allocation_that_comes_late_is_released(
    opened: Open, maas: FakeMaas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first request got no answer and was carried out after the second had been."""
    monkeypatch.setattr(provider, "LATE_LOOKS", 1)
    maas.fail(ALLOCATE, how="cut")

    def late(_what: str) -> None:
        if maas.asked.count(ALLOCATE) == 2 and maas.in_state(ALLOCATED):
            node = maas.in_state(READY)[0]
            node.status, node.owner, node.agent = ALLOCATED, "admin", MODEL
            maas.log(node, "User acquiring node", "pushjuju machine=0 nonce=machine-0:0")
            maas.before = lambda _what: None

    maas.before = late
    started = await opened().start(_request())
    assert [node.system_id for node in maas.in_state(DEPLOYED)] == [started.instance.id]
    assert maas.in_state(ALLOCATED) == []


@pytest.mark.parametrize("step", [ANNOTATE, DEPLOY])
async def test_a_start_that_fails_leaves_nothing(opened: Open, maas: FakeMaas, step: str) -> None:
    maas.fail(step, status=403, text="You may not")
    with pytest.raises(ProviderError, match="does not permit") as caught:
        await opened().start(_request())
    assert caught.value.detail == "You may not"
    assert len(maas.in_state(READY)) == 4


async def test_a_cancelled_start_leaves_nothing(opened: Open, maas: FakeMaas) -> None:
    maas.fail(DEPLOY, how="hang", done=True)
    task = asyncio.create_task(opened().start(_request()))
    while DEPLOY not in maas.asked:  # noqa: ASYNC110 - told in another thread
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(maas.in_state(READY)) == 4


async def test_a_failed_deployment_is_told_and_not_taken_again(opened: Open, maas: FakeMaas) -> None:
    maas.deploy_s = None
    first = await opened().start(_request())
    maas.finish(first.instance.id, FAILED, "Curtin: no space left on device")
    (seen,) = await opened().list()
    assert seen.status is InstanceStatus.PROVISIONING_ERROR
    assert seen.message == "Failed deployment: Curtin: no space left on device"
    maas.release_s = 30
    second = await opened().start(_request())
    assert second.instance.id != first.instance.id
    assert [node.system_id for node in maas.in_state(RELEASING)] == [first.instance.id]


async def test_a_machine_that_goes_while_it_starts(opened: Open, maas: FakeMaas) -> None:
    def vanish(what: str) -> None:
        if what == DEPLOY:
            maas.nodes = {name: node for name, node in maas.nodes.items() if node.status != ALLOCATED}

    maas.before = vanish
    with pytest.raises(ProviderError, match=r"able.maas left MAAS while it started") as caught:
        await opened().start(_request())
    assert caught.value.retryable


async def test_a_machine_that_goes_at_any_moment(opened: Open, maas: FakeMaas) -> None:
    """Before any request that is made while the model has a machine."""
    kept = dict(maas.nodes)

    def ours() -> list[str]:
        return [name for name, node in maas.nodes.items() if node.agent == MODEL]

    def vanish() -> None:
        for name in ours():
            del maas.nodes[name]

    async def begin() -> None:
        maas.nodes = {name: replace(node) for name, node in kept.items()}

    async def call(_none: None) -> None:
        one = opened()
        started = await start_in_the_end(lambda: one.start(_request()))
        instance = started.instance
        with contextlib.suppress(NotFound):
            await one.ssh_target(instance)
        await one.list()
        await one.get([instance.id])
        await one.stop([instance.id])
        for number in ("1", "2"):
            await start_in_the_end(lambda: one.start(_request(number)))  # noqa: B023
        await one.destroy_model()
        assert ours() == []

    await at_each_moment(maas, vanish, lambda: len(ours()), begin, call)


# --- disks ------------------------------------------------------------------------------------------------


def _volume(number: str, size: int = 20480, **attributes: str) -> StorageItem:
    return StorageItem(id=number, kind=Kind.BLOCK, size=size, attributes=attributes, uuid=f"uuid-{number}")


@pytest.fixture
def disks(maas: FakeMaas) -> FakeMaas:
    """A machine with three disks besides the one with the system."""
    small, large = 50 * 10**9, 500 * 10**9
    maas.nodes["ddd444"].disks = ((small, ()), (large, ("hdd",)), (small, ("ssd", "fast")), (small, ()))
    return maas


async def test_a_machine_is_chosen_for_the_disks_of_its_storage(opened: Open, disks: FakeMaas) -> None:
    volumes = (_volume("0/1", tags="fast, ssd"), _volume("0/2", size=100 * 1024))
    started = await opened().start(_request(volumes=volumes, constraints={"root-disk": 10240}))
    assert started.instance.id == "ddd444"
    assert dict(disks.allocations[0])["storage"] == "root:10,volume0x1:20(fast,ssd),volume0x2:100"
    storage = opened().storage()
    items = [replace(item, instance_id="ddd444") for item in volumes]
    made = [await storage.create(item) for item in items]
    assert [(item.provider_id, item.size, item.wwn) for item in made] == [
        ("ddd444/32", 47683, "0xddd4442"),
        ("ddd444/31", 476837, "0xddd4441"),
    ]
    seen = await storage.attach(replace(items[0], provider_id="ddd444/32"))
    assert seen.paths == ("/dev/disk/by-id/wwn-0xddd4442", "/dev/disk/by-dname/sdc")
    assert seen.serial == "S-ddd444-2"
    await storage.detach(items[0])
    await storage.destroy(items[0])
    with pytest.raises(NotSupported, match="a disk of MAAS comes with a new machine only"):
        await storage.create(replace(_volume("0/3"), instance_id="ddd444"))
    with pytest.raises(NotSupported, match="cannot be imported"):
        await storage.find("ddd444/33", Kind.BLOCK)
    with pytest.raises(NotFound):
        await opened(OTHER).storage().create(items[0])
    with pytest.raises(ProviderError, match="no free machine in MAAS fits") as caught:
        await opened().start(_request("1", volumes=(_volume("1/1", size=9_000_000),)))
    assert caught.value.detail == "storage=root:0,volume1x1:8790"


async def test_disks_of_a_machine_that_was_found_again(opened: Open, disks: FakeMaas) -> None:
    """Who finds an allocated machine has not heard MAAS's answer, and chooses as well."""
    disks.fail(ALLOCATE, how="cut", done=True)
    volumes = (_volume("0/1"), _volume("0/2", tags="ssd"), _volume("0/3", size=100 * 1024))
    await opened().start(_request(volumes=volumes))
    noted = disks.nodes["ddd444"].owner_data
    assert {name: value for name, value in noted.items() if "volume" in name} == {
        "pushjuju-volume-uuid-0/1": "33",
        "pushjuju-volume-uuid-0/2": "32",
        "pushjuju-volume-uuid-0/3": "31",
    }


async def test_tags_of_disks_that_cannot_be(opened: Open, maas: FakeMaas) -> None:
    for tags in ("a b", "a(b)", "x:1"):
        with pytest.raises(NotValid, match="tag"):
            await opened().start(_request(volumes=(_volume("0/1", tags=tags),)))
    assert ALLOCATE not in maas.asked


# --- what goes wrong --------------------------------------------------------------------------------------


async def test_no_machine_fits(opened: Open, maas: FakeMaas) -> None:
    with pytest.raises(ProviderError, match="no free machine in MAAS fits") as caught:
        await opened().start(_request(zone="rack-b", constraints={"cores": 99}))
    assert (type(caught.value), caught.value.detail) == (ProviderError, "zone=rack-b cpu_count=99")
    maas.nodes["aaa111"].status = "Broken"
    with pytest.raises(ZoneIndependent, match='machine "able" is not free in MAAS, or does not fit'):
        await opened().start(_request(placement="able", zone="default"))
    for node in maas.nodes.values():
        node.status = "Commissioning"
    with pytest.raises(ProviderError) as caught:
        await opened().start(_request(nonce=""))
    assert _told(caught.value).startswith("no free machine in MAAS fits | No machine available.")


async def test_what_maas_refuses_can_never_start(opened: Open, maas: FakeMaas) -> None:
    with pytest.raises(NotValid, match="distro_series: 'warty' is not a valid distro_series") as caught:
        await opened().start(_request(constraints={"image-id": "warty"}))
    assert "Traceback" not in _told(caught.value)
    assert len(maas.in_state(READY)) == 4


async def test_a_busy_server_is_waited_for(opened: Open, maas: FakeMaas) -> None:
    pauses: list[float] = []
    one = opened()
    one._maas._pause = pauses.append
    maas.fail("GET machines/", status=503, times=2)
    maas.fail(ALLOCATE, status=429, headers=(("Retry-After", "7"),))
    maas.fail(ANNOTATE, how="half", done=True)
    maas.fail(DEPLOY, status=500)
    maas.fail(DEPLOY, how="cut", done=True)
    started = await one.start(_request())
    assert [node.system_id for node in maas.in_state(DEPLOYED)] == [started.instance.id]
    assert maas.asked.count(ALLOCATE) == 2
    assert pauses == [0.01, 0.02, 7.0, 0.01, 0.01, 0.02]


async def test_a_server_that_stays_away(
    opened: Open, maas: FakeMaas, monkeypatch: pytest.MonkeyPatch
) -> None:
    maas.fail("GET machines/", status=500, text="<h1>Server Error (500)</h1>", times=99)
    with pytest.raises(ProviderError, match="the MAAS server failed") as caught:
        await opened().list()
    assert caught.value.retryable
    with pytest.raises(ProviderError, match="the MAAS server does not answer") as caught:
        await opened(endpoint="http://127.0.0.1:9/MAAS").list()
    assert _told(caught.value).endswith(
        "Connection refused | check the endpoint of cloud lab: http://127.0.0.1:9/MAAS"
    )
    monkeypatch.setattr(client, "TIMEOUT_S", 0.2)
    maas.fail("GET zones/", how="hang", times=99)
    with pytest.raises(ProviderError, match="the MAAS server does not answer"):
        await opened().zones()
    assert maas.asked.count("GET zones/") == 2  # a minute each is enough


@pytest.mark.parametrize("key", ["consumer:token:wrong", "consumer:other:hunter2"])
async def test_a_wrong_key(opened: Open, maas: FakeMaas, key: str) -> None:
    with pytest.raises(CredentialInvalid) as caught:
        await opened(key=key).start(_request())
    assert caught.value.detail == "Authorization Error: Invalid API key."
    assert len(maas.asked) == 1  # it is not tried again
    (finding,) = await opened(key=key).doctor()
    assert not finding.ok


@pytest.mark.parametrize("key", ["", "hunter2", "a:b", "a::hunter2", "a:b:c:hunter2"])
async def test_a_key_that_is_none_is_not_shown(opened: Open, key: str) -> None:
    with pytest.raises(CredentialInvalid, match="is not an API key of MAAS") as caught:
        await opened(key=key).check()
    assert "hunter2" not in _told(caught.value) + repr(caught.value)


async def test_endpoints(opened: Open, maas: FakeMaas) -> None:
    server = _SERVER[id(maas)]
    for endpoint in (f"{server}/MAAS", f"{server}/MAAS/", f"{server}/MAAS/api/2.0/"):
        assert (await opened(endpoint=endpoint).check()).account == 'user "admin", MAAS 3.5.1'
    with pytest.raises(ProviderError, match="check the endpoint is correct") as caught:
        await opened(endpoint=server).check()
    assert "it normally ends with /MAAS" in caught.value.hint
    for endpoint in ("", "maas.example", "ftp://x/MAAS", "http://me:hunter2@x/MAAS"):
        with pytest.raises(NotValid, match="not the URL of a MAAS server"):
            await opened(endpoint=endpoint).check()


async def test_the_key_goes_to_no_other_server(opened: Open, maas: FakeMaas) -> None:
    maas.fail("GET users/ whoami", status=302, headers=(("Location", "http://192.0.2.1/MAAS/"),))
    with pytest.raises(NotValid, match=r"redirects to http://192\.0\.2\.1/MAAS/"):
        await opened().check()


async def test_certificates_of_the_cloud_are_trusted_and_no_others(
    opened: Open,
    maas: FakeMaas,
    certificate: Path,
    public: str,
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with serve(maas, tls) as url:
        endpoint = f"{url}/MAAS"
        with pytest.raises(
            ProviderError, match="the certificate of the MAAS server is not trusted"
        ) as caught:
            await opened(endpoint=endpoint).check()
        assert not caught.value.retryable
        assert maas.asked == []
        for trust in ({"ca_certificates": (public,)}, {"skip_tls_verify": True}):
            assert (await opened(endpoint=endpoint, **trust).check()).account == 'user "admin", MAAS 3.5.1'
        with pytest.raises(NotValid, match="ca-certificates of cloud lab cannot be read"):
            await opened(endpoint=endpoint, ca_certificates=("no PEM",)).check()


async def test_another_program_behind_the_endpoint(opened: Open, maas: FakeMaas) -> None:
    maas.fail("GET zones/", status=200, text="null", times=99)
    with pytest.raises(ProviderError, match="an invalid answer"):
        await opened().zones()
    maas.fail("GET version/", status=200, text="welcome", times=99)
    with pytest.raises(ProviderError, match="an invalid answer"):
        await opened().check()


async def test_an_answer_that_is_nested_without_end(opened: Open, maas: FakeMaas) -> None:
    deep = "[" * 100_000
    maas.fail("GET zones/", status=200, text=deep, headers=(("Content-Type", "application/json"),), times=99)
    with pytest.raises(ProviderError, match="the MAAS server gave no whole answer"):
        await opened().zones()
    maas.fail("GET version/", status=400, text=deep)
    with pytest.raises(NotValid, match="MAAS refuses the request"):
        await opened().check()


async def test_a_release_that_cannot_be(opened: Open, maas: FakeMaas) -> None:
    one, two = await opened().start(_request()), await opened().start(_request("1"))
    maas.nodes[one.instance.id].status = "Rescue mode"
    with pytest.raises(ProviderError, match="MAAS cannot release the machine now") as caught:
        await opened().stop([one.instance.id, two.instance.id])
    assert "Rescue mode" in caught.value.detail
    assert maas.nodes[two.instance.id].status in (RELEASING, READY)
    maas.fail(RELEASE, status=400, text=f"Unknown machine(s): {one.instance.id}.")
    maas.nodes[one.instance.id].status = DEPLOYED
    await opened().destroy_model()
    assert len(maas.in_state(READY)) == 4


async def test_what_a_person_is_told(opened: Open, maas: FakeMaas) -> None:
    found = await opened().doctor()
    assert [(item.name, item.ok) for item in found] == [("account", True), ("images", True)]
    maas.images = []
    assert [item.message for item in await opened().doctor() if not item.ok] == [
        "MAAS has no boot images: import one there"
    ]


# --- pure parts -------------------------------------------------------------------------------------------


def test_the_header_of_a_request() -> None:
    key = ApiKey(consumer="c", token="t", secret="s&/")
    assert "s&/" not in repr(key)
    assert key.header(now=12.9, nonce="n") == (
        'OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="c", '
        'oauth_token="t", oauth_signature="%26s%26%2F", oauth_timestamp="12", oauth_nonce="n"'
    )


@pytest.mark.parametrize(
    ("word", "more", "told"),
    [
        ("Deployed", "x", (InstanceStatus.RUNNING, "Deployed")),
        ("Deploying", "Rebooting", (InstanceStatus.ALLOCATING, "Deploying: Rebooting")),
        ("Deploying", "", (InstanceStatus.ALLOCATING, "Deploying")),
        ("Failed deployment", "a\nb", (InstanceStatus.PROVISIONING_ERROR, "Failed deployment: a b")),
        ("Broken", "fan", (InstanceStatus.UNKNOWN, "Broken: fan")),
        ("", "", (InstanceStatus.UNKNOWN, "error in getting status")),
    ],
)
def test_states_have_jujus_words(word: str, more: str, told: tuple[InstanceStatus, str]) -> None:
    assert documents.status({"status_name": word, "status_message": more}) == told


def test_odd_documents_do_no_harm() -> None:
    """What a server says of a machine may be anything."""
    odd = {
        "system_id": "x", "ip_addresses": ["fe80::1", "10.0.0.7; reboot", None, "2001:db8::1", "10.0.0.9"],
        "interface_set": [None, {"links": [None, {"subnet": None, "ip_address": None}]}], "zone": None,
        "boot_interface": {"links": None}, "owner_data": None, "tag_names": None, "cpu_count": "many",
    }  # fmt: skip
    found = documents.instance(odd, "")
    assert [item.value for item in found.addresses] == ["10.0.0.9", "2001:db8::1"]
    assert (found.hardware.cores, found.display_name, dict(found.tags)) == (None, "", {})


def test_sizes_are_whole_gibibytes() -> None:
    assert [gigabytes(size) for size in (1, 1024, 1025, 8192)] == [1, 1, 2, 8]


# --- the plugin -------------------------------------------------------------------------------------------


def test_maas_keys_of_other_tools_are_found(tmp_path: Path) -> None:
    host = PluginHost(environ={}, path=[])
    environ = {"HOME": str(tmp_path)}
    assert host.detect_credentials("maas", environ) == []
    (tmp_path / ".maasrc").write_text('{"Server": "http://10.0.0.1/MAAS", "OAuth": "a:b:hunter2"}')
    (found,) = host.detect_credentials("maas", environ)
    assert (found.name, found.label, found.auth_type) == (
        "default",
        "MAAS credential for http://10.0.0.1/MAAS",
        "oauth1",
    )
    assert "hunter2" not in repr(found)


def test_the_plugin_opens_maas_and_loads_nothing_before(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pushjuju.cli.lazy_imports import import_lazily\n"
        "host = import_lazily('pushjuju.plugins.manager').PluginHost(environ={}, path=[])  # as commands do\n"
        "assert host.provider_type('maas').questions\n"
        "read = {name for name, module in sys.modules.items() if type(module).__name__ != '_Unread'}\n"
        "loaded = {name for name in read if name.startswith('pushjuju.plugins.providers.maas.')}\n"
        "assert not loaded | {'urllib.request', 'http.client', 'ssl', 'gzip'} & read, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    found = PluginHost(environ={}, path=[]).open_provider(
        cloud=CloudSpec(name="lab", type="maas", endpoint="http://192.0.2.1/MAAS"),
        credential=Credential(),
        model=ModelInfo(uuid=MODEL, name="shop", controller_uuid="c"),
        config={},
        services=Services(data_dir=tmp_path),
    )
    assert isinstance(found, MaasProvider)
