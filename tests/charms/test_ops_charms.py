"""Real ops charms: packed from their source trees, read, and started by the Python of this machine."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from pushjuju.charms.archive.reader import read_charm
from pushjuju.charms.values.model import Role
from pushjuju.charms.values.wire import from_wire, to_wire
from tests.charms_tools import packing
from tests.charms_tools.unpacking import unpack

# A hook tool that answers everything with nothing, and writes down what it was asked.
TOOL = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
case "$(basename "$0")" in
  is-leader) echo true ;;
  config-get|relation-get|status-get) echo '{}' ;;
  relation-ids|relation-list) echo '[]' ;;
esac
"""
TOOLS = ("is-leader", "config-get", "relation-ids", "relation-list", "relation-get", "status-get",
         "status-set", "juju-log", "state-get", "state-set", "state-delete", "juju-reboot")  # fmt: skip


@pytest.mark.parametrize("name", packing.CHARMS)
def test_real_charms_are_read_without_warnings(name: str) -> None:
    loaded = read_charm(packing.ops_charm(name))
    assert loaded.charm.name == name.replace("_", "-")
    assert loaded.charm.format == 2
    assert loaded.charm.warnings == ()
    assert [base.display for base in loaded.charm.bases()] == ["ubuntu@24.04"]
    assert from_wire(to_wire(loaded.charm)) == loaded.charm


def test_hookcmds_document() -> None:
    charm = read_charm(packing.ops_charm("test_hookcmds")).charm
    assert charm.meta.storage["data"].count_max == 2
    assert charm.meta.storage["data"].minimum_size == 1
    assert charm.meta.resources["test-file"].filename == "test-file.txt"
    assert charm.meta.peers["peer"].role is Role.PEER
    assert charm.config["int-opt"].default == 42
    assert charm.actions["test-ports"].schema["properties"]["port"]["default"] == 8877


def test_dispatch_runs_with_this_python(tmp_path: Path) -> None:
    charm_dir = tmp_path / "charm"
    unpack(packing.ops_charm("test_relation"), charm_dir, revision=3)
    assert (charm_dir / "revision").read_text() == "3"
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).write_text(TOOL)
        (tools / name).chmod(stat.S_IRWXU)
    env = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "CALLS": str(tmp_path / "calls"),
        "JUJU_CHARM_DIR": str(charm_dir),
        "CHARM_DIR": str(charm_dir),
        "JUJU_UNIT_NAME": "test-relation/0",
        "JUJU_MODEL_NAME": "m",
        "JUJU_MODEL_UUID": "cf67b90e-7201-4f23-8c0a-e1f453f1dc2e",
        "JUJU_VERSION": "3.6.14",
        "JUJU_DISPATCH_PATH": "hooks/start",
        "JUJU_HOOK_NAME": "start",
    }
    done = subprocess.run(
        [str(charm_dir / "dispatch")], cwd=charm_dir, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "status-set --application=False active -- ok" in (tmp_path / "calls").read_text()


def test_a_built_tree_and_its_archive_describe_one_charm() -> None:
    tree = read_charm(packing.ops_charm_tree("test_relation"))
    assert set(tree.generated) == {"metadata.yaml", "manifest.yaml", "actions.yaml", "dispatch"}
    assert read_charm(packing.ops_charm("test_relation")).charm.meta == tree.charm.meta
