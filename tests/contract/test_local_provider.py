"""The local provider keeps the contract, and what only it promises."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, NotValid, ProviderError
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services, StartRequest
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.plugins.providers.local import machines
from pushjuju.plugins.providers.local.provider import LocalProvider
from pushjuju.plugins.providers.nspawn.cgroups import Cgroup
from pushjuju.plugins.providers.nspawn.layout import Layout
from pushjuju.testing.machines import LocalCloud
from pushjuju.testing.provider_contract import MODEL, ProviderContract

pytestmark = pytest.mark.machine


class LocalBench:
    """One controller on this host."""

    def __init__(self, cloud: LocalCloud) -> None:
        self.cloud = cloud
        self.data_dir = cloud.data_dir()

    @property
    def layout(self) -> Layout:
        return Layout.of(self.data_dir)

    def open(self, model_uuid: str = MODEL) -> LocalProvider:
        return self.cloud.provider(self.data_dir, model=model_uuid)

    def request(self, machine_id: str, **changes: object) -> StartRequest:
        return self.cloud.request(machine_id, **changes)

    async def run(self, target: SSHTarget, script: str) -> ScriptResult:
        return await self.cloud.ssh.wait_for(target, script)

    async def leftovers(self) -> list[str]:
        return self.cloud.leftovers(self.data_dir)


@pytest.fixture
async def bench(local_cloud: LocalCloud) -> AsyncIterator[LocalBench]:
    bench = LocalBench(local_cloud)
    yield bench
    await bench.open().destroy_model()
    assert await bench.leftovers() == []


class TestLocalProvider(ProviderContract):
    """The contract."""


async def test_machine_is_a_full_system(bench: LocalBench) -> None:
    """Services run, the name resolves, `ubuntu` has sudo, hooks find python3 and perl."""
    provider = bench.open()
    started = await provider.start(bench.request("3"))
    target = await provider.ssh_target(started.instance)
    script = """
    systemctl is-system-running --wait
    hostname
    getent hosts "$(hostname)" | cut -d' ' -f1
    python3 -c 'import yaml, sqlite3; print("python")'
    perl -e 'print "perl\\n"'
    su ubuntu -c 'sudo -n id -un'
    cat /var/lib/juju/nonce.txt 2>/dev/null || echo none
    test ! -e /usr/sbin/policy-rc.d && echo clean
    """
    done = await bench.run(target, script)
    assert done.stdout.split() == [
        "running", "juju-a1a1a1-3", target.host, "python", "perl", "root", "none", "clean"
    ]  # fmt: skip
    as_ubuntu = SSHTarget(host=target.host, user="ubuntu", host_keys=target.host_keys)
    assert (await bench.cloud.ssh.run_script(as_ubuntu, "id -un\n")).stdout == "ubuntu\n"


async def test_the_network_is_the_machines_own(bench: LocalBench) -> None:
    """So are the kernel's list of its cards and its settings: bridges can be made inside."""
    here = _accept_local()
    provider = bench.open()
    started = await provider.start(bench.request("0"))
    script = (
        "echo $(ls /sys/class/net)\n"
        "setting=/proc/sys/net/ipv4/conf/lo/accept_local\n"
        'sudo sh -c "echo 1 > $setting" && cat $setting\n'
        "sudo sh -c 'echo x > /proc/sys/kernel/hostname' 2>/dev/null || echo kept\n"
    )
    done = await bench.run(await provider.ssh_target(started.instance), script)
    assert done.stdout.splitlines() == ["eth0 lo", "1", "kept"]
    assert _accept_local() == here


def _accept_local() -> str:
    return Path("/proc/sys/net/ipv4/conf/lo/accept_local").read_text()


async def test_constraints_limit_the_machine(bench: LocalBench) -> None:
    """Memory beyond the limit is refused; hardware tells the limits."""
    provider = bench.open()
    started = await provider.start(bench.request("0", constraints={"cores": 1, "mem": 256}))
    assert str(started.instance.hardware) == "arch=amd64 cores=1 mem=256M virt-type=container"
    target = await provider.ssh_target(started.instance)
    eat = "python3 -c 'b = bytearray(600 * 1024 * 1024); print(len(b))'\n"
    assert (await bench.run(target, eat)).stdout == ""
    assert (await bench.run(target, "echo alive\n")).stdout == "alive\n"


async def test_services_of_machines_are_separate(bench: LocalBench) -> None:
    """Stopping a service in one machine does not touch the same one in another."""
    provider = bench.open()
    one, two = await asyncio.gather(*(provider.start(bench.request(item)) for item in "01"))
    first, second = await provider.ssh_target(one.instance), await provider.ssh_target(two.instance)
    await bench.run(first, "systemctl stop dbus.socket dbus.service\n")
    assert (await bench.run(second, "systemctl is-active dbus\n")).stdout == "active\n"


async def test_machine_outlives_its_controller(bench: LocalBench) -> None:
    """The process that made a machine may end at any time: the machine has no tie to it."""
    provider = bench.open()
    started = await provider.start(bench.request("0"))
    cgroup = Cgroup.of(bench.layout.cgroup(started.instance.id))
    sessions = {os.getsid(pid) for pid in cgroup.supervisor_pids() + cgroup.nspawn_pids()}
    assert os.getsid(0) not in sessions


async def test_machine_holds_nothing_that_its_maker_had_open(bench: LocalBench) -> None:
    """A pipe or a lock of the shell that ran the command ends with the command, not with the machine."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)  # as a shell leaves `9>lock` or `2> >(sed ...)` open for its commands
    os.set_blocking(reading, False)
    try:
        await bench.open().start(bench.request("0"))
        os.close(writing)
        assert os.read(reading, 1) == b""  # its end; BlockingIOError where somebody holds it
    finally:
        os.close(reading)


async def test_machine_that_was_switched_off_can_be_resumed(bench: LocalBench) -> None:
    """`poweroff` inside leaves it listed and stopped, with its disk; resume boots it again, nothing else."""
    provider = bench.open()
    started = await provider.start(bench.request("0"))
    target = await provider.ssh_target(started.instance)
    await bench.run(target, "touch /root/stays; (sleep 0.1; poweroff) >/dev/null 2>&1 </dev/null &\n")
    async with asyncio.timeout(30):
        while (await provider.list())[0].status is not InstanceStatus.STOPPED:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert (await provider.list())[0].message == "Stopped"
    await provider.ssh_target(started.instance)
    assert (await provider.list())[0].message == "Stopped"
    await provider.resume(started.instance.id)
    assert (await bench.run(await provider.ssh_target(started.instance), "test -e /root/stays\n")).rc == 0


async def test_second_start_for_the_same_request_takes_the_machine_that_runs(bench: LocalBench) -> None:
    """A controller that was frozen and asks again does no harm to the machine that another one works on."""
    provider, other = bench.open(), bench.open()
    first, second = await asyncio.gather(
        provider.start(bench.request("0", nonce="n")), other.start(bench.request("0", nonce="n"))
    )
    assert second.instance.id == first.instance.id
    assert second.host_keys == first.host_keys
    await bench.run(await provider.ssh_target(first.instance), "touch /root/stays\n")
    late = await other.start(bench.request("0", nonce="n"))
    assert late.instance.machine_id == "0"
    assert (await bench.run(await other.ssh_target(late.instance), "test -e /root/stays\n")).rc == 0
    anew = await other.start(bench.request("0", nonce="another"))
    assert anew.host_keys != first.host_keys
    assert (await bench.run(await other.ssh_target(anew.instance), "test -e /root/stays\n")).rc == 1


def _spec(record: machines.Record) -> machines.MachineSpec:
    """Return the request that a machine was made by."""
    names = {field.name for field in fields(machines.MachineSpec)} & {field.name for field in fields(record)}
    return machines.MachineSpec(**{name: getattr(record, name) for name in names})


async def test_start_that_was_given_up_leaves_alone_what_another_one_took(bench: LocalBench) -> None:
    provider = bench.open()
    started = await provider.start(bench.request("0", nonce="n"))
    record = bench.layout.read(started.instance.id)
    assert record is not None
    await provider.start(bench.request("0", nonce="n"))
    await asyncio.to_thread(machines.discard, bench.layout, record.id, record.created)
    assert [instance.id for instance in await provider.list()] == [record.id]
    taken = bench.layout.read(record.id)
    assert taken is not None
    stale = replace(_spec(taken), created=record.created)  # it stood still since before the other one asked
    await asyncio.to_thread(machines.create, bench.layout, stale, None)
    await asyncio.to_thread(machines.discard, bench.layout, record.id, record.created)
    assert [instance.id for instance in await provider.list()] == [record.id]
    await asyncio.to_thread(machines.discard, bench.layout, record.id, taken.created)
    assert await provider.list() == []


async def test_machine_comes_back_after_the_host_rebooted(bench: LocalBench) -> None:
    """It is told as stopped, as one that was switched off; resume boots it."""
    provider = bench.open()
    started = await provider.start(bench.request("0"))
    await bench.run(await provider.ssh_target(started.instance), "sync\n")
    _pretend_reboot(bench.layout, started.instance.id)
    assert [item.status for item in await provider.list()] == [InstanceStatus.STOPPED]
    await provider.resume(started.instance.id)
    target = await provider.ssh_target(started.instance)
    assert target.host_keys == started.host_keys
    assert (await bench.run(target, "echo here\n")).stdout == "here\n"


def _pretend_reboot(layout: Layout, instance_id: str) -> None:
    """Do to a machine what a power cut does: no process, mount, namespace or bridge is left."""

    from pushjuju.plugins.providers.local import network
    from pushjuju.plugins.providers.local.system import unmount_below

    record = layout.read(instance_id)
    assert record is not None
    machines.halt(layout, instance_id, grace_s=0)
    Cgroup.of(layout.cgroup(instance_id)).remove()
    network.remove_namespace(layout, record.index)
    unmount_below(layout.machine(instance_id))
    network.remove_network(layout)
    layout.write(replace(record, boot_id="another boot"))


async def test_stubborn_machine_is_ended_by_force(bench: LocalBench) -> None:
    """A machine that does not shut down in time is killed, and nothing of it stays."""
    provider = bench.open()
    started = await provider.start(bench.request("0"))
    await bench.run(await provider.ssh_target(started.instance), "exit 0\n")
    machines.remove(bench.layout, started.instance.id, grace_s=0)
    assert await bench.leftovers() == []


async def test_failed_start_leaves_nothing(bench: LocalBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever step fails, the machine is gone before the error is told."""
    for step in ("_mount", "write_identity", "_boot"):

        def fail(*_: object, **__: object) -> None:
            raise ProviderError("out of luck")

        with monkeypatch.context() as patch:
            patch.setattr(machines, step, fail)
            with pytest.raises(ProviderError, match="out of luck"):
                await bench.open().start(bench.request("0"))
        assert await bench.open().list() == []
        assert await bench.leftovers() == []


async def test_controllers_have_networks_of_their_own(local_cloud: LocalCloud) -> None:
    """Two controllers on one host get different bridges and subnets; each removes only its own."""
    one, two = LocalBench(local_cloud), LocalBench(local_cloud)
    try:
        first, second = await asyncio.gather(*(item.open().start(item.request("0")) for item in (one, two)))
        cidrs = {item.instance.addresses[0].cidr for item in (first, second)}
        assert len(cidrs) == 2
        await one.open().destroy_model()
        assert await one.leftovers() == []
        await two.run(await two.open().ssh_target(second.instance), "exit 0\n")
    finally:
        await one.open().destroy_model()
        await two.open().destroy_model()
    assert await two.leftovers() == []


async def test_sweep_removes_what_lost_its_records(bench: LocalBench) -> None:
    """A data directory that somebody emptied: the machine is still found by the prefix and removed."""
    provider = bench.open()
    started = await provider.start(bench.request("0"))
    (bench.layout.machine(started.instance.id) / "machine.json").unlink()
    assert await provider.list() == []
    assert await bench.leftovers() != []
    bench.cloud.sweep_data_dir(bench.data_dir)
    assert await bench.leftovers() == []


async def test_network_of_the_users_choice(bench: LocalBench) -> None:
    """`subnet` of the cloud is taken as it is."""
    provider = bench.cloud.provider(bench.data_dir, model=MODEL, config={"subnet": "10.213.99.64/26"})
    started = await provider.start(bench.request("0"))
    assert started.instance.addresses[0].value == "10.213.99.66"
    assert (await bench.run(await provider.ssh_target(started.instance), "echo up\n")).stdout == "up\n"


async def test_precheck_refuses_what_cannot_start(bench: LocalBench) -> None:
    """Before anything is recorded."""
    provider: Provider = bench.open()
    base = bench.cloud.base
    with pytest.raises(NotValid, match="unknown placement directive: zone=a"):
        await provider.precheck(base, {}, "zone=a")
    with pytest.raises(NotValid, match="arch"):
        await provider.precheck(base, {"arch": "s390x"}, "")
    with pytest.raises(NotValid, match="virt-type"):
        await provider.precheck(base, {"virt-type": "virtual-machine"}, "")
    strict = bench.cloud.provider(bench.data_dir, config={"stand-in": False})
    with pytest.raises(NotFound, match="no root file system for base centos@9"):
        await strict.precheck(Base("centos", "9"), {}, "")


async def test_directory_as_base(bench: LocalBench, tmp_path: Path) -> None:
    """A root that the user keeps is taken as it is, and stays untouched."""
    from pushjuju.plugins.providers.local.bases import cache_dir, find_cached
    from pushjuju.plugins.providers.local.sources import BasesConfig

    cached = find_cached(BasesConfig(), bench.cloud.base, cache_dir(os.environ))
    assert cached is not None
    name = bench.cloud.base.display
    provider = bench.cloud.provider(
        bench.data_dir, model=MODEL, config={"bases": {name: {"directory": cached.root}}}
    )
    before = _names(f"{cached.root}/etc")
    started = await provider.start(bench.request("0"))
    assert (await bench.run(await provider.ssh_target(started.instance), "echo up\n")).stdout == "up\n"
    assert _names(f"{cached.root}/etc") == before


async def test_user_data_is_there_when_ssh_answers(bench: LocalBench) -> None:
    """Files, packages and commands of cloud-config, in cloud-init's order; a command may fail."""
    provider = bench.open()
    document = {
        "packages": ["figlet"],
        "write_files": [
            {"path": "/opt/new/it's", "content": "aGVsbG8=", "encoding": "b64", "permissions": "0600"}
        ],
        "runcmd": ["false", "cd /opt; exit 3", ["touch", "/opt/two words"], "figlet -v > /opt/version"],
        "timezone": "Europe/Berlin",
    }
    started = await provider.start(bench.request("0", user_data=document))
    target = await provider.ssh_target(started.instance)
    done = await bench.run(target, "cat \"/opt/new/it's\"; stat -c ' %a' \"/opt/new/it's\"; ls /opt | sort\n")
    assert done.stdout.splitlines() == ["hello 600", "new", "two words", "version"]
    assert (await bench.run(target, "ls /var/lib/juju\n")).stdout.split() == ["storage"]


async def test_start_that_is_given_up_leaves_nothing(bench: LocalBench) -> None:
    """Ctrl-C while a machine is being made."""
    provider = bench.open()
    starting = asyncio.create_task(provider.start(bench.request("0")))
    await asyncio.sleep(0.03)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert await provider.list() == []
    assert await bench.leftovers() == []


async def test_base_is_built_from_an_archive(bench: LocalBench, tmp_path: Path) -> None:
    """From nothing to a machine, with progress; two who ask at once get one build."""
    said: list[str] = []
    cloud = CloudSpec(name="local", type="local", config={"packages": ["tree"]})
    model = ModelInfo(uuid=MODEL, name="test", controller_uuid="c")
    services = Services(data_dir=bench.data_dir, environ={"PUSHJUJU_CACHE": str(tmp_path)})
    base = Base("debian", "12")
    asked = [
        LocalProvider(cloud=cloud, model=model, services=services).start(
            bench.request(number, base=base, progress=lambda _, message: said.append(message))
        )
        for number in "01"
    ]
    started = await asyncio.gather(*asked)
    assert {item.base for item in started} == {base}
    assert sum("extracting archives" in message and "(" not in message for message in said) == 1
    assert len(_names(str(tmp_path / "bases"))) == 1
    target = await bench.open().ssh_target(started[0].instance)
    done = await bench.run(
        target, ". /etc/os-release; echo $ID; command -v tree; systemctl is-system-running --wait\n"
    )
    assert done.stdout.split() == ["debian", "/usr/bin/tree", "running"]


def _names(root: str) -> list[str]:
    return sorted(path.name for path in Path(root).iterdir())


async def test_machines_of_a_cloud_with_zones(local_cloud: LocalCloud) -> None:
    """The zone that was chosen is what the machine says, also to a controller that comes later."""
    data_dir = local_cloud.data_dir()
    config = {"zones": ["rack-1", "rack-2"]}
    provider = local_cloud.provider(data_dir, config=config)
    assert [zone.name for zone in await provider.zones()] == ["rack-1", "rack-2"]
    base = local_cloud.base
    await provider.precheck(base, {"zones": ["rack-1"]}, "zone=rack-2")
    for constraints, placement in (({"zones": ["moon"]}, ""), ({}, "zone=moon"), ({}, "rack")):
        with pytest.raises(NotValid):
            await provider.precheck(base, constraints, placement)
    try:
        await provider.start(local_cloud.request("0", zone="rack-2"))
        (found,) = await local_cloud.provider(data_dir, config=config).list()
        assert found.hardware.availability_zone == "rack-2"
        request = local_cloud.request("1", placement="zone=rack-1")
        assert list(await provider.derive_zones(request)) == ["rack-1"]
    finally:
        await provider.destroy_model()
    with pytest.raises(NotValid, match="must be a list of names"):
        local_cloud.provider(data_dir, config={"zones": "a"})
