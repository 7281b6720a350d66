"""The integration test of `ops.hookcmds`, as its authors wrote it, with our program for juju's.

Every hook tool that a machine charm has is called by it in a real charm. Charm and tests come unmodified from
the source distribution of ops; they run in a process of their own, so that nothing of theirs meets ours.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.charms import ops_fixtures
from tests.charms.client import PUSHJUJU, REPOSITORY, Client
from tests.charms.recorder import charm
from tests.charms_tools.packing import ops_charm, ops_source

pytestmark = pytest.mark.machine
SKIPPED: dict[str, str] = {}  # test -> why; none: nothing of it needs Kubernetes or Juju 4
# test -> what it says: `/proc/uptime` of a `local` machine is its host's, so its reboot is not seen there.
UNSEEN = {"test_juju_reboot_queues_reboot": "boot time unchanged"}
LIMIT_S = 900.0


@pytest.mark.timeout(LIMIT_S)
def test_the_hookcmds_tests_of_ops(client: Client, tmp_path: Path) -> None:
    client.run("bootstrap", "local", "here", "--model-default", "mode=")
    outcomes = _run(client, tmp_path, "test_hookcmds")
    assert {name: why for name, (word, why) in outcomes.items() if word == "skipped"} == SKIPPED
    failed = {name: why for name, (word, why) in outcomes.items() if word not in ("passed", "skipped")}
    for name, text in UNSEEN.items():
        assert text in failed.pop(name)
    assert not failed, "\n\n".join(f"{name}: {why}" for name, why in failed.items())
    assert len(outcomes) > 30


def _run(client: Client, work: Path, name: str) -> dict[str, tuple[str, str]]:
    """Run a file of upstream's integration tests; return test -> outcome and its text."""
    folder = work / "upstream"
    folder.mkdir()
    shutil.copy(ops_source() / "test" / "integration" / f"{name}.py", folder)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (work / "bin").mkdir()
    (work / "bin" / "juju").symlink_to(PUSHJUJU)
    environ = {
        **client.environ,
        "PUSHJUJU_WAIT": "0",
        "PATH": f"{work / 'bin'}:{PUSHJUJU.parent}:{client.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
        ops_fixtures.CHARM: str(ops_charm(name)),
        ops_fixtures.COUNTERPART: str(charm(work, "any-charm")),
    }
    own = ["-p", "tests.charms.ops_fixtures", "-p", "no:xdist", "-c", "pytest.ini", "--rootdir", "."]
    argv = [sys.executable, "-m", "pytest", "-q", *own, "--junitxml", str(work / "results.xml"), f"{name}.py"]
    done = subprocess.run(
        argv, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return dict(map(_outcome, ElementTree.parse(work / "results.xml").iter("testcase")))


def _outcome(case: ElementTree.Element) -> tuple[str, tuple[str, str]]:
    for word in ("failure", "error", "skipped"):
        found = case.find(word)
        if found is not None:
            return case.get("name", ""), (word, f"{found.get('message')}\n{found.text or ''}"[-3000:])
    return case.get("name", ""), ("passed", "")
