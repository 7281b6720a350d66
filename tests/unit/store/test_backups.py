"""Copies of a controller: complete, sound, and taken back without losing a change."""

from __future__ import annotations

import gzip
import multiprocessing
import shutil
import sqlite3
import tarfile
from contextlib import closing
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from pushjuju.core.errors import Conflict, LeaseLost, NotValid, StoreDamaged, StoreError, StoreTooNew
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.controller import backups, new_controllers
from pushjuju.store.backup import check_copy, copy_store
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
from pushjuju.store.leases import LeasedStore
from pushjuju.store.queue import WorkQueue
from pushjuju.workers import background
from tests.world.clock import FakeClock
from tests.world.controller import TestController

OF_A_RESTORE = ("lease", "clock", *(f"history-{name}" for name in ("number", "line", "since", "restored")))


def plain(world: TestController) -> dict[str, object]:
    """Return what a controller holds, without who works on what."""
    dump = world.dump()
    dump["sequence"] = [row for row in dump["sequence"] if row[0] or row[1] not in OF_A_RESTORE]
    return {name: rows for name, rows in dump.items() if name != "work"}


def test_copy_brings_everything_back(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy(count=2)
    before = plain(runtime)
    made = backups.create(runtime.ctx, tmp_path / "copy.tar")
    assert (made.path, made.blobs) == (tmp_path / "copy.tar", 1)
    assert oct(made.path.stat().st_mode)[-3:] == "600"
    settings.set_config(
        runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "later"})
    )
    runtime.deploy("other")
    for name in runtime.blobs():
        runtime.ctx.controller.blobs.delete(name)
    changed = plain(runtime)
    kept = backups.restore_anywhere(
        runtime.ctx.datadir, made.path, clock=runtime.ctx.clock, name=runtime.ctx.controller.name
    ).before
    assert plain(runtime) == before
    assert {name: len(rows) for name, rows in before.items()} != {  # type: ignore[arg-type]
        name: len(rows)
        for name, rows in changed.items()  # type: ignore[arg-type]
    }
    check_copy(kept)
    with sqlite3.connect(kept) as old:
        assert old.execute("SELECT name FROM application ORDER BY name").fetchall() == [("other",), ("web",)]
    old.close()
    assert sorted(path.name for path in tmp_path.glob(".new-*")) == []
    assert list(runtime.ctx.store.path.parent.glob(".new-*")) == []


def test_who_worked_before_a_restore_does_not_commit_after_it(
    runtime: TestController, tmp_path: Path
) -> None:
    runtime.deploy()
    made = backups.create(runtime.ctx, tmp_path / "copy.tar")
    queue = WorkQueue(runtime.ctx.store, "somebody", lives=lambda owner: True)
    claim = queue.claim(runtime.model, runtime.clock.now())
    assert claim is not None
    backups.restore_anywhere(
        runtime.ctx.datadir, made.path, clock=runtime.ctx.clock, name=runtime.ctx.controller.name
    )
    with pytest.raises(LeaseLost), LeasedStore(runtime.ctx.store, claim).write():
        pass
    again = queue.claim(runtime.model, runtime.clock.now())
    assert again is not None
    assert again.lease > claim.lease


def _write(path: Path, name: str, stop: Event) -> None:
    """Count up until told to stop, and say which number is kept."""
    store = Store.open(path)
    while not stop.is_set():
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


def test_copy_and_restore_under_load_lose_no_committed_change(
    runtime: TestController, tmp_path: Path
) -> None:
    path = runtime.ctx.store.path
    spawn = multiprocessing.get_context("spawn")
    stop = spawn.Event()
    writers = [spawn.Process(target=_write, args=(path, name, stop)) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    said = {name: Path(f"{path}.{name}") for name in ("a", "b")}
    while not all(file.exists() for file in said.values()):
        pass
    for round_ in range(5):
        seen = {name: file.read_text() for name, file in said.items()}
        while any(said[name].read_text() in ("", seen[name]) for name in said):
            pass  # both write on: a busy machine may let one wait
        known = {name: int(file.read_text() or 0) for name, file in said.items()}
        copy_store(path, tmp_path / f"{round_}.db")
        held = _numbers(tmp_path / f"{round_}.db")
        assert all(held[name] > known[name] for name in known), (held, known)
    made = backups.create(runtime.ctx, tmp_path / "copy.tar")
    before = backups.restore_anywhere(
        runtime.ctx.datadir, made.path, clock=runtime.ctx.clock, name=runtime.ctx.controller.name
    ).before
    with tarfile.open(made.path) as archive:
        (tmp_path / "state.db").write_bytes(archive.extractfile("state.db").read())  # type: ignore[union-attr]
    restored, left = _numbers(tmp_path / "state.db"), _numbers(before)
    assert all(left[name] >= restored[name] for name in restored)
    back = _numbers(path)
    while any(number <= max(restored[name], back[name]) for name, number in _numbers(path).items()):
        pass  # each has written to what was restored
    stop.set()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    after = _numbers(path)
    for name in after:  # each number from the restored one on was given, none was lost
        assert after[name] > restored[name]
        assert int(said[name].read_text()) == after[name] - 1
    check_copy(tmp_path / "state.db")


def test_damaged_copy_is_refused_and_changes_nothing(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy(count=30)
    made = backups.create(runtime.ctx, tmp_path / "copy.tar")
    before = runtime.dump()
    plain = gzip.decompress(made.path.read_bytes())
    data = bytearray(plain)
    at = data.index(b"SQLite format 3")
    data[at + 4096 * 5 : at + 4096 * 8] = b"\xff" * 4096 * 3
    made.path.write_bytes(data)
    with pytest.raises(StoreDamaged, match="is damaged"):
        backups.restore_anywhere(
            runtime.ctx.datadir, made.path, clock=runtime.ctx.clock, name=runtime.ctx.controller.name
        )
    assert runtime.dump() == before


@pytest.mark.parametrize("what", ["nonsense", "another file", "a path out", "no store"])
def test_file_that_is_no_copy_is_refused(runtime: TestController, tmp_path: Path, what: str) -> None:
    source = tmp_path / "copy.tar"
    if what == "nonsense":
        source.write_text("x" * 2000)
    else:
        name = {"another file": "x", "a path out": "../state.db", "no store": "blobs/abc"}[what]
        (tmp_path / "x").write_text("x")
        with tarfile.open(source, "w") as archive:
            archive.add(tmp_path / "x", name)
    before = runtime.dump()
    with pytest.raises((NotValid, StoreError)):
        backups.restore_anywhere(
            runtime.ctx.datadir, source, clock=runtime.ctx.clock, name=runtime.ctx.controller.name
        )
    assert {name: rows for name, rows in runtime.dump().items() if name != "blobs"} == {
        name: rows for name, rows in before.items() if name != "blobs"
    }


def test_copy_cannot_be_written(runtime: TestController, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such file"):
        backups.create(runtime.ctx, tmp_path / "missing" / "copy.tar")


def test_archive_that_is_missing_is_told(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy()
    for name in runtime.blobs():
        runtime.ctx.controller.blobs.delete(name)
    with pytest.raises(StoreDamaged, match="are missing"):
        backups.create(runtime.ctx, tmp_path / "copy.tar")
    assert not (tmp_path / "copy.tar").exists()


# --- whatever there is of the controller ------------------------------------------------------------------


def anywhere(runtime: TestController, source: Path, name: str = "") -> backups.Restored:
    """Put a copy back as the command does."""
    return backups.restore_anywhere(runtime.ctx.datadir, source, clock=runtime.clock, name=name)


def reopened(runtime: TestController) -> dict[str, object]:
    """Return what the controller holds now, read anew."""
    store = Store.open(runtime.ctx.controller.store_path)
    try:
        store.check()
        with store.read() as tx:
            return {"units": [row["name"] for row in tx.rows("unit_list", model=runtime.model)]}
    finally:
        store.close()


def test_copy_goes_where_the_store_is_in_use(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy(count=2)
    before, made = plain(runtime), backups.create(runtime.ctx, tmp_path / "copy.tar.gz", "some notes")
    assert made.meta["notes"] == "some notes"
    runtime.deploy("other")
    done = anywhere(runtime, made.path)
    assert (done.controller, done.was) == ("home", "in use")
    assert plain(runtime) == before
    assert done.before is not None
    check_copy(done.before)


@pytest.mark.parametrize("how", ["overwritten", "cut", "empty"])
def test_damaged_store_is_kept_and_replaced(runtime: TestController, tmp_path: Path, how: str) -> None:
    runtime.deploy(count=2)
    made = backups.create(runtime.ctx, tmp_path / "copy.tar.gz")
    runtime.ctx.store.close()
    path = runtime.ctx.controller.store_path
    bad = {
        "overwritten": b"nonsense" * 4096,
        "cut": path.read_bytes()[:20000],
        "empty": b"SQLite format 3\0",
    }[how]
    path.write_bytes(bad)
    done = anywhere(runtime, made.path)
    assert done.was == "damaged"
    assert done.before is not None
    assert done.before.read_bytes() == bad
    assert reopened(runtime) == {"units": ["web/0", "web/1"]}
    with closing(sqlite3.connect(path)) as connection:
        lease = connection.execute("SELECT next FROM sequence WHERE name = 'lease'").fetchone()
    assert lease[0] > 1


def test_controller_that_is_gone_comes_back(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy(count=1)
    with runtime.ctx.store.write() as tx:
        sealed = runtime.ctx.controller.keyring.seal(tx, "secret", "here", runtime.clock.now())
    (runtime.ctx.controller.root / "known_hosts" / "m").write_text("host key\n")
    made = backups.create(runtime.ctx, tmp_path / "copy.tar.gz")
    runtime.ctx.store.close()
    shutil.rmtree(runtime.ctx.datadir.root)
    done = anywhere(runtime, made.path)
    assert (done.controller, done.was, done.before) == ("home", "absent", None)
    assert runtime.ctx.datadir.controllers() == ["home"]
    assert reopened(runtime) == {"units": ["web/0"]}
    found = runtime.ctx.datadir.controller("home")
    assert found.keyring.open(sealed, "here") == "secret"
    assert (found.root / "known_hosts" / "m").read_text() == "host key\n"
    assert [oct(path.stat().st_mode)[-3:] for path in (found.private_key, found.store_path)] == ["600"] * 2
    assert sorted(path.name for path in (runtime.ctx.datadir.root / "controllers").iterdir()) == ["home"]


def test_keys_made_since_the_copy_stay(runtime: TestController, tmp_path: Path) -> None:
    with runtime.ctx.store.write() as tx:
        first = runtime.ctx.controller.keyring.seal(tx, "one", "here", runtime.clock.now())
    made = backups.create(runtime.ctx, tmp_path / "copy.tar.gz")
    with runtime.ctx.store.write() as tx:
        runtime.ctx.controller.keyring.renew(tx, runtime.clock.now())
        second = runtime.ctx.controller.keyring.seal(tx, "two", "here", runtime.clock.now())
    runtime.ctx.controller.keyring.forget([second.key])
    anywhere(runtime, made.path)
    assert [runtime.ctx.controller.keyring.open(item, "here") for item in (first, second)] == ["one", "two"]


def test_copy_of_another_controller_is_refused(runtime: TestController, tmp_path: Path) -> None:
    made = backups.create(runtime.ctx, tmp_path / "copy.tar.gz")
    runtime.ctx.controller.set("uuid", "another")
    before = runtime.dump()
    with pytest.raises(NotValid, match="is a copy of another controller than home"):
        anywhere(runtime, made.path)
    assert runtime.dump() == before
    assert anywhere(runtime, made.path, "second").was == "absent"


def test_copy_of_a_newer_pushjuju_is_refused(runtime: TestController, tmp_path: Path) -> None:
    copy = tmp_path / "state.db"
    copy_store(runtime.ctx.store.path, copy)
    with sqlite3.connect(copy) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    with tarfile.open(tmp_path / "copy.tar", "w") as archive:
        archive.add(copy, "state.db")
    before = runtime.dump()
    with pytest.raises(StoreTooNew):
        anywhere(runtime, tmp_path / "copy.tar", "home")
    assert runtime.dump() == before


def test_archive_cut_short_is_refused(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy()
    made = backups.create(runtime.ctx, tmp_path / "copy.tar.gz")
    content = made.path.read_bytes()
    before = runtime.dump()
    for size in (10, len(content) // 3, len(content) // 2):
        made.path.write_bytes(content[:size])
        with pytest.raises((NotValid, StoreDamaged)):
            anywhere(runtime, made.path)
    assert runtime.dump() == before


def test_background_process_holds_a_damaged_store(runtime: TestController, tmp_path: Path) -> None:
    made = backups.create(runtime.ctx, tmp_path / "copy.tar.gz")
    runtime.ctx.store.close()
    path = runtime.ctx.controller.store_path
    path.write_bytes(b"x" * 9000)
    with background.only_one(runtime.ctx.controller), pytest.raises(Conflict, match="background process"):
        anywhere(runtime, made.path)
    assert path.read_bytes() == b"x" * 9000
    assert anywhere(runtime, made.path).was == "damaged"


def _restore_and_die(root: str, source: str, at: int) -> None:
    """Restore, and be killed at one of the calls that make something of it lasting."""
    import os
    import signal

    left = [at]

    def hook(event: str, _args: object) -> None:
        if event in ("os.rename", "sqlite3.connect", "open", "os.mkdir"):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    datadir = DataDir(Path(root))
    clock = FakeClock()
    import sys

    sys.addaudithook(hook)
    backups.restore_anywhere(datadir, Path(source), clock=clock)
    os._exit(0)


@pytest.mark.parametrize("was", ["in use", "damaged", "absent"])
def test_killed_at_any_point_it_can_be_done_again(runtime: TestController, tmp_path: Path, was: str) -> None:
    runtime.deploy(count=2)
    made = backups.create(runtime.ctx, tmp_path / "copy.tar.gz")
    runtime.deploy("other")
    runtime.ctx.store.close()
    path = runtime.ctx.controller.store_path
    if was == "damaged":
        path.write_bytes(b"nonsense" * 4096)
    elif was == "absent":
        path.unlink()
    spawn = multiprocessing.get_context("spawn")
    ended, at = 1, 1
    while ended != 0:
        words = (str(runtime.ctx.datadir.root), str(made.path), at)
        process = spawn.Process(target=_restore_and_die, args=words)
        process.start()
        process.join()
        ended, at = process.exitcode or 0, at + 11
        if was == "in use":  # never anything but the old or the new one
            assert reopened(runtime)["units"] in (["other/0", "web/0", "web/1"], ["web/0", "web/1"])
    anywhere(runtime, made.path)
    assert reopened(runtime) == {"units": ["web/0", "web/1"]}
    left = [item.name for item in path.parent.parent.iterdir() if item.name.startswith(".restore-")]
    assert left == []


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"hi", "is not a backup of a controller"),
        (b"", "is not a backup of a controller"),
    ],
)
def test_a_file_that_cannot_be_a_copy_is_refused_before_anybody_is_asked(
    tmp_path: Path, content: bytes, text: str
) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(NotValid, match=text):
        backups.check_archive(tmp_path / "a.txt")
    with tarfile.open(tmp_path / "other.tar", "w") as archive:
        archive.add(tmp_path / "a.txt", "a.txt")
    with pytest.raises(NotValid, match=r"is not a backup of a controller: it contains a\.txt"):
        backups.check_archive(tmp_path / "other.tar")


def test_a_bootstrap_does_not_take_over_the_store_of_a_controller_that_lost_its_settings(
    runtime: TestController, tmp_path: Path
) -> None:
    made = backups.create(runtime.ctx, tmp_path / "copy.tar")
    controller, before = runtime.ctx.controller, runtime.dump()
    (controller.root / "controller.toml").unlink()
    with pytest.raises(StoreDamaged, match="has a store, but no"):
        new_controllers.bootstrap(runtime.ctx.datadir, "local", controller.name, now=runtime.clock.now())
    assert runtime.dump() == before
    backups.restore_anywhere(runtime.ctx.datadir, made.path, clock=runtime.clock)
    assert controller.exists()
