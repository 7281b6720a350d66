"""What was read before is told again only as long as it is so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pushjuju.core.errors import PushjujuError
from pushjuju.state import memo as memo_module
from pushjuju.state.group import DeferredStore
from pushjuju.state.memo import Memo, Recent
from pushjuju.state.records import Model
from pushjuju.state.store import Store, queries
from tests.unit.services.world import Charms, World
from tests.unit.workers.test_random_lives import live

KEY = {"key": "k"}


class Distrustful(Memo):
    """Asks the store as well, each time; `told`: how often it had an answer without asking."""

    told = 0

    def ask(self, make: Callable[..., Any], statement: str, params: Mapping[str, Any], *record: Any) -> Any:
        before = self._answers.get((make, statement, record, *params.items()))
        answer = super().ask(make, statement, params, *record)
        if self.effects(statement).kept:
            assert answer == make(self._connection.execute(statement, params), *record), statement
            Distrustful.told += before is not None and before[1] is answer
        return answer


@pytest.fixture
def remembering(store: Store) -> Store:
    """A store that remembers."""
    store.remember()
    return store


def value(store: Store, model: Model) -> object:
    with store.read() as tx:
        return tx.scalar("model_config_get", model=model.uuid, **KEY)


def put(store: Store, model: Model, text: str) -> None:
    with store.write() as tx:
        tx.run("model_config_set", model=model.uuid, **KEY, value=text)


@pytest.mark.parametrize("seed", [1, 3, 5, 6])
def test_every_answer_is_what_the_store_would_say(
    tmp_path: Path, empty_shop: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(memo_module, "Memo", Distrustful)
    monkeypatch.setattr(Distrustful, "told", 0)
    opened = Store.open

    def open_remembering(path: Path, **options: bool) -> Store:
        made = opened(path, **options)
        made.remember()
        return made

    monkeypatch.setattr(Store, "open", open_remembering)
    shop = World.copy(empty_shop, tmp_path, packs)
    live(shop, Random(seed))
    assert Distrustful.told > 500
    shop.ctx.close()


def test_what_was_read_is_not_read_again(remembering: Store, model: Model) -> None:
    put(remembering, model, "1")
    assert value(remembering, model) == "1"
    seen: list[str] = []
    remembering._connection.set_trace_callback(seen.append)
    assert value(remembering, model) == "1"
    assert seen == ["BEGIN", "PRAGMA data_version", "COMMIT"]


def test_what_another_process_writes_is_seen(remembering: Store, model: Model) -> None:
    other = Store.open(remembering.path)
    for text in "123":
        assert value(remembering, model) != text
        put(other, model, text)
        assert value(remembering, model) == text
    other.close()


def test_what_was_undone_was_never_read(remembering: Store, model: Model) -> None:
    put(remembering, model, "1")
    with pytest.raises(PushjujuError), remembering.write() as tx:  # noqa: PT012 - the block is the transaction
        tx.run("model_config_set", model=model.uuid, **KEY, value="2")
        assert tx.scalar("model_config_get", model=model.uuid, **KEY) == "2"
        raise PushjujuError("no")
    assert value(remembering, model) == "1"


async def test_a_part_that_was_undone_was_never_read(remembering: Store, model: Model) -> None:
    deferred = DeferredStore(remembering)
    put(deferred, model, "1")
    with pytest.raises(PushjujuError), deferred.write() as tx:  # noqa: PT012 - the block is the part
        tx.run("model_config_set", model=model.uuid, **KEY, value="2")
        assert tx.scalar("model_config_get", model=model.uuid, **KEY) == "2"
        raise PushjujuError("no")
    assert value(deferred, model) == "1"
    await deferred.durable()


def test_a_row_that_went_with_another_one_is_gone(remembering: Store, model: Model) -> None:
    put(remembering, model, "1")
    assert value(remembering, model) == "1"
    with remembering.write() as tx:
        tx.run("model_delete", model=model.uuid)
    assert value(remembering, model) is None


def test_what_a_statement_touches(remembering: Store) -> None:
    remembering.remember()
    memo = remembering._memo
    assert memo is not None
    statements = queries()
    assert memo.effects(statements["unit_set_state"]).writes == (("unit", "state"),)
    assert memo.effects(statements["sequence_next"]).kept is False
    assert {("relation", ""), ("relation_bag", ""), ("relation_scope", "")} <= set(
        memo.effects(statements["relation_delete"]).writes
    )
    lives = memo.effects(statements["unit_lives_of_principal"])
    assert lives.reads == (("unit", ("application", "life", "model", "name", "number", "principal")),)
    for statement in statements.values():
        found = memo.effects(statement)
        assert found.kept != bool(found.writes), statement


def test_what_nobody_asks_for_is_forgotten() -> None:
    recent = Recent(8)
    for number in range(100):
        recent.put(number, number)
        assert recent.get(0) == 0
    assert recent.get(50) is None
    assert len(recent._young) + len(recent._old) <= 8
