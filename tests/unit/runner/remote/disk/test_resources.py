"""A unit's files of its resources: copied from the cache, checked, never half there."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from pushjuju.runner.remote.disk.resources import UnitFiles

CONTENT = os.urandom(3_000_000)


@pytest.fixture
def files(tmp_path: Path) -> UnitFiles:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / wanted()["sha256"]).write_bytes(CONTENT)
    return UnitFiles(str(tmp_path / "agent"), str(tmp_path / "cache"))


def wanted(**other: Any) -> dict[str, Any]:
    known = {
        "path": "data.bin",
        "size": len(CONTENT),
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
        "sha384": hashlib.sha384(CONTENT).hexdigest(),
    }
    return {**known, **other}


def test_it_is_copied_once_and_found_again(files: UnitFiles, tmp_path: Path) -> None:
    path = tmp_path / "agent/resources/data/data.bin"
    assert files.present("data", wanted()) == ""
    path.parent.mkdir(parents=True)
    (path.parent / ".new-1").write_text("half")
    assert files.take("data", wanted(), last=False) == str(path) == files.present("data", wanted())
    assert path.read_bytes() == CONTENT
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [each.name for each in path.parent.iterdir()] == ["data.bin"]
    path.write_bytes(b"x" * len(CONTENT))
    assert files.present("data", wanted()) == ""
    path.unlink()
    path.symlink_to(tmp_path / "cache" / wanted()["sha256"])
    assert files.present("data", wanted()) == ""


def test_a_damaged_cache_gives_nothing(files: UnitFiles, tmp_path: Path) -> None:
    blob = tmp_path / "cache" / wanted()["sha256"]
    blob.write_bytes(b"x" * len(CONTENT))
    assert files.take("data", wanted(), last=False) == ""
    assert not blob.exists()
    assert list((tmp_path / "agent/resources/data").iterdir()) == []
    with pytest.raises(ValueError, match="the file is not in the cache"):
        files.take("data", wanted(), last=True)
    blob.write_bytes(b"short")
    with pytest.raises(ValueError, match=r"resource size does not match expected \(5 != 3000000\)"):
        files.take("data", wanted(), last=True)
    blob.write_bytes(b"y" * len(CONTENT))
    with pytest.raises(ValueError, match="resource fingerprint does not match expected"):
        files.take("data", wanted(), last=True)


@pytest.mark.parametrize(
    "other", [{"path": "../x"}, {"path": ""}, {"path": ".."}, {"sha256": "a/b"}, {"path": "a\0b"}]
)
def test_a_name_never_leaves_its_directory(files: UnitFiles, other: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="bad name"):
        files.take("data", wanted(**other), last=True)
    with pytest.raises(ValueError, match="bad name"):
        files.present("../data", wanted())
