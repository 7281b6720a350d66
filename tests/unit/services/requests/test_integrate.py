"""Relations between applications: what may be related, who joins whom, how it ends; subordinates; leaders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pushjuju.cli.commands.status.status_tabular import tabular
from pushjuju.cli.work.session import Session
from pushjuju.cli.work.status_document import status_document
from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists, PushjujuError
from pushjuju.core.model.placement import Placement
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import integrate
from pushjuju.services.views.relation_rows import relation_rows
from pushjuju.services.views.status.document import document
from pushjuju.store.rows.records import Relation
from tests.world.charms import PEERS, UBUNTU
from tests.world.controller import TestController
from tests.world.machine import status_event

NOBLE = Base.parse("ubuntu@24.04")
CONTAINER = {"scope": "container"}
METADATA: dict[str, dict[str, Any]] = {
    "web": {
        "peers": PEERS,
        "requires": {"db": {"interface": "mysql", "limit": 1}, "cache": {"interface": "mem"}},
        "provides": {"site": {"interface": "http"}},
    },
    "mysql": {"provides": {"server": {"interface": "mysql"}, "admin": {"interface": "root"}}},
    "twins": {"provides": {"a": {"interface": "mysql"}, "b": {"interface": "mysql"}}},
    "log": {
        "subordinate": True,
        "requires": {
            "host": {"interface": "juju-info", **CONTAINER},
            "access": {"interface": "http", **CONTAINER},
        },
        "provides": {"lines": {"interface": "lines", **CONTAINER}},
    },
    "shipper": {
        "subordinate": True,
        "requires": {
            "host": {"interface": "juju-info", **CONTAINER},
            "source": {"interface": "lines", **CONTAINER},
        },
    },
    "monitor": {"requires": {"target": {"interface": "juju-info"}}},
    "guest": {"requires": {"house": {"interface": "http", **CONTAINER}}},
}


class RelatedModel:
    """The world, with its applications by name and its relations by their keys."""

    def __init__(self, world: TestController) -> None:
        self.world = world

    def deploy(self, *names: str, count: int = 1, base: Base = UBUNTU, **more: Any) -> None:
        """Deploy applications of these charms; subordinates without units."""
        for name in names:
            metadata = {"peers": None, **METADATA[name]}
            packed = self.world.charms.make(name, config=None, **metadata)
            number = 0 if metadata.get("subordinate") else count
            self.world.deploy(name, number, packed=packed, base=base, **more)

    def integrate(self, first: str, second: str) -> int:
        """Relate two applications and bring them to rest."""
        made = integrate.integrate(self.world.ctx, self.world.model, first, second)
        self.world.settle()
        return made

    def remove(self, *words: str, force: Force | None = None, rest: bool = True) -> None:
        """End a relation."""
        integrate.remove_relation(self.world.ctx, self.world.model, words, force)
        if rest:
            self.world.settle()

    def step(self, unit: str) -> None:
        """Let a unit decide, and run what it decides for."""
        dispatch = self.world.turn(unit).dispatch
        if dispatch is not None:
            box = self.world.box(self.world.unit(unit).machine or "")
            self.world.commit(dispatch, box.run(dispatch.frame))

    def finish(self) -> None:
        """Let dying applications go that nothing is left of."""
        self.world.write(lambda tx: removal.finish_applications(tx, self.world.model, self.world.clock.now()))

    def suspended(self, relation: int, *, value: bool = True, reason: str = "") -> None:
        """Suspend a relation, or let it go on."""
        ctx, model = self.world.ctx, self.world.model
        integrate.set_suspended(ctx, model, [str(relation)], suspended=value, reason=reason)
        self.world.settle()

    def rows(self) -> dict[str, tuple[str, str, str]]:
        """Return the relations but the peers' own: requirer and provider -> type, status, message."""
        return {
            f"{row['requirer']} {row['provider']}": (row["type"], row["status"], row["message"])
            for row in relation_rows(self.world.ctx, self.world.model)
            if row["type"] != "peer"
        }

    def listed(self) -> list[str]:
        """Return the keys of all relations, by id."""
        listed: list[Relation] = self.world.read(
            lambda tx: tx.list(Relation, "relation_list", model=self.world.model)
        )
        return [item.key for item in listed]

    def scopes(self, relation: int) -> list[str]:
        """Return the units in scope."""
        return [
            item.unit for item in self.world.read(lambda tx: relations.scopes(tx, self.world.model, relation))
        ]

    def bags(self, relation: int) -> dict[str, dict[str, Any]]:
        """Return the settings of all units and applications in a relation."""
        found = self.world.read(lambda tx: relations.bags(tx, self.world.model, relation))
        return {name: dict(bag.data) for name, bag in found.items()}

    def refused(self, ask: Callable[[], object]) -> str:
        """Return the text of a refusal, which changes nothing."""
        before = self.world.dump()
        with pytest.raises(PushjujuError) as caught:
            ask()
        assert self.world.dump() == before
        return caught.value.message

    def document(self) -> dict[str, Any]:
        """Return the status document's applications."""
        found: dict[str, Any] = document(self.world.ctx, self.world.resolve_model())["applications"]
        return found


@pytest.fixture
def town(runtime: TestController) -> RelatedModel:
    """A model with more charms."""
    return RelatedModel(runtime)


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
def test_inference(town: RelatedModel, first: str, second: str, key: str) -> None:
    town.deploy("web", "mysql", "twins", "log", "shipper", "monitor")
    made = integrate.integrate(town.world.ctx, town.world.model, first, second)
    assert town.listed() == ["web:cluster", key]
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


def test_what_cannot_be_related(town: RelatedModel) -> None:
    town.deploy("web", "mysql", "twins", "guest")
    assert {pair: town.refused(lambda pair=pair: town.integrate(*pair)) for pair in REFUSALS} == REFUSALS


def test_an_endpoint_that_is_named_counts_before_an_implicit_one(town: RelatedModel) -> None:
    town.deploy("log", "shipper")
    town.integrate("log", "shipper")
    assert town.listed() == ["shipper:source log:lines"]


def test_an_endpoint_takes_so_many_relations(town: RelatedModel) -> None:
    town.deploy("web", "mysql", "twins")
    town.integrate("web", "mysql")
    text = "establishing a new relation for web:db would exceed its maximum relation limit of 1"
    wanted = f'cannot add relation "web:db twins:a": {text}'
    assert town.refused(lambda: town.integrate("web", "twins:a")) == wanted
    town.suspended(1)
    assert town.integrate("web", "twins:a") == 2
    town.remove("web", "twins")
    assert town.integrate("web", "twins:b") == 3


def test_the_same_again(town: RelatedModel) -> None:
    town.deploy("web", "mysql")
    town.integrate("web", "mysql")
    key = "web:db mysql:server"
    wanted = f'cannot add relation "{key}": relation {key}'
    assert town.refused(lambda: town.integrate("mysql", "web")) == wanted
    with pytest.raises(AlreadyExists) as caught:
        town.integrate("mysql", "web")
    assert caught.value.hint == "Use 'pushjuju status --relations' to view the current relations."
    town.remove("web", "mysql", rest=False)
    assert town.refused(lambda: town.integrate("mysql", "web")) == (f"{wanted} is dying, but not yet removed")
    town.world.settle()
    assert town.integrate("mysql", "web") == 2


def test_not_with_what_goes(town: RelatedModel) -> None:
    town.deploy("web", "mysql")
    town.world.settle()
    removal.remove_application(town.world.ctx, town.world.model, ["mysql"])
    assert town.refused(lambda: town.integrate("mysql", "web")) == (
        'cannot add relation "web:db mysql:server": application "mysql" is not alive'
    )


def test_bases_of_principal_and_subordinate(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.deploy("mysql", base=NOBLE)
    assert town.refused(lambda: town.integrate("mysql", "log")) == (
        'cannot add relation "log:host mysql:juju-info": '
        "principal and subordinate applications' bases must match"
    )
    assert town.integrate("web", "log:host") == 1


# --- the life of a relation -------------------------------------------------------------------------------


def test_units_join_each_other(town: RelatedModel) -> None:
    town.deploy("mysql", "web")
    town.world.settle()
    town.world.clear()
    made = town.integrate("web", "mysql")
    assert town.world.of("mysql/0") == [
        f"server-relation-{word}" for word in ("created", "joined", "changed")
    ]
    assert town.world.of("web/0") == [f"db-relation-{word}" for word in ("created", "joined", "changed")]
    assert town.scopes(made) == ["mysql/0", "web/0"]
    bags = town.bags(made)
    assert sorted(bags) == ["mysql", "mysql/0", "web", "web/0"]
    assert bags["mysql/0"]["private-address"] == bags["mysql/0"]["ingress-address"] == "10.0.0.2"
    assert bags["web/0"]["egress-subnets"] == "10.0.0.3/32"
    assert town.rows() == {"web:db mysql:server": ("regular", "joined", "")}


def test_a_relation_waits_for_its_leader(town: RelatedModel) -> None:
    town.deploy("mysql", "web")
    integrate.integrate(town.world.ctx, town.world.model, "web", "mysql")
    assert town.rows() == {"web:db mysql:server": ("regular", "joining", "")}


def test_settings_reach_the_other_side(town: RelatedModel) -> None:
    town.deploy("mysql", "web", count=2)
    town.world.settle()
    box = town.world.box(town.world.unit("mysql/0").machine or "")
    writes = {"relations": {"1": {"unit": {"pass word": "ä.ö"}, "app": {"name": "db1"}}}}
    box.will("server-relation-created", {"writes": writes}, unit="mysql/0")
    town.integrate("web", "mysql")
    assert town.bags(1)["mysql/0"]["pass word"] == "ä.ö"
    assert town.bags(1)["mysql"] == {"name": "db1"}
    machine = town.world.unit("web/1").machine or ""
    seen = town.world.box(machine).frame_of("db-relation-changed", "web/1")["context"]["relations"]["1"]
    assert seen["app_bags"]["mysql"] == {"name": "db1"}
    assert seen["unit_bags"]["mysql/0"]["pass word"] == "ä.ö"


def test_the_order_of_an_end(town: RelatedModel) -> None:
    town.deploy("mysql", count=2)
    town.deploy("web")
    town.integrate("web", "mysql")
    town.world.clear()
    town.remove("web", "mysql")
    assert town.world.of("web/0") == ["db-relation-departed", "db-relation-departed", "db-relation-broken"]
    for unit in ("mysql/0", "mysql/1"):
        assert town.world.of(unit) == ["server-relation-departed", "server-relation-broken"]
    assert town.rows() == {}
    assert town.bags(1) == {}


def test_ids_are_never_given_twice(town: RelatedModel) -> None:
    town.deploy("mysql", "web")
    assert town.integrate("web", "mysql") == 1
    town.remove("1")
    assert town.integrate("web", "mysql") == 2
    assert town.refused(lambda: town.remove("1")) == "relation 1 not found"


def test_a_relation_that_nobody_entered_goes_at_once(town: RelatedModel) -> None:
    town.deploy("mysql", "web")
    integrate.integrate(town.world.ctx, town.world.model, "web", "mysql")
    town.remove("web:db", "mysql:server", rest=False)
    assert town.listed() == ["web:cluster"]


def test_what_cannot_be_removed(town: RelatedModel) -> None:
    town.deploy("mysql", "twins", "web", "monitor")
    town.integrate("web", "mysql")
    town.integrate("monitor", "mysql")
    town.integrate("monitor", "web")
    found = {
        words: town.refused(partial(town.remove, *words))
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


def test_an_ambiguous_end(town: RelatedModel) -> None:
    town.deploy("web", "log")
    integrate.integrate(town.world.ctx, town.world.model, "web", "log:host")
    integrate.integrate(town.world.ctx, town.world.model, "web", "log:access")
    assert town.refused(lambda: town.remove("log", "web")) == (
        'ambiguous relation: "log web" could refer to "log:access web:site"; "log:host web:juju-info"'
    )


def test_forced_end_waits_for_hooks_before_it_puts_units_out(town: RelatedModel) -> None:
    town.deploy("mysql", "web")
    town.integrate("web", "mysql")
    town.world.box("1").fail("db-relation-departed", times=2)
    town.remove("web", "mysql", force=Force(wait_s=60.0))
    assert town.scopes(1) == ["web/0"]
    town.world.write(lambda tx: removal.force_relation(tx, town.world.model, 1, town.world.clock.now()))
    assert town.listed() == ["web:cluster"]
    town.world.write(
        lambda tx: tx.run("unit_set_resolved", model=town.world.model, name="web/0", resolved="retry-hooks")
    )
    town.world.settle()
    assert town.world.agent("web/0")[0] == "idle"
    assert town.world.of("web/0")[-1] == "db-relation-departed"  # failed; the relation is gone, it ends there


def test_a_suspended_relation_rests(town: RelatedModel) -> None:
    town.deploy("mysql", "web")
    town.integrate("web", "mysql")
    town.world.clear()
    town.suspended(1, reason="maintenance window")
    assert town.rows() == {"web:db mysql:server": ("regular", "suspended", "maintenance window")}
    assert town.world.of("web/0") == ["db-relation-departed", "db-relation-broken"]
    assert town.scopes(1) == []
    town.world.clear()
    town.suspended(1, reason="again")
    assert town.rows() == {"web:db mysql:server": ("regular", "suspended", "maintenance window")}
    town.suspended(1, value=False)
    assert town.rows() == {"web:db mysql:server": ("regular", "joined", "")}
    assert town.world.of("web/0") == [f"db-relation-{word}" for word in ("created", "joined", "changed")]


def test_a_suspended_relation_is_removed_without_hooks(town: RelatedModel) -> None:
    town.deploy("mysql", "web")
    town.integrate("web", "mysql")
    town.suspended(1)
    town.world.clear()
    town.remove("1")
    assert town.world.hooks() == []
    assert town.rows() == {}


def test_what_cannot_be_suspended(town: RelatedModel) -> None:
    town.deploy("mysql", "web")
    town.integrate("web", "mysql")
    assert town.refused(lambda: town.suspended(0)) == (
        'cannot suspend relation "web:cluster": is a peer relation'
    )
    assert town.refused(lambda: town.suspended(7)) == "relation 7 not found"
    town.remove("1", rest=False)
    assert town.refused(lambda: town.suspended(1)) == 'relation "web:db mysql:server" is not alive'


def test_one_bad_id_suspends_none(town: RelatedModel) -> None:
    town.deploy("mysql", "web")
    town.integrate("web", "mysql")
    ctx, model = town.world.ctx, town.world.model
    ask = partial(integrate.set_suspended, ctx, model, ["1", "7"], suspended=True)
    assert town.refused(ask) == "relation 7 not found"


def test_a_unit_that_leaves(town: RelatedModel) -> None:
    town.deploy("mysql", count=2)
    town.deploy("web")
    town.integrate("web", "mysql")
    town.world.clear()
    removal.remove_units(town.world.ctx, town.world.model, ["mysql/1"])
    town.world.settle()
    assert town.world.of("mysql/1") == [
        "server-relation-departed",
        "server-relation-broken",
        "stop",
        "remove",
    ]
    assert town.world.of("web/0") == ["db-relation-departed"]
    assert town.bags(1)["mysql/1"]["private-address"], "settings stay readable until the relation goes"
    frame = town.world.boxes["2"].frame_of("db-relation-departed")
    assert frame["env"]["JUJU_DEPARTING_UNIT"] == "mysql/1"


def test_an_application_leaves_while_related(town: RelatedModel) -> None:
    town.deploy("mysql", count=2)
    town.deploy("web")
    town.integrate("web", "mysql")
    town.world.clear()
    removal.remove_application(town.world.ctx, town.world.model, ["mysql"])
    town.world.settle()
    gone = ["server-relation-departed", "server-relation-broken", "stop", "remove"]
    assert town.world.of("mysql/0")[-4:] == town.world.of("mysql/1")[-4:] == gone
    assert town.world.of("web/0") == ["db-relation-departed", "db-relation-departed", "db-relation-broken"]
    town.finish()
    assert town.world.applications() == ["web"]
    frames = [frame for box in town.world.boxes.values() for frame in box.frames]
    departing = {
        frame["unit"]: frame["env"]["JUJU_DEPARTING_UNIT"]
        for frame in frames
        if frame.get("hook", "").endswith("-relation-departed")
    }
    assert departing["mysql/0"] == "mysql/0"
    assert departing["web/0"] in ("mysql/0", "mysql/1")


# --- subordinates -----------------------------------------------------------------------------------------


def test_subordinates_come_with_their_principals(town: RelatedModel) -> None:
    town.deploy("web", count=2)
    town.deploy("log")
    made = town.integrate("web", "log:host")
    assert town.world.units() == ["log/0", "log/1", "web/0", "web/1"]
    for number in (0, 1):
        unit = town.world.unit(f"log/{number}")
        assert (unit.principal, unit.machine) == (f"web/{number}", str(number))
    assert town.scopes(made) == ["log/0", "log/1", "web/0", "web/1"]
    assert town.rows() == {"log:host web:juju-info": ("subordinate", "joined", "")}
    hooks = town.world.of("log/0")
    assert [hook for hook in hooks if hook.startswith("host")] == [
        f"host-relation-{word}" for word in ("created", "joined", "changed")
    ]
    assert not any(hook.startswith("juju-info") for hook in town.world.of("web/0"))


def test_members_see_only_their_own_principal(town: RelatedModel) -> None:
    town.deploy("web", count=2)
    town.deploy("log")
    town.integrate("web", "log:access")
    seen = town.world.box("1").frame_of("access-relation-changed", "log/1")["context"]["relations"]["1"]
    assert seen["members"] == ["web/1"]
    assert sorted(seen["unit_bags"]) == ["log/1", "web/1"]


def test_a_new_principal_brings_its_subordinate(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.integrate("web", "log:host")
    units.add_units(town.world.ctx, town.world.model, "web", 1, ())
    town.world.settle()
    assert town.world.unit("log/1").principal == "web/1"


def test_one_subordinate_whatever_the_number_of_relations(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.integrate("web", "log:host")
    town.integrate("web", "log:access")
    assert town.world.units() == ["log/0", "web/0"]
    town.remove("log:host", "web")
    assert town.world.units() == ["log/0", "web/0"], "the other relation keeps it"
    town.remove("log", "web")
    assert town.world.units() == ["web/0"]
    assert town.world.of("log/0")[-4:] == [
        "access-relation-departed",
        "access-relation-broken",
        "stop",
        "remove",
    ]
    assert town.world.applications() == ["log", "web"]


def test_a_subordinate_comes_back_with_a_new_number(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.integrate("web", "log:host")
    town.remove("log", "web")
    town.integrate("web", "log:host")
    assert town.world.units() == ["log/1", "web/0"]


def test_a_relation_made_again_at_once(town: RelatedModel) -> None:
    """The principal waits with its entry until the old subordinate is gone."""
    town.deploy("web", "log")
    town.integrate("web", "log:host")
    town.remove("log", "web", rest=False)
    for unit in ("log/0", "log/0", "web/0"):  # departed, broken; the principal leaves
        town.step(unit)
    assert town.listed() == ["web:cluster"]
    assert town.world.units() == ["log/0", "web/0"]
    town.integrate("web", "log:host")
    assert town.world.units() == ["log/1", "web/0"]


def test_a_principal_takes_its_subordinates_along(town: RelatedModel) -> None:
    town.deploy("web", count=2)
    town.deploy("log")
    town.integrate("web", "log:access")
    town.world.clear()
    removal.remove_units(town.world.ctx, town.world.model, ["web/0"])
    town.world.settle()
    assert town.world.units() == ["log/1", "web/1"]
    gone = ["relation-departed", "relation-broken"]
    assert town.world.of("log/0") == [f"access-{word}" for word in gone] + ["stop", "remove"]
    assert [hook for hook in town.world.of("web/0") if hook.startswith("site")] == [f"site-{w}" for w in gone]
    assert town.world.of("web/0")[-2:] == ["stop", "remove"]
    assert town.world.machine_ids() == ["1"]


def test_a_subordinate_is_not_removed_by_its_name(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.integrate("web", "log:host")
    ask = partial(removal.remove_units, town.world.ctx, town.world.model, ["log/0"])
    assert town.refused(ask) == (
        'unit "log/0" is a subordinate, to remove use remove-relation. '
        'Note: this will remove all units of "log"'
    )


def test_a_subordinate_application_goes(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.integrate("web", "log:host")
    removal.remove_application(town.world.ctx, town.world.model, ["log"])
    town.world.settle()
    assert town.world.units() == ["web/0"]
    assert town.world.applications() == ["web"]


def test_a_machine_stays_for_its_other_principal(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.deploy("mysql", placements=[Placement.parse("0")])
    town.integrate("web", "log:host")
    town.integrate("mysql", "log")
    assert [town.world.unit(name).principal for name in ("log/0", "log/1")] == ["web/0", "mysql/0"]
    removal.remove_units(town.world.ctx, town.world.model, ["web/0"])
    town.world.settle()
    assert town.world.units() == ["log/1", "mysql/0"]
    assert town.world.machine("0").life == "alive"


def test_subordinates_of_one_principal_relate(town: RelatedModel) -> None:
    """Each sees the other of its own principal; that relation keeps nobody alive."""
    town.deploy("web", count=2)
    town.deploy("log", "shipper")
    town.integrate("web", "log:host")
    town.integrate("web", "shipper:host")
    made = town.integrate("log", "shipper:source")
    assert town.scopes(made) == ["log/0", "log/1", "shipper/0", "shipper/1"]
    joined = town.world.box("1").frame_of("source-relation-joined", "shipper/1")
    assert joined["env"]["JUJU_REMOTE_UNIT"] == "log/1"
    assert joined["context"]["relations"][str(made)]["members"] == ["log/1"]
    town.remove("web", "shipper")
    assert town.world.units() == ["log/0", "log/1", "web/0", "web/1"]
    assert town.world.of("shipper/0").count("source-relation-broken") == 1
    assert town.scopes(made) == ["log/0", "log/1"]


def test_a_failing_subordinate_holds_its_principal_back(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.integrate("web", "log:host")
    town.world.box("0").fail("stop", unit="log/0")
    removal.remove_units(town.world.ctx, town.world.model, ["web/0"])
    town.world.settle()
    assert town.world.of("web/0")[-2:] == ["stop", "remove"]
    assert town.world.units() == ["log/0", "web/0"]
    units.resolve(town.world.ctx, town.world.model, ["log/0"], retry=False)
    town.world.settle()
    assert town.world.units() == []


# --- status -----------------------------------------------------------------------------------------------


def test_status_shows_subordinates_under_their_principal(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.integrate("web", "log:access")
    apps = town.document()
    assert "units" not in apps["log"]
    assert apps["log"]["subordinate-to"] == ["web"]
    principal = apps["web"]["units"]["web/0"]
    assert list(principal["subordinates"]) == ["log/0"]
    shown = principal["subordinates"]["log/0"]
    assert "machine" not in shown
    assert (shown["leader"], shown["public-address"]) == (True, "10.0.0.2")
    assert apps["web"]["relations"]["site"] == [
        {"related-application": "log", "interface": "http", "scope": "container"}
    ]
    assert apps["log"]["relations"] == {
        "access": [{"related-application": "web", "interface": "http", "scope": "container"}]
    }


def test_status_table_indents_subordinates(town: RelatedModel) -> None:
    town.deploy("web", "log")
    town.integrate("web", "log:access")
    machine = town.world.box("0")
    machine.will("update-status", {"events": [status_event(1, "active")]}, unit="log/0")
    town.world.clock.advance(400)
    town.world.settle()
    shown = status_document(Session(ctx=town.world.ctx, model=town.world.resolve_model()), utc=True)
    table = tabular(shown, relations=None)
    rows = [line.split()[0] for line in table.splitlines() if "/0" in line]
    assert rows == ["web/0*", "log/0*"]
    (line,) = [line for line in table.splitlines() if "log/0*" in line]
    assert line.startswith("  log/0*")
    assert line.split()[1:4] == ["active", "idle", "10.0.0.2"]


# --- leadership -------------------------------------------------------------------------------------------


def _leader(town: RelatedModel, application: str = "web") -> str | None:
    found: str | None = town.world.read(lambda tx: leadership.holder(tx, town.world.model, application))
    return found


def test_leadership_moves_when_its_holder_goes(town: RelatedModel) -> None:
    town.deploy("web", count=3)
    town.world.settle()
    for left in (2, 1, 0):
        leader = _leader(town)
        assert leader is not None
        town.world.clear()
        removal.remove_units(town.world.ctx, town.world.model, [leader])
        town.world.settle()
        assert len(town.world.units()) == left
        assert "leader-elected" not in town.world.of(leader)
        elected = [unit for unit, hook in town.world.hooks() if hook == "leader-elected"]
        assert elected == ([_leader(town)] if left else [])


def test_only_the_leader_writes_for_the_application(town: RelatedModel) -> None:
    town.deploy("mysql", "web", count=2)
    town.world.settle()
    follower = next(name for name in ("mysql/0", "mysql/1") if name != _leader(town, "mysql"))
    box = town.world.box(town.world.unit(follower).machine or "")
    box.will("server-relation-created", {"writes": {"relations": {"1": {"app": {"k": "v"}}}}}, unit=follower)
    town.integrate("web", "mysql")
    assert town.world.agent(follower)[0] == "error"
    assert town.bags(1)["mysql"] == {}


def test_subordinates_have_a_leader_too(town: RelatedModel) -> None:
    town.deploy("web", count=2)
    town.deploy("log")
    town.integrate("web", "log:host")
    leader = _leader(town, "log")
    assert leader in ("log/0", "log/1")
    assert town.world.of(leader).count("leader-elected") == 1
