"""Charms by name and from sources, on real machines.

The store is a stand-in on this computer: Charmhub itself is not reachable from where the tests run. The
charms are those of the ops release, packed by `pushjuju pack` from their unmodified sources, beside the
release's own archive, where their pyproject.toml expects it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.charms import prober
from tests.charms.client import Client
from tests.charms_tools import packing
from tests.charms_tools.hubstore import HubStore

pytestmark = pytest.mark.machine


def source(name: str, folder: Path) -> Path:
    """Return a copy of the unmodified sources of a charm of the ops release, with the release beside them."""
    tree = folder / name
    shutil.copytree(packing.ops_source() / "test" / "charms" / name, tree)
    cached = packing.made_once(packing.cache_dir() / f"ops-{packing.OPS_VERSION}.tar.gz", _fetch)
    shutil.copyfile(cached, tree / "ops.tar.gz")
    return tree


def _fetch(target: Path) -> None:
    release = f"ops=={packing.OPS_VERSION}"
    packing.pip("download", "--no-deps", "--no-binary", "ops", release, "--dest", str(target.parent))


@pytest.mark.parametrize("name", packing.CHARMS)
def test_ops_charms_are_packed_from_their_sources(client: Client, tmp_path: Path, name: str) -> None:
    tree = source(name, tmp_path)
    client.environ["XDG_CACHE_HOME"] = str(packing.cache_dir())
    client.run("pack", str(tree))
    target = tmp_path / f"{name.replace('_', '-')}.charm"
    assert target.stat().st_size > 100_000


def test_from_sources_to_active_and_on(client: Client, tmp_path: Path) -> None:
    """Edit, refresh, running: a source tree is built by deploy itself; its packages are installed once.

    ops comes as sources: the machine, which reaches no index, builds them with the tools that came along.
    """
    tree = source("test_secrets", tmp_path)
    client.environ["XDG_CACHE_HOME"] = str(packing.cache_dir())
    client.run("deploy", str(tree), "app")
    assert client.status()["applications"]["app"]["charm-rev"] == 0
    built = "import ops.version; print(ops.version.version)"
    found = client.run("exec", "--unit", "app/0", "--", f"PYTHONPATH=venv python3 -c '{built}'")
    assert found.strip() == packing.OPS_VERSION
    program = tree / "src" / "charm.py"
    program.write_text(program.read_text() + "\n# edited\n")
    client.run("refresh", "app", "--path", str(tree))
    shown = client.status()["applications"]["app"]
    assert shown["charm-rev"] == 1
    assert "error" not in shown["application-status"]["current"]
    client.run("destroy-model", "--no-prompt", "--force", "default")


def test_a_charm_of_the_store_with_a_resource(client: Client, tmp_path: Path, hub: HubStore) -> None:
    """deploy NAME, resource-get from the store, refresh to another channel, all by name."""
    resources = {"notes": {"type": "file", "filename": "notes.txt"}}
    prober.charm(tmp_path, resources=resources)
    built = tmp_path / "probe.charm"
    client.run("pack", str(tmp_path / "probe"), "-d", str(tmp_path))
    hub.add("probe", built, revision=5, resources={"notes": 1})
    hub.add("probe", built, revision=6, channels=["latest/edge"], resources={"notes": 2})
    hub.add_resource("probe", "notes", 1, b"one", "notes.txt")
    hub.add_resource("probe", "notes", 2, b"two", "notes.txt")
    client.environ["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    client.run("bootstrap", "local", "home")
    client.run("add-model", "shop", "--config", f"charmhub-url={hub.url}")
    hub.fail("download", "cut", 1)
    client.run("deploy", "ch:probe")
    assert "one" in client.run("exec", "--unit", "probe/0", "--", "cat $(resource-get notes)")
    client.run("refresh", "probe", "--channel", "edge")
    assert "two" in client.run("exec", "--unit", "probe/0", "--", "cat $(resource-get notes)")
    shown = client.status()["applications"]["probe"]
    assert (shown["charm-rev"], shown["charm-channel"]) == (6, "latest/edge")
    client.run("destroy-model", "--no-prompt", "--force", "shop")
