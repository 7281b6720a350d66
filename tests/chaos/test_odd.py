"""Odd things that charms and people do."""

from __future__ import annotations

import asyncio
import shutil

import pytest

from tests.chaos.controller import DEPLOY_HOOKS, UNIT, RealController, until
from tests.waiting import stays
from tests.world.said import problems_of

pytestmark = pytest.mark.machine


async def test_live_call_waits_for_the_next_controller(world: RealController) -> None:
    ask = "while [ ! -e /root/go ]; do sleep 0.05; done; leader-set a=$hook; leader-get a >/root/got"
    world.deploy(f"if [ $hook = start ]; then {ask}; fi")
    with world.process():
        await until(lambda: world.layout.records() and "start 1" in world.machine().begun(), 30)
    machine = world.machine()
    (machine.root / "root/go").touch()
    await stays(lambda: "start 1" not in machine.ended(), 0.3)
    assert (await world.settle()).problems == ()
    world.at_rest(machine, *DEPLOY_HOOKS)
    with world.ctx.read(world.uuid) as tx:
        rows = tx.rows("leader_setting_list", application="tally")
    assert [(row["key"], row["value"]) for row in rows] == [("a", "start")]


async def test_connection_cut_while_a_charm_is_uploaded(world: RealController) -> None:
    world.add_machine()
    await world.settle()
    machine = world.machine()
    world.deploy(to=["0"], noise="".join(chr(0x4E00 + n * 7919 % 20000) for n in range(12_000_000)))
    driving = asyncio.create_task(world.settle())
    blobs = machine.root / "var/lib/juju/pushjuju/blobs"
    cuts, size = 0, 0
    while not driving.done() and cuts < 3:
        await asyncio.sleep(0.01)
        sizes = [path.stat().st_size for path in blobs.glob("*") if path.exists()]
        if max(sizes, default=0) > size:
            size = max(sizes)
            cuts += bool(machine.cut_connections())
    assert (await driving).problems == ()
    assert cuts > 1
    world.at_rest(machine, *DEPLOY_HOOKS)


async def test_hook_that_deletes_everything_of_ours(world: RealController) -> None:
    world.deploy("if [ $hook = config-changed ] && [ $number = 1 ]; then rm -rf /var/lib/juju/* || true; fi")
    await world.settle()
    for _ in range(3):  # the machine says that it cannot, until our program is there again
        if world.agent()[0] == "failed":
            world.work_now()
            await world.settle()
    assert (await world.settle()).problems == ()
    assert world.machine().begun() == [*(f"{hook} 1" for hook in DEPLOY_HOOKS)]
    assert world.agent() == ("idle", "")


async def test_charm_that_vanished_is_brought_again(world: RealController) -> None:
    world.deploy()
    await world.settle()
    machine = world.machine()
    shutil.rmtree(machine.root / "var/lib/juju/agents/unit-tally-0/charm")
    world.config(number="2")
    assert (await world.settle()).problems == ()
    assert (machine.root / "var/lib/juju/agents/unit-tally-0/charm/dispatch").exists()
    assert machine.begun()[len(DEPLOY_HOOKS) :] == ["upgrade-charm 1", "config-changed 2"]
    assert world.agent() == ("idle", "")


async def test_hook_that_is_always_killed_does_not_spin(world: RealController) -> None:
    world.deploy("if [ $hook = start ] && [ ! -e /root/mended ]; then kill -9 $$; fi")
    settled = await world.settle(20)
    assert problems_of(settled) == (f"unit {UNIT}: start was killed 5 times in a row",)
    machine = world.machine()
    assert machine.begun()[-1] == "start 5"
    (machine.root / "root/mended").touch()
    world.work_now()
    assert (await world.settle()).problems == ()
    assert (machine.ended()[-1], world.agent()) == ("start 6", ("idle", ""))


async def test_changed_address_runs_config_changed_once(world: RealController) -> None:
    world.deploy("if [ $hook = start ]; then ip addr add 192.168.77.5/24 dev eth0; fi")
    assert (await world.settle()).problems == ()
    machine = world.machine()
    machine.once(*DEPLOY_HOOKS)
    for _ in range(3):
        world.update_status_now()
        assert (await world.settle()).problems == ()
    later = machine.begun()[len(DEPLOY_HOOKS) :]
    assert [line for line in later if "config" in line] == ["config-changed 2"]
    assert "update-status 1" in later
