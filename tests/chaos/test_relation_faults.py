"""Relations, leaders, actions when something goes wrong: bad requests, much data, deaths at a bad moment."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from pushjuju.core.clock import to_iso
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.relation import integrate
from pushjuju.store.rows.records import Unit
from pushjuju.workers.driver import Settled
from tests.chaos.controller import RealController, until
from tests.chaos.test_refusals import everything, idle, pushjuju, refused  # noqa: F401
from tests.world.said import problems_of

machine = pytest.mark.machine
METADATA: dict[str, Any] = {
    "name": "tally",
    "summary": "Counts its own hooks on the machine",
    "description": "-",
    "peers": {"cluster": {"interface": "tally-cluster"}},
    "provides": {"up": {"interface": "tally"}, "free": {"interface": "free"}},
    "requires": {"down": {"interface": "tally"}, "single": {"interface": "tally", "limit": 1}},
}
ACTIONS = {
    "act": {
        "params": {
            "level": {"type": "integer", "maximum": 9},
            "name": {"type": "string", "minLength": 3},
            "mode": {"enum": ["fast", "slow"]},
        },
        "required": ["level", "who"],
        "additionalProperties": False,
    }
}


def deploy(world: RealController, name: str, do: str = "", **more: Any) -> None:
    """Deploy the charm with endpoints and an action."""
    files = {"metadata.yaml": yaml.safe_dump(METADATA), "actions.yaml": yaml.safe_dump(ACTIONS)}
    world.deploy(do, name=name, **more, **files)


def relate(world: RealController, first: str = "near:down", second: str = "far:up") -> int:
    """Relate two applications."""
    return integrate.integrate(world.ctx, world.uuid, first, second)


async def well(world: RealController) -> None:
    """Drive to rest; nothing may be wrong."""
    settled: Settled = await world.settle()
    assert settled.problems == ()


def bag(world: RealController, relation: int, entity: str) -> dict[str, str]:
    """Return what a unit or an application wrote into a relation."""
    with world.ctx.read(world.uuid) as tx:
        found = relations.bags(tx, relation).get(entity)
    return dict(found.data) if found else {}


def leader(world: RealController, application: str) -> str:
    """Return the unit that leads."""
    with world.ctx.read(world.uuid) as tx:
        found = leadership.holder(tx, application)
    assert found
    return found


def ran(world: RealController, number: str, endpoint: str) -> list[str]:
    """Return the hooks of an endpoint that began on a machine, by their last words."""
    start = f"{endpoint}-relation-"
    return [hook.removeprefix(start) for hook in world.machine(number).hooks() if hook.startswith(start)]


# --- what is refused --------------------------------------------------------------------------------------


@pytest.fixture
def trio(idle: RealController) -> Iterator[RealController]:  # noqa: F811
    """Three applications, of which `near` and `far` are related; nobody works."""
    for name in ("near", "far", "third"):
        deploy(idle, name)
    relate(idle)
    relate(idle, "near:single", "far:up")
    return idle


REFUSED = [
    ("integrate near nothing", 'application "nothing" not found'),
    ("integrate near:nope far", 'application "near" has no "nope" relation'),
    ("integrate near:nope far:nope", 'application "near" has no "nope" relation'),
    ("integrate near:free far:up", "no relations found"),
    ("integrate near:cluster far:cluster", "no relations found"),
    ("integrate near: far", 'endpoint "near:" not valid'),
    ("integrate near:down:x far", 'endpoint "near:down:x" not valid'),
    ("integrate near third", "ambiguous relation: "),
    ("integrate near:down far:up", "relation near:down far:up (already exists)"),
    (
        "integrate near:single third:up",
        "establishing a new relation for near:single would exceed its maximum relation limit of 1",
    ),
    ("integrate near:down third:up --via nonsense", "nonsense"),
    ("integrate near", "an integration must involve two applications"),
    ("remove-relation near third", 'relation matching "near third" not found'),
    ("remove-relation near:nope far:up", "not found"),
    ("remove-relation 99", "99"),
    ("remove-relation 2", 'cannot destroy relation "far:cluster": is a peer relation'),
    ("suspend-relation 99", "99"),
    ("suspend-relation 2", "peer"),
    ("resume-relation 99", "99"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED, ids=[line for line, _ in REFUSED])
def test_refused(trio: RealController, line: str, said: str) -> None:
    words = line.split()
    assert said in refused(trio, words[0], "-m", "chaos", *words[1:])


def test_no_relation_with_what_goes(trio: RealController) -> None:
    trio.sql("UPDATE application SET life = 'dying' WHERE name = 'third'")
    said = refused(trio, "integrate", "-m", "chaos", "near:down", "third:up")
    assert 'cannot add relation "near:down third:up": application "third" is not alive' in said


PARAMS = {
    "act": [
        '(root) : "level" property is missing and required, given {}',
        '(root) : "who" property is missing and required, given {}',
    ],
    "act level=12 name=ab mode=odd who=me more=1 than=2": [
        '(root) : additional property "more" is not allowed',
        '(root) : additional property "than" is not allowed',
        '(root) : additional property "who" is not allowed',
        "(root).level : ",
        "(root).mode : ",
        "(root).name : ",
    ],
    "act level=high who=me": [
        "(root).level : must be of type integer, given high",
        '(root) : additional property "who" is not allowed',
    ],
    "dance": ['action "dance" not defined on unit "near/0"'],
}


@pytest.mark.parametrize("words", PARAMS)
def test_all_faults_of_parameters_are_told(trio: RealController, words: str) -> None:
    done = pushjuju(trio, "run", "-m", "chaos", "near/0", *words.split())
    assert "Traceback" not in done.stderr
    assert "failed to schedule any tasks" in done.stderr
    for text in PARAMS[words]:
        assert text in done.stderr
    with trio.ctx.read(trio.uuid) as tx:
        assert tx.find(Unit, "unit_get", name="near/0")
    assert trio.dump()["task"] == []


# --- much data --------------------------------------------------------------------------------------------


_BIG = r"""case $hook in
up-relation-joined) { printf 'big: '; head -c %d /dev/zero | tr '\0' x; } | relation-set --file - ;;
down-relation-changed)
  if [ -n "$JUJU_REMOTE_UNIT" ]; then relation-get big "$JUJU_REMOTE_UNIT" | wc -c > /root/size; fi ;;
esac"""


@machine
async def test_much_relation_data_reaches_the_other_side(world: RealController) -> None:
    size = 1_500_000
    deploy(world, "far", _BIG % size)
    deploy(world, "near", _BIG % size)
    relate(world)
    await well(world)
    assert (world.machine("1").root / "root/size").read_text() == f"{size + 1}\n"
    world.config("near", number="2")
    await well(world)


@machine
async def test_more_relation_data_than_can_be_kept_fails_the_hook(world: RealController) -> None:
    """The charm is told; the unit goes on when it asks for less."""
    world.model_config(automatically_retry_hooks="false")
    deploy(world, "far", _BIG % 80_000_000)
    deploy(world, "near")
    relation = relate(world)
    settled = await world.settle()
    assert world.agent("far/0") == ("error", 'hook failed: "up-relation-joined"')
    assert any("far/0" in problem for problem in problems_of(settled))
    assert "big" not in bag(world, relation, "far/0")
    assert any("ERROR standard input is larger than " in line for line in world.logs())
    world.config("far", do="true")
    world.resolve("far/0")
    await well(world)
    assert world.agent("near/0") == ("idle", "")


# --- leaders ----------------------------------------------------------------------------------------------

_CLAIMS = """if [ $hook != install ] && [ $(is-leader) = True ]; then
  relation-set -r 0 --app "owner=$JUJU_UNIT_NAME" "$hook=$JUJU_UNIT_NAME"
  leader-set "by=$JUJU_UNIT_NAME"
  echo "$JUJU_UNIT_NAME" >> /root/led
fi"""


@machine
async def test_two_controllers_never_make_two_leaders(world: RealController) -> None:
    """Each leads until it goes, and another only then; all that leaders write is the present one's."""
    deploy(world, "near", _CLAIMS, count=3)
    with world.process() as one, world.process() as two:
        for drive in (one, two):
            drive.process.wait(60)
            drive.check()
    led = [leader(world, "near")]
    while True:
        machines = [str(number) for number in range(3) if f"near/{number}" not in led[:-1]]
        elected = [number for number in machines if "leader-elected" in world.machine(number).hooks()]
        assert elected == [led[-1].rpartition("/")[2]]
        assert bag(world, 0, "near")["owner"] == led[-1]
        if len(led) == 3:
            break
        removals.remove_units(world.ctx, world.uuid, [led[-1]])
        with world.process() as one, world.process() as two:
            for drive in (one, two):
                drive.process.wait(60)
                drive.check()
        led.append(leader(world, "near"))
    assert len(set(led)) == 3


_SLOW_LEADER = """if [ $hook = config-changed ] && [ -e /etc/slow ]; then
  relation-set -r 0 --app "late=$JUJU_UNIT_NAME"
  relation-set -r 0 "late=$JUJU_UNIT_NAME"
  leader-set "said=$JUJU_UNIT_NAME"
  touch /root/waiting
  while [ -e /etc/slow ]; do sleep 0.05; done
fi"""


async def _slow_leader(world: RealController) -> str:
    """Return the machine of the leading one of two units; its next config-changed waits."""
    deploy(world, "near", _SLOW_LEADER, count=2)
    world.model_config(automatically_retry_hooks="false")
    await well(world)
    number = leader(world, "near").rpartition("/")[2]
    (world.machine(number).root / "etc/slow").touch()
    world.config("near", number="2")
    return number


@machine
async def test_a_leader_dies_while_it_writes_application_data(world: RealController) -> None:
    """What it had not committed is not there; the hook that runs again writes it."""
    number = await _slow_leader(world)
    unit, real_machine = f"near/{number}", world.machine(number)
    driving = asyncio.create_task(world.settle())
    await until((real_machine.root / "root/waiting").exists)
    for pid in real_machine.pids("sleep 0.05|dispatch"):
        os.kill(pid, signal.SIGKILL)
    (real_machine.root / "etc/slow").unlink(missing_ok=True)
    assert (await driving).problems == ()
    assert leader(world, "near") == unit
    assert bag(world, 0, "near") == {}, "the second run did not write"
    with world.ctx.read(world.uuid) as tx:
        assert leadership.settings(tx, "near") == {"said": unit}, "what is live is kept"
    assert real_machine.begun()[-1] == "config-changed 3"


@machine
async def test_a_leader_whose_machine_falls_silent_is_succeeded_and_cannot_write(
    world: RealController,
) -> None:
    """The result of its hook comes late: application data is refused, and with it all that the hook wrote."""
    number = await _slow_leader(world)
    unit, real_machine = f"near/{number}", world.machine(number)
    other = f"near/{1 - int(number)}"
    with world.process() as drive:
        await until((real_machine.root / "root/waiting").exists)
        drive.process.kill()
    real_machine.link("down")
    (real_machine.root / "etc/slow").unlink()
    await until(lambda: real_machine.ended()[-1] == "config-changed 2")
    await world.settle()
    long_ago = "UPDATE machine SET unreachable_since = ?, last_failed = ? WHERE id = ?"
    now = world.ctx.clock.now()
    world.sql(long_ago, to_iso(now.replace(year=now.year - 1)), to_iso(now), number)
    world.work_now()
    await world.settle()
    assert leader(world, "near") == other
    assert "leader-elected" in world.machine(other.rpartition("/")[2]).hooks()
    real_machine.link("up")
    world.work_now()
    settled = await world.settle()
    assert world.agent(unit) == ("error", 'hook failed: "config-changed"')
    assert any(unit in problem for problem in problems_of(settled))
    assert any(f'"{unit}" is not leader of "near"' in line for line in world.logs())
    assert "late" not in bag(world, 0, "near")
    assert "late" not in bag(world, 0, unit)
    world.resolve(unit)
    await well(world)
    assert leader(world, "near") == other


# --- relations that go at a bad moment --------------------------------------------------------------------


@machine
@pytest.mark.parametrize("hook", ["created", "joined", "changed", "departed", "broken"])
async def test_a_relation_is_removed_while_its_hook_runs(world: RealController, hook: str) -> None:
    """Every joined has its changed, then everybody leaves; both sides go on."""
    slow = f"if [ $hook = down-relation-{hook} ]; then sleep 0.7; fi"
    deploy(world, "near", slow)
    deploy(world, "far")
    await well(world)
    relation = relate(world)
    if hook in ("departed", "broken"):
        await well(world)
        integrate.remove_relation(world.ctx, world.uuid, [str(relation)])
    driving = asyncio.create_task(world.settle())
    await until(lambda: ran(world, "0", "down")[-1:] == [hook])
    with world.ctx.read(world.uuid) as tx:
        there = [item.id for item in relations.of_application(tx, "near")]
    assert relation in there
    if hook not in ("departed", "broken"):
        integrate.remove_relation(world.ctx, world.uuid, [str(relation)])
    assert (await driving).problems == ()
    for number, endpoint in (("0", "down"), ("1", "up")):
        hooks = ran(world, number, endpoint)
        if not hooks:
            continue
        assert hooks[0] == "created"
        assert hooks[-1] == "broken"
        assert hooks.count("created") == hooks.count("broken") == 1
        assert hooks.count("joined") == hooks.count("departed") <= 1
        assert "joined" not in hooks or hooks[hooks.index("joined") + 1] == "changed"
    with world.ctx.read(world.uuid) as tx:
        assert relation not in [item.id for item in relations.of_application(tx, "near")]
    assert world.agent("near/0") == world.agent("far/0") == ("idle", "")
    assert relate(world) == relation + 1
    await well(world)
    assert ran(world, "0", "down")[-1] in ("joined", "changed")


@machine
async def test_a_machine_is_lost_for_good(world: RealController) -> None:
    """`remove-machine --force` cleans up: the other side sees it depart, the rest of the model goes on."""
    deploy(world, "near", count=2)
    deploy(world, "far", "[ $hook != up-relation-changed ] || relation-set seen=$JUJU_REMOTE_UNIT")
    relation = relate(world)
    await well(world)
    lost, kept = world.machine("0"), world.machine("1")
    lost.link("down")
    world.config("near", number="2")
    settled = await world.settle()
    assert any(problem.startswith("machine 0: cannot reach") for problem in problems_of(settled))
    assert "config-changed 2" in kept.ended(), "the others go on meanwhile"
    removals.remove_machines(world.ctx, world.uuid, ["0"], force=removal.Force(wait_s=0))
    world.work_now()
    await world.settle()
    world.work_now()
    await well(world)
    assert sorted(world.units()) == ["far/0", "near/1"]
    assert [item.id for item in world.machines()] == ["1", "2"]
    assert leader(world, "near") == "near/1"
    assert ran(world, "2", "up").count("departed") == 1
    assert ran(world, "1", "cluster")[-1] == "departed"
    with world.ctx.read(world.uuid) as tx:
        members = {scope.unit for scope in relations.scopes(tx, relation)}
    assert members == {"near/1", "far/0"}
    assert "near/0" not in json.dumps(world.dump()["status"], default=str)
    world.config("near", number="3")
    await well(world)
    assert kept.ended()[-1] == "config-changed 3"
    world.remove("near")
    world.remove("far")
    await well(world)
    assert (world.units(), world.machines(), world.layout.records()) == ([], [], [])
