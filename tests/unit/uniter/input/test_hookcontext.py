"""What hook tools are answered from: the snapshot that travels with a hook."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushjuju.core.model.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership, statuses
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.relation import relations
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import unit_requests
from pushjuju.store.rows.records import Relation, RelationEndpoint, RelationScope
from pushjuju.workers import live
from tests.world import related
from tests.world.controller import TestController
from tests.world.machine import ok

MAC = "00:16:3e:00:00:01"


def _context(runtime: TestController, hook: str = "update-status", unit: str = "web/0") -> dict[str, Any]:
    if hook == "update-status":
        runtime.clock.advance(400)
    found: dict[str, Any] = dict(runtime.until(hook, unit).frame["context"])
    return found


def _asked(runtime: TestController, tool: str, *words: str, unit: str = "web/0") -> dict[str, Any]:
    code, out, err = live.answer(runtime.ctx, runtime.model, unit, tool, ["--", *words])
    assert (code, err) == (0, b"")
    found: dict[str, Any] = json.loads(out)
    return found


def _network(*addresses: str) -> dict[str, Any]:
    entries = [{"hostname": "", "value": item, "cidr": "10.0.0.0/24"} for item in addresses]
    return {
        "bind-addresses": [{"mac-address": MAC, "interface-name": "eth0", "addresses": entries}],
        "egress-subnets": [f"{addresses[0]}/32"],
        "ingress-addresses": list(addresses),
    }


def test_whole_context_of_the_first_hook(runtime: TestController) -> None:
    packed = runtime.charms.make(
        provides={"site": {"interface": "http"}}, requires={"db": {"interface": "pg"}},
        **{"extra-bindings": {"admin": None}},
    )  # fmt: skip
    runtime.deploy(settings={"port": 81}, packed=packed)
    context = _context(runtime, "install")
    names = ["site", "db", "cluster", "admin", "juju-info"]
    assert sorted(context.pop("endpoints")) == sorted(names)
    bindings = context["network"].pop("bindings")
    assert sorted(bindings) == sorted(names)
    assert all(info == _network("10.0.0.2") for info in bindings.values())
    installing = {"status": "maintenance", "message": "installing charm software", "data": {}}
    expected = {
        "unit": "web/0",
        "app": "web",
        "model_uuid": runtime.model,
        "model_name": "shop",
        "kind": "hook",
        "hook": "install",
        "relation": None,
        "config": {"title": "hello", "port": 81, "debug": False, "ratio": None, "note": None},
        "leader": True,
        "leader_settings": {},
        "status": {"unit": installing},
        "relations": {},
        "ports": {"unit": [], "machine": []},
        "network": {"relations": {}, "private_address": "10.0.0.2", "public_address": "10.0.0.2"},
        "state": {},
        "action": None,
    }
    later = {"payload_classes", "storage", "secrets", "trusted"}  # what other families of tools may add
    assert {key: value for key, value in context.items() if key not in later} == expected


def test_peer_relation(runtime: TestController) -> None:
    runtime.active(count=3)
    context = _context(runtime, unit="web/1")
    assert list(context["relations"]) == ["0"]
    relation = context["relations"]["0"]
    address = {
        f"web/{number}": {
            "egress-subnets": f"10.0.0.{number + 2}/32",
            "ingress-address": f"10.0.0.{number + 2}",
            "private-address": f"10.0.0.{number + 2}",
        }
        for number in range(3)
    }
    assert relation == {
        "endpoint": "cluster",
        "interface": "web-cluster",
        "role": "peer",
        "life": "alive",
        "suspended": False,
        "remote_app": "web",
        "members": ["web/0", "web/2"],
        "unit_bags": address,
        "app_bags": {"web": {}},
        "key": "web:cluster",
        "remote_model_uuid": runtime.model,
    }


@pytest.mark.parametrize(
    ("hook", "relation"),
    [
        ("cluster-relation-created", {"remote_unit": "", "departing_unit": ""}),
        ("cluster-relation-joined", {"remote_unit": "web/1", "departing_unit": ""}),
        ("cluster-relation-changed", {"remote_unit": "web/1", "departing_unit": ""}),
        ("cluster-relation-departed", {"remote_unit": "web/1", "departing_unit": "web/1"}),
    ],
)
def test_relation_of_the_hook(runtime: TestController, hook: str, relation: dict[str, str]) -> None:
    runtime.deploy(count=2)
    runtime.work("1")
    if hook.endswith("departed"):
        runtime.settle()
        removals.remove_units(runtime.ctx, runtime.model, ["web/1"])
    context = _context(runtime, hook)
    assert context["relation"] == {"id": 0, "endpoint": "cluster", "remote_app": "web", **relation}


def test_members_in_joined_and_departed(runtime: TestController) -> None:
    """The one that joins counts already, the one that departs no more; its settings stay readable."""
    runtime.deploy(count=3)
    runtime.work("1")
    runtime.work("2")
    assert _context(runtime, "cluster-relation-created")["relations"]["0"]["members"] == []
    runtime.write(lambda tx: tx.run("unit_set_resolved", name="web/0", resolved="retry-hooks"))
    joined = _context(runtime, "cluster-relation-joined")
    assert joined["relation"]["remote_unit"] == "web/1"
    assert joined["relations"]["0"]["members"] == ["web/1"]
    runtime.write(lambda tx: tx.run("unit_set_resolved", name="web/0", resolved="retry-hooks"))
    runtime.settle()
    removals.remove_units(runtime.ctx, runtime.model, ["web/2"])
    departed = _context(runtime, "cluster-relation-departed")
    assert departed["relations"]["0"]["members"] == ["web/1"]
    assert departed["relations"]["0"]["unit_bags"]["web/2"]["private-address"] == "10.0.0.4"


def test_settings_of_all_see_each_other(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clock.advance(400)
    runtime.hook("update-status", ok(writes={"relations": {"0": {"unit": {"k": "v"}, "app": {"a": "b"}}}}))
    runtime.settle()
    relation = _context(runtime, unit="web/1")["relations"]["0"]
    assert relation["unit_bags"]["web/0"]["k"] == "v"
    assert relation["app_bags"] == {"web": {"a": "b"}}


def test_leadership(runtime: TestController) -> None:
    runtime.active(count=2)
    settings = {"a": "1"}
    runtime.write(lambda tx: leadership.set_settings(tx, units.get(tx, "web/0"), settings))
    context = _context(runtime)
    assert (context["leader"], context["leader_settings"]) == (True, settings)
    other = _context(runtime, "leader-settings-changed", "web/1")
    assert (other["leader"], other["leader_settings"]) == (False, settings)


def test_statuses_are_the_charms_own(runtime: TestController) -> None:
    """In error, status-get still tells what the charm said."""
    runtime.deploy(count=2)
    runtime.played("0").will("start", ok(outcome="failed", writes={"status_set": True}, events=[
        {"seq": 1, "e": {"k": "status", "scope": "unit", "status": "blocked", "message": "no db"}},
    ]))  # fmt: skip
    runtime.settle()
    assert runtime.agent()[0] == "error"
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=True)
    blocked = {"status": "blocked", "message": "no db", "data": {}}
    assert _context(runtime, "start")["status"] == {"unit": blocked}
    status = _asked(runtime, "status-get", "--application")
    assert status["app"] == blocked
    assert status["units"]["web/1"]["status"] == "unknown"


def test_applications_own_status(runtime: TestController) -> None:
    runtime.active()
    runtime.clock.now()
    runtime.write(lambda tx: statuses.set_status(tx, StatusKind.APPLICATION, "web", "active", "all"))
    status = _asked(runtime, "status-get", "--application")
    assert status["app"] == {"status": "active", "message": "all", "data": {}}


def test_ports_of_the_machine(runtime: TestController) -> None:
    runtime.active("db", packed=runtime.charms.make("db", peers=None))
    runtime.deploy("web", 1, placements=[Placement.parse("0")])
    runtime.settle()
    port = {"endpoint": "", "protocol": "tcp", "from": 100, "to": 200}
    runtime.clock.advance(400)
    runtime.hook("update-status", ok(writes={"ports": {"open": [port]}}), "db/0")
    own = {"endpoint": "cluster", "protocol": "udp", "from": 53, "to": 53}
    runtime.hook("update-status", ok(writes={"ports": {"open": [own]}}))
    runtime.settle()
    assert _context(runtime)["ports"] == {
        "unit": [own],
        "machine": [{"unit": "db/0", "protocol": "tcp", "from": 100, "to": 200}],
    }


def test_charm_state(runtime: TestController) -> None:
    runtime.active()
    runtime.clock.advance(400)
    runtime.hook("update-status", ok(writes={"state": {"k": "v", "e": ""}}))
    assert _context(runtime)["state"] == {"k": "v", "e": ""}


def test_large_charm_state_stays_with_the_controller_until_it_is_asked_for(runtime: TestController) -> None:
    """A hook that does not read it pays nothing for it, however large: no statement reads its rows."""
    runtime.active()
    runtime.clock.advance(400)
    state = {f"key-{number}": "v" for number in range(50_000)}
    assert runtime.hook("update-status", ok(writes={"state": state})).message == ""
    asked: list[str] = []
    runtime.ctx.store._connection.set_trace_callback(asked.append)
    runtime.clock.advance(400)
    dispatch = runtime.until("update-status")
    context = dispatch.frame["context"]
    runtime.commit(dispatch, ok(writes={"state": {"key-0": None, "key-x": "new"}}))
    runtime.ctx.store._connection.set_trace_callback(None)
    assert context["state"] is None
    assert not [statement for statement in asked if "SELECT key, value FROM charm_state" in statement]
    found = _asked(runtime, "state-get")
    assert found == {**{key: "v" for key in state if key != "key-0"}, "key-x": "new"}
    assert len(json.dumps(context)) < 10_000


def test_egress_of_the_model(runtime: TestController) -> None:
    config = {"egress-subnets": "192.0.2.0/24"}
    runtime.write(lambda tx: model_config.change(tx, config))
    runtime.active()
    info = _context(runtime)["network"]["bindings"]["cluster"]
    assert info == {**_network("10.0.0.2"), "egress-subnets": ["192.0.2.0/24"]}


def test_machine_without_known_addresses(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played()
    runtime.ctx.store._connection.execute(
        """UPDATE machine SET addresses = '[]', ssh = '{"host": "192.0.2.9"}'"""
    )
    context = _context(runtime, "install")
    assert context["network"]["private_address"] == "192.0.2.9"
    assert context["network"]["bindings"]["cluster"] == {
        "bind-addresses": [
            {
                "mac-address": "",
                "interface-name": "",
                "addresses": [{"hostname": "", "value": "192.0.2.9", "cidr": ""}],
            }
        ],
        "egress-subnets": ["192.0.2.9/32"],
        "ingress-addresses": ["192.0.2.9"],
    }


def test_goal_state_of_dying_peers(runtime: TestController) -> None:
    runtime.active(count=2)
    removals.remove_units(runtime.ctx, runtime.model, ["web/1"])
    goal = _asked(runtime, "goal-state")
    assert goal["units"]["web/1"]["status"] == "dying"
    assert goal["units"]["web/0"]["status"] == "unknown"
    assert goal["relations"] == {}  # peers are left out


def test_goal_state_lists_of_subordinates_those_with_the_same_principal(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log", "shipper", count=2)
    for ends in (("log:access", "web"), ("shipper:host", "web"), ("shipper:source", "log")):
        runtime.integrate(*ends)
        runtime.settle()
    on = {unit.principal: unit.name for unit in runtime.read(lambda tx: units.of_application(tx, "log"))}
    shippers = {
        unit.principal: unit.name for unit in runtime.read(lambda tx: units.of_application(tx, "shipper"))
    }
    goal = _asked(runtime, "goal-state")
    assert set(goal["units"]) == {"web/0", "web/1"}
    assert set(goal["relations"]["site"]) == {"log", on["web/0"]}
    goal = _asked(runtime, "goal-state", unit=on["web/1"])
    assert set(goal["units"]) == {on["web/1"]}
    assert set(goal["relations"]["access"]) == {"web", "web/0", "web/1"}
    assert set(goal["relations"]["lines"]) == {"shipper", shippers["web/1"]}


def test_relation_between_applications(runtime: TestController) -> None:
    """The provider's side of a relation that the unit has entered."""
    packed = runtime.charms.make(provides={"site": {"interface": "http"}})
    client = runtime.charms.make("client", peers=None, requires={"www": {"interface": "http"}})
    runtime.deploy(packed=packed)
    runtime.deploy("client", packed=client)

    def relate(tx: Any) -> None:
        relation = Relation(
            model=runtime.model, id=5, key="client:www web:site", life="alive", scope="global",
            created=runtime.clock.now(),
        )  # fmt: skip
        tx.insert("relation", relation)
        for app, name, role in (("client", "www", "requirer"), ("web", "site", "provider")):
            side = RelationEndpoint(
                model=runtime.model, relation=5, application=app, endpoint=name, role=role, interface="http"
            )
            tx.insert("relation_endpoint", side)
            relations.put_bag(tx, 5, app, {})

    runtime.write(relate)
    runtime.settle()
    context = _context(runtime)
    relation = context["relations"]["5"]
    assert {
        key: relation[key] for key in ("endpoint", "role", "remote_app", "members", "key", "app_bags")
    } == {
        "endpoint": "site",
        "role": "provider",
        "remote_app": "client",
        "members": ["client/0"],
        "key": "client:www web:site",
        "app_bags": {"client": {}, "web": {}},
    }
    assert sorted(relation["unit_bags"]) == ["client/0", "web/0"]
    goal = _asked(runtime, "goal-state")["relations"]
    assert sorted(goal["site"]) == ["client", "client/0"]
    assert goal["site"]["client/0"]["status"] == "unknown"
    scopes: list[RelationScope] = runtime.read(lambda tx: relations.scopes(tx, 5))
    assert [item.unit for item in scopes] == ["client/0", "web/0"]


def test_only_the_leader_hears_of_the_status_of_the_application(runtime: TestController) -> None:
    runtime.active(count=2)
    asked = live.answer(runtime.ctx, runtime.model, "web/1", "status-get", ["--", "--application"])
    assert asked == (1, b"", b"ERROR finding application status: this unit is not the leader\n")


def test_units_of_the_own_application_are_seen_in_peer_relations_only(runtime: TestController) -> None:
    packed = runtime.charms.make(provides={"site": {"interface": "http"}})
    client = runtime.charms.make("client", peers=None, requires={"www": {"interface": "http"}})
    runtime.deploy(packed=packed, count=2)
    runtime.deploy("client", packed=client)
    number = str(runtime.integrate("web", "client"))
    runtime.write(lambda tx: relations.put_bag(tx, int(number), "web/1", {"k": "v"}))
    bags = {item["endpoint"]: set(item["unit_bags"]) for item in _context(runtime)["relations"].values()}
    assert bags == {"cluster": {"web/0", "web/1"}, "site": {"web/0", "client/0"}}

    def ask(*words: str, unit: str = "web/0") -> tuple[int, bytes, bytes]:
        return live.answer(runtime.ctx, runtime.model, unit, "relation-get", ["--", *words])

    assert ask(number, "web/1") == (0, b'{"k": "v"}', b"")
    assert ask(number, "client/0")[2] == b"ERROR permission denied\n"
    assert ask(number, "web/9")[2].endswith(b'unit "web/9": settings not found\n')
    assert ask("99", "web/1")[2] == ask("x", "web/1")[2] == b"ERROR relation not found\n"
    assert ask(number)[0] == 1
