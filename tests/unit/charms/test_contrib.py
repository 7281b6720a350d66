"""The example charms of `contrib/charms`: read and packed without a warning; their hooks run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pushjuju.charms.archive.pack import pack
from pushjuju.charms.archive.reader import read_charm
from pushjuju.charms.format.config import OptionType
from pushjuju.charms.values.hooks import hook_names
from tests.charms_tools.unpacking import unpack
from tests.world import CHECKOUT

CONTRIB = CHECKOUT / "contrib/charms"
HELLO = CONTRIB / "hello-page"

# Stands for every hook tool and for systemctl: notes the call, answers what a lone leader would hear.
TOOL = r"""#!/bin/bash
name=$(basename "$0")
echo "$name $*" >> "$CALLS"
case "$name $1" in
  "config-get greeting") echo "Hi <&> there" ;;
  "config-get port") echo "${PORT:-8080}" ;;
  "config-get refresh") echo 2.5 ;;
  "config-get banner") echo True ;;
  "config-get token") echo "$TOKEN" ;;
  "secret-get "*) echo '{"user":"u","pass,\"word":"hidden"}' ;;
  "relation-ids cluster") echo cluster:0 ;;
  "relation-list -r") echo hello-page/1 ;;
  "relation-get -r")
    case "$3" in hostname) echo 10.0.0.2 ;; port) echo 8080 ;; --app) echo hello-page/0 ;; esac ;;
  "is-leader "*) echo True ;;
  "unit-get "*) echo 10.0.0.1 ;;
  "state-get "*) cat "$CALLS.state" 2>/dev/null || true ;;
  "state-set "*) echo "${1#port=}" > "$CALLS.state" ;;
  "action-get name") echo Ada ;;
  "action-get times") echo 2 ;;
esac
"""
TOOLS = ("config-get", "secret-get", "relation-ids", "relation-list", "relation-get", "relation-set",
         "is-leader", "unit-get", "state-get", "state-set", "status-set", "juju-log", "open-port",
         "close-port", "action-get", "action-set", "action-log", "action-fail",
         "application-version-set", "systemctl")  # fmt: skip


class Machine:
    """A charm directory with stand-ins for the hook tools."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.charm = root / "charm"
        unpack(pack(HELLO, root / "c.charm").path, self.charm)
        (root / "bin").mkdir()
        for name in TOOLS:
            (root / "bin" / name).write_text(TOOL)
            (root / "bin" / name).chmod(0o755)

    def run(self, path: str, **env: str) -> list[str]:
        """Run a hook or action; return the tool calls."""
        calls = self.root / "calls"
        calls.unlink(missing_ok=True)
        done = subprocess.run(
            [str(self.charm / path)],
            cwd=self.charm,
            capture_output=True,
            text=True,
            check=False,
            env={
                "PATH": f"{self.root}/bin:{os.environ['PATH']}",
                "CALLS": str(calls),
                "HELLO_PREFIX": str(self.root / "machine"),
                "JUJU_UNIT_NAME": "hello-page/0",
                "JUJU_HOOK_NAME": Path(path).name,
                **env,
            },
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return calls.read_text().splitlines() if calls.exists() else []

    @property
    def page(self) -> Path:
        return self.root / "machine/srv/page-hello-page-0/index.html"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    "path", sorted(path for path in CONTRIB.iterdir() if path.is_dir()), ids=lambda path: path.name
)
def test_read_and_packed_without_warnings(path: Path, tmp_path: Path) -> None:
    assert read_charm(path).charm.warnings == ()
    assert pack(path, tmp_path / "c.charm").charm.warnings == ()
    assert (path / "README.md").is_file()


def test_hello_page_has_a_bit_of_everything() -> None:
    charm = read_charm(HELLO).charm
    assert {option.type for option in charm.config.values()} == set(OptionType)
    assert {path.name for path in (HELLO / "hooks").iterdir()} - {"hook"} == hook_names(charm.meta)
    assert {path.name for path in (HELLO / "actions").iterdir()} == set(charm.actions)


def test_every_hook_runs(machine: Machine) -> None:
    for name in sorted(path.name for path in (HELLO / "hooks").iterdir() if path.name != "hook"):
        machine.run(f"hooks/{name}")


def test_life_of_a_unit(machine: Machine) -> None:
    machine.run("hooks/install")
    calls = machine.run("hooks/config-changed")
    assert "open-port 8080/tcp" in calls
    assert "status-set active serving on port 8080" in calls
    assert "relation-set -r cluster:0 --app leader=hello-page/0" in calls
    text = machine.page.read_text()
    assert "Hi &lt;&amp;&gt; there, I am hello-page/0" in text
    assert "<li>hello-page/1 at 10.0.0.2:8080</li>" in text
    calls = machine.run("hooks/config-changed", PORT="81")
    assert "close-port 8080/tcp" in calls
    assert "open-port 81/tcp" in calls
    assert "systemctl restart page-hello-page-0" in calls
    assert "systemctl start page-hello-page-0" in machine.run("hooks/config-changed", PORT="81")
    assert "status-set blocked port 0 is not between 1 and 65535" in machine.run(
        "hooks/config-changed", PORT="0"
    )
    machine.run("hooks/stop")
    machine.run("hooks/remove")
    assert [path for path in (machine.root / "machine").rglob("*") if path.is_file()] == []


def test_secret_values_are_never_shown(machine: Machine) -> None:
    machine.run("hooks/config-changed", TOKEN="secret:x")
    assert "<li>user</li>" in machine.page.read_text()
    assert "hidden" not in machine.page.read_text()


def test_actions(machine: Machine) -> None:
    calls = machine.run("actions/greet")
    assert calls[-1] == "action-set message=Hi <&> there, Ada! Hi <&> there, Ada! unit=hello-page/0"
    assert machine.run("actions/show-page") == ["action-fail there is no page yet"]
    machine.run("hooks/install")
    assert machine.run("actions/show-page")[0].startswith("action-set page=<!DOCTYPE html>")
