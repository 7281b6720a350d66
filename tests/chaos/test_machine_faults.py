"""The machine fails: its disk is full, it reboots in the middle of a hook, it goes away."""

from __future__ import annotations

import asyncio

import pytest

from pushjuju.core.status import StatusKind
from pushjuju.plugins.firewalls.nftables import firewall
from pushjuju.plugins.providers.local import machines
from pushjuju.services.entities.basis import logs
from pushjuju.services.entities.machine.machines import STOPPED
from pushjuju.services.requests.model import model_config
from pushjuju.services.views import explain
from pushjuju.services.views.status import document
from pushjuju.uniter.wanted import wanted
from pushjuju.workers.machine.contact import RESUMING
from tests.chaos.controller import DEPLOY_HOOKS, UNIT, RealController, RealMachine, until
from tests.world.said import problems_of

pytestmark = pytest.mark.machine

DISK = "/var/lib/juju"
NFT_THAT_REBOOTS_ONCE = """#!/bin/sh
if [ ! -e /rebooted ]; then echo yes >/rebooted; sync; reboot -f; sleep 60; fi
exec /usr/sbin/nft "$@"
"""


async def small_disk(world: RealController, size: str) -> RealMachine:
    """Return a machine whose Juju directory lies on a disk of its own."""
    world.add_machine()
    await world.settle()
    machine = world.machine()
    machine.run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", DISK)
    return machine


def grow(machine: RealMachine) -> None:
    """Give the disk room."""
    machine.run("mount", "-o", "remount,size=64m", DISK)


def full(world: RealController) -> str:
    """Return how a full disk is told."""
    return f"the disk of root@{world.machine().record.address}:22 is full"


async def test_no_room_for_the_program(world: RealController) -> None:
    machine = await small_disk(world, "96k")
    machine.run("systemctl", "restart", "ssh")
    world.deploy(to=["0"])
    settled = await world.settle()
    assert len(settled.problems) == 1
    assert full(world) in problems_of(settled)[0]
    assert not machine.log_exists()
    grow(machine)
    world.work_now()
    assert (await world.settle()).problems == ()
    world.at_rest(machine, *DEPLOY_HOOKS)


async def test_no_room_for_the_charm(world: RealController) -> None:
    machine = await small_disk(world, "1m")
    world.deploy(to=["0"], noise=NOISE)
    settled = await world.settle()
    assert len(settled.problems) == 1
    assert full(world) in problems_of(settled)[0]
    assert "full" in world.work_reasons()["machine/0"]
    assert [operation.name for operation in world.open_operations()] == ["charm local:tally-0"]
    grow(machine)
    world.work_now()
    assert (await world.settle()).problems == ()
    world.at_rest(machine, *DEPLOY_HOOKS)


# Bytes that no compression makes small.
NOISE = "".join(chr(0x4E00 + number * 7919 % 20000) for number in range(700_000))


async def test_no_room_to_unpack_a_charm(world: RealController) -> None:
    """The archive has room, its files have not: nothing of them is run, and the neighbour is served."""
    machine = await small_disk(world, "8m")
    world.deploy(to=["0"], zeros="0" * 32_000_000)
    world.deploy(name="small", to=["0"])
    (problem,) = problems_of(await world.settle())
    assert (
        problem == f"unit {UNIT}: charm local:tally-0: the disk of machine 0 is full: No space left on device"
    )
    shown = document.document(world.ctx, world.model)["applications"]["tally"]["units"][UNIT]["juju-status"]
    assert shown["current"] == "failed"
    assert shown["message"].startswith("the disk of machine 0 is full: No space left on device; since ")
    assert shown["message"].endswith("; next: pushjuju update-status, or any command")
    assert "charm" not in machine.run("ls", "/var/lib/juju/agents/unit-tally-0").split()
    assert world.agent("small/0") == ("idle", "")
    assert machine.begun() == [f"{hook} 1" for hook in DEPLOY_HOOKS]
    grow(machine)
    world.work_now()
    assert (await world.settle()).problems == ()
    assert machine.begun() == [
        *(f"{hook} 1" for hook in DEPLOY_HOOKS),
        *(f"{hook} 2" for hook in DEPLOY_HOOKS),
    ]
    assert machine.ended() == machine.begun()
    assert world.agent() == ("idle", "")


async def test_hook_that_fills_the_disk_loses_nothing(world: RealController) -> None:
    machine = await small_disk(world, "16m")
    world.deploy(f"state-set $hook=done; cat /dev/zero >{DISK}/fill 2>/dev/null || true", to=["0"])
    assert (await world.settle()).problems == ()
    assert int(machine.run("stat", "-c", "%s", f"{DISK}/fill")) > 12_000_000
    world.at_rest(machine, *DEPLOY_HOOKS)
    with world.ctx.read(world.uuid) as tx:
        rows = tx.rows("charm_state_list", unit=UNIT)
    assert sorted(row["key"] for row in rows) == sorted(DEPLOY_HOOKS)


async def test_no_room_to_begin_a_hook(world: RealController) -> None:
    real_machine = await small_disk(world, "16m")
    world.deploy(to=["0"])
    assert (await world.settle()).problems == ()
    real_machine.run("sh", "-c", f"cat /dev/zero >{DISK}/fill 2>/dev/null || true")
    world.config(number="2")
    settled = await world.settle()
    assert len(settled.problems) == 1
    assert "the disk of machine 0 is full: No space left on device" in problems_of(settled)[0]
    assert real_machine.begun()[-1] == "start 1"
    status, message = world.agent()
    assert (status, "No space left" in message) == ("failed", True)
    unit, machine = explain.explain(world.ctx, world.uuid, wanted, [UNIT, "0"])
    assert (unit.doing, unit.unattended, machine.unattended) == ("waiting", True, True)
    assert unit.since is not None
    assert "config-changed" in unit.reason
    assert "No space left on device" in unit.reason
    shown = document.document(world.ctx, world.model)["applications"]["tally"]["units"][UNIT]
    assert shown["juju-status"]["message"].endswith(
        "; nobody is working on this; next: pushjuju update-status, or any command"
    )
    real_machine.run("rm", f"{DISK}/fill")
    world.work_now()
    assert (await world.settle()).problems == ()
    assert real_machine.begun()[len(DEPLOY_HOOKS) :] == ["config-changed 2"]
    assert (world.agent(), real_machine.ended()) == (("idle", ""), real_machine.begun())
    assert [found.unattended for found in explain.explain(world.ctx, world.uuid, wanted, [UNIT, "0"])] == [
        False
    ] * 2


async def test_reboot_in_the_middle_of_a_hook(world: RealController) -> None:
    reboot = "if [ $hook = config-changed ] && [ $number = 1 ]; then sync; reboot -f; sleep 60; fi"
    world.deploy(reboot)
    settled = await world.settle()
    assert problems_of(settled) == (f'unit {UNIT}: hook failed: "config-changed"',)
    assert world.agent()[0] == "error"
    machine = world.machine()
    assert machine.begun()[-1] == "config-changed 1"
    world.retry_now()
    assert (await world.settle()).problems == ()
    assert machine.begun() == [*(f"{hook} 1" for hook in DEPLOY_HOOKS[:-1]), "config-changed 2", "start 1"]
    assert machine.ended() == [*(f"{hook} 1" for hook in DEPLOY_HOOKS[:-2]), "config-changed 2", "start 1"]
    assert world.agent() == ("idle", "")


async def test_reboot_while_the_firewall_is_put_in_place(world: RealController) -> None:
    """The rules are sent again in the same contact; no problem is reported."""
    world.add_machine()
    assert (await world.settle()).problems == ()
    machine = world.machine()
    write = f"cat >/usr/local/sbin/nft <<'END'\n{NFT_THAT_REBOOTS_ONCE}END\nchmod +x /usr/local/sbin/nft"
    machine.run("sh", "-c", write)
    model_config.set_firewall_rule(world.ctx, world.uuid, "ssh", ["192.0.2.0/24"])
    assert (await world.settle()).problems == ()
    assert machine.run("cat", "/rebooted") == "yes\n"
    assert "192.0.2.0/24" in machine.run("nft", "list", "table", "inet", firewall.TABLE)


async def test_reboot_of_a_machine_at_rest_runs_start_again(world: RealController) -> None:
    world.deploy()
    await world.settle()
    machine = world.machine()
    machine.run("systemctl", "reboot", "--no-block")
    world.update_status_now()
    while (await world.settle()).problems:  # until it answers again
        await asyncio.sleep(0.2)
        world.work_now()
    assert [line for line in machine.begun()[len(DEPLOY_HOOKS) :] if "update" not in line] == ["start 2"]
    assert world.agent() == ("idle", "")


async def test_machine_that_is_switched_off_is_started_by_what_needs_it(world: RealController) -> None:
    """Powered off from inside, then killed from outside; both times the next change finds it, and says so."""
    world.deploy()
    await world.settle()
    machine = world.machine()
    machine.run("systemctl", "poweroff", "--no-block")
    await until(lambda: not machine.pids("systemd-nspawn"))
    world.config(number="2")
    assert (await world.settle()).problems == ()
    assert machine.ended()[-2:] == ["start 2", "config-changed 2"]
    assert world.agent() == ("idle", "")

    await asyncio.to_thread(machines.halt, world.layout, machine.record.id, 0)
    shown = document.document(world.ctx, world.model)
    assert shown["machines"]["0"]["machine-status"] == {"current": "stopped", "message": STOPPED}
    assert shown["applications"]["tally"]["units"][UNIT]["juju-status"]["current"] == "lost"
    for name in (UNIT, "0"):
        (found,) = explain.explain(world.ctx, world.uuid, wanted, [name])
        assert f"machine 0 {STOPPED}" in found.reason
    world.config(number="3")
    assert (await world.settle()).problems == ()
    assert machine.ended()[-2:] == ["start 3", "config-changed 3"]
    told = logs.newest_first(world.ctx.store, world.uuid, logs.Among(entities=("machine-0",)))
    assert [line.message for line in told].count(RESUMING) == 2
    world.remove()
    await world.settle()
    assert world.units() == []
    assert "application tally removed" in world.told


async def test_machine_that_is_killed_while_a_hook_runs(world: RealController) -> None:
    """The hook failed, as after the death of Juju's agent; status shows both at once."""
    world.deploy("if [ $hook = start ] && [ $number = 1 ]; then sync; sleep 4321; fi")
    with world.process():
        machine = await in_start(world)
        await asyncio.to_thread(machines.halt, world.layout, machine.record.id, 0)
    shown = document.document(world.ctx, world.model)
    assert shown["machines"]["0"]["machine-status"]["current"] == "stopped"
    unit = shown["applications"]["tally"]["units"][UNIT]
    assert unit["juju-status"]["current"] == "lost"
    assert problems_of(await world.settle()) == (f'unit {UNIT}: hook failed: "start"',)
    assert (world.agent()[0], machine.begun()[-1]) == ("error", "start 1")
    assert world.statuses(StatusKind.INSTANCE) == {"0": "running"}
    world.resolve()
    assert (await world.settle()).problems == ()
    assert (machine.begun()[-2:], machine.ended()[-1]) == (["start 1", "start 2"], "start 2")
    assert world.agent() == ("idle", "")


async def in_start(world: RealController) -> RealMachine:
    """Wait until the hook `start` runs."""
    await until(lambda: world.layout.records() and "start 1" in world.machine().begun(), 30)
    return world.machine()


async def test_our_server_is_killed_while_a_hook_runs(world: RealController) -> None:
    world.deploy("if [ $hook = start ]; then sleep 1.5; state-set a=b; fi")
    driving = asyncio.create_task(world.settle())
    machine = await in_start(world)
    machine.kill("pushjuju-server")
    assert (await driving).problems == ()
    world.at_rest(machine, *DEPLOY_HOOKS)


async def test_process_that_runs_a_hook_is_killed(world: RealController) -> None:
    world.deploy("if [ $hook = start ] && [ $number = 1 ]; then sleep 4321; fi")
    driving = asyncio.create_task(world.settle())
    machine = await in_start(world)
    machine.kill("pushjuju-hook")
    # What told the machine its firewall rules may have been killed too.
    problems = problems_of(await driving)
    assert f'unit {UNIT}: hook failed: "start"' in problems
    assert not machine.pids("^sleep 4321")
    world.retry_now()
    assert (await world.settle()).problems == ()
    assert (machine.begun()[-2:], machine.ended()[-1]) == (["start 1", "start 2"], "start 2")


async def test_everything_of_ours_on_the_machine_is_killed(world: RealController) -> None:
    world.deploy("if [ $hook = start ] && [ $number = 1 ]; then sleep 4321; fi")
    with world.process():
        machine = await in_start(world)
    machine.kill("pushjuju-server", "pushjuju-hook", "pushjuju-spare")
    assert problems_of(await world.settle()) == (f'unit {UNIT}: hook failed: "start"',)
    assert not machine.pids("^sleep 4321")
    world.resolve()
    assert (await world.settle()).problems == ()
    assert machine.ended()[-1] == "start 2"
