"""The script that finds a volume's device on a machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pushjuju.plugins.api.storage_types import StorageSeen
from pushjuju.plugins.storage.devices import locate


def look(seen: StorageSeen) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", locate(seen, wait_s=0)], capture_output=True, text=True, check=False, timeout=20
    )


def device() -> str:
    for path in sorted(Path("/sys/block").glob("*")):
        if Path("/dev", path.name).is_block_device():
            return path.name
    pytest.skip("this host shows no block device")


def test_the_first_path_that_is_there_wins(tmp_path: Path) -> None:
    name = device()
    link = tmp_path / "by-id"
    link.symlink_to(f"/dev/{name}")
    done = look(StorageSeen(paths=("/dev/none", str(link), f"/dev/{name}")))
    assert done.stdout.splitlines() == [f"device={name}", f"link={link}"]
    assert look(StorageSeen(paths=(f"/dev/{name}",))).stdout == f"device={name}\n"


def test_what_is_no_device_is_not_taken(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = look(StorageSeen(paths=(str(file),), serial="vol1; touch /tmp/x"))
    assert done.returncode == 1
    assert done.stderr == (
        f"the machine does not show the volume: none of {file} is there, "
        "no serial number vol1; touch /tmp/x\n"
    )


def test_a_serial_number_is_enough() -> None:
    for path in sorted(Path("/sys/block").glob("*/serial")):
        serial, name = path.read_text().strip(), path.parent.name
        if serial and Path("/dev", name).is_block_device():
            assert look(StorageSeen(serial=serial)).stdout == f"device={name}\n"
            return
    pytest.skip("no block device of this host has a serial number")
