"""The lines of fstab that bring storage back: written whole, or not at all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pushjuju.plugins.storage import mounts

OTHERS = "UUID=1 / ext4 defaults 0 1\n"
OWN = "UUID=2 /srv ext4 nofail,x-pushjuju=u-1 0 0\n"


def _boot(folder: Path, lines: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run what `mount` and `unmount` do to fstab, on one of the test's own."""
    script = f"{mounts._HEAD}mark=u-1\nlines='{lines}'\nboot \"$lines\"\n".replace("/etc/", f"{folder}/")
    return subprocess.run(["sh", "-c", before + script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("text", [None, "", OTHERS, OTHERS + OWN, OWN])
def test_a_line_comes_once_and_goes(tmp_path: Path, text: str | None) -> None:
    fstab = tmp_path / "fstab"
    if text is not None:
        fstab.write_text(text)
    for _ in range(2):
        assert _boot(tmp_path, OWN).returncode == 0
        assert fstab.read_text() == (OTHERS if OTHERS in (text or "") else "") + OWN
    assert _boot(tmp_path, "").returncode == 0
    assert fstab.read_text() == (OTHERS if OTHERS in (text or "") else "")
    assert list(tmp_path.iterdir()) == [fstab]


def test_a_full_disk_leaves_the_lines_of_others(tmp_path: Path) -> None:
    fstab = tmp_path / "fstab"
    fstab.write_text(OTHERS)
    ended = _boot(tmp_path, OWN, before="trap '' XFSZ; ulimit -f 0\n")
    assert ended.returncode == 1
    assert "fstab could not be written anew: is the disk full?" in ended.stderr
    assert fstab.read_text() == OTHERS
    assert list(tmp_path.iterdir()) == [fstab]
