"""README's commands on a computer that has nothing but Python, git and certificates.

Nothing that the host of these tests happens to have can stand in for what the commands must install.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pushjuju.testing.machines import LocalCloud
from tests.fresh.bare import Bare, build_root, running

pytestmark = pytest.mark.machine

DEV = "contrib/dev.py"
# What the tests call on this host, and a bare one lacks.
_LACKING = ("ip", "nft", "ssh", "systemd-nspawn", "mmdebstrap", "tmux", "man", "sshd")
# Tests that are skipped where a tool is missing.
_NEEDY = (
    "tests/unit/cli/test_publishing.py",
    "tests/unit/cli/test_completing.py",
    "tests/unit/workers/test_userdata.py",
    "tests/unit/state/test_datadir.py",
    "tests/ssh/test_debugging.py",
    "tests/ssh/test_jumps.py",
)


@pytest.fixture(scope="module")
def template(local_cloud: LocalCloud) -> Path:
    """A bare root file system, to be copied."""
    root = local_cloud.root / "bare"
    build_root(root)
    return root


@contextmanager
def _bare(cloud: LocalCloud, template: Path, user: str) -> Iterator[Bare]:
    folder = cloud.root / f"bare-{user}"
    bases = cloud.root / "bases"
    bases.mkdir(exist_ok=True)
    machines = folder / "home/pushjuju/state/controllers"
    try:
        with running(template, folder, user=user, bases=bases) as bare:
            yield bare
    finally:
        for found in machines.glob("*/machines"):
            cloud.sweep_data_dir(found)
            assert cloud.leftovers(found) == []


def _demo(bare: Bare) -> None:
    shown = bare.run("python3", DEV, "demo")
    assert "==> a machine runs the charm" in shown
    status = json.loads(bare.run(".venv/bin/pushjuju", "status", "--format", "json"))
    (unit,) = status["applications"]["hello-page"]["units"].values()
    assert unit["workload-status"]["current"] == "active"
    assert unit["juju-status"]["current"] == "idle"
    bare.run(".venv/bin/pushjuju", "destroy-model", "default", "--no-prompt")


def test_the_first_command_of_the_readme_ends_with_an_active_unit(
    local_cloud: LocalCloud, template: Path
) -> None:
    with _bare(local_cloud, template, "root") as bare:
        assert [name for name in _LACKING if bare.has(name)] == []
        _demo(bare)


def test_a_user_with_sudo_gets_all_that_demo_and_tests_need(local_cloud: LocalCloud, template: Path) -> None:
    """The test command installs what tests call: none is skipped because a tool is missing."""
    with _bare(local_cloud, template, "ann") as bare:
        shown = bare.run("python3", DEV, "test", *_NEEDY)
        assert "==> passed" in shown
        assert "SKIPPED" not in shown
        assert [name for name in _LACKING if not bare.has(name)] == []
        _demo(bare)
