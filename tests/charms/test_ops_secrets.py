"""The integration test of `ops` for secrets, as its authors wrote it, with our program for juju's.

Charm and test come unmodified from the source distribution of ops; only the fixtures are ours
(`ops_secrets.py`). Nothing of it is skipped on machines with Juju 3.6.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.charms.client import REPOSITORY, Client
from tests.charms.test_jubilant import controller  # noqa: F401
from tests.charms_tools.packing import cache_dir, ops_charm, ops_source

pytestmark = pytest.mark.machine
TESTS = 16


def test_the_secrets_test_of_ops(controller: Client) -> None:  # noqa: F811
    """Every test of it passes, on two machines."""
    source = ops_source()
    paths = [source, cache_dir() / f"packages-{source.name.partition('-')[2]}", REPOSITORY]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "OPS_SECRETS_CHARM": str(ops_charm("test_secrets")),
    }
    argv = [
        *(sys.executable, "-m", "pytest", "--noconftest", "-p", "tests.charms.ops_secrets"),
        *("-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={source}", "-q", "-rA", "--tb=short"),
        str(source / "test" / "integration" / "test_secrets.py"),
    ]
    done = subprocess.run(
        argv, cwd=controller.work, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    passed = re.search(r"(\d+) passed(?:, (.*))? in", done.stdout)
    assert passed, done.stdout
    assert passed[1] == str(TESTS), done.stdout
    assert not re.search(r"skipped|xfail|failed", passed[2] or ""), done.stdout
