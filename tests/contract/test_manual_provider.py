"""The manual provider keeps the contract, on a server with an admin's account as somebody would give it."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator

import pytest

from pushjuju.core.errors import (
    AlreadyExists,
    AuthFailed,
    Conflict,
    NotPermitted,
    RemoteFailed,
    SudoRefused,
    Unreachable,
)
from pushjuju.plugins.api.providers import ModelInfo, Services, StartRequest
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.plugins.providers.manual.provider import ManualProvider
from pushjuju.testing.machines import LocalCloud
from pushjuju.testing.provider_contract import MODEL, OTHER_MODEL, EnlistContract
from pushjuju.testing.ssh import TestTransport, new_key

pytestmark = pytest.mark.machine

# No user `ubuntu`, a login `admin` with a key and sudo, one `guest` without sudo.
_SERVER = """set -e
userdel -r ubuntu 2>/dev/null
rm -f /etc/sudoers.d/90-ubuntu
for user in admin guest; do
  useradd -m -s /bin/bash $user
  mkdir -m 0700 /home/$user/.ssh
  echo {key} > /home/$user/.ssh/authorized_keys
  chown -R $user:$user /home/$user/.ssh
done
echo 'admin ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/admin
"""


class ManualBench:
    """A server that is there already, and controllers that could take it."""

    def __init__(self, cloud: LocalCloud, server: SSHTarget) -> None:
        self._cloud = cloud
        self.server = server
        self.data_dir = cloud.data_dir()
        key = cloud.data_dir() / "controller_key"
        self.public_key = new_key(key)
        self.target = f"ssh:admin@{server.host}"
        self._controller = TestTransport(key)
        self._with_admin = TestTransport(key, cloud.key)

    def open(self, model_uuid: str = MODEL) -> ManualProvider:
        model = ModelInfo(uuid=model_uuid, name="test", controller_uuid="c0ffee")
        return ManualProvider(model=model, services=Services(data_dir=self.data_dir, remote=self._with_admin))

    def request(self, machine_id: str) -> StartRequest:
        return self._cloud.request(machine_id)

    async def run(self, target: SSHTarget, script: str) -> ScriptResult:
        return await self._controller.wait_for(target, script)

    async def on_server(self, script: str) -> str:
        """Run a script on the server behind the provider's back."""
        return (await self._cloud.ssh.wait_for(self.server, script)).stdout

    async def leftovers(self) -> list[str]:
        key = shlex.quote(self.public_key)
        look = f"find /var/lib/pushjuju 2>/dev/null; grep -xF {key} /home/ubuntu/.ssh/authorized_keys; true\n"
        return [*(await self.on_server(look)).splitlines(), *(path.name for path in self.data_dir.iterdir())]


@pytest.fixture
async def bench(local_cloud: LocalCloud) -> AsyncIterator[ManualBench]:
    data_dir = local_cloud.data_dir()
    cloud = local_cloud.provider(data_dir)
    started = await cloud.start(local_cloud.request("0"))
    try:
        server = await cloud.ssh_target(started.instance)
        await local_cloud.ssh.wait_for(server, _SERVER.format(key=shlex.quote(local_cloud.public_key)))
        yield ManualBench(local_cloud, server)
    finally:
        await cloud.destroy_model()


class TestManualProvider(EnlistContract):
    """The contract."""


async def test_instance_is_named_for_its_host(bench: ManualBench) -> None:
    """Ids, nonce, statuses and scope are Juju's; the host key shown is known from then on."""
    provider = bench.open()
    host = bench.server.host
    started = await provider.enlist(bench.target, machine_id="0", authorized_keys=[bench.public_key])
    assert started.instance.id == f"manual:{host}"
    assert started.nonce.startswith(f"manual:{host}:")
    assert (started.instance.status, started.instance.message) == ("running", "Manually provisioned machine")
    assert [(item.value, item.scope) for item in started.instance.addresses] == [(host, "public")]
    target = await provider.ssh_target(started.instance)
    assert target.user == "ubuntu"
    assert target.host_keys == bench.server.host_keys


async def test_existing_ubuntu_login_is_left_as_it_is(bench: ManualBench) -> None:
    """Where `ubuntu` has sudo and our key already, nothing is added and nothing taken away."""
    await bench.on_server(
        "useradd -m -s /bin/bash ubuntu && mkdir -m 0700 /home/ubuntu/.ssh && "
        f"echo {shlex.quote(bench.public_key)} > /home/ubuntu/.ssh/authorized_keys && "
        "chown -R ubuntu:ubuntu /home/ubuntu/.ssh && echo 'ubuntu ALL=(ALL) NOPASSWD: ALL'"
        " >/etc/sudoers.d/u\n"
    )
    provider = bench.open()
    started = await provider.enlist(
        f"ssh:{bench.server.host}", machine_id="0", authorized_keys=["ssh-ed25519 other"]
    )
    await provider.stop([started.instance.id])
    keys = await bench.on_server("cat /home/ubuntu/.ssh/authorized_keys\n")
    assert keys == f"{bench.public_key}\n"


async def test_keys_of_others_stay(bench: ManualBench) -> None:
    """Only keys that were added are taken away, whatever they look like."""
    odd = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOddKey 'it''s \"odd\" $(id)'"
    provider = bench.open()
    started = await provider.enlist(bench.target, machine_id="0", authorized_keys=[bench.public_key, odd])
    await bench.on_server("printf 'ssh-ed25519 AAAA theirs' >> /home/ubuntu/.ssh/authorized_keys\n")
    assert odd in await bench.on_server("cat /home/ubuntu/.ssh/authorized_keys\n")
    await provider.stop([started.instance.id])
    assert await bench.on_server("cat /home/ubuntu/.ssh/authorized_keys\n") == "ssh-ed25519 AAAA theirs\n"


async def test_juju_machine_is_refused(bench: ManualBench) -> None:
    """A machine with Juju's agent belongs to Juju; one with files of units is somebody's."""
    for begin, end in (
        (
            "touch /etc/systemd/system/jujud-machine-3.service",
            "rm /etc/systemd/system/jujud-machine-3.service",
        ),
        ("cp $(command -v sleep) /tmp/jujud; setsid /tmp/jujud 600 >/dev/null 2>&1 &", "pkill -x jujud"),
        ("mkdir -p /var/lib/juju/agents/machine-0", "rmdir /var/lib/juju/agents/machine-0"),
        ("mkdir -p /var/lib/juju/agents/unit-web-0", "rmdir /var/lib/juju/agents/unit-web-0"),
    ):
        await bench.on_server(f"{begin}\n")
        with pytest.raises(AlreadyExists, match="machine is already provisioned"):
            await bench.open().enlist(bench.target, machine_id="0", authorized_keys=[bench.public_key])
        assert await bench.leftovers() == []
        await bench.on_server(f"{end}\n")
    await bench.open().enlist(bench.target, machine_id="0", authorized_keys=[bench.public_key])


async def test_of_two_that_take_a_machine_at_once_one_gets_it(bench: ManualBench) -> None:
    """The other one changes nothing: not even its key is there."""
    keys = {model: f"{bench.public_key} for {model}" for model in (MODEL, OTHER_MODEL)}
    took = await asyncio.gather(
        *(
            bench.open(model).enlist(bench.target, machine_id="0", authorized_keys=[key])
            for model, key in keys.items()
        ),
        return_exceptions=True,
    )
    refused = [error for error in took if isinstance(error, BaseException)]
    assert [type(error) for error in refused] == [AlreadyExists], refused
    loser = list(keys)[took.index(refused[0])]
    assert keys[loser] not in await bench.on_server("cat /home/ubuntu/.ssh/authorized_keys\n")


async def test_a_machine_that_could_not_join_is_free(bench: ManualBench) -> None:
    """What was begun is taken back, so that the next try is none of a stranger."""
    await bench.on_server("mv /usr/bin/awk /usr/bin/awk.away\n")
    with pytest.raises(RemoteFailed):
        await bench.open().enlist(bench.target, machine_id="0", authorized_keys=[bench.public_key])
    assert await bench.leftovers() == []
    await bench.on_server("mv /usr/bin/awk.away /usr/bin/awk\n")
    await bench.open(OTHER_MODEL).enlist(bench.target, machine_id="7", authorized_keys=[bench.public_key])


async def test_refused_logins_say_why(bench: ManualBench) -> None:
    """No such user, no sudo, no host."""
    provider = bench.open()
    host = bench.server.host
    for target, problem in (
        (f"ssh:nobody-here@{host}", AuthFailed),
        (f"ssh:guest@{host}", SudoRefused),
        (f"ssh:admin@{host}:2", Unreachable),
    ):
        with pytest.raises(problem):
            await provider.enlist(target, machine_id="0", authorized_keys=[bench.public_key])
    assert await provider.list() == []


async def test_marker_of_another_owner_is_not_removed(bench: ManualBench) -> None:
    """Somebody else has taken the machine meanwhile: it is forgotten here and not touched there."""
    provider = bench.open()
    started = await provider.enlist(bench.target, machine_id="0", authorized_keys=[bench.public_key])
    await bench.on_server("echo somebody-else > /var/lib/pushjuju/machine\n")
    with pytest.raises(Conflict):
        await provider.stop([started.instance.id])
    assert await provider.list() == []
    assert await bench.on_server("cat /var/lib/pushjuju/machine\n") == "somebody-else\n"


async def test_unreachable_machine_stays_known(bench: ManualBench) -> None:
    """Its traces cannot be removed now; a later stop tries again."""
    provider = bench.open()
    started = await provider.enlist(bench.target, machine_id="0", authorized_keys=[bench.public_key])
    await bench.on_server("systemctl stop ssh\n")
    with pytest.raises(Unreachable):
        await provider.stop([started.instance.id])
    assert [item.id for item in await bench.open().list()] == [started.instance.id]
    assert await bench.open(OTHER_MODEL).list() == []


async def test_nothing_can_be_started(bench: ManualBench) -> None:
    """With Juju's words."""
    with pytest.raises(
        NotPermitted, match=r'use "pushjuju add-machine ssh:\[user@\]<host>" to provision machines'
    ):
        await bench.open().start(bench.request("0"))
