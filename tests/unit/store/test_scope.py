"""A transaction of one model reads and writes nothing of other models, nor what belongs to no model.

The tests run on both engines.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreError
from pushjuju.core.values import changed
from pushjuju.store.db import Store
from pushjuju.store.engine import Engine
from pushjuju.store.rows.records import RemoteApplication
from pushjuju.store.scope import OF_WHOLE_STORE
from pushjuju.store.statements import of_models, queries
from tests.unit.store.conftest import ENGINES, MODEL, place_of

OTHER, THIRD = (MODEL.uuid.replace("1111", digits, 1) for digits in ("2222", "3333"))
WRITES = ("INSERT", "UPDATE", "DELETE")
# writing statements that name a row by its own key, which belongs to one model
BY_KEY = {
    "access_forget", "cleanup_defer", "cleanup_delete", "encryption_key_add", "offer_delete",
    "offer_update", "operation_commit", "operation_drop", "operation_promote", "operation_set_events",
    "secret_trash_delete", "work_claim", "work_delete", "work_delete_prefix",
    "work_finish", "work_heartbeat", "work_only_routine", "work_take_due", "work_touch",
    "work_touch_routine",
}  # fmt: skip


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Path | str:
    return place_of(request)


@pytest.fixture
def three(store: Store) -> Store:
    """A store with three models: the second consumes an offer of the first."""
    with store.write() as tx:
        for number, uuid in enumerate((OTHER, THIRD)):
            tx.insert("model", changed(MODEL, uuid=uuid, name=f"other{number}"))
        consumed = RemoteApplication(
            model=OTHER, name="db", url="admin/test.db", offer="o", source=MODEL.uuid, application="db",
            life="alive", endpoints={}, created=MODEL.created,
        )  # fmt: skip
        tx.insert("remote_application", consumed)
    return store


@pytest.mark.parametrize(("mine", "connected"), [(MODEL.uuid, OTHER), (OTHER, MODEL.uuid)])
def test_offers_connect_models_in_both_directions(three: Store, mine: str, connected: str) -> None:
    with three.write(mine) as tx:
        for model in (mine, connected):
            tx.run("model_config_set", model=model, key="note", value="it")
            assert tx.scalar("model_config_get", model=model, key="note") == "it"


def test_a_statement_about_another_model_is_refused(three: Store) -> None:
    told = f"model {THIRD} is outside of this transaction of model {OTHER}"
    with pytest.raises(StoreError, match=f"model_config_set: {told}"), three.write(OTHER) as tx:
        tx.run("model_config_set", model=THIRD, key="note", value="it")
    with pytest.raises(StoreError, match=f"model_config_get: {told}"), three.write(OTHER) as tx:
        tx.scalar("model_config_get", model=THIRD, key="note")
    with pytest.raises(StoreError, match=f"sequence_next: {told}"), three.write(OTHER) as tx:
        tx.next(THIRD, "machine")
    consumed = RemoteApplication(
        model=THIRD, name="db", url="", offer="o", source=MODEL.uuid, application="db", life="alive",
        endpoints={}, created=MODEL.created,
    )  # fmt: skip
    with pytest.raises(StoreError, match=f"a row of remote_application: {told}"), three.write(OTHER) as tx:
        tx.insert("remote_application", consumed)


def test_a_transaction_of_one_model_connects_it_with_no_other(store: Store) -> None:
    """Processes that know that a model is alone trust that nobody connects a locked model."""
    consumed = RemoteApplication(
        model=MODEL.uuid, name="db", url="", offer="o", source=OTHER, application="db", life="alive",
        endpoints={}, created=MODEL.created,
    )  # fmt: skip
    told = "a row of remote_application: a transaction of one model cannot connect models"
    with pytest.raises(StoreError, match=told), store.write(MODEL.uuid) as tx:
        tx.insert("remote_application", consumed)


def test_what_belongs_to_no_model_is_written_by_transactions_of_the_whole_store(store: Store) -> None:
    with pytest.raises(StoreError, match=r"person_delete: .* whole store"), store.write(MODEL.uuid) as tx:
        tx.run("person_delete", name="kim")
    with store.write() as tx:
        tx.run("person_delete", name="kim")


def test_a_transaction_of_one_model_raises_the_numbers_of_claims_and_no_other_of_no_model(
    store: Store,
) -> None:
    with store.write(MODEL.uuid) as tx:
        assert tx.next("", "lease", 7) == 7
        tx.run("sequence_raise", scope="", name="clock", number=7)
    with pytest.raises(StoreError, match="sequence_next"), store.write(MODEL.uuid) as tx:
        tx.next("", "change")


def test_readers_and_writers_of_the_whole_store_see_every_model(three: Store) -> None:
    for opened in (three.read(), three.write()):
        with opened as tx:
            assert tx.scalar("model_config_get", model=THIRD, key="note") is None


def test_an_engine_with_one_writer_at_a_time_refuses_nothing(
    three: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine: type[Engine] = type(three.engine)
    monkeypatch.setattr(engine, "locks_models", False)
    with three.write(OTHER) as tx:
        tx.run("model_config_set", model=THIRD, key="note", value="it")


def test_each_writing_statement_without_a_model_is_either_of_one_row_or_of_the_whole_store() -> None:
    """So nobody adds a statement without deciding which it is."""
    unsorted = {
        name
        for name, sql in queries().items()
        if re.match("|".join(WRITES), sql) and name not in of_models() and not name.startswith("sequence_")
    }
    assert unsorted == OF_WHOLE_STORE | BY_KEY
    assert not OF_WHOLE_STORE & BY_KEY
