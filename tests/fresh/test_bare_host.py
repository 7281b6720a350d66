"""README's commands on a computer that has nothing but Python, git and certificates.

Nothing that the host of these tests happens to have can stand in for what the commands must install.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pushjuju.testing.machines import LocalCloud
from tests.fresh.bare import Bare, Memory, memory, running
from tests.world import console

pytestmark = pytest.mark.machine

DEV = "contrib/dev.py"
TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
_ADDRESS = "10.71.214.2"  # in the tutorial
# What the tests call on this host, and a bare one lacks.
_LACKING = ("ip", "nft", "ssh", "systemd-nspawn", "mmdebstrap", "tmux", "man", "sshd")
# Tests that are skipped where a tool is missing: man, shells and tmux, cloud-init, ssh-keygen, tmux, ssh.
_NEEDY = (
    "tests/unit/cli/commands/program/test_publishing.py::test_man_takes_the_page",
    "tests/unit/cli/complete/test_completing.py::test_a_real_shell_completes",
    "tests/unit/workers/provision/test_userdata.py::test_every_form_is_a_valid_document_for_cloud_init",
    "tests/unit/store/test_datadir.py::test_ssh_reads_the_key",
    "tests/ssh/test_debugging.py::test_a_second_session_is_refused",
    "tests/ssh/test_jumps.py::test_ssh_and_scp_go_through_the_models_jump_host",
)


@pytest.fixture(scope="module")
def shared(local_cloud: LocalCloud) -> Iterator[Memory]:
    """What the bare computers share: a root file system, and roots of machines that one of them made."""
    with memory(local_cloud.root / "memory") as made:
        yield made


@contextmanager
def _bare(cloud: LocalCloud, shared: Memory, user: str, name: str) -> Iterator[Bare]:
    folder = cloud.root / f"bare-{name}"
    machines = folder / "home/pushjuju/state/controllers"
    try:
        with running(shared, folder, user=user) as bare:
            yield bare
    finally:
        for found in machines.glob("*/machines"):
            cloud.sweep_data_dir(found)
            assert cloud.leftovers(found) == []


class _Shell:
    """Runs the tutorial's commands; its address becomes that of the machine."""

    def __init__(self, bare: Bare) -> None:
        self._bare = bare
        self._exports = ["set -e"]
        self._address = ""

    def __call__(self, command: str) -> tuple[int, str]:
        if command.startswith("export "):
            self._exports.append(command)
            return 0, ""
        if command.startswith("curl "):
            command = command.replace(_ADDRESS, self._machine())
        script = "\n".join([*self._exports, f"{{ {command}; }} 2>&1"])
        done = self._bare.tried("bash", "-c", script)
        return done.returncode, done.stdout

    def _machine(self) -> str:
        if not self._address:
            self._bare.run("apt-get", "install", "-q", "-y", "--no-install-recommends", "curl")
            status = json.loads(self._bare.run(".venv/bin/pushjuju", "status", "--format", "json"))
            (unit,) = status["applications"]["hello-page"]["units"].values()
            self._address = unit["public-address"]
        return self._address


def _demo(bare: Bare) -> None:
    shown = bare.run("python3", DEV, "demo")
    assert "==> a machine runs the charm" in shown
    status = json.loads(bare.run(".venv/bin/pushjuju", "status", "--format", "json"))
    (unit,) = status["applications"]["hello-page"]["units"].values()
    assert unit["workload-status"]["current"] == "active"
    assert unit["juju-status"]["current"] == "idle"
    bare.run(".venv/bin/pushjuju", "destroy-model", "default", "--no-prompt")


def test_the_tutorial_does_what_it_shows_from_its_first_command_on(
    local_cloud: LocalCloud, shared: Memory
) -> None:
    """The first command is that of the README, too."""
    with _bare(local_cloud, shared, "root", "tutorial") as bare:
        assert [name for name in _LACKING if bare.has(name)] == []
        console.play(TUTORIAL, _Shell(bare))


def _recorded_and_missing(package: Path, tree: Path) -> list[str]:
    """Return the files of pushjuju that pip recorded and the package does not have.

    Such a file was removed because it names this computer; then its recorded hash does so, too.
    """
    subprocess.run(["dpkg-deb", "-x", package, tree], check=True)
    (record,) = tree.glob("opt/pushjuju/lib/*/site-packages/pushjuju-*.dist-info/RECORD")
    names = [line.partition(",")[0] for line in record.read_text().splitlines()]
    return [name for name in names if not (record.parents[1] / name).exists()]


def _newer(package: Path, folder: Path) -> Path:
    """Return the same package with a higher version, packed in haste."""
    tree, made = folder / "newer", folder / "pushjuju-newer.deb"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^Version: .*$", "Version: 9.0", control.read_text()))
    subprocess.run(["dpkg-deb", "-Zgzip", "-z1", "--build", tree, made], check=True, capture_output=True)
    return made


def test_the_packages_install_run_and_leave_nothing_behind(
    local_cloud: LocalCloud, shared: Memory, tmp_path: Path
) -> None:
    """The Debian package with apt, also a newer one and none; the wheel with pipx and uv."""
    for build in (["contrib/deb.py", tmp_path], ["-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]):
        subprocess.run([sys.executable, *build], cwd=TUTORIAL.parents[1], check=True, capture_output=True)
    (package,), (wheel,) = tmp_path.glob("*.deb"), tmp_path.glob("*.whl")
    assert _recorded_and_missing(package, tmp_path / "tree") == []
    newer = _newer(package, tmp_path)
    install = ("apt-get", "install", "-q", "-y", "--no-install-recommends")
    with _bare(local_cloud, shared, "root", "packages") as bare:
        for file in (package, newer, wheel):
            shutil.copy(file, bare.seen(Path("/opt")))
        files = ("find", "/opt", "/usr", "/etc", "/lib", "/var", "-xdev", "-path", "*pushjuju*")
        before = sorted(bare.run(*files).splitlines())
        bare.run("apt-get", "update", "-q")
        bare.run(*install, f"/opt/{package.name}")
        for program in ("pushjuju", "/opt/pushjuju/bin/pushjuju"):
            assert bare.run(program, "version").strip()
        bare.run("pushjuju", "bootstrap", "manual", "home", "--add-model", "web")
        assert "web" in bare.run("pushjuju", "status")
        installed = sorted(bare.run(*files).splitlines())
        bare.run(*install, f"/opt/{newer.name}")
        assert "9.0" in bare.run("dpkg-query", "-W", "pushjuju")
        assert sorted(bare.run(*files).splitlines()) == installed
        assert "web" in bare.run("pushjuju", "status")
        bare.run("apt-get", "remove", "-q", "-y", "pushjuju")
        bare.run("apt-get", "purge", "-q", "-y", "pushjuju")
        assert sorted(bare.run(*files).splitlines()) == before
        bare.run(*install, "pipx", "lintian")
        bare.run("lintian", "--fail-on", "error", f"/opt/{package.name}")
        programs = f"{bare.home}/.local/bin"
        bare.run("pipx", "install", f"/opt/{wheel.name}")
        assert "web" in bare.run(f"{programs}/pushjuju", "status")
        bare.run("pipx", "uninstall", "pushjuju")
        bare.run("pipx", "install", "uv")
        bare.run(f"{programs}/uv", "tool", "install", f"/opt/{wheel.name}")
        assert "web" in bare.run(f"{programs}/pushjuju", "status")


def test_a_user_with_sudo_gets_all_that_demo_and_tests_need(local_cloud: LocalCloud, shared: Memory) -> None:
    """The test command installs what tests call: none is skipped because a tool is missing."""
    with _bare(local_cloud, shared, "ann", "ann") as bare:
        shown = bare.run("python3", DEV, "test", *_NEEDY)
        assert "==> passed" in shown
        assert "SKIPPED" not in shown
        assert [name for name in _LACKING if not bare.has(name)] == []
        _demo(bare)
