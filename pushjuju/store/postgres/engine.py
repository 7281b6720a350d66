"""The engine of a store in PostgreSQL: a lock for each model, and a journal of the writes of all processes.

A transaction of one model takes the lock of the whole store shared, and the locks of its model and of the
models that offers connect with it; transactions of different models run beside each other. A transaction of
the whole store takes the lock of the store alone. All are advisory locks, which end with the transaction.

Each transaction looks for the writes of others when it begins. Readers of a moment ago need no look, and no
transaction while the cache has all answers.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.core.errors import StoreAway, StoreDamaged, StoreError, StoreTooNew
from pushjuju.store.files import waits
from pushjuju.store.files.waits import Patience
from pushjuju.store.journal import MOST_NEWS, Journal
from pushjuju.store.postgres import address, ahead, blobs, schema, sessions, wakes
from pushjuju.store.postgres.absence import Attempts
from pushjuju.store.postgres.clock import ServerClock
from pushjuju.store.postgres.faults import NOT_MADE, PERHAPS_MADE, explain_error, is_of_the_store
from pushjuju.store.postgres.figures import Figures
from pushjuju.store.postgres.flushes import FlushGroup
from pushjuju.store.postgres.locks import Locks
from pushjuju.store.postgres.pipeline import Failed, Pipeline
from pushjuju.store.postgres.presence import Presence
from pushjuju.store.schema import TABLES
from pushjuju.store.statements import queries

if TYPE_CHECKING:
    from pushjuju.store.engine import Figure, OpenStore

_FIRST_STEPS = {True: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", False: "BEGIN"}
# What others have written since the last look. Transactions that were open then have numbers from :since on.
_LOOK = """SELECT present.since, present.moment, present.version, written.n, written.what FROM (
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS since,
    extract(epoch FROM clock_timestamp())::float8 AS moment,
    (SELECT version FROM schema_version) AS version) AS present
LEFT JOIN written ON written.xid >= (:since)::xid8 AND written.process <> :process
LIMIT :most"""
_WROTE = "INSERT INTO written (process, model, what) VALUES (:process, :model, :what)"
_FORGET = "DELETE FROM written WHERE made < now() - interval '10 minutes'"
_SIZE = """SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
WHERE relnamespace = to_regnamespace(:schema) AND relkind = 'r'"""
_FLUSH = ("BEGIN", "SELECT pg_logical_emit_message(true, 'pushjuju', '')::text", "COMMIT")
_FORGET_EACH = 1000  # commits
_RECENT_S = 0.05  # age of the last look that readers of a moment ago need
_KNOWN_S = 300.0  # seconds after which a process without a look takes everything for changed


class PostgresEngine:
    """A connection to the database of a store."""

    locks_models = True

    def __init__(
        self, place: address.Place, session: sessions.Session, patience: Patience | None = None
    ) -> None:
        self.place = place.url  # the address of the store, without a password
        self.path = Path(place.shown)  # the store as users know it; not a file
        self._place = place
        self.is_open = False
        self._link = session.link
        self.line = session.line
        self._reads = self._later = self._commits_now = self._caches = False
        self._model = ""
        self.journal = Journal()
        self._process = secrets.randbits(62)
        self._others = 0  # grows with each look that finds writes of others
        self._commits = 0
        self._since = "0"  # PostgreSQL's number of the oldest transaction that was open at the last look
        self._seen: set[int] = set()
        self._looked = -_KNOWN_S
        self.is_durable = True  # False while commits of this process may not be on the disk of the server yet
        self._was_lost = False
        self._attempts, self._patience = Attempts(), patience
        self._clock = ServerClock()
        self._clock.hear(session.moment)
        # runs statements
        self.connection = Pipeline(
            session.link.pgconn, frozenset(queries()[name] for name in wakes.STATEMENTS)
        )
        self._locks = Locks(self.connection)
        self._woke = -wakes.LEAST_S
        self._presence = Presence()
        self._figures = Figures()

    @classmethod
    def open(cls, url: str, *, create: bool = False, waits: bool = False) -> PostgresEngine:
        """Connect to the store, and bring its schema up to date.

        Args:
            url: `postgresql://...`, without a password.
            create: Make the schema in an empty database.
            waits: True to wait for a server that does not answer, now and later outside of an event loop.

        Raises:
            StoreError: The server, the role or the database cannot be used.
        """
        place = address.parsed(url)
        patience = Patience(Path(place.shown)) if waits else None
        session = Attempts().connected(lambda: sessions.begun(place, create=create), patience)
        return cls(place, session, patience)

    # --- transactions -------------------------------------------------------------------------------------

    def begin(self, *, reads: bool, model: str = "", later: bool = False, recent: bool = False) -> int:
        self._reads, self._later, self._model, self._commits_now = reads, later, model, False
        if not self._link.closed:
            try:
                return self._begun(recent=recent)
            except StoreAway:  # between two transactions; nothing was done in this one
                if not self._link.closed:
                    raise
        self._connect_again()
        return self._begun()

    def _begun(self, *, recent: bool = False) -> int:
        began = time.monotonic()
        self.journal.begin()
        self.connection.on_wait = None if self._reads else self._tell_wait
        self.is_open = True  # also when BEGIN fails: `rollback` then closes a connection that is lost
        if self._reads and recent and self._is_recent():
            self.connection.first = _FIRST_STEPS[True]
            return self._others
        try:
            while not self._is_whole(self._model):
                self._give_up()
        except Failed as error:
            self.rollback()
            raise explain_error(error, self._place.shown) from error
        except StoreTooNew:
            self.rollback()
            raise
        if not self._reads:
            self._figures.locked(self._model, began)
        return self._others

    def _is_whole(self, model: str) -> bool:
        """Begin with all locks; return False when offers now connect a model that was alone with another."""
        alone = self._locks.is_alone(model)
        self.connection.execute(_FIRST_STEPS[self._reads])
        locked = None if self._reads else self._locks.take(model, later=self._later)
        if self._caches:
            self._look()
        self.connection.catch_up()
        if locked is not None and self._caches:
            self._locks.learn(model, locked)
        return not alone or self._locks.is_alone(model)

    def _connect_again(self) -> None:
        """Connect after a loss; what was not on the disk then may be lost, and anything may have changed.

        Only a connection that can be used takes the place of the lost one, else nobody would connect again.
        """
        patience = None if asyncio._get_running_loop() else self._patience
        session = self._attempts.connected(lambda: sessions.begun(self._place), patience)
        self._was_lost |= not self.is_durable
        self._looked = -_KNOWN_S
        self._locks.forget()
        self._clock.hear(session.moment)
        self._link, self.line = session.link, session.line
        try:
            self.connection.use(session.link.pgconn)
            with self._between():
                self._presence.appear_again(self.connection)
        except BaseException:
            session.link.close()
            raise

    def _tell_wait(self) -> None:
        if holder := sessions.holder(self._place, self._link.info.backend_pid):
            waits.tell(self.path, holder)

    def commit(self) -> None:
        if self._reads:
            if not self._is_unsent():
                self.connection.execute("COMMIT")
                self.connection.send_soon()  # a reader has nothing to lose
        else:
            self._commit()
        self.is_open = False

    def _commit(self, *, flushes: bool = False) -> None:
        """Commit the writes; wait for the disk too when `flushes`."""
        self._tell_others()
        self._wake_others()
        self._commits_now = True
        self._run("COMMIT", *(_FLUSH if flushes else ()))
        self._commits_now = False
        self._figures.freed(self._model)
        if self._later and not flushes:
            self.is_durable = False

    def _run(self, *statements: str) -> None:
        for statement in statements:
            self.connection.execute(statement)
        self.connection.catch_up()

    def _tell_others(self) -> None:
        """Write the notes of this transaction; a process that caches nothing has none."""
        what = self.journal.text() if self._caches else None
        if what == "":
            return
        self._locks.hear([what])
        self._commits += 1
        self.connection.execute(_WROTE, {"process": self._process, "model": self._model, "what": what})
        if self._commits % _FORGET_EACH == 0:
            self.connection.execute(_FORGET)

    def _wake_others(self) -> None:
        """Wake other controller processes when work has become due; much work wakes them now and then."""
        now = time.monotonic()
        if self.connection.met_mark and now - self._woke >= wakes.LEAST_S:
            self.connection.execute(wakes.TELL, {"process": self._process})
            self.connection.met_mark, self._woke = False, now

    def rollback(self) -> None:
        if not self.is_open:
            return
        self.is_open = False
        if not self._is_unsent():
            self._give_up()

    def _is_unsent(self) -> bool:
        """Return True when the transaction has sent nothing; then nothing needs to be sent for its end."""
        unsent, self.connection.first = bool(self.connection.first), ""
        return unsent

    def _give_up(self) -> None:
        try:
            with suppress(Failed):  # else ROLLBACK, which comes behind, would not run
                self.connection.catch_up()
            self._run("ROLLBACK")
        except Failed:
            self._link.close()  # the server rolls back what a lost connection has begun

    def flush(self) -> None:
        """Commit an open transaction, and return when everything is on the disk of the server.

        Raises:
            StoreError: The server may have lost it.
        """
        if self.is_durable and not self.is_open:
            return
        self.is_durable, was_lost, self._was_lost = True, self._was_lost, False
        if was_lost or self._link.closed:
            self.rollback()
            raise StoreAway(f"the store {self._place.shown} stopped before the last writes were on its disk")
        began = time.monotonic()
        try:
            if self.is_open:
                self._commit(flushes=True)
            else:
                self._run(*_FLUSH)
            self._figures.flushed(began)
        except Failed as error:
            self._give_up()
            raise explain_error(error, self._place.shown) from error
        finally:
            self.is_open = False

    def group(self, store: OpenStore) -> FlushGroup:
        return FlushGroup(self, store)

    # --- other processes ----------------------------------------------------------------------------------

    def _look(self) -> None:
        """Find out whether others have written since the last look."""
        asked = {"since": self._since, "process": self._process, "most": MOST_NEWS + 1}
        rows = self.connection.execute(_LOOK, asked).fetchall()
        found = {row["n"]: row["what"] for row in rows if row["n"] is not None}
        now = time.monotonic()
        news = [what for number, what in found.items() if number not in self._seen]
        if len(found) > MOST_NEWS or now - self._looked > _KNOWN_S:
            news = [None]  # there are more notes, or older ones are gone
        if news:
            self._others += 1
            self.journal.hear(news)
            self._locks.hear(news)
        self._since, self._seen, self._looked = rows[0]["since"], set(found), now
        self._clock.hear(rows[0]["moment"])
        schema.require_known(rows[0]["version"], self._place.shown)

    def _is_recent(self) -> bool:
        return self._caches and time.monotonic() - self._looked < _RECENT_S

    def others(self, *, recent: bool = False) -> int:
        if not (self.is_open or (recent and self._is_recent())):
            with self._between():
                self._look()
        return self._others

    @contextmanager
    def _between(self) -> Iterator[None]:
        """Open a transaction that only reads.

        Without BEGIN, the statements of a pipeline are one transaction up to the pipeline's next end.
        """
        if self._link.closed:
            self._connect_again()
        try:
            self.connection.execute(_FIRST_STEPS[True])
            yield
            self._run("COMMIT")
        except Failed as error:
            self._give_up()
            raise explain_error(error, self._place.shown) from error
        except StoreTooNew:
            self._give_up()
            raise

    def version(self) -> tuple[int, int]:
        return self.others(), self._commits

    def appear(self, owner: str) -> None:
        if not self._presence.knows(owner):
            with self._between():
                self._presence.appear(self.connection, owner)

    def lives(self, owner: str) -> bool | None:
        if self._presence.knows(owner):
            return True
        with nullcontext() if self.is_open else self._between():
            return self._presence.look(self.connection, owner)

    def seen(self, owners: Iterable[str]) -> Mapping[str, datetime]:
        with nullcontext() if self.is_open else self._between():
            return self._presence.seen(self.connection, owners)

    def remember(self) -> type[ahead.AheadMemo]:
        self._caches = True
        return ahead.AheadMemo

    def clock(self) -> ServerClock:
        return self._clock

    def wakes(self) -> wakes.Wakes:
        return wakes.Wakes(self._place, self._process)

    # --- the whole store ----------------------------------------------------------------------------------

    def explain(self, error: BaseException) -> StoreError | None:
        if not (isinstance(error, Failed) and is_of_the_store(error)):
            return None
        if self._reads:
            return explain_error(error, self._place.shown)
        lost = PERHAPS_MADE if self._commits_now else NOT_MADE
        return explain_error(error, self._place.shown, lost)

    def tables(self) -> Iterable[str]:
        return schema.in_sqlite()

    def figures(self) -> Iterable[Figure]:
        yield from self._figures.values(self.connection)
        for kind, number in blobs.READS.items():
            yield "blob_reads_total", (kind,), number, ""

    def standby(self) -> bool | None:
        return sessions.standby(self.connection)

    def throw_away(self) -> None:
        raise StoreError("a store in PostgreSQL is never a copy")  # `plan` copies it to a file first

    def require(self) -> None:
        pass  # a transaction finds out whether the store is there

    def check(self) -> None:
        asked = "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(:schema)"
        with self._between():
            found = {row[0] for row in self.connection.execute(asked, {"schema": address.SCHEMA})}
        missing = [name for name in TABLES if name not in found]
        if missing:
            raise StoreDamaged(f"the store {self._place.shown} is damaged: it has no table {missing[0]}")

    def sizes(self) -> dict[str, int]:
        return {"store": self.connection.execute(_SIZE, {"schema": address.SCHEMA}).fetchone()[0]}

    def doubts(self) -> list[str]:
        with self._between():
            return sessions.doubts(self.connection, self._place.shown)

    def close(self) -> None:
        self._link.close()
