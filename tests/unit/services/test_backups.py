"""Copies of a controller: complete, sound, and taken back without losing a change."""

from __future__ import annotations

import multiprocessing
import sqlite3
import tarfile
from pathlib import Path

import pytest

from pushjuju.core.errors import LeaseLost, NotValid, StoreDamaged, StoreError
from pushjuju.services import applications, backups
from pushjuju.state.backup import check_copy, copy_store
from pushjuju.state.lease import LeasedStore
from pushjuju.state.store import Store
from pushjuju.state.work import SqliteWorkQueue
from tests.unit.services.world import World


def plain(world: World) -> dict[str, object]:
    """Return what a controller holds, without who works on what."""
    dump = world.dump()
    dump["sequence"] = [row for row in dump["sequence"] if row[:2] != ("", "lease")]
    return {name: rows for name, rows in dump.items() if name != "work"}


def test_copy_brings_everything_back(shop: World, tmp_path: Path) -> None:
    shop.deploy(count=2)
    before = plain(shop)
    made = backups.create(shop.ctx, tmp_path / "copy.tar")
    assert (made.path, made.blobs) == (tmp_path / "copy.tar", 1)
    assert oct(made.path.stat().st_mode)[-3:] == "600"
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "later"})
    shop.deploy("other")
    for name in shop.blobs():
        shop.ctx.controller.blobs.delete(name)
    changed = plain(shop)
    kept = backups.restore(shop.ctx, made.path)
    assert plain(shop) == before
    assert {name: len(rows) for name, rows in before.items()} != {  # type: ignore[arg-type]
        name: len(rows)
        for name, rows in changed.items()  # type: ignore[arg-type]
    }
    check_copy(kept)
    with sqlite3.connect(kept) as old:
        assert old.execute("SELECT name FROM application ORDER BY name").fetchall() == [("other",), ("web",)]
    old.close()
    assert sorted(path.name for path in tmp_path.glob(".new-*")) == []
    assert list(shop.ctx.store.path.parent.glob(".new-*")) == []


def test_who_worked_before_a_restore_does_not_commit_after_it(shop: World, tmp_path: Path) -> None:
    shop.deploy()
    made = backups.create(shop.ctx, tmp_path / "copy.tar")
    queue = SqliteWorkQueue(shop.ctx.store, "somebody", alive=lambda owner: True)
    claim = queue.claim(shop.model, shop.clock.now())
    assert claim is not None
    backups.restore(shop.ctx, made.path)
    with pytest.raises(LeaseLost), LeasedStore(shop.ctx.store, claim).write():
        pass
    again = queue.claim(shop.model, shop.clock.now())
    assert again is not None
    assert again.lease > claim.lease


def _write(path: Path, name: str, stop: float) -> None:
    """Count up, and say which number is kept."""
    import time

    store = Store.open(path)
    end = time.monotonic() + stop
    while time.monotonic() < end:
        with store.write() as tx:
            number = tx.next("load", name)
        print(name, number, flush=True)
        Path(f"{path}.{name}").write_text(str(number))
    store.close()


def _numbers(path: Path) -> dict[str, int]:
    connection = sqlite3.connect(path)
    try:
        query = "SELECT name, next FROM sequence WHERE scope = 'load'"
        return dict(connection.execute(query).fetchall())
    finally:
        connection.close()


def test_copy_and_restore_under_load_lose_no_committed_change(shop: World, tmp_path: Path) -> None:
    path = shop.ctx.store.path
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write, args=(path, name, 2.0)) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    said = {name: Path(f"{path}.{name}") for name in ("a", "b")}
    while not all(file.exists() for file in said.values()):
        pass
    for round_ in range(5):
        known = {name: int(file.read_text() or 0) for name, file in said.items()}
        copy_store(path, tmp_path / f"{round_}.db")
        held = _numbers(tmp_path / f"{round_}.db")
        assert all(held[name] > known[name] for name in known), (held, known)
    made = backups.create(shop.ctx, tmp_path / "copy.tar")
    before = backups.restore(shop.ctx, made.path)
    with tarfile.open(made.path) as archive:
        archive.extract("state.db", tmp_path, filter="data")
    restored, left = _numbers(tmp_path / "state.db"), _numbers(before)
    assert all(left[name] >= restored[name] for name in restored)
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    after = _numbers(path)
    for name in after:  # each number from the restored one on was given, none was lost
        assert after[name] > restored[name]
        assert int(said[name].read_text()) == after[name] - 1
    check_copy(tmp_path / "state.db")


def test_damaged_copy_is_refused_and_changes_nothing(shop: World, tmp_path: Path) -> None:
    shop.deploy(count=30)
    made = backups.create(shop.ctx, tmp_path / "copy.tar")
    before = shop.dump()
    data = bytearray(made.path.read_bytes())
    at = data.index(b"SQLite format 3")
    data[at + 4096 * 5 : at + 4096 * 8] = b"\xff" * 4096 * 3
    made.path.write_bytes(data)
    with pytest.raises(StoreDamaged, match="is damaged"):
        backups.restore(shop.ctx, made.path)
    assert shop.dump() == before


@pytest.mark.parametrize("what", ["nonsense", "another file", "a path out", "no store"])
def test_file_that_is_no_copy_is_refused(shop: World, tmp_path: Path, what: str) -> None:
    source = tmp_path / "copy.tar"
    if what == "nonsense":
        source.write_text("x" * 2000)
    else:
        name = {"another file": "x", "a path out": "../state.db", "no store": "blobs/abc"}[what]
        (tmp_path / "x").write_text("x")
        with tarfile.open(source, "w") as archive:
            archive.add(tmp_path / "x", name)
    before = shop.dump()
    with pytest.raises((NotValid, StoreError)):
        backups.restore(shop.ctx, source)
    assert {name: rows for name, rows in shop.dump().items() if name != "blobs"} == {
        name: rows for name, rows in before.items() if name != "blobs"
    }


def test_copy_cannot_be_written(shop: World, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such file"):
        backups.create(shop.ctx, tmp_path / "missing" / "copy.tar")


def test_archive_that_is_missing_is_told(shop: World, tmp_path: Path) -> None:
    shop.deploy()
    for name in shop.blobs():
        shop.ctx.controller.blobs.delete(name)
    with pytest.raises(StoreDamaged, match="are missing"):
        backups.create(shop.ctx, tmp_path / "copy.tar")
    assert not (tmp_path / "copy.tar").exists()
