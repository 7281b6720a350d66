"""Kills the server of a store at random moments between a commit and its flush."""

from __future__ import annotations

import os
import signal
from importlib import import_module
from pathlib import Path
from random import Random
from types import MethodType
from typing import Any

from pushjuju.workers.events import Event
from tests.waiting import comes

APART = 4  # moments at most from one strike to the next


class Strikes:
    """Kills the server, and stops or kills this process, where commits are not on the server's disk yet.

    The moments are those after each commit, and those before each flush, from the first operation on. A
    process that was stopped goes on after SIGCONT.

    Args:
        engine: The engine of the process's store.
        folder: The folder of the server's data and its socket.
        word: `SEED:MOST`, the seed of what is drawn, and how often at most the server is killed.
    """

    def __init__(self, engine: Any, folder: Path, word: str) -> None:
        seed, _, most = word.partition(":")
        self._chance = Random(int(seed))
        self._left = int(most)
        self._begun = False
        self._wait = self._chance.randint(1, APART)
        self._folder = folder
        self._commit, self._flush = engine.commit, engine.flush
        engine.commit = MethodType(self._commits, engine)
        engine.flush = MethodType(self._flushes, engine)

    def tell(self, event: Event) -> None:
        """Show what happens, and begin with the first operation on a machine."""
        print(event.entity, event.text, flush=True)
        self._begun |= event.text.endswith(": running")

    def _commits(self, engine: Any) -> None:
        self._commit()
        self._strike_at_random(engine)

    def _flushes(self, engine: Any) -> None:
        if engine.is_open:
            self._commit()  # as after some milliseconds
        self._strike_at_random(engine)
        self._flush()

    def _strike_at_random(self, engine: Any) -> None:
        if engine.is_durable or not (self._begun and self._left) or not (size := self._unflushed()):
            return
        self._wait -= 1
        if self._wait:
            return
        self._left, self._wait = self._left - 1, self._chance.randint(1, APART)
        print(f"strike: {size} bytes are not on the disk", flush=True)
        kill(self._folder)
        os.kill(os.getpid(), self._chance.choice((signal.SIGKILL, signal.SIGSTOP)))

    def _unflushed(self) -> int:
        psycopg = import_module("psycopg")  # an extra
        with psycopg.connect(host=str(self._folder), user="pushjuju", dbname="postgres") as link:
            asked = "SELECT pg_current_wal_insert_lsn() - pg_current_wal_flush_lsn()"
            return int(link.execute(asked).fetchone()[0])


def kill(folder: Path) -> None:
    """End a server at once, without a word to its disk."""
    mark = folder / "data" / "postmaster.pid"
    os.kill(int(mark.read_text().split()[0]), signal.SIGQUIT)
    comes(lambda: not mark.exists(), f"{mark} exists")
