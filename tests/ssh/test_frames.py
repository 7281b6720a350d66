"""What goes over the wire is, key by key, what the commit before the work on the rooms sent and got.

`frames.json` has the frames of that commit: times, pids, hashes and the facts of the machine are taken out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import RemoteFailed
from pushjuju.runner.push.bootstrap import Link
from pushjuju.runner.remote.base import wire
from pushjuju.runner.session import MachineSession
from pushjuju.runner.trust import frames

from .conftest import Machine, charm_zip, hook_op

RECORDED = Path(__file__).with_name("frames.json")
CHANGES = re.compile(r"\b[0-9a-f]{32,64}\b|\b[0-9]+\.[0-9]+\b")
OF_THE_HOST = {
    "pid",
    "arch",
    "boot_id",
    "cores",
    "mem_mib",
    "nics",
    "hostname",
    "gateway",
    "os",
    "perl",
    "python",
    "ssh",
}
LEASE = {"of": "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", "number": 7}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The frames of both sides, in order."""
    found: list[str] = []
    framed, read = Link._framed, frames.read

    def out(link: Link, message: dict[str, Any]) -> bytes:
        found.append("> " + _plain(message))
        return framed(link, message)

    def into(flag: int, payload: bytes) -> tuple[dict[str, Any], int]:
        message, size = read(flag, payload)
        found.append("< " + _plain(message))
        return message, size

    monkeypatch.setattr(Link, "_framed", out)
    monkeypatch.setattr(frames, "read", into)
    return found


def _plain(message: dict[str, Any]) -> str:
    """Return a frame as a text, its keys in order, without what is of one run or one host."""
    kept = {key: "-" if key in OF_THE_HOST else value for key, value in message.items()}
    return CHANGES.sub("-", json.dumps(kept))


async def talk(machine: Machine, session: MachineSession, tmp_path: Path) -> None:
    """Do what a controller does with a machine, one after the other."""
    session.lease = LEASE
    digest, archive = charm_zip(
        tmp_path / "charm", {"metadata.yaml": "name: web\n", "dispatch": ("", 0o100755)}
    )
    await session.put_blob(digest, archive)
    url = {"url": "local:web-0", "sha256": digest}
    await session.run({"t": "op", "id": "1", "kind": "deploy", "unit": "web/0", **url})
    await session.ack("1")
    machine.write_charm(
        dispatch="state-set a=b; status-set active ready; juju-log x; probe-live x 2>/dev/null; echo printed"
    )
    await session.run({"t": "op", **hook_op("start", id="2", logging="<root>=TRACE")}, on_live=_answer)
    machine.write_charm(dispatch="exit 3")
    quiet = {"t": "op", **hook_op("stop", id="3")}
    await session.run(quiet, plan=[{"t": "op", **hook_op("remove", id="4", after="3", tail=True)}])
    await session.run({"t": "op", **hook_op("remove", id="4", after="3", tail=True)})
    await session.fetch("5")
    await session.look_again()
    session.answer("6", "refused")
    await session.cancel("7", "TERM")
    await session.exec(["cat"], stdin="words", env={"A": "b"}, timeout=9)
    with pytest.raises(RemoteFailed):
        await session.exec(["/nowhere"])
    reboot = await session.run({"t": "op", "id": "8", "kind": "reboot", "if_boot_id": "another"})
    assert reboot["code"] == "boot-id"
    session.lease = {**LEASE, "number": 6}
    with pytest.raises(Exception, match="works for another controller"):
        await session.run({"t": "op", "id": "9", "kind": "exec", "script": ""})
    session.lease = None
    await session.run({"t": "op", "id": "10", "kind": "remove-unit", "unit": "web/0", "last": False})


async def _answer(_: Any) -> tuple[int, bytes, bytes]:
    return 0, b"\xff", b"said"


async def test_frames_are_those_of_before(machine: Machine, said: list[str], tmp_path: Path) -> None:
    async with machine.session(options={**machine.options, "event_delay": 5}) as session:
        await talk(machine, session, tmp_path)
    told = [line.replace(str(machine.root), "") for line in said]
    assert told == json.loads(RECORDED.read_text())
    assert wire.pack({"t": "beat"}) == b'\0\0\0\x0c\0{"t":"beat"}'
