"""The plugin opens clouds with an adapter, loads libcloud when it is used, trusts the right certificates."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.core.errors import ProviderError
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.storage_types import StorageProvider
from pushjuju.plugins.firewalls.nftables.firewall import NftablesFirewall
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers import ADAPTERS
from pushjuju.plugins.providers.libcloud.drivers.adapter import Guarding, Identity
from pushjuju.plugins.providers.libcloud.kinds import KINDS
from pushjuju.plugins.providers.libcloud.opening import SecurityGroups
from pushjuju.plugins.providers.libcloud.storagekinds import STORAGE
from tests.clouds import test_openstack
from tests.clouds.cases import MODEL
from tests.clouds.fake_openstack import FakeOpenStack

pytestmark = pytest.mark.timeout(60)


def _open(kind: str, folder: Path) -> Provider:
    return PluginHost(environ={}, path=[]).open_provider(
        cloud=CloudSpec(name="x", type=kind, region="r", endpoint="https://192.0.2.1"),
        credential=Credential(),
        model=ModelInfo(uuid=MODEL, name="m", controller_uuid="c"),
        services=Services(data_dir=folder),
    )


def test_nothing_is_loaded_before_it_is_used() -> None:
    program = (
        "import sys, pathlib\n"
        "from pushjuju.plugins.manager import PluginHost\n"
        "from pushjuju.plugins.api.clouds import CloudSpec, Credential\n"
        "from pushjuju.plugins.api.providers import ModelInfo, Services\n"
        "host = PluginHost(environ={}, path=[])\n"
        f"for kind in {sorted(ADAPTERS)}:\n"
        "    host.storage_types(kind)\n"
        "    host.open_provider(cloud=CloudSpec(name='x', type=kind, region='r'), credential=Credential(),\n"
        "        model=ModelInfo(uuid='u', name='m', controller_uuid='c'),\n"
        "        services=Services(data_dir=pathlib.Path('.')))\n"
        "assert not {'libcloud', 'pylxd', 'jinja2', 'yaml', 'requests'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("kind", sorted(ADAPTERS))
def test_what_a_type_promises_its_adapter_keeps(kind: str, tmp_path: Path) -> None:
    provider = _open(kind, tmp_path)
    assert isinstance(provider, CloudProvider)
    (features,) = (known.features for known in KINDS if known.name == kind)
    assert {"start", "poll"} <= features
    assert ("firewall" in features) == isinstance(provider.adapter, Guarding)
    for item in STORAGE[kind]:
        assert isinstance(PluginHost(environ={}, path=[]).open_storage(item.name, provider), StorageProvider)
    guard = PluginHost(environ={}, path=[]).open_firewall(
        model=ModelInfo(uuid=MODEL, name="m", controller_uuid="c"),
        mode="instance",
        asked=False,
        provider_type=kind,
        provider=provider if "firewall" in features else None,
    )
    assert isinstance(guard, SecurityGroups if "firewall" in features else NftablesFirewall)


@pytest.mark.parametrize("machine", ["0", "17", "3/lxd/0"])
@pytest.mark.parametrize("nonce", ["machine-0:abc", ""])
def test_an_identity_is_read_as_it_was_written(machine: str, nonce: str) -> None:
    one = Identity.of(MODEL, machine, nonce)
    assert Identity.from_tags(one.tags()) == one
    assert Identity.from_words([*one.words(), "plain", "a:b:c"]) == one
    assert Identity.from_name(one.name()) == one
    assert len(one.name()) <= 63 or "/" in machine
    assert one != Identity.of(MODEL, machine, f"{nonce}2")
    assert Identity.from_name("mail-server") == Identity(model="", machine="", nonce="")


# --- TLS --------------------------------------------------------------------------------------------------


@pytest.fixture
def lab(certificate: Path) -> Iterator[FakeOpenStack]:
    """OpenStack behind that certificate."""
    pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
    fake = FakeOpenStack(tls=str(certificate))
    yield fake
    fake.close()
    assert fake.problems == []


async def test_certificates_of_the_cloud_are_trusted_and_no_others(
    lab: FakeOpenStack,
    public: str,
    tmp_path: Path,
) -> None:
    bench = test_openstack.make(lab, tmp_path)
    with pytest.raises(ProviderError, match="the certificate of the cloud is not trusted") as caught:
        await bench.open().check()
    assert "ca-certificates" in caught.value.hint
    assert lab.asked == []
    assert (await bench.open(ca_certificates=(public,)).check()).account == "me"
    await bench.open(ca_certificates=(public,)).start(bench.request())
    await bench.open(skip_tls_verify=True).destroy_model()
    assert bench.leftovers() == []


def _left(folder: Path) -> list[Path]:
    return list(folder.rglob("*.pem*"))


async def test_certificates_that_cannot_be_written_leave_nothing_half(
    lab: FakeOpenStack, public: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a file under its name would be taken for the whole one for ever."""
    bench = test_openstack.make(lab, tmp_path)
    with monkeypatch.context() as broken:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        broken.setattr(Path, "replace", full)
        with pytest.raises(ProviderError, match=r"cannot write .*\.pem") as caught:
            await bench.open(ca_certificates=(public,)).check()
        assert "No space left" in caught.value.detail
    assert _left(tmp_path) == []
    assert (await bench.open(ca_certificates=(public,)).check()).account == "me"
