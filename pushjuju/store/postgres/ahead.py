"""The cache of a process whose store is a server: questions that come soon are sent before anybody waits.

Each answer from a server costs a wait. A reader that knows what it will ask names its questions first, and
then waits once for all of them. Answers that are cached and valid are not asked for again.

A cached answer would be wrong after a write that no note tells of. So one answer of a thousand is compared.
"""

from __future__ import annotations

import traceback
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pushjuju.store.cache import MOST_KEPT, Memo, Question, Recent, Trail
from pushjuju.store.effects import Effects, Place
from pushjuju.store.postgres.values import Row

if TYPE_CHECKING:
    from pushjuju.store.engine import Engine, Rows
    from pushjuju.store.postgres.pipeline import Answer

CHECKED = 1000  # questions, after which one cached answer is compared with the store
_MOST_SENT = 4096  # answers of a kilobyte that nobody has read; a reader who comes later waits


class AheadMemo(Memo):
    """The cached answers of one connection to a server."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._server: Any = engine.connection
        self._connection = self  # what no cached answer serves comes to `execute`
        self._known = Recent(MOST_KEPT)  # question -> moment at which it was answered
        self._sent: dict[Hashable, tuple[int, Answer]] = {}  # questions without a reader so far
        # questions that are sent together -> moment, footings, count of answers up to which they are known
        self._groups = Recent(MOST_KEPT // 8)
        self._next_check = CHECKED

    def begin(self, others: int) -> None:
        if len(self._sent) > _MOST_SENT:
            for key in self._sent:
                self._known.drop(key)
            self._groups.clear()
            self._sent.clear()
        super().begin(others)

    def clear(self, why: str = "rollback") -> None:
        super().clear(why)
        for kept in (self._known, self._groups, self._sent):
            kept.clear()

    def check(self) -> None:
        """Compare a cached answer with the store once in a while, in a transaction that only reads."""
        if self.counts["asked"] < self._next_check or self._server.first:
            return  # a transaction that has sent nothing yet may use old answers
        self._next_check = self.counts["asked"] + CHECKED
        key: Any = self._answers.some(self.counts["asked"])
        answer = self.known(key)
        if answer is None:
            return
        make, statement, record, *params = key
        if _plain(make(self._server.execute(statement, dict(params)), *record)) != _plain(answer):
            self.clear("wrong")
            text = f"the cache of rows differed from the store and was dropped; statement: {statement}"
            traceback.print_exception(AssertionError(text))

    def is_ahead(self, group: Hashable) -> bool:
        found = self._groups.peek(group)
        return found is not None and self._answers.count() < found[2] and self._stands(*found[:2])

    def ahead(self, group: Hashable, questions: Iterable[Question]) -> None:
        """Send the questions whose answers are not cached; `execute` returns the answers to the readers.

        Args:
            group: The key for `is_ahead`, or None.
        """
        trail = Trail()
        for statement, params in questions:
            effects = self.effects(statement)
            place = effects.place(params)
            trail.asked[effects, place] = None
            self._send(effects, place, params)
        if group is not None:
            until = self._answers.count() + MOST_KEPT // 4  # later, the answers may have been dropped
            self._groups.put(group, (self._now, trail.footings(), until))

    def _send(self, effects: Effects, place: Place | None, params: Mapping[str, Any]) -> None:
        statement = effects.statement
        key = statement, frozenset(params.items())
        # No use of the entry: else it would outlive the answer, which a derived value may replace.
        if not self._stays(effects, place, self._known.peek(key)):
            self._settle(effects, place)
            self._known.put(key, self._now)  # also when nobody asks: it is not sent again before it changes
            self._sent[key] = self._now, self._server.execute(statement, params)

    def execute(self, statement: str, params: Any = (), /) -> Rows:
        """Return the answer to a question that was sent, unless its rows were written since, or ask now."""
        key = statement, frozenset(params.items())
        moment, rows = self._sent.pop(key, (None, None))
        self._known.put(key, self._now)
        if rows is not None and not rows.is_undone():
            effects = self.effects(statement)
            if self._stays(effects, effects.place(params), moment):
                return rows
        found: Rows = self._server.execute(statement, params)
        return found

    def know(self, key: Any, statement: str, params: Mapping[str, Any], answer: object) -> None:
        super().know(key, statement, params, answer)
        self._known.put((statement, frozenset(params.items())), self._now)

    def drop(self, key: Any) -> None:
        super().drop(key)
        self._known.drop((key[1], frozenset(key[3:])))

    def _stays(self, effects: Effects, place: Place | None, moment: int | None) -> bool:
        """Return True when no row that a question reads was written since a moment."""
        return moment is not None and self._holds(moment, effects.cells, place)


def _plain(answer: Any) -> Any:
    """Return an answer that can be compared, with tuples in place of rows."""
    if isinstance(answer, list):
        return [_plain(item) for item in answer]
    return tuple(answer) if isinstance(answer, Row) else answer
