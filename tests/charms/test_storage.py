"""Storage on real machines: a charm that keeps its data there, and what happens to the data."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charms.client import Client

pytestmark = pytest.mark.machine

DATA, CACHE = "/srv/keep/data", "/srv/keep/cache"
METADATA: dict[str, Any] = {
    "name": "keep",
    "summary": "A small database.",
    "description": "Keeps rows in files of its storage.",
    "series": ["jammy"],
    "storage": {
        "data": {"type": "filesystem", "location": DATA, "minimum-size": "16M"},
        "cache": {"type": "filesystem", "location": CACHE, "minimum-size": "4M"},
        "extra": {"type": "filesystem", "multiple": {"range": "0-"}, "minimum-size": "4M"},
        "disk": {"type": "block", "multiple": {"range": "0-2"}, "minimum-size": "8M"},
        "ro": {
            "type": "filesystem", "read-only": True, "multiple": {"range": "0-1"}, "minimum-size": "4M"
        },
    },
}  # fmt: skip
# The first unit that gets the data makes the table; a later one finds it, and adds its own row.
HOOK = """\
#!/bin/sh
set -eu
case "$JUJU_HOOK_NAME" in
data-storage-attached|cache-storage-attached)
  grep -q -F " $JUJU_STORAGE_LOCATION " /proc/self/mountinfo
  [ "$(storage-get location)" = "$JUJU_STORAGE_LOCATION" ]
  [ "$JUJU_STORAGE_KIND" = filesystem ]
  echo "$JUJU_UNIT_NAME" >> "$JUJU_STORAGE_LOCATION/rows"
  ;;
data-storage-detaching)
  [ ! -e /srv/keep/held ] || { cd "$JUJU_STORAGE_LOCATION" && setsid sleep 1000 >/dev/null 2>&1 </dev/null & }
  ;;
install)
  [ -e /srv/keep/data/rows ]
  [ -e /srv/keep/cache/rows ]
  ;;
stop)
  [ ! -e /srv/keep/data/rows ] || true
  ;;
esac
"""
HOOKS = (
    "install", "config-changed", "start", "stop", "remove", "leader-elected", "update-status",
    *(f"{name}-storage-{word}" for name in METADATA["storage"] for word in ("attached", "detaching")),
)  # fmt: skip


@pytest.fixture
def charm(tmp_path: Path) -> Path:
    """A charm that is like a database."""
    return make_charm(tmp_path)


def make_charm(tmp_path: Path) -> Path:
    """Make it."""
    folder = tmp_path / "keep"
    (folder / "hooks").mkdir(parents=True)
    (folder / "metadata.yaml").write_text(yaml.safe_dump(METADATA))
    for name in HOOKS:
        (folder / "hooks" / name).write_text(HOOK)
        (folder / "hooks" / name).chmod(0o755)
    return folder


def deploy(client: Client, charm: Path, *words: str) -> None:
    client.run("deploy", charm, *words)


def instances(client: Client) -> dict[str, Any]:
    """Storage instances by their id."""
    found: dict[str, Any] = client.json("status")["storage"].get("storage", {})
    return found


def states(client: Client) -> dict[str, str]:
    """Storage instance -> status."""
    return {name: item["status"]["current"] for name, item in instances(client).items()}


def tried_again(client: Client) -> dict[str, str]:
    """Work what has come due, as what failed does within half a minute, and return the states after that."""
    client.try_run("update-status")
    return states(client)


def rows(client: Client, unit: str, path: str) -> list[str]:
    return client.on(unit, f"cat {path}/rows").split()


def located(client: Client, store: str, command: str) -> str:
    """Run a command in the unit's context; `{}` is where the first instance of a store is."""
    name = next(name for name in instances(client) if name.startswith(f"{store}/"))
    place = f'"$(storage-get -s {name} location)"'
    return client.run("exec", "--unit", "keep/0", "--", command.format(place)).strip()


def backing_file(client: Client, volume: str) -> str:
    """Return the file behind a volume of machine 0, as the machine and this host both name it."""
    attached = client.json("storage", "--volume")["volumes"][volume]["attachments"]["machines"]["0"]
    file = Path(f"/sys/block/{attached['device']}/loop/backing_file").read_text().strip()
    assert file.startswith("/var/lib/juju/storage/.loop/")
    return file


def loops() -> str:
    """Return the files behind all loop devices of this host, those of its machines too."""
    listed = ["losetup", "-n", "-O", "BACK-FILE"]
    return subprocess.run(listed, capture_output=True, text=True, check=True).stdout


def test_data_on_loop_and_tmpfs_survives_its_unit(client: Client, charm: Path) -> None:
    """It is detached, kept by its machine, and found again by the next unit; it goes when that is said."""
    deploy(client, charm, "--storage", "data=loop,16M", "--storage", "cache=tmpfs,4M")
    assert states(client) == {"cache/0": "attached", "data/1": "attached"}
    hooks = client.hooks()["keep/0"]
    assert hooks[:3] == ["cache-storage-attached", "data-storage-attached", "install"]
    assert client.on("keep/0", f"stat -f -c %T {DATA} {CACHE}").split() == ["ext2/ext3", "tmpfs"]
    file = backing_file(client, "0/0")
    assert file in loops()
    client.on("keep/0", f"echo precious >> {DATA}/rows; echo warm >> {CACHE}/rows; sync")

    done = client.try_run("remove-unit", "keep/0", "--no-prompt")
    assert "machine 0 is kept for its storage: cache/0, data/1\n" in done.stderr
    assert done.stdout.splitlines() == [
        "will remove unit keep/0", "- will detach storage cache/0", "- will detach storage data/1"
    ]  # fmt: skip
    hooks = client.hooks()["keep/0"]
    assert hooks[-4:] == ["cache-storage-detaching", "data-storage-detaching", "stop", "remove"]
    assert states(client) == {"cache/0": "detached", "data/1": "detached"}
    kept = client.status()["machines"]["0"]["juju-status"]
    assert kept["message"] == "kept for its storage: cache/0, data/1"
    assert "kept for its storage: cache/0, data/1" in client.run("status")
    assert "machine 0 has storage" in client.fail("remove-machine", "0", "--no-prompt").error
    assert "persistent storage remaining" in client.fail("destroy-model", "default", "--no-prompt").stderr

    client.run("add-unit", "keep", "--attach-storage", "data/1,cache/0")
    assert rows(client, "keep/1", DATA) == ["keep/0", "precious", "keep/1"]
    assert rows(client, "keep/1", CACHE) == ["keep/0", "warm", "keep/1"]
    assert sorted(instances(client)) == ["cache/0", "data/1"]
    assert list(client.status()["machines"]) == ["0"]

    told = client.run("remove-application", "keep", "--no-prompt", "--destroy-storage").splitlines()
    assert told[-2:] == ["- will remove storage cache/0", "- will remove storage data/1"]
    status = client.status()
    assert (status["applications"], status["machines"], status["storage"]) == ({}, {}, {})
    assert file not in loops()


def test_a_reboot_brings_everything_back(client: Client, charm: Path) -> None:
    """The machine itself does it, before anybody of ours comes; what memory held is gone."""
    deploy(client, charm, "--storage", "data=loop,16M", "--storage", "cache=tmpfs,4M", "--storage", "ro=1")
    client.run("add-storage", "keep/0", "disk", "extra=rootfs")
    seen = client.on("keep/0", f"findmnt -n -o FSTYPE,OPTIONS --mountpoint {DATA}")
    assert seen.startswith("ext4")
    boot = client.on("keep/0", "cat /proc/1/stat | cut -d ' ' -f 22")
    client.try_run("exec", "--unit", "keep/0", "reboot")
    address = client.status()["machines"]["0"]["dns-name"]
    key = next(client.data.glob("controllers/*/ssh/id_ed25519"))

    def plain_ssh(command: str) -> str:
        argv = [
            *("ssh", "-i", str(key), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"),
            *("-o", "LogLevel=ERROR", "-o", "ConnectTimeout=2", f"root@{address}", command),
        ]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout

    client.until(lambda: plain_ssh("cut -d ' ' -f 22 /proc/1/stat").strip() not in ("", boot.strip()))
    listed = "systemctl is-system-running --wait >/dev/null; cat /proc/self/mountinfo"
    client.until(lambda: {DATA, CACHE} <= set(plain_ssh(listed).split()))
    assert plain_ssh(f"cat {DATA}/rows").split() == ["keep/0"]
    client.run("update-status", "keep/0")
    assert set(states(client).values()) == {"attached"}
    assert located(client, "disk", "test -b {} && echo block") == "block"
    assert located(client, "ro", "touch {}/x 2>&1 || true").endswith("Read-only file system")
    assert client.on("keep/0", f"mount | grep -c ' {DATA} '").strip() == "1"


def test_disks_of_a_machine_go_with_it(client: Client) -> None:
    client.run("add-machine", "--disks", "loop,16M loop,8M")
    found = client.json("storage", "--volume")["volumes"]
    assert {name: (item["size"], item["status"]["current"]) for name, item in found.items()} == {
        "0/0": (16, "attached"), "0/1": (8, "attached")
    }  # fmt: skip
    device = found["0/0"]["attachments"]["machines"]["0"]["device"]
    assert int(client.run("ssh", "0", "--", f"sudo blockdev --getsize64 /dev/{device}")) == 16 << 20
    file = backing_file(client, "0/0")
    assert file in loops()
    client.run("remove-machine", "0", "--no-prompt")
    assert client.status()["machines"] == {}
    assert file not in loops()
    assert client.try_run("storage", "--volume").stdout == ""


def test_storage_of_the_cloud_outlives_machines_and_models(client: Client, charm: Path) -> None:
    deploy(client, charm, "--storage", "data=local,16M")
    assert instances(client)["data/1"]["persistent"] is True
    client.run("remove-unit", "keep/0", "--no-prompt")
    client.run("remove-storage", "cache/0")
    assert client.status()["machines"] == {}
    client.run("add-unit", "keep", "--attach-storage", "data/1")
    assert rows(client, "keep/1", DATA) == ["keep/0", "keep/1"]
    assert "storage is attached" in client.try_run("remove-storage", "data/1").stderr
    provider_id = client.json("storage")["filesystems"]["1"]["provider-id"]
    client.run("destroy-model", "default", "--no-prompt", "--release-storage")
    client.run("add-model", "next")
    client.run("import-filesystem", "local", provider_id, "data")
    client.run("deploy", charm, "--attach-storage", "data/0")
    assert rows(client, "keep/0", DATA) == ["keep/0", "keep/1", "keep/0"]
    client.run("remove-unit", "keep/0", "--no-prompt", "--destroy-storage")
    assert client.status()["storage"] == {}
    assert list(client.data.rglob("volume.json")) == []


def test_faults_are_told_and_tried_again(client: Client, charm: Path) -> None:
    """No room, a mount point in use, a file system that cannot be made, somebody in the directory."""
    done = client.try_run("deploy", charm, "--storage", "data=loop,9999999M", "--storage", "cache=tmpfs,4M")
    assert done.rc == 1, str(done)
    status = instances(client)["data/1"]["status"]
    assert status["current"] == "pending"
    assert "no room for 9999999 MiB: " in status["message"]
    unit = client.status()["applications"]["keep"]["units"]["keep/0"]
    assert unit["workload-status"]["message"] == "agent initialising"
    assert client.hooks().get("keep/0", []) == ["cache-storage-attached"]
    reason = next(item for item in client.run("explain").splitlines() if item.startswith("keep/0"))
    assert "storage is not attached yet: data/1" in reason
    client.run("remove-application", "keep", "--no-prompt", "--destroy-storage")
    assert client.status()["machines"] == {}

    client.run("add-machine", "--base", "ubuntu@22.04")
    client.on("1", f"mkdir -p {CACHE}; echo other > {CACHE}/file; mv /sbin/mkfs.ext4 /sbin/mkfs.off")
    done = client.try_run("deploy", charm, "--to", "1", "--storage", "data=loop,16M")
    assert done.rc == 1
    messages = {name: item["status"].get("message", "") for name, item in instances(client).items()}
    data = next(name for name in messages if name.startswith("data/"))
    cache = next(name for name in messages if name.startswith("cache/"))
    assert "mkfs.ext4" in messages[data]
    assert messages[cache] == f"{CACHE} is not empty"
    client.on("1", f"rm {CACHE}/file; mv /sbin/mkfs.off /sbin/mkfs.ext4")
    client.until(lambda: set(tried_again(client).values()) == {"attached"})
    assert "install" in client.hooks()["keep/1"]

    client.on("1", "touch /srv/keep/held")
    client.try_run("remove-unit", "keep/1", "--no-prompt")
    status = instances(client)[data]["status"]
    assert status["current"] == "detaching"
    assert "used by process" in status["message"]
    assert "(sleep)" in status["message"]
    client.on("1", "pkill sleep")
    client.until(lambda: tried_again(client)[data] == "detached")


def test_storage_removed_under_a_running_unit(client: Client, charm: Path) -> None:
    deploy(client, charm, "--storage", "extra=tmpfs,2")
    names = sorted(name for name in instances(client) if name.startswith("extra/"))
    assert f"removing {names[0]}" in client.try_run("remove-storage", "--force", names[0]).stderr
    assert names[0] not in instances(client)
    assert client.hooks()["keep/0"][-1] == "extra-storage-detaching"
    located(client, "extra", "umount {}")  # by a person, behind our back
    client.run("detach-storage", names[1])
    assert states(client)[names[1]] == "detached"
    assert "cannot detach, storage is singular" in client.try_run("detach-storage", "data/1").stderr


def test_storage_does_not_wait_for_what_runs_long(client: Client, charm: Path) -> None:
    deploy(client, charm)
    busy = client.start("exec", "--unit", "keep/0", "sleep 8")
    client.until(lambda: client.on("0", "pgrep -fx 'sleep 8' || true").strip())
    client.run("add-storage", "keep/0", "extra=tmpfs", "--no-wait")
    client.until(lambda: set(states(client).values()) == {"attached"}, limit=5)
    assert busy.poll() is None
    assert busy.wait() == 0
    busy.communicate()
    client.until(lambda: client.hooks()["keep/0"][-1] == "extra-storage-attached")


def test_a_killed_command_leaves_no_storage_half_made(client: Client, charm: Path) -> None:
    """Killed again and again while storage is made and taken away; the rows are written once."""
    client.run("bootstrap", "local", "home")
    client.run("add-model", "default")
    words = ("deploy", charm, "--storage", "data=loop,16M", "--storage", "extra=rootfs,2")
    process = client.start(*words)
    client.until(lambda: instances(client))  # from here on the command may die
    _kill_soon(process, 0.2)
    for attempt in range(8):
        if states(client) and set(states(client).values()) == {"attached"}:
            break
        _kill_soon(client.start("update-status"), 0.4 + 0.2 * attempt)
    client.run("update-status")
    assert set(states(client).values()) == {"attached"}
    assert rows(client, "keep/0", DATA) == ["keep/0"]
    assert client.on("keep/0", f"mount | grep -c -e {DATA} -e extra").strip() == "3"
    process = client.start("remove-unit", "keep/0", "--no-prompt")
    client.until(lambda: "dying" in json.dumps(client.status()) or not client.units("keep"))
    _kill_soon(process, 0.1)
    _kill_soon(client.start("update-status"), 0.5)
    client.run("update-status")
    assert set(states(client).values()) == {"detached"}


def _kill_soon(process: subprocess.Popen[str], seconds: float) -> None:
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
