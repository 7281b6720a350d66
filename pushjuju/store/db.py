"""The store of a controller: open, read, write.

Every statement has a name and is in `sql/*.sql`; callers pass names and parameters, never SQL. Writing
transactions come one after the other; a read sees the store at one moment. An engine (`store.engine`) knows
the database.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import StoreError
from pushjuju.store import cache, databases, effects, scope
from pushjuju.store.processes import process_owner
from pushjuju.store.sqlite import SqliteEngine
from pushjuju.store.statements import queries
from pushjuju.store.tx import Tx

if TYPE_CHECKING:
    from pushjuju.store.engine import Engine, Figure, Group


class Store:
    """The store of a controller, opened once per process."""

    home = ""  # the model that a worker with this store works, or "" when the store is not of one worker

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.place = engine.place  # the file, or the address of a database
        self.path = engine.path  # what names the store in errors
        self._connection: Any = engine.connection
        self._depth = 0
        self._group: Group | None = None
        self._memo: cache.Memo | None = None

    @classmethod
    def open(cls, place: Path | str, *, create: bool = False, waits: bool = False) -> Store:
        """Open the store in a file or in a database, and bring its schema up to date.

        Args:
            place: The file of the store, or the address of a database: `postgresql://...`.
            create: Make the store if it does not exist, or continue an interrupted creation. When False, a
                file that is empty or has no schema counts as damaged.
            waits: True to wait 30 seconds for a server that does not answer, and to tell the user: now, and
                at the beginning of each transaction outside of an event loop.

        Raises:
            StoreDamaged: There is no store, or its file is truncated; only `check` reads the whole file.
            StoreError: The file cannot be read, or the server does not answer.
        """
        if isinstance(place, str):
            return cls(databases.opened(place, create=create, waits=waits))
        return cls(SqliteEngine.open(place, create=create))

    def check(self) -> None:
        """Check every page and reference, which takes as long as reading the file.

        Raises:
            StoreDamaged: The store is damaged; the detail is the first problem.
            StoreError: The disk is full, so nothing can be written.
        """
        self.engine.check()

    def close(self) -> None:
        """Close the store."""
        if self._group is not None:
            self._group.flush()
        if self._memo is not None:
            self._memo.close()
        self.engine.close()

    def remember(self) -> None:
        """Cache rows until they change, in a process that reads the same rows again and again."""
        if self._memo is None:
            self._memo = (self.engine.remember() or cache.Memo)(self.engine)

    def appear(self) -> None:
        """Let other processes see from now on whether this process lives, for the keys that it owns."""
        self.engine.appear(process_owner())

    @property
    def line(self) -> str:
        """The history of writes that the database is on; see `Engine`."""
        return self.engine.line

    def lives(self, owner: str) -> bool | None:
        """Return whether a process lives that owns keys; None when that is not known."""
        return self.engine.lives(owner)

    def figures(self) -> Iterator[Figure]:
        """Yield what this process has done with the store since it began, as values of metrics."""
        yield from self.engine.figures()
        if self._memo is None:
            return
        counts = self._memo.counts
        yield "cache_reads_total", ("hit",), counts["asked"] - counts["ran"], ""
        yield "cache_reads_total", ("miss",), counts["ran"], ""
        yield "cache_changes_total", (), counts["heard"], ""
        for why in ("others", "rollback", "wrong"):
            yield "cache_dropped_total", (why,), counts[why], ""

    def version(self) -> tuple[int, int]:
        """Return a value that every write of any process changes; reading it is cheap and reads no row."""
        return self.engine.version()

    def require_file(self) -> None:
        """Check that the file is still the file that was opened, not deleted or replaced."""
        self.engine.require()

    def concluded(self, key: Hashable, *, recent: bool = False) -> Any:
        """Return the value that `Tx.conclude` cached under a key while the value is valid, else None.

        Args:
            recent: The same as for `read`.
        """
        found = self._memo.concluded(key) if self._memo is not None else None
        if self._memo is None or found is None or self.engine.is_open:
            return found
        self._memo.begin(self.engine.others(recent=recent))
        return self._memo.concluded(key)

    def throw_away(self) -> None:
        """Write without waiting for the disk, to a copy that is deleted at the end of the process."""
        self.engine.throw_away()

    def forget(self, held: effects.Held | None = None) -> None:
        """Drop all cached rows, after a rollback.

        Args:
            held: The statements that are held back from now on.
        """
        if self._memo is not None:
            self._memo.clear()
            self._memo.hold_again(held or {})

    def held(self) -> effects.Held:
        """Return the statements that `Tx.change` has held back."""
        return self._memo.held() if self._memo is not None else {}

    def release(self) -> None:
        """Run the statements that `Tx.change` has held back."""
        if self._memo is not None:
            self._memo.release()

    def read(self, model: str = "", *, recent: bool = False) -> AbstractContextManager[Tx]:
        """Open a transaction that reads the store as it is at one moment.

        Args:
            model: The only model that is read, with the models that offers connect with it; "" for all.
            recent: True when cached answers may be as old as the last transaction of this process, though not
                older than an engine allows.
        """
        if self._group is not None and not self._depth and self._group.joins(model):
            return self._group.look()
        return self._transaction(reads=True, recent=recent)

    def write(self, model: str = "", *, later: bool = False) -> AbstractContextManager[Tx]:
        """Open a writing transaction, which is committed at the end, or rolled back after an exception.

        Args:
            model: The only model that the transaction reads and writes, with the models that offers connect
                with it; "" for the whole store.
            later: True when the write may become durable with the next shared commit (`store.commits`).
        """
        later = later and _loop_runs()
        group = self.group() if later else self._group
        if group is None or self._depth or not (later or group.joins(model)):
            return self._transaction(reads=False, model=model)
        return group.part(model) if later else self._last_part(group, model)

    @contextmanager
    def _last_part(self, group: Group, model: str) -> Iterator[Tx]:
        with group.part(model) as tx:
            yield tx
        group.flush()

    def group(self) -> Group:
        """Return what lets writers wait together until their writes are durable."""
        from pushjuju.store.commits import CommitGroup  # imports asyncio, which only writers need

        if self._group is None:
            self._group = self.engine.group(self) or CommitGroup(self.engine, self)
        return self._group

    def begin(self, model: str = "", *, later: bool = False) -> None:
        """Begin a writing transaction that does not end with a block; the arguments are those of `write`."""
        self._begin(reads=False, model=model, later=later)

    def transaction(self, model: str, *, later: bool) -> AbstractContextManager[Tx]:
        """Return a writing transaction of its own; the arguments are those of `write`."""
        return self._transaction(reads=False, model=model, later=later)

    def _begin(self, *, reads: bool, model: str = "", later: bool = False, recent: bool = False) -> None:
        others = self.engine.begin(reads=reads, model=model, later=later, recent=recent)
        if self._memo is not None:
            self._memo.begin(others)

    def within(self, model: str = "") -> AbstractContextManager[Tx]:
        """Return the open transaction, for reading and writing.

        Args:
            model: The same as for `write`.
        """
        return _Within(self, model)

    def enter(self, model: str) -> Tx:
        """Enter the open transaction, until `leave`."""
        if self._depth:
            raise StoreError("a transaction is open already")
        tx = self._tx(model)
        self._depth = 1
        return tx

    def _tx(self, model: str) -> Tx:
        limits = model and self.engine.locks_models
        of = scope.Scope(model, lambda: self._connected(model)) if limits else None
        return Tx(self._connection, self._memo, of)

    def _connected(self, model: str) -> list[str]:
        """Return the models that offers connect with a model; its lock keeps the answer from growing."""
        found = self._connection.execute(queries()["models_connected"], {"model": model})
        return [row["model"] for row in found]

    def leave(self) -> None:
        """Leave the open transaction."""
        self._depth = 0
        if self._memo is not None:
            self._memo.trail = None

    @contextmanager
    def _transaction(
        self, *, reads: bool, model: str = "", later: bool = False, recent: bool = False
    ) -> Iterator[Tx]:
        if self._depth:
            raise StoreError("a transaction is open already")
        self._begin(reads=reads, model=model, later=later, recent=recent)
        self._depth = 1
        try:
            if reads and self._memo is not None and self._memo.check is not None:
                self._memo.check()
            yield self._tx(model)
            self.release()
            self.engine.commit()
        except BaseException as error:
            self.engine.rollback()
            self.forget()
            if (told := self.engine.explain(error)) is not None:
                raise told from error
            raise
        finally:
            self.leave()


class _Within:
    """Enters the open transaction of a store for a block; a generator would take twice the time."""

    __slots__ = ("_model", "_store")

    def __init__(self, store: Store, model: str) -> None:
        self._store = store
        self._model = model

    def __enter__(self) -> Tx:
        return self._store.enter(self._model)

    def __exit__(self, *_: object) -> None:
        self._store.leave()


def _loop_runs() -> bool:
    """Return True when an event loop runs, which can commit later."""
    asyncio = sys.modules.get("asyncio")  # no loop runs while asyncio is not imported
    return asyncio is not None and asyncio._get_running_loop() is not None
