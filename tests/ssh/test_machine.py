"""The machine itself: what stays on it, what runs on it, what it does when its disk is full."""

# ruff: noqa: ASYNC221, ASYNC240 - the tests look at local files and start local programs

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from pushjuju.core.errors import DiskFull, RemoteFailed
from pushjuju.core.values import changed
from pushjuju.runner.push.packer import pack
from tests.waiting import stays, until

from .conftest import Machine, charm_zip, hook_op, lines, logs
from .test_deploy import V0, deploy

MEMORY_LIMIT = 25 * 1024 * 1024


async def test_hello_tells_what_the_machine_is(machine: Machine) -> None:
    async with machine.session() as session:
        hello = session.hello
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert hello["boot_id"].startswith(boot_id)
    assert (hello["hostname"], hello["cores"]) == (os.uname().nodename, os.cpu_count())
    assert hello["arch"] in ("amd64", "arm64")
    assert hello["mem_mib"] > 100
    assert (hello["journal"], hello["running"], hello["blobs"]) == ([], [], [])
    for nic in hello["nics"]:
        assert set(nic) - {"parent"} == {"name", "mac", "up", "mtu", "addresses"}
        assert nic["mtu"] > 500
    values = {address["value"] for nic in hello["nics"] for address in nic["addresses"]}
    shown = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=True).stdout.split()
    assert set(shown) <= values | {value for value in shown if value.startswith("fe80")}


async def test_it_says_anew_what_may_have_changed(machine: Machine) -> None:
    async with machine.session() as session:
        told = {key: session.hello.pop(key) for key in ("hostname", "nics", "gateway")}
        frames = session.frames_out
        await session.look_again()
        assert {key: session.hello[key] for key in told} == told
        assert session.frames_out == frames + 1


async def test_nothing_runs_after_the_linger_time_and_memory_stays_small(machine: Machine) -> None:
    machine.write_charm(start="config-get title")
    async with machine.session() as session:
        assert (await session.run(hook_op("start")))["outcome"] == "ok"
        await asyncio.sleep(0.1)
        resident = 0
        for pid in machine.server_pids():
            status = Path(f"/proc/{pid}/status").read_text()
            size = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
            print(Path(f"/proc/{pid}/comm").read_text().strip(), size, "kB resident")
            if pid == session.hello["pid"]:
                resident = size * 1024
        assert 0 < resident < MEMORY_LIMIT
    assert await machine.gone()
    assert not list(machine.base.glob("*/server.sock"))


async def test_removing_the_last_unit_leaves_no_file(machine: Machine, tmp_path: Path) -> None:
    async with machine.session() as session:
        await deploy(session, tmp_path, 0, V0)
        result = await session.run(hook_op("install"))
        await session.ack(result["id"])
        op = {"id": "remove-1", "kind": "remove-unit", "unit": "web/0", "last": True}
        assert (await session.run(op))["outcome"] == "ok"
        assert not machine.charm().parent.exists()
        assert not (machine.juju / "tools/unit-web-0").exists()
        await session.ack("remove-1")
    assert await machine.gone()
    left = {str(path.relative_to(machine.root)) for path in machine.root.rglob("*")}
    assert left <= {"var", "var/lib"}


async def test_removal_nobody_acknowledged_waits_and_a_new_unit_stops_the_clearing(
    machine: Machine, tmp_path: Path
) -> None:
    async with machine.session() as session:
        await deploy(session, tmp_path, 0, V0)
        await session.run({"id": "remove-2", "kind": "remove-unit", "unit": "web/0", "last": True})
    assert await machine.gone()
    async with machine.session() as session:
        assert (await session.fetch("remove-2"))["outcome"] == "ok"
        await deploy(session, tmp_path, 1, V0)
        await session.ack("remove-2")
    assert await machine.gone()
    assert machine.charm().exists()
    async with machine.session() as session:
        await session.run({"id": "remove-3", "kind": "remove-unit", "unit": "web/0", "last": True})
        await session.ack("remove-3")
    assert await machine.gone()
    async with machine.session() as session:  # the program is sent again where it was cleared away
        assert session.hello["journal"] == []


async def test_removing_one_of_two_units_keeps_the_other(machine: Machine) -> None:
    machine.write_charm("web/0", start="exit 0")
    other = machine.write_charm("web/1", start="exit 0")
    async with machine.session() as session:
        for unit in ("web/0", "web/1"):
            assert (await session.run(hook_op("start", unit=unit)))["outcome"] == "ok"
        assert (await session.run({"id": "r", "kind": "remove-unit", "unit": "web/0"}))["outcome"] == "ok"
        result = await session.run({"id": "bad", "kind": "remove-unit", "unit": "../web/0"})
        assert (result["outcome"], "valid unit name" in result["message"]) == ("error", True)
    assert other.exists()
    assert (machine.juju / "tools/unit-web-1/juju-log").exists()


@pytest.fixture
def small_disk(machine: Machine) -> Iterator[Path]:
    """Make the machine's root a small disk."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(machine.root)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("cannot mount a tmpfs here")
    yield machine.root
    subprocess.run(["umount", "-l", str(machine.root)], check=True)


def fill(root: Path) -> Path:
    """Fill a disk to the last byte."""
    path = root / "filler"
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65536))
        except OSError:
            pass
        try:
            while True:
                file.write(b"x")
        except OSError:
            pass
    return path


async def test_full_disk_is_an_answer(machine: Machine, small_disk: Path, tmp_path: Path) -> None:
    machine.write_charm(start="exit 0")
    filler = fill(small_disk)
    with pytest.raises(DiskFull):
        async with machine.session():
            pass
    filler.unlink()
    async with machine.session() as session:
        assert (await session.run(hook_op("start")))["outcome"] == "ok"
        filler = fill(small_disk)
        refused = hook_op("start")
        result = await session.run(refused)
        assert (result["outcome"], result["errno"], result["message"]) == (
            "error",
            28,
            "No space left on device",
        )
        big = tmp_path / "big"
        big.write_bytes(os.urandom(300_000))
        with pytest.raises(DiskFull):
            await session.put_blob(sha256(big.read_bytes()).hexdigest(), big)
        with pytest.raises(DiskFull):
            await session.exec(["true"])
        filler.unlink()
        assert (await session.run(refused))["outcome"] == "ok"  # it never began: the same id may try again
        await session.put_blob(sha256(big.read_bytes()).hexdigest(), big)
    assert await machine.gone()


async def test_disk_that_fills_up_during_the_hook_loses_nothing(machine: Machine, small_disk: Path) -> None:
    fill_it = f"cat /dev/zero > {small_disk}/filler 2>/dev/null; yes x | head -n 20000; state-set a=1"
    machine.write_charm(start=fill_it)
    op = hook_op("start")
    async with machine.session() as session:
        result = await session.run(op)
        assert result["outcome"] == "ok"
        assert result["writes"]["state"] == {"a": "1"}
        assert any("No space left on device" in text for text in logs(result))
    await asyncio.sleep(1)
    async with machine.session() as session:  # the result is held in memory, past the linger time
        assert (await session.fetch(op["id"]))["writes"]["state"] == {"a": "1"}
        assert (await session.run(op))["writes"]["state"] == {"a": "1"}
        await session.ack(op["id"])
        (small_disk / "filler").unlink()
    assert await machine.gone(8)
    async with machine.session() as session:
        assert session.hello["journal"] == []


async def test_read_only_directory_is_an_answer(machine: Machine) -> None:
    (machine.root / "var/lib").mkdir(parents=True)
    (machine.root / "var/lib/juju").write_text("a file where a directory should be")
    with pytest.raises(RemoteFailed, match="cannot start") as caught:
        async with machine.session():
            pass
    assert "Not a directory" in caught.value.detail


async def test_bad_archives_and_urls_change_nothing(machine: Machine, tmp_path: Path) -> None:
    async with machine.session() as session:
        await deploy(session, tmp_path, 0, V0)
        before = sorted(machine.charm().rglob("*"))
        for number, files in enumerate(
            [{"../evil": "x"}, {"a": ("/etc/passwd", 0o120777)}, {"/abs": "x"}], 5
        ):
            result = await deploy(session, tmp_path, number, files)
            assert (result["outcome"], "cannot extract" in result["message"]) == ("error", True)
        digest, path = charm_zip(tmp_path / "not-sent.zip", V0)
        missing = {"id": "m", "kind": "deploy", "unit": "web/0", "url": "local:web-9", "sha256": "0" * 64}
        assert "is not on the machine" in (await session.run(missing))["message"]
        with pytest.raises(RemoteFailed, match="does not take") as caught:
            await session.put_blob("1" * 64, path)
        assert "does not match" in caught.value.detail
        del digest
    assert sorted(machine.charm().rglob("*")) == before
    assert not (machine.root / "evil").exists()


async def test_blob_is_sent_once_and_a_cut_transfer_goes_on(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(os.urandom(3_000_000))
    digest = sha256(path.read_bytes()).hexdigest()
    (machine.base / "blobs").mkdir(parents=True)
    (machine.base / f"blobs/{digest}.part").write_bytes(path.read_bytes()[:2_000_000])
    async with machine.session() as session:
        assert session.hello["parts"] == {digest: 2_000_000}
        await session.put_blob(digest, path)
        assert session.frames_out == 1 + 4  # the announcement and the missing megabyte
        await session.put_blob(digest, path)
        assert session.frames_out == 5
    async with machine.session() as session:
        assert session.hello["blobs"] == [digest]
    assert (machine.base / f"blobs/{digest}").read_bytes() == path.read_bytes()


async def test_two_controllers_send_the_same_blob(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(os.urandom(5_000_000))
    digest = sha256(path.read_bytes()).hexdigest()
    async with machine.session() as one, machine.session() as two:
        await asyncio.gather(
            one.put_blob(digest, path), two.put_blob(digest, path), one.put_blob(digest, path)
        )
    assert (machine.base / f"blobs/{digest}").read_bytes() == path.read_bytes()


async def test_part_of_a_blob_that_vanished_is_sent_again(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(os.urandom(1_000_000))
    digest = sha256(path.read_bytes()).hexdigest()
    part = machine.base / f"blobs/{digest}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(path.read_bytes()[:500_000])
    async with machine.session() as session:
        part.unlink()
        await session.put_blob(digest, path)
    assert (machine.base / f"blobs/{digest}").read_bytes() == path.read_bytes()


async def test_controller_that_fell_silent_is_let_go(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.options |= {"silence": 0.4}
    async with machine.session() as session:  # gives a sign of life at once, the next one in 20 seconds
        assert await machine.gone()
        machine.options.pop("silence")
        assert (await session.exec(["true"])).exit == 0  # and is back when it has something to say


async def test_fault_of_the_server_is_told_at_the_next_contact(machine: Machine) -> None:
    machine.base.mkdir(parents=True)
    (machine.base / "crash").write_text("Traceback: it broke")
    async with machine.session() as session:
        assert session.hello["crash"] == "Traceback: it broke"
    async with machine.session() as session:
        assert "crash" not in session.hello


async def test_interrupted_deploy_is_done_again(machine: Machine, tmp_path: Path) -> None:
    charm = machine.charm()
    async with machine.session() as session:
        await deploy(session, tmp_path, 0, V0)
        # What a deploy of revision 1 that was cut half-way leaves.
        state = charm.parent / "state/deployer"
        (charm / ".juju-deploying").write_text("local:web-1\n")
        (charm / "half.txt").write_text("from revision 1")
        (state / "manifests/local_3a_web-1").write_text('["half.txt","metadata.yaml"]')
        (state / "staging").mkdir()
        (state / "staging/junk").write_text("x")
        files = {"metadata.yaml": "name: web\n", "hooks/start": "#!/bin/sh\n"}
        assert (await deploy(session, tmp_path, 2, files))["outcome"] == "ok"
    assert not (charm / "half.txt").exists()
    assert not (charm / "dispatch").exists()
    assert not (state / "staging").exists()
    assert not (charm / ".juju-deploying").exists()
    assert (charm / ".juju-charm").read_text() == "local:web-2\n"


async def test_upgrade_never_writes_through_links_of_the_charm(machine: Machine, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "charm.py").write_text("precious")
    charm = machine.charm()
    async with machine.session() as session:
        await deploy(session, tmp_path, 0, V0)
        shutil.rmtree(charm / "src")
        (charm / "src").symlink_to(outside)
        await deploy(session, tmp_path, 1, {"metadata.yaml": "name: web\n", "src/charm.py": "new\n"})
        assert (charm / "src/charm.py").read_text() == "new\n"
        (charm / "old").mkdir(exist_ok=True)
        shutil.rmtree(charm / "src")
        (charm / "src").symlink_to(outside)
        await deploy(session, tmp_path, 2, {"metadata.yaml": "name: web\n"})
    assert (outside / "charm.py").read_text() == "precious"


async def test_reboot_answers_first_and_only_in_the_boot_it_was_meant_for(
    machine: Machine, tmp_path: Path
) -> None:
    machine.options["reboot_command"] = ["/usr/bin/touch", str(tmp_path / "rebooted")]
    async with machine.session() as session:
        op = {"id": "boot-1", "kind": "reboot", "if_boot_id": "another-boot"}
        result = await session.run(op)
        assert (result["outcome"], result["code"]) == ("error", "boot-id")
        assert not (tmp_path / "rebooted").exists()
        result = await session.run({"id": "boot-2", "kind": "reboot", "if_boot_id": session.hello["boot_id"]})
        assert result["outcome"] == "ok"
        await until((tmp_path / "rebooted").exists)
        (tmp_path / "rebooted").unlink()
        assert (await session.run({"id": "boot-2", "kind": "reboot"}))["outcome"] == "ok"
        await stays(lambda: not (tmp_path / "rebooted").exists(), 0.3)


async def test_real_hook_tool_families_are_pushed(machine: Machine) -> None:
    folder = Path(__file__).parents[2] / "pushjuju/plugins/hooks"
    families = [
        (f"pushjuju.plugins.hooks.{path.stem}", path)
        for path in folder.glob("*.py")
        if path.stem != "__init__"
    ]
    if not families:
        pytest.skip("no family of hook tools is in the tree")
    machine.program = pack(families)
    machine.write_charm(start="juju-log hello; config-get --format=json; is-leader")
    context = {
        "unit": "web/0",
        "app": "web",
        "config": {"a": 1},
        "leader": True,
        "status": {},
        "relations": {},
    }
    async with machine.session() as session:
        result = await session.run(hook_op("start", context=context))
    assert result["outcome"] == "ok", (lines(result), logs(result))
    assert lines(result) == ['{"a":1}', "True"]
    assert "hello" in logs(result)


async def test_large_frames_both_ways(machine: Machine) -> None:
    config = {f"option-{number}": "x" * 1000 for number in range(500)}
    machine.write_charm(
        start="""
        config-get option-3 | wc -c
        i=0; while [ $i -lt 60 ]; do state-set k$i="$(config-get option-7)"; i=$((i+1)); done
        """
    )
    async with machine.session() as session:
        result = await session.run(hook_op("start", context={"unit": "web/0", "config": config}))
        assert session.frames_out == 1
    assert lines(result) == ["1000"]
    assert result["writes"]["state"]["k59"] == "x" * 1000


async def test_a_program_that_has_changed_is_not_sent_and_the_error_says_what_to_do(machine: Machine) -> None:
    machine.program = changed(machine.program, digest="0" * 32)
    with pytest.raises(RemoteFailed, match="was upgraded while this command ran") as caught:
        async with machine.session():
            pass
    assert caught.value.hint == "Run the command again."
