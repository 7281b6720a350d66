"""A store moves from a file into PostgreSQL and back, while others write, and is killed at each step."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from pushjuju.core.errors import Conflict, NotValid, StoreError, StoreGone
from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.services.entities.machine.machines import new_machine
from pushjuju.services.entities.model import models
from pushjuju.services.requests.controller import moving
from pushjuju.store import backup, databases
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.db import Store
from pushjuju.store.files.blobs import Blobs
from tests.waiting import comes
from tests.world.charms import UBUNTU, Charms
from tests.world.controller import TestController

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")


class KilledError(BaseException):
    """The process ends here, and handles no error."""


@pytest.fixture
def folder(tmp_path: Path, empty_controller: Path, packs: Charms) -> DataDir:
    """A data directory with the controller `home`, whose model `shop` has a machine."""
    world = TestController.copy(empty_controller, tmp_path, packs)
    world.write(lambda tx: new_machine(tx, base=UBUNTU, constraints={}))
    world.ctx.close()
    return world.ctx.datadir


@pytest.fixture
def move(folder: DataDir) -> Callable[[str], moving.Moved]:
    """A function that moves the store of the controller to an address, each time a second later."""
    times = (datetime(2025, 3, 1, 10, 0, second, tzinfo=UTC) for second in range(60))
    return lambda to: moving.move(folder, "home", to, now=next(times))


def rows(folder: DataDir) -> dict[str, Any]:
    """Return the rows of the store, wherever the store is."""
    world = TestController.at(folder.root.parent, Charms(folder.root))
    with closing(world.ctx):
        found = world.dump()
    del found["sequence"]  # `load` counts there
    return {name: each for name, each in found.items() if name != "sqlite_sequence"}


def drawn(ctx: Context) -> int:
    """Return the next number that `LOAD` would draw."""
    model = models.resolve(ctx, "shop").uuid
    with ctx.store.read() as tx:
        return int(tx.scalar("sequence_get", scope=model, name="test"))


def test_a_store_moves_into_a_database_and_back(
    folder: DataDir, move: Callable[[str], moving.Moved], postgres_url: str
) -> None:
    before, home = rows(folder), folder.controller("home")
    there = move(postgres_url)
    assert (home.store_place, home.settings()["store"]) == (postgres_url, postgres_url)
    assert rows(folder) == before
    kept = Path(there.kept)
    assert (kept.name[:15], kept.stat().st_mode & 0o777) == ("state.db.moved-", 0o400)
    back = move("file")
    assert back.place == str(home.store_place) == str(home.store_path)
    assert "store" not in home.settings()
    assert rows(folder) == before
    move(postgres_url)  # the old schema does not stand in the way
    assert rows(folder) == before


def test_archives_move_with_the_store(
    folder: DataDir, packs: Charms, move: Callable[[str], moving.Moved], postgres_url: str
) -> None:
    """They are in the database then, and the folder of this host is a cache; and back."""
    world = TestController.at(folder.root.parent, packs)
    world.deploy("web")
    with closing(world.ctx), world.ctx.store.read() as tx:
        names = backup.blob_names(tx)
    home, whole = folder.controller("home"), {}
    for name in names:
        whole[name] = home.blobs.path(name).read_bytes()
    assert whole
    for to in (postgres_url, "file"):
        move(to)
        if to != "file":
            shutil.rmtree(home.root / "blobs")
            assert home.blobs.names() == names
    assert {name: Blobs(home.root / "blobs").path(name).read_bytes() for name in names} == whole


def test_who_has_the_store_open_is_told(
    folder: DataDir, move: Callable[[str], moving.Moved], postgres_url: str
) -> None:
    """Nothing is lost: what would be written to the old store is refused."""
    home = folder.controller("home")
    for to in (postgres_url, "file"):
        open_before = [Store.open(home.store_place) for _ in range(2)]
        open_before[0].remember()
        for store in open_before:
            with store.write() as tx:
                tx.next("", "test")
        move(to)
        for store in open_before:
            with pytest.raises(StoreGone), store.write() as tx:
                tx.next("", "test")
            store.close()


def killed(step: str, move: Callable[[str], moving.Moved], to: str) -> None:
    """Move, in a process that ends just before a step, or just after a step that ends with `!`."""
    owner, _, name = step.rstrip("!").rpartition(".")
    owners: dict[str, Any] = {"moves": databases.moves(), "backup": backup, "dir": ControllerDir}
    owner = {**owners, "moving": moving}[owner]
    real = getattr(owner, name)

    def die(*args: Any, **named: Any) -> None:
        if step.endswith("!"):
            real(*args, **named)
        raise KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, die)
        with pytest.raises(KilledError):
            move(to)


FORWARD = ["moves.arrive", "backup.mark_moved", "moves.settle", "dir.set", "backup.set_aside"]
BACK = ["backup.copy_store", "moves.leave", "backup.move_to_file!", "moving.sync_dir", "dir.set"]


@pytest.mark.parametrize("step", FORWARD)
def test_a_move_into_a_database_goes_on_after_a_kill(
    folder: DataDir, move: Callable[[str], moving.Moved], postgres_url: str, step: str
) -> None:
    before = rows(folder)
    killed(step, move, postgres_url)
    if FORWARD.index(step) < FORWARD.index("moves.settle"):
        assert rows(folder) == before  # the controller goes on with its old store
    else:
        with pytest.raises(StoreGone) as raised:
            open_context(folder, "home")
        assert f"controller move --to '{postgres_url}'" in raised.value.hint
    move(postgres_url)
    assert rows(folder) == before
    assert folder.controller("home").store_place == postgres_url


@pytest.mark.parametrize("step", BACK)
def test_a_move_into_a_file_goes_on_after_a_kill(
    folder: DataDir, move: Callable[[str], moving.Moved], postgres_url: str, step: str
) -> None:
    before = rows(folder)
    move(postgres_url)
    killed(step, move, "file")
    if step == "backup.move_to_file!":
        with pytest.raises(StoreGone) as raised:
            open_context(folder, "home")
        assert raised.value.hint.startswith("pushjuju controller move --to file")
    else:
        assert rows(folder) == before
    move("file")
    assert rows(folder) == before
    assert not list(folder.controller("home").root.glob("state.db.arriving-*"))


def schemas(url: str) -> list[tuple[str]]:
    """Return the schemas of a database that are of pushjuju."""
    with psycopg.connect(url) as link:
        return link.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pushjuju%'").fetchall()


def test_who_asks_whether_a_store_has_left_waits_for_a_commit_whose_answer_was_lost(
    folder: DataDir, move: Callable[[str], moving.Moved], postgres_url: str
) -> None:
    move(postgres_url)
    moves = databases.moves()
    with closing(Store.open(postgres_url)) as store, ThreadPoolExecutor() as pool:
        with store.write():
            moves.leave(store._connection, "now")
            asked = pool.submit(moves.has_left, postgres_url, "now")
            with psycopg.connect(postgres_url) as link:
                comes(lambda: link.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
        assert asked.result(60)


LOAD = """
import sys
from pushjuju.core.errors import StoreBusy, StoreGone
from pushjuju.store.db import Store
store, done = Store.open(sys.argv[1] if "://" in sys.argv[1] else __import__("pathlib").Path(sys.argv[1])), 0
if sys.argv[3] == "caches":
    store.remember()
print("begun", flush=True)
try:
    while True:
        with store.write(sys.argv[2]) as tx:
            tx.next(sys.argv[2], "test")
        done += 1
except StoreGone:
    print(done, flush=True)
"""


@pytest.mark.parametrize("caches", ["caches", "caches nothing"])
def test_no_write_is_lost_while_the_store_moves(
    folder: DataDir, move: Callable[[str], moving.Moved], postgres_url: str, caches: str
) -> None:
    with closing(open_context(folder, "home")) as ctx:
        model, total = models.resolve(ctx, "shop").uuid, 0
    for to in (postgres_url, "file"):
        place = str(folder.controller("home").store_place)
        words = [sys.executable, "-c", LOAD, place, model, caches]
        running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
        move(to)
        told = [process.communicate(timeout=60)[0] for process in running]
        assert [process.returncode for process in running] == [0, 0]
        total += sum(map(int, told))
        with closing(open_context(folder, "home")) as ctx:
            assert drawn(ctx) == total


def test_a_database_with_a_store_is_left_as_it_is(
    folder: DataDir, move: Callable[[str], moving.Moved], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.open(postgres_url, create=True).close()
    before, opened = rows(folder), []
    with monkeypatch.context() as patch:
        patch.setattr(Store, "close", lambda self: opened.append(self.place) or self.engine.close())
        with pytest.raises(Conflict, match="has the store of a controller already") as raised:
            move(postgres_url)
    assert opened[-1:] == [folder.controller("home").store_path]  # the file is closed, too
    assert raised.value.hint.startswith("createdb")
    assert rows(folder) == before
    assert folder.controller("home").store_place == folder.controller("home").store_path


def test_a_copy_that_differs_is_not_taken(
    folder: DataDir, move: Callable[[str], moving.Moved], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, transfer = rows(folder), databases._module("transfer")
    write = transfer._write

    def forgetful(link: Any, file: Any, table: str, columns: Any) -> None:
        write(link, file, table, columns)
        if table == "machine":
            link.execute("DELETE FROM machine")

    with monkeypatch.context() as patch:
        patch.setattr(transfer, "_write", forgetful)
        with pytest.raises(StoreError, match="differs from the store in table machine: 1 and 0 rows"):
            move(postgres_url)
    assert rows(folder) == before
    assert schemas(postgres_url) == []  # the database is left as it was
    move(postgres_url)
    assert rows(folder) == before
    fail = mock.Mock(side_effect=StoreError("no"))
    with monkeypatch.context() as patch:
        patch.setattr(databases.moves(), "leave", fail)
        with pytest.raises(StoreError):
            move("file")
    assert not list(folder.controller("home").root.glob("state.db.arriving-*"))
    assert rows(folder) == before


def test_where_a_store_cannot_move(
    folder: DataDir, move: Callable[[str], moving.Moved], postgres_url: str
) -> None:
    with pytest.raises(Conflict, match="is in a file already"):
        move("file")
    with pytest.raises(NotValid, match="is in the directory of its controller"):
        move("file:///elsewhere")
    with pytest.raises(NotValid, match="needs TLS"):
        move("postgresql://db.example.com/pushjuju")
    killed("moves.settle", move, postgres_url)
    with pytest.raises(Conflict, match="is on its way to") as raised:
        move(postgres_url + "&application_name=other")
    assert f"controller move --to '{postgres_url}'" in raised.value.hint
    move(postgres_url)
    with pytest.raises(Conflict, match="is in a database already"):
        move(postgres_url)
