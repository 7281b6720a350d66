"""How-tos whose commands work on a real machine, and that no test of their subject plays."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.charms.client import HELLO, Client
from tests.world import how_to

pytestmark = pytest.mark.machine
_CLOUDS = "clouds: {stack: {type: openstack, endpoint: 'https://cloud.test', regions: {one: {}}}}"


def test_the_page_about_scripts_for_juju(client: Client, tmp_path: Path) -> None:
    """A script calls `juju`, which returns at once and prints what Juju prints."""
    client.run("bootstrap", "local", "here", "--add-model", "shop", "--model-default", "mode=")
    shell = how_to.Shell(tmp_path / "home", **client.environ)
    shell.environ["PATH"] = f"{shell.home}/bin:{shell.environ['PATH']}"
    for folder in ("bin", ".local/share/juju"):
        (shell.home / folder).mkdir(parents=True)
    (shell.home / ".local/share/juju/clouds.yaml").write_text(_CLOUDS)
    shutil.copytree(HELLO, shell.home / "charm", symlinks=True)
    line = "OUT=$(juju deploy ./charm 2>&1)"
    shown = how_to.play(
        "use-juju-scripts.md", lambda line: shell(f'{line}; CODE=$?; printf %s "$OUT"; exit $CODE')
    )
    assert shell.environ["PUSHJUJU_WAIT"] == "0"
    said = 'ocated local charm "hello-page", revision 0'
    assert shown[line].startswith(f"L{said}\nDeploying")
    assert shown[line].count("\n") == 1  # no progress
    assert "stack " in shell("juju clouds --client")[1]
    assert shell("juju deploy --help")[1].startswith("Usage: juju deploy ")
    code, said = shell("juju wait-for application hello-page --timeout 120s")
    assert not code, said
    assert client.workload("hello-page/0")[0] == "active"
