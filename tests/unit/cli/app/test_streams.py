"""Standard streams that are closed or full, and a full disk under the store: the real program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = shutil.which("pushjuju", path=str(Path(sys.executable).parent)) or "pushjuju"
COMMANDS = ("version", "status", "models", "hooks", "help commands", "add-model more")
READING = ("version", "status", "models", "help commands", "hooks --format yaml")
DF = "`df -h` shows which disk is full: free some space there, then run the command again"
ROOM = "free some space on that disk, then run the command again"
Sh = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def sh(tmp_path: Path) -> Sh:
    """Run lines of a shell, in which `$P` is the program, with a controller and a model."""
    home = tmp_path / "data"
    env = {
        **os.environ,
        "P": PROGRAM,
        "PUSHJUJU_DATA": str(home),
        "PUSHJUJU_WAIT": "0",
        "HOME": str(tmp_path),
    }

    def call(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    made = call("$P bootstrap local home --add-model shop")
    assert made.returncode == 0, made.stderr
    return call


@pytest.mark.parametrize("words", COMMANDS)
def test_closed_streams_take_what_is_written(sh: Sh, words: str) -> None:
    done = sh(f"$P {words} >&-")
    assert (done.returncode, "ERROR" in done.stderr) == (0, False), done.stderr
    again = words.replace("more", "less")
    assert sh(f"$P {again} <&- >&- 2>&-").returncode == 0
    assert sh("$P models").returncode == 0


@pytest.mark.parametrize("words", READING)
def test_a_full_disk_behind_stdout_is_told(sh: Sh, words: str) -> None:
    done = sh(f"$P {words} >/dev/full")
    assert (done.returncode, done.stderr) == (1, f"ERROR write error: no space left on device\n{DF}\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
def test_a_full_disk_under_the_store_is_told(sh: Sh, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], check=True)
    try:
        shutil.copytree(tmp_path / "data", disk / "data", dirs_exist_ok=True)
        for name in ("state.db-wal", "state.db-shm"):
            (disk / "data" / "controllers" / "home" / name).unlink(missing_ok=True)
        sh(f"dd if=/dev/zero of={disk}/fill bs=4k")
        for words in ("status", "models", "hooks --format yaml"):
            assert sh(f"PUSHJUJU_DATA={disk}/data $P {words}").returncode == 0, words
        for words in ("add-model more", "model-config test-mode=true", "controller run"):
            done = sh(f"PUSHJUJU_DATA={disk}/data $P {words}")
            assert (done.returncode, done.stdout.strip("{}\n")) == (1, ""), (words, done.stdout)
            assert "state.db cannot be written: the disk is full" in done.stderr
            assert "free some space" in done.stderr
        named = {
            "create-backup --no-download": "controllers/home/backups/juju-backup-",
            f"create-backup --filename {disk}/copy.tar.gz": "copy.tar.gz",
        }
        for words, file in named.items():
            done = sh(f"PUSHJUJU_DATA={disk}/data $P {words}")
            assert done.returncode == 1, words
            error, hint = done.stderr.splitlines()[-2:]
            assert error.startswith(f"ERROR cannot write {disk}"), words
            assert file in error, words
            assert (error.endswith(": no space left on device"), hint) == (True, ROOM), words
        assert sh(f"PUSHJUJU_DATA={disk}/data $P bootstrap local full").returncode == 1
        assert not (disk / "data" / "controllers" / "full").exists()
        done = sh(f"$P status -o {disk}/shown")
        assert (done.returncode, done.stderr) == (1, f"ERROR {disk}/shown: No space left on device\n{DF}\n")
        assert sh(f"PUSHJUJU_DATA={disk}/data $P create-backup --filename elsewhere.tar.gz").returncode == 0
        assert sorted(path.name for path in disk.iterdir()) == ["data", "fill", "shown"]  # nothing half made
        (disk / "fill").unlink()
        assert sh(f"PUSHJUJU_DATA={disk}/data $P status").returncode == 0
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
