"""Two controller processes and five people at one model: every change is kept, and nobody fails."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.work.test_followers import WITHIN_S, Start, start, wait_for  # noqa: F401

PEOPLE = 5
EACH = 40  # settings of one person, one after the other: 200 of one application in all
PERSON = """
import io, os, sys
from pushjuju.cli.app.main import run
for number in range(int(sys.argv[2])):
    words = ["config", "agent", f"{sys.argv[1]}={number}"]
    status = run(words, stdin=io.StringIO(), stdout=sys.stdout, stderr=sys.stderr, env=os.environ)
    assert status == 0, status
"""


def _charm(folder: Path) -> Path:
    """Write a charm that needs no machine: a subordinate without a principal."""
    folder.mkdir()
    (folder / "metadata.yaml").write_text(
        "name: agent\nsummary: s\ndescription: d\nsubordinate: true\n"
        "requires: {host: {interface: juju-info, scope: container}}\n"
    )
    options = "".join(f"  of-{number}: {{type: int, default: -1}}\n" for number in range(PEOPLE))
    (folder / "config.yaml").write_text(f"options:\n{options}")
    base = "{name: ubuntu, channel: '24.04', architectures: [amd64, arm64]}"
    (folder / "manifest.yaml").write_text(f"bases: [{base}]\n")
    (folder / "dispatch").write_text("#!/bin/sh\n")
    (folder / "dispatch").chmod(0o755)
    return folder


@pytest.mark.timeout(400)
def test_two_controllers_and_five_commands_at_once_lose_no_setting(start: Start, tmp_path: Path) -> None:  # noqa: F811
    assert start("deploy", str(_charm(tmp_path / "agent"))).wait(WITHIN_S) == 0
    serving = [start("controller", "run", "-c", "lab") for _ in range(2)]
    env = {"PUSHJUJU_DATA": str(tmp_path / "data"), "PUSHJUJU_WAIT": "0", "HOME": str(tmp_path)}
    people = [
        subprocess.Popen(
            [sys.executable, "-c", PERSON, f"of-{number}", str(EACH)],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(PEOPLE)
    ]  # fmt: skip
    ended = [(*person.communicate(timeout=3 * WITHIN_S), person.returncode) for person in people]
    assert [code for *_, code in ended] == [0] * PEOPLE, ended
    assert start("config", "agent", "--format", "json").wait(WITHIN_S) == 0
    shown = json.loads((tmp_path / "4.out").read_text())["settings"]
    assert {name: shown[name]["value"] for name in shown if name.startswith("of-")} == {
        f"of-{number}": EACH - 1 for number in range(PEOPLE)
    }
    assert [controller.poll() for controller in serving] == [None, None]
    for controller in serving:
        controller.send_signal(signal.SIGTERM)
    assert [controller.wait(WITHIN_S) for controller in serving] == [0, 0]
    assert "Traceback" not in "".join((tmp_path / f"{number}.err").read_text() for number in (2, 3))
