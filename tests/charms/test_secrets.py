"""Secrets on a real machine: an admin's and a charm's, hooks on time, masks, nothing in clear anywhere."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest
import yaml

from tests.charms.client import Client

pytestmark = pytest.mark.machine
ADMINS = "admins-api-token"
# Made on the machine: what is typed after `exec`, and what that prints, is kept with the task, for who asked.
_DRAW = "p=$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \\n')"
_SUM = "| tr -d '\\n' | sha256sum | cut -d' ' -f1"
_DISPATCH = r"""#!/bin/bash
set -eu
name=${JUJU_DISPATCH_PATH#hooks/}
case $name in
  start) status-set active ;;
  secret-*) juju-log "told $name $JUJU_SECRET_ID ${JUJU_SECRET_LABEL:--} ${JUJU_SECRET_REVISION:--}" ;;
esac
case $name in
  secret-changed)
    value=$(secret-get "$JUJU_SECRET_ID" --refresh password)
    juju-log "now it is $value"
    echo "printed $value" >&2
    status-set active "knows $value" ;;
  secret-expired) secret-remove "$JUJU_SECRET_ID" --revision "$JUJU_SECRET_REVISION" ;;
esac
"""
_BASES = [{"name": "ubuntu", "channel": channel, "architectures": ["all"]} for channel in ("24.04", "22.04")]
_SIDES = {"keeper": ("provides", "server"), "reader": ("requires", "db")}


def charm(folder: Path, name: str) -> Path:
    """Write a charm that tells what it hears of secrets."""
    tree = folder / name
    tree.mkdir()
    role, endpoint = _SIDES[name]
    metadata = {"name": name, "summary": "-", "description": "-", role: {endpoint: {"interface": "sql"}}}
    (tree / "metadata.yaml").write_text(yaml.safe_dump(metadata))
    (tree / "manifest.yaml").write_text(yaml.safe_dump({"bases": _BASES}))
    (tree / "config.yaml").write_text(yaml.safe_dump({"options": {"key": {"type": "secret"}}}))
    (tree / "dispatch").write_text(_DISPATCH)
    (tree / "dispatch").chmod(0o755)
    return tree


@pytest.fixture(scope="module")
def town(shared_client: Client, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """One machine with keeper/0 and reader/0, related."""
    client, folder = shared_client, tmp_path_factory.mktemp("charms")
    client.run("bootstrap", "local", "here", "--add-model", "box", "--model-default", "mode=",
               "--model-default", "logging-config=<root>=DEBUG")  # fmt: skip
    client.run("add-machine")
    for name in _SIDES:
        client.run("deploy", charm(folder, name), "--to", "0")
    client.run("integrate", "keeper", "reader")
    return client


def ask(client: Client, unit: str, command: str) -> str:
    """Run a command in the context of a unit; return what it prints."""
    return client.run("exec", "--unit", unit, "--", command).strip()


def digest(value: str) -> str:
    """Return what `_SUM` prints of a value."""
    return hashlib.sha256(value.encode()).hexdigest()


def content(client: Client, secret: str) -> str:
    """Return the password in a secret, as an admin sees it."""
    (found,) = client.json("show-secret", secret, "--reveal").values()
    return str(found["content"]["Data"]["password"])


def refused(client: Client, unit: str, command: str) -> str:
    """Run a command that must fail; return what it says."""
    done = client.try_run("exec", "--unit", unit, "--", command)
    assert done.rc != 0, str(done)
    return done.stdout + done.stderr


def told(client: Client, unit: str) -> list[str]:
    """What a unit was told of secrets."""
    lines = client.log(unit)
    return [line.partition("told ")[2] for line in lines if " told secret-" in line]


def traces(client: Client, *values: str) -> list[str]:
    """Where values stand in clear, on the controller's side and on the machine."""
    found = [
        str(path)
        for path in client.data.rglob("*")
        if path.is_file() and "machines" not in path.parts
        for value in values
        if value.encode() in path.read_bytes()
    ]
    listed = " ".join(f"-e {value}" for value in values)
    return found + client.on("0", f"grep -rlF {listed} /var/lib/juju || true").split()


def test_an_admins_secret(town: Client) -> None:
    town.run("add-secret", "apikey", "--file", "-", stdin=f"token: {ADMINS}\n")
    uri = "secret:" + next(iter(town.json("show-secret", "apikey")))
    town.run("config", "reader", f"key={uri}")
    assert ask(town, "reader/0", "config-get key") == uri
    assert "ERROR permission denied" in refused(town, "reader/0", f"secret-get {uri}")
    town.run("grant-secret", "apikey", "reader")
    assert ask(town, "reader/0", f"secret-get $(config-get key) token {_SUM}") == digest(ADMINS)
    assert "ERROR permission denied" in refused(town, "keeper/0", f"secret-get {uri}")
    town.run("revoke-secret", "apikey", "reader")
    assert "ERROR permission denied" in refused(town, "reader/0", f"secret-get {uri} token")
    town.run("remove-secret", "apikey")
    assert traces(town, ADMINS) == []


def test_a_charms_secret(town: Client) -> None:
    uri = ask(town, "keeper/0", f"{_DRAW}; secret-add --label key password=$p; juju-log have $p")
    secret = uri.rpartition("/")[2]
    first = content(town, secret)
    number = ask(town, "keeper/0", "relation-ids server")
    ask(town, "keeper/0", f"secret-grant -r {number} {uri}")
    assert ask(town, "reader/0", f"secret-get {uri} --label mine password {_SUM}") == digest(first)

    ask(town, "keeper/0", f"{_DRAW}; secret-set {uri} password=$p")
    second = content(town, secret)
    assert second != first
    town.until(lambda: town.agents("reader")["reader/0"] == ("active", "idle"))
    assert told(town, "unit-reader-0") == [f"secret-changed secret:{secret} mine -"]
    town.until(lambda: told(town, "unit-keeper-0") == [f"secret-remove secret:{secret} key 1"])
    log, status = town.run("debug-log", "--replay", "--no-tail"), town.run("status", "--format", "json")
    for text in ("have *****", "now it is *****", "printed *****"):
        assert text in log
    assert "knows *****" in status
    assert traces(town, first, second) == []

    ask(town, "keeper/0", f"secret-remove {uri}")
    assert "not found" in refused(town, "reader/0", "secret-get --label mine")


def test_an_expiry_is_told_on_time(town: Client) -> None:
    """A controller process runs; nobody asks."""
    running = town.start("controller", "run")
    try:
        ask(town, "keeper/0", "secret-add --label short --expire 3s password=soon-over")
        begun = time.monotonic()
        secret = next(key for key, entry in town.json("secrets").items() if entry["label"] == "short")
        town.until(lambda: f"secret-expired secret:{secret} short 1" in told(town, "unit-keeper-0"))
        assert time.monotonic() - begun < 3 + 5
        town.until(lambda: secret not in town.json("secrets"))
    finally:
        running.terminate()
        running.wait(20)
        for stream in (running.stdout, running.stderr):
            if stream is not None:
                stream.close()
