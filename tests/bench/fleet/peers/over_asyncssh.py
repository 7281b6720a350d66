"""asyncssh in two ways: `exec`, a channel for each command; `floor`, a process on each host that runs hooks.

Run as `over_asyncssh.py FILE exec|floor WORKLOAD`. The floor is the barest runner that there can be.
"""

import asyncio
import json
import shlex
import sys
from pathlib import Path

import asyncssh

setting = json.loads(Path(sys.argv[1]).read_text())
RUNNER = """
import os, sys
def hook():
    pid = os.posix_spawn("/bin/sh", ["sh", %r], os.environ)
    return os.waitpid(pid, 0)[1]
while True:
    line = sys.stdin.buffer.readline().split()
    if not line:
        break
    if line[0] == b"unpack":
        with open("/tmp/charm.tar.gz", "wb") as file:
            left = int(line[1])
            while left:
                chunk = sys.stdin.buffer.read(min(left, 1 << 20))
                file.write(chunk)
                left -= len(chunk)
        pid = os.posix_spawn("/bin/tar", ["tar", "xzf", "/tmp/charm.tar.gz", "-C", "/tmp"], os.environ)
        os.waitpid(pid, 0)
        code = 0
    else:
        code = hook()
    sys.stdout.write("%%d\\n" %% code)
    sys.stdout.flush()
""" % setting["hook"]


async def by_exec(connection: asyncssh.SSHClientConnection, workload: str) -> None:
    """One channel for each command."""
    if workload == "conn":
        await connection.run("echo ok", check=True)
        return
    if workload == "cold":
        archive = Path(setting["archive"]).read_bytes()
        await connection.run("tar xz -C /tmp", input=archive, encoding=None, check=True)
    for _ in range(10 if workload == "hooks10" else 1):
        await connection.run(f"sh {setting['hook']}", check=True)


async def by_runner(connection: asyncssh.SSHClientConnection, workload: str) -> None:
    """One process for all."""
    if workload == "conn":
        await connection.run("echo ok", check=True)
        return
    runner = await connection.create_process(f"python3 -I -S -c {shlex.quote(RUNNER)}", encoding=None)

    async def ask(data: bytes) -> None:
        runner.stdin.write(data)
        if (answer := await runner.stdout.readline()) != b"0\n":
            raise RuntimeError(f"the hook ended with {answer!r}")

    if workload == "cold":
        archive = Path(setting["archive"]).read_bytes()
        await ask(b"unpack %d\n" % len(archive) + archive)
    for _ in range(10 if workload == "hooks10" else 1):
        await ask(b"hook\n")
    runner.stdin.write_eof()


async def main() -> None:
    """Do it on all hosts at once."""
    work = by_exec if sys.argv[2] == "exec" else by_runner
    options = asyncssh.SSHClientConnectionOptions(
        username="root",
        client_keys=[asyncssh.read_private_key(setting["key"])],
        known_hosts=asyncssh.read_known_hosts(setting["known_hosts"]),
        config=[],
        agent_path=None,
        kex_algs=["curve25519-sha256"],
        encryption_algs=["aes128-gcm@openssh.com"],
    )

    async def one(host: str) -> None:
        async with asyncssh.connect(host, options=options) as connection:
            await work(connection, sys.argv[3])

    await asyncio.gather(*(one(host) for host in setting["hosts"]))


asyncio.run(main())
