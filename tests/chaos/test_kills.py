"""The controller dies by SIGKILL at every step: each hook runs exactly once all the same."""

from __future__ import annotations

import asyncio
import contextlib
import random
import subprocess

import pytest

from pushjuju.core.status import StatusKind
from pushjuju.plugins.providers.local import machines as local
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import firewall, models
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.model import ssh_keys
from tests.chaos.controller import DEPLOY_HOOKS, REMOVE_HOOKS, UNIT, RealController, until

pytestmark = pytest.mark.machine

STEPS = ("prepared", "charm-pushed", "promoted", "result", "committed", "saved", "acknowledged")
MOST_DEATHS = 60
CHARM = "charm local:tally-0"


def die_on(world: RealController, steps: str) -> list[str]:
    """Drive with processes that die at each named step once; return where they died."""
    died = world.work / f"died-{steps}"
    died.unlink(missing_ok=True)
    for _ in range(MOST_DEATHS):
        drive = world.drive("--die-file", str(died), "--steps", steps)
        if not drive.killed:
            drive.check()
            return died.read_text().splitlines() if died.exists() else []
    raise AssertionError(f"not at rest after {MOST_DEATHS} deaths")


@pytest.mark.parametrize("step", STEPS)
async def test_death_at_each_hook_of_a_deploy(world: RealController, step: str) -> None:
    world.deploy()
    died = die_on(world, step)
    begins = [CHARM, "cluster-relation-created"]  # of the two plans of a unit with peers
    doing = [CHARM, *DEPLOY_HOOKS]
    of_step = {
        "charm-pushed": [CHARM],
        "prepared": begins,
        "promoted": [name for name in doing if name not in begins],
    }
    assert died == [f"{step} {name}" for name in of_step.get(step, doing)]
    world.at_rest(world.machine(), *DEPLOY_HOOKS)


async def test_death_right_after_a_stopped_machine_was_started(world: RealController) -> None:
    """The next command finds the machine booting, and does what was asked, once."""
    world.deploy()
    await world.settle()
    machine = world.machine()
    await asyncio.to_thread(local.halt, world.layout, machine.record.id, 0)
    world.config(number="2")
    assert die_on(world, "machine-resumed") == ["machine-resumed"]
    assert machine.begun()[len(DEPLOY_HOOKS) :] == ["start 2", "config-changed 2"]
    assert machine.ended() == machine.begun()
    assert world.agent() == ("idle", "")
    assert world.statuses(StatusKind.INSTANCE) == {"0": "running"}


async def test_next_contact_clears_what_was_committed_before_a_death(world: RealController) -> None:
    world.deploy()
    await world.settle()
    world.config(number="2")
    die_on(world, "saved")
    machine = world.machine()
    assert len(machine.journal()) == 1
    world.config(number="3")
    await world.settle()
    assert machine.begun()[len(DEPLOY_HOOKS) :] == ["config-changed 2", "config-changed 3"]
    await until(lambda: not machine.journal(), what="the machine keeps results that are committed")


async def test_death_before_the_first_hook_and_at_each_contact(world: RealController) -> None:
    world.deploy()
    steps = ["zone-chosen", "instance-made", "machine-started", "attached"]
    assert die_on(world, ",".join(steps)) == steps
    world.at_rest(world.machine(), *DEPLOY_HOOKS)
    assert len(world.layout.records()) == 1


@pytest.mark.parametrize("step", ["prepared", "result", "committed", "saved", "acknowledged"])
async def test_death_at_each_hook_of_a_removal(world: RealController, step: str) -> None:
    world.deploy()
    await world.settle()
    spool = world.keep_log()
    world.remove()
    died = die_on(world, f"{step},files-removed,machine-stopped")
    assert died == [*(f"{step} {hook}" for hook in REMOVE_HOOKS), "files-removed", "machine-stopped"]
    assert spool.read_text().splitlines() == [f"{hook} 1" for hook in (*DEPLOY_HOOKS, *REMOVE_HOOKS)]
    assert gone(world)


def gone(world: RealController) -> bool:
    """Tell whether nothing is left of units, machines and applications."""
    return not (
        world.units() or world.machines() or world.layout.records() or world.statuses(StatusKind.APPLICATION)
    )


@pytest.mark.parametrize("step", [step for step in STEPS if step != "promoted"])
async def test_death_at_each_step_of_a_refresh(world: RealController, step: str) -> None:
    world.deploy()
    await world.settle()
    world.refresh(revision="1")
    died = die_on(world, step)
    charm = f"{step} charm local:tally-1"
    planned = step in ("prepared", "charm-pushed")  # the hooks stand in the plan of the charm's step
    assert died == ([charm] if planned else [charm, f"{step} upgrade-charm", f"{step} config-changed"])
    machine = world.machine()
    assert machine.begun()[len(DEPLOY_HOOKS) :] == ["upgrade-charm 1", "config-changed 2"]
    assert machine.ended() == machine.begun()
    assert (machine.root / "var/lib/juju/agents/unit-tally-0/charm/revision").read_text().strip() == "1"
    assert (world.agent(), world.unit().charm_url) == (("idle", ""), "local:tally-1")


async def test_death_while_a_unit_leaves_a_shared_machine(world: RealController) -> None:
    world.deploy()
    await world.settle()
    world.deploy(name="other", to=["0"])
    await world.settle()
    world.remove("other")
    died = die_on(world, "committed,files-removed")
    assert died == ["committed stop", "committed remove", "files-removed"]
    machine = world.machine()
    assert sorted(path.name for path in (machine.root / "var/lib/juju/agents").iterdir()) == ["unit-tally-0"]
    assert [line for line in machine.begun() if line.split()[0] in REMOVE_HOOKS] == ["stop 1", "remove 1"]
    assert world.agent() == ("idle", "")


async def test_death_between_a_firewall_and_its_note(world: RealController) -> None:
    """The next process brings the rules again; the hooks know nothing of it."""
    world.deploy()
    assert die_on(world, "firewall-applied") == ["firewall-applied"]
    machine = world.machine()
    world.at_rest(machine, *DEPLOY_HOOKS)
    with world.ctx.read(world.uuid) as tx:
        known = firewall.state(tx, "0")
        assert known is not None
        assert (known.seen, known.applied) == (
            known.changes, firewall.rules(tx, "0", known).digest()
        )  # fmt: skip
    assert "chain incoming" in machine.run("nft", "list", "table", "inet", "pushjuju")


async def test_death_after_a_firewall_was_taken_away(world: RealController) -> None:
    """The machine goes on without us, and has no rules of ours."""
    world.deploy()
    await world.settle()
    machine = world.machine()
    force = removal.Force(wait_s=60)
    removals.remove_machines(world.ctx, world.uuid, ["0"], force=force, keep_instance=True)
    assert die_on(world, "firewall-cleared") == ["firewall-cleared"]
    assert world.machines() == []
    assert "pushjuju" not in machine.run("nft", "list", "tables")
    assert machine.run("find", "/etc", "-name", "pushjuju", "-o", "-name", "pushjuju-firewall*") == ""


async def test_death_between_keys_and_their_note(world: RealController) -> None:
    """The next process writes them again, which changes nothing."""
    world.deploy()
    await world.settle()
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDpnZzC9XJEHmV8dh0pQ9o4bV2nYcW0xq8mUQ6lZ5t3a kim"
    assert ssh_keys.add(world.ctx, world.uuid, [key]) == []
    assert die_on(world, "keys-written") == ["keys-written"]
    machine = world.machine()
    kept = machine.run("grep", "-h", "kim", "/home/ubuntu/.ssh/authorized_keys")
    assert kept.splitlines() == [f"{key} pushjuju:{world.uuid}"]
    with world.ctx.read(world.uuid) as tx:
        assert not machines.get(tx, "0").keys_due
    world.at_rest(machine, *DEPLOY_HOOKS)


async def test_death_while_a_model_is_destroyed(world: RealController) -> None:
    world.deploy()
    await world.settle()
    with world.ctx.write(world.uuid) as tx:
        removal.destroy_model(tx, models.get(tx))
    for number in range(1, MOST_DEATHS):
        drive = world.drive("--die-after-commit", str(number))
        if not drive.killed:
            break
    drive.check()
    assert number > 3
    assert models.list_models(world.ctx) == []
    assert not world.layout.records()
    assert not any(rows for table, rows in world.dump().items() if table not in TABLES_OF_THE_CONTROLLER)


TABLES_OF_THE_CONTROLLER = ("audit", "change", "sequence", "sqlite_sequence")


@pytest.mark.parametrize("where", ["after", "before"])
async def test_death_around_every_write_to_the_store(world: RealController, where: str) -> None:
    world.deploy()
    for number in range(1, MOST_DEATHS):
        drive = world.drive(f"--die-{where}-commit", str(number))
        if not drive.killed:
            break
    drive.check()
    assert number > 5
    world.at_rest(world.machine(), *DEPLOY_HOOKS)


@pytest.mark.parametrize("seed", range(2))
async def test_deaths_at_any_moment(world: RealController, seed: int) -> None:
    chance = random.Random(seed)
    world.deploy(do="sleep 0.15")
    deaths = 0
    for number in range(MOST_DEATHS):
        with world.process() as drive:
            await until(lambda: drive.process.poll() is not None or drive.text)
            with contextlib.suppress(subprocess.TimeoutExpired):
                drive.process.wait(chance.uniform(0, 0.3) * (1 + number / 2))
        deaths += drive.killed
        if not drive.killed:
            break
    drive.check()
    assert deaths > 1
    world.at_rest(world.machine(), *DEPLOY_HOOKS)


async def test_death_while_a_hook_runs_twice_in_a_row(world: RealController) -> None:
    world.deploy(do="if [ $hook = start ]; then sleep 2; fi")
    running = ("executing", "running start hook")
    for _ in range(2):
        with world.process():
            await until(lambda: world.layout.records() and "start 1" in world.machine().begun())
            await until(lambda: world.agent() == running)  # the machine may begin a planned hook before
    machine = world.machine()
    assert "start 1" not in machine.ended()
    assert world.agent() == running
    await world.settle()
    world.at_rest(world.machine(), *DEPLOY_HOOKS)


async def test_hook_ends_while_nobody_is_there(world: RealController) -> None:
    world.deploy(do="if [ $hook = start ]; then sleep 0.5; application-version-set 7.1; open-port 80; fi")
    with world.process():
        await until(lambda: world.layout.records() and "start 1" in world.machine().begun())
    await until(lambda: "start 1" in world.machine().ended())
    assert world.agent(UNIT)[0] == "executing"
    await world.settle()
    world.at_rest(world.machine(), *DEPLOY_HOOKS)
    with world.ctx.read(world.uuid) as tx:
        assert len(tx.rows("port_of_unit", unit=UNIT)) == 1


@pytest.mark.parametrize("mode", ["", "--now"])
async def test_death_around_a_reboot(world: RealController, mode: str) -> None:
    reboot = f"if [ $hook = config-changed ] && [ $number = 1 ]; then juju-reboot {mode}; sleep 1; fi"
    world.deploy(f"cat /proc/sys/kernel/random/boot_id >>/root/$hook; {reboot}")
    die_on(world, "prepared,result,committed,acknowledged,rebooting")
    machine = world.machine()
    config = ["config-changed 1", "config-changed 2"] if mode else ["config-changed 1"]
    assert machine.begun() == [*(f"{hook} 1" for hook in DEPLOY_HOOKS[:3]), *config, "start 1"]
    assert world.agent() == ("idle", "")
    boots = {hook: (machine.root / "root" / hook).read_text().split() for hook in DEPLOY_HOOKS}
    assert boots["install"] != boots["start"]
    assert boots["config-changed"][0] == boots["install"][0]
