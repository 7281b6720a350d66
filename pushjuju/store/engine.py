"""The interface between a store and its database: one connection with transactions and rows.

`Store` and `Tx` know named statements, parameters and caches, and an engine knows the database. The module
`sqlite` has the engine of a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pushjuju.core.clock import Clock
    from pushjuju.core.errors import StoreError
    from pushjuju.store.effects import Held
    from pushjuju.store.journal import Journal


class Row(Protocol):
    """A row of an answer; its columns have numbers and names."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...

    def keys(self) -> list[str]:
        """Return the names of the columns."""


class Rows(Protocol):
    """The answer to a statement."""

    @property
    def description(self) -> Any:
        """A tuple for each column, whose first item is the name."""

    @property
    def rowcount(self) -> int:
        """The number of rows that the statement changed."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Runs statements in the transaction that is open."""

    def execute(self, statement: str, params: Any = (), /) -> Rows:
        """Run a statement, whose parameters are written `:name`."""


Figure = tuple[str, tuple[str, ...], float, str]  # a metric without prefix: name, labels, value, suffix


class OpenStore(Protocol):
    """The methods of a store that a group uses."""

    def begin(self, model: str = "", *, later: bool = False) -> None:
        """Begin a transaction that only the group ends."""

    def within(self, model: str = "") -> AbstractContextManager[Any]:
        """Return the open transaction as a context manager."""

    def transaction(self, model: str, *, later: bool) -> AbstractContextManager[Any]:
        """Return a writing transaction of its own."""

    def held(self) -> Held:
        """Return the statements that are held back."""

    def release(self) -> None:
        """Run the statements that are held back."""

    def forget(self, held: Held | None = None) -> None:
        """Drop everything cached from a transaction, or a part of it, that was rolled back.

        Args:
            held: The statements that are held back from now on.
        """


class Group(Protocol):
    """Writers that wait together until their writes are durable."""

    is_open: bool  # True while a shared transaction waits to be committed
    lost: int  # how often writes were undone or lost that were to become durable together

    def joins(self, model: str) -> bool:
        """Return True when a shared transaction is open that reads and writes a model, "" for all models.

        Any other shared transaction is committed.
        """

    def look(self) -> AbstractContextManager[Any]:
        """Return the shared transaction that is open, for reading."""

    def part(self, model: str = "") -> AbstractContextManager[Any]:
        """Open a transaction, or a part of a shared one, which an exception undoes alone."""

    def flush(self) -> None:
        """Make all writes durable now."""

    def require(self, since: int) -> None:
        """Raise StoreError when writes of a writer were lost.

        Args:
            since: The value of `lost` when the writer began.
        """

    async def durable(self, since: int) -> None:
        """Wait until all writes are durable.

        Args:
            since: The value of `lost` when the writer began.
        """


class Wakes(Protocol):
    """Hears when other processes have made work due."""

    def fileno(self) -> int:
        """Return the descriptor that can be read when something has come."""

    def heard(self) -> bool | None:
        """Return True when others have made work due since the last call; None when listening has ended."""

    def close(self) -> None:
        """Stop to listen."""


class Engine(Protocol):
    """The database of a store.

    Attributes:
        path: What names the store in errors.
        connection: Runs statements.
        is_open: True within a transaction.
        locks_models: True when transactions of different models may be open at once.
        journal: What other connections have written; None when an engine knows only that they have.
        line: The history of writes that the database is on. It changes when another server takes over, which
            may lack the latest commits. "" for a file.
    """

    path: Path
    locks_models: bool
    journal: Journal | None
    line: str

    @property
    def place(self) -> Path | str:
        """The file, or the address of a database."""

    @property
    def connection(self) -> Connection: ...

    @property
    def is_open(self) -> bool: ...

    def begin(self, *, reads: bool, model: str = "", later: bool = False, recent: bool = False) -> int:
        """Begin a transaction and acquire all its locks, so that no later statement has to wait.

        Args:
            model: The model that the transaction writes, with the models that offers connect with it; "" for
                the whole store. An engine may lock more.
            later: True when the commit may become durable later, with `Group.flush`.
            recent: True when a reader may use what this process saw a moment ago, instead of a new look.

        Returns:
            The same as `others`; 0 when nothing is cached.

        Raises:
            StoreError: The database cannot be used; no transaction is open.
        """

    def commit(self) -> None:
        """Commit, and return when the transaction is durable, unless it was begun `later`."""

    def group(self, store: OpenStore) -> Group | None:
        """Return what lets several writers wait together, or None for writers that share one transaction."""

    def rollback(self) -> None:
        """Undo the transaction; without a transaction, do nothing."""

    def explain(self, error: BaseException) -> StoreError | None:
        """Return the error for users when the database is the cause of an error, not the statement."""

    def others(self, *, recent: bool = False) -> int:
        """Return a number that changes when another connection has written.

        Args:
            recent: The same as for `begin`.
        """

    def version(self) -> tuple[int, int]:
        """Return a value that every write of any process changes; reading it is cheap and reads no row."""

    def appear(self, owner: str) -> None:
        """Let other processes see from now on whether this process lives.

        Args:
            owner: The name of this process (`store.processes`).
        """

    def lives(self, owner: str) -> bool | None:
        """Return whether a process lives that owns keys; None when that is not known."""

    def seen(self, owners: Iterable[str]) -> Mapping[str, datetime]:
        """Return when processes last used the store; a file does not tell, nor of a process of a command."""

    def remember(self) -> type[Any] | None:
        """Prepare for a process that caches rows: from now on `begin` returns `others`.

        Returns:
            A kind of `cache.Memo` for this engine, or None for that class itself.
        """

    def clock(self) -> Clock | None:
        """Return the clock on which all processes of the store agree; None when they are on one host."""

    def wakes(self) -> Wakes | None:
        """Return what hears when other processes have made work due; None when a process has to look.

        Raises:
            StoreError: The database cannot be used.
        """

    def tables(self) -> Iterable[str]:
        """Return the statements that make the tables, in SQLite's words."""

    def sizes(self) -> dict[str, int]:
        """Return the bytes on the disk: `store`, and `store_wal` for writes not in the tables yet."""

    def figures(self) -> Iterable[Figure]:
        """Return what this process has done with the database since it began, as values of metrics."""

    def standby(self) -> bool | None:
        """Return whether commits wait for a standby server; None without standbys, and for a file."""

    def throw_away(self) -> None:
        """Write without waiting for the disk, to a copy that is deleted at the end of the process."""

    def require(self) -> None:
        """Raise StoreGone when the database is no longer the one that was opened."""

    def check(self) -> None:
        """Check every page and reference, and raise a StoreError for the first problem."""

    def doubts(self) -> list[str]:
        """Return a sentence for each setting of the database that lets it lose commits or refuse users."""

    def close(self) -> None:
        """Close the connection."""
