"""A charm with an LXD profile, terms, payloads and metrics on a real machine: all are checked and kept."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.charms import prober
from tests.charms.client import Client

pytestmark = pytest.mark.machine
PROFILE = "config: {security.nesting: 'true'}\ndevices: {tun: {type: unix-char, path: /dev/net/tun}}\n"
METRICS = "metrics: {users: {type: gauge, description: d}}\n"


def _tree(folder: Path, number: int) -> Path:
    (folder / str(number)).mkdir()
    tree = prober.charm(folder / str(number), terms=["plain", "owner/more/2"])
    (tree / "lxd-profile.yaml").write_text(PROFILE)
    (tree / "metrics.yaml").write_text(METRICS)
    (tree / "number").write_text(f"{number}\n")
    return tree


def _stored(client: Client, revision: int) -> Any:
    (path,) = client.data.glob("controllers/*/state.db")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        query = "SELECT document FROM charm WHERE url = ?"
        ((document,),) = connection.execute(query, (f"local:probe-{revision}",)).fetchall()
    finally:
        connection.close()
    return json.loads(document)


def test_a_charm_with_all_of_them(client: Client, tmp_path: Path) -> None:
    done = client.try_run("deploy", _tree(tmp_path, 0))
    assert done.rc == 0, str(done)
    assert "Deployment under prior agreement to terms: plain owner/more/2\n" in done.stderr
    assert "WARNING metrics.yaml: metrics are not collected any more" in done.stderr
    assert client.agents("probe") == {"probe/0": ("active", "idle")}
    assert prober.ask(client, "probe/0", "payload-register docker web 1")[0].rc == 0
    first = _stored(client, 0)
    assert client.try_run("refresh", "probe", "--path", _tree(tmp_path, 1)).rc == 0
    assert prober.ask(client, "probe/0", "payload-status-set web 1 stopped")[0].rc == 0
    second = _stored(client, 1)
    for key in ("lxd_profile", "metrics"):
        assert first[key]
        assert first[key] == second[key]
    assert second["meta"]["terms"] == ["plain", "owner/more/2"]
    assert second["meta"]["payloads"] == {"web": {"name": "web", "type": "docker"}}
    assert second["lxd_profile"]["devices"]["tun"]["type"] == "unix-char"
    assert list(second["metrics"]["metrics"]) == ["users"]

    bad = _tree(tmp_path, 2)
    (bad / "lxd-profile.yaml").write_text("devices: {eth9: {type: nic}}\n")
    for words in (("deploy", bad, "other"), ("refresh", "probe", "--path", bad)):
        done = client.fail(*words)
        assert 'validating lxd profile: invalid lxd-profile.yaml: contains device type "nic"' in done.error
        assert "at devices.eth9.type" in done.error
    assert list(client.status()["applications"]) == ["probe"]
