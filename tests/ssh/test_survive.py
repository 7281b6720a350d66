"""A hook runs exactly once, whatever is killed or cut while it runs."""

# ruff: noqa: ASYNC220, ASYNC240 - the tests look at local files and start local programs

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import ConnectionLost
from pushjuju.runner.push.packer import pack
from pushjuju.runner.remote.base.results import KNOWN
from pushjuju.runner.remote.disk import journal
from pushjuju.runner.session import MachineSession
from tests.waiting import stays

from .conftest import Machine, Sshd, hook_op, lines, listed, new_sshd, until

# Runs until the test lets it go, then uses its tools: they must work after the fault too.
SCRIPT = """
echo run >> runs
echo begun
state-set early=1
while [ ! -e go ]; do sleep 0.02; done
state-set late=$(config-get title)
echo ended
"""


def processes(machine: Machine) -> dict[str, list[int]]:
    """Return the pids of ours by role: attach, server, host."""
    roles: dict[str, list[int]] = {"attach": [], "server": [], "hook": [], "spare": []}
    for pid in machine.server_pids():
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            roles.setdefault(name.removeprefix("pushjuju-"), []).append(pid)
    return roles


class Started:
    """A hook in the middle of its work, and the means to let it end."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.charm = machine.write_charm(start=SCRIPT)
        self.op = hook_op("start")
        self.begun = asyncio.Event()

    def on_event(self, _seq: int, event: dict[str, Any]) -> None:
        """Notice that the hook has begun."""
        if event.get("line") == "begun":
            self.begun.set()

    async def run(self, session: MachineSession) -> asyncio.Task[dict[str, Any]]:
        """Start the hook and return once it is in the middle of its work."""
        task = asyncio.create_task(session.run(self.op, self.on_event))
        await asyncio.wait_for(self.begun.wait(), 10)
        return task

    def let_go(self) -> None:
        """Let the hook end."""
        (self.charm / "go").touch()

    def check(self, result: dict[str, Any]) -> None:
        """Check that it ran once and that nothing is lost."""
        assert result["outcome"] == "ok", result
        assert lines(result) == ["begun", "ended"]
        assert result["writes"]["state"] == {"early": "1", "late": "blå"}
        assert (self.charm / "runs").read_text() == "run\n"
        seqs = [item["seq"] for item in result["events"]]
        assert seqs == list(range(1, len(seqs) + 1))


def kill_attach(machine: Machine, _: Sshd) -> None:
    """Kill the process that holds the SSH channel open."""
    for pid in processes(machine)["attach"]:
        os.kill(pid, signal.SIGKILL)


def kill_server(machine: Machine, _: Sshd) -> None:
    """Kill the server."""
    for pid in processes(machine)["server"]:
        os.kill(pid, signal.SIGKILL)


def kill_both(machine: Machine, sshd: Sshd) -> None:
    """Kill everything of ours except the process of the hook."""
    kill_server(machine, sshd)
    kill_attach(machine, sshd)


def cut_connection(_: Machine, sshd: Sshd) -> None:
    """Kill the sshd processes that serve connections."""
    for pid in children_of_listener(sshd):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def children_of_listener(sshd: Sshd) -> list[int]:
    """Return sshd's own session processes, not what runs in them."""
    return [pid for pid in sshd.sessions() if "sshd" in name_of(pid)]


def name_of(pid: int) -> str:
    """Return the name of a process, or "" when it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text()
    return ""


FAULTS = pytest.mark.parametrize("fault", [kill_attach, kill_server, kill_both, cut_connection])


@FAULTS
async def test_session_reattaches_and_gets_the_result(
    machine: Machine, sshd: Sshd, fault: Callable[[Machine, Sshd], None]
) -> None:
    started = Started(machine)
    async with machine.session() as session:
        task = await started.run(session)
        fault(machine, sshd)
        await asyncio.sleep(0.3)
        started.let_go()
        started.check(await asyncio.wait_for(task, 20))
        await session.ack(started.op["id"])
    assert await machine.gone()
    assert not journal.entries(str(machine.base / "journal"))


@FAULTS
async def test_result_waits_for_the_next_contact(
    machine: Machine, sshd: Sshd, fault: Callable[[Machine, Sshd], None]
) -> None:
    started = Started(machine)
    async with machine.session() as session:
        task = await started.run(session)
        task.cancel()
        fault(machine, sshd)
    started.let_go()
    assert await machine.gone(), processes(machine)  # the hook ended, nothing of ours is left running
    async with machine.session() as session:
        assert session.hello["journal"] == [{"id": started.op["id"], "done": True}]
        started.check(await session.fetch(started.op["id"]))
        started.check(await session.run(started.op))  # an id that is known is never started again
        await session.ack(started.op["id"])
        result = await session.run(started.op)
        assert (result["outcome"], result["code"]) == ("error", KNOWN)
    async with machine.session() as session:
        assert session.hello["journal"] == []
        assert (await session.fetch("never-heard-of"))["outcome"] == "unknown"
    assert (started.charm / "runs").read_text() == "run\n"


async def test_controller_process_is_killed(machine: Machine, tmp_path: Path) -> None:
    started = Started(machine)
    script = tmp_path / "controller.py"
    script.write_text(CONTROLLER)
    arguments = {
        "port": machine.target.port,
        "key": str(machine.target.identity_files[0]),
        "known_hosts": str(machine.target.known_hosts),
        "root": str(machine.root),
        "op": started.op,
        "family": str(Path(__file__).parent / "probe_tools.py"),
    }
    controller = subprocess.Popen([sys.executable, str(script), json.dumps(arguments)])
    assert await until((started.charm / "runs").exists, 20)
    controller.kill()
    controller.wait()
    started.let_go()
    assert await machine.gone()
    async with machine.session() as session:
        started.check(await session.fetch(started.op["id"]))


CONTROLLER = """
import asyncio, json, sys
from pathlib import Path
from pushjuju.runner.push.packer import pack
from pushjuju.runner.session import open_session
from pushjuju.runner.target import MachineTarget

a = json.loads(sys.argv[1])
target = MachineTarget(host="127.0.0.1", port=a["port"], user="root", identity_files=(Path(a["key"]),),
                       known_hosts=Path(a["known_hosts"]), use_ssh_config=False)

async def main():
    program = pack([("probe_tools", Path(a["family"]))])
    async with open_session(target, program=program, root=a["root"], options={"linger": 0.3}) as session:
        await session.run(a["op"])

asyncio.run(main())
"""


async def test_host_of_the_hook_is_killed(machine: Machine) -> None:
    started = Started(machine)
    async with machine.session() as session:
        task = await started.run(session)
        for pid in processes(machine)["hook"]:
            os.kill(pid, signal.SIGKILL)
        result = await asyncio.wait_for(task, 10)
        assert (result["outcome"], result["message"]) == ("terminated", "the process that ran it was killed")
        assert lines(result) == ["begun"]
        again = await session.run(started.op)
        assert again["outcome"] == "terminated"
    started.let_go()
    await stays(lambda: (started.charm / "runs").read_text() == "run\n", 0.2)
    assert not children_running(started.charm)


@pytest.mark.parametrize("role", ["hook", "server"])
async def test_process_that_a_hook_has_stopped_goes_on(machine: Machine, role: str) -> None:
    machine.options["silence"] = 2.0
    started = Started(machine)
    async with machine.session() as session:
        task = await started.run(session)
        for pid in processes(machine)[role]:
            os.kill(pid, signal.SIGSTOP)
        started.let_go()
        started.check(await asyncio.wait_for(task, 30))
    assert await machine.gone()


def children_running(charm: Path) -> list[int]:
    """Return processes whose working directory is the charm's."""
    found = []
    for path in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if path.name.isdigit() and (path / "cwd").resolve() == charm.resolve():
                found.append(int(path.name))
    return found


async def test_server_and_host_killed_at_once(machine: Machine) -> None:
    started = Started(machine)
    async with machine.session(reattach=0.0) as session:
        task = await started.run(session)
        for pid in machine.server_pids():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ConnectionLost):
            await asyncio.wait_for(task, 10)
    async with machine.session() as session:
        result = await session.fetch(started.op["id"])
        assert result["outcome"] == "terminated"
    assert await until(lambda: not children_running(started.charm))


async def test_id_that_another_process_has_begun_is_never_started(machine: Machine) -> None:
    """The journal's file decides, whatever servers know: here one they have not seen being begun."""
    started = Started(machine)
    async with machine.session() as session:
        writer = journal.Writer(
            str(machine.base / "journal"), str(started.op["id"])
        )  # and not a line in it yet
        task = asyncio.create_task(session.run(started.op))
        await asyncio.sleep(0.01)
        writer.begin({"id": started.op["id"], "kind": "hook", "boot_id": session.hello["boot_id"]})
        await stays(lambda: not task.done(), 0.5)
        writer.write("result", {"outcome": "ok", "message": "by the other"})
        os.close(writer.fd)
        result = await asyncio.wait_for(task, 10)
    assert result["message"] == "by the other"
    assert not (started.charm / "runs").exists()


async def test_machine_restarted_in_the_middle(machine: Machine) -> None:
    machine.write_charm()
    directory = machine.base / "journal"
    writer = journal.Writer(str(directory), "op/with strange:id")
    writer.begin({"id": "op/with strange:id", "kind": "hook", "boot_id": "another", "started": 1.0})
    writer.write("events", [{"seq": 1, "e": {"k": "output", "stream": "stdout", "line": "begun"}}])
    os.close(writer.fd)
    async with machine.session() as session:
        result = await session.fetch("op/with strange:id")
    assert (result["outcome"], result["message"]) == ("terminated", "the machine restarted while it ran")
    assert lines(result) == ["begun"]


async def _down() -> bool:
    return True


@pytest.mark.parametrize("patience", [{"reattach": 0.6}, {"is_down": _down}], ids=["in vain", "stopped"])
async def test_lost_for_good_is_told(machine: Machine, tmp_path: Path, patience: dict[str, Any]) -> None:
    """After some tries, or at once where its cloud says that the machine is down."""
    (tmp_path / "sshd").mkdir()
    daemon = new_sshd(tmp_path / "sshd")
    machine.target = replace(machine.target, port=daemon.port, identity_files=(daemon.key,))
    started = Started(machine)
    async with machine.session(**patience) as session:
        task = await started.run(session)
        serving = children_of_listener(daemon)  # nobody's children once the listener is gone
        daemon.process.kill()
        for pid in serving:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(ConnectionLost, match="was lost") as caught:
            await asyncio.wait_for(task, 10)
        assert "Connection refused" in caught.value.detail
    daemon.stop()
    started.let_go()


async def test_two_controllers_see_one_run(machine: Machine) -> None:
    started = Started(machine)
    async with machine.session() as one, machine.session() as two:
        first = await started.run(one)
        first.cancel()
        second = asyncio.create_task(two.run(started.op))
        await stays(lambda: not second.done(), 0.1)
        started.let_go()
        started.check(await asyncio.wait_for(second, 10))


async def test_queued_operation_runs_after_its_lock_is_free(machine: Machine) -> None:
    started = Started(machine)
    async with machine.session() as session:
        first = await started.run(session)
        waiting, parallel = hook_op("stop"), hook_op("stop", lock="")
        second = asyncio.create_task(session.run(waiting))
        assert (await session.run(parallel))["outcome"] == "missing"
        assert not second.done()
        third = asyncio.create_task(session.run(hook_op("stop", id="cancel-me")))
        await listed(machine, started.op["id"], waiting["id"], "cancel-me")
        await session.cancel("cancel-me")
        assert (await third)["outcome"] == "interrupted"
        started.let_go()
        started.check(await first)
        assert (await second)["outcome"] == "missing"


async def test_another_version_of_the_program_takes_over_the_journal(machine: Machine) -> None:
    started = Started(machine)
    old, new = machine.program, pack()
    async with machine.session(program=old) as session:
        task = await started.run(session)
        async with machine.session(program=new) as other:
            assert other.hello["running"] == [started.op["id"]]
            waiting = asyncio.create_task(other.fetch(started.op["id"]))
            queued = asyncio.create_task(other.run(hook_op("stop")))
            await stays(lambda: not queued.done(), 0.3)  # one hook at a time, whoever asks
            started.let_go()
            started.check(await asyncio.wait_for(waiting, 10))
            assert (await asyncio.wait_for(queued, 10))["outcome"] == "missing"
        await task
    assert await machine.gone()


async def test_process_of_a_hook_is_used_again_and_leaks_nothing(machine: Machine) -> None:
    machine.write_charm(start="sleep 60 & state-set a=1; echo $! > pid", stop="kill -KILL $$")
    async with machine.session() as session:
        pids, descriptors = set(), []
        for name in ["start", "stop"] * 8:
            result = await session.run(hook_op(name))
            assert result["outcome"] == ("ok" if name == "start" else "terminated")
            if name == "start":
                os.kill(int((machine.charm() / "pid").read_text()), signal.SIGKILL)
            assert await until(lambda: processes(machine).get("spare"))
            spare = processes(machine)["spare"][0]
            pids.add(spare)
            descriptors.append(len(list(Path(f"/proc/{spare}/fd").iterdir())))
            assert Path(f"/proc/{spare}/cwd").resolve() == Path("/")
        assert len(pids) == 1
        assert len(set(descriptors)) == 1
        for _ in range(2):  # and it may die between two hooks
            assert await until(lambda: processes(machine).get("spare"))
            os.kill(processes(machine)["spare"][0], signal.SIGKILL)
            assert (await session.run(hook_op("start")))["outcome"] == "ok"
            os.kill(int((machine.charm() / "pid").read_text()), signal.SIGKILL)
    assert await machine.gone()
