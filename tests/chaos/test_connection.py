"""The way to the machine breaks: cut connections, dead links, keys that do not fit, refused sudo."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from pushjuju.core.errors import AlreadyExists, AuthFailed, ConnectionLost, SudoRefused, Unreachable
from pushjuju.core.status import NOT_COMMUNICATING, StatusKind
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.runner.push.packer import Program, pack
from pushjuju.runner.session import MachineSession, open_session
from pushjuju.runner.ssh import login
from pushjuju.runner.target import MachineTarget
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.views.status import document
from pushjuju.workers import runtime
from pushjuju.workers.machine import standby
from pushjuju.workers.provision.enlist import add_given_machine
from pushjuju.workers.reach import ScriptRunner
from pushjuju.workers.runtime import Runtime, _sources
from tests.chaos.conftest import NewWorld
from tests.chaos.controller import DEPLOY_HOOKS, REMOVE_HOOKS, UNIT, RealController, RealMachine, until
from tests.world.init_process import init_process
from tests.world.said import problems_of

pytestmark = pytest.mark.machine

SLOW_START = "if [ $hook = start ]; then sleep 1.2; fi"


async def in_start(world: RealController) -> RealMachine:
    """Wait until the hook `start` runs."""
    await until(lambda: world.layout.records() and "start 1" in world.machine().begun(), 30)
    return world.machine()


def well(world: RealController) -> None:
    """Fail the test unless the deploy is complete and every hook ran once."""
    world.machine().once(*DEPLOY_HOOKS)
    assert (world.agent(), world.workload()[0]) == (("idle", ""), "active")
    assert not world.open_operations()


async def test_connection_cut_while_a_hook_runs(world: RealController) -> None:
    world.deploy(SLOW_START)
    driving = asyncio.create_task(world.settle())
    machine = await in_start(world)
    assert machine.cut_connections() == 1
    assert (await driving).problems == ()
    well(world)
    assert "tally/0 start: done" in world.told


async def test_connection_cut_at_every_hook(world: RealController) -> None:
    world.deploy("sleep 0.3")
    driving = asyncio.create_task(world.settle())
    cuts, done = 0, 0
    while not driving.done():
        await asyncio.sleep(0.02)
        begun = len(world.machine().begun()) if world.layout.records() else 0
        if begun > done:
            done, cuts = begun, cuts + world.machine().cut_connections()
    assert (await driving).problems == ()
    assert cuts >= len(DEPLOY_HOOKS) - 1
    well(world)


async def test_link_down_while_a_hook_runs_and_ends(world: RealController) -> None:
    world.deploy(SLOW_START)
    driving = asyncio.create_task(world.settle())
    machine = await in_start(world)
    machine.link("down")
    await until(lambda: "start 1" in machine.ended())
    assert not driving.done()
    machine.link("up")
    assert (await driving).problems == ()
    well(world)


# The hook says more than the buffers of a connection hold, all of it while nobody can hear it.
TALKS_IN_THE_DARK = """if [ $hook = start ]; then
  until [ -e /run/dark ]; do sleep 0.1; done
  for line in $(seq 40); do juju-log "$line $(head -c 65536 /dev/zero | tr '\\0' x)"; done
  state-set said=all; touch /run/said; until [ -e /run/light ]; do sleep 0.1; done
fi"""


async def test_network_is_away_longer_than_every_time_out_in_mid_hook(
    world: RealController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command ends and says what is known; the next one after the outage takes the result over."""
    monkeypatch.setattr(login, "KEEPALIVE_INTERVAL", 1)
    monkeypatch.setattr(login, "KEEPALIVE_COUNT", 2)
    monkeypatch.setattr(runtime, "open_session", partial(open_session, reattach=4.0))
    monkeypatch.setattr(document, "LOST_AFTER_S", 2.0)
    world.deploy(TALKS_IN_THE_DARK)
    driving = asyncio.create_task(world.settle())
    machine = await in_start(world)
    machine.link("down")
    machine.run("touch", "/run/dark")
    host = f"root@{machine.record.address}:22"
    (problem,) = problems_of(await driving)
    assert problem.startswith(f"machine 0: the connection to {host} was lost: cannot reach {host}: ")
    assert "What was started there goes on" in problem
    await until(lambda: (machine.root / "run").exists() and "said" in machine.run("ls", "/run").split())
    assert (machine.begun()[-1], "start 1" in machine.ended()) == ("start 1", False)
    world.work_now()  # another command, while there is no way in
    (problem,) = problems_of(await world.settle())
    assert problem.startswith(f"machine 0: cannot reach {host}: ")
    unit = document.document(world.ctx, world.model)["applications"]["tally"]["units"][UNIT]
    agent = unit["juju-status"]
    assert (agent["current"], agent["message"]) == ("lost", NOT_COMMUNICATING)
    assert unit["workload-status"]["current"] == "unknown"
    assert [operation.name for operation in world.open_operations()] == ["start"]
    machine.run("touch", "/run/light")
    await until(lambda: "start 1" in machine.ended())
    machine.link("up")
    world.work_now()
    assert (await world.settle()).problems == ()
    well(world)
    with world.ctx.read(world.uuid) as tx:
        rows = tx.rows("charm_state_list", unit=UNIT)
    assert [(row["key"], row["value"]) for row in rows] == [("said", "all")]
    heard = [int(line.split()[1]) for line in world.logs() if line.endswith("xxx")]
    assert heard == list(range(1, 41))


@asynccontextmanager
async def a_service(world: RealController) -> AsyncIterator[tuple[RealMachine, MachineSession]]:
    """Serve in this process, and yield when the unit is at rest."""
    world.deploy()
    stop, driver = asyncio.Event(), world.driver()
    serving = asyncio.create_task(driver.run(stop))
    try:
        await until(lambda: world.units() and world.agent() == ("idle", "") and not driver._tasks)
        session = driver.runtime.attached(world.machines()[0])
        assert session is not None
        yield world.machine(), session
    finally:
        stop.set()
        await serving


@pytest.mark.parametrize("lost", [RealMachine.cut_connections, lambda box: box.kill("pushjuju-attach")])
async def test_a_service_connects_again_with_a_machine_at_rest(
    world: RealController, monkeypatch: pytest.MonkeyPatch, lost: Callable[[RealMachine], object]
) -> None:
    monkeypatch.setattr(standby, "RECONNECT_S", 0.0)
    async with a_service(world) as (machine, session):
        lost(machine)
        await until(lambda: not session.connected)
        job = "timeout 20 juju-exec tally/0 'status-set active seen'"
        await asyncio.to_thread(machine.run, "bash", "-c", job)
        assert world.workload() == ("active", "seen")


async def test_a_service_starts_the_units_of_a_machine_that_was_rebooted(
    world: RealController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "RECONNECT_S", 0.0)
    async with a_service(world) as (machine, _):
        machine.run("systemctl", "reboot", "--no-block")
        await until(lambda: "start 2" in machine.ended())
        await until(lambda: not world.open_operations())
    assert not world.machines()[0].unreachable_since


async def test_a_service_does_not_start_a_machine_that_somebody_has_stopped(
    world: RealController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next work there does."""
    monkeypatch.setattr(standby, "RECONNECT_S", 0.0)
    monkeypatch.setattr(standby, "AGAIN_S", 0.1)
    async with a_service(world) as (machine, session):
        attempts, connect = list[bool](), session.connect

        async def noted() -> None:
            attempts.append(init_process(world.layout.cgroup("0")) is None)
            await connect()

        monkeypatch.setattr(session, "connect", noted)
        machine.run("systemctl", "poweroff", "--no-block")
        await until(lambda: attempts.count(True) > 2)
        assert not world.machines()[0].unreachable_since
        world.config(number="2")
        await until(lambda: "config-changed 2" in machine.ended())


async def test_unreachable_machine_is_told_and_tried_again(world: RealController) -> None:
    world.deploy()
    await world.settle()
    machine = world.machine()
    machine.link("down")
    world.config(number="2")
    began = time.monotonic()
    settled = await world.settle()
    assert time.monotonic() - began < 30
    host = f"root@{machine.record.address}:22"
    assert len(settled.problems) == 1
    assert problems_of(settled)[0].startswith(f"machine 0: cannot reach {host}: ")
    assert world.message(StatusKind.INSTANCE, "0").startswith(f"cannot reach {host}")
    assert world.machines()[0].unreachable_since
    assert world.agent() == ("idle", "")
    assert not world.open_operations()
    assert "cannot reach" in world.work_reasons()["machine/0"]
    machine.link("up")
    world.work_now()
    assert (await world.settle()).problems == ()
    assert machine.begun()[-1] == "config-changed 2"
    assert machine.ended() == machine.begun()
    assert world.message(StatusKind.INSTANCE, "0") == running(world, machine)
    assert not world.machines()[0].unreachable_since


def running(world: RealController, machine: RealMachine) -> str:
    """Return what the instance says when all is well."""
    lines = (machine.root / "etc/os-release").read_text().replace('"', "").splitlines()
    real = dict(line.split("=", 1) for line in lines if "=" in line)
    found, wanted = f"{real['ID']}@{real['VERSION_ID']}", f"{world.base.os}@{world.base.track}"
    return "Running" if found == wanted else f"Running {found} in place of {world.base.display}"


async def test_machine_that_is_unreachable_can_be_forced_away(world: RealController) -> None:
    world.deploy()
    await world.settle()
    world.machine().link("down")
    world.remove(force=Force(wait_s=0))
    settled = await world.settle()
    world.work_now()
    settled = await world.settle()
    assert settled.problems == ()
    assert (world.units(), world.machines(), world.layout.records()) == ([], [], [])


async def test_wrong_key(world: RealController) -> None:
    world.deploy()
    await world.settle()
    machine = world.machine()
    keys = machine.root / "root/.ssh/authorized_keys"
    right = keys.read_text()
    keys.write_text("")
    world.config(number="2")
    before = world.unit()
    settled = await world.settle()
    place = machine.record.address
    refused = f"machine 0: root@{place}:22 refuses the login of root"
    why = f"Permission denied for user root on host {place}"
    way = f"Check that one of your SSH keys is authorized there: ssh root@{place}"
    assert problems_of(settled) == (f"{refused}: {why}; next: {way}",)
    assert (
        world.message(StatusKind.INSTANCE, "0")
        == f"root@{machine.record.address}:22 refuses the login of root"
    )
    assert world.unit() == before
    keys.write_text(right)
    world.work_now()
    assert (await world.settle()).problems == ()
    assert machine.begun()[-1] == "config-changed 2"


async def test_changed_host_key_is_refused_with_both_fingerprints(world: RealController) -> None:
    world.deploy()
    await world.settle()
    machine = world.machine()
    fingerprint = "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub | cut -d' ' -f2"
    kind = "ssh-ed25519"
    old = machine.run("sh", "-c", fingerprint).strip()
    key = "/etc/ssh/ssh_host_ed25519_key"
    machine.run("sh", "-c", f"cp -a {key} /root/k; rm {key}; ssh-keygen -q -t ed25519 -N '' -f {key}")
    new = machine.run("sh", "-c", fingerprint).strip()
    assert old != new
    world.config(number="2")
    settled = await world.settle()
    assert len(settled.problems) == 1
    assert (
        f"host key of root@{machine.record.address}:22 changed: expected {kind} {old}, got {kind} {new}"
        in problems_of(settled)[0]
    )
    assert f"expected {kind} SHA256:" in world.message(StatusKind.INSTANCE, "0")
    assert "config-changed 2" not in machine.begun()
    machine.run("sh", "-c", f"mv /root/k {key}; ssh-keygen -y -f {key} > {key}.pub")
    world.work_now()
    assert (await world.settle()).problems == ()
    assert machine.begun()[-1] == "config-changed 2"


# --- machines that were given -----------------------------------------------------------------------------

USERS = """set -e
for user in admin guest; do
  useradd -m -s /bin/bash $user
  mkdir -m 0700 /home/$user/.ssh
  echo {key} > /home/$user/.ssh/authorized_keys
  chown -R $user:$user /home/$user/.ssh
done
echo 'admin ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/admin
rm -r /var/lib/pushjuju  # the controller that made the machine has given it up
"""


COPIED = {"usr", "usr/bin"}  # directories in which `juju-exec` was: an overlay keeps its copies of them


async def server(new_world: NewWorld, world: RealController) -> RealMachine:
    """Return a machine of somebody else's, with logins `admin` (sudo) and `guest` (none)."""
    other = new_world()
    other.add_machine()
    assert (await other.settle()).problems == ()
    machine = other.machine()
    key = world.ctx.controller.public_key.read_text().strip()
    machine.run("bash", "-c", USERS.format(key=shlex.quote(key)))
    return machine


async def test_given_machine_from_taking_in_to_giving_back(
    world: RealController, new_world: NewWorld
) -> None:
    machine = await server(new_world, world)
    before = set(machine.files())
    await take_in(world, machine)
    world.deploy(to=["0"], base=world.given_base())
    assert (await world.settle()).problems == ()
    machine.once(*DEPLOY_HOOKS)
    world.remove()
    assert (await world.settle()).problems == ()
    machine.once(*DEPLOY_HOOKS, *REMOVE_HOOKS)
    await until(lambda: not (machine.root / "var/lib/juju/pushjuju").exists(), 15, "our files stay")
    stays = ("etc/sudoers.d/90-juju-ubuntu", "home", "var/log")  # the login that Juju makes too, and logs
    new = set(machine.files()) - before - COPIED
    assert not [path for path in new if not path.startswith(stays)]
    await until(lambda: not machine.pids("^/usr/bin/python3 -I -S"), what="our process stays")


async def take_in(world: RealController, machine: RealMachine) -> None:
    """Let a machine of somebody else's join the model, with the charm on it."""
    driver = world.driver()
    key = world.ctx.controller.private_key
    await add_given_machine(
        driver.runtime, world.uuid, f"ssh:admin@{machine.record.address}", identities=[key]
    )
    await driver.runtime.close()


class Died(BaseException):
    """The end of a controller, as far as the store can see it."""


async def test_death_while_a_machine_is_taken_in(world: RealController, new_world: NewWorld) -> None:
    real_machine = await server(new_world, world)

    def die(step: str) -> None:
        if step == "enlisted":
            raise Died

    driver = world.driver(checkpoint=die)
    given, key = f"ssh:admin@{real_machine.record.address}", world.ctx.controller.private_key
    with pytest.raises(Died):
        await add_given_machine(driver.runtime, world.uuid, given, identities=[key])
    await driver.runtime.close()
    assert world.machines() == []
    await take_in(world, real_machine)
    assert [machine.id for machine in world.machines()] == ["0"]
    with pytest.raises(AlreadyExists, match="machine is already provisioned"):
        await take_in(world, real_machine)
    world.add_machine()
    assert [machine.id for machine in world.machines()] == ["0", "1"]


async def test_connection_cut_while_a_script_runs(world: RealController) -> None:
    world.add_machine()
    await world.settle()
    machine = world.machine()
    driver = world.driver()
    runner = ScriptRunner(world.ctx, driver.runtime.connector, world.uuid)
    target = SSHTarget(host=machine.record.address, user="root", host_keys=(machine.record.host_key,))
    assert (await runner.run_script(target, "echo out; exit 3")).rc == 3
    assert (await runner.run_script(target, "kill -9 $$")).rc != 0
    running = asyncio.create_task(runner.run_script(target, "sleep 4321"))
    await until(lambda: machine.pids("^sleep 4321"))
    machine.cut_connections()
    with pytest.raises(ConnectionLost, match="was lost while a script ran there"):
        await running
    with pytest.raises(Unreachable, match=r"did not end in 0 s"):
        await runner.run_script(target, "sleep 4322", timeout_s=0.3)
    await driver.runtime.close()


async def test_sudo_taken_away_later_is_told(world: RealController, new_world: NewWorld) -> None:
    machine = await server(new_world, world)
    await take_in(world, machine)
    world.deploy(to=["0"], base=world.given_base())
    assert (await world.settle()).problems == ()
    rule = machine.root / "etc/sudoers.d/90-juju-ubuntu"
    rule.rename(rule.with_name("away.bak"))
    (machine.root / "etc/sudoers.d/90-ubuntu").unlink(missing_ok=True)
    world.config(number="2")
    settled = await world.settle()
    assert len(settled.problems) == 1
    assert "sudo" in problems_of(settled)[0]
    assert world.message(StatusKind.INSTANCE, "0").startswith("cannot become root on ubuntu@")
    rule.with_name("away.bak").rename(rule)
    world.work_now()
    assert (await world.settle()).problems == ()
    assert machine.begun()[len(DEPLOY_HOOKS) :] == ["config-changed 2"]


async def test_machine_without_units_is_given_back_clean(world: RealController, new_world: NewWorld) -> None:
    machine = await server(new_world, world)
    shutil.rmtree(machine.root / "var/lib/juju/pushjuju")
    await take_in(world, machine)
    await world.settle()
    assert (machine.root / "var/lib/juju/pushjuju").exists()
    removals.remove_machines(world.ctx, world.uuid, ["0"])
    assert (await world.settle()).problems == ()
    assert world.machines() == []
    await until(lambda: not (machine.root / "var/lib/juju/pushjuju").exists(), 15, "our files stay")


async def test_files_of_a_unit_forced_away_go_at_the_next_contact(world: RealController) -> None:
    world.deploy()
    await world.settle()
    world.deploy("sleep 4321", name="other", to=["0"])
    with world.process():
        await until(lambda: "install 2" in world.machine().begun())
    machine = world.machine()
    machine.link("down")
    world.remove("other", force=Force(wait_s=0))
    await world.settle()
    assert world.units() == ["tally/0"]
    machine.link("up")
    world.config(number="2")
    world.work_now()
    assert (await world.settle()).problems == ()
    assert sorted(path.name for path in (machine.root / "var/lib/juju/agents").iterdir()) == ["unit-tally-0"]
    assert not machine.pids("^sleep 4321")
    assert machine.begun()[-1] == "config-changed 2"


async def test_another_version_of_our_program_cancels_a_hook(world: RealController) -> None:
    world.deploy("if [ $hook = start ]; then sleep 4321; fi")
    with world.process():
        machine = await in_start(world)
    key = world.ctx.controller.private_key
    target = MachineTarget(
        host=machine.record.address, user="root", identity_files=(key,), use_ssh_config=False
    )
    async with open_session(target, program=pack()) as session:  # one without hook tools
        (hook,) = session.hello["running"]
        await session.cancel(hook)
        result = await asyncio.wait_for(session.fetch(hook), 10)
    assert (result["outcome"], result["signal"]) == ("terminated", signal.SIGKILL)
    assert not machine.pids("^sleep 4321")


async def test_forced_removal_cleans_a_given_machine_that_answers(
    world: RealController, new_world: NewWorld
) -> None:
    machine = await server(new_world, world)
    before = set(machine.files())
    await take_in(world, machine)
    world.deploy("if [ $hook = start ]; then exit 1; fi", to=["0"], base=world.given_base())
    await world.settle()
    world.remove(force=Force(wait_s=0))
    assert (await world.settle()).problems == ()
    assert (world.units(), world.machines()) == ([], [])
    await until(lambda: not (machine.root / "var/lib/juju/pushjuju").exists(), 15, "our files stay")
    stays = ("etc/sudoers.d/90-juju-ubuntu", "home", "var/log")
    new = set(machine.files()) - before - COPIED
    assert not [path for path in new if not path.startswith(stays)]


async def test_sudo_refused(world: RealController, new_world: NewWorld) -> None:
    machine = await server(new_world, world)
    before = world.dump()
    key = world.ctx.controller.private_key
    target = MachineTarget(
        host=machine.record.address, user="guest", identity_files=(key,), use_ssh_config=False
    )
    with pytest.raises(SudoRefused):
        async with open_session(target):
            pass
    driver = world.driver()
    for given, problem in (
        (f"ssh:guest@{machine.record.address}", SudoRefused),
        (f"ssh:nobody@{machine.record.address}", AuthFailed),
        (f"ssh:admin@{machine.record.address}:2", Unreachable),
    ):
        with pytest.raises(problem):
            await add_given_machine(driver.runtime, world.uuid, given, identities=[key])
    await driver.runtime.close()
    assert world.dump() == before


def other_version(runtime: Runtime, helper: Path) -> Program:
    """Return our program with one more module: another content, another server on the machine."""
    return pack([*_sources(runtime.host.hook_tool_families()), ("helper", helper)])


async def test_files_of_a_unit_forced_away_go_also_with_another_version_of_our_program(
    world: RealController, tmp_path: Path
) -> None:
    world.deploy()
    await world.settle()
    world.deploy("sleep 4321", name="other", to=["0"])
    with world.process():
        await until(lambda: "install 2" in world.machine().begun())
    machine = world.machine()
    machine.link("down")
    world.remove("other", force=Force(wait_s=0))
    await world.settle()
    machine.link("up")
    world.config(number="2")
    world.work_now()
    helper = tmp_path / "helper.py"
    helper.write_text("VERSION = 2\n")
    driver = world.driver()
    driver.runtime._program = other_version(driver.runtime, helper)
    async with asyncio.timeout(60):
        assert (await driver.settle()).problems == ()
    assert sorted(path.name for path in (machine.root / "var/lib/juju/agents").iterdir()) == ["unit-tally-0"]
    assert not machine.pids("^sleep 4321")
