"""The provider of LXD over its socket, against a stand-in; tests/lxd has the real server."""

from __future__ import annotations

import contextlib
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.constraints import check
from pushjuju.core.errors import CredentialInvalid, NotFound, NotValid, ProviderError, QuotaExceeded
from pushjuju.core.extras import install_hint
from pushjuju.core.status import InstanceStatus
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import (
    CharmProfile,
    Constrained,
    Instance,
    ModelInfo,
    Profiled,
    Provider,
    Reachable,
    Services,
    StartRequest,
    Zoned,
)
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.lxd import instances, provider
from pushjuju.plugins.providers.lxd.provider import LxdProvider
from pushjuju.plugins.providers.lxd.server import as_ours
from pushjuju.testing.blocking import calls_that_block
from tests.clouds.lxd_standin import MAC, StandIn
from tests.clouds.vanishing import at_each_moment, start_in_the_end

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = pytest.mark.timeout(60)

MODEL = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
OTHER = "aaaaaaaa-bbbb-4ccc-8ddd-ffffffffffff"
BASE = Base.parse("debian@12")


@pytest.fixture
def lxd() -> Iterator[StandIn]:
    """A server without anything but an image; its socket's path is short, as they must be."""
    with tempfile.TemporaryDirectory(prefix="pjl") as folder:
        server = StandIn(Path(folder) / "unix.socket")
        yield server
        server.close()


Open = Callable[..., LxdProvider]


@pytest.fixture
def opened(lxd: StandIn, tmp_path: Path) -> Open:
    """Return a function that opens the provider as a controller does."""

    def call(model: str = MODEL, **cloud: Any) -> LxdProvider:
        return LxdProvider(
            cloud=CloudSpec(**{"name": "localhost", "type": "lxd", "endpoint": str(lxd.socket), **cloud}),
            credential=Credential(),
            model=ModelInfo(uuid=model, name="shop", controller_uuid="c"),
            config={},
            services=Services(data_dir=tmp_path),
        )

    return call


def _request(machine: str = "0", **changes: Any) -> StartRequest:
    wanted: dict[str, Any] = {
        "machine_id": machine,
        "base": BASE,
        "nonce": f"machine-0:{machine}",
        "hostname": f"juju-eeeeee-{machine}",
        "tags": {"juju-units-deployed": "web/0", "owner": "me"},
        "user_data": {"hostname": "x"},
        "host_keys": ("ssh-ed25519 AAAA",),
    }
    return StartRequest(**{**wanted, **changes})


async def test_the_life_of_a_machine(opened: Open, lxd: StandIn) -> None:
    one = opened()
    assert isinstance(one, Provider)
    assert isinstance(one, Zoned)
    assert isinstance(one, Constrained)
    assert isinstance(one, Reachable)
    wanted = {"cores": 2, "mem": 512, "root-disk": 8192, "root-disk-source": "fast"}
    started = await one.start(_request(constraints=wanted))
    assert started.instance.status is InstanceStatus.RUNNING
    assert str(started.instance.hardware) == (
        "arch=amd64 cores=2 mem=512M root-disk=8192M root-disk-source=fast availability-zone=one "
        "virt-type=container"
    )
    made = lxd.instances["juju-eeeeee-0"]
    assert made["config"]["user.user-data"] == "#cloud-config\nhostname: x\n"
    assert "user.owner" not in made["config"]
    assert made["source"] == {"type": "image", "fingerprint": "f00d"}
    assert made["profiles"] == ["default", "juju-shop-eeeeee"]
    assert lxd.profiles["juju-shop-eeeeee"]["config"]["boot.autostart"] == "true"
    assert lxd.targets == [""]
    target = await opened().ssh_target(started.instance)
    assert (target.host, target.user, target.host_keys) == ("10.1.2.3", "ubuntu", ("ssh-ed25519 AAAA",))
    assert await opened(OTHER).list() == []
    await opened(OTHER).stop([started.instance.id])
    assert [item.machine_id for item in await opened().list()] == ["0"]
    await one.destroy_model()
    assert (lxd.instances, list(lxd.profiles)) == ({}, ["default"])
    with pytest.raises(NotFound):
        await one.ssh_target(started.instance)


async def test_no_call_blocks_the_event_loop(opened: Open) -> None:
    with calls_that_block() as found:
        provider = opened()
        await provider.check()
        await provider.rules()
        await provider.zones()
        await provider.precheck(Base.parse("ubuntu@24.04"), {}, "")
        started = await provider.start(_request())
        await provider.list()
        await provider.ssh_target(started.instance)
        await provider.doctor()
        await provider.stop([started.instance.id])
        await provider.destroy_model()
    assert found == []


async def test_a_repeated_start_finds_its_instance_and_another_replaces_it(
    opened: Open, lxd: StandIn
) -> None:
    await opened().start(_request())
    lxd.instances["juju-eeeeee-0"]["status"] = "Stopped"  # the first controller died before it was booted
    again = await opened().start(_request())
    assert (lxd.made, again.instance.status) == (1, InstanceStatus.RUNNING)
    await opened().start(_request(nonce="machine-0:other"))
    assert (lxd.made, list(lxd.instances)) == (2, ["juju-eeeeee-0"])


async def test_members_of_a_cluster_are_zones(opened: Open, lxd: StandIn) -> None:
    lxd.environment["server_clustered"] = True
    lxd.members = [
        {"server_name": "one", "status": "Online"}, {"server_name": "two", "status": "Offline"},
    ]  # fmt: skip
    assert [(zone.name, zone.available) for zone in await opened().zones()] == [("one", True), ("two", False)]
    for placement in ("zone=two", "two"):
        assert await opened().derive_zones(_request(placement=placement)) == ["two"]
    with pytest.raises(NotValid, match='availability zone "three" not valid'):
        await opened().precheck(BASE, {}, "three")
    with pytest.raises(NotValid, match="unknown placement directive: rack=1"):
        await opened().precheck(BASE, {}, "rack=1")
    started = await opened().start(_request(zone="one"))
    assert (lxd.targets, started.instance.hardware.availability_zone) == (["one"], "one")


async def test_constraints_of_a_server(opened: Open, lxd: StandIn) -> None:
    rules = await opened().rules()
    assert check({"mem": 512, "tags": ["x"], "root-disk-source": "fast"}, rules) == ["tags"]
    for wrong in ({"virt-type": "virtual-machine"}, {"arch": "arm64"}, {"root-disk-source": "slow"}):
        with pytest.raises(NotValid, match="valid values are"):
            check(wrong, rules)
    lxd.environment["driver"] = "lxc | qemu"
    assert check({"virt-type": "virtual-machine"}, await opened().rules()) == []


async def test_images(opened: Open, lxd: StandIn) -> None:
    lxd.images.append({"fingerprint": "beef", "aliases": [{"name": "juju/ubuntu@22.04/amd64/vm"}]})
    vm = _request("1", base=Base.parse("ubuntu@22.04"), constraints={"virt-type": "virtual-machine"})
    await opened().start(vm)
    made = lxd.instances["juju-eeeeee-1"]
    assert (made["source"]["fingerprint"], made["type"]) == ("beef", "virtual-machine")
    await opened().start(_request("2", base=Base.parse("ubuntu@24.04")))
    assert lxd.instances["juju-eeeeee-2"]["source"] == {
        "type": "image",
        "mode": "pull",
        "protocol": "simplestreams",
        "server": "https://cloud-images.ubuntu.com/releases",
        "alias": "24.04",
    }
    await opened().start(_request("4", base=Base.parse("ubuntu@24.04"), daily_images=True))
    assert lxd.instances["juju-eeeeee-4"]["source"]["server"] == "https://cloud-images.ubuntu.com/daily"
    with pytest.raises(NotValid, match='the LXD server has no alias "juju/debian@13/amd64"'):
        await opened().precheck(Base.parse("debian@13"), {}, "")
    mapped = opened(config={"images": {"debian@13": "f00d"}})
    await mapped.start(_request("3", base=Base.parse("debian@13")))
    assert lxd.instances["juju-eeeeee-3"]["source"]["fingerprint"] == "f00d"


def _profile(name: str, **more: str) -> CharmProfile:
    return CharmProfile(name=name, description="d", config=more, devices={"t": {"type": "unix-char"}})


async def test_profiles_of_charms(opened: Open, lxd: StandIn) -> None:
    """Made before the instance, changed on it, taken away when nobody has or wants them."""
    one, first = opened(), _profile("juju-shop-web-0", **{"security.nesting": "true"})
    assert isinstance(one, Profiled)
    await one.start(_request(profiles=(first,)))
    assert lxd.instances["juju-eeeeee-0"]["profiles"] == ["default", "juju-shop-eeeeee", "juju-shop-web-0"]
    made = lxd.profiles["juju-shop-web-0"]
    assert (made["description"], made["devices"]) == ("d", {"t": {"type": "unix-char"}})
    assert made["config"]["security.nesting"] == "true"
    second = _profile("juju-shop-web-1", **{"linux.kernel_modules": "ip_tables"})
    for _ in range(2):
        await opened().set_profiles("juju-eeeeee-0", (second,), {"juju-shop-web-0"})
    assert lxd.instances["juju-eeeeee-0"]["profiles"] == ["default", "juju-shop-eeeeee", "juju-shop-web-1"]
    assert sorted(lxd.profiles) == ["default", "juju-shop-eeeeee", "juju-shop-web-0", "juju-shop-web-1"]
    changed = _profile("juju-shop-web-1", **{"linux.kernel_modules": "nf_nat"})
    await opened().set_profiles("juju-eeeeee-0", (changed,), ())
    assert lxd.profiles["juju-shop-web-1"]["config"]["linux.kernel_modules"] == "nf_nat"
    assert "juju-shop-web-0" not in lxd.profiles
    with pytest.raises(ProviderError, match='has another profile "juju-shop-web-1"'):
        await opened(OTHER).set_profiles("x", (changed,), ())
    await opened(OTHER).set_profiles("", (), ())
    await one.stop(["juju-eeeeee-0"])
    assert "juju-shop-web-1" in lxd.profiles
    await one.set_profiles("", (), ())
    assert sorted(lxd.profiles) == ["default", "juju-shop-eeeeee"]


@pytest.mark.parametrize("step", ["POST instances", "PUT instances/juju-eeeeee-0/state"])
async def test_a_start_that_fails_leaves_nothing(opened: Open, lxd: StandIn, step: str) -> None:
    lxd.fail_later[step] = "no space left on device"
    with pytest.raises(ProviderError, match="the LXD server of localhost failed") as caught:
        await opened().start(_request())
    assert caught.value.detail == "no space left on device"
    assert lxd.instances == {}


async def test_a_container_that_does_not_boot_says_why(opened: Open, lxd: StandIn) -> None:
    """LXD itself only names a log; the first errors in it are the reason."""
    lxd.fail_later["PUT instances/juju-eeeeee-0/state"] = "Failed to run: lxd forkstart: exit status 1"
    at = "lxc x 20261122092220.317"
    lxd.logs["juju-eeeeee-0"] = (
        f"{at} WARN     conf - c.c:f:1 - No such file - skipped\n"
        f"{at} ERROR    cgfsng - ../c.c:__initialize_cgroups:3672 - Not a directory - Failed to open cpu\n"
    )
    with pytest.raises(ProviderError) as caught:
        await opened().start(_request())
    assert caught.value.detail == (
        "Failed to run: lxd forkstart: exit status 1; Not a directory - Failed to open cpu"
    )
    assert lxd.instances == {}


async def test_a_stopped_instance_is_started_again(opened: Open, lxd: StandIn) -> None:
    """Of the model only; one that runs is left as it is."""
    started = await opened().start(_request("3"))
    lxd.instances["juju-eeeeee-3"]["status"] = "Stopped"
    assert [item.status for item in await opened().list()] == [InstanceStatus.STOPPED]
    with pytest.raises(NotFound):
        await opened(OTHER).resume(started.instance.id)
    for _ in range(2):
        await opened().resume(started.instance.id)
        assert [item.status for item in await opened().list()] == [InstanceStatus.RUNNING]


async def test_what_a_cluster_member_has_is_not_gone_when_it_is_down(opened: Open, lxd: StandIn) -> None:
    """LXD tells the names only: the machines are listed, not started again and not given up."""
    started = await opened().start(_request("3"))
    await opened().start(_request("4"))
    await opened(OTHER).start(_request("3", hostname="juju-ffffff-3"))
    lxd.down = {"juju-eeeeee-3", "juju-ffffff-3"}
    seen = {item.machine_id: item for item in await opened().list()}
    assert sorted(seen) == ["3", "4"]
    lost = seen["3"]
    assert (lost.id, lost.status, lost.addresses) == ("juju-eeeeee-3", InstanceStatus.UNKNOWN, ())
    assert lost.message == "cluster member two does not answer"
    assert lost.hardware.availability_zone == "two"
    for attempt in (
        opened().start(_request("3", nonce="another")),
        opened().stop(["juju-eeeeee-3"]),
        opened().ssh_target(started.instance),
        opened().destroy_model(),
    ):
        with pytest.raises(ProviderError, match="juju-eeeeee-3 is not reached: cluster member two") as caught:
            await attempt
        assert caught.value.retryable
    assert "juju-eeeeee-3" in lxd.instances
    lxd.down = set()
    await opened().destroy_model()
    assert list(lxd.instances) == ["juju-ffffff-3"]


async def test_an_instance_that_disappears_while_it_starts(
    opened: Open, lxd: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any request of a start, with or without an address: it may be tried again."""
    monkeypatch.setattr(provider, "LOOK_S", 0.01)
    cards = lxd.cards

    async def clean() -> LxdProvider:
        lxd.cards = {}
        await opened().destroy_model()
        return opened()

    async def start(one: LxdProvider) -> None:
        asked = 0

        def address(what: str) -> None:
            nonlocal asked
            asked += what.endswith("/state")
            lxd.cards = cards if asked > 2 else {}  # the first asks for the boot

        vanish, lxd.before = lxd.before, lambda what: (address(what), vanish(what))[0]
        await start_in_the_end(lambda: one.start(_request()))
        assert len(lxd.instances) <= 1

    await at_each_moment(lxd, lxd.instances.clear, lambda: len(lxd.instances), clean, start)


async def test_an_instance_that_disappears_at_any_other_time(opened: Open, lxd: StandIn) -> None:
    charm = CharmProfile(name="juju-shop-web-1", config={"security.nesting": "true"})
    item = StorageItem(id="0", kind=Kind.FILESYSTEM, size=10, uuid="u")

    async def begin() -> Instance:
        return (await opened().start(_request())).instance

    async def ask(instance: Instance) -> None:
        one, disk = opened(), replace(item, instance_id=instance.id)
        with contextlib.suppress(NotFound):
            await one.ssh_target(instance)
        await one.list()
        await one.get([instance.id])
        with contextlib.suppress(ProviderError):
            await one.set_profiles(instance.id, (charm,), ())
        made = await one.storage().create(disk)
        disk = replace(disk, provider_id=made.provider_id)
        with contextlib.suppress(ProviderError, NotFound):
            await one.storage().attach(disk)
        await one.storage().detach(disk)
        await one.storage().destroy(disk)
        await one.stop([instance.id])
        await one.destroy_model()
        assert (lxd.instances, lxd.volumes, set(lxd.profiles)) == ({}, {}, {"default"})

    await at_each_moment(lxd, lxd.instances.clear, lambda: len(lxd.instances), begin, ask)


async def test_a_machine_without_an_address_is_given_up(
    opened: Open, lxd: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    lxd.cards = {}
    monkeypatch.setattr(provider, "ADDRESS_S", 0.2)
    with pytest.raises(ProviderError, match="got no address"):
        await opened().start(_request())
    assert lxd.instances == {}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((403, "not authorized"), CredentialInvalid),
        ((500, "Reached maximum number of instances in project"), QuotaExceeded),
        ((500, "database is locked"), ProviderError),
    ],
)
async def test_refusals_have_their_kind(
    opened: Open, lxd: StandIn, answer: tuple[int, str], kind: type[ProviderError]
) -> None:
    lxd.fail["POST instances"] = answer
    with pytest.raises(kind) as caught:
        await opened().start(_request())
    assert (type(caught.value), caught.value.detail) == (kind, answer[1])


async def test_a_server_that_does_not_know_us_or_is_not_there(opened: Open, lxd: StandIn) -> None:
    lxd.auth = "untrusted"
    with pytest.raises(CredentialInvalid, match="cloud localhost refuses the credential") as refused:
        await opened().check()
    assert refused.value.hint.endswith("then pushjuju update-credential localhost")
    with pytest.raises(ProviderError, match="the LXD server of localhost does not answer") as absent:
        await opened(endpoint="/nowhere/unix.socket").check()
    assert absent.value.hint == "for machines on this computer without LXD: pushjuju bootstrap local"
    (finding,) = await opened(endpoint="/nowhere/unix.socket").doctor()
    assert (finding.ok, finding.message) == (
        False,
        f"{absent.value.message}: no socket /nowhere/unix.socket; {absent.value.hint}",
    )
    with pytest.raises(NotValid, match="neither an https URL nor the path of a socket"):
        await opened(endpoint="ftp://x").check()
    with pytest.raises(CredentialInvalid, match="auth type certificate"):
        await opened(endpoint="https://192.0.2.1:8443").check()


def test_what_is_below_an_answer_that_did_not_come_is_told() -> None:
    requests = pytest.importorskip("requests")
    with pytest.raises(requests.ConnectionError) as caught:
        requests.get("http://127.0.0.1:1/1.0?project=x", timeout=5)
    assert as_ours(caught.value).detail == "127.0.0.1:1: Connection refused"
    assert as_ours(caught.value).hint == ""
    denied = as_ours(PermissionError(13, "Permission denied"))
    assert (denied.detail, denied.hint[:15]) == ("Permission denied", "sudo adduser $U")


async def test_a_project_that_is_not_there_is_named(opened: Open, lxd: StandIn) -> None:
    with pytest.raises(NotValid, match='the LXD server of localhost has no project "p"') as caught:
        await opened(config={"project": "p"}).check()
    assert caught.value.hint == "lxc project create p"
    lxd.projects = {"p"}
    await opened(config={"project": "p"}).check()
    lxd.images = []
    with pytest.raises(NotValid) as caught:
        await opened(config={"project": "p"}).precheck(BASE, {}, "")
    assert caught.value.hint == "lxc image import FILES --alias juju/debian@12/amd64 --project p"


async def test_without_the_library(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pylxd.client", None)
    monkeypatch.delitem(sys.modules, "pushjuju.plugins.providers.lxd.api", raising=False)
    monkeypatch.delattr("pushjuju.plugins.providers.lxd.api", raising=False)
    with pytest.raises(ProviderError, match="pylxd is not installed") as caught:
        await opened().check()
    assert caught.value.hint == (
        f"{install_hint('lxd')}\nor, for machines on this computer without LXD: pushjuju bootstrap local"
    )


async def test_doctor_and_bootstrap_name_the_same_command_for_a_missing_library(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    (finding,) = await opened().doctor()
    assert finding.fix is not None
    assert finding.message.endswith("without LXD: pushjuju bootstrap local")
    assert shlex.join(finding.fix.command) == install_hint("lxd")


def test_only_addresses_of_own_cards_that_are_addresses_count() -> None:
    """What a machine says of itself may be anything."""
    document = {"config": {"volatile.eth0.hwaddr": MAC}}
    seen = [
        {"address": "fd00::5", "netmask": "64", "scope": "global"},
        {"address": "10.0.0.7", "netmask": "24", "scope": "global"},
        {"address": "169.254.1.1", "netmask": "16", "scope": "link"},
        {"address": "10.0.0.8; reboot", "netmask": "24", "scope": "global"},
        {"address": None, "netmask": "x", "scope": "global"},
    ]
    inner = {"hwaddr": "02:00:00:00:00:01", "addresses": [seen[1]]}
    state = {
        "network": {"docker0": inner, "eth0": {"hwaddr": MAC, "addresses": seen}, "lo": {"addresses": None}}
    }
    found = instances.addresses(document, state)
    assert [(item.value, item.cidr) for item in found] == [
        ("10.0.0.7", "10.0.0.0/24"),
        ("fd00::5", "fd00::/64"),
    ]


def test_the_plugin_opens_clouds_of_its_type(tmp_path: Path) -> None:
    host = PluginHost(environ={}, path=[])
    found = host.open_provider(
        cloud=CloudSpec(name="localhost", type="lxd"),
        credential=Credential(),
        model=ModelInfo(uuid=MODEL, name="shop", controller_uuid="c"),
        config={},
        services=Services(data_dir=tmp_path),
    )
    assert isinstance(found, LxdProvider)
