"""Subordinates come and go with their principals; who leads; what status shows of them."""

from __future__ import annotations

from functools import partial

from pushjuju.cli.commands.status.status_tabular import tabular
from pushjuju.cli.work.status_document import status_document
from pushjuju.core.model.placement import Placement
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.model.sessions import Session
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import unit_requests
from pushjuju.services.views.status.document import document
from tests.world import related
from tests.world.controller import TestController
from tests.world.machine import status_event


def test_subordinates_come_with_their_principals(runtime: TestController) -> None:
    related.deploy(runtime, "web", count=2)
    related.deploy(runtime, "log")
    made = runtime.integrate("web", "log:host")
    assert runtime.units() == ["log/0", "log/1", "web/0", "web/1"]
    for number in (0, 1):
        unit = runtime.unit(f"log/{number}")
        assert (unit.principal, unit.machine) == (f"web/{number}", str(number))
    assert runtime.scopes(made) == ["log/0", "log/1", "web/0", "web/1"]
    assert related.rows(runtime) == {"log:host web:juju-info": ("subordinate", "joined", "")}
    hooks = runtime.of("log/0")
    assert [hook for hook in hooks if hook.startswith("host")] == [
        f"host-relation-{word}" for word in ("created", "joined", "changed")
    ]
    assert not any(hook.startswith("juju-info") for hook in runtime.of("web/0"))


def test_members_see_only_their_own_principal(runtime: TestController) -> None:
    related.deploy(runtime, "web", count=2)
    related.deploy(runtime, "log")
    runtime.integrate("web", "log:access")
    seen = runtime.played("1").frame_of("access-relation-changed", "log/1")["context"]["relations"]["1"]
    assert seen["members"] == ["web/1"]
    assert sorted(seen["unit_bags"]) == ["log/1", "web/1"]


def test_a_new_principal_brings_its_subordinate(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    runtime.integrate("web", "log:host")
    units.add_units(runtime.ctx, runtime.model, "web", 1, ())
    runtime.settle()
    assert runtime.unit("log/1").principal == "web/1"


def test_one_subordinate_whatever_the_number_of_relations(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    runtime.integrate("web", "log:host")
    runtime.integrate("web", "log:access")
    assert runtime.units() == ["log/0", "web/0"]
    runtime.remove_relation("log:host", "web")
    assert runtime.units() == ["log/0", "web/0"], "the other relation keeps it"
    runtime.remove_relation("log", "web")
    assert runtime.units() == ["web/0"]
    assert runtime.of("log/0")[-4:] == [
        "access-relation-departed",
        "access-relation-broken",
        "stop",
        "remove",
    ]
    assert runtime.applications() == ["log", "web"]


def test_a_subordinate_comes_back_with_a_new_number(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    runtime.integrate("web", "log:host")
    runtime.remove_relation("log", "web")
    runtime.integrate("web", "log:host")
    assert runtime.units() == ["log/1", "web/0"]


def test_a_relation_made_again_at_once(runtime: TestController) -> None:
    """The principal waits with its entry until the old subordinate is gone."""
    related.deploy(runtime, "web", "log")
    runtime.integrate("web", "log:host")
    runtime.remove_relation("log", "web", rest=False)
    for word in ("departed", "broken"):
        dispatch = runtime.prepared("log/0")
        assert dispatch.title == f"host-relation-{word}"
        runtime.commit(dispatch, runtime.played("0").run(dispatch.frame))
    assert runtime.turn("web/0").dispatch is None, "the principal leaves without a hook"
    assert runtime.relation_keys() == ["web:cluster"]
    assert runtime.units() == ["log/0", "web/0"]
    runtime.integrate("web", "log:host")
    assert runtime.units() == ["log/1", "web/0"]


def test_a_principal_takes_its_subordinates_along(runtime: TestController) -> None:
    related.deploy(runtime, "web", count=2)
    related.deploy(runtime, "log")
    runtime.integrate("web", "log:access")
    runtime.clear()
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    runtime.settle()
    assert runtime.units() == ["log/1", "web/1"]
    gone = ["relation-departed", "relation-broken"]
    assert runtime.of("log/0") == [f"access-{word}" for word in gone] + ["stop", "remove"]
    assert [hook for hook in runtime.of("web/0") if hook.startswith("site")] == [f"site-{w}" for w in gone]
    assert runtime.of("web/0")[-2:] == ["stop", "remove"]
    assert runtime.machine_ids() == ["1"]


def test_a_subordinate_is_not_removed_by_its_name(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    runtime.integrate("web", "log:host")
    ask = partial(removals.remove_units, runtime.ctx, runtime.model, ["log/0"])
    assert runtime.refused(ask) == (
        'unit "log/0" is a subordinate, to remove use remove-relation. '
        'Note: this will remove all units of "log"'
    )


def test_a_subordinate_application_goes(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    runtime.integrate("web", "log:host")
    removals.remove_applications(runtime.ctx, runtime.model, ["log"])
    runtime.settle()
    assert runtime.units() == ["web/0"]
    assert runtime.applications() == ["web"]


def test_a_machine_stays_for_its_other_principal(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    related.deploy(runtime, "mysql", placements=[Placement.parse("0")])
    runtime.integrate("web", "log:host")
    runtime.integrate("mysql", "log")
    assert [runtime.unit(name).principal for name in ("log/0", "log/1")] == ["web/0", "mysql/0"]
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    runtime.settle()
    assert runtime.units() == ["log/1", "mysql/0"]
    assert runtime.machine("0").life == "alive"


def test_subordinates_of_one_principal_relate(runtime: TestController) -> None:
    """Each sees the other of its own principal; that relation keeps nobody alive."""
    related.deploy(runtime, "web", count=2)
    related.deploy(runtime, "log", "shipper")
    runtime.integrate("web", "log:host")
    runtime.integrate("web", "shipper:host")
    made = runtime.integrate("log", "shipper:source")
    assert runtime.scopes(made) == ["log/0", "log/1", "shipper/0", "shipper/1"]
    joined = runtime.played("1").frame_of("source-relation-joined", "shipper/1")
    assert joined["env"]["JUJU_REMOTE_UNIT"] == "log/1"
    assert joined["context"]["relations"][str(made)]["members"] == ["log/1"]
    runtime.remove_relation("web", "shipper")
    assert runtime.units() == ["log/0", "log/1", "web/0", "web/1"]
    assert runtime.of("shipper/0").count("source-relation-broken") == 1
    assert runtime.scopes(made) == ["log/0", "log/1"]


def test_a_failing_subordinate_holds_its_principal_back(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    runtime.integrate("web", "log:host")
    runtime.played("0").fail("stop", unit="log/0")
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    runtime.settle()
    assert runtime.of("web/0")[-2:] == ["stop", "remove"]
    assert runtime.units() == ["log/0", "web/0"]
    unit_requests.resolve(runtime.ctx, runtime.model, ["log/0"], retry=False)
    runtime.settle()
    assert runtime.units() == []


# --- status -----------------------------------------------------------------------------------------------


def test_status_shows_subordinates_under_their_principal(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    runtime.integrate("web", "log:access")
    apps = document(runtime.ctx, runtime.resolve_model())["applications"]
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


def test_status_table_indents_subordinates(runtime: TestController) -> None:
    related.deploy(runtime, "web", "log")
    runtime.integrate("web", "log:access")
    machine = runtime.played("0")
    machine.will("update-status", {"events": [status_event(1, "active")]}, unit="log/0")
    runtime.clock.advance(400)
    runtime.settle()
    shown = status_document(Session(ctx=runtime.ctx, model=runtime.resolve_model()), utc=True)
    table = tabular(shown, relations=None)
    rows = [line.split()[0] for line in table.splitlines() if "/0" in line]
    assert rows == ["web/0*", "log/0*"]
    (line,) = [line for line in table.splitlines() if "log/0*" in line]
    assert line.startswith("  log/0*")
    assert line.split()[1:4] == ["active", "idle", "10.0.0.2"]


# --- leadership -------------------------------------------------------------------------------------------


def _leader(runtime: TestController, application: str = "web") -> str | None:
    found: str | None = runtime.read(lambda tx: leadership.holder(tx, application))
    return found


def test_leadership_moves_when_its_holder_goes(runtime: TestController) -> None:
    related.deploy(runtime, "web", count=3)
    runtime.settle()
    for left in (2, 1, 0):
        leader = _leader(runtime)
        assert leader is not None
        runtime.clear()
        removals.remove_units(runtime.ctx, runtime.model, [leader])
        runtime.settle()
        assert len(runtime.units()) == left
        assert "leader-elected" not in runtime.of(leader)
        elected = [unit for unit, hook in runtime.hooks() if hook == "leader-elected"]
        assert elected == ([_leader(runtime)] if left else [])


def test_only_the_leader_writes_for_the_application(runtime: TestController) -> None:
    related.deploy(runtime, "mysql", "web", count=2)
    runtime.settle()
    follower = next(name for name in ("mysql/0", "mysql/1") if name != _leader(runtime, "mysql"))
    played = runtime.played(runtime.unit(follower).machine or "")
    played.will(
        "server-relation-created", {"writes": {"relations": {"1": {"app": {"k": "v"}}}}}, unit=follower
    )
    runtime.integrate("web", "mysql")
    assert runtime.agent(follower)[0] == "error"
    assert runtime.bags(1)["mysql"] == {}


def test_subordinates_have_a_leader_too(runtime: TestController) -> None:
    related.deploy(runtime, "web", count=2)
    related.deploy(runtime, "log")
    runtime.integrate("web", "log:host")
    leader = _leader(runtime, "log")
    assert leader in ("log/0", "log/1")
    assert runtime.of(leader).count("leader-elected") == 1
