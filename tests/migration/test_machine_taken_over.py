"""Today's code takes over a machine with the runner of the commit before the work, during a hook."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.testing.machines import LocalCloud, local_cloud  # noqa: F401
from tests.migration.old_commit import CHARMS, CHECKOUT, Commands, Host, fetch, wait
from tests.waiting import paths_below

pytestmark = pytest.mark.machine
DEPLOYED = [
    "data-storage-attached",
    "install",
    "cluster-relation-created",
    "leader-elected",
    "config-changed",
]


@pytest.fixture
def home(local_cloud: LocalCloud) -> Iterator[Path]:  # noqa: F811
    """A folder for a data directory; its machines are gone at the end."""
    folder = local_cloud.data_dir()
    (folder / "page.txt").write_text("a page\n")
    yield folder
    local_cloud.sweep_data_dir(folder / "data/controllers/home/machines")


@pytest.fixture
def old(home: Path, tmp_path: Path) -> Commands:
    """The commands of the old commit, with web/0 deployed."""
    if reason := fetch(tmp_path):
        pytest.skip(reason)
    commands = Commands(tmp_path, home)
    commands("bootstrap", "local", "home")
    commands("add-model", "shop")
    storage = ("--storage", "data=rootfs,10M")
    commands("deploy", str(CHARMS / "web"), "--resource", "page=page.txt", *storage)
    return commands


@pytest.fixture
def new(home: Path) -> Commands:
    """The commands of today."""
    return Commands(CHECKOUT, home)


@pytest.mark.parametrize("attached", [False, True])
def test_the_hook_runs_once_and_the_next_ones_with_todays_runner(
    home: Path, old: Commands, new: Commands, *, attached: bool
) -> None:
    (host,) = Host.all(home)
    with old.start("config", "web", "title=held") as process:
        wait(lambda: host.held(2))
        process.kill()
    old_programs = programs(host)
    if not attached:
        host.let_go()
        wait(host.ended)
    with new.start("config", "web", "title=next", "port=81", stdout=subprocess.PIPE) as process:
        wait(lambda: programs(host) != old_programs)
        host.let_go()
        process.communicate()
    assert process.returncode == 0
    assert host.hooks() == [*DEPLOYED, "start", "config-changed", "config-changed"]
    assert host.journal() == {}
    ran = [(item["hook"], item["result"]) for item in json.loads(new("hooks", "--format", "json"))]
    assert ran[-2:] == [("config-changed", "ok"), ("config-changed", "ok")]
    assert "next with a page" in new("status")
    new("remove-application", "web", "--destroy-storage", "--no-prompt")
    assert Host.all(home) == []


def programs(host: Host) -> set[str]:
    """Return the runner programs on a machine."""
    every = paths_below(host.root / "var/lib/juju/pushjuju")
    return {path.name for path in every if re.fullmatch("[0-9a-f]{32}", path.name)}
