"""Transactions, records and numbers of a store.

The tests run on both engines.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from pushjuju.core.errors import NotFound, StoreError
from pushjuju.store.db import Store
from pushjuju.store.rows.records import Application, CharmRecord, Machine, Model, Unit
from tests.unit.store.conftest import ENGINES, place_of

CREATED = datetime(2025, 3, 1, 9, tzinfo=UTC)
REFUSED: tuple[type[Exception], ...] = (sqlite3.IntegrityError,)
if find_spec("psycopg") is not None:
    from pushjuju.store.postgres.pipeline import Failed

    REFUSED += (Failed,)


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Path | str:
    return place_of(request)


def test_what_was_written_is_there_for_others(store: Store, beside: Store, model: Model) -> None:
    with beside.read() as tx:
        assert tx.get(Model, "model_by_uuid", "gone", uuid=model.uuid) == model


def test_a_write_is_kept_whole_or_not_at_all(store: Store, model: Model) -> None:
    with pytest.raises(KeyError), store.write() as tx:  # noqa: PT012 - the block is the transaction
        tx.run("model_config_set", model=model.uuid, key="half", value="1")
        tx.run("no_such_statement")
    with store.read() as tx:
        assert tx.row("model_config_get", model=model.uuid, key="half") is None


def test_a_read_sees_one_moment(store: Store, beside: Store, model: Model) -> None:
    with store.read() as tx:
        assert tx.scalar("model_config_get", model=model.uuid, key="new") is None
        with beside.write() as writing:
            writing.run("model_config_set", model=model.uuid, key="new", value="1")
        assert tx.scalar("model_config_get", model=model.uuid, key="new") is None
    with store.read() as tx:
        assert tx.scalar("model_config_get", model=model.uuid, key="new") == "1"


def test_transactions_do_not_nest(store: Store) -> None:
    with store.write(), pytest.raises(StoreError, match="open already"), store.read():
        pass
    with store.read():
        pass


def test_a_broken_statement_is_not_blamed_on_the_store(store: Store, model: Model) -> None:
    with pytest.raises(REFUSED), store.write() as tx:
        tx.insert("model", model)
    with pytest.raises(KeyError), store.write() as tx:
        tx.run("no_such_statement")
    with store.write():
        pass


def test_a_row_becomes_a_record_and_back(store: Store, model: Model) -> None:
    charm = CharmRecord(
        model=model.uuid,
        url="local:web-0",
        name="web",
        revision=0,
        origin="local",
        channel="",
        sha256="0" * 64,
        size=7,
        document={"b": [1, None, True], "a": "ä'\";--"},
    )
    with store.write() as tx:
        tx.insert("charm", charm)
        assert tx.find(CharmRecord, "charm_by_url", model=model.uuid, url="local:web-0") == charm
        assert tx.list(CharmRecord, "charm_list", model=model.uuid) == [charm]
        assert tx.find(CharmRecord, "charm_by_url", model=model.uuid, url="x") is None
        with pytest.raises(NotFound, match="charm x not found"):
            tx.get(CharmRecord, "charm_by_url", "charm x not found", model=model.uuid, url="x")


def test_deleting_a_model_deletes_all_that_it_holds(store: Store, model: Model) -> None:
    with store.write() as tx:
        tx.insert(
            "machine", Machine(model=model.uuid, id="0", life="alive", base="debian@12", created=CREATED)
        )
        tx.insert("application", application(model))
        tx.insert("unit", unit(model, 0))
        tx.run("unit_delete", model=model.uuid, name="web/0")
        tx.run("model_delete", model=model.uuid)
        assert tx.rows("machine_list", model=model.uuid) == []
        assert tx.rows("application_list", model=model.uuid) == []
        assert tx.rows("model_config_list", model=model.uuid) == []


def test_a_unit_needs_its_application(store: Store, model: Model) -> None:
    with pytest.raises(REFUSED), store.write() as tx:
        tx.insert("unit", replace(unit(model, 0), machine=None))


def test_the_fields_of_a_record_say_what_is_decoded(store: Store, model: Model) -> None:
    made = replace(application(model), trust=True, constraints={"mem": 1024})
    with store.write() as tx:
        tx.insert("application", made)
        row = tx.row("application_get", model=model.uuid, name="web")
        assert row is not None
        assert (row["trust"], row["exposed"], row["constraints"]) == (1, 0, '{"mem":1024}')
        found = tx.get(Application, "application_get", "web", model=model.uuid, name="web")
        assert found == made
        assert (found.trust, found.exposed) == (True, False)
        assert isinstance(found.exposed, bool)


def application(model: Model) -> Application:
    return Application(
        model=model.uuid,
        name="web",
        charm_url="local:web-0",
        life="alive",
        subordinate=False,
        base="debian@12",
        created=CREATED,
    )


def unit(model: Model, number: int) -> Unit:
    return Unit(
        model=model.uuid,
        name=f"web/{number}",
        application="web",
        number=number,
        machine="0",
        life="alive",
        created=CREATED,
    )


def test_a_number_is_given_once(store: Store) -> None:
    with store.write() as tx:
        assert [tx.next("m", "machine") for _ in range(3)] == [0, 1, 2]
        assert tx.next("m", "unit-web") == 0
        assert tx.next("other", "machine") == 0


def test_a_number_that_nothing_was_recorded_under_is_given_again(store: Store) -> None:
    with store.write() as tx:
        assert tx.next("m", "machine") == 0
        tx.give_back("m", "machine", 0)
        assert [tx.next("m", "machine") for _ in range(2)] == [0, 1]
        tx.give_back("m", "machine", 0)
        assert tx.next("m", "machine") == 2
        tx.give_back("m", "machine", 2)
        assert tx.next("m", "machine") == 2


def test_a_sequence_never_goes_back(store: Store) -> None:
    with store.write() as tx:
        assert [tx.next("m", "charm", at) for at in (5, 0, 6, 7, 20, 3)] == [5, 6, 7, 8, 20, 21]
    with pytest.raises(KeyError), store.write() as tx:  # noqa: PT012 - the block is the transaction
        assert tx.next("m", "charm") == 22
        tx.run("no_such_statement")
    with store.write() as tx:
        assert tx.next("m", "charm") == 22  # the first one was never seen by anybody


def test_sequences_count_beyond_four_bytes(store: Store) -> None:
    large = 1_750_000_000_000
    with store.write() as tx:
        assert [tx.next("", "lease", large) for _ in range(2)] == [large, large + 1]


def test_counts_of_changed_rows_are_those_of_the_engine(store: Store, model: Model) -> None:
    with store.write() as tx:
        assert tx.run("model_config_reset", model=model.uuid, key="made") == 1
        assert not tx.run("model_config_reset", model=model.uuid, key="made")


def test_every_write_changes_the_version_for_others_and_reading_changes_nothing(
    store: Store, beside: Store, model: Model
) -> None:
    store.remember()
    beside.remember()
    before = beside.version()
    with store.read() as tx:
        tx.rows("model_list")
    assert beside.version() == before
    with store.write() as tx:
        tx.run("model_config_set", model=model.uuid, key="new", value="1")
    assert beside.version() != before


def test_numbers_that_are_drawn_by_turns_are_drawn_once(store: Store, beside: Store) -> None:
    drawn = []
    for number in range(10):
        with (store, beside)[number % 2].write() as tx:
            drawn.append(tx.next("m", "unit"))
    assert drawn == list(range(10))
