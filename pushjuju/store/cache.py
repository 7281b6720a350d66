"""Caches the answers of statements until the rows that they read have changed.

Consecutive turns of a unit read mostly the same rows. SQLite reports which columns a statement reads and
writes (also by cascades), and whether another process has changed the file; a `-- rows:` line beside the
statement declares which rows. So an answer is valid until one of its columns is written in one of its rows,
and a value derived from answers until one of them is invalid. Callers do not see the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from pushjuju.store.effects import IDENTITY, Analyst, Cells, Effects, Held, Place, place_of, reads_alone

if TYPE_CHECKING:
    from pushjuju.store.engine import Engine
    from pushjuju.store.journal import Note

MOST_KEPT = 131072  # answers, each of about a kilobyte: twenty for each of 6,500 units
MOST_CONCLUDED = 32768  # values of `conclude` and decoded texts, each of some kilobytes
MOST_DERIVED = 8192  # derived values, each of about five kilobytes: what surrounds a unit
MOST_ROWS = 100  # rows of an answer; larger answers are not cached
MOST_NOTED = 65536  # rows whose last write is remembered
Question = tuple[str, Mapping[str, Any]]  # statement, parameters
# moment, statement, the rows that it reads, answer, what the answer was made with, what changes the answer
Entry = tuple[int, Effects, Place | None, Any, tuple[Any, ...], Cells]
# moment, footings, value; the moment is the latest at which the value was known to be valid
Conclusion = list[Any]
# The tables that several answers depend on, each with columns, and the rows in which these columns count.
Footing = tuple[tuple[str, tuple[tuple[tuple[tuple[str, str], ...], Place | None], ...]], ...]


class Bounded(dict[Hashable, Any]):
    """A dictionary of limited size: when it is full, it drops every second entry.

    Units are visited in the same order each time. In a model that is too large, a cache that drops the oldest
    entries would drop each entry shortly before its use.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self.halvings = 0  # how often half of the entries was dropped

    def put(self, key: Hashable, value: Any) -> None:
        if len(self) >= self._most and key not in self:
            rest = dict(islice(self.items(), 1, None, 2))
            self.clear()
            self.update(rest)
            self.halvings += 1
        self[key] = value


class Trail:
    """The answers that a value is derived from: statements with the rows that they read, and other values."""

    __slots__ = ("asked", "under")

    def __init__(self) -> None:
        self.asked: dict[tuple[Effects, Place | None], None] = {}  # the statements, as keys
        self.under: dict[int, tuple[Footing, ...]] = {}  # what other derived values depend on

    def footings(self) -> tuple[Footing, ...]:
        """Return what a value with this trail depends on, by tables, so that few checks are needed."""
        tables: dict[str, dict[Any, None]] = {}
        for effects, place in self.asked:
            for table, columns in effects.grounds:
                tables.setdefault(table, {})[columns, place] = None
        own: Footing = tuple((table, tuple(parts)) for table, parts in tables.items())
        return (own, *(footing for under in self.under.values() for footing in under))


class Memo:
    """The cached answers of one connection.

    Each transaction begins with `begin`, which drops all answers when another connection has written.
    """

    # sends questions; None: no wait costs
    ahead: Callable[[Hashable, Iterable[Question]], None] | None = None
    check: Callable[[], None] | None = None  # compares a cached answer; None: no journal could miss a write

    def __init__(self, engine: Engine) -> None:
        self._connection = self._writer = engine.connection
        self._journal = engine.journal
        self._analyst = Analyst(engine.tables())
        self._effects: dict[str, Effects] = {}
        self._now = 0  # grows with each write
        self._touched: dict[str, int] = {}  # table -> moment of its last write
        self._written: dict[tuple[str, str], int] = {}  # (table, column or "" for rows) -> the same
        self._rows: dict[Place, int] = {}  # single rows -> the same
        self._loose: dict[str, int] = {}  # table -> the same for writes to unknown rows
        self._answers = Bounded(MOST_KEPT)  # (statement, *parameters) -> Entry
        self._conclusions = Bounded(MOST_CONCLUDED)  # key -> Conclusion
        self._derived = Bounded(MOST_DERIVED)  # key -> Conclusion
        self._others = -1
        self._held: dict[tuple[str, Place | None], Mapping[str, Any]] = {}  # statement, row -> parameters
        self._held_columns: set[tuple[str, str]] = set()  # what these statements write, and where
        self._held_rows: set[Place | None] = set()
        self._held_tables: set[str] = set()
        # decoded values of texts that were read from the store or written to it; always valid
        self.values = Bounded(MOST_CONCLUDED)
        # statements whose answers were dropped; no derived value depends on such an answer
        self._dropped: set[str] = set()
        # the statements since tracking began, each with the rows that it reads; None without tracking, or
        # after a statement that cannot be cached
        self.trail: Trail | None = None
        # questions (asked), those for which a statement ran (ran), notes of other processes that were
        # applied (heard), and how often everything was dropped (others, rollback, wrong)
        self.counts = dict.fromkeys(("asked", "ran", "heard", "others", "rollback", "wrong"), 0)

    def is_ahead(self, _group: Hashable) -> bool:
        """Return True when the questions of a group were sent, and no answer has changed since."""
        return False

    def begin(self, others: int) -> None:
        """Drop the answers that other processes have changed, as the first step of a transaction.

        Args:
            others: `Engine.others` in the transaction.
        """
        if others == self._others:
            return
        self._others = others
        self._learn(self._journal.taken() if self._journal is not None else None)

    def _learn(self, notes: Collection[Note] | None) -> None:
        """Note what others have written; None for everything."""
        if notes is None:
            self.clear("others")
            return
        self.counts["heard"] += len(notes)
        for statement, place in notes:
            if statement:
                self._changed(self.effects(statement), place)
            elif place is not None:
                self._appeared(place[0], place if len(place) > 1 else None)

    def clear(self, why: str = "rollback") -> None:
        """Drop every answer, after a rollback or after unknown changes of rows."""
        self.counts[why] += 1
        self.hold_again({})
        self._answers.clear()
        self._conclusions.clear()
        self._derived.clear()

    def effects(self, statement: str) -> Effects:
        """Return the rows and columns that a statement reads and writes."""
        found = self._effects.get(statement)
        if found is None:
            found = self._effects[statement] = self._analyst.ask(statement)
        return found

    def ask(self, make: Callable[..., Any], statement: str, params: Mapping[str, Any], *record: Any) -> Any:
        """Return `make(rows, *record)` for the rows of a statement, cached while the answer is valid.

        Only the answer of the latest `make` and `record` is cached.
        """
        effects = self._effects.get(statement) or self.effects(statement)
        if not effects.kept:
            self.trail = None  # its answer may differ each time
            self.wrote(effects, params)
            return make(self._connection.execute(statement, params), *record)
        key = (statement, *params.items())
        entry: Entry | None = self._answers.get(key)
        self.counts["asked"] += 1
        made = (make, *record)
        if entry is None or entry[4] != made or not self._holds(entry[0], entry[5], entry[2]):
            self.counts["ran"] += 1
            place = effects.place(params)
            self._settle(effects, place)
            answer = make(self._connection.execute(statement, params), *record)
            entry = (self._now, effects, place, answer, made, effects.found if answer else effects.cells)
            if not isinstance(answer, list) or len(answer) <= MOST_ROWS:
                self._answers.put(key, entry)
        if self.trail is not None:
            self.trail.asked[entry[1], entry[2]] = None
            self.trail = self.trail if statement not in self._dropped else None
        return entry[3]

    def know(self, statement: str, params: Mapping[str, Any], answer: object, *made: Any) -> None:
        """Cache the answer that a statement gives from now on, which the caller knows from its own write."""
        effects = self.effects(statement)
        cells = effects.found if answer else effects.cells
        entry: Entry = (self._now, effects, effects.place(params), answer, made, cells)
        self._answers.put((statement, *params.items()), entry)

    def drop(self, statement: str, params: Mapping[str, Any]) -> None:
        """Drop an answer that nobody reads again, so that it takes no room from others."""
        self._answers.pop((statement, *params.items()), None)
        if not reads_alone(statement):
            return
        if statement not in self._dropped:
            self._dropped.add(statement)
            self.trail = None
            self._conclusions.clear()
            self._derived.clear()
        place = self.effects(statement).place(params)
        self._rows.pop(place or (), None)  # nothing is left that depends on the row

    def _holds(self, moment: int, cells: Cells, place: Place | None) -> bool:
        """Return True when nothing that a statement reads was written since a moment."""
        if moment == self._now:
            return True
        touched, written = self._touched, self._written
        for table, columns in cells:
            if touched.get(table, 0) <= moment:
                continue
            if place is not None and max(self._loose.get(table, 0), self._rows.get(place, 0)) <= moment:
                continue  # the writes were to other rows
            for column in columns:
                if written.get(column, 0) > moment:
                    return False
        return True

    def wrote(self, effects: Effects, params: Mapping[str, Any]) -> None:
        """Record what a statement changes with these parameters."""
        place = effects.place(params)
        self._settle(effects, place)
        self._note(effects, place)

    def _note(self, effects: Effects, place: Place | None) -> None:
        if self._journal is not None and effects.writes:
            self._journal.note(effects.statement, place)
        self._changed(effects, place)

    def hold(self, statement: str, params: Mapping[str, Any]) -> None:
        """Hold back a statement that sets columns of one row, each to its parameter, until `release`.

        It replaces the same statement for the same row. Statements that read or write a column run later.
        """
        effects = self.effects(statement)
        place = effects.place(params)
        self._note(effects, place)
        self._hold(effects, place, params)

    def _hold(self, effects: Effects, place: Place | None, params: Mapping[str, Any]) -> None:
        self._held[effects.statement, place] = params
        self._held_columns.update(effects.writes)
        self._held_rows.add(place)
        self._held_tables.update(table for table, _ in effects.writes)

    def held(self) -> Held:
        """Return the statements that are held back."""
        return dict(self._held)

    def hold_again(self, held: Held) -> None:
        """Hold back statements that earlier parts of a transaction held back, after a part was undone."""
        self._take_held()
        for (statement, place), params in held.items():
            self._hold(self.effects(statement), place, params)

    def _take_held(self) -> Held:
        held, self._held = self._held, {}
        for rest in (self._held_columns, self._held_rows, self._held_tables):
            rest.clear()
        return held

    def release(self) -> None:
        """Run the statements that are held back."""
        for (statement, _), params in self._take_held().items():
            self._writer.execute(statement, params)

    def _settle(self, effects: Effects, place: Place | None) -> None:
        """Run what is held back before a statement that reads or writes the same columns of these rows."""
        if not self._held or self._held_columns.isdisjoint(effects.touched):
            return
        if place is None or place in self._held_rows or self._held_tables != {place[0]}:
            self.release()

    def _changed(self, effects: Effects, place: Place | None) -> None:
        self._now = now = self._now + 1
        for item in effects.writes:
            self._written[item] = self._touched[item[0]] = now
        for table in effects.loose:
            self._loose[table] = now
        if effects.row is not None and effects.writes:
            self._note_row(effects.row[0], place)

    def inserted(self, table: str, values: Mapping[str, Any]) -> None:
        """Record that a table has a new row with these values."""
        place = place_of(table, [values.get(column) for column in IDENTITY.get(table, ())])
        if self._journal is not None:
            self._journal.note("", place or (table,))
        self._appeared(table, place)

    def _appeared(self, table: str, place: Place | None) -> None:
        self._now = now = self._now + 1
        self._written[table, "+"] = self._touched[table] = now
        self._note_row(table, place)

    def _note_row(self, table: str, place: Place | None) -> None:
        if len(self._rows) >= MOST_NOTED:
            self._loose.update(dict.fromkeys(IDENTITY, self._now))
            self._rows.clear()
        if place is None:
            self._loose[table] = self._now
        else:
            self._rows[place] = self._now

    # --- values derived from several answers --------------------------------------------------------------

    def watch(self) -> None:
        """Begin a trail, for `conclude`."""
        self.trail = Trail()

    def conclude(self, key: Hashable, value: object) -> None:
        """Cache a value that was derived from the answers on the trail, all of which are valid now."""
        if self.trail is not None:
            self._conclusions.put(key, [self._now, self.trail.footings(), value])

    def concluded(self, key: Hashable) -> Any:
        """Return the value that `conclude` cached while all answers on its trail are valid, else None."""
        found = self._conclusions.get(key)
        return found[2] if found is not None and self._stands(found) else None

    def derived(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return `make()`, cached while all answers that `make` reads are valid; it reads only this cache."""
        found, outer = self._derived.get(key), self.trail
        if found is None or not self._stands(found):
            value, trail = self._tracked(make)
            if trail is None:
                return value
            found = [self._now, trail.footings(), value]
            self._derived.put(key, found)
        if outer is not None:
            outer.under[id(found[1])] = found[1]
        self.trail = outer
        return found[2]

    def _tracked(self, make: Callable[[], Any]) -> tuple[Any, Trail | None]:
        """Return the result of `make` and its trail of statements; the caller restores `trail`."""
        self.trail = Trail()
        try:
            return make(), self.trail
        except BaseException:
            self.trail = None  # the earlier trail is lost, so `conclude` has nothing to cache
            raise

    def _stands(self, found: Conclusion) -> bool:
        """Return True when no statement that a value depends on has changed its answer since its moment."""
        moment, footings, _ = found
        if moment == self._now:
            return True
        touched, rows, written = self._touched, self._rows, self._written
        for footing in footings:
            for table, parts in footing:
                if touched.get(table, 0) <= moment:
                    continue
                by_row = self._loose.get(table, 0) <= moment
                for columns, place in parts:
                    if by_row and place is not None and rows.get(place, 0) <= moment:
                        continue  # the writes were to other rows
                    for column in columns:
                        if written.get(column, 0) > moment:
                            return False
        found[0] = self._now  # the next look compares only what is written from now on
        return True

    def close(self) -> None:
        """Close the empty store of the analyst."""
        self._analyst.close()
