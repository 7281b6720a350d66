"""A person at the command line: interrupts it, reads why it failed, goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.chaos.conftest import NewWorld
from tests.chaos.controller import CHARMS, DEPLOY_HOOKS, REPOSITORY, UNIT, RealController, until

pytestmark = pytest.mark.machine


@contextmanager
def command(world: RealController, *args: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command; it is killed at the end of the block."""
    env = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "PUSHJUJU_DATA": str(world.data),
        "PUSHJUJU_WAIT": "1",
    }
    argv = [sys.executable, "-m", "pushjuju.cli", *args]
    running = subprocess.Popen(
        argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=world.work
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


@pytest.fixture
def person(new_world: NewWorld) -> RealController:
    """A controller and a model that are chosen."""
    world = new_world()
    world.ctx.datadir.set_current_controller("local")
    world.ctx.controller.set("current-model", world.model.qualified)
    return world


def deploy(do: str) -> tuple[str, ...]:
    """Return the arguments that deploy the charm."""
    return ("deploy", str(CHARMS / "tally"), "--config", f"do={do}")


async def test_interrupted_deploy_says_how_to_go_on_and_goes_on(person: RealController) -> None:
    wait = "if [ $hook = start ]; then while [ ! -e /root/go ]; do sleep 0.05; done; fi"
    with command(person, *deploy(wait)) as running:
        await until(lambda: person.layout.records() and "start 1" in person.machine().begun(), 30)
        os.kill(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=10)
    assert running.returncode == 130, err
    assert "Traceback" not in err
    assert "pushjuju" in err, (out, err)
    machine = person.machine()
    assert machine.pids("dispatch")
    (machine.root / "root/go").touch()
    with command(person, "controller", "run", "--until-idle") as running:
        await until(lambda: person.agent() == ("idle", ""), 15)
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=10)
    assert running.returncode == 0
    machine.once(*DEPLOY_HOOKS)


async def test_failed_deploy_tells_unit_hook_and_last_lines(person: RealController) -> None:
    with command(person, *deploy("if [ $hook = start ]; then echo out of luck >&2; exit 3; fi")) as running:
        _, err = running.communicate(timeout=40)
    assert running.returncode == 1
    assert UNIT in err
    assert 'hook failed: "start"' in err
    assert "out of luck" in err
    with command(person, "resolved", "--no-retry", UNIT) as running:
        running.communicate(timeout=40)
    assert running.returncode == 0
    assert person.agent() == ("idle", "")


async def test_unreachable_machine_is_in_status(person: RealController) -> None:
    person.deploy()
    await person.settle()
    person.machine().link("down")
    with command(person, "config", "tally", "number=2") as running:
        _, err = running.communicate(timeout=40)
    assert running.returncode == 1
    assert "cannot reach" in err
    with command(person, "status") as running:
        out, _ = running.communicate(timeout=10)
    assert "cannot reach" in out
