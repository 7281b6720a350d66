"""The cache of a process whose store is a server: questions that come soon are sent before anybody waits.

Each answer from a server costs a wait. A reader that knows what it will ask names its questions first, and
then waits once for all of them. Answers that are cached and valid are not asked for again.

A cached answer would be wrong after a write that no note tells of. So one answer of a thousand is compared.
"""

from __future__ import annotations

import traceback
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pushjuju.store.cache import MOST_KEPT, Bounded, Entry, Memo, Question, Trail
from pushjuju.store.effects import Effects, Place
from pushjuju.store.postgres.values import Row

if TYPE_CHECKING:
    from pushjuju.store.engine import Engine, Rows
    from pushjuju.store.postgres.pipeline import Answer

CHECKED = 1000  # questions, after which one cached answer is compared with the store
_SAMPLES = 64  # keys that are chosen at once, since that takes a look at all keys
_MOST_SENT = 4096  # answers of a kilobyte that nobody has read; a reader who comes later waits


class AheadMemo(Memo):
    """The cached answers of one connection to a server."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._server: Any = engine.connection
        self._connection = self  # what no cached answer serves comes to `execute`
        self._sent: dict[Hashable, tuple[int, Answer]] = {}  # questions without a reader so far
        # questions that are sent together -> moment, footings, and `halvings` of the answers
        self._groups = Bounded(MOST_KEPT // 8)
        self._next_check = CHECKED
        self._samples: list[Any] = []

    def begin(self, others: int) -> None:
        if len(self._sent) > _MOST_SENT:
            self._groups.clear()
            self._sent.clear()
        super().begin(others)

    def clear(self, why: str = "rollback") -> None:
        super().clear(why)
        self._groups.clear()
        self._sent.clear()

    def check(self) -> None:
        """Compare a cached answer with the store once in a while, in a transaction that only reads."""
        if self.counts["asked"] < self._next_check or self._server.first:
            return  # a transaction that has sent nothing yet may use old answers
        self._next_check = self.counts["asked"] + CHECKED
        key = self._next_sample()
        entry: Entry | None = self._answers.get(key)
        if entry is None or not self._holds(entry[0], entry[5], entry[2]):
            return
        statement, *params = key
        make, *record = entry[4]
        if _plain(make(self._server.execute(statement, dict(params)), *record)) != _plain(entry[3]):
            self.clear("wrong")
            text = f"the cache of rows differed from the store and was dropped; statement: {statement}"
            traceback.print_exception(AssertionError(text))

    def _next_sample(self) -> Any:
        """Return the key of a cached answer, each time of another one; None without answers."""
        if not self._samples:
            step = len(self._answers) // _SAMPLES + 1
            self._samples = list(self._answers)[self.counts["asked"] % step :: step]
        return self._samples.pop() if self._samples else None

    def is_ahead(self, group: Hashable) -> bool:
        found = self._groups.get(group)
        return found is not None and self._answers.halvings == found[2] and self._stands(found)

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
            self._groups.put(group, [self._now, trail.footings(), self._answers.halvings])

    def _send(self, effects: Effects, place: Place | None, params: Mapping[str, Any]) -> None:
        key = (effects.statement, *params.items())
        entry: Entry | None = self._answers.get(key)
        if entry is not None and self._holds(entry[0], entry[5], place):
            return
        sent = self._sent.get(key)
        if sent is not None and self._holds(sent[0], effects.cells, place):
            return
        self._settle(effects, place)
        self._sent[key] = self._now, self._server.execute(effects.statement, params)

    def execute(self, statement: str, params: Any = (), /) -> Rows:
        """Return the answer to a question that was sent, unless its rows were written since, or ask now."""
        moment, rows = self._sent.pop((statement, *params.items()), (0, None))
        if rows is not None and not rows.is_undone():
            effects = self.effects(statement)
            if self._holds(moment, effects.cells, effects.place(params)):
                return rows
        found: Rows = self._server.execute(statement, params)
        return found


def _plain(answer: Any) -> Any:
    """Return an answer that can be compared, with tuples in place of rows."""
    if isinstance(answer, list):
        return [_plain(item) for item in answer]
    return tuple(answer) if isinstance(answer, Row) else answer
