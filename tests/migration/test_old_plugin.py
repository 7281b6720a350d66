"""A plugin that imports from the addresses of the commit before the work does all of its work today."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.work import drive
from pushjuju.plugins.manager import PluginHost
from pushjuju.runner.push.packer import pack
from pushjuju.runner.remote import toolkit
from pushjuju.store.rows.records import Machine
from pushjuju.workers.driver import Settled
from pushjuju.workers.runtime import Runtime
from tests.world.charms import Charms
from tests.world.commandline import call, ok
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine
from tests.world.runtime import PlayedRuntime, PlayedSession
from tests.world.runtime import drive as work

PLUGIN = Path(__file__).parent / "old_plugin"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of `sys.path` with the plugin, as pip installs it."""
    folder = tmp_path / "site"
    (folder / "old_sky-1.0.dist-info").mkdir(parents=True)
    (folder / "old_sky-1.0.dist-info/entry_points.txt").write_text("[pushjuju]\nold-sky = old_sky\n")
    for path in PLUGIN.glob("*.py"):
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in ("old_sky", "old_sky_tools", "pushjuju.core.placement"):
        sys.modules.pop(name, None)


def said(site: Path) -> list[str]:
    """Load the plugin; return what Python warns of in it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        host = PluginHost(environ={}, warn=pytest.fail, path=[str(site)])
        assert "sky" in {item.name for item in host.provider_types()}
    assert {(item.filename, item.category) for item in caught} <= {(f"{site}/old_sky.py", DeprecationWarning)}
    return [str(item.message) for item in caught]


def test_each_old_address_is_a_warning_once(site: Path) -> None:
    found = said(site)
    assert len(found) == len(set(found)) == 22
    assert "import pushjuju.core.model.placement in place of pushjuju.core.placement" in found
    assert "import SourceKind from pushjuju.plugins.api: pushjuju.plugins.api.sources" in found
    assert "import CloudSpec from pushjuju.plugins.api: pushjuju.plugins.api.clouds" in found
    assert "import Zone from pushjuju.plugins.api: pushjuju.plugins.api.providers" in found
    assert said(site) == []


def test_who_uses_the_plugin_sees_no_warning(site: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pushjuju.cli", "plugins"]
    env = {"PYTHONPATH": f"{site}:{Path(__file__).parents[2]}", "HOME": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "old-sky" in done.stdout


@pytest.mark.parametrize(
    ("name", "now"),
    [
        *((name, f"model.{name}")
          for name in ("offerurl", "placement", "ports", "secrets", "series", "tasks", "zones")),
        ("life", "status"),
        ("model.life", "status"),
        ("channel", "base"),
    ],
)  # fmt: skip
def test_a_module_of_core_has_its_old_address(name: str, now: str) -> None:
    old = f"pushjuju.core.{name}"
    with pytest.warns(DeprecationWarning, match=f"import pushjuju.core.{now} in place of {old}"):
        module = importlib.import_module(old)
    assert module is importlib.import_module(f"pushjuju.core.{now}")
    del sys.modules[old]


class SkyRuntime(PlayedRuntime):
    """A runtime with the providers, firewalls and storage of the plugin; machines answer in this process."""

    provider = Runtime.provider  # type: ignore[assignment]
    firewall = Runtime.firewall  # type: ignore[assignment]

    async def session(self, machine: Machine) -> Any:
        """Return a session to the machine that the plugin started."""
        return PlayedSession(self.world.played_machines.setdefault(machine.id, PlayedMachine(id=machine.id)))


def settled(world: TestController) -> Settled:
    """Work the model to rest, now."""
    world.clock.advance((datetime.now(UTC) - world.clock.now()).total_seconds())
    return asyncio.run(work(world, SkyRuntime(world)))


@pytest.mark.filterwarnings("ignore:import .*:DeprecationWarning")
@pytest.mark.usefixtures("site")
def test_a_deploy_on_the_cloud_of_the_plugin(
    tmp_path: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "background", lambda *_: None)

    def run(line: str) -> str:
        return ok(call(tmp_path, *line.split(), env={"PUSHJUJU_WAIT": "0"}))

    (tmp_path / "above.yaml").write_text("clouds: {above: {type: sky, zones: [east, west]}}\n")
    run(f"add-cloud --client above {tmp_path}/above.yaml")
    run("bootstrap above home")
    run("add-model shop")
    run("deploy sky:rain --storage puddle=cloudlet,10M --constraints zones=west")
    world = TestController.at(tmp_path, packs)
    assert not settled(world).problems
    assert world.of("rain/0")[:2] == ["puddle-storage-attached", "install"]
    assert "west" in run("show-machine 0")
    assert "cloudlet" in run("storage")
    run("remove-application rain --destroy-storage --no-prompt")
    assert not settled(world).problems
    assert world.machine_ids() == []


def test_the_hook_tool_of_the_plugin_runs(site: Path) -> None:
    module = importlib.import_module("old_sky_tools")
    assert pack([("old_sky_tools", site / "old_sky_tools.py")]).digest
    code, out, err = toolkit.run_tool(
        module.TOOLS, "weather-get", ["Bergen", "--format", "json"], {"unit": "web/0"}, {},
        stdin=bytes, cwd="/", emit=lambda _: None, live=None, reads={},
    )  # fmt: skip
    assert (code, out, err) == (0, b'{"loud":false,"place":"Bergen","unit":"web/0"}\n', b"")
