"""EC2 over HTTP, against moto: every call of the provider reaches a server that checks it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
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
from pushjuju.plugins.api.firewalls import GuardedMachine
from pushjuju.plugins.api.providers import (
    Constrained,
    ModelInfo,
    Provider,
    Reachable,
    Services,
    StartRequest,
    Zoned,
)
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.libcloud.calls import Calls
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers import open_adapter
from pushjuju.plugins.providers.libcloud.drivers.adapter import MODEL_TAG, Site
from pushjuju.plugins.providers.libcloud.drivers.amazon import ec2_api, ec2_network
from pushjuju.plugins.providers.libcloud.drivers.amazon.ec2 import Ec2
from pushjuju.plugins.providers.libcloud.opening import SecurityGroups
from pushjuju.testing.blocking import calls_that_block
from tests.clouds.crowd import start_twenty
from tests.clouds.ec2_proxy import Ec2Proxy
from tests.clouds.moto_server import Moto, kept, server  # noqa: F401

pytest.importorskip("moto", reason="moto plays EC2 here")
pytest.importorskip("libcloud", reason="the provider of EC2 needs apache-libcloud")
pytestmark = pytest.mark.timeout(120)

MODEL = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
OTHER = "bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee"
CREDENTIAL = Credential(
    name="me", auth_type="access-key", attributes={"access-key": "AKIAEXAMPLE", "secret-key": "hunter2"}
)


def site_of(
    spec: CloudSpec, data_dir: Path = Path(), model: str = MODEL, credential: Credential = CREDENTIAL
) -> Site:
    """Return where an adapter works."""
    info = ModelInfo(uuid=model, name="shop", controller_uuid="c")
    return Site(cloud=spec, credential=credential, model=info, services=Services(data_dir=data_dir))


def driver_of(spec: CloudSpec) -> Any:
    """Return a driver of the tests' own."""
    return open_adapter(site_of(spec)).connect()


_IMAGES: list[str] = []


@pytest.fixture
def cloud(server: Moto) -> CloudSpec:  # noqa: F811
    """An account without anything in it, and an image that moto has."""
    server.reset()
    spec = CloudSpec(name="aws", type="ec2", region="us-east-1", endpoint=server.url)
    if not _IMAGES:  # the same in each account of moto's; it takes seconds to list them
        _IMAGES.append(driver_of(spec).list_images(ex_owner="099720109477")[0].id)
    return replace(spec, config={"images": {"ubuntu@24.04": _IMAGES[0]}})


Open = Callable[..., CloudProvider]


@pytest.fixture
def opened(cloud: CloudSpec, kept: Path) -> Open:  # noqa: F811
    """Return a function that opens the provider as a controller does."""

    def call(
        model: str = MODEL, *, spec: CloudSpec | None = None, calls: Calls | None = None
    ) -> CloudProvider:
        return CloudProvider(open_adapter(site_of(spec or cloud, kept, model)), calls)

    return call


def _request(machine: str = "0", **changes: Any) -> StartRequest:
    wanted: dict[str, Any] = {
        "machine_id": machine,
        "base": Base.parse("ubuntu@24.04"),
        "nonce": f"machine-0:{machine}",
        "hostname": f"juju-eeeeee-{machine}",
        "zone": "us-east-1a",
        "tags": {"juju-model-uuid": MODEL, "juju-units-deployed": "web/0"},
        "user_data": {"hostname": "x", "packages": ["python3"]},
    }
    return StartRequest(**{**wanted, **changes})


def _node(cloud: CloudSpec, name: str) -> Any:
    (found,) = driver_of(cloud).list_nodes(ex_node_ids=[name])
    return found


async def test_the_life_of_a_machine(opened: Open, cloud: CloudSpec) -> None:
    provider = opened()
    assert isinstance(provider, Provider)
    assert isinstance(provider, Zoned)
    assert isinstance(provider, Constrained)
    assert isinstance(provider, Reachable)
    started = await provider.start(_request(constraints={"mem": 4096, "root-disk": 20480}))
    instance = started.instance
    assert instance.status in (InstanceStatus.PENDING, InstanceStatus.RUNNING)
    assert instance.hardware.availability_zone == "us-east-1a"
    assert (instance.hardware.mem or 0) >= 4096
    assert instance.machine_id == "0"
    assert instance.tags["juju-units-deployed"] == "web/0"
    assert [item.id for item in await opened().list()] == [instance.id]
    target = await provider.ssh_target(instance)
    assert (target.host, target.user) == (instance.addresses[0].value, "ubuntu")
    await provider.stop([instance.id, "i-0123456789abcdef0"])
    assert list(await provider.get([instance.id])) == [None]
    with pytest.raises(NotFound):
        await provider.ssh_target(instance)
    await provider.stop([instance.id])
    await provider.destroy_model()
    driver = driver_of(cloud)
    assert ec2_network.groups(driver, {f"tag:{MODEL_TAG}": MODEL}) == []


async def test_user_data_arrives(opened: Open, cloud: CloudSpec) -> None:
    started = await opened().start(_request())
    driver = driver_of(cloud)
    params = {
        "Action": "DescribeInstanceAttribute",
        "InstanceId": started.instance.id,
        "Attribute": "userData",
    }
    answer = driver.connection.request(driver.path, params=params).body
    import base64
    import re

    found = re.search(r"<value>([^<]+)</value>", answer)
    assert found is not None
    assert base64.b64decode(found[1]).decode() == "#cloud-config\nhostname: x\npackages:\n- python3\n"


async def test_a_repeated_start_finds_its_instance_and_another_replaces_it(opened: Open) -> None:
    first = await opened().start(_request())
    again = await opened().start(_request(zone="us-east-1b"))
    assert again.instance.id == first.instance.id
    other = await opened().start(_request(nonce="machine-0:other"))
    assert other.instance.id != first.instance.id
    assert [item.id for item in await opened().list()] == [other.instance.id]


async def test_models_do_not_see_each_other(opened: Open) -> None:
    one = await opened().start(_request())
    two = await opened(OTHER).start(_request())
    assert await opened().get([two.instance.id]) == [None]
    await opened().destroy_model()
    assert [item.id for item in await opened(OTHER).list()] == [two.instance.id]
    assert one.instance.id != two.instance.id


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


async def test_twenty_at_once_within_two_seconds(opened: Open) -> None:
    provider = opened()
    await provider.precheck(Base.parse("ubuntu@24.04"), {}, "")
    await start_twenty(provider, _request)


async def test_what_bootstrap_hears(opened: Open) -> None:
    found = await opened().check()
    assert "No machine is started now. A machine without constraints is a " in found.costs
    assert "USD an hour" in found.costs
    assert [item.ok for item in await opened().doctor()] == [True]


async def test_zones_rules_and_placement(opened: Open) -> None:
    provider = opened()
    names = [zone.name for zone in await provider.zones()]
    assert "us-east-1a" in names
    assert list(await provider.derive_zones(_request(placement="zone=us-east-1b"))) == ["us-east-1b"]
    await provider.precheck(Base.parse("ubuntu@24.04"), {}, "zone=us-east-1b")
    for placement, problem in (("zone=moon", "not valid"), ("host.maas", "unknown placement directive")):
        with pytest.raises(NotValid, match=problem):
            await provider.precheck(Base.parse("ubuntu@24.04"), {}, placement)
    with pytest.raises(NotValid, match="no instance types in us-east-1 matching constraints"):
        await provider.precheck(Base.parse("ubuntu@24.04"), {"cores": 4000}, "")
    rules = await provider.rules()
    assert check({"tags": ["x"]}, rules) == ["tags"]
    with pytest.raises(NotValid, match="invalid constraint value: instance-type=m99"):
        check({"instance-type": "m99"}, rules)
    with pytest.raises(NotValid, match='"instance-type" overlaps with "mem"'):
        check({"instance-type": "t3.small", "mem": 5}, rules)


async def test_a_machine_in_a_subnet(opened: Open, cloud: CloudSpec) -> None:
    found = driver_of(cloud).ex_list_subnets()[-1]
    zone = str(found.extra["zone"])
    for name in (found.id, found.extra["cidr_block"]):
        request = _request(placement=f"subnet={name}", zone=zone)
        await opened().precheck(request.base, {}, request.placement)
        assert list(await opened().derive_zones(request)) == [zone]
    started = await opened().start(request)
    (node,) = ec2_api.nodes(driver_of(cloud), {"instance-id": started.instance.id})
    assert node.extra["subnet_id"] == found.id
    with pytest.raises(ProviderError, match="no subnet subnet-none"):
        await opened().derive_zones(_request(placement="subnet=subnet-none"))


async def test_a_base_without_an_image(opened: Open) -> None:
    with pytest.raises(NotValid, match="no image for base centos@9"):
        await opened().start(_request(base=Base.parse("centos@9")))
    assert await opened().list() == []


async def test_security_groups_follow_the_rules(opened: Open, cloud: CloudSpec) -> None:
    provider = opened()
    await provider.start(_request())
    guard = SecurityGroups(provider)

    async def run(_script: str) -> ScriptResult:
        return ScriptResult(rc=0)

    machine = GuardedMachine(machine_id="0", instance_id="i", run=run)
    driver = driver_of(cloud)
    (group,) = ec2_network.groups(driver, {"group-name": f"juju-{MODEL}-0"})
    web = IngressRule(PortRange("tcp", 80, 90), ("0.0.0.0/0", "::/0"))
    await guard.apply(machine, MachineRules(ingress=(web,)))
    assert {(item.first, item.last, item.source) for item in ec2_network.permissions(driver, group)} == {
        (80, 90, "0.0.0.0/0"),
        (80, 90, "::/0"),
    }
    dns = IngressRule(PortRange("udp", 53, 53), ("10.0.0.0/8",))
    await guard.apply(machine, MachineRules(ingress=(dns,)))
    await guard.apply(machine, MachineRules(ingress=(dns,)))
    assert [item.protocol for item in ec2_network.permissions(driver, group)] == ["udp"]
    await guard.clear(machine)
    assert ec2_network.permissions(driver, group) == set()


# --- what a cloud says when it does not want to ----------------------------------------------------------


class Refusing:
    """A driver whose next starts are refused."""

    def __init__(self, driver: Any, errors: list[Exception]) -> None:
        self._driver, self._errors = driver, errors

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def create_node(self, **arguments: Any) -> Any:
        """Fail as told, then go on."""
        if self._errors:
            raise self._errors.pop(0)
        return self._driver.create_node(**arguments)


def _said(text: str, code: int = 400) -> Exception:
    from importlib import import_module

    error: Exception = import_module("libcloud.common.exceptions").BaseHTTPError(code, text)
    return error


def _calls(cloud: CloudSpec, errors: list[Exception], pauses: list[float]) -> Calls:
    return Calls(lambda: Refusing(driver_of(cloud), errors), pauses.append)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("InsufficientInstanceCapacity: not enough in us-east-1a", ProviderError),
        ("VcpuLimitExceeded: you have 32 of 32", QuotaExceeded),
        ("InstanceLimitExceeded: 20", QuotaExceeded),
        ("UnauthorizedOperation: You are not authorized", CredentialInvalid),
        ("AuthFailure: no", CredentialInvalid),
    ],
)
async def test_refusals(opened: Open, cloud: CloudSpec, text: str, kind: type[ProviderError]) -> None:
    provider = opened(calls=_calls(cloud, [_said(text)], []))
    with pytest.raises(kind) as caught:
        await provider.start(_request())
    assert type(caught.value) is kind
    assert caught.value.detail == text
    assert "hunter2" not in str(caught.value) + caught.value.detail


async def test_throttling_and_faults_are_waited_out(opened: Open, cloud: CloudSpec) -> None:
    pauses: list[float] = []
    errors = [
        _said("RequestLimitExceeded: slow down", 503),
        _said("", 429),
        _said("oops", 500),
        OSError("reset"),
    ]
    await opened(calls=_calls(cloud, errors, pauses)).start(_request())
    assert pauses == [0.5, 1.0, 2.0, 4.0]
    assert len(await opened().list()) == 1


async def test_a_cloud_that_is_away(opened: Open, cloud: CloudSpec) -> None:
    away = replace(cloud, endpoint="http://127.0.0.1:9")
    calls = Calls(lambda: driver_of(away), lambda _: None)
    with pytest.raises(ProviderError, match="the cloud"):
        await opened(spec=away, calls=calls).check()
    with pytest.raises(NotValid, match="Invalid region: mars"):
        await opened(spec=replace(cloud, region="mars")).check()


async def test_certificates_of_the_cloud_are_trusted_and_no_others(
    opened: Open, cloud: CloudSpec, certificate: Path, public: str
) -> None:
    proxy = Ec2Proxy(cloud.endpoint, tls=str(certificate))
    private = replace(cloud, endpoint=proxy.url)
    try:
        with pytest.raises(ProviderError, match="the certificate of the cloud is not trusted") as caught:
            await opened(spec=private).zones()
        assert "ca-certificates" in caught.value.hint
        assert proxy.asked == []
        for trust in ({"ca_certificates": (public,)}, {"skip_tls_verify": True}):
            assert await opened(spec=replace(private, **trust)).zones()
    finally:
        proxy.close()


def test_the_plugin_opens_ec2_and_loads_nothing_before(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pushjuju.plugins.manager import PluginHost\n"
        "host = PluginHost(environ={}, path=[])\n"
        "assert host.provider_type('ec2').public_clouds['aws']\n"
        "assert not {'libcloud', 'pylxd', 'jinja2'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    provider = PluginHost(environ={}, path=[]).open_provider(
        cloud=CloudSpec(name="aws", type="ec2", region="us-east-1"),
        credential=CREDENTIAL,
        model=ModelInfo(uuid=MODEL, name="m", controller_uuid="c"),
        services=Services(data_dir=tmp_path),
    )
    assert isinstance(provider, CloudProvider)
    assert isinstance(provider.adapter, Ec2)
