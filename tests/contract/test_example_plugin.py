"""The example plugin of contrib: loaded as an installed package is, and held to the contract."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services, StartRequest
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.plugins.manager import PluginHost
from pushjuju.testing.machines import LocalCloud
from pushjuju.testing.provider_contract import MODEL, ProviderContract
from tests.world import how_to

PAGE = "write-a-provider.md"
SOURCE = Path(__file__).parents[2] / "contrib" / "plugins" / "pushjuju-pool"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin, installed by pip from its own pyproject."""
    folder = tmp_path_factory.mktemp("site")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    copy = tmp_path_factory.mktemp("source") / "pushjuju-pool"
    shutil.copytree(SOURCE, copy)
    subprocess.run([*pip, "--target", folder, copy], check=True, env={**os.environ, "PIP_NO_INPUT": "1"})
    return folder


@pytest.fixture
def host(site: Path, monkeypatch: pytest.MonkeyPatch) -> PluginHost:
    """A plugin host that finds the installed plugin."""
    monkeypatch.syspath_prepend(site)
    return PluginHost(environ={}, warn=pytest.fail, path=[str(site)])


@dataclass(frozen=True)
class PoolBench:
    """Servers of the local provider, listed in a pool."""

    host: PluginHost
    cloud: LocalCloud
    servers: tuple[str, ...]
    data_dir: Path

    def open(self, model_uuid: str = MODEL) -> Provider:
        zones = {server: f"rack-{number % 2}" for number, server in enumerate(self.servers)}
        config = {"servers": list(self.servers), "base": self.cloud.base.display, "zones": zones}
        return self.host.open_provider(
            cloud=CloudSpec(name="rack", type="pool", config=config),
            model=ModelInfo(uuid=model_uuid, name="test", controller_uuid="c"),
            services=Services(data_dir=self.data_dir),
        )

    def request(self, machine_id: str) -> StartRequest:
        return self.cloud.request(machine_id)

    async def run(self, target: SSHTarget, script: str) -> ScriptResult:
        return await self.cloud.ssh.wait_for(target, script)

    async def leftovers(self) -> list[str]:
        return []  # servers of a pool stay as they are


@pytest.fixture(scope="module")
def servers(local_cloud: LocalCloud) -> Iterator[tuple[str, ...]]:
    data_dir = local_cloud.data_dir()

    async def start() -> tuple[str, ...]:
        provider = local_cloud.provider(data_dir)
        started = [await provider.start(local_cloud.request(number)) for number in "012"]
        return tuple(item.instance.addresses[0].value for item in started)

    yield asyncio.run(start())
    asyncio.run(local_cloud.provider(data_dir).destroy_model())


@pytest.fixture
def bench(host: PluginHost, local_cloud: LocalCloud, servers: tuple[str, ...]) -> PoolBench:
    return PoolBench(host, local_cloud, servers, local_cloud.data_dir())


@pytest.mark.machine
class TestPoolProvider(ProviderContract):
    """The contract."""


@pytest.mark.machine
async def test_a_pool_runs_empty(bench: PoolBench) -> None:
    """And a server that is given back can be given out again, also by name."""
    provider = bench.open()
    for number in "012":
        await provider.start(bench.request(number))
    with pytest.raises(ProviderError, match="none of the 3 servers is free"):
        await provider.start(bench.request("3"))
    await provider.stop([bench.servers[1]])
    assert (await provider.start(bench.request("3"))).instance.id == bench.servers[1]


def test_the_plugin_is_listed(host: PluginHost, tmp_path: Path) -> None:
    """Name, version, source; a wrong cloud is refused when it is opened."""
    (info,) = [item for item in host.list_plugins() if item.source != "built-in"]
    assert (info.name, info.version, info.error) == ("pool", "0.1.0", "")
    assert info.source.replace("-", "_") == "pushjuju_pool"
    assert info.hooks == ("pushjuju_open_provider", "pushjuju_provider_types")
    with pytest.raises(NotValid, match="cloud rack needs `servers` and `base`"):
        host.open_provider(
            cloud=CloudSpec(name="rack", type="pool"),
            model=ModelInfo(uuid=MODEL, name="test", controller_uuid="c"),
            services=Services(data_dir=tmp_path),
        )


@pytest.mark.machine
def test_the_page_about_providers(site: Path, tmp_path: Path) -> None:
    """Its test file holds the plugin to the contract; the entry point on the page is that of the plugin."""
    (tmp_path / "test_pool.py").write_text(how_to.block(PAGE, "python"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    shell = how_to.Shell(tmp_path / "home", **{**os.environ, "PYTHONPATH": str(site)})

    def run(line: str) -> tuple[int, str]:
        if not line.startswith("pip install"):
            return shell(line)
        tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_pool.py"]
        return shell(f"cd {tmp_path}; {shlex.join(tests)}")

    shown = how_to.play(PAGE, run)
    assert "\npool " in shown["pushjuju plugins"]
    assert how_to.block(PAGE, "toml") in (SOURCE / "pyproject.toml").read_text()
