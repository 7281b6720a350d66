"""The order of hooks on real machines (lifecycle reference 19), and two controllers at once on one store."""

from __future__ import annotations

import pytest

from pushjuju.services.entities.application import units
from pushjuju.services.requests import removals
from pushjuju.workers.driver import Settled
from tests.chaos.controller import DEPLOY_HOOKS, REMOVE_HOOKS, UNIT, RealController, counts, until

pytestmark = pytest.mark.machine


async def well(world: RealController) -> None:
    """Drive to rest, and fail the test unless all went well."""
    settled: Settled = await world.settle()
    assert settled.problems == ()


async def test_one_unit_from_deploy_to_removal(world: RealController) -> None:
    world.deploy()
    await well(world)
    machine = world.machine()
    machine.once(*DEPLOY_HOOKS)
    spool = world.keep_log()

    world.config(number="2")
    await well(world)
    world.config(number="2")
    await well(world)
    world.refresh(revision="1")
    await well(world)
    assert world.unit().charm_url == "local:tally-1"
    world.update_status_now()
    await well(world)
    later = ["config-changed 2", "upgrade-charm 1", "config-changed 3", "update-status 1"]
    assert machine.begun()[len(DEPLOY_HOOKS) :] == later

    world.remove()
    await well(world)
    assert spool.read_text().splitlines()[len(DEPLOY_HOOKS) + len(later) :] == [
        f"{hook} 1" for hook in REMOVE_HOOKS
    ]
    assert (world.units(), world.machines(), world.layout.records()) == ([], [], [])


async def test_refresh_that_waits_for_a_failed_hook(world: RealController) -> None:
    world.deploy("if [ $hook = start ] && [ ! -e mended ]; then exit 1; fi")
    await world.settle()
    world.refresh(mended="1")
    await world.settle()
    assert world.unit().charm_url == "local:tally-0"
    world.resolve(retry=False)
    await well(world)
    assert world.machine().begun()[len(DEPLOY_HOOKS) :] == ["upgrade-charm 1", "config-changed 2"]
    assert world.unit().charm_url == "local:tally-1"


async def test_forced_refresh_mends_a_unit_in_error(world: RealController) -> None:
    world.deploy("if [ $hook = start ] && [ ! -e mended ]; then exit 1; fi")
    await world.settle()
    world.refresh(mended="1", force=True)
    await world.settle()
    assert world.agent() == ("error", 'hook failed: "start"')
    world.resolve()
    await well(world)
    machine = world.machine()
    assert machine.begun()[len(DEPLOY_HOOKS) - 1 :] == ["start 1", "start 2", "config-changed 2"]
    assert world.agent() == ("idle", "")


async def test_peers(world: RealController) -> None:
    world.deploy(count=2)
    await well(world)
    # Whichever unit is ready first leads.
    first, second = sorted("01", key=lambda number: "leader-elected" not in world.machine(number).hooks())
    leader, other = world.machine(first), world.machine(second)
    joined = ["cluster-relation-joined", "cluster-relation-changed"]
    assert [hook for hook in leader.hooks() if hook not in joined] == list(DEPLOY_HOOKS)
    follower = [*DEPLOY_HOOKS[:2], "leader-settings-changed", *DEPLOY_HOOKS[3:]]
    assert [hook for hook in other.hooks() if hook not in joined] == follower
    for machine in (leader, other):
        at = machine.hooks().index(joined[0])
        assert machine.hooks()[at : at + 2] == joined
        assert counts(machine.begun())["cluster-relation-joined"] == 1
        assert machine.ended() == machine.begun()
    before = len(leader.begun())
    spool = world.keep_log(second)
    removals.remove_units(world.ctx, world.uuid, [f"tally/{second}"])
    await well(world)
    assert leader.hooks()[before:] == ["cluster-relation-departed"]
    gone = [line.split()[0] for line in spool.read_text().splitlines()]
    assert gone[-3:] == ["cluster-relation-departed", *REMOVE_HOOKS]


async def test_two_units_on_one_machine_take_turns(world: RealController) -> None:
    world.deploy("mkdir /root/busy; sleep 0.05; rmdir /root/busy")
    await well(world)
    world.deploy("mkdir /root/busy; sleep 0.05; rmdir /root/busy", name="other", to=["0"])
    world.config(number="2")
    await well(world)
    machine = world.machine()
    assert counts(machine.ended())["install"] == 2
    world.remove("other")
    await well(world)
    assert not (machine.root / "var/lib/juju/agents/unit-other-0").exists()
    assert (machine.root / "var/lib/juju/agents/unit-tally-0/charm/dispatch").exists()
    assert world.agent(UNIT) == ("idle", "")


async def test_two_controllers_at_once(world: RealController) -> None:
    world.deploy("sleep 0.05", count=3)
    with world.process() as one, world.process() as two:
        await well(world)
        for drive in (one, two):
            drive.process.wait(30)
            drive.check()
    world.config(number="2")
    with world.process() as one, world.process() as two:
        one.process.wait(30)
        two.process.wait(30)
    peers = ("cluster-relation-joined", "cluster-relation-changed", "leader-settings-changed")
    leaders = [number for number in range(3) if "leader-elected" in world.machine(str(number)).hooks()]
    assert len(leaders) == 1
    for number in range(3):
        machine = world.machine(str(number))
        own = {hook: count for hook, count in counts(machine.begun()).items() if hook not in peers}
        hooks = [hook for hook in DEPLOY_HOOKS if number in leaders or hook != "leader-elected"]
        assert own == {**dict.fromkeys(hooks, 1), "config-changed": 2}
        assert counts(machine.begun())["cluster-relation-joined"] == 2
        assert machine.ended() == machine.begun()
        assert world.agent(f"tally/{number}") == ("idle", "")


async def test_killed_controller_is_taken_over_by_the_one_that_waits(world: RealController) -> None:
    world.deploy("sleep 0.2")
    with world.process() as one:
        await until(lambda: world.layout.records() and world.machine().begun())
        with world.process() as two:
            await until(lambda: "config-changed 1" in world.machine().begun())
            one.process.kill()
            two.process.wait(20)
            two.check()
    world.at_rest(world.machine(), *DEPLOY_HOOKS)


async def test_units_are_added_while_the_model_is_driven(world: RealController) -> None:
    world.deploy("sleep 0.1")
    with world.process() as drive:
        await until(lambda: world.layout.records() and world.machine().begun())
        units.add_units(world.ctx, world.uuid, "tally", 1, [])
        drive.process.wait(30)
        drive.check()
    assert world.agent("tally/1") == ("idle", "")
    assert "start 1" in world.machine("1").ended()
