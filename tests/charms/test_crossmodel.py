"""Two models, real machines, real ops charms: a database is offered in one and used from the other."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.charms.client import Client
from tests.charms_tools.packing import add_packages

pytestmark = pytest.mark.machine

APPS = Path(__file__).with_name("apps")
PORT = 5432


def tree(name: str, root: Path) -> Path:
    """Return a charm of ours with ops in it."""
    target = root / name
    shutil.copytree(APPS / name, target)
    add_packages(target)
    return target


def told(client: Client, model: str, unit: str) -> tuple[str, str]:
    """Return what a charm says of itself: (status, message)."""
    found = client.json("status", "-m", model)["applications"][unit.partition("/")[0]]["units"][unit]
    status = found["workload-status"]
    return status["current"], status.get("message", "")


def reaches(client: Client, address: str) -> bool:
    script = f"timeout 2 bash -c '</dev/tcp/{address}/{PORT}' 2>/dev/null && echo yes || echo no"
    return client.run("ssh", "-m", "users", "asker/0", script) == "yes\n"


def address(client: Client, model: str) -> str:
    return str(client.json("status", "-m", model)["machines"]["0"]["dns-name"])


def test_a_database_for_another_model(client: Client, tmp_path: Path) -> None:
    client.run("bootstrap", "local", "home")
    client.run("add-model", "stores", "--no-switch")
    client.run("add-model", "users")
    client.run("deploy", "-m", "stores", tree("keeper", tmp_path), limit=300)
    client.run("deploy", tree("asker", tmp_path), limit=300)
    assert told(client, "users", "asker/0") == ("blocked", "no database")
    there = address(client, "stores")
    assert not reaches(client, there)

    client.run("offer", "stores.keeper:database", "db")
    client.run("integrate", "asker", "stores.db", limit=300)
    got = ("active", f"users at {there}:{PORT}, password of 12 from db")
    assert told(client, "users", "asker/0") == got
    assert told(client, "stores", "keeper/0") == ("active", "1 served")
    assert reaches(client, there)
    _check_documents(client)
    (password,) = client.json("secrets", "-m", "stores")
    ask = f"secret-get secret://{client.json('show-model', 'stores')['stores']['model-uuid']}/{password}"
    assert "password" in client.run("exec", "-u", "asker/0", "--", ask)

    client.run("suspend-relation", "-m", "stores", "0", "--message", "rest", limit=300)
    assert told(client, "users", "asker/0") == ("blocked", "no database")
    assert told(client, "stores", "keeper/0") == ("active", "0 served")
    assert not reaches(client, there)
    assert "suspended  rest" in client.run("status", "--relations")
    assert "permission denied" in str(client.try_run("exec", "-u", "asker/0", "--", ask))

    client.run("resume-relation", "-m", "stores", "0", limit=300)
    assert told(client, "users", "asker/0") == got
    assert reaches(client, there)

    refused = client.fail("remove-offer", "stores.db")
    assert 'cannot delete application offer "db": offer has 1 relation' in refused.error
    client.run("remove-saas", "db", limit=300)
    assert told(client, "users", "asker/0") == ("blocked", "no database")
    assert not reaches(client, there)
    assert "application-endpoints" not in client.json("status")
    client.run("remove-offer", "stores.db")
    for model in ("users", "stores"):
        client.run("destroy-model", "--no-prompt", model, limit=300)


def _check_documents(client: Client) -> None:
    shown: dict[str, Any] = client.json("status")["application-endpoints"]["db"]
    assert (shown["url"], shown["relations"]) == ("home:admin/stores.db", {"database": ["asker"]})
    assert shown["application-status"]["current"] == "active"
    offer = client.json("offers", "-m", "stores")["db"]
    (link,) = offer["connections"]
    assert link["status"]["current"] == "joined"
    assert link["ingress-subnets"] == [f"{address(client, 'users')}/32"]
    remote = client.run("exec", "-m", "stores", "--unit", "keeper/0", "relation-list -r database:0").strip()
    assert re.fullmatch(r"remote-[0-9a-f]{32}/0", remote)
    uuid = client.run("exec", "--unit", "asker/0", "relation-model-get -r store:0").strip()
    assert uuid == f"uuid: {client.json('show-model', 'stores')['stores']['model-uuid']}"
