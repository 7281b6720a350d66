"""The provider of LXD keeps the contract, on a real LXD (`make lxd`)."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import CredentialInvalid, NotValid, ProviderError
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import ModelInfo, Services
from pushjuju.plugins.providers.lxd import trust
from pushjuju.plugins.providers.lxd.provider import LxdProvider
from pushjuju.testing.provider_contract import MODEL, ProviderContract
from tests.lxd.conftest import LxdBench
from tests.lxd.server import Lxd

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = pytest.mark.lxd


class TestLxdProvider(ProviderContract):
    """The contract."""


async def test_cloud_init_gets_to_its_end_and_constraints_hold(bench: LxdBench) -> None:
    """User data is applied without errors; limits, tags and hardware are what was asked for."""
    provider = bench.open()
    started = await provider.start(bench.request("3", constraints={"cores": 1, "mem": 512}))
    instance = started.instance
    assert (instance.id, instance.machine_id) == ("juju-a1a1a1-3", "3")
    assert instance.tags["juju-units-deployed"] == "web/0"
    assert "owner" not in instance.tags
    assert (instance.hardware.arch, instance.hardware.cores, instance.hardware.mem) == ("amd64", 1, 512)
    assert instance.hardware.virt_type == "container"
    script = (
        "for n in $(seq 600); do test -e /var/lib/cloud/instance/boot-finished && break; sleep 0.1; done\n"
        'hostname\npython3 -c "import json\n'
        "print(json.load(open('/run/cloud-init/result.json'))['v1']['errors'])\"\n"
    )
    done = await bench.run(await provider.ssh_target(instance), script)
    assert done.stdout.split("\n")[:2] == ["juju-a1a1a1-3", "[]"]


async def test_what_cannot_start_is_refused_and_leaves_nothing(bench: LxdBench) -> None:
    provider = bench.open()
    with pytest.raises(NotValid, match="no image for base debian@13"):
        await provider.precheck(Base.parse("debian@13"), {}, "")
    with pytest.raises(NotValid, match='availability zone "elsewhere" not valid'):
        await provider.precheck(Base.parse("debian@12"), {}, "zone=elsewhere")
    request = bench.request("0", constraints={"root-disk-source": "nowhere"})
    with pytest.raises(ProviderError) as caught:
        await provider.start(request)
    assert "nowhere" in caught.value.detail or "pool" in caught.value.detail.lower()
    assert await provider.list() == []


async def test_another_nonce_replaces_the_machine(bench: LxdBench) -> None:
    provider, request = bench.open(), replace(bench.request("0"), nonce="machine-0:a")
    first = await provider.start(request)
    again = await provider.start(replace(request, nonce="machine-0:b", host_keys=()))
    assert again.instance.id == first.instance.id  # the name is the machine's
    assert again.host_keys is None
    assert len(await provider.list()) == 1


def test_a_remote_server_is_reached_with_a_certificate(
    lxd: Lxd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over TLS: only with a trusted certificate, and only the server whose certificate is known."""
    lxd.command("lxc", "config", "set", "core.https_address", "127.0.0.1:18443")
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=me", "-days", "2"]
    command = [*new, "-keyout", str(tmp_path / "client.key"), "-out", str(tmp_path / "client.crt")]
    subprocess.run(command, check=True, capture_output=True)
    mine, key = (tmp_path / "client.crt").read_text(), (tmp_path / "client.key").read_text()

    def opened(server: str) -> LxdProvider:
        return LxdProvider(
            cloud=CloudSpec(name="far", type="lxd", endpoint="https://127.0.0.1:18443"),
            credential=Credential(
                auth_type="certificate",
                attributes={"server-cert": server, "client-cert": mine, "client-key": key},
            ),
            model=ModelInfo(uuid=MODEL, name="test", controller_uuid="c"),
            config={},
            services=Services(data_dir=tmp_path),
        )

    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "client.crt"))  # says nothing of this server
    known = (lxd.folder / "server.crt").read_text()
    with pytest.raises(CredentialInvalid):
        asyncio.run(opened(known).check())
    lxd.command("lxc", "config", "trust", "add", str(tmp_path / "client.crt"))
    assert "LXD 5" in asyncio.run(opened(known).check()).account
    assert asyncio.run(opened(known).list()) == []
    with pytest.raises(ProviderError, match="does not answer"):
        asyncio.run(opened(mine).check())
    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "lxd").rglob("*")}
    assert modes == {0}


def test_a_trust_token_becomes_a_trusted_certificate(lxd: Lxd, tmp_path: Path) -> None:
    """Once; and no other server than the token's is told anything."""
    lxd.command("lxc", "config", "set", "core.https_address", "127.0.0.1:18443")
    said = lxd.command("lxc", "config", "trust", "add", "--name", "pushjuju-test")
    token = said.split()[-1]
    made = trust.trusted("https://127.0.0.1:18443", token)
    provider = LxdProvider(
        cloud=CloudSpec(name="far", type="lxd", endpoint="https://127.0.0.1:18443"),
        credential=Credential(auth_type="certificate", attributes=made),
        model=ModelInfo(uuid=MODEL, name="test", controller_uuid="c"),
        config={},
        services=Services(data_dir=tmp_path),
    )
    assert "LXD 5" in asyncio.run(provider.check()).account
    with pytest.raises(CredentialInvalid, match="refuses the trust token"):
        trust.trusted("https://127.0.0.1:18443", token)
