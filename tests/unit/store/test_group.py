"""One commit for several writers: who waits for it, what fails alone, what fails together."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreError
from pushjuju.store.db import Store
from pushjuju.store.leases import DeferredStore
from tests.waiting import until


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store of its own file."""
    made = Store.open(tmp_path / "state.db", create=True)
    yield made
    made.close()


def numbers(path: Path) -> dict[str, int]:
    """Return the sequences as another process sees them."""
    connection = sqlite3.connect(path)
    try:
        return dict(connection.execute("SELECT name, next FROM sequence").fetchall())
    finally:
        connection.close()


def count(store: Store, name: str) -> None:
    with store.write() as tx:
        tx.next("", name)


async def test_what_is_written_is_there_for_others_once_it_is_durable(store: Store) -> None:
    deferred = DeferredStore(store)
    count(deferred, "a")
    assert "a" not in numbers(store.path)
    with deferred.read() as tx:
        assert tx.scalar("sequence_get", scope="", name="a") is not None, "the writer sees it at once"
    await deferred.durable()
    assert "a" in numbers(store.path)


async def test_writers_of_one_round_share_a_commit(store: Store) -> None:
    commits: list[str] = []
    store._connection.set_trace_callback(lambda text: commits.append(text) if text == "COMMIT" else None)

    async def one(name: str) -> None:
        deferred = DeferredStore(store)
        count(deferred, name)
        await deferred.durable()

    await asyncio.gather(*(one(name) for name in "abcdefgh"))
    assert len(commits) == 1
    assert set(numbers(store.path)) == set("abcdefgh")


async def test_nothing_waits_for_long(store: Store) -> None:
    count(DeferredStore(store), "a")
    await until(lambda: "a" in numbers(store.path))


@pytest.mark.parametrize("behind", [True, False])
async def test_ctrl_c_at_the_moment_of_a_commit_loses_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, behind: bool
) -> None:
    commit = store.engine.commit

    def interrupted() -> None:
        if behind:
            commit()
        raise KeyboardInterrupt

    count(DeferredStore(store), "a")
    with monkeypatch.context() as patch:
        patch.setattr(store.engine, "commit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store._group.flush()  # type: ignore[union-attr]
    store.close()
    assert "a" in numbers(store.path)


async def test_every_writer_hears_of_a_commit_that_failed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers = [DeferredStore(store) for _ in range(3)]
    for number, writer in enumerate(writers):
        count(writer, f"n{number}")
    store._connection.execute("PRAGMA defer_foreign_keys = ON")
    with writers[0].write() as tx:  # a reference to nothing: the commit refuses it
        tx.run("charm_state_set", model="no", unit="no/0", key="k", value="v")
    waiting = [asyncio.create_task(writer.durable()) for writer in writers[:2]]
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(error) for error in found] == [StoreError, StoreError]
    with pytest.raises(StoreError, match="could not be committed"):
        await writers[2].durable()
    assert numbers(store.path) == {}
    count(store, "later")
    assert set(numbers(store.path)) == {"later"}
