"""Hook tools called for real from hooks, through every client (hook-tools reference 1.9)."""

# ruff: noqa: ASYNC240 - the tests look at local files and start local programs

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pushjuju.runner.remote.disk import journal

from .conftest import Machine, hook_op, lines, until

CLIENTS = pytest.mark.parametrize("client", ["native", "perl", "python"])


@CLIENTS
async def test_faults_speak_as_juju_does(machine: Machine, client: str) -> None:
    machine.options["client"] = client
    machine.write_charm(
        start="""
        JUJU_CONTEXT_ID=other config-get title; echo rc $?
        env -u JUJU_CONTEXT_ID config-get; echo rc $?
        JUJU_AGENT_SOCKET_ADDRESS=/nowhere config-get; echo rc $?
        config-get --nope; echo rc $?
        secret-get x; echo rc $?
        ln -s $(command -v juju-log) nope; ./nope; echo rc $?
        probe-boom; echo rc $?
        """
    )
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert lines(result, "stdout") == ["rc 1", "rc 1", "rc 1", "rc 2", "rc 1", "rc 1", "rc 1"]
    assert lines(result, "stderr") == [
        'ERROR bad request: wrong context ID; got "other"',
        "ERROR JUJU_CONTEXT_ID not set",
        "ERROR dial unix /nowhere: connect: no such file or directory",
        "ERROR option provided but not defined: --nope",
        "ERROR secret-get is not supported yet by pushjuju",
        "ERROR bad request: unknown command: nope",
        "ERROR probe-boom: internal error: KeyError: 'a bug in a tool'",
    ]


@CLIENTS
async def test_stdin_is_sent_only_when_the_tool_asks(machine: Machine, client: str) -> None:
    machine.options["client"] = client
    machine.write_charm(
        start="""
        head -c 3000000 /dev/zero | tr '\\0' y | probe-stdin | wc -c
        printf 'a\\nb' | { config-get title > /dev/null; cat; }
        cd /usr; probe-cwd; echo
        state-set "k= v w "; state-get k; echo "[$(state-get "k")]"
        state-set big="$(head -c 100000 /dev/zero | tr '\\0' x)"; state-get big | wc -c
        """
    )
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert lines(result) == ["3000000", "a", "b/usr", " v w [ v w ]", "100000"]


@CLIENTS
async def test_a_caller_may_close_its_standard_streams(machine: Machine, client: str) -> None:
    machine.options["client"] = client
    calls = {
        "config-get title <&-": "0 bl\u00e5",
        "config-get title >&-": "0",
        "config-get title 2>&-": "0 bl\u00e5",
        "config-get --no 2>&-": "2",
        "config-get title <&- >&- 2>&-": "0",
        "probe-stdin <&- | wc -c | tr -d ' '": "0 0",
    }
    script = "".join(f'text=$({call}); echo "$?" $text\n' for call in calls)
    machine.write_charm(start=script)
    async with machine.session() as session:
        result = await asyncio.wait_for(session.run(hook_op("start")), 30)
    assert lines(result, "stdout") == list(calls.values())


@CLIENTS
async def test_stdin_that_is_too_large_is_refused_with_a_text(machine: Machine, client: str) -> None:
    machine.options["client"] = client
    machine.write_charm(
        start="""
        head -c 70000000 /dev/zero | probe-stdin; echo rc $?
        echo small | probe-stdin
        """
    )
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert lines(result, "stdout") == ["rc 1", "small"]
    assert lines(result, "stderr") == ["ERROR standard input is larger than 67108864 bytes"]


async def test_failing_answer_of_the_controller_is_an_answer(machine: Machine) -> None:
    machine.write_charm(start="probe-live")

    async def broken(_: dict[str, Any]) -> tuple[int, bytes, bytes]:
        raise LookupError("no such thing")

    def bad_listener(_seq: int, _event: dict[str, Any]) -> None:
        raise LookupError("listener")

    async with machine.session() as session:
        result = await session.run(hook_op("start"), on_live=broken)
        assert lines(result, "stderr") == ["ERROR probe-live: no such thing"]
        with pytest.raises(LookupError, match="listener"):
            await session.run(hook_op("start"), bad_listener, broken)
        assert (await session.exec(["true"])).exit == 0


async def test_calls_in_parallel_are_answered_one_by_one(machine: Machine) -> None:
    script = 'for i in $(seq 40); do state-set k$i=$i & done; wait; test "$(state-get k40)" = 40'
    machine.write_charm(start=script)
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert result["outcome"] == "ok"
    assert len(result["writes"]["state"]) == 40


async def test_live_call_goes_to_the_controller_and_back(machine: Machine) -> None:
    machine.write_charm(start="probe-live arg; echo; probe-live fail; echo rc $?")
    calls: list[dict[str, Any]] = []

    async def live(call: dict[str, Any]) -> tuple[int, bytes, bytes]:
        calls.append(call)
        if call["argv"] == ["fail"]:
            return 3, b"", b"ERROR no\n"
        return 0, "fär".encode(), b""

    async with machine.session() as session:
        result = await session.run(hook_op("start"), on_live=live)
    assert lines(result, "stdout") == ["fär", "rc 3"]
    assert lines(result, "stderr") == ["ERROR no"]
    assert [(call["tool"], call["stdin"]) for call in calls] == [("probe-live", b"")] * 2


async def test_output_that_comes_with_a_live_call_holds_nothing_up(machine: Machine) -> None:
    """What a hook prints is read while its call waits; nobody may wait for it once more afterwards."""
    both_at_once = "(sleep 0.3; kill -CONT $PPID) >&- 2>&- & kill -STOP $PPID"
    machine.write_charm(start=f"{both_at_once}; echo out; probe-live one; probe-live two; echo end")

    async def live(_: dict[str, Any]) -> tuple[int, bytes, bytes]:
        return 0, b"", b""

    async with machine.session() as session:
        result = await asyncio.wait_for(session.run(hook_op("start"), on_live=live), 20)
    assert lines(result) == ["out", "end"]


async def test_live_call_waits_for_the_next_controller(machine: Machine) -> None:
    machine.write_charm(start="probe-live; echo")
    op = hook_op("start")
    asked = asyncio.Event()

    async def never(_: dict[str, Any]) -> tuple[int, bytes, bytes]:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def answer(_: dict[str, Any]) -> tuple[int, bytes, bytes]:
        return 0, b"late", b""

    async with machine.session() as session:
        task = asyncio.create_task(session.run(op, on_live=never))
        await asked.wait()
        task.cancel()
    async with machine.session() as session:
        assert session.hello["running"] == [op["id"]]
        result = await session.fetch(op["id"], on_live=answer)
    assert lines(result) == ["late"]


async def never(_: dict[str, Any]) -> tuple[int, bytes, bytes]:
    """Never answer."""
    await asyncio.Event().wait()
    raise AssertionError


async def test_live_call_nobody_answers_fails_with_a_text(machine: Machine) -> None:
    machine.options |= {"live_timeout": 0.5, "linger": 5}
    machine.write_charm(start="probe-live || echo rc $?")
    op = hook_op("start")
    async with machine.session() as session:
        task = asyncio.create_task(session.run(op, on_live=never))
        assert await until(lambda: session.frames_in)
        task.cancel()
    (path,) = journal.entries(str(machine.base / "journal"))
    assert await until(lambda: journal.Entry(path).result is not None)
    async with machine.session() as session:
        result = await session.fetch(op["id"])
    assert lines(result, "stdout") == ["rc 1"]
    assert lines(result, "stderr") == ["ERROR no controller has been attached for 0 seconds"]


async def test_reboot_now_kills_the_hook(machine: Machine) -> None:
    machine.write_charm(start="state-set a=1; juju-reboot now; sleep 100")
    async with machine.session() as session:
        result = await asyncio.wait_for(session.run(hook_op("start")), 10)
    assert (result["outcome"], result["reboot"]) == ("terminated", "now")
    assert "state" not in result["writes"]


async def test_every_tool_of_juju_is_on_the_path_and_jujud_tells_the_version(machine: Machine) -> None:
    tools = "type relation-get secret-grant payload-register > /dev/null"
    machine.write_charm(start=f"{tools} && ../../../tools/machine-0/jujud version")
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert lines(result) == [f"3.6.8-ubuntu-{session.hello.get('arch', 'amd64')}"]
    links = list((machine.juju / "tools/unit-web-0").iterdir())
    assert len(links) > 50
    assert all(link.is_symlink() and link.exists() for link in links)


async def test_socket_is_for_root_and_gone_after_the_hook(machine: Machine, tmp_path: Path) -> None:
    machine.write_charm(start='stat -c %a "$JUJU_AGENT_SOCKET_ADDRESS"; echo "$JUJU_AGENT_SOCKET_ADDRESS"')
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    mode, path = lines(result)
    assert mode == "600"
    assert not Path(path).exists()
