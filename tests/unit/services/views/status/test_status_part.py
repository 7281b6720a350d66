"""A filtered status reads a part of the model, and shows the same as if it had read everything."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from pushjuju.core.clock import from_iso
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.core.values import changed
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import statuses
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views.status import document, status_part, storage_document
from pushjuju.services.views.status.status_filter import filter_status
from pushjuju.store.rows.origin_records import ApplicationOrigin
from pushjuju.store.rows.records import Port, Space
from pushjuju.store.tx import ModelTx
from pushjuju.web.facades.client import _status
from tests.world.controller import TestController
from tests.world.storage import STORES

PATTERNS = (
    "web", "WEB", "web/0", "web/leader", "w*", "web/*", "web/1*", "*", "*/0", "db", "db/0", "log", "log/0",
    "log/leader", "nothing", "nothing/0", "0", "1", "2", "3/lxd/0", "99", "box", "10.9.9.9", "10.9.9.0/24",
    "web-server", "alone", "active", "error", "blocked", "idle", "started", "down", "80/tcp", "icmp",
    "exposed", "bad!name", "2/lxd/0/lxd/0",
)  # fmt: skip
ORIGIN = ApplicationOrigin(
    model="", application="", source="charm-hub", id="i", hash="", revision=1, channel="latest/edge",
    arch="amd64", os="ubuntu", track="latest", latest_url="ch:web-7",
)  # fmt: skip
OF_A_PART = ("web", "WEB", "web/leader", "w*", "*/0", "log/0", "nothing", "3", "3/lxd/0", "box", "10.9.9.9")
OF_ALL = ("active", "Error", "started", "80/tcp", "icmp", "exposed", "not", "10.9.9.0/24", "bad!name", "a_b")


@pytest.fixture
def shop(runtime: TestController) -> TestController:
    """Applications that share machines, with a subordinate, a container, an error and a lost machine."""
    runtime.active("web", 3)
    runtime.active("alone", 1)
    ends = {"host": {"interface": "juju-info", "scope": "container"}}
    runtime.deploy("log", 0, packed=runtime.charms.make("log", subordinate=True, requires=ends))
    integrate.integrate(runtime.ctx, runtime.model, "web", "log")
    runtime.settle()
    places = [Placement.parse(text) for text in ("0", "3", "lxd:3")]
    runtime.deploy("db", 3, placements=places, packed=runtime.charms.make("db", storage=STORES))
    runtime.deploy("web-server", 1)
    runtime.write(_mark)
    return runtime


def _mark(tx: ModelTx) -> None:
    relation = tx.rows("relation_of_application", application="log")[0]["id"]
    text, data = 'hook failed: "host-relation-joined"', {"relation-id": relation}
    statuses.set_status(tx, StatusKind.AGENT, "web/1", "error", text, data=data, now=tx.now)
    tx.insert(
        "port", Port(model=tx.model, unit="web/0", endpoint="", protocol="tcp", from_port=80, to_port=90)
    )
    statuses.set_status(tx, StatusKind.WORKLOAD, "db/0", "blocked", "no disk", now=tx.now)
    for name in ("web", "db"):
        tx.insert("application_origin", changed(ORIGIN, model=tx.model, application=name))
        tx.run("binding_set", application=name, endpoint="x", space="7")
    tx.insert("space", Space(model=tx.model, id="7", name="inner"))
    tx.run("machine_set_unreachable", id="2", now="2025-01-01T00:00:00Z")
    tx.run("machine_set_ssh", id="1", ssh=json.dumps({"user": "u", "host": "box"}))
    tx.run("machine_set_addresses", id="1", addresses="[]")
    address = {"value": "10.9.9.9", "type": "ipv4", "scope": "local-cloud", "nic": "eth0", "mac": ""}
    tx.run("machine_set_addresses", id="3", addresses=json.dumps([address]))


def shown(world: TestController, *patterns: str, part: bool) -> str:
    """Return the filtered status, with the order of its keys."""
    with pytest.MonkeyPatch.context() as patch:
        if not part:
            patch.setattr(status_part, "find", lambda *_: None)
        found = document.document(world.ctx, world.resolve_model(), str, patterns)
    return json.dumps(filter_status(found, patterns)[0], default=str)


def test_a_filtered_status_is_the_same_when_only_a_part_of_the_model_is_read(shop: TestController) -> None:
    singles = [(pattern,) for pattern in PATTERNS]
    pairs = list(itertools.combinations(PATTERNS, 2))[::7]
    texts = ("log/2", "80-90/tcp", "for log:", "latest/edge", "inner", '"storage": {"data/')
    assert all(text in shown(shop, "web", "db", part=True) for text in texts)
    for patterns in [*singles, *pairs, ("not", "exposed")]:
        assert shown(shop, *patterns, part=True) == shown(shop, *patterns, part=False), patterns


def test_an_application_has_the_version_and_the_status_of_the_units_that_match(
    runtime: TestController,
) -> None:
    runtime.active("web", 3)
    for name, version, day in (("web/1", "1.0", 1), ("web/0", "2.0", 2)):
        moment = from_iso(f"2026-01-0{day}T00:00:00Z")
        runtime.write(
            lambda tx, name=name, version=version, at=moment: units.set_version(tx, name, version, at)
        )
    runtime.write(
        lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", "blocked", "no disk", now=tx.now)
    )

    def found(*patterns: str) -> tuple[str | None, str, str | None, str]:
        """Return version and status, for the command and for clients of the API."""
        web = json.loads(shown(runtime, *patterns, part=True))["applications"]["web"]
        wire: Any = _status(runtime.ctx, runtime.model, patterns, with_storage=False)["applications"]
        there = wire["web"]
        return (
            web.get("version"), web["application-status"]["current"],
            there["workload-version"], there["status"]["status"],
        )  # fmt: skip

    assert found() == found("web") == found("web/0") == ("2.0", "blocked", "2.0", "blocked")
    assert found("web/1") == ("1.0", "unknown", "1.0", "unknown")
    assert found("web/2") == (None, "unknown", "", "unknown")
    assert found("web/1", "web/2")[0] == "1.0"


def test_a_part_without_storage_reads_no_storage(
    shop: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, combined = list[str](), storage_document.combined

    def note(tx: ModelTx, *moment: Any) -> dict[str, object]:
        read.append(pattern)
        return combined(tx, *moment)

    monkeypatch.setattr(storage_document, "combined", note)
    for pattern in ("web-server", "4", "db", "3", "web"):
        shown(shop, pattern, part=True)
    assert read == ["db", "3", "web"]


def test_names_and_addresses_lead_to_a_part_of_the_model(shop: TestController) -> None:
    def find(*patterns: str) -> status_part.Part | None:
        found: status_part.Part | None = shop.read(lambda tx: status_part.find(tx, patterns))
        return found

    assert {pattern: find(pattern) for pattern in OF_A_PART if find(pattern) is None} == {}
    assert {pattern: find(pattern) for pattern in OF_ALL if find(pattern) is not None} == {}
    assert find("alone") == (["alone", "db"], ["3"], {"", "3"})
    assert find("web/2") == (["log", "web"], [], {"", "2"})
    assert find("box") == (["box", "log", "web"], ["1"], {"", "1"})
    assert find("web", "active") is None


def test_a_part_of_many_applications_is_read_as_the_whole_model(runtime: TestController) -> None:
    for number in range(status_part.MOST + 1):
        runtime.deploy(f"many{chr(97 + number)}", 0)

    def find(pattern: str) -> status_part.Part | None:
        found: status_part.Part | None = runtime.read(lambda tx: status_part.find(tx, [pattern]))
        return found

    assert find("many*") is None
    assert find("manya") == (["manya"], [], {""})
