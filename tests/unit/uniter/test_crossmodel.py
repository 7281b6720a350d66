"""Relations between models: the hooks of both sides and what they see, wake-ups, suspending, the end."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.status import Life, StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.relation import integrate
from pushjuju.uniter.input.hookcontext import goal_state
from pushjuju.uniter.input.snapshot import read_view
from tests.world.machine import ok
from tests.world.two_models import TwoModels

SETUP = ["install", "leader-elected", "config-changed", "start"]
CONSUMER = ["db-relation-created", "db-relation-joined", "db-relation-changed"]
PROVIDER = ["server-relation-created", "server-relation-joined", "server-relation-changed"]


def writes(relation: int, **bags: dict[str, str]) -> dict[str, Any]:
    """A hook that wrote into a relation."""
    return ok(writes={"relations": {str(relation): bags}})


def suspend(twins: TwoModels, *, value: bool = True, reason: str = "") -> None:
    relation = twins.relations(twins.prod)[0].id
    integrate.set_suspended(twins.ctx, twins.prod.model, [str(relation)], suspended=value, reason=reason)


# --- joining ----------------------------------------------------------------------------------------------


def test_hooks_run_on_both_sides(twins: TwoModels) -> None:
    twins.ready(count=2)
    joined = [hook for hook in twins.shop.of("web/0") if hook.startswith("db-")]
    assert joined == [*CONSUMER, "db-relation-joined", "db-relation-changed"]
    for unit in ("db/0", "db/1"):
        assert [hook for hook in twins.prod.of(unit) if hook.startswith("server-")] == PROVIDER


def test_names_of_the_other_side(twins: TwoModels) -> None:
    here = twins.ready()
    proxy, there = twins.proxy(), twins.relations(twins.prod)[0].id
    assert proxy.startswith("remote-")
    assert len(proxy) == len("remote-") + 32
    env = twins.shop.played().frame_of("db-relation-joined")["env"]
    assert (env["JUJU_REMOTE_APP"], env["JUJU_REMOTE_UNIT"]) == ("db", "db/0")
    assert env["JUJU_RELATION_ID"] == f"db:{here}"
    env = twins.prod.played().frame_of("server-relation-joined")["env"]
    assert (env["JUJU_REMOTE_APP"], env["JUJU_REMOTE_UNIT"]) == (proxy, f"{proxy}/0")
    assert env["JUJU_RELATION_ID"] == f"server:{there}"


def test_the_alias_stands_for_the_offered_application(twins: TwoModels) -> None:
    twins.deploy(twins.shop, "web")
    twins.deploy(twins.prod, "db")
    twins.offer(name="hosted")
    twins.consume("prod.hosted", "mydb")
    integrate.integrate(twins.ctx, twins.shop.model, "web:db", "mydb")
    twins.settle()
    env = twins.shop.played().frame_of("db-relation-joined")["env"]
    assert (env["JUJU_REMOTE_APP"], env["JUJU_REMOTE_UNIT"]) == ("mydb", "mydb/0")


def test_relation_model_and_members(twins: TwoModels) -> None:
    here = twins.ready()
    there = twins.relations(twins.prod)[0].id
    seen = twins.shop.played().frame_of("db-relation-changed")["context"]["relations"][str(here)]
    assert seen["remote_model_uuid"] == twins.prod.model
    assert (seen["remote_app"], seen["members"]) == ("db", ["db/0"])
    seen = twins.prod.played().frame_of("server-relation-changed")["context"]["relations"][str(there)]
    assert seen["remote_model_uuid"] == twins.shop.model
    assert (seen["remote_app"], seen["members"]) == (twins.proxy(), [f"{twins.proxy()}/0"])


# --- data -------------------------------------------------------------------------------------------------


def test_unit_data_goes_both_ways(twins: TwoModels) -> None:
    here = twins.ready()
    there, proxy = twins.relations(twins.prod)[0].id, twins.proxy()
    twins.clear()
    twins.shop.write(lambda tx: _write(twins, tx, "shop", "web/0", {"want": "table"}))
    assert twins.bag(twins.prod, there, f"{proxy}/0")["want"] == "table"
    twins.settle()
    assert twins.prod.of("db/0") == ["server-relation-changed"]
    assert twins.shop.of("web/0") == []
    twins.prod.write(lambda tx: _write(twins, tx, "prod", "db/0", {"got": "it"}))
    twins.settle()
    assert twins.shop.of("web/0") == ["db-relation-changed"]
    seen = twins.shop.played().frame_of("db-relation-changed")["context"]["relations"][str(here)]
    assert seen["unit_bags"]["db/0"]["got"] == "it"


def _write(twins: TwoModels, tx: Any, side: str, entity: str, data: dict[str, str]) -> None:
    relation = relations.of_application(tx, entity.partition("/")[0])[0]
    relations.update_bag(tx, relation, entity, dict(data))


def test_a_hook_writes_for_the_other_model(twins: TwoModels) -> None:
    twins.deploy(twins.shop, "web")
    twins.deploy(twins.prod, "db")
    twins.offer()
    here = twins.relate()
    twins.shop.settle()
    twins.prod.played().will(
        "server-relation-changed",
        {"writes": {"relations": {"0": {"unit": {"port": "3306"}, "app": {"name": "main"}}}}},
    )
    twins.settle()
    assert twins.bag(twins.shop, here, "db/0")["port"] == "3306"
    assert twins.bag(twins.shop, here, "db") == {"name": "main"}
    seen = twins.shop.played().frame_of("db-relation-changed")["context"]["relations"][str(here)]
    assert seen["app_bags"]["db"] == {"name": "main"}


def test_a_unit_reaches_no_other_model_than_its_relations_do(twins: TwoModels) -> None:
    here = twins.ready()
    there = twins.relations(twins.prod)[0].id
    before = dict(twins.bag(twins.prod, there, "db/0"))
    bags = {"unit": {"k": "v"}, "app": {"k": "app"}}
    numbers = {str(number): bags for number in (here, there, here + 1, there + 7)}
    twins.shop.clock.advance(600)
    done = twins.shop.hook("update-status", ok(writes={"relations": numbers}), "web/0")
    assert done.ok
    assert twins.bag(twins.prod, there, f"{twins.proxy()}/0")["k"] == "v"
    assert twins.bag(twins.prod, there, twins.proxy()) == {"k": "app"}
    assert dict(twins.bag(twins.prod, there, "db/0")) == before
    assert twins.bag(twins.prod, there, "db") == {}


def test_application_data_goes_both_ways(twins: TwoModels) -> None:
    here = twins.ready()
    twins.clear()
    twins.prod.write(lambda tx: _write(twins, tx, "prod", "db", {"name": "main"}))
    twins.settle()
    assert twins.bag(twins.shop, here, "db") == {"name": "main"}
    env = twins.shop.played().frame_of("db-relation-changed")["env"]
    assert (env["JUJU_REMOTE_APP"], env["JUJU_REMOTE_UNIT"]) == ("db", "")
    twins.shop.write(lambda tx: _write(twins, tx, "shop", "web", {"user": "web"}))
    twins.settle()
    there = twins.relations(twins.prod)[0].id
    assert twins.bag(twins.prod, there, twins.proxy()) == {"user": "web"}
    assert twins.prod.of("db/0") == ["server-relation-changed"]


def test_a_hook_that_fails_writes_nothing_anywhere(twins: TwoModels) -> None:
    twins.deploy(twins.shop, "web")
    twins.deploy(twins.prod, "db")
    twins.offer()
    here = twins.relate()
    twins.prod.played().will(
        "server-relation-created",
        {"outcome": "failed", "exit": 1, "writes": {"relations": {"0": {"unit": {"port": "3306"}}}}},
    )
    twins.settle()
    assert "port" not in twins.bag(twins.shop, here, "db/0")


def test_the_wake_up_of_the_other_model(twins: TwoModels) -> None:
    twins.ready()
    twins.shop.forget_work()
    twins.shop.write(lambda tx: _write(twins, tx, "shop", "web/0", {"k": "v"}))
    assert (twins.shop.touched(), twins.prod.touched()) == ([], ["machine/0"])
    twins.shop.forget_work()
    twins.prod.write(lambda tx: _write(twins, tx, "prod", "db/0", {"k": "v"}))
    assert (twins.shop.touched(), twins.prod.touched()) == (["machine/0"], [])


def test_new_units_join_across(twins: TwoModels) -> None:
    twins.ready()
    twins.clear()
    units.add_units(twins.ctx, twins.shop.model, "web", 1, ())
    twins.settle()
    assert twins.prod.of("db/0") == ["server-relation-joined", "server-relation-changed"]
    env = twins.prod.played().frame_of("server-relation-joined")["env"]
    assert env["JUJU_REMOTE_UNIT"] == f"{twins.proxy()}/1"
    assert twins.shop.of("web/0") == []


# --- network, goal state ----------------------------------------------------------------------------------


def test_addresses_are_public(twins: TwoModels) -> None:
    here = twins.ready()
    bag = twins.bag(twins.shop, here, "db/0")
    assert (bag["ingress-address"], bag["egress-subnets"]) == ("10.9.0.2", "10.9.0.2/32")


def test_via_and_egress_subnets(twins: TwoModels) -> None:
    twins.deploy(twins.shop, "web")
    twins.deploy(twins.prod, "db")
    twins.offer()
    here = twins.relate(via=["192.168.0.0/16", "172.16.0.0/12"])
    twins.settle()
    bag = twins.bag(twins.shop, here, "web/0")
    assert bag["egress-subnets"] == "192.168.0.0/16,172.16.0.0/12"
    told = twins.shop.played().frame_of("db-relation-changed")["context"]["network"]["relations"][str(here)]
    assert told["egress-subnets"] == ["192.168.0.0/16", "172.16.0.0/12"]
    assert told["ingress-addresses"] == ["10.0.0.2"]


def test_goal_state(twins: TwoModels) -> None:
    twins.ready()

    def goal(world: Any, unit: str) -> dict[str, Any]:
        view = world.read(lambda tx: read_view(tx, unit))
        found: dict[str, Any] = world.read(lambda tx: goal_state(tx, view))
        return found

    consumer = goal(twins.shop, "web/0")["relations"]
    assert list(consumer) == ["db"]
    assert list(consumer["db"]) == ["home:admin/prod.db"]
    assert consumer["db"]["home:admin/prod.db"]["status"] == "joined"
    assert goal(twins.prod, "db/0")["relations"] == {}


# --- suspending -------------------------------------------------------------------------------------------


def test_suspend_and_resume(twins: TwoModels) -> None:
    here = twins.ready()
    there = twins.relations(twins.prod)[0].id
    twins.clear()
    suspend(twins, reason="maintenance")
    assert twins.shop.status(StatusKind.RELATION, str(here)) == ("suspending", "maintenance")
    twins.settle()
    assert twins.shop.of("web/0") == ["db-relation-departed", "db-relation-broken"]
    assert twins.prod.of("db/0") == ["server-relation-departed", "server-relation-broken"]
    for world, number in ((twins.shop, here), (twins.prod, there)):
        assert world.status(StatusKind.RELATION, str(number)) == ("suspended", "maintenance")
        assert world.dump()["relation_scope"] == []
    twins.clear()
    suspend(twins, value=False)
    twins.settle()
    assert twins.shop.of("web/0") == CONSUMER
    assert twins.prod.of("db/0") == PROVIDER
    assert twins.prod.status(StatusKind.RELATION, str(there)) == ("joined", "")


def test_only_the_offering_side_suspends(twins: TwoModels) -> None:
    here = twins.ready()
    with pytest.raises(Exception, match='"web:db db:server" which is not associated with an offer'):
        integrate.set_suspended(twins.ctx, twins.shop.model, [str(here)], suspended=True)


def test_no_second_broken_when_a_suspended_relation_goes(twins: TwoModels) -> None:
    twins.ready()
    suspend(twins)
    twins.settle()
    twins.clear()
    integrate.remove_relation(twins.ctx, twins.shop.model, ["web", "db"])
    twins.settle()
    assert (twins.shop.hooks(), twins.prod.hooks()) == ([], [])
    assert twins.shop.dump()["relation"] == []


# --- the end ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["shop", "prod"])
def test_a_relation_ends_on_both_sides(twins: TwoModels, side: str) -> None:
    twins.ready()
    twins.clear()
    world = twins.shop if side == "shop" else twins.prod
    number = str(twins.relations(world)[0].id)
    integrate.remove_relation(twins.ctx, world.model, [number])
    assert {item.life for item in (*twins.relations(twins.shop), *twins.relations(twins.prod))} == {
        Life.DYING
    }
    twins.settle()
    assert twins.shop.of("web/0") == ["db-relation-departed", "db-relation-broken"]
    assert twins.prod.of("db/0") == ["server-relation-departed", "server-relation-broken"]
    assert [twins.shop.dump()[table] for table in ("relation", "relation_scope", "relation_bag")] == [[]] * 3


def test_a_unit_that_goes_departs_across(twins: TwoModels) -> None:
    twins.ready(count=2)
    twins.clear()
    removals.remove_units(twins.ctx, twins.prod.model, ["db/1"])
    twins.settle()
    assert twins.shop.of("web/0") == ["db-relation-departed"]
    env = twins.shop.played().frame_of("db-relation-departed")["env"]
    assert (env["JUJU_REMOTE_UNIT"], env["JUJU_DEPARTING_UNIT"]) == ("db/1", "db/1")
    frame = twins.prod.played("1").frame_of("server-relation-departed")
    assert frame["env"]["JUJU_DEPARTING_UNIT"] == "db/1"
    assert twins.prod.of("db/0") == []


def test_an_application_that_consumes_goes(twins: TwoModels) -> None:
    twins.ready()
    twins.clear()
    removals.remove_applications(twins.ctx, twins.shop.model, ["web"])
    twins.settle()
    assert twins.prod.of("db/0") == ["server-relation-departed", "server-relation-broken"]
    for world in (twins.shop, twins.prod):  # as their cleaners do, which the end of the relation touched
        assert "cleanup" in [key.partition("/")[2] for key in world.touched()]
        world.write(lambda tx, world=world: removal.finish_applications(tx))
    assert twins.shop.applications() == []
    assert [row[1] for row in twins.shop.dump()["remote_application"]] == ["db"]


def test_a_unit_forced_away_leaves_both_models(twins: TwoModels) -> None:
    twins.ready()
    unit = twins.prod.unit("db/0")
    twins.prod.write(lambda tx: removal.force_unit(tx, unit))
    scopes = {(row[0], row[2]) for row in twins.shop.dump()["relation_scope"]}
    assert scopes == {(twins.shop.model, "web/0"), (twins.prod.model, f"{twins.proxy()}/0")}
    twins.clear()
    twins.settle()
    assert twins.shop.of("web/0") == ["db-relation-departed"]


@pytest.mark.parametrize("side", ["shop", "prod"])
def test_a_relation_forced_away_leaves_both_models(twins: TwoModels, side: str) -> None:
    here = twins.ready()
    world = twins.shop if side == "shop" else twins.prod
    number = twins.relations(world)[0].id
    integrate.remove_relation(twins.ctx, world.model, [str(number)], Force(wait_s=0))
    world.write(lambda tx: removal.force_relation(tx, number))
    assert twins.shop.dump()["relation"] == []
    twins.clear()
    twins.settle()
    assert (twins.shop.hooks(), twins.prod.hooks()) == ([], [])
    assert here not in twins.shop.read(lambda tx: read_view(tx, "web/0")).local.relations


def test_leaders_are_each_model_s_own(twins: TwoModels) -> None:
    twins.ready()
    assert twins.shop.read(lambda tx: leadership.holder(tx, "web")) == "web/0"
    assert twins.prod.read(lambda tx: leadership.holder(tx, "db")) == "db/0"


def test_a_snapshot_holds_nothing_of_the_other_model_but_its_relation(twins: TwoModels) -> None:
    """What hook tools can read is what travels: nothing else of the other side is there to be read."""
    here = twins.ready()
    twins.shop.clock.advance(600)
    twins.prod.hook("update-status", ok(writes={"state": {"k": "mark-of-prod"}}), "db/0")
    twins.prod.write(lambda tx: leadership.set_settings(tx, units.get(tx, "db/0"), {"a": "mark-of-prod"}))
    context = dict(twins.shop.until("update-status", "web/0").frame)["context"]
    seen = context["relations"]
    assert "mark-of-prod" not in str(context)
    assert twins.prod.model not in str({**context, "relations": {}})
    assert set(seen[str(here)]["unit_bags"]) == {"db/0", "web/0"}
