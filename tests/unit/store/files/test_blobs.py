"""Content-addressed files."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from pathlib import Path

import pytest

from pushjuju.core.errors import NotFound, StoreError
from pushjuju.store.files.blobs import Blobs


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "data" / "blobs")


@pytest.fixture
def charm(tmp_path: Path) -> Path:
    path = tmp_path / "web.charm"
    path.write_bytes(os.urandom(3_000_000))
    return path


def files(blobs: Blobs) -> list[Path]:
    return [path for path in blobs.root.rglob("*") if path.is_file()]


def test_a_blob_is_named_by_its_content(blobs: Blobs, charm: Path) -> None:
    sha256 = blobs.add(charm)
    assert sha256 == hashlib.sha256(charm.read_bytes()).hexdigest()
    assert blobs.path(sha256).read_bytes() == charm.read_bytes()


def test_equal_content_is_kept_once(blobs: Blobs, charm: Path) -> None:
    assert blobs.add(charm) == blobs.add(charm)
    assert len(files(blobs)) == 1


def test_the_source_may_go(blobs: Blobs, charm: Path) -> None:
    sha256 = blobs.add(charm)
    charm.unlink()
    assert blobs.path(sha256).stat().st_size == 3_000_000


def test_an_empty_file_is_a_blob(blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert blobs.path(blobs.add(tmp_path / "empty")).stat().st_size == 0


def test_only_the_owner_may_read(blobs: Blobs, charm: Path) -> None:
    path = blobs.path(blobs.add(charm))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, blobs.root, blobs.root.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_it_is_on_the_disk_before_its_name_is(
    blobs: Blobs, charm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(handle: int) -> None:
        steps.append("sync dir" if stat.S_ISDIR(os.fstat(handle).st_mode) else "sync file")
        real_sync(handle)

    def replace(self: Path, target: Path) -> Path:
        steps.append("name")
        return real_replace(self, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    blobs.add(charm)
    assert steps[:3] == ["sync file", "name", "sync dir"]


def test_a_missing_blob_is_said(blobs: Blobs, charm: Path) -> None:
    with pytest.raises(NotFound, match="blob 000000000000 is missing"):
        blobs.path("0" * 64)
    sha256 = blobs.add(charm)
    blobs.delete(sha256)
    blobs.delete(sha256)
    with pytest.raises(NotFound):
        blobs.path(sha256)


def test_a_missing_source_is_the_callers_fault(blobs: Blobs, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        blobs.add(tmp_path / "none")


def test_what_a_killed_copy_left_goes_with_the_next_one(blobs: Blobs, charm: Path) -> None:
    blobs.root.mkdir(parents=True, exist_ok=True)
    old, young = blobs.root / ".new-old", blobs.root / ".new-young"
    old.touch()
    young.touch()
    os.utime(old, (0, 0))
    blobs.add(charm)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_full_disk_leaves_nothing_behind(small_disk: Path, charm: Path) -> None:
    blobs = Blobs(small_disk / "blobs")
    with pytest.raises(StoreError) as caught:
        blobs.add(charm)
    assert "no space left on device" in caught.value.message
    assert "free some space" in caught.value.hint
    assert files(blobs) == []


def test_two_may_add_the_same_at_once(blobs: Blobs, charm: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(blobs.add(charm))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4
    assert len(files(blobs)) == 1
