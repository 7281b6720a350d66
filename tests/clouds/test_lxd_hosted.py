"""Containers inside a machine: the machine's LXD is the stand-in.

tests/ssh has the way there, tests/lxd all of it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import ProviderError
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services, StartRequest, Zoned
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.lxd import hosted
from tests.clouds.lxd_standin import StandIn

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = pytest.mark.timeout(60)

MODEL = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"


class Host:
    """A machine whose LXD is here.

    Attributes:
        scripts: What ran on it.
        result: How the next scripts end.
    """

    machine_id = "0"

    def __init__(self, lxd: StandIn) -> None:
        self.lxd, self.scripts = lxd, list[str]()
        self.result = ScriptResult(rc=0)

    async def run(self, script: str, *, timeout_s: float = 60.0) -> ScriptResult:
        del timeout_s
        self.scripts.append(script)
        return self.result

    async def relay(self, program: str) -> Path:
        assert program == hosted.BRIDGE
        return self.lxd.socket


@pytest.fixture
def host() -> Iterator[Host]:
    with tempfile.TemporaryDirectory(prefix="pjl") as folder:
        server = StandIn(Path(folder) / "unix.socket")
        yield Host(server)
        server.close()


def opened(host: Host, tmp_path: Path) -> Provider:
    return PluginHost(environ={}).open_containers(
        kind="lxd",
        host=host,
        model=ModelInfo(uuid=MODEL, name="shop", controller_uuid="c"),
        config={"lxd-snap-channel": "5.0/sta'ble"},
        services=Services(data_dir=tmp_path),
    )


def request(machine: str, **more: Any) -> StartRequest:
    name = f"juju-eeeeee-{machine.replace('/', '-')}"
    plain = {"machine_id": machine, "base": Base.parse("debian@12"), "hostname": name, "nonce": machine}
    return StartRequest(**{**plain, **more})  # type: ignore[arg-type]


async def test_the_life_of_containers(host: Host, tmp_path: Path) -> None:
    """The host is prepared once; the model's profile goes with the last container."""
    provider = opened(host, tmp_path)
    assert not isinstance(provider, Zoned)
    started = await provider.start(request("0/lxd/0", constraints={"cores": 1}))
    await provider.start(request("0/lxd/1"))
    assert len(host.scripts) == 1
    assert host.scripts[0].startswith("channel='5.0/sta'\"'\"'ble'\n")
    assert str(started.instance.hardware) == "arch=amd64 cores=1 virt-type=container"  # an LXD is no zone
    assert (await provider.ssh_target(started.instance)).host == "10.1.2.3"
    assert sorted(item.machine_id for item in await provider.list()) == ["0/lxd/0", "0/lxd/1"]
    await provider.stop(["juju-eeeeee-0-lxd-0"])
    assert "juju-shop-eeeeee" in host.lxd.profiles
    assert (await provider.get(["juju-eeeeee-0-lxd-0"])) == [None]
    await provider.stop(["juju-eeeeee-0-lxd-1"])
    assert (host.lxd.instances, list(host.lxd.profiles)) == ({}, ["default"])


async def test_a_model_that_goes_takes_only_what_is_the_hosts(host: Host, tmp_path: Path) -> None:
    """The machine's LXD may be the model's cloud as well: its other machines stay."""
    await opened(host, tmp_path).start(request("5"))
    await opened(host, tmp_path).destroy_model()
    assert list(host.lxd.instances) == ["juju-eeeeee-5"]


async def test_a_machine_without_lxd_says_what_to_install(host: Host, tmp_path: Path) -> None:
    host.result = ScriptResult(rc=hosted.NO_LXD)
    with pytest.raises(ProviderError) as caught:
        await opened(host, tmp_path).start(request("0/lxd/0"))
    assert caught.value.message == (
        "machine 0 has no LXD, and no package source has one: "
        "install lxd there, then pushjuju retry-provisioning 0/lxd/0"
    )
    assert not caught.value.retryable
    host.result = ScriptResult(rc=1, stderr="a\nb\nc\nE: no room\n")
    with pytest.raises(ProviderError, match="LXD cannot be prepared on machine 0") as caught:
        await opened(host, tmp_path).start(request("0/lxd/0"))
    assert (caught.value.detail, caught.value.retryable) == ("b; c; E: no room", True)


async def test_a_container_that_was_never_made_can_go(host: Host, tmp_path: Path) -> None:
    """A machine that never had an LXD has no containers; one whose LXD is down may have some."""
    host.lxd.close()
    host.lxd.socket.unlink(missing_ok=True)
    host.result = ScriptResult(rc=1)
    for call in (opened(host, tmp_path).list(), opened(host, tmp_path).stop(["juju-eeeeee-0-lxd-0"])):
        with pytest.raises(ProviderError):
            await call
    host.result = ScriptResult(rc=0)
    assert await opened(host, tmp_path).list() == []
    await opened(host, tmp_path).stop(["juju-eeeeee-0-lxd-0"])
    assert set(host.scripts) == {hosted._NEVER_THERE}


@pytest.mark.parametrize("trace", ["", "var/snap/lxd", "var/lib/lxd", "snap/bin/lxd", "lxd"])
def test_what_tells_that_there_never_was_an_lxd(tmp_path: Path, trace: str) -> None:
    if trace:
        (tmp_path / trace).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / trace).write_text("#!/bin/sh\n")
        (tmp_path / trace).chmod(0o755)
    script = hosted._NEVER_THERE.replace("/var/", f"{tmp_path}/var/").replace(
        "/snap/bin", f"{tmp_path}/snap/bin"
    )
    done = subprocess.run(
        ["/bin/sh", "-s"], input=script, text=True, env={"PATH": str(tmp_path)}, check=False, timeout=30
    )
    assert (done.returncode == 0) == (not trace)


@pytest.mark.parametrize(
    ("there", "code", "ran"),
    [
        ("", 69, []),
        ("apt-get", 0, ["apt-get install -q -y lxd dnsmasq-base iptables", "lxd init --auto"]),
        ("snap apt-get", 0, ["snap install lxd --channel=5.0", "lxd init --auto"]),
        ("apt-get nolxd", 69, ["apt-get update -q"]),
        ("socket", 0, ["lxd init --auto"]),
        ("socket pools", 0, []),
        ("socket nolxc", 0, []),
    ],
)
def test_lxd_is_installed_and_set_up_where_it_is_not(
    tmp_path: Path, there: str, code: int, ran: list[str]
) -> None:
    """By the script itself, among commands that only note that they were called."""
    words, log = there.split(), tmp_path / "log"
    where = tmp_path / "unix.socket"
    if "socket" in words:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(where))
    pools = "echo '[\"/1.0/storage-pools/x\"]'" if "pools" in words else "echo '[]'"
    known = f"echo '  Candidate: {'(none)' if 'nolxd' in words else '5.0.2-5'}'"
    says = {
        "snap": "", "apt-get": "", "apt-cache": known, "awk": "echo 4294967295", "lxd": "", "lxc": pools,
        "tr": "cat",
    }  # fmt: skip
    for name, does in says.items():
        if name in ("snap", "apt-get") and name not in words:
            continue
        if name == "lxc" and "nolxc" in words:
            continue
        file = tmp_path / name
        file.write_text(f'#!/bin/sh\necho "{name} $*" >> {log}\n{does}\n')
        file.chmod(0o755)
    for name in ("cat", "grep"):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    script = "channel=5.0\n" + hosted._PREPARE.replace("/var/snap/lxd/common/lxd/unix.socket", str(where))
    script = script.replace("/var/lib/lxd/unix.socket", str(tmp_path / "no")).replace(":/snap/bin", "")
    done = subprocess.run(
        ["/bin/sh", "-s"], input=script, text=True, env={"PATH": str(tmp_path)}, check=False, timeout=30,
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    noted = log.read_text().splitlines() if log.exists() else []
    changes = ("snap install", "apt-get", "lxd init")
    assert [line for line in noted if line.startswith(changes)] == ran


def test_the_bridge_carries_bytes_both_ways(host: Host) -> None:
    """It is the program that runs on the machine; the LXD's socket is found by its path."""
    program = hosted.BRIDGE.replace("/var/lib/lxd/unix.socket", str(host.lxd.socket))
    asked = b"GET /1.0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    command = [sys.executable, "-c", program.replace("/var/snap", "/nowhere")]
    done = subprocess.run(command, input=asked, capture_output=True, check=True, timeout=30)
    answer = json.loads(done.stdout.partition(b"\r\n\r\n")[2])
    assert answer["metadata"]["environment"]["server_version"] == "5.0.2"
    nowhere = [
        sys.executable,
        "-c",
        program.replace(str(host.lxd.socket), os.devnull).replace("/var/snap", "/no"),
    ]
    done = subprocess.run(
        nowhere,
        input=asked,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (1, b"no LXD answers here\n")
