"""Hooks that misbehave: they fail, never end, print too much, leave processes, reboot the machine."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from pushjuju.core.status import StatusKind
from pushjuju.services.lifecycle.removal import Force
from tests.chaos.controller import DEPLOY_HOOKS, UNIT, RealController, until
from tests.world.said import problems_of

pytestmark = pytest.mark.machine


async def test_failing_hook_is_retried_with_growing_waits_until_it_works(world: RealController) -> None:
    world.deploy("if [ $hook = start ] && [ ! -e /root/mended ]; then status-set blocked why; exit 3; fi")
    settled = await world.settle()
    assert problems_of(settled) == (f'unit {UNIT}: hook failed: "start"',)
    machine = world.machine()
    waits = []
    for number in range(1, 8):
        assert world.agent() == ("error", 'hook failed: "start"')
        assert machine.begun()[-1] == f"start {number}"
        waits.append(world.retry_now())
        if number == 7:
            (machine.root / "root/mended").touch()
        await world.settle()
    for wait, wanted in zip(waits, [5, 10, 20, 40, 80, 160, 300], strict=True):
        assert wanted * 0.85 - 2 < wait < wanted * 1.15
    assert world.agent() == ("idle", "")
    assert machine.ended()[-1] == "start 8"
    text = 'ERROR hook "start" (via hook dispatching script: dispatch) failed: exit status 3'
    assert world.logs().count(text) == 7


async def test_nothing_is_retried_when_the_model_says_so(world: RealController) -> None:
    world.model_config(automatically_retry_hooks="false")
    world.deploy("if [ $hook = start ]; then exit 1; fi")
    await world.settle()
    assert world.unit().retry_due is None
    world.resolve()
    await world.settle()
    assert world.machine().begun()[-1] == "start 2"
    assert world.agent()[0] == "error"


@pytest.mark.parametrize("retry", [True, False])
async def test_resolved(world: RealController, retry: bool) -> None:
    world.deploy("if [ $hook = config-changed ] && [ ! -e /root/mended ]; then exit 1; fi")
    await world.settle()
    machine = world.machine()
    (machine.root / "root/mended").touch()
    world.resolve(retry=retry)
    assert (await world.settle()).problems == ()
    tail = ["config-changed 1", "config-changed 2", "start 1"] if retry else ["config-changed 1", "start 1"]
    assert machine.begun()[3:] == tail
    assert (world.agent(), world.unit().resolved) == (("idle", ""), "none")


async def test_one_resolved_serves_one_failure(world: RealController) -> None:
    world.deploy("case $hook in config-changed|start) exit 1;; esac")
    await world.settle()
    world.resolve(retry=False)
    assert problems_of(await world.settle()) == (f'unit {UNIT}: hook failed: "start"',)
    world.resolve(retry=False)
    assert (await world.settle()).problems == ()
    assert world.machine().begun()[3:] == ["config-changed 1", "start 1"]
    assert world.agent() == ("idle", "")


async def test_unit_in_error_goes_only_when_resolved(world: RealController) -> None:
    world.deploy("if [ $hook = start ]; then exit 1; fi")
    await world.settle()
    world.remove()
    assert problems_of(await world.settle()) == (f'unit {UNIT}: hook failed: "start"',)
    assert world.units() == [UNIT]
    spool = world.keep_log()
    world.resolve(retry=False)
    assert (await world.settle()).problems == ()
    assert spool.read_text().splitlines()[-2:] == ["stop 1", "remove 1"]
    assert (world.units(), world.machines()) == ([], [])


@pytest.mark.parametrize("mode", ["", "--now"])
async def test_juju_reboot(world: RealController, mode: str) -> None:
    script = f"state-set a=1; juju-reboot {mode}; sleep 1"
    world.deploy(f"if [ $hook = config-changed ] && [ $number = 1 ]; then {script}; fi")
    assert (await world.settle()).problems == ()
    machine = world.machine()
    config = ["config-changed 1", "config-changed 2"] if mode else ["config-changed 1"]
    assert machine.begun() == [*(f"{hook} 1" for hook in DEPLOY_HOOKS[:3]), *config, "start 1"]
    assert machine.ended() == [*(f"{hook} 1" for hook in DEPLOY_HOOKS[:3]), config[-1], "start 1"]
    assert world.agent() == ("idle", "")
    with world.ctx.read(world.uuid) as tx:
        rows = tx.rows("charm_state_list", unit=UNIT)
    assert len(rows) == (0 if mode else 1)


async def test_juju_reboot_of_a_started_unit_runs_start_after_it(world: RealController) -> None:
    world.deploy()
    await world.settle()
    machine = world.machine()
    machine.behave("config-changed", "juju-reboot")
    world.config(number="2")
    assert (await world.settle()).problems == ()
    assert machine.begun()[len(DEPLOY_HOOKS) :] == ["config-changed 2", "start 2"]


async def test_daemons_of_a_hook_do_not_hold_it_and_live_on(world: RealController) -> None:
    world.deploy(
        "if [ $hook = start ]; then sleep 4321 & setsid sleep 4322 & "
        "(trap '' HUP; exec sleep 4323 >/dev/null 2>&1 </dev/null) & fi"
    )
    async with asyncio.timeout(30):
        assert (await world.settle()).problems == ()
    machine = world.machine()
    machine.once(*DEPLOY_HOOKS)
    assert len(machine.pids("^sleep 432[123]")) == 3


async def test_hook_that_prints_100_megabytes(world: RealController) -> None:
    world.deploy(
        "if [ $hook = start ]; then echo first; yes 0123456789abcdef | head -c 100000000; echo; echo last; fi"
    )
    world.model_config(logging_config="<root>=INFO;unit=DEBUG")
    assert (await world.settle()).problems == ()
    world.machine().once(*DEPLOY_HOOKS)
    lines = world.logs()
    assert "DEBUG first" in lines
    assert "DEBUG last" in lines
    assert sum(len(line) for line in lines) < 3_000_000
    assert any("are left out before the lines that follow" in line for line in lines)
    assert world.ctx.controller.store_path.stat().st_size < 16_000_000


async def test_binary_output(world: RealController) -> None:
    world.deploy(
        r"if [ $hook = start ]; then head -c 300000 /dev/urandom; printf '\n\377\000\200|\n' >&2; "
        r"status-set active $(printf 'a\377b'); juju-log $(printf 'c\377d'); fi"
    )
    assert (await world.settle()).problems == ()
    world.machine().once(*DEPLOY_HOOKS)
    assert "WARNING \ufffd\0\ufffd|" in world.logs()
    assert any("c\ufffdd" in line for line in world.logs())


async def test_interrupted_person_leaves_a_hook_running(world: RealController) -> None:
    world.deploy("if [ $hook = start ]; then while [ ! -e /root/go ]; do sleep 0.05; done; fi")
    with world.process() as drive:
        await until(lambda: world.layout.records() and "start 1" in world.machine().begun(), 30)
        os.kill(drive.process.pid, signal.SIGINT)
        drive.process.wait(5)
    machine = world.machine()
    assert (world.agent(), machine.ended()[-1]) == (("executing", "running start hook"), "config-changed 1")
    (machine.root / "root/go").touch()
    assert (await world.settle()).problems == ()
    machine.once(*DEPLOY_HOOKS)
    assert world.agent() == ("idle", "")


async def test_hook_that_never_ends_is_forced_away(world: RealController) -> None:
    world.deploy("if [ $hook = start ]; then sleep 1000000; fi")
    driving = asyncio.create_task(world.settle())
    await until(lambda: world.layout.records() and "start 1" in world.machine().begun(), 30)
    world.remove(force=Force(wait_s=0))
    await driving
    assert (world.units(), world.machines(), world.layout.records()) == ([], [], [])
    assert not world.statuses(StatusKind.APPLICATION)
