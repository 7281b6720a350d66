"""Relations between applications: what may be related, who joins whom, how it ends."""

from __future__ import annotations

from functools import partial

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.relation import integrate
from tests.world import related
from tests.world.controller import TestController

NOBLE = Base.parse("ubuntu@24.04")


# --- what may be related ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "key"),
    [
        ("web", "mysql", "web:db mysql:server"),
        ("mysql:server", "web:db", "web:db mysql:server"),
        ("web", "twins:b", "web:db twins:b"),
        ("log", "web", "log:access web:site"),
        ("log:host", "web", "log:host web:juju-info"),
        ("mysql", "log", "log:host mysql:juju-info"),
        ("monitor", "mysql", "monitor:target mysql:juju-info"),
        ("log", "shipper:source", "shipper:source log:lines"),
    ],
)
def test_inference(runtime: TestController, first: str, second: str, key: str) -> None:
    related.deploy(runtime, "web", "mysql", "twins", "log", "shipper", "monitor")
    made = integrate.integrate(runtime.ctx, runtime.model, first, second)
    assert runtime.relation_keys() == ["web:cluster", key]
    assert made == 1


REFUSALS = {
    ("web", "nothing"): 'application "nothing" not found',
    ("web:nope", "mysql"): 'application "web" has no "nope" relation',
    ("web:site", "mysql"): "no relations found",
    ("web", "web"): "no relations found",
    ("web:cluster", "web:cluster"): "no relations found",
    ("guest", "web"): "no relations found",
    ("a:b:c", "web"): 'endpoint "a:b:c" not valid',
    ("web:", "mysql"): 'endpoint "web:" not valid',
    ("Web", "mysql"): 'application name "Web" not valid',
    ("web", "twins"): 'ambiguous relation: "web twins" could refer to "web:db twins:a"; "web:db twins:b"',
}


def test_what_cannot_be_related(runtime: TestController) -> None:
    related.deploy(runtime, "web", "mysql", "twins", "guest")
    assert {
        pair: runtime.refused(lambda pair=pair: runtime.integrate(*pair)) for pair in REFUSALS
    } == REFUSALS


def test_an_endpoint_that_is_named_counts_before_an_implicit_one(runtime: TestController) -> None:
    related.deploy(runtime, "log", "shipper")
    runtime.integrate("log", "shipper")
    assert runtime.relation_keys() == ["shipper:source log:lines"]


def test_an_endpoint_takes_so_many_relations(runtime: TestController) -> None:
    related.deploy(runtime, "web", "mysql", "twins")
    runtime.integrate("web", "mysql")
    text = "establishing a new relation for web:db would exceed its maximum relation limit of 1"
    wanted = f'cannot add relation "web:db twins:a": {text}'
    assert runtime.refused(lambda: runtime.integrate("web", "twins:a")) == wanted
    related.suspend(runtime, 1)
    assert runtime.integrate("web", "twins:a") == 2
    runtime.remove_relation("web", "twins")
    assert runtime.integrate("web", "twins:b") == 3


def test_the_same_again(runtime: TestController) -> None:
    related.deploy(runtime, "web", "mysql")
    runtime.integrate("web", "mysql")
    key = "web:db mysql:server"
    wanted = f'cannot add relation "{key}": relation {key}'
    assert runtime.refused(lambda: runtime.integrate("mysql", "web")) == wanted
    with pytest.raises(AlreadyExists) as caught:
        runtime.integrate("mysql", "web")
    assert caught.value.hint == "Use 'pushjuju status --relations' to view the current relations."
    runtime.remove_relation("web", "mysql", rest=False)
    assert runtime.refused(lambda: runtime.integrate("mysql", "web")) == (
        f"{wanted} is dying, but not yet removed"
    )
    runtime.settle()
    assert runtime.integrate("mysql", "web") == 2


def test_not_with_what_goes(runtime: TestController) -> None:
    related.deploy(runtime, "web", "mysql")
    runtime.settle()
    removals.remove_applications(runtime.ctx, runtime.model, ["mysql"])
    assert runtime.refused(lambda: runtime.integrate("mysql", "web")) == (
        'cannot add relation "web:db mysql:server": application "mysql" is not alive'
    )


def test_bases_of_principal_and_subordinate(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    related.deploy(runtime, "mysql", base=NOBLE)
    assert runtime.refused(lambda: runtime.integrate("mysql", "log")) == (
        'cannot add relation "log:host mysql:juju-info": '
        "principal and subordinate applications' bases must match"
    )
    assert runtime.integrate("web", "log:host") == 1


# --- the life of a relation -------------------------------------------------------------------------------


def test_units_join_each_other(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web")
    runtime.settle()
    runtime.clear()
    made = runtime.integrate("web", "mysql")
    assert runtime.of("mysql/0") == [f"server-relation-{word}" for word in ("created", "joined", "changed")]
    assert runtime.of("web/0") == [f"db-relation-{word}" for word in ("created", "joined", "changed")]
    assert runtime.scopes(made) == ["mysql/0", "web/0"]
    bags = runtime.bags(made)
    assert sorted(bags) == ["mysql", "mysql/0", "web", "web/0"]
    assert bags["mysql/0"]["private-address"] == bags["mysql/0"]["ingress-address"] == "10.0.0.2"
    assert bags["web/0"]["egress-subnets"] == "10.0.0.3/32"
    assert related.rows(runtime) == {"web:db mysql:server": ("regular", "joined", "")}


def test_a_relation_waits_for_its_leader(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web")
    integrate.integrate(runtime.ctx, runtime.model, "web", "mysql")
    assert related.rows(runtime) == {"web:db mysql:server": ("regular", "joining", "")}


def test_settings_reach_the_other_side(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web", count=2)
    runtime.settle()
    played = runtime.played(runtime.unit("mysql/0").machine or "")
    writes = {"relations": {"1": {"unit": {"pass word": "ä.ö"}, "app": {"name": "db1"}}}}
    played.will("server-relation-created", {"writes": writes}, unit="mysql/0")
    runtime.integrate("web", "mysql")
    assert runtime.bags(1)["mysql/0"]["pass word"] == "ä.ö"
    assert runtime.bags(1)["mysql"] == {"name": "db1"}
    machine = runtime.unit("web/1").machine or ""
    seen = runtime.played(machine).frame_of("db-relation-changed", "web/1")["context"]["relations"]["1"]
    assert seen["app_bags"]["mysql"] == {"name": "db1"}
    assert seen["unit_bags"]["mysql/0"]["pass word"] == "ä.ö"


def test_the_order_of_an_end(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", count=2)
    related.deploy(runtime, "web")
    runtime.integrate("web", "mysql")
    runtime.clear()
    runtime.remove_relation("web", "mysql")
    assert runtime.of("web/0") == ["db-relation-departed", "db-relation-departed", "db-relation-broken"]
    for unit in ("mysql/0", "mysql/1"):
        assert runtime.of(unit) == ["server-relation-departed", "server-relation-broken"]
    assert related.rows(runtime) == {}
    assert runtime.bags(1) == {}


def test_ids_are_never_given_twice(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web")
    assert runtime.integrate("web", "mysql") == 1
    runtime.remove_relation("1")
    assert runtime.integrate("web", "mysql") == 2
    assert runtime.refused(lambda: runtime.remove_relation("1")) == "relation 1 not found"


def test_a_relation_that_nobody_entered_goes_at_once(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web")
    integrate.integrate(runtime.ctx, runtime.model, "web", "mysql")
    runtime.remove_relation("web:db", "mysql:server", rest=False)
    assert runtime.relation_keys() == ["web:cluster"]


def test_what_cannot_be_removed(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "twins", "web", "monitor")
    runtime.integrate("web", "mysql")
    runtime.integrate("monitor", "mysql")
    runtime.integrate("monitor", "web")
    found = {
        words: runtime.refused(partial(runtime.remove_relation, *words))
        for words in (
            ("0",), ("9",), ("x",), ("²",), ("9" * 30,), ("web", "twins"), ("web:site", "mysql"),
            ("web", "My"), ("web", "web"), ("web:", "mysql"),
        )
    }  # fmt: skip
    assert found == {
        ("0",): 'cannot destroy relation "web:cluster": is a peer relation',
        ("9",): "relation 9 not found",
        ("x",): 'relation ID "x" not valid',
        ("²",): 'relation ID "²" not valid',
        ("9" * 30,): f'relation ID "{"9" * 30}" not valid',
        ("web", "twins"): 'relation matching "web twins" not found',
        ("web:site", "mysql"): 'relation matching "web:site mysql" not found',
        ("web", "My"): 'application name "My" not valid',
        ("web", "web"): 'cannot destroy relation "web:cluster": is a peer relation',
        ("web:", "mysql"): 'endpoint "web:" not valid',
    }


def test_an_ambiguous_end(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    integrate.integrate(runtime.ctx, runtime.model, "web", "log:host")
    integrate.integrate(runtime.ctx, runtime.model, "web", "log:access")
    assert runtime.refused(lambda: runtime.remove_relation("log", "web")) == (
        'ambiguous relation: "log web" could refer to "log:access web:site"; "log:host web:juju-info"'
    )


def test_forced_end_waits_for_hooks_before_it_puts_units_out(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web")
    runtime.integrate("web", "mysql")
    runtime.played("1").fail("db-relation-departed", times=2)
    runtime.remove_relation("web", "mysql", force=Force(wait_s=60.0))
    assert runtime.scopes(1) == ["web/0"]
    runtime.write(lambda tx: removal.force_relation(tx, 1))
    assert runtime.relation_keys() == ["web:cluster"]
    runtime.write(lambda tx: tx.run("unit_set_resolved", name="web/0", resolved="retry-hooks"))
    runtime.settle()
    assert runtime.agent("web/0")[0] == "idle"
    assert runtime.of("web/0")[-1] == "db-relation-departed"  # failed; the relation is gone, it ends there


def test_a_suspended_relation_rests(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web")
    runtime.integrate("web", "mysql")
    runtime.clear()
    related.suspend(runtime, 1, reason="maintenance window")
    assert related.rows(runtime) == {"web:db mysql:server": ("regular", "suspended", "maintenance window")}
    assert runtime.of("web/0") == ["db-relation-departed", "db-relation-broken"]
    assert runtime.scopes(1) == []
    runtime.clear()
    related.suspend(runtime, 1, reason="again")
    assert related.rows(runtime) == {"web:db mysql:server": ("regular", "suspended", "maintenance window")}
    related.suspend(runtime, 1, value=False)
    assert related.rows(runtime) == {"web:db mysql:server": ("regular", "joined", "")}
    assert runtime.of("web/0") == [f"db-relation-{word}" for word in ("created", "joined", "changed")]


def test_a_suspended_relation_is_removed_without_hooks(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web")
    runtime.integrate("web", "mysql")
    related.suspend(runtime, 1)
    runtime.clear()
    runtime.remove_relation("1")
    assert runtime.hooks() == []
    assert related.rows(runtime) == {}


def test_what_cannot_be_suspended(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web")
    runtime.integrate("web", "mysql")
    assert runtime.refused(lambda: related.suspend(runtime, 0)) == (
        'cannot suspend relation "web:cluster": is a peer relation'
    )
    assert runtime.refused(lambda: related.suspend(runtime, 7)) == "relation 7 not found"
    runtime.remove_relation("1", rest=False)
    assert (
        runtime.refused(lambda: related.suspend(runtime, 1)) == 'relation "web:db mysql:server" is not alive'
    )


def test_one_bad_id_suspends_none(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web")
    runtime.integrate("web", "mysql")
    ctx, model = runtime.ctx, runtime.model
    ask = partial(integrate.set_suspended, ctx, model, ["1", "7"], suspended=True)
    assert runtime.refused(ask) == "relation 7 not found"


def test_a_unit_that_leaves(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", count=2)
    related.deploy(runtime, "web")
    runtime.integrate("web", "mysql")
    runtime.clear()
    removals.remove_units(runtime.ctx, runtime.model, ["mysql/1"])
    runtime.settle()
    assert runtime.of("mysql/1") == [
        "server-relation-departed",
        "server-relation-broken",
        "stop",
        "remove",
    ]
    assert runtime.of("web/0") == ["db-relation-departed"]
    assert runtime.bags(1)["mysql/1"]["private-address"], "settings stay readable until the relation goes"
    frame = runtime.played_machines["2"].frame_of("db-relation-departed")
    assert frame["env"]["JUJU_DEPARTING_UNIT"] == "mysql/1"


def test_an_application_leaves_while_related(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", count=2)
    related.deploy(runtime, "web")
    runtime.integrate("web", "mysql")
    runtime.clear()
    removals.remove_applications(runtime.ctx, runtime.model, ["mysql"])
    runtime.settle()
    gone = ["server-relation-departed", "server-relation-broken", "stop", "remove"]
    assert runtime.of("mysql/0")[-4:] == runtime.of("mysql/1")[-4:] == gone
    assert runtime.of("web/0") == ["db-relation-departed", "db-relation-departed", "db-relation-broken"]
    runtime.write(removal.finish_applications)
    assert runtime.applications() == ["web"]
    frames = [frame for played in runtime.played_machines.values() for frame in played.frames]
    departing = {
        frame["unit"]: frame["env"]["JUJU_DEPARTING_UNIT"]
        for frame in frames
        if frame.get("hook", "").endswith("-relation-departed")
    }
    assert departing["mysql/0"] == "mysql/0"
    assert departing["web/0"] in ("mysql/0", "mysql/1")
