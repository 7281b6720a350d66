"""What the cache of charms keeps, and what it lets go."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.services.supply import download_cache

HOUR, DAY = 3600, 24 * 3600
NOW = 1_700_000_000


def put(folder: Path, name: str, *, age: int, size: int = 100) -> Path:
    path = folder / name
    path.write_bytes(b"x" * size)
    os.utime(path, (NOW - age, NOW - age))
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    for number in range(4):
        put(tmp_path, f"a{number}", age=number * DAY)
    assert download_cache.prune_files(tmp_path, 400) == []
    assert download_cache.prune_files(tmp_path, 250) == ["a3", "a2"]
    assert names(tmp_path) == {"a0", "a1"}


def test_what_was_used_just_now_stays_whatever_the_size(tmp_path: Path) -> None:
    for number in range(3):
        put(tmp_path, f"a{number}", age=number * 60)
    assert download_cache.prune_files(tmp_path, 0) == []


def test_old_halves_go(tmp_path: Path) -> None:
    put(tmp_path, "a", age=0)
    put(tmp_path, "b.part", age=31 * DAY)
    put(tmp_path, "c.part", age=29 * DAY)
    assert download_cache.prune_files(tmp_path, 1 << 20) == ["b.part"]


def test_a_use_is_noted(tmp_path: Path) -> None:
    path = put(tmp_path, "a", age=DAY)
    download_cache.used(path)
    assert path.stat().st_mtime > NOW
    download_cache.used(tmp_path / "gone")


def test_sets_of_packages(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"t{number}").mkdir()
        (tmp_path / f"t{number}" / "x.py").write_text("1")
        os.utime(tmp_path / f"t{number}", (NOW - number * HOUR, NOW - number * HOUR))
    assert download_cache.prune_trees(tmp_path, 2) == ["t4", "t3", "t2"]
    assert names(tmp_path) == {"t0", "t1"}
    assert download_cache.prune_trees(tmp_path / "none") == []


def test_the_size_is_a_number() -> None:
    assert download_cache.limit({}) == 8192 << 20
    assert download_cache.limit({"PUSHJUJU_CACHE_MB": "1"}) == 1 << 20
    with pytest.raises(NotValid, match="number of megabytes"):
        download_cache.limit({"PUSHJUJU_CACHE_MB": "1G"})
