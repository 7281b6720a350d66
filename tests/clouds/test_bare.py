"""Providers without user data: the same document, run as a script over SSH at the first contact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.charms.client import HELLO, Client
from tests.charms.conftest import client, local_cloud  # noqa: F401

pytestmark = [pytest.mark.machine, pytest.mark.timeout(300)]

REPOSITORY = Path(__file__).parents[2]
MIRROR = "http://127.0.0.1:9/mirror"
USER_DATA = """
preruncmd: ["date +%s%N >> /root/before"]
postruncmd: [[sh, -c, "id -un > '/root/a b'"], "exit 3", "echo last >> /root/after; touch /root/$(hostname)"]
timezone: UTC
"""
LOOK = """
set -e
cat /root/before | wc -l
cat '/root/a b' /root/after
ls /root/juju-*-0
getent passwd ubuntu | cut -d: -f7
sudo -n -l -U ubuntu | tail -1
grep -c . ~ubuntu/.ssh/authorized_keys
cat /etc/juju-proxy.conf /etc/apt/apt.conf.d/95-juju-proxy-settings
grep -rhoE '^(deb |URIs:).*mirror' /etc/apt/sources.list /etc/apt/sources.list.d | head -1
"""


@pytest.fixture
def person(client: Client) -> Client:  # noqa: F811
    """A person with that cloud."""
    site = client.work / "site"
    info = site / "bare-1.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[pushjuju]\nbare = tests.clouds.bare\n")
    client.environ["PYTHONPATH"] = f"{site}:{REPOSITORY}"
    (client.work / "cloud.yaml").write_text(json.dumps({"clouds": {"metal": {"type": "bare"}}}))
    client.run("add-cloud", "metal", "cloud.yaml", "--client")
    client.run("bootstrap", "metal", "m")
    client.run("add-model", "shop")
    return client


def test_the_document_is_run_once_as_a_script(person: Client) -> None:
    settings = {
        "cloudinit-userdata": USER_DATA,
        "enable-os-upgrade": "false",
        "apt-mirror": MIRROR,
        "http-proxy": "http://squid:3128/a b",
        "apt-http-proxy": "http://127.0.0.1:9",
    }
    (person.work / "config.yaml").write_text(json.dumps(settings))
    person.run("model-config", "--file", "config.yaml")
    done = person.try_run("deploy", HELLO, "web", limit=240)
    assert done.rc == 0, str(done)
    assert "machine 0: left out of the user data: timezone" in done.stderr
    assert person.json("status")["applications"]["web"]["application-status"]["current"] == "active"
    person.run("exec", "--machine", "0", "true")
    found = person.run("ssh", "0", f"sudo bash -c '{LOOK.replace(chr(39), chr(34))}'").splitlines()
    name_file = found[3]
    assert name_file.startswith("/root/juju-")
    assert found == [
        "1",
        "root",
        "last",
        name_file,
        "/bin/bash",
        "    (ALL) NOPASSWD: ALL",
        "1",
        "export http_proxy='http://squid:3128/a b'",
        "export HTTP_PROXY='http://squid:3128/a b'",
        "export no_proxy=127.0.0.1,localhost,::1",
        "export NO_PROXY=127.0.0.1,localhost,::1",
        'Acquire::http::Proxy "http://127.0.0.1:9";',
        *(
            f'Acquire::{name}::Proxy::"{host}" "DIRECT";'
            for host in ("127.0.0.1", "localhost", "::1")
            for name in ("http", "https", "ftp")
        ),
        found[-1],
    ]
    assert MIRROR in found[-1]
