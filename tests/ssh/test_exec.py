"""juju-exec on a machine: requests that wait, what a session sees of them, and how they are answered."""

# ruff: noqa: ASYNC221 - the tests start local programs

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.runner.session import MachineSession

from .conftest import Machine, hook_op, until
from .test_deploy import V0, deploy

WAITS = "juju-exec: no controller is attached: the commands wait for its next contact\n"


class Asker:
    """A running juju-exec."""

    def __init__(self, machine: Machine, *words: str, cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [str(machine.root / "usr/bin/juju-exec"), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={"PATH": os.environ["PATH"]},
        )

    async def end(self, limit: float = 10.0) -> tuple[int, str, str]:
        """Wait for its end; return exit code, stdout, stderr."""
        assert await until(lambda: self.process.poll() is not None, limit), "it does not end"
        out, err = self.process.communicate()
        return self.process.returncode, out, err


@pytest.fixture
def askers() -> Iterator[list[Asker]]:
    """Those that a test started; none survives it."""
    made: list[Asker] = []
    yield made
    for asker in made:
        asker.process.kill()
        asker.process.communicate()


@pytest.fixture
async def unit(machine: Machine, tmp_path: Path) -> Machine:
    """A machine with a deployed unit and nobody attached."""
    (machine.root / "usr/bin").mkdir(parents=True)
    async with machine.session() as session:
        await deploy(session, tmp_path, 0, V0)
    return machine


def files(machine: Machine) -> list[str]:
    folder = machine.base / "requests"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def order(document: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the operation for a request."""
    op = hook_op("", kind="commands", request=document["id"], script=document["script"], lock="machine")
    del op["hook"]
    return op | more


async def one(session: MachineSession) -> dict[str, Any]:
    """Wait for a request; return it."""
    assert await until(lambda: session.requests, 5.0), "nobody asks"
    return next(iter(session.requests.values()))


async def test_a_request_waits_and_is_served_at_the_next_contact(unit: Machine, askers: list[Asker]) -> None:
    assert await unit.gone()
    asker = Asker(unit, "-r", "db:3", "--remote-unit", "a/1", "web/0", "echo a\necho b >&2; exit 3")
    askers.append(asker)
    assert await until(lambda: any("." not in name for name in files(unit)))
    async with unit.session() as session:
        wanted = await one(session)
        assert session.hello["requests"] == [wanted]
        told = {key: wanted[key] for key in wanted if key not in ("id", "pid", "asked")}
        assert told == {
            "unit": "web/0", "script": "echo a\necho b >&2; exit 3", "relation": 3,
            "remote_unit": "a/1", "remote_app": "", "force": False,
        }  # fmt: skip
        result = await session.run(order(wanted))
        assert (result["outcome"], result["exit"]) == ("failed", 3)
        assert session.requests == {}
        assert asker.process.poll() is None, "an answer before the controller has it"
        await session.ack(result["id"])
        assert await asker.end() == (3, "a\n", WAITS + "b\n")
        assert files(unit) == []


async def test_an_attached_controller_hears_of_requests_as_they_come(
    unit: Machine, askers: list[Asker]
) -> None:
    async with unit.session() as session:
        heard = asyncio.Event()
        session.on_requests = heard.set
        assert "requests" not in session.hello
        askers.append(Asker(unit, "web/0", "printf '\\377'", "x y"))
        await asyncio.wait_for(heard.wait(), 5)
        wanted = await one(session)
        assert wanted["script"] == """'printf '"'"'\\377'"'"'' 'x y'"""
        result = await session.run(order(wanted, script="printf 'a\\377b'"))
        await session.ack(result["id"])
        assert await until(lambda: askers[0].process.poll() is not None)
        assert askers[0].process.stdout is not None
        assert askers[0].process.stdout.buffer.read() == b"a\xffb"
        assert askers[0].process.returncode == 0
        assert askers[0].process.stderr is not None
        assert askers[0].process.stderr.read() == ""


async def test_requests_keep_their_order_and_are_refused_one_by_one(
    unit: Machine, askers: list[Asker]
) -> None:
    async with unit.session() as session:
        for number in range(3):
            askers.append(Asker(unit, f"echo {number}"))
            assert await until(lambda number=number: len(session.requests) == number + 1)
        scripts = [item["script"] for _, item in sorted(session.requests.items())]
        assert scripts == ["echo 0", "echo 1", "echo 2"]
        session.answer(sorted(session.requests)[1], "unknown relation id: 9")
        assert await askers[1].end() == (1, "", "ERROR unknown relation id: 9\n")
        assert [item["script"] for item in session.requests.values()] == ["echo 0", "echo 2"]


async def test_there_is_an_end_of_what_may_wait(unit: Machine, askers: list[Asker]) -> None:
    askers.append(Asker(unit, "web/0", *["x" * 100_000] * 11))
    assert await askers[0].end() == (1, "", "ERROR cannot leave the request: the commands are too long\n")
    folder = unit.base / "requests"
    for number in range(500):
        (folder / f"r{number}-1").touch()
    askers.append(Asker(unit, "web/0", "true"))
    assert await askers[1].end() == (1, "", "ERROR cannot leave the request: 500 requests wait already\n")
    async with unit.session() as session:
        assert (session.requests, files(unit)) == ({}, [])  # nobody waited for those


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_withdraws_what_has_not_begun(
    unit: Machine, askers: list[Asker], number: signal.Signals
) -> None:
    async with unit.session() as session:
        asker = Asker(unit, "web/0", "touch ran")
        askers.append(asker)
        wanted = await one(session)
        asker.process.send_signal(number)
        assert await asker.end() == (128 + number, "", "")
        assert files(unit) == []
        result = await session.run(order(wanted))
        assert result["outcome"] == "withdrawn"
        await session.ack(result["id"])
    assert not (unit.charm() / "ran").exists()
    assert await unit.gone()
    assert not list((unit.base / "journal").glob("op-*"))


async def test_a_request_whose_process_was_killed_is_withdrawn(unit: Machine, askers: list[Asker]) -> None:
    askers.append(Asker(unit, "web/0", "touch ran"))
    assert await until(lambda: [name for name in files(unit) if "." not in name])
    askers[0].process.kill()
    askers[0].process.wait()
    async with unit.session() as session:
        assert (session.requests, files(unit)) == ({}, [])


async def test_what_has_begun_goes_on_without_who_asked(unit: Machine, askers: list[Asker]) -> None:
    async with unit.session() as session:
        askers.append(Asker(unit, "web/0", "touch begun; sleep 1; touch ran"))
        running = asyncio.create_task(session.run(order(await one(session))))
        assert await until((unit.charm() / "begun").exists)
        askers[0].process.terminate()
        assert await askers[0].end() == (143, "", "juju-exec: the commands have begun and go on\n")
        result = await running
        assert result["outcome"] == "ok"
        await session.ack(result["id"])
        assert (unit.charm() / "ran").exists()
        assert await until(lambda: files(unit) == [])


async def test_the_answer_survives_server_and_controller(unit: Machine, askers: list[Asker]) -> None:
    askers.append(Asker(unit, "web/0", "echo once >> runs; sleep 0.5; echo done; exit 4"))
    async with unit.session() as session:
        wanted = await one(session)
        op = order(wanted)
        running = asyncio.create_task(session.run(op))
        assert await until((unit.charm() / "runs").exists)
        os.kill(session.hello["pid"], signal.SIGKILL)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert await unit.gone(10)
    async with unit.session() as session:
        assert session.requests == {}
        assert [item["id"] for item in session.hello["journal"]] == [op["id"]]
        result = await session.run(op)
        await session.ack(result["id"])
        code, out, _ = await askers[0].end()
        assert (code, out) == (4, "done\n")
    assert (unit.charm() / "runs").read_text() == "once\n"


async def test_removing_the_unit_answers_its_requests_and_takes_the_link(
    unit: Machine, askers: list[Asker]
) -> None:
    link = unit.root / "usr/bin/juju-exec"
    assert link.is_symlink()
    async with unit.session() as session:
        askers.append(Asker(unit, "web/0", "true"))
        await one(session)
        await session.run({"id": "r", "kind": "remove-unit", "unit": "web/0", "last": True})
        assert await askers[0].end() == (1, "", 'ERROR unit "web/0" not found on this machine\n')
        await session.ack("r")
    assert await unit.gone()
    left = {str(path.relative_to(unit.root)) for path in unit.root.rglob("*")}
    assert left <= {"var", "var/lib", "usr", "usr/bin"}


async def test_a_foreign_file_of_that_name_stays(machine: Machine, tmp_path: Path) -> None:
    (machine.root / "usr/bin").mkdir(parents=True)
    link = machine.root / "usr/bin/juju-exec"
    for make in (lambda: link.write_text("mine"), lambda: link.symlink_to("/elsewhere")):
        link.unlink(missing_ok=True)
        make()
        before = str(link.readlink()) if link.is_symlink() else link.read_text()
        async with machine.session() as session:
            result = await deploy(session, tmp_path, 0, V0)
            assert "/usr/bin/juju-exec belongs to another program and stays as it is" in str(result["events"])
            await session.run({"id": f"r-{before[1:]}", "kind": "remove-unit", "unit": "web/0", "last": True})
            await session.ack(f"r-{before[1:]}")
        assert await machine.gone()
        assert (str(link.readlink()) if link.is_symlink() else link.read_text()) == before


async def test_a_new_version_brings_its_own_and_forgets_all_but_the_last(unit: Machine) -> None:
    assert await unit.gone()
    link, tools = unit.root / "usr/bin/juju-exec", unit.juju / "tools"
    now = link.readlink()
    for number in range(2):
        old = tools / f"pushjuju-exec-{number}"
        old.mkdir()
        (old / "juju-exec").touch()
    link.unlink()
    link.symlink_to(tools / "pushjuju-exec-1/juju-exec")
    async with unit.session() as session:
        assert await until(lambda: link.readlink() == now)
        assert (await session.exec(["true"])).exit == 0
    homes = {path.name for path in tools.glob("pushjuju-exec-*")}
    assert homes == {now.parent.name, "pushjuju-exec-1"}


async def test_no_context_takes_the_machine_lock_alone(
    unit: Machine, askers: list[Asker], tmp_path: Path
) -> None:
    assert await unit.gone()
    askers.append(Asker(unit, "--no-context", "pwd; echo $0 >&2; exit 5", cwd=tmp_path))
    assert await askers[0].end() == (5, f"{tmp_path}\n", "/bin/bash\n")
    hook = {"kind": "commands", "script": "echo hook >> order; sleep 0.5; echo hook >> order"}
    async with unit.session() as session:
        running = asyncio.create_task(session.run(hook_op("", **hook)))
        assert await until((unit.charm() / "order").exists)
        askers.append(Asker(unit, "--no-context", "echo outside >> order", cwd=unit.charm()))
        assert (await askers[1].end())[0] == 0
        await running
    assert (unit.charm() / "order").read_text() == "hook\nhook\noutside\n"


async def test_only_root_and_never_inside_a_hook(unit: Machine, askers: list[Asker]) -> None:
    unit.root.chmod(0o755)
    for parent in unit.root.parents:
        if parent.stat().st_uid == 0 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    done = subprocess.run(
        ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
         str(unit.root / "usr/bin/juju-exec"), "web/0", "true"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "ERROR juju-exec needs root: try sudo juju-exec\n")
    link = unit.root / "usr/bin/juju-exec"
    async with unit.session() as session:
        result = await session.run(hook_op("", kind="commands", script=f"{link} --no-context true"))
    said = 'ERROR juju-exec cannot be called from within a hook, have context "web/0-'
    assert (result["exit"], result["stderr"].startswith(said)) == (2, True)
