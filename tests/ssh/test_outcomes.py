"""How hooks end, what they print, and what a charm may do wrong (hook-tools reference 1.1 to 1.5)."""

from __future__ import annotations

import asyncio
import os
import pwd
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pushjuju.runner.remote.operation import commands

from .conftest import Machine, hook_op, lines, logs, until


async def test_environment_is_clean_and_points_into_the_charm(machine: Machine) -> None:
    charm = machine.write_charm(
        start="env | sort; pwd; readlink /proc/self/fd/0; umask; id -u; config-get --help"
    )
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    env = dict(line.split("=", 1) for line in lines(result) if "=" in line)
    assert env["JUJU_CHARM_DIR"] == env["CHARM_DIR"] == str(charm)
    assert env["PATH"].split(":")[:2] == [str(machine.juju / "tools/unit-web-0"), "/usr/local/sbin"]
    assert env["JUJU_AGENT_SOCKET_NETWORK"] == "unix"
    assert env["JUJU_CONTEXT_ID"].startswith("web/0-start-")
    assert not {"HOME", "USER", "SHELL", "SSH_CONNECTION", "LOGNAME"} & set(env)
    assert {str(charm), "/dev/null", "0022", "0"} <= set(lines(result))


@pytest.mark.parametrize(
    ("script", "outcome", "message"),
    [
        ("exit 0", "ok", ""),
        ("state-set a=1; exit 3", "failed", "exit status 3"),
        ("kill -KILL $$", "terminated", "signal: killed"),
        ("kill -TERM $$", "terminated", "signal: terminated"),
        ("kill -SEGV $$", "failed", "signal: segmentation fault"),
    ],
)
async def test_end_of_a_hook(machine: Machine, script: str, outcome: str, message: str) -> None:
    machine.write_charm(start=script)
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert (result["outcome"], result["message"]) == (outcome, message)
    assert not result["writes"].get("state")
    if message:
        text = f'hook "start" (via explicit, bespoke hook script) failed: {message}'
        assert text in logs(result)


async def test_failed_hook_keeps_that_it_set_a_status(machine: Machine) -> None:
    machine.write_charm(start="status-set blocked why; exit 1")
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert result["writes"] == {"status_set": True, "reboot": ""}
    assert {"k": "status", "status": "blocked"}.items() <= {
        key: value
        for item in result["events"]
        for key, value in item["e"].items()
        if item["e"]["k"] == "status"
    }.items()


async def test_missing_handler_is_skipped_and_a_missing_charm_fails(machine: Machine) -> None:
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
        assert (result["outcome"], result["message"]) == ("failed", "charm missing from disk")
        machine.write_charm()
        result = await session.run(hook_op("start"))
        assert (result["outcome"], result["via"]) == ("missing", None)
        assert logs(result) == ['skipped "start" hook (missing)']


async def test_dispatch_runs_for_every_hook(machine: Machine) -> None:
    machine.write_charm(dispatch="echo got $JUJU_DISPATCH_PATH", start="echo never")
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert lines(result) == ["got hooks/start"]
    assert result["via"] == "dispatch"
    assert 'ran "start" hook (via hook dispatching script: dispatch)' in logs(result)


_ASKS = '(its first line asks for "%s", which is not on the machine)'


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        ("#!/bin/sh\n", 0o644, "permission denied"),
        ("#!/no/such/shell -e\n", 0o755, "no such file or directory " + _ASKS % "/no/such/shell"),
        ("#! /bin/sh\r\ntrue\r\n", 0o755, "no such file or directory " + _ASKS % r"/bin/sh\r"),
        ("not a program", 0o755, "exec format error"),
    ],
)
async def test_handler_that_cannot_start_fails(machine: Machine, text: str, mode: int, message: str) -> None:
    path = machine.write_charm() / "hooks/start"
    path.write_bytes(text.encode())
    path.chmod(mode)
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert result["outcome"] == "failed"
    assert result["message"] == f"fork/exec {path}: {message}"


async def test_background_child_does_not_hold_the_hook(machine: Machine, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    machine.write_charm(start=f"(sleep 60; echo late) & echo $! > {pid_file}; echo early")
    async with machine.session() as session:
        begin = time.monotonic()
        result = await session.run(hook_op("start"))
        assert time.monotonic() - begin < 5
    assert lines(result) == ["early"]
    os.kill(int(pid_file.read_text()), 9)  # it is alive: a hook's daemon outlives the hook


async def test_daemon_outlives_hook_and_server(machine: Machine, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    machine.write_charm(
        start=f"setsid sh -c 'echo $$ > {pid_file}; exec sleep 60' < /dev/null > /dev/null 2>&1 &"
    )
    async with machine.session() as session:
        assert (await session.run(hook_op("start")))["outcome"] == "ok"
    assert await until(lambda: pid_file.exists() and pid_file.read_text().strip())
    assert await machine.gone()
    os.kill(int(pid_file.read_text()), 9)


async def test_long_lines_are_cut_and_binary_is_taken(machine: Machine) -> None:
    machine.write_charm(start="head -c 10000 /dev/zero | tr '\\0' x; echo; printf '\\377\\000\\200\\nend'")
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert [len(line) for line in lines(result)[:3]] == [4096, 4096, 1808]
    assert lines(result)[3:] == ["\ufffd\0\ufffd", "end"]


@pytest.mark.parametrize("print_it", ["head -c 100000000 /dev/zero | tr '\\0' x", "yes | head -c 100000000"])
async def test_hundred_megabytes_of_output_stay_within_the_limit(machine: Machine, print_it: str) -> None:
    machine.write_charm(start=f"echo first; {print_it}; echo; echo last")
    patient = {**machine.options, "event_delay": 60}  # else a slow computer sends more, smaller frames
    async with machine.session(options=patient) as session:
        result = await session.run(hook_op("start"))
        assert result["outcome"] == "ok"
        assert lines(result)[0] == "first"
        assert lines(result)[-1] == "last"
        assert sum(len(line) + 64 for line in lines(result)) < 2_500_000
        note = next(text for text in logs(result) if "left out" in text)
        left_out = int(note.split(": ")[1].split()[0])
        shown = sum(len(line) for line in lines(result))
        assert left_out + 2 * shown + 100 > 99_000_000
        assert session.frames_in < 200


async def test_never_ending_hook_is_cancelled_with_its_children(machine: Machine, tmp_path: Path) -> None:
    machine.write_charm(start=f"sleep 1000 & echo $! > {tmp_path}/child; echo up; wait")
    async with machine.session() as session:
        op = hook_op("start")
        started = asyncio.Event()
        task = asyncio.create_task(session.run(op, lambda *_: started.set()))
        await started.wait()
        await session.cancel(op["id"])
        result = await asyncio.wait_for(task, 5)
    assert (result["outcome"], result["signal"]) == ("interrupted", 9)
    child = (tmp_path / "child").read_text().strip()
    assert await until(lambda: not Path(f"/proc/{child}").exists())


async def test_one_hook_at_a_time_per_machine(machine: Machine, tmp_path: Path) -> None:
    script = f"mkdir {tmp_path}/busy && sleep 0.1 && rmdir {tmp_path}/busy"
    machine.write_charm("web/0", start=script)
    machine.write_charm("db/0", start=script)
    async with machine.session() as one, machine.session() as two:
        ops = [
            hook_op("start"),
            hook_op("start", unit="db/0"),
            hook_op("start"),
            hook_op("start", unit="db/0"),
        ]
        results = await asyncio.gather(
            *(session.run(op) for session, op in zip([one, two] * 2, ops, strict=True))
        )
    assert [result["outcome"] for result in results] == ["ok"] * 4


async def test_actions_and_commands(machine: Machine) -> None:
    charm = machine.write_charm()
    (charm / "actions").mkdir()
    (charm / "actions/backup").write_text(
        "#!/bin/sh\necho out; printf '\\377' >&2; state-set k=v; exit $CODE\n"
    )
    (charm / "actions/backup").chmod(0o755)
    async with machine.session() as session:
        base = {"unit": "web/0", "context": {"unit": "web/0", "config": {}}, "env": {"CODE": "0"}}
        result = await session.run(base | {"id": "act-1", "kind": "action", "action": "backup"})
        assert (result["outcome"], result["stdout"], result["writes"]["state"]) == ("ok", "out\n", {"k": "v"})
        assert (result["stderr"], result["stderr-encoding"]) == ("/w==", "base64")
        failing = base | {"id": "act-2", "kind": "action", "action": "backup", "env": {"CODE": "2"}}
        result = await session.run(failing)
        assert (result["outcome"], result["message"], result["exit"]) == ("failed", "exit status 2", 2)
        assert "state" not in result["writes"]
        result = await session.run(base | {"id": "act-3", "kind": "action", "action": "nope"})
        assert result["outcome"] == "missing"
        script = "echo $JUJU_CONTEXT_ID; state-set a=b; exit 4"
        result = await session.run(base | {"id": "cmd-1", "kind": "commands", "script": script})
        assert (result["exit"], result["writes"]["state"]) == (4, {"a": "b"})
        assert result["stdout"].startswith("web/0-run-commands-")
        slow = {"id": "cmd-2", "kind": "commands", "script": "echo begun; sleep 100", "timeout": 0.3}
        result = await session.run(base | slow)
        assert (result["outcome"], result["message"], result["stdout"]) == (
            "interrupted",
            "command cancelled",
            "begun\n",
        )
    assert not list(machine.base.glob("run-*"))


async def test_commands_may_delete_their_script_and_write_beside_it(machine: Machine) -> None:
    machine.write_charm()
    base = {"unit": "web/0", "context": {"unit": "web/0", "config": {}}, "kind": "commands"}
    async with machine.session() as session:
        for number, script in enumerate(('rm "$0"', 'rm -r "${0%/*}"', 'mkdir "${0%/*}/d"; date > "$0.log"')):
            wanted = base | {"id": f"cmd-{number}", "script": f"{script}; state-set a=b"}
            result = await session.run(wanted)
            assert (result["outcome"], result["exit"], result["writes"]["state"]) == ("ok", 0, {"a": "b"})
            result = await session.run({"id": f"plain-{number}", "kind": "exec", "script": script})
            assert (result["outcome"], result["exit"]) == ("ok", 0)
    assert not list(machine.base.glob("run-*"))


async def test_script_of_a_killed_process_is_deleted_by_the_next_commands(machine: Machine) -> None:
    machine.write_charm()
    base = {"unit": "web/0", "context": {"unit": "web/0", "config": {}}, "kind": "commands"}
    async with machine.session() as session:
        result = await session.run(base | {"id": "cmd-1", "script": "kill -9 $PPID; sleep 9"})
        assert result["outcome"] == "terminated"
        assert list(machine.base.glob("run-*"))
        result = await session.run(base | {"id": "cmd-2", "script": "true"})
        assert result["outcome"] == "ok"
    assert not list(machine.base.glob("run-*"))


def test_script_is_written_where_an_earlier_process_of_the_same_number_left_one(tmp_path: Path) -> None:
    host = SimpleNamespace(paths=SimpleNamespace(base=str(tmp_path)))
    commands.script(host, "before the reboot")  # type: ignore[arg-type]
    path = Path(commands.script(host, "after it"))  # type: ignore[arg-type]
    assert path.read_text() == "after it"
    commands.remove_script(str(path))
    assert not list(tmp_path.iterdir())


def plain(script: str, **more: Any) -> dict[str, Any]:
    """Return the operation of a command without unit context."""
    return {"id": f"t-{os.urandom(8).hex()}", "kind": "exec", "script": script, **more}


async def test_a_user_runs_a_command_with_nothing_of_roots(machine: Machine) -> None:
    """The user `nobody` is everywhere; its home is often missing."""
    shown = "id -u; id -g; id -G; echo $HOME $USER $LOGNAME; umask"
    state = "grep -E 'Sig(Blk|Ign)|Cap(Prm|Eff)' /proc/self/status; ls /proc/$$/fd; pwd; cat"
    found = pwd.getpwnam("nobody")
    async with machine.session() as session:
        result = await session.run(plain(f"{shown}; {state}", user="nobody"))
        failed = await session.run(plain("kill -TERM $$", user="nobody"))
    said = result["stdout"].splitlines()
    groups = os.getgrouplist("nobody", found.pw_gid)
    assert said[:3] == [str(found.pw_uid), str(found.pw_gid), " ".join(map(str, groups))]
    assert said[3:5] == [f"{found.pw_dir} nobody nobody", "0022"]
    assert {line.split()[1] for line in said[5:9]} == {"0" * 16}
    assert said[9:-1] == ["0", "1", "2"]
    assert said[-1] == (found.pw_dir if os.path.isdir(found.pw_dir) else "/")  # noqa: ASYNC240, PTH112
    assert (failed["outcome"], failed["message"]) == ("terminated", "signal: terminated")


async def test_root_runs_the_command_of_a_user_that_is_missing(machine: Machine) -> None:
    async with machine.session() as session:
        result = await session.run(plain("id -u; pwd; echo $HOME ${USER-none}", user="nobody-there"))
    assert result["stdout"] == "0\n/root\n/root none\n"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (f": {'x' * 200_000}", f"{commands.shell()}: Argument list too long"),
        (": \0", "ValueError: embedded null byte"),
    ],
    ids=["long", "null"],
)
async def test_a_command_that_cannot_start_says_why(machine: Machine, script: str, why: str) -> None:
    async with machine.session() as session:
        result = await session.run(plain(script, user="nobody"))
    assert result["exit"] == 127
    assert result["stderr"] == f"the command cannot start: {why}\n"
