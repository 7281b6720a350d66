"""The units and the cron line of contrib/, each tried for real: a controller at home on a machine."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.charms.client import HELLO, REPOSITORY, Client
from tests.charms_tools.packing import cache_dir

pytestmark = pytest.mark.machine

CONTRIB = REPOSITORY / "contrib"
PYTHON = "3.12"  # of ubuntu@24.04
NEEDS = ("asyncssh", "click", "cryptography", "jsonschema", "pluggy", "pyyaml", "rich", "tomlkit")
WRAPPER = '#!/bin/sh\nPYTHONPATH=/opt/pushjuju exec /usr/bin/python3 -m pushjuju.cli "$@"\n'
DATA = "/var/lib/pushjuju-controller"


def _libraries() -> Path:
    """Return a folder with what the program needs, for the machine's Python; downloaded once."""
    target = cache_dir() / f"libraries-{PYTHON}"
    if not target.exists():
        fresh = target.with_name(f".{target.name}.new")
        pip = (sys.executable, "-m", "pip", "install", "-q", "--target", str(fresh), "--only-binary=:all:")
        wanted = ("--python-version", PYTHON, "--platform", "manylinux2014_x86_64", "--implementation", "cp")
        subprocess.run([*pip, *wanted, *NEEDS], check=True, timeout=300)
        fresh.rename(target)
    return target


@pytest.fixture
def home(client: Client) -> Client:
    """A machine on which the program is installed and a controller of the manual cloud was made."""
    client.run("bootstrap", "local", "lab")
    client.run("add-model", "lab")
    client.run("add-machine", "--base", "ubuntu@24.04")
    archive = client.work / "pushjuju.tar"
    subprocess.run(["tar", "-cf", archive, "-C", _libraries(), "."], check=True)
    subprocess.run(["tar", "-rf", archive, "-C", REPOSITORY, "--exclude=__pycache__", "pushjuju"], check=True)
    subprocess.run(["tar", "-rf", archive, "-C", HELLO.parent, "hello-page"], check=True)
    subprocess.run(["tar", "-rf", archive, "-C", CONTRIB, "systemd", "cron"], check=True)
    client.run("scp", str(archive), "0:/tmp/pushjuju.tar")
    client.on("0", "mkdir -p /opt/pushjuju && tar -xf /tmp/pushjuju.tar -C /opt/pushjuju")
    client.on(
        "0",
        f"printf %s {shlex.quote(WRAPPER)} > /usr/local/bin/pushjuju && chmod 755 /usr/local/bin/pushjuju",
    )
    client.on("0", "cp /opt/pushjuju/systemd/* /etc/systemd/system/ && systemctl daemon-reload")
    _there(client, "bootstrap manual home && pushjuju add-model shop")
    key = "mkdir -p /root/.ssh && ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id && "
    client.on("0", key + "cat /root/.ssh/id.pub >> /root/.ssh/authorized_keys")
    return client


def _there(client: Client, words: str) -> str:
    """Run a command of the program on the machine."""
    return client.on("0", f"export PUSHJUJU_DATA={DATA} PUSHJUJU_WAIT=0 HOME=/root; pushjuju {words}")


def _rounds(client: Client) -> int:
    log = _there(client, "debug-log --replay --no-tail")
    return log.count('ran "update-status"')


def test_service_timer_and_cron_work_a_model(home: Client) -> None:
    home.on("0", "systemctl start pushjuju-controller")
    _there(home, "add-machine ssh:root@127.0.0.1 --private-key /root/.ssh/id")
    _there(home, "deploy /opt/pushjuju/hello-page --to 0")
    home.until(lambda: '"current":"active"' in _there(home, "status --format json"), 90)
    home.until(lambda: '"current":"idle"' in _there(home, "status --format json"))
    home.on("0", "systemctl stop pushjuju-controller")
    assert home.on("0", "systemctl show -P Result pushjuju-controller").strip() == "success"
    assert "controller run" not in home.on("0", "ps -eo args")

    before = _rounds(home)
    home.on("0", "systemctl enable --now pushjuju-update-status.timer")
    assert "pushjuju-update-status.service" in home.on("0", "systemctl list-timers --all --no-pager")
    home.on("0", "systemctl start pushjuju-update-status.service")
    assert _rounds(home) == before + 1

    line = next(
        line for line in (CONTRIB / "cron" / "pushjuju").read_text().splitlines() if line.startswith("*/5")
    )
    user, command = line.split(maxsplit=6)[5:]
    assert user == "root"
    home.on(
        "0", f"env -i PUSHJUJU_DATA={DATA} PATH=/usr/local/bin:/usr/bin:/bin sh -c {shlex.quote(command)}"
    )
    assert _rounds(home) == before + 2
