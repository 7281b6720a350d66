"""What hooks wrote: Juju's order, and refusals that turn the hook into a failure."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushjuju.core import limits
from pushjuju.core.errors import NotValid
from pushjuju.core.model.placement import Placement
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.relation import relations
from pushjuju.services.requests.controller import controllers as controller_config_requests
from pushjuju.services.views.listings import settings
from pushjuju.uniter.apply.flush import flush_questions
from tests.world.controller import TestController
from tests.world.machine import ok

WRITTEN = ("relation_bag", "port", "charm_state", "leader_setting", "relation_scope")


def _writes(runtime: TestController, unit: str = "web/0", **writes: Any) -> Any:
    """Let the next update-status of a unit write something."""
    runtime.settle()
    runtime.clock.advance(400)
    return runtime.hook("update-status", ok(writes=writes), unit)


def _port(first: int, last: int = 0, protocol: str = "tcp", endpoint: str = "") -> dict[str, Any]:
    return {"endpoint": endpoint, "protocol": protocol, "from": first, "to": last or first}


def _ports(runtime: TestController, unit: str = "web/0") -> list[tuple[Any, ...]]:
    rows = runtime.read(lambda tx: tx.rows("port_of_unit", unit=unit))
    return [(row["endpoint"], row["protocol"], row["from_port"], row["to_port"]) for row in rows]


def _bag(runtime: TestController, entity: str) -> dict[str, str]:
    return dict(runtime.read(lambda tx: relations.bags(tx, 0))[entity].data)


def _state(runtime: TestController, unit: str = "web/0") -> dict[str, str]:
    rows = runtime.read(lambda tx: tx.rows("charm_state_list", unit=unit))
    return {row["key"]: row["value"] for row in rows}


# --- what is written --------------------------------------------------------------------------------------


def test_bags(runtime: TestController) -> None:
    runtime.active()
    _writes(runtime, relations={"0": {"unit": {"a": "1", "b": "2"}, "app": {"x": "y"}}})
    _writes(runtime, relations={"0": {"unit": {"a": None, "b": "", "c": "3"}}})
    bag = _bag(runtime, "web/0")
    assert {key: bag[key] for key in bag if len(key) == 1} == {"c": "3"}
    assert _bag(runtime, "web") == {"x": "y"}


def test_relation_that_is_gone_is_passed_over(runtime: TestController) -> None:
    runtime.active()
    assert _writes(runtime, relations={"7": {"unit": {"a": "1"}}}, state={"k": "v"}).ok
    assert _state(runtime) == {"k": "v"}


def test_own_application_settings_reach_the_leader_itself(runtime: TestController) -> None:
    runtime.active()
    runtime.clear()
    _writes(runtime, relations={"0": {"app": {"x": "y"}}})
    runtime.settle()
    assert runtime.of("web/0") == ["cluster-relation-changed"]
    assert runtime.played().frame_of("cluster-relation-changed")["env"]["JUJU_REMOTE_UNIT"] == ""


def test_charm_state(runtime: TestController) -> None:
    runtime.active()
    _writes(runtime, state={"a": "1", "b": "2", "empty": ""})
    _writes(runtime, state={"a": None, "gone": None, "c": "3"})
    assert _state(runtime) == {"b": "2", "c": "3", "empty": ""}


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (
            [{"open": [_port(80, 90)]}, {"open": [_port(85)]}],
            'cannot open 85/tcp (unit "web/0"): port range conflicts with 80-90/tcp (unit "web/0")',
        ),
        (
            [{"open": [_port(80, 90), _port(85, 95)]}],
            'cannot open 80-90/tcp (unit "web/0"): port range conflicts with 85-95/tcp (unit "web/0")',
        ),
        ([{"open": [_port(80, 90)]}, {"close": [_port(80, 90)], "open": [_port(85)]}], ""),
        ([{"open": [_port(80, 90)]}, {"open": [_port(80, 90, endpoint="cluster")]}], ""),
        ([{"open": [_port(80, 90)]}, {"open": [_port(85, protocol="udp")]}], ""),
    ],
)
def test_ranges_of_one_unit_do_not_overlap(
    runtime: TestController, steps: list[dict[str, Any]], text: str
) -> None:
    """The machine refuses it in one hook; two tasks beside each other do not see each other's ports."""
    runtime.active()
    *before, last = steps
    for step in before:
        assert _writes(runtime, ports={"open": [], "close": [], **step}).ok
    left = _ports(runtime)
    done = _writes(runtime, ports={"open": [], "close": [], **last})
    assert (done.ok, done.message) == (not text, f"cannot open/close ports: {text}" if text else "")
    assert not text or _ports(runtime) == left


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([{"open": [_port(80)]}], [("", "tcp", 80, 80)]),
        ([{"open": [_port(80)]}, {"open": [_port(80)]}], [("", "tcp", 80, 80)]),
        ([{"open": [_port(80)]}, {"close": [_port(80)]}], []),
        ([{"close": [_port(80)]}], []),
        ([{"open": [_port(80)], "close": [_port(80)]}], []),  # opens come before closes
        ([{"open": [_port(80, endpoint="cluster")]}, {"open": [_port(80)]}], [("", "tcp", 80, 80)]),
        ([{"open": [_port(80)]}, {"open": [_port(80, endpoint="cluster")]}], [("", "tcp", 80, 80)]),
        ([{"open": [_port(80)]}, {"close": [_port(80, endpoint="cluster")]}], [("juju-info", "tcp", 80, 80)]),
        ([{"open": [_port(80, endpoint="cluster")]}, {"close": [_port(80)]}], []),
        ([{"open": [_port(80), _port(80, 90, "udp")]}], [("", "tcp", 80, 80), ("", "udp", 80, 90)]),
    ],
)
def test_ports(runtime: TestController, steps: list[dict[str, Any]], left: list[tuple[Any, ...]]) -> None:
    runtime.active()
    for step in steps:
        assert _writes(runtime, ports={"open": [], "close": [], **step}).ok
    assert _ports(runtime) == left


def test_closing_one_endpoint_leaves_the_others(runtime: TestController) -> None:
    packed = runtime.charms.make(
        provides={"site": {"interface": "http"}}, requires={"db": {"interface": "pg"}},
        **{"extra-bindings": {"admin": None}},
    )  # fmt: skip
    runtime.active(packed=packed)
    _writes(runtime, ports={"open": [_port(80)]})
    _writes(runtime, ports={"close": [_port(80, endpoint="db")]})
    assert [port[0] for port in _ports(runtime)] == ["admin", "cluster", "juju-info", "site"]


# --- addresses --------------------------------------------------------------------------------------------


def test_config_changed_brings_the_new_addresses(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clear()
    assert _bag(runtime, "web/0") == {
        "egress-subnets": "10.0.0.2/32", "ingress-address": "10.0.0.2", "private-address": "10.0.0.2",
    }  # fmt: skip
    played = runtime.played("0")
    played.address = "10.0.0.77"
    runtime.write(lambda tx: runtime.note_facts(tx, "0", played.hello()))
    runtime.settle()
    assert (runtime.of("web/0"), runtime.of("web/1")) == (["config-changed"], ["cluster-relation-changed"])
    assert _bag(runtime, "web/0") == {
        "egress-subnets": "10.0.0.77/32", "ingress-address": "10.0.0.77", "private-address": "10.0.0.77",
    }  # fmt: skip


def test_what_the_hook_says_comes_after_the_refresh(runtime: TestController) -> None:
    runtime.active()
    played = runtime.played()
    played.address = "10.0.0.77"
    runtime.write(lambda tx: runtime.note_facts(tx, "0", played.hello()))
    played.will("config-changed", ok(writes={"relations": {"0": {"unit": {"ingress-address": "1.2.3.4"}}}}))
    runtime.settle()
    assert _bag(runtime, "web/0")["ingress-address"] == "1.2.3.4"
    assert _bag(runtime, "web/0")["private-address"] == "10.0.0.77"


def test_other_hooks_leave_the_addresses_alone(runtime: TestController) -> None:
    runtime.active()
    runtime.write(lambda tx: relations.put_bag(tx, 0, "web/0", {"ingress-address": "old"}))
    _writes(runtime, state={"k": "v"})
    assert _bag(runtime, "web/0") == {"ingress-address": "old"}


def test_failed_config_changed_leaves_the_addresses_alone(runtime: TestController) -> None:
    runtime.active()
    played = runtime.played()
    played.address = "10.0.0.77"
    runtime.write(lambda tx: runtime.note_facts(tx, "0", played.hello()))
    played.fail("config-changed")
    runtime.settle()
    assert _bag(runtime, "web/0")["ingress-address"] == "10.0.0.2"


def test_egress_subnets_of_the_model(runtime: TestController) -> None:
    config = {"egress-subnets": "192.0.2.0/24, 198.51.100.0/24"}
    runtime.write(lambda tx: model_config.change(tx, config))
    runtime.active()
    assert _bag(runtime, "web/0")["egress-subnets"] == "192.0.2.0/24,198.51.100.0/24"
    assert _bag(runtime, "web/0")["ingress-address"] == "10.0.0.2"


# --- refusals ---------------------------------------------------------------------------------------------

BIG = "x" * (limits.STATE // 32)


def _neighbour(runtime: TestController) -> None:
    """Another unit on the same machine, with ports of its own."""
    runtime.active("db", packed=runtime.charms.make("db", peers=None))
    runtime.deploy("web", 2, placements=[Placement.parse("0")])
    runtime.settle()
    _writes(runtime, "db/0", ports={"open": [_port(100, 200), _port(53, protocol="udp")]})


@pytest.mark.parametrize(
    ("writes", "text"),
    [
        (
            {"ports": {"open": [_port(80), _port(150, 160)]}},
            ('cannot open/close ports: cannot open 150-160/tcp (unit "web/0"): '
            'port range conflicts with 100-200/tcp (unit "db/0")'),
        ),
        (
            {"ports": {"open": [_port(100, 200)]}},
            ('cannot open/close ports: cannot open 100-200/tcp (unit "web/0"): '
            'port range conflicts with 100-200/tcp (unit "db/0")'),
        ),
        (
            {"ports": {"open": [_port(80, endpoint="nope")]}},
            'cannot open/close ports: open port range: endpoint "nope" for unit "web/0" not found',
        ),
        (
            {"ports": {"open": [_port(80)], "close": [_port(81, endpoint="nope")]}},
            'cannot open/close ports: close port range: endpoint "nope" for unit "web/0" not found',
        ),
        (
            {"state": {str(number): BIG for number in range(32)}},
            "persisting charm state: max allowed size (2097152) exceeded",
        ),
    ],
)  # fmt: skip
def test_a_refused_flush_is_a_failed_hook_that_wrote_nothing(
    runtime: TestController, writes: dict[str, Any], text: str
) -> None:
    _neighbour(runtime)
    runtime.clock.advance(400)
    dispatch = runtime.until("update-status")
    before = runtime.dump()
    all_writes = {"relations": {"0": {"unit": {"k": "v"}}}, "state": {"a": "b"}, **writes}
    done = runtime.commit(dispatch, ok(writes=all_writes))
    assert (done.ok, done.message) == (False, text)
    after = runtime.dump()
    assert {table: after[table] for table in WRITTEN} == {table: before[table] for table in WRITTEN}
    assert runtime.turn().dispatch is None
    assert runtime.agent() == ("error", 'hook failed: "update-status"')


def test_other_protocols_do_not_conflict(runtime: TestController) -> None:
    _neighbour(runtime)
    assert _writes(
        runtime, ports={"open": [_port(100, 200, "udp"), _port(53), _port(-1, protocol="icmp")]}
    ).ok


def test_other_machines_do_not_conflict(runtime: TestController) -> None:
    _neighbour(runtime)
    assert _writes(runtime, "web/1", ports={"open": [_port(100, 200)]}).ok


def test_state_is_measured_with_what_is_there(runtime: TestController) -> None:
    runtime.active()
    assert _writes(runtime, state={str(number): BIG for number in range(30)}).ok
    assert _writes(runtime, state={"0": None, "x": BIG}).ok
    done = _writes(runtime, state={"y": BIG, "z": BIG})
    assert done.message == "persisting charm state: max allowed size (2097152) exceeded"
    assert "y" not in _state(runtime)


@pytest.mark.parametrize(
    ("most", "fits", "refused"),
    [(100, 80, 92), (0, 3 * limits.MIB, limits.UNIT_STATE), (4 * limits.MIB, 3 * limits.MIB, 5 * limits.MIB)],
)
def test_charm_state_obeys_the_setting_of_the_controller(
    runtime: TestController, most: int, fits: int, refused: int
) -> None:
    """0 lifts Juju's limit, and leaves the bound of what a machine may make the controller keep."""
    controller_config_requests.configure(runtime.ctx, {"max-charm-state-size": most})
    runtime.active()
    assert _writes(runtime, state=_state_of(fits)).ok
    done = _writes(runtime, state=_state_of(refused))
    assert done.message == f"persisting charm state: max allowed size ({most or limits.UNIT_STATE}) exceeded"
    assert sum(map(len, _state(runtime).values())) <= fits


def _state_of(size: int) -> dict[str, str]:
    """Return a state of so many bytes beside what its keys cost."""
    piece = limits.STATE_VALUE
    whole, rest = divmod(size, piece)
    return {**{f"k{number}": "x" * piece for number in range(whole)}, "k": "x" * rest}


def test_what_a_unit_remembers_obeys_the_setting_of_the_controller(runtime: TestController) -> None:
    """The hook that makes it too large has failed; with a larger limit it is repeated, and taken."""
    runtime.active(count=1)
    units.add_units(runtime.ctx, runtime.model, "web", 1, ())
    runtime.played("1")
    runtime.until("start", "web/1")
    controller_config_requests.configure(runtime.ctx, {"max-agent-state-size": 10})
    done = runtime.hook("cluster-relation-joined", ok())
    assert (done.ok, done.message) == (False, "persisting uniter state: max allowed size (10) exceeded")
    assert runtime.turn().dispatch is None
    assert runtime.agent()[0] == "error"
    controller_config_requests.configure(runtime.ctx, {"max-agent-state-size": 0})
    runtime.clock.advance(400)
    assert runtime.hook("cluster-relation-joined", ok()).ok


def test_both_limits_of_state_are_checked_together(runtime: TestController) -> None:
    with pytest.raises(NotValid, match=r"combined value should not exceed mongo's 16M .* got 17000000"):
        controller_config_requests.configure(
            runtime.ctx, {"max-charm-state-size": "14000000", "max-agent-state-size": "3000000"}
        )
    with pytest.raises(NotValid, match=r"^invalid max agent state size: should be a number .* got -5$"):
        controller_config_requests.configure(runtime.ctx, {"max-agent-state-size": "-5"})
    assert settings.of_controller(runtime.ctx)["max-charm-state-size"] == limits.STATE


def test_too_large_state_may_still_shrink_otherwise(runtime: TestController) -> None:
    """A hook that writes no state is not refused for what lies there already."""
    runtime.active()
    value = {"model": runtime.model, "unit": "web/0", "key": "k", "value": BIG * 40}
    runtime.write(lambda tx: tx.run("charm_state_set", **value))
    assert _writes(runtime, relations={"0": {"unit": {"a": "1"}}}).ok


def test_leadership_lost_in_mid_hook(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clock.advance(400)
    dispatch = runtime.until("update-status")

    def depose(tx: Any) -> None:
        leadership.revoke(tx, units.get(tx, "web/0"))
        leadership.claim(tx, units.get(tx, "web/1"))

    runtime.write(depose)
    before = runtime.dump()
    done = runtime.commit(dispatch, ok(writes={"relations": {"0": {"unit": {"k": "v"}, "app": {"a": "b"}}}}))
    assert (done.ok, done.message) == (False, 'prerequisites failed: "web/0" is not leader of "web"')
    after = runtime.dump()
    assert {table: after[table] for table in WRITTEN} == {table: before[table] for table in WRITTEN}


def test_empty_application_bag_needs_no_leadership(runtime: TestController) -> None:
    runtime.active(count=2)
    assert _writes(runtime, "web/1", relations={"0": {"unit": {"k": "v"}, "app": {}}}).ok


def test_non_leader_may_not_write_for_the_application(runtime: TestController) -> None:
    runtime.active(count=2)
    done = _writes(runtime, "web/1", relations={"0": {"app": {"a": "b"}}})
    assert done.message == 'prerequisites failed: "web/1" is not leader of "web"'


def test_refused_hook_that_wanted_a_reboot(runtime: TestController) -> None:
    runtime.active()
    runtime.clock.advance(400)
    done = runtime.hook(
        "update-status", ok(reboot="after", writes={"ports": {"open": [_port(1, endpoint="nope")]}})
    )
    assert (done.ok, bool(done.reboot)) == (False, False)


def test_reason_of_a_refusal_is_in_the_log(runtime: TestController) -> None:
    from pushjuju.services.entities.basis import logs

    runtime.active()
    _writes(runtime, ports={"open": [_port(1, endpoint="nope")]})
    found = [
        item.message for item in logs.after(runtime.ctx.store, runtime.model, 0) if item.level == "ERROR"
    ]
    assert found == [
        (
            "run update-status hook for web/0: cannot open/close ports: open port range: "
            'endpoint "nope" for unit "web/0" not found'
        )
    ]
    assert json.dumps(found)


def test_a_machine_that_names_thousands_of_relations_costs_few_questions() -> None:
    named = {str(number): {"unit": {"k": "v"}, "app": {"k": "v"}} for number in range(limits.RELATIONS)}
    assert len(list(flush_questions(("web/0", {"relations": named})))) < 100
