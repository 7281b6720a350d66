"""PostgreSQL from Debian, installed by a charm, and a client that reads and writes through it.

Its data lie on storage, the password is handed over in a secret, and its port is open to the client only:
tried by connecting from machines that may and may not.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.charms.client import Client
from tests.charms.test_firewall import connects, host_of_machines

pytestmark = pytest.mark.machine

APPS = Path(__file__).with_name("apps")
PORT = 5432
DEBIAN = "debian@12"


def test_a_database_and_its_client(client: Client) -> None:
    client.run("deploy", APPS / "postgresql", "--base", DEBIAN, "--storage", "pgdata=100M", limit=600)
    client.run("deploy", APPS / "ledger", "--base", DEBIAN, limit=600)
    client.run("integrate", "ledger", "postgresql")
    assert client.agents("postgresql") == {"postgresql/0": ("active", "idle")}
    assert client.agents("ledger") == {"ledger/0": ("active", "idle")}
    assert client.units("postgresql")["postgresql/0"]["open-ports"] == ["5432/tcp"]

    for text in ("the first line", "O'Reilly; DROP TABLE lines", "Grüße"):
        client.run("run", "ledger/0", "add", f"text={text}")
    lines = ["the first line", "O'Reilly; DROP TABLE lines", "Grüße"]
    assert _lines(client) == lines

    _check_storage(client)
    _check_secret(client)
    _check_port(client)

    _reboot(client, "0")
    assert _lines(client) == lines
    client.run("remove-relation", "ledger", "postgresql")
    assert client.agents("ledger") == {"ledger/0": ("waiting", "idle")}
    assert client.run("secrets", "--format", "json").strip() in ("{}", "null")
    client.run("destroy-model", "default", "--no-prompt", "--destroy-storage")


def _lines(client: Client) -> list[str]:
    (task,) = json.loads(client.run("run", "ledger/0", "lines", "--format", "json")).values()
    return str(task["results"]["lines"]).splitlines()


def _check_storage(client: Client) -> None:
    """The data lie on what the model calls storage."""
    (name,) = client.json("storage")["storage"]
    assert name == "pgdata/0"
    where = client.on("postgresql/0", "runuser -u postgres -- psql -At -c 'SHOW data_directory'")
    assert where == "/srv/pgdata/main\n"
    assert client.on("postgresql/0", "findmnt -n -o TARGET -T /srv/pgdata/main") == "/srv/pgdata\n"


def _check_secret(client: Client) -> None:
    """The password is in the secret, on the client and nowhere else: not in bags, logs or statuses."""
    (identity,) = client.json("secrets")
    content = client.json("show-secret", identity, "--reveal")[identity]["content"]["Data"]
    password = content["password"]
    assert len(password) > 20
    assert password in client.on("ledger/0", "cat /etc/ledger/pgpass")
    shown = [client.run("show-unit", unit) for unit in ("postgresql/0", "ledger/0")]
    shown += [*client.log(), client.run("status", "--format", "json"), client.run("explain")]
    shown += [path.read_bytes().decode("utf-8", "replace") for path in client.data.rglob("state.db*")]
    assert not [text for text in shown if password in text]


def _check_port(client: Client) -> None:
    """The client's machine reaches it; one of another model and this host do not, until they are let in."""
    address = client.units("postgresql")["postgresql/0"]["public-address"]
    client.run("add-model", "other", "--no-switch")
    client.run("add-machine", "-m", "other")
    stranger = client.json("status", "-m", "other")["machines"]["0"]["dns-name"]
    connect = f"timeout 2 bash -c '</dev/tcp/{address}/{PORT}' 2>/dev/null && echo yes || echo no"

    def who() -> set[str]:
        found = {"host"} if connects(address, PORT) else set()
        found |= {"ledger"} if client.run("ssh", "ledger/0", connect) == "yes\n" else set()
        return found | ({"stranger"} if client.run("ssh", "-m", "other", "0", connect) == "yes\n" else set())

    assert who() == {"ledger"}
    client.run("expose", "postgresql", "--endpoints", "db", "--to-cidrs", f"{stranger}/32")
    assert who() == {"ledger", "stranger"}
    client.run("expose", "postgresql", "--endpoints", "db", "--to-cidrs", f"{host_of_machines(address)}/32")
    assert who() == {"host", "ledger"}
    client.run("unexpose", "postgresql")
    assert who() == {"ledger"}
    client.run("destroy-model", "other", "--no-prompt")


def _reboot(client: Client, machine: str) -> None:
    script = "cat /proc/sys/kernel/random/boot_id"
    boot = client.on(machine, script)
    client.try_run("ssh", machine, "sudo reboot")

    def is_back() -> bool:
        done = client.try_run("ssh", machine, script)
        return done.rc == 0 and done.stdout != boot

    client.until(is_back)
    client.run("update-status")
