"""Charms on disk: deploy, upgrade, removal."""

from __future__ import annotations

import os
import py_compile
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from pushjuju.runner.push import bootstrap
from pushjuju.runner.remote.base import wire
from pushjuju.runner.session import MachineSession

from .conftest import Machine, charm_zip, hook_op, lines

V0 = {
    "metadata.yaml": "name: web\n",
    "dispatch": ("#!/bin/sh\necho dispatched $JUJU_DISPATCH_PATH v0\n", 0o100644),
    "hooks/install": ("#!/bin/sh\n", 0o100644),
    "hooks/data.txt": ("x", 0o100644),
    "src/charm.py": "print('v0')\n",
    "src/gone.py": "x = 1\n",
    "old/only.txt": "old",
    "lib64": ("src", 0o120777),
}
V1 = {
    "metadata.yaml": "name: web\n",
    "dispatch": ("#!/bin/sh\necho dispatched $JUJU_DISPATCH_PATH v1\n", 0o100755),
    "src/charm.py": "print('v1')\n",
    "new/file.txt": ("n", 0o100600),
}


async def deploy(
    session: MachineSession, tmp_path: Path, number: int, files: dict[str, Any]
) -> dict[str, Any]:
    """Push an archive and deploy it."""
    digest, path = charm_zip(tmp_path / f"charm-{number}.zip", files)
    await session.put_blob(digest, path)
    op = {"id": f"d-{os.urandom(4).hex()}", "kind": "deploy", "unit": "web/0", "url": f"local:web-{number}"}
    result = await session.run(op | {"sha256": digest})
    await session.ack(op["id"])
    return result


async def test_deploy_then_upgrade_keeps_what_the_charm_made(machine: Machine, tmp_path: Path) -> None:
    charm = machine.charm()
    async with machine.session() as session:
        assert (await deploy(session, tmp_path, 0, V0))["outcome"] == "ok"
        assert (charm / "revision").read_text() == "0"
        assert (charm / ".juju-charm").read_text() == "local:web-0\n"
        assert stat.S_IMODE((charm / "dispatch").stat().st_mode) == 0o744
        assert stat.S_IMODE((charm / "hooks/install").stat().st_mode) == 0o744
        assert stat.S_IMODE((charm / "hooks/data.txt").stat().st_mode) == 0o644
        assert (charm / "lib64").readlink() == Path("src")
        assert not (charm / "src/__pycache__").exists()  # compiling a large charm would delay its first hook
        result = await session.run(hook_op("install"))
        assert lines(result) == ["dispatched hooks/install v0"]
        for name in ("charm", "gone"):
            py_compile.compile(str(charm / f"src/{name}.py"), doraise=True)
        (charm / ".unit-state.db").write_text("mine")
        (charm / "old/mine.txt").write_text("mine")
        assert (await deploy(session, tmp_path, 1, V1))["upgraded"]
        result = await session.run(hook_op("upgrade-charm"))
        assert lines(result) == ["dispatched hooks/upgrade-charm v1"]
    assert (charm / ".unit-state.db").read_text() == "mine"
    assert sorted(path.name for path in (charm / "old").iterdir()) == ["mine.txt"]
    assert not (charm / "hooks").exists()
    assert not (charm / "lib64").is_symlink()
    assert not list((charm / "src/__pycache__").glob("gone.*"))
    assert (charm / "revision").read_text() == "1"
    assert not (charm / ".juju-deploying").exists()


async def test_an_upgrade_that_cannot_be_unpacked_is_a_conflict_and_a_failed_installation_is_not(
    machine: Machine, tmp_path: Path
) -> None:
    deployer = machine.charm().parent / "state/deployer"
    deployer.parent.mkdir(parents=True)
    deployer.write_text("in the way")
    async with machine.session() as session:
        result = await deploy(session, tmp_path, 0, V0)
        assert (result["outcome"], result.get("code")) == ("error", None)
        deployer.unlink()
        assert (await deploy(session, tmp_path, 0, V0))["outcome"] == "ok"
        deployer.rename(deployer.with_name("aside"))
        deployer.write_text("in the way")
        result = await deploy(session, tmp_path, 1, V1)
        assert (result["outcome"], result.get("code")) == ("error", "conflict")
        assert "state/deployer" in result["message"]
        assert (machine.charm() / "revision").read_text() == "0"
        deployer.unlink()
        assert (await deploy(session, tmp_path, 1, V1))["outcome"] == "ok"


async def test_the_machine_says_whose_charm_is_there(machine: Machine, tmp_path: Path) -> None:
    async with machine.session() as session:
        assert session.hello["charms"] == []
        await deploy(session, tmp_path, 0, V0)
    async with machine.session() as session:
        assert session.hello["charms"] == ["web/0"]
    shutil.rmtree(machine.charm())
    async with machine.session() as session:
        assert (session.hello["units"], session.hello["charms"]) == (["web/0"], [])


async def test_exec_runs_programs_and_scripts_as_root(machine: Machine) -> None:
    async with machine.session() as session:
        done = await session.exec(["sh", "-c", "id -u; cat; exit 3"], stdin="in\n")
        assert (done.exit, done.stdout) == (3, "0\nin\n")
        done = await session.exec(script="echo $FOO >&2", env={"FOO": "bar"})
        assert (done.exit, done.stderr) == (0, "bar\n")


async def test_only_what_an_edit_changed_is_sent(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the archive that it is like is gone from the machine meanwhile: then all of it is sent."""
    sent = [0]
    send = bootstrap.Link.send_frame

    def counted(link: bootstrap.Link, flag: int, payload: bytes) -> None:
        sent[0] += len(payload) if flag == wire.BLOB else 0
        send(link, flag, payload)

    monkeypatch.setattr(bootstrap.Link, "send_frame", counted)
    big = {f"lib/{number}": os.urandom(20_000).hex() for number in range(10)}
    old, old_path = charm_zip(tmp_path / "old.zip", {**V0, **big})
    new, new_path = charm_zip(tmp_path / "new.zip", {**V1, **big})
    last, last_path = charm_zip(tmp_path / "last.zip", {**V0, **big, "x": "y"})
    async with machine.session() as session:
        await session.put_blob(old, old_path)
        whole, sent[0] = sent[0], 0
        await session.put_blob(new, new_path, (old, old_path))
        assert 0 < sent[0] < whole / 20
        blobs = machine.base / "blobs"
        assert (blobs / new).read_bytes() == new_path.read_bytes()
        (blobs / old).unlink()
        sent[0] = 0
        await session.put_blob(last, last_path, (old, old_path))
        assert sent[0] > whole / 2
        assert (blobs / last).read_bytes() == last_path.read_bytes()
