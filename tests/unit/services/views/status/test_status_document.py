"""The status document: keys, their order, and what is shown in place of what is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushjuju import JUJU_VERSION
from pushjuju.core.clock import to_iso
from pushjuju.core.status import Agent, StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings
from pushjuju.services.views.relation_rows import relation_rows
from pushjuju.services.views.status import document
from pushjuju.store.rows.records import Relation, RelationEndpoint
from tests.world.controller import TestController
from tests.world.machine import ok, status_event

LOST = "agent is not communicating with the server"


def _document(runtime: TestController) -> dict[str, Any]:
    return document.document(runtime.ctx, runtime.resolve_model())


def _app(runtime: TestController, name: str = "web") -> dict[str, Any]:
    found: dict[str, Any] = _document(runtime)["applications"][name]
    return found


def _unit(runtime: TestController, name: str = "web/0") -> dict[str, Any]:
    found: dict[str, Any] = _app(runtime, name.partition("/")[0])["units"][name]
    return found


def _current(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["current"], entry.get("message", "")


def _silent(runtime: TestController, machine: str = "0") -> None:
    now = to_iso(runtime.clock.now())
    runtime.write(lambda tx: tx.run("machine_set_unreachable", id=machine, now=now))


def _say(runtime: TestController, kind: StatusKind, entity: str, *words: str, **more: Any) -> None:
    runtime.clock.now()
    runtime.write(lambda tx: statuses.set_status(tx, kind, entity, *words, **more))


# --- the whole --------------------------------------------------------------------------------------------


def test_empty_model(runtime: TestController) -> None:
    found = _document(runtime)
    assert list(found) == ["model", "machines", "applications", "storage", "controller"]
    assert found["model"] == {
        "name": "shop",
        "type": "iaas",
        "controller": "home",
        "cloud": "local",
        "region": "default",
        "version": JUJU_VERSION,
        "model-status": {"current": "available", "since": runtime.clock.now()},
        "sla": "unsupported",
    }
    assert (found["machines"], found["applications"], found["storage"]) == ({}, {}, {})
    assert found["controller"] == {"timestamp": runtime.clock.now()}


def test_new_unit_on_a_pending_machine(runtime: TestController) -> None:
    runtime.deploy(constraints={"mem": 2048})
    found, now = _document(runtime), runtime.clock.now()
    assert found["machines"]["0"] == {
        "juju-status": {"current": "pending", "since": now, "version": JUJU_VERSION},
        "instance-id": "pending",
        "machine-status": {"current": "pending", "since": now},
        "modification-status": {"current": "idle", "since": now},
        "base": {"name": "ubuntu", "channel": "22.04"},
        "constraints": "mem=2048M",
    }
    assert found["applications"]["web"] == {
        "charm": "local:web-0",
        "base": {"name": "ubuntu", "channel": "22.04"},
        "charm-origin": "local",
        "charm-name": "web",
        "charm-rev": 0,
        "exposed": False,
        "application-status": {"current": "waiting", "message": "waiting for machine", "since": now},
        "relations": {
            "cluster": [{"related-application": "web", "interface": "web-cluster", "scope": "global"}]
        },
        "units": {
            "web/0": {
                "workload-status": {"current": "waiting", "message": "waiting for machine", "since": now},
                "juju-status": {"current": "allocating", "since": now},
                "machine": "0",
            }
        },
    }


def test_order_of_keys_on_a_machine_that_runs(runtime: TestController) -> None:
    runtime.active(constraints={"cores": 2})
    machine = _document(runtime)["machines"]["0"]
    assert list(machine) == [
        "juju-status",
        "hostname",
        "dns-name",
        "ip-addresses",
        "instance-id",
        "machine-status",
        "modification-status",
        "base",
        "network-interfaces",
        "constraints",
        "hardware",
    ]
    assert machine["network-interfaces"] == {
        "eth0": {
            "ip-addresses": ["10.0.0.2"],
            "mac-address": "00:16:3e:00:00:01",
            "space": "alpha",
            "is-up": True,
        }
    }
    assert machine["hardware"] == "arch=amd64 cores=2"
    assert (machine["dns-name"], machine["instance-id"]) == ("10.0.0.2", "i-0")


def test_order_of_keys_of_a_unit(runtime: TestController) -> None:
    packed = runtime.charms.make(files={"version": "v1.2"})
    runtime.active(packed=packed)
    runtime.played().will(
        "config-changed",
        ok(
            writes={
                "ports": {
                    "open": [_port(443), _port(80), _port(53, 60, "udp"), _port(80, endpoint="cluster")]
                }
            },
            events=[{"seq": 1, "e": {"k": "version", "version": "9.9"}}],
        ),
    )

    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    runtime.settle()
    runtime.refresh(runtime.charms.make(files={"version": "v2"}))
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    unit, app = _unit(runtime), _app(runtime)
    assert list(unit) == [
        "workload-status",
        "juju-status",
        "leader",
        "upgrading-from",
        "machine",
        "open-ports",
        "public-address",
    ]
    assert list(app) == [
        "charm",
        "base",
        "charm-origin",
        "charm-name",
        "charm-rev",
        "charm-version",
        "exposed",
        "life",
        "application-status",
        "relations",
        "units",
        "version",
    ]
    assert unit["open-ports"] == ["80/tcp", "443/tcp", "53-60/udp"]
    assert (unit["upgrading-from"], unit["leader"], unit["machine"]) == ("local:web-0", True, "0")
    assert unit["juju-status"]["life"] == "dying"
    assert unit["juju-status"]["version"] == JUJU_VERSION
    assert (app["charm-version"], app["version"], app["life"]) == ("v2", "9.9", "dying")
    assert (app["charm"], app["charm-rev"]) == ("local:web-1", 1)


def _port(first: int, last: int = 0, protocol: str = "tcp", endpoint: str = "") -> dict[str, Any]:
    return {"endpoint": endpoint, "protocol": protocol, "from": first, "to": last or first}


def test_icmp_has_no_number(runtime: TestController) -> None:
    runtime.active()
    port = {"endpoint": "", "protocol": "icmp", "from": -1, "to": -1}
    runtime.played().will("update-status", ok(writes={"ports": {"open": [port, _port(1)]}}))
    runtime.clock.advance(400)
    runtime.settle()
    assert _unit(runtime)["open-ports"] == ["icmp", "1/tcp"]


def test_units_and_machines_in_natural_order(runtime: TestController) -> None:
    runtime.deploy(count=11)
    found = _document(runtime)
    assert list(found["machines"])[1:3] == ["1", "2"]
    assert list(found["applications"]["web"]["units"])[-1] == "web/10"


def test_model_that_is_destroyed(runtime: TestController) -> None:
    runtime.active()
    from pushjuju.services.entities.model import models

    runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx)))
    found = _document(runtime)
    assert _current(found["model"]["model-status"]) == ("destroying", "")
    assert found["applications"]["web"]["life"] == "dying"


def test_dying_machine(runtime: TestController) -> None:
    runtime.deploy()
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    machine = _document(runtime)["machines"]["0"]
    assert (machine["juju-status"]["current"], machine["juju-status"]["life"]) == ("stopped", "dying")


# --- what a unit shows ------------------------------------------------------------------------------------


def test_error_is_shown_as_the_workloads(runtime: TestController) -> None:
    runtime.active()
    runtime.played().will("config-changed", ok(outcome="failed", events=[status_event(1, "active", "up")]))

    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    runtime.settle()
    unit = _unit(runtime)
    assert _current(unit["workload-status"]) == ("error", 'hook failed: "config-changed"')
    assert _current(unit["juju-status"]) == ("idle", "")
    assert _current(_app(runtime)["application-status"]) == ("error", 'hook failed: "config-changed"')
    assert runtime.workload() == ("active", "up")  # kept underneath


def test_error_of_a_peer_relation_names_nobody_else(runtime: TestController) -> None:
    """Juju appends the endpoint of another application; a peer relation has none."""
    runtime.deploy(count=2)
    runtime.played("0").fail("cluster-relation-joined")
    runtime.settle()
    assert _current(_unit(runtime)["workload-status"]) == ("error", 'hook failed: "cluster-relation-joined"')


def test_error_of_a_relation_names_the_other_side(runtime: TestController) -> None:
    runtime.active()
    runtime.active("mysql", packed=runtime.charms.make("mysql"))
    relation = Relation(
        model=runtime.model,
        id=9,
        key="web:db mysql:server",
        life="alive",
        scope="global",
        created=runtime.clock.now(),
    )
    sides = [
        RelationEndpoint(
            model=runtime.model, relation=9, application=app, endpoint=name, role=role, interface="mysql"
        )
        for app, name, role in (("web", "db", "requirer"), ("mysql", "server", "provider"))
    ]
    runtime.write(lambda tx: tx.insert("relation", relation))
    for side in sides:
        runtime.write(lambda tx, side=side: tx.insert("relation_endpoint", side))
    _say(runtime, StatusKind.AGENT, "web/0", Agent.ERROR, 'hook failed: "db-relation-changed"',
         data={"hook": "db-relation-changed", "relation-id": 9, "remote-unit": "mysql/0"})  # fmt: skip
    assert _current(_unit(runtime)["workload-status"]) == (
        "error",
        'hook failed: "db-relation-changed" for mysql:server',
    )
    assert _current(_app(runtime)["application-status"]) == ("error", 'hook failed: "db-relation-changed"')
    _say(runtime, StatusKind.AGENT, "web/0", Agent.ERROR, 'hook failed: "x"', data={"relation-id": 77})
    assert _current(_unit(runtime)["workload-status"]) == ("error", 'hook failed: "x"')
    rows = relation_rows(runtime.ctx, runtime.model)
    assert {"id": 9, "provider": "mysql:server", "requirer": "web:db", "interface": "mysql",
            "type": "regular", "status": "joining", "message": ""} in rows  # fmt: skip


@pytest.mark.parametrize(
    ("workload", "agent", "shown"),
    [
        (
            ("active", "up"),
            ("idle", ""),
            (("unknown", "agent lost, see 'pushjuju show-status-log web/0'"), "lost"),
        ),
        (("terminated", ""), ("idle", ""), (("terminated", ""), "lost")),
        (("active", ""), ("error", "hook failed"), (("error", "hook failed"), "lost")),
        (("active", ""), ("executing", "running start hook"), (("unknown", "agent lost, see"), "lost")),
        (("active", ""), ("executing", "running install hook"), (("active", ""), "executing")),
        (("waiting", "waiting for machine"), ("allocating", ""), (("waiting", ""), "allocating")),
        (("maintenance", "installing charm software"), ("idle", ""), (("maintenance", ""), "idle")),
        (("waiting", "agent initialising"), ("idle", ""), (("waiting", ""), "idle")),
    ],
)
def test_unit_of_a_silent_machine(
    runtime: TestController,
    workload: tuple[str, str],
    agent: tuple[str, str],
    shown: tuple[tuple[str, str], str],
) -> None:
    runtime.active()
    _say(runtime, StatusKind.WORKLOAD, "web/0", *workload)
    _say(runtime, StatusKind.AGENT, "web/0", *agent)
    _silent(runtime)
    runtime.clock.advance(59)
    assert _unit(runtime)["juju-status"]["current"] != "lost"
    runtime.clock.advance(1)
    unit = _unit(runtime)
    word, text = _current(unit["workload-status"])
    assert (word, unit["juju-status"]["current"]) == (shown[0][0], shown[1])
    assert text.startswith(shown[0][1])
    if shown[1] == "lost":
        assert _current(unit["juju-status"]) == ("lost", LOST)


@pytest.mark.parametrize(
    ("stored", "shown"),
    [("started", ("down", LOST)), ("pending", ("pending", "")), ("stopped", ("stopped", ""))],
)
def test_silent_machine(runtime: TestController, stored: str, shown: tuple[str, str]) -> None:
    runtime.active()
    _say(runtime, StatusKind.MACHINE, "0", stored)
    _silent(runtime)
    runtime.clock.advance(60)
    assert _current(_document(runtime)["machines"]["0"]["juju-status"]) == shown


def test_machine_that_answers_again(runtime: TestController) -> None:
    runtime.active()
    _silent(runtime)
    runtime.clock.advance(60)
    runtime.write(lambda tx: runtime.note_facts(tx, "0", runtime.played().hello()))
    assert _current(_document(runtime)["machines"]["0"]["juju-status"]) == ("started", "")
    assert _unit(runtime)["juju-status"]["current"] == "idle"


# --- what an application shows ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("units", "shown"),
    [
        (["active", "active", "active"], ("active", "0")),
        (["active", "waiting", "active"], ("waiting", "1")),
        (["maintenance", "waiting", "blocked"], ("blocked", "2")),
        (["unknown", "unknown", "unknown"], ("unknown", "")),
        (["terminated", "unknown", "active"], ("active", "2")),
        (["blocked", "blocked", "active"], ("blocked", "0")),
    ],
)
def test_derived_status(runtime: TestController, units: list[str], shown: tuple[str, str]) -> None:
    runtime.deploy(count=3)
    for number, word in enumerate(units):
        _say(runtime, StatusKind.WORKLOAD, f"web/{number}", word, str(number))
    assert _current(_app(runtime)["application-status"]) == shown


def test_leaders_word_replaces_the_derived_one(runtime: TestController) -> None:
    runtime.active()
    _say(runtime, StatusKind.WORKLOAD, "web/0", "blocked")
    _say(runtime, StatusKind.APPLICATION, "web", "active", "all is well")
    assert _current(_app(runtime)["application-status"]) == ("active", "all is well")


def test_application_without_units(runtime: TestController) -> None:
    runtime.deploy(
        "sub",
        0,
        packed=runtime.charms.make(
            "sub", subordinate=True, requires={"h": {"interface": "juju-info", "scope": "container"}}
        ),
    )
    found = _app(runtime, "sub")
    assert found["application-status"] == {"current": "unknown"}
    assert "units" not in found


def test_document_is_plain_data(runtime: TestController) -> None:
    runtime.active()
    json.dumps(_document(runtime), default=str)
