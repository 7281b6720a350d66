"""Readers that see the store as it was a moment ago, beside a process that writes, and lost connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pushjuju.core.errors import StoreAway
from pushjuju.store.db import Store
from pushjuju.store.tx import Tx
from tests.postgres.fixtures import cut
from tests.unit.store.conftest import ENGINES, MODEL, place_of

pytest.importorskip("psycopg", reason="psycopg is not installed")

KEYS = ("first", "second", "third", "fourth")


def questions(keys: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
    for key in keys:
        yield "model_config_get", {"model": MODEL.uuid, "key": key}


class UndoneError(Exception):
    """The reason for a rollback."""


class Pair:
    """A process that caches, and another one that writes as well.

    Attributes:
        true: What is in the store.
    """

    def __init__(self, place: Path | str, chance: Random) -> None:
        self.place, self.chance = place, chance
        self.mine, self.other = Store.open(place), Store.open(place)
        self.mine.remember()
        self.other.remember()
        self.true = dict.fromkeys(KEYS, "0")

    def some(self) -> list[str]:
        return self.chance.sample(KEYS, self.chance.randint(1, len(KEYS)))

    def ask_ahead(self, tx: Tx) -> None:
        tx.ahead(questions, tuple(self.some()), changes=self.chance.random() < 0.5)

    def look(self, tx: Tx, keys: list[str]) -> dict[str, str]:
        if self.chance.random() < 0.5:
            self.ask_ahead(tx)
        return {key: value(tx, key) for key in keys}

    def change(self, store: Store) -> None:
        """Write, look at what was written and at other rows, and perhaps undo all of it."""
        new = dict.fromkeys(self.some(), str(self.chance.random()))
        with suppress(UndoneError), store.write(MODEL.uuid) as tx:
            assert self.look(tx, self.some()).items() <= self.true.items()
            for key, text in new.items():
                tx.run("model_config_set", model=MODEL.uuid, key=key, value=text)
            if self.chance.random() < 0.3:
                self.ask_ahead(tx)
            if self.chance.random() < 0.2:
                raise UndoneError
            self.true |= new

    def read_old(self) -> None:
        """Read as workers do, and derive something from it."""
        keys = self.some()
        with suppress(UndoneError), self.mine.read(MODEL.uuid, recent=True) as tx:
            tx.watch()
            found = self.look(tx, keys)
            tx.conclude("it", found)
            if self.chance.random() < 0.1:
                raise UndoneError

    def read_now(self) -> None:
        concluded = self.mine.concluded("it")
        assert concluded is None or concluded.items() <= self.true.items()
        with self.mine.read() as tx:
            assert self.look(tx, self.some()).items() <= self.true.items()

    def step(self) -> None:
        (step,) = self.chance.choices(
            [
                lambda: self.change(self.mine),
                lambda: self.change(self.other),
                self.read_old,
                self.read_now,
                lambda: cut(str(self.place)),
            ],
            [4, 6, 12, 6, 0 if isinstance(self.place, Path) else 0.3],
        )
        step()


def value(tx: Tx, key: str) -> str:
    return str(tx.scalar("model_config_get", model=MODEL.uuid, key=key))


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Path | str:
    return place_of(request)


@pytest.mark.parametrize("seed", range(3))
def test_what_was_so_a_moment_ago_is_never_taken_for_what_is_so_now(
    store: Store, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    for engine in ("postgres.engine", "sqlite"):
        monkeypatch.setattr(f"pushjuju.store.{engine}._RECENT_S", 100.0)
    with store.write() as tx:
        for key in KEYS:
            tx.run("model_config_set", model=MODEL.uuid, key=key, value="0")
    pair = Pair(store.place, Random(seed))
    with closing(pair.mine), closing(pair.other):
        for _ in range(300):
            with suppress(StoreAway):  # of a transaction that found the connection lost
                pair.step()


def test_a_reader_of_a_file_whom_cached_answers_serve_begins_no_transaction(path: Path) -> None:
    with closing(Store.open(path, create=True)) as made:
        made.remember()
        with made.write() as tx:
            tx.insert("model", MODEL)
        for _ in range(2):
            with made.read() as tx:
                assert tx.scalar("model_config_get", model=MODEL.uuid, key="key") is None
        with made.read(recent=True) as tx:
            assert tx.scalar("model_config_get", model=MODEL.uuid, key="key") is None
            assert not made.engine.is_open
            assert tx.scalar("model_config_get", model=MODEL.uuid, key="other") is None
            assert made.engine.is_open
        assert not made.engine.is_open
