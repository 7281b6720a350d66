"""What containers take from their hosts: `container-inherit-properties`."""

from __future__ import annotations

import asyncio
import base64
import gzip
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pushjuju.core.errors import NotValid, Unreachable
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import model_config
from pushjuju.workers.provision import inherit
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, worker

APT = {
    "primary": [{"arches": ["default"], "uri": "http://mirror/ubuntu"}],
    "security": [{"arches": ["default"], "uri": "http://mirror/security"}],
    "sources": {"own.list": {"source": "deb http://own /"}},
    "sources_list": "deb http://maas jammy main\n",
    "conf": "APT {}",
}
TEXT = yaml.safe_dump({"apt": APT, "ca-certs": {"trusted": ["CERT"]}, "users": ["x"]}).encode()


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        b"#cloud-config\n" + TEXT,
        gzip.compress(TEXT, mtime=0),
        base64.encodebytes(TEXT),
        base64.b64encode(gzip.compress(TEXT, mtime=0)),
    ],
    ids=["plain", "header", "gzip", "base64", "both"],
)
def test_every_form_of_a_file_is_read(data: bytes) -> None:
    assert inherit.parse(data)["apt"] == APT


@pytest.mark.parametrize("data", [b"", b"# nothing\n", gzip.compress(b" ", mtime=0)], ids=range(3))
def test_an_empty_file_says_nothing(data: bytes) -> None:
    assert inherit.parse(data) == {}


@pytest.mark.parametrize(
    "data", [b"a: [", b"- x", b"\xff\xfe\x00", b"\x1f\x8b broken", b"a: 1\na: 2"], ids=range(5)
)
def test_what_is_no_settings_is_refused(data: bytes) -> None:
    with pytest.raises(NotValid):
        inherit.parse(data)


def test_a_file_that_grows_is_cut() -> None:
    with pytest.raises(NotValid):
        inherit.parse(gzip.compress(b"a: " + b"[" * 30_000_000))


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["apt-primary"], {"apt": {"primary": APT["primary"]}}),
        (["apt-primary", "apt-security"], {"apt": {key: APT[key] for key in ("primary", "security")}}),
        (["apt-sources"], {"apt": {key: APT[key] for key in ("sources", "sources_list")}}),
        (["ca-certs"], {"ca-certs": {"trusted": ["CERT"]}}),
        ([], {}),
    ],
)
def test_names_stand_for_their_parts(names: list[str], wanted: dict[str, Any]) -> None:
    assert inherit.pick(yaml.safe_load(TEXT), names) == wanted
    assert inherit.pick({"apt": "odd"}, names) == {}


def test_the_script_reads_files_in_order(tmp_path: Path) -> None:
    """Run here for real, with all paths below a folder."""
    folder = tmp_path / "etc/cloud/cloud.cfg.d"
    folder.mkdir(parents=True)
    (folder / "90_dpkg.cfg").write_text("apt: {primary: []}\n")
    (folder / "05_logging.cfg").write_text("apt: {conf: x}\n")
    (folder / "README").write_text("no settings")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/curtin-install-cfg.yaml").write_text("ca-certs: {trusted: [x]}\n")
    (tmp_path / "etc/os-release").write_text('ID=ubuntu\nVERSION_ID="22.04"\n')
    text = inherit._SCRIPT
    for path in ("/etc/", "/var/lib", "/root"):
        text = text.replace(f" {path}", f" {tmp_path}{path}")
    done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True)
    base, *lines = done.stdout.splitlines()
    assert base == "ubuntu@22.04"
    assert [line.split()[0] for line in lines] == ["05_logging.cfg", "90_dpkg.cfg", "curtin-install-cfg.yaml"]
    assert inherit.parse(base64.b64decode(lines[1].split()[1])) == {"apt": {"primary": []}}


class Host:
    """The link to a host; its script printed something."""

    def __init__(self, told: str | Exception) -> None:
        self.told = told
        self.asked = 0

    async def run(self, script: str, *, timeout_s: float = 60.0) -> ScriptResult:
        """Tell it."""
        self.asked += 1
        if isinstance(self.told, Exception):
            raise self.told
        return ScriptResult(rc=0, stdout=self.told)


class Containers(PlayedRuntime):
    """A runtime whose containers boot with user data, and with one host."""

    def __init__(self, world: TestController, told: str | Exception) -> None:
        super().__init__(world)
        self.host_link = Host(told)

    def link(self, model: str, host: str) -> Any:
        """Return the one host."""
        return self.host_link

    def kind_of(self, machine: Any) -> str:
        """Containers are LXD's, which takes user data."""
        return "lxd"


def _told(base: str = "ubuntu@22.04", data: bytes = TEXT) -> str:
    return f"{base}\n90_dpkg.cfg {base64.b64encode(data).decode()}\n"


def _container(runtime: TestController, names: str) -> None:
    runtime.write(lambda tx: model_config.change(tx, {"container-inherit-properties": names}))
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    asyncio.run(worker(PlayedRuntime(runtime), "0"))
    target = Placement.parse("lxd:0")
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={}, container=target)


def _start(work: Containers) -> dict[str, Any]:
    asyncio.run(worker(work, "0/lxd/0"))
    return dict(work.cloud.asked[-1].user_data) if work.cloud.asked else {}


def test_a_container_takes_what_the_model_names(runtime: TestController) -> None:
    _container(runtime, "apt-primary, ca-certs")
    document = _start(Containers(runtime, _told()))
    assert document["apt"] == {"primary": APT["primary"]}
    assert document["ca-certs"] == {"trusted": ["CERT"]}
    assert document["users"][0]["name"] == "ubuntu"


@pytest.mark.parametrize("base", ["ubuntu@24.04", "debian@22.04", ""])
def test_a_container_of_another_base_takes_nothing(runtime: TestController, base: str) -> None:
    _container(runtime, "apt-primary")
    assert "apt" not in _start(Containers(runtime, _told(base)))


def test_without_the_key_no_host_is_asked(runtime: TestController) -> None:
    _container(runtime, "")
    work = Containers(runtime, _told())
    assert "apt" not in _start(work)
    assert work.host_link.asked == 0


def test_a_file_that_cannot_be_read_is_told(runtime: TestController) -> None:
    _container(runtime, "apt-primary")
    work = Containers(runtime, _told(data=b"a: ["))
    assert "apt" not in _start(work)
    text = "machine 0: containers inherit nothing of its 90_dpkg.cfg: "
    assert any(event.text.startswith(text) for event in work.events)


def test_a_silent_host_is_waited_for(runtime: TestController) -> None:
    _container(runtime, "apt-primary")
    work = Containers(runtime, Unreachable("machine 0 does not answer"))
    assert _start(work) == {}
    assert runtime.status(StatusKind.INSTANCE, "0/lxd/0") == (
        "allocating",
        "failed to start machine 0/lxd/0 (machine 0 does not answer), retrying in 10s (10 more attempts)",
    )
