"""A bundle of five applications on real machines: deployed, exported, destroyed, deployed from the export."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charms.client import Client

pytestmark = pytest.mark.machine

CHARMS: dict[str, dict[str, Any]] = {
    "front": {
        "requires": {"db": {"interface": "rows"}, "cache": {"interface": "kv"}},
        "resources": {"page": {"type": "file", "filename": "page.html"}},
    },
    "rows": {
        "provides": {"db": {"interface": "rows"}},
        "peers": {"cluster": {"interface": "rows-cluster"}},
        "storage": {"data": {"type": "filesystem", "location": "/srv/rows", "minimum-size": "8M"}},
    },
    "kv": {"provides": {"kv": {"interface": "kv"}}},
    "sink": {"provides": {"logs": {"interface": "logs"}}},
    "agent": {
        "subordinate": True,
        "requires": {
            "host": {"interface": "juju-info", "scope": "container"},
            "logs": {"interface": "logs"},
        },
    },
}  # fmt: skip
CONFIG = {
    "front": {"port": {"type": "int", "default": 80}, "title": {"type": "string", "default": "untitled"}}
}
HOOK = """\
#!/bin/bash
set -eu
name=$(basename "$0")
case "$name" in
*-relation-joined) relation-set "from-$JUJU_UNIT_NAME=$(unit-get private-address)" ;;
data-storage-attached) echo row >> "$JUJU_STORAGE_LOCATION/rows" ;;
config-changed)
  if [ -e page ]; then
    resource-get page > /dev/null
    open-port "$(config-get port)/tcp"
    status-set active "$(config-get title), $(cat "$(resource-get page)")"
    exit
  fi ;;
start) [ -e page ] || status-set active ;;
esac
"""
FAILS = "#!/bin/bash\n[ -e /etc/may-start ] || exit 7\nstatus-set active\n"
BUNDLE = """\
description: A small shop.
default-base: ubuntu@22.04
applications:
  front:
    charm: ./front
    num_units: 2
    to: ["0", rows/1]
    resources: {page: ./page.html}
    options: {port: 8080, title: "include-file://title.txt"}
    annotations: {gui-x: "100"}
    bindings: {"": alpha}
    expose: true
  rows:
    charm: ./rows
    num_units: 2
    to: ["0"]
    storage: {data: "rootfs,16M"}
  kv: {charm: ./kv, num_units: 1, to: [front/1]}
  sink: {charm: ./sink, num_units: 1, to: [kv]}
  agent: {charm: ./agent}
machines:
  "0": {annotations: {rack: a1}}
relations:
- [front:db, rows:db]
- [front:cache, kv:kv]
- [agent:host, front:juju-info]
- [agent:logs, sink:logs]
"""
OVERLAY = """\
applications:
  front: {options: {port: 8081}}
--- # who may come
applications:
  front:
    expose: false
    exposed-endpoints: {"": {expose-to-cidrs: [10.0.0.0/8]}}
  rows:
    offers: {rows: {endpoints: [db]}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with the bundle, its charms and files."""
    folder = tmp_path / "shop"
    for name, more in CHARMS.items():
        hooks = folder / name / "hooks"
        hooks.mkdir(parents=True)
        metadata = {"name": name, "summary": "s", "description": "d", "series": ["jammy"], **more}
        (folder / name / "metadata.yaml").write_text(yaml.safe_dump(metadata))
        (folder / name / "config.yaml").write_text(yaml.safe_dump({"options": CONFIG.get(name, {})}))
        endpoints = {**more.get("provides", {}), **more.get("requires", {}), **more.get("peers", {})}
        names = ["start", "config-changed", *(f"{item}-relation-joined" for item in endpoints)]
        for hook in [*names, *(f"{item}-storage-attached" for item in more.get("storage", {}))]:
            (hooks / hook).write_text(HOOK)
            (hooks / hook).chmod(0o755)
    (folder / "front" / "page").write_text("")
    (folder / "bundle.yaml").write_text(BUNDLE)
    (folder / "overlay.yaml").write_text(OVERLAY)
    (folder / "page.html").write_text("hello")
    (folder / "title.txt").write_text("Our shop")
    return folder


def active(client: Client, *, where: bool = True) -> dict[str, tuple[str, str]]:
    """Return unit -> (status, machine); each must be active and idle."""
    found: dict[str, tuple[str, str]] = {}
    for application in client.status()["applications"].values():
        for name, unit in application.get("units", {}).items():
            for sub, part in {name: unit, **unit.get("subordinates", {})}.items():
                if sub.partition("/")[0] != "agent":
                    assert part["workload-status"]["current"] == "active", (sub, part)
                assert part["juju-status"]["current"] == "idle", (sub, part)
                found[sub] = (part["workload-status"].get("message", ""), unit["machine"] if where else "")
    return found


def test_shop_is_deployed_exported_and_deployed_again(client: Client, shop: Path) -> None:
    words = ("deploy", shop / "bundle.yaml", "--overlay", shop / "overlay.yaml")
    first = client.run(*words, limit=300)
    assert first.startswith("Executing changes:\n- upload charm")
    before = active(client)
    assert before["front/0"] == ("Our shop, hello", "0")
    assert sorted(before) == [
        "agent/0", "agent/1", "front/0", "front/1", "kv/0", "rows/0", "rows/1", "sink/0",
    ]  # fmt: skip
    assert {before[name][1] for name in ("rows/0", "front/0")} == {"0"}
    assert client.on("rows/1", "cat /srv/rows/rows") == "row\n"
    begin = time.monotonic()
    again = client.try_run(*words)
    assert (again.rc, again.stdout) == (0, "")
    assert "No changes to apply." in again.stderr
    assert time.monotonic() - begin < 20
    compared = client.run(
        "diff-bundle", shop / "bundle.yaml", "--overlay", shop / "overlay.yaml", "--annotations"
    )
    assert compared == "{}\n"  # machine 1 is there for a unit that the bundle gives no place
    out = client.work / "export"
    out.mkdir()
    client.run("export-bundle", "--filename", out / "bundle.yaml", "--with-charms")
    text = (out / "bundle.yaml").read_text()
    client.run("destroy-model", "default", "--no-prompt", "--destroy-storage", limit=300)
    client.run("add-model", "again")
    client.run("deploy", out / "bundle.yaml", limit=300)
    assert {name: message for name, (message, _) in active(client).items()} == {
        name: message for name, (message, _) in before.items()
    }
    second = client.work / "second"
    second.mkdir()
    client.run("export-bundle", "--filename", second / "bundle.yaml", "--with-charms")
    assert (second / "bundle.yaml").read_text() == text
    same = client.try_run("apply", out / "bundle.yaml", "--prune", "--no-prompt")
    assert (same.rc, same.stdout, "No changes to apply." in same.stderr) == (0, "", True), str(same)
    (out / "resources" / "front" / "page.html").write_text("welcome")
    (out / "bundle.yaml").write_text(text.replace("data: rootfs,1,16M", "data: rootfs,1,24M"))
    told = client.run("apply", out / "bundle.yaml", "--no-prompt", limit=300)
    assert told.splitlines()[1:] == [
        "- attach ./resources/front/page.html as resource page of front",
        "- set storage of rows to data=rootfs,1,24M for units to come",
    ]
    assert {active(client)[name][0] for name in ("front/0", "front/1")} == {"Our shop, welcome"}
    assert client.on("rows/1", "cat /srv/rows/rows") == "row\n"
    same = client.try_run("apply", out / "bundle.yaml", "--no-prompt")
    assert (same.rc, "No changes to apply." in same.stderr) == (0, True), str(same)


def test_what_failed_in_the_middle_goes_on(client: Client, shop: Path) -> None:
    """A hook fails on the way: what was done stays, and the same command goes on from there."""
    (shop / "bundle.yaml").write_text(
        "default-base: ubuntu@22.04\napplications:\n"
        "  sink: {charm: ./sink, num_units: 1}\n  kv: {charm: ./kv, num_units: 1, to: [sink]}\n"
    )
    (shop / "kv" / "hooks" / "start").write_text(FAILS)
    failed = client.fail("deploy", shop / "bundle.yaml", limit=300)
    assert 'unit kv/0: hook "start"' in failed.error or "kv/0" in failed.error
    assert "- add unit kv/0 to new machine 0 to satisfy [sink]" in failed.stdout
    assert client.agents("sink") == {"sink/0": ("active", "idle")}
    client.on("0", "touch /etc/may-start")
    client.run("resolved", "kv/0")
    again = client.try_run("deploy", shop / "bundle.yaml")
    assert (again.rc, "No changes to apply." in again.stderr) == (0, True), str(again)
    assert client.agents("kv") == {"kv/0": ("active", "idle")}
