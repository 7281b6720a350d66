"""One daemon for all tests on a real LXD.

`PUSHJUJU_TEST_LXD_DIR` names the folder of one that runs already and was prepared: for whoever works on
these tests.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import ModelInfo, Services, StartRequest
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.plugins.providers.lxd.provider import LxdProvider
from pushjuju.testing.provider_contract import MODEL
from pushjuju.testing.ssh import TestTransport, new_key
from tests.charms.client import PUSHJUJU, Client
from tests.lxd.cluster import Cluster
from tests.lxd.server import ALIAS, Lxd, root_file_system, run_folder, skip_reason

CACHE = Path(os.environ.get("PUSHJUJU_CACHE") or "/var/cache/pushjuju")

UBUNTU = "juju/ubuntu@24.04/amd64"  # what the charm of ops asks for; the image behind it is Debian's


@pytest.fixture(scope="session")
def lxd() -> Iterator[Lxd]:
    """A daemon for all; says why where none can run."""
    if running := os.environ.get("PUSHJUJU_TEST_LXD_DIR"):
        yield Lxd.at(Path(running))
        return
    if skip_reason():
        pytest.skip(skip_reason())
    with run_folder() as folder:
        server = Lxd(folder / "alone")
        server.start()
        server.prepare(root_file_system(CACHE))
        yield server
        server.close()


@pytest.fixture(scope="session")
def cluster(lxd: Lxd) -> Iterator[Cluster]:
    """Two more daemons that are one server, on the bridge of the first."""
    made = Cluster(lxd.folder.parents[1])
    made.start(root_file_system(CACHE))
    yield made
    made.close()


class LxdBench:
    """One controller."""

    def __init__(self, lxd: Lxd, folder: Path) -> None:
        self._lxd, self._folder = lxd, folder
        self._public = new_key(folder / "id")
        self._ssh = TestTransport(folder / "id")
        self._hosts = 0

    def open(self, model_uuid: str = MODEL) -> LxdProvider:
        return LxdProvider(
            cloud=CloudSpec(name="localhost", type="lxd", endpoint=str(self._lxd.socket)),
            credential=Credential(),
            model=ModelInfo(uuid=model_uuid, name="test", controller_uuid="c"),
            config={},
            services=Services(data_dir=self._folder),
        )

    def request(self, machine_id: str, **changes: object) -> StartRequest:
        self._hosts += 1
        key = self._folder / f"host{self._hosts}"
        public = new_key(key)
        document = {
            "users": [
                {
                    "name": "ubuntu",
                    "shell": "/bin/bash",
                    "sudo": "ALL=(ALL) NOPASSWD:ALL",
                    "ssh_authorized_keys": [self._public],
                }
            ],
            "ssh_deletekeys": True,
            "ssh_keys": {"ed25519_private": key.read_text(), "ed25519_public": public},
        }
        wanted: dict[str, object] = {
            "machine_id": machine_id,
            "base": Base.parse("debian@12"),
            "authorized_keys": (self._public,),
            "user_data": document,
            "host_keys": (public,),
            "tags": {"juju-units-deployed": "web/0", "owner": "me"},
        }
        return StartRequest(**{**wanted, **changes})  # type: ignore[arg-type]

    async def run(self, target: SSHTarget, script: str) -> ScriptResult:
        return await self._ssh.wait_for(target, script, within_s=120)

    async def leftovers(self) -> list[str]:
        return self._lxd.names()


@pytest.fixture
async def bench(lxd: Lxd, tmp_path: Path) -> AsyncIterator[LxdBench]:
    bench = LxdBench(lxd, tmp_path)
    yield bench
    await bench.open().destroy_model()
    assert await bench.leftovers() == []


@contextlib.contextmanager
def person(server: Lxd, folder: Path) -> Iterator[Client]:
    """Give somebody a controller on a server; her models go at the end."""
    (folder / "home" / "bin").mkdir(parents=True)
    (folder / "home" / "bin" / "juju").symlink_to(PUSHJUJU)
    made = Client(folder / "data", folder / "home")
    made.environ["LXD_SOCKET"] = str(server.socket)
    made.run("bootstrap", "localhost", "lxd", "--model-default", "mode=")
    try:
        yield made
    finally:
        words = ("destroy-controller", "lxd", "--no-prompt", "--destroy-all-models", "--force", "--no-wait")
        made.run(*words, limit=600)
        assert server.names() == []


@pytest.fixture
def ubuntu(lxd: Lxd) -> Iterator[None]:
    """An image for the base that the charm of ops asks for."""
    (image,) = json.loads(lxd.command("lxc", "image", "list", ALIAS, "--format", "json"))
    lxd.command("lxc", "image", "alias", "create", UBUNTU, image["fingerprint"])
    yield
    lxd.command("lxc", "image", "alias", "delete", UBUNTU)
