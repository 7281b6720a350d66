"""A store in PostgreSQL, on a real server: transactions, locks, other processes, faults, copies."""

from __future__ import annotations

import asyncio
import shlex
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import (
    LeaseLost,
    NotValid,
    StoreAway,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
)
from pushjuju.core.values import changed
from pushjuju.services.entities.basis.context import open_context
from pushjuju.services.entities.machine.machines import new_machine
from pushjuju.services.requests.controller import new_controllers
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
from pushjuju.store.leases import DeferredStore, LeasedStore
from pushjuju.store.processes import process_owner
from pushjuju.store.queue import LEASE_S, WorkQueue, machine_key, model_of, touch
from pushjuju.store.rows.records import Machine, RemoteApplication
from pushjuju.store.statements import queries
from pushjuju.store.tx import ModelTx, Tx
from pushjuju.workers import serving
from tests.postgres import databases
from tests.postgres.fixtures import cut
from tests.unit.store.conftest import MODEL
from tests.waiting import comes, stays, until
from tests.world.charms import UBUNTU, Charms
from tests.world.controller import TestController

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

from pushjuju.store.postgres import address, clock, schema, transfer, wakes  # noqa: E402 - needs psycopg
from pushjuju.store.postgres.pipeline import Failed  # noqa: E402

OTHER, THIRD = (MODEL.uuid.replace("1111", digits, 1) for digits in ("2222", "3333"))
Open = Callable[[], Store]
NOW = MODEL.created


@pytest.fixture
def url(postgres_url: str) -> str:
    return postgres_url


@pytest.fixture
def connect(url: str) -> Iterator[Open]:
    """A function that opens the store once more, as another process does; the store has three models."""
    opened: list[Store] = []

    def once_more() -> Store:
        opened.append(Store.open(url))
        return opened[-1]

    with closing(Store.open(url, create=True)) as made, made.write() as tx:
        for number, uuid in enumerate((MODEL.uuid, OTHER, THIRD)):
            tx.insert("model", changed(MODEL, uuid=uuid, name=f"model{number}"))
    yield once_more
    for store in opened:
        store.close()


def note(tx: Tx, text: str, model: str = MODEL.uuid) -> None:
    tx.run("model_config_set", model=model, key="note", value=text)


def noted(store: Store, model: str = MODEL.uuid) -> str:
    with store.read() as tx:
        return str(tx.scalar("model_config_get", model=model, key="note"))


# --- transactions -----------------------------------------------------------------------------------------


def test_a_failed_write_is_raised_at_the_latest_by_the_commit(connect: Open) -> None:
    store = connect()
    said = r"duplicate key .* \(statement INSERT INTO model\)"
    with pytest.raises(Failed, match=said), store.write() as tx:  # noqa: PT012 - raised late
        tx.insert("model", MODEL)
        note(tx, "no")
    assert noted(store) == "None"


def test_a_number_of_changed_rows_prints_as_a_number(connect: Open) -> None:
    with connect().write() as tx:
        assert f"{tx.run('model_config_set', model=MODEL.uuid, key='note', value='v')} changed" == "1 changed"


def test_text_has_no_nul(connect: Open) -> None:
    """PostgreSQL's text cannot have NUL, and libpq would end the text there."""
    store = connect()
    with store.write() as tx:
        note(tx, "a\0b \N{SNOWMAN} '; --")
    assert noted(store) == "a\ufffdb \N{SNOWMAN} '; --"


@pytest.mark.timeout(60)
def test_a_transaction_larger_than_the_buffers_of_both_sides_is_written(connect: Open) -> None:
    store, text = connect(), "x" * 100_000
    with store.write() as tx:
        for number in range(400):
            note(tx, f"{number} {text}")
    assert noted(store) == f"399 {text}"


# --- other processes --------------------------------------------------------------------------------------


def test_what_is_cached_is_dropped_when_another_process_has_written(connect: Open) -> None:
    store, other = connect(), connect()
    store.remember()
    assert noted(store) == "None"
    before = store.engine.connection.sent  # type: ignore[attr-defined]
    assert noted(store) == "None"
    assert store.engine.connection.sent - before == 3  # type: ignore[attr-defined] # begin, look, commit
    with other.write(OTHER) as tx:
        note(tx, "theirs", OTHER)
    with other.write(MODEL.uuid) as tx:
        note(tx, "new")
    assert noted(store) == "new"


def test_a_write_that_was_open_at_the_last_look_is_noticed(connect: Open) -> None:
    store, other, third = connect(), connect(), connect()
    store.remember()
    with other.write(MODEL.uuid) as tx:
        note(tx, "slow")
        with third.write(OTHER) as quick:
            note(quick, "quick", OTHER)
        assert (noted(store), noted(store, OTHER)) == ("None", "quick")
    assert noted(store) == "slow"


def life(store: Store) -> tuple[str, int]:
    """Return the life of machine 0, and the number of statements about rows that the answer took."""
    before = store.engine.connection.sent  # type: ignore[attr-defined]
    with store.read() as tx:
        found = tx.get(Machine, "machine_get", "no machine", model=MODEL.uuid, id="0").life
    return found, store.engine.connection.sent - before - 3  # type: ignore[attr-defined] # begin, look, commit


def test_writes_of_other_processes_to_other_rows_leave_what_is_cached(connect: Open) -> None:
    store, other = connect(), connect()
    store.remember()
    other.remember()
    with other.write() as tx:
        for model in (MODEL.uuid, OTHER):
            new_machine(ModelTx(tx, model, NOW), base=UBUNTU, constraints={})
    assert life(store) == ("alive", 1)
    with other.write(OTHER) as tx:  # a machine with the same number
        tx.run("machine_set_life", model=OTHER, id="0", life="dying")
    assert life(store) == ("alive", 0)
    with other.write(MODEL.uuid) as tx:
        tx.run("machine_set_life", model=MODEL.uuid, id="0", life="dying")
    assert life(store) == ("dying", 1)


def test_a_transaction_that_writes_nothing_tells_others_nothing(connect: Open) -> None:
    store, other = connect(), connect()
    other.remember()
    before = store.version()
    with other.write(OTHER):
        pass
    assert store.version() == before


@pytest.mark.parametrize("what", [None, '["another release"]'], ids=["unknown", "of another release"])
def test_writes_that_others_do_not_describe_drop_everything(connect: Open, url: str, what: str) -> None:
    store = connect()
    store.remember()
    noted(store)
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("INSERT INTO pushjuju.model_config VALUES (%s, 'note', 'new')", [MODEL.uuid])
        link.execute("INSERT INTO pushjuju.written (process, model, what) VALUES (1, '', %s)", [what])
    assert noted(store) == "new"


def test_who_has_missed_much_takes_everything_for_changed(connect: Open, url: str) -> None:
    store = connect()
    store.remember()
    noted(store)
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("INSERT INTO pushjuju.model_config VALUES (%s, 'note', 'new')", [MODEL.uuid])
        many = "INSERT INTO pushjuju.written (process, model, what) SELECT 1, '', 'never read' FROM %s"
        link.execute((many % "generate_series(1, 1001)").encode())
    assert noted(store) == "new"


def test_transactions_of_different_models_run_beside_each_other(connect: Open) -> None:
    with connect().write(MODEL.uuid) as first, connect().write(OTHER) as second:
        note(first, "one")
        note(second, "two", OTHER)
    assert (noted(connect()), noted(connect(), OTHER)) == ("one", "two")


def waits(connect: Open, model: str) -> bool:
    """Return True when a transaction of a model, "" for the whole store, has to wait; it gives up soon."""
    store = connect()
    store.engine.connection.execute("SET lock_timeout = '200ms'").result()  # type: ignore[attr-defined]
    try:
        with store.write(model):
            return False
    except StoreBusy as error:
        return "is held by another process" in str(error)


def consume(store: Store) -> None:
    """Let OTHER consume an offer of MODEL."""
    with store.write() as tx:
        tx.insert(
            "remote_application",
            RemoteApplication(
                model=OTHER, name="db", url="admin/test.db", offer="o", source=MODEL.uuid, application="db",
                life="alive", endpoints={}, created=MODEL.created,
            ),
        )  # fmt: skip


def test_who_waits_for_whom(connect: Open) -> None:
    """OTHER consumes an offer of MODEL, so their transactions exclude each other."""
    consume(connect())
    with connect().write(MODEL.uuid):
        assert [waits(connect, model) for model in (MODEL.uuid, OTHER, THIRD, "")] == [
            True,
            True,
            False,
            True,
        ]
    with connect().write():
        assert waits(connect, THIRD)
    assert not waits(connect, "")


def test_a_model_that_seemed_to_be_alone_is_locked_with_those_that_offers_connect(connect: Open) -> None:
    """A process knows that a model has no offers, until another process connects the model."""
    store, other = connect(), connect()
    store.remember()
    for _ in range(2):
        with store.write(MODEL.uuid):
            assert not waits(connect, OTHER)
    consume(other)
    for _ in range(2):
        with store.write(MODEL.uuid) as tx:
            assert waits(connect, OTHER)
            note(tx, "theirs", OTHER)
    assert noted(other, OTHER) == "theirs"


def test_hosts_that_write_the_address_differently_exclude_each_other(url: str, connect: Open) -> None:
    name, _, host = url.partition("@/")[2].partition("?host=")
    other = Store.open(f"postgresql://pushjuju@/?dbname={name}&host={host}")
    with connect().write(MODEL.uuid):
        running = threading.Thread(target=lambda: other.write(MODEL.uuid).__enter__(), daemon=True)
        running.start()
        comes(lambda: someone_waits(url), limit=20)
    running.join(20)
    assert not running.is_alive()
    other.close()


def test_a_thread_that_waits_for_a_lock_lets_the_others_run(url: str, connect: Open) -> None:
    """Else the thread that has the lock could not go on either."""
    mine, other = connect(), connect()

    def write() -> None:
        with other.write(MODEL.uuid) as tx:
            note(tx, "second")

    waiting = threading.Thread(target=write)
    with mine.write(MODEL.uuid) as tx:
        waiting.start()
        comes(lambda: someone_waits(url), limit=20)
        note(tx, "first")
    waiting.join(20)
    assert noted(mine) == "second"


def test_a_counter_of_two_processes_loses_nothing(url: str, connect: Open) -> None:
    code = (
        "import sys\nfrom pushjuju.store.db import Store\nstore = Store.open(sys.argv[1])\nstore.remember()\n"
        "for _ in range(100):\n    with store.write(sys.argv[2]) as tx: tx.next(sys.argv[2], 'unit')\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, url, MODEL.uuid]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    with connect().write() as tx:
        assert tx.next(MODEL.uuid, "unit") == 200


def test_a_look_between_transactions_leaves_none_open(connect: Open) -> None:
    store, other = connect(), connect()
    store.remember()
    first = store.version()
    with other.write() as tx:
        note(tx, "new")
    assert store.version() != first
    assert noted(store) == "new"


# --- durability -------------------------------------------------------------------------------------------


async def test_many_writers_wait_for_one_flush(connect: Open) -> None:
    store, other = connect(), connect()
    deferred = [DeferredStore(store) for _ in range(5)]

    async def write(number: int) -> None:
        with deferred[number].write(MODEL.uuid) as tx:
            note(tx, str(number))
        assert noted(other) == "None"
        await deferred[number].durable()

    before = store.engine.connection.sent  # type: ignore[attr-defined]
    await asyncio.gather(*(write(number) for number in range(5)))
    assert store.engine.is_durable  # type: ignore[attr-defined]
    assert store.engine.connection.sent - before == 4 + 5 + 4 + 2 + 3  # type: ignore[attr-defined]
    assert noted(connect()) == "4"


def test_a_reader_of_a_moment_ago_asks_the_server_only_for_what_is_not_cached(
    connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = connect(), connect()
    deferred, pipeline = DeferredStore(store), store.engine.connection
    store.remember()
    with store.read():
        begun = pipeline.sent  # type: ignore[attr-defined]
    assert noted(deferred) == "None"
    assert noted(deferred) == "None"
    assert pipeline.sent - begun == 1 + 3  # type: ignore[attr-defined] # a commit; begin, question, commit
    with other.write(MODEL.uuid) as tx:
        note(tx, "new")
    assert noted(store) == "new"  # a reader of now looks first
    monkeypatch.setattr("pushjuju.store.postgres.engine._RECENT_S", 0.0)
    with other.write(MODEL.uuid) as tx:
        note(tx, "newer")
    assert noted(deferred) == "newer"


async def test_a_lost_connection_tells_those_whose_writes_may_be_lost(url: str, connect: Open) -> None:
    store = connect()
    deferred = DeferredStore(store)
    with deferred.write(MODEL.uuid) as tx:
        note(tx, "perhaps")
    cut(url)
    with pytest.raises(StoreError):
        await deferred.durable()
    assert noted(store) in ("perhaps", "None")  # connected again
    with DeferredStore(store).write(MODEL.uuid) as tx:
        note(tx, "again")
    assert noted(connect()) == "again"


def test_a_process_connects_again_after_a_loss(url: str, connect: Open) -> None:
    store = connect()
    store.remember()
    assert noted(store) == "None"
    cut(url)
    assert noted(store) == "None"
    with pytest.raises(StoreAway, match="does not answer"), store.write() as tx:  # noqa: PT012 - the loss comes in between
        note(tx, "lost")
        cut(url)
    assert noted(store) == "None"


# --- opening ----------------------------------------------------------------------------------------------


def test_what_is_refused_when_a_store_is_opened(url: str) -> None:
    with pytest.raises(StoreDamaged, match="has no store of pushjuju"):
        Store.open(url)
    Store.open(url, create=True).close()
    Store.open(url, create=True).close()  # an interrupted creation goes on
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("UPDATE pushjuju.schema_version SET version = 9999")
    with pytest.raises(StoreTooNew, match="schema 9999"):
        Store.open(url)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("postgresql://db/pushjuju", "needs TLS"),
        ("postgresql://db/pushjuju?sslmode=require", "needs TLS"),
        ("postgresql:///pushjuju?service=shop", "needs TLS"),
        ("postgresql:///pushjuju?hostaddr=192.0.2.1&host=/run", "needs TLS"),
        ("postgresql://u:secret@db/pushjuju?sslmode=verify-full", "has no password"),
        ("postgresql://db/pushjuju?nonsense=1", "malformed"),
        ("postgresql://[::1", "malformed"),
    ],
)
def test_addresses_that_are_refused(given: str, said: str) -> None:
    with pytest.raises(NotValid, match=said) as raised:
        address.require_safe(address.parsed(given))
    assert "secret" not in raised.value.full_text


@pytest.mark.parametrize("name", ["PGHOST", "PGHOSTADDR", "PGSERVICE"])
def test_the_environment_leads_no_connection_to_the_network_without_tls(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Nothing is sent, in particular no password."""
    monkeypatch.setenv(name, "192.0.2.1")
    place = address.parsed("postgresql:///pushjuju?connect_timeout=2")
    with pytest.raises(NotValid, match="needs TLS"):
        address.require_safe(place)
    with pytest.raises(NotValid, match="would send the connection over the network"):
        address.connected(place)
    address.require_safe(address.parsed("postgresql:///pushjuju?sslmode=verify-full"))


def test_the_environment_may_name_a_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PGHOST", str(tmp_path))
    address.require_safe(address.parsed("postgresql:///pushjuju"))
    with pytest.raises(StoreBusy, match="cannot be reached"):
        address.connected(address.parsed("postgresql:///pushjuju"))


def test_addresses_that_are_taken() -> None:
    assert address.parsed("postgresql://db/pj?sslmode=verify-full").shown == "postgresql://db/pj"
    for given in ("postgresql://db/pj?sslmode=verify-full", "postgresql:///pj", "postgresql:///pj?host=/run"):
        address.require_safe(address.parsed(given))


def test_a_server_that_is_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreBusy, match="cannot be reached") as raised:
        Store.open(f"postgresql://nobody@/none?host={tmp_path}")
    assert str(tmp_path) in raised.value.full_text


def test_the_command_that_tries_the_connection_is_quoted_for_the_shell(tmp_path: Path) -> None:
    url = f"postgresql://o'brien@/none?host={tmp_path}"
    with pytest.raises(StoreBusy, match="cannot be reached") as raised:
        Store.open(url)
    assert shlex.split(raised.value.hint)[:2] == ["psql", url]


def test_a_role_without_rights_is_told_how_to_get_them(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("DROP ROLE IF EXISTS poor")
        link.execute("CREATE ROLE poor LOGIN")
    with pytest.raises(StoreError, match="the role lacks a right") as raised:
        Store.open(url.replace("pushjuju@", "poor@"), create=True)
    assert raised.value.hint.startswith("as a superuser of the server: CREATE DATABASE")


# --- the queue --------------------------------------------------------------------------------------------

KEYS = [machine_key(model, "0") for model in (MODEL.uuid, OTHER)]
CLAIMS = """
import sys
from datetime import datetime
from pushjuju.store.db import Store
from pushjuju.store.queue import WorkQueue
queue = WorkQueue(Store.open(sys.argv[1]), "other:2:2")
sys.exit(len(queue.claim_some(sys.argv[2], datetime.fromisoformat(sys.argv[3]), 1)) - 1)
"""


@pytest.fixture
def due(connect: Open) -> Open:
    """The same, with a machine of each of two models that is due."""
    with connect().write() as tx:
        for key in KEYS:
            touch(tx, key, NOW)
    return connect


def test_work_of_a_model_is_claimed_and_given_back_while_another_model_is_written(due: Open) -> None:
    queue = WorkQueue(due(), "host:1:1")
    mine, theirs = KEYS
    with due().write(model_of(theirs)):
        [claim] = queue.claim_some(f"{model_of(mine)}/", NOW, 9)
        assert claim.key == mine
        assert queue.heartbeat(claim, NOW)
        queue.finish(claim, NOW, due=None)
    assert [claim.key for claim in queue.claim_some("", NOW, 9)] == [theirs]


def test_one_look_claims_work_of_several_models(due: Open) -> None:
    queue = WorkQueue(due(), "host:1:1")
    assert len(queue.claim_some("", NOW, 1)) == 1
    assert len(queue.claim_some("", NOW, 9)) == 1
    assert not queue.claim_some("", NOW, 9)


def test_a_claim_waits_for_the_write_that_checked_the_earlier_lease(due: Open, url: str) -> None:
    """Else the earlier process could commit after another process has begun with the machine."""
    store = due()
    [claim] = WorkQueue(store, "host:1:1").claim_some(KEYS[0], NOW, 1)
    model, later = model_of(claim.key), NOW + timedelta(seconds=LEASE_S + 1)
    with LeasedStore(store, claim).write(model) as tx:
        other = subprocess.Popen([sys.executable, "-c", CLAIMS, url, claim.key, later.isoformat()])
        comes(lambda: someone_waits(url) or other.poll() is not None)
        assert other.poll() is None
        note(tx, "first")
    assert other.wait(timeout=60) == 0
    with pytest.raises(LeaseLost), LeasedStore(store, claim).write(model) as tx:
        note(tx, "second")
    assert noted(store) == "first"


@pytest.mark.parametrize(("query", "looks"), [("work_any_due", 1), ("work_left", 2)])
def test_a_look_at_the_queue_reads_little_when_the_server_expects_many_due_keys(
    connect: Open, url: str, query: str, looks: int
) -> None:
    store = connect()
    with store.write() as tx:
        for number in range(2000):
            touch(tx, machine_key(MODEL.uuid, str(number)), NOW)
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("ANALYZE pushjuju.work")
        link.execute("UPDATE pushjuju.work SET due = '2999'")
    with store.read() as tx:
        asked = {"prefix": "", "now": NOW, "late": NOW}
        plan = [row[0] for row in tx._connection.execute(f"EXPLAIN {queries()[query]}", asked).fetchall()]
    assert sum("work_by_due" in line for line in plan) == looks, plan
    assert not any("Seq Scan" in line for line in plan), plan


HOLDS = """
import sys
from datetime import datetime
from pushjuju.store.db import Store
from pushjuju.store.queue import WorkQueue
store = Store.open(sys.argv[1])
store.engine.appear("another.host:1:1")
queue = WorkQueue(store, "another.host:1:1")
print(len(queue.claim_some(sys.argv[2], datetime.fromisoformat(sys.argv[3]), 1)), flush=True)
sys.stdin.read()
"""


def test_the_work_of_a_killed_process_of_another_host_is_free_within_two_seconds(due: Open, url: str) -> None:
    store = due()
    argv = [sys.executable, "-c", HOLDS, url, KEYS[0], str(NOW)]
    queue = WorkQueue(store, "host:1:1")
    comes(lambda: store.lives("dead.host:1:1") is False)  # None shortly after the start of the server
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "1\n"
        assert not queue.claim_some(KEYS[0], NOW, 1)
        other.kill()
        killed = time.monotonic()
        comes(lambda: queue.claim_some(KEYS[0], NOW, 1))
    assert time.monotonic() - killed < 2


def test_a_process_that_lost_its_connection_is_seen_again(url: str, connect: Open) -> None:
    store, other = connect(), connect()
    store.appear()
    assert other.lives(process_owner()) is True
    comes(lambda: other.lives("dead.host:1:1") is False)
    cut(url)
    assert noted(other) == "None"
    assert other.lives(process_owner()) is None  # may be about to connect again
    assert noted(store) == "None"
    assert other.lives(process_owner()) is True


def test_a_process_stops_when_a_newer_release_has_changed_the_store(connect: Open, url: str) -> None:
    store = connect()
    store.remember()
    assert noted(store) == "None"
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("UPDATE pushjuju.schema_version SET version = 9999")
        for use in (store.read, store.write):
            with pytest.raises(StoreTooNew, match="schema 9999"), use():
                pass
        with pytest.raises(StoreTooNew):
            store.version()
        link.execute("UPDATE pushjuju.schema_version SET version = %s", [schema.newest()])
    assert noted(store) == "None"  # no transaction is left open


def test_the_clock_of_a_host_does_not_matter(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leases and due times are by the clock of the server."""
    datadir, now = DataDir(tmp_path), datetime.now(UTC)
    database = new_controllers.Database(url=postgres_url, insecure=True)
    new_controllers.bootstrap(datadir, "manual", "prod", now=now, database=database)
    wrong = now + timedelta(minutes=10)
    monkeypatch.setattr(SystemClock, "now", lambda clock: wrong)
    with closing(open_context(datadir, "prod")) as ctx:
        assert timedelta(0) <= ctx.clock.now() - now < timedelta(minutes=5)


def test_a_clock_that_hears_the_server_late_does_not_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 100.0
    monkeypatch.setattr(clock.time, "monotonic", lambda: passed)
    heard = clock.ServerClock()

    def seconds() -> float:
        return heard.now().timestamp()

    heard.hear(5000.0)
    passed = 110.0
    heard.hear(5009.0)  # a second late
    assert seconds() == 5010.0
    passed = 171.0
    heard.hear(5070.5)  # the earlier estimate is too old
    assert seconds() == 5070.5
    passed = 171.2
    heard.hear(5070.2)
    assert seconds() == 5070.7
    heard.hear(4000.0)  # somebody has set the clock of the server
    assert seconds() == 4000.0


async def test_work_that_another_process_makes_due_wakes_a_controller_process(
    url: str, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing looks at the queue here: only the server tells."""
    monkeypatch.setattr(serving, "_AGAIN_S", 0.01)
    mine, other = connect(), connect()
    woken = asyncio.Event()

    async def wakes(store: Store) -> None:
        woken.clear()
        with store.write(MODEL.uuid) as tx:
            touch(tx, KEYS[0], NOW)
        await asyncio.wait_for(woken.wait(), 30)

    with serving.Waking(mine, woken.set):
        await wakes(other)
        woken.clear()
        with mine.write(MODEL.uuid) as tx:
            touch(tx, KEYS[0], NOW)
        await stays(lambda: not woken.is_set(), 0.2)  # this process looks itself after its own work
        cut(url)
        await asyncio.wait_for(woken.wait(), 30)  # something may have been missed
        await until(lambda: listens(url))
        await wakes(other)


def test_others_are_told_of_each_statement_that_makes_work_due() -> None:
    makes = {name for name, text in queries().items() if "INSERT INTO work " in text}
    assert makes == set(wakes.STATEMENTS) - {"work_take_due", "clock_work_due_now"}


def listens(url: str) -> bool:
    with psycopg.connect(url, autocommit=True) as link:
        asked = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^LISTEN'"
        )
        return bool(link.execute(asked).fetchone()[0])


def someone_waits(url: str) -> bool:
    with psycopg.connect(url, autocommit=True) as link:
        asked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        return bool(link.execute(asked).fetchone()[0])


# --- copies -----------------------------------------------------------------------------------------------


def rows_of(path: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(path)) as file:
        tables = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(map(repr, file.execute(f"SELECT * FROM {name}"))) for name in tables}


def test_a_store_is_the_same_after_both_ways(url: str, tmp_path: Path) -> None:
    """The simulated world has rows in most tables."""
    world = TestController.build(tmp_path, Charms(tmp_path / "charms"))
    world.active("web")
    first, second = world.ctx.controller.store_path, tmp_path / "copy.db"
    Store.open(url, create=True).close()
    for _ in range(2):  # the second time, the rows of the first are replaced
        transfer.from_file(first, address.parsed(url))
    transfer.to_file(address.parsed(url), second)
    assert rows_of(first) == rows_of(second)
    with closing(Store.open(url)) as store, store.write() as tx:
        assert tx.list(type(MODEL), "model_list")
    world.ctx.close()


def test_migrations_after_the_first_store_run_there_too(url: str) -> None:
    made = list(schema.baseline(schema.newest()))
    assert made
    make_earlier(url)
    with closing(Store.open(url)) as store:
        store.check()
    assert version(url) == schema.newest()


def test_pages_of_rows_that_hooks_change_have_room_in_new_and_older_stores(
    url: str, postgres_host: str
) -> None:
    Store.open(url, create=True).close()
    with databases.database(postgres_host) as older:
        make_earlier(older)
        Store.open(older).close()
        for place in (url, older):
            with psycopg.connect(place) as link:
                asked = (
                    "SELECT relname FROM pg_class WHERE 'fillfactor=70' = ANY(reloptions) ORDER BY relname"
                )
                found = [row[0] for row in link.execute(asked)]
            assert found == ["machine", "status", "unit", "work"]


def make_earlier(url: str) -> None:
    """Make a store as the release before the last migration made it."""
    earlier = schema.newest() - 1
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CREATE SCHEMA pushjuju; SET search_path = pushjuju")
        for statement in (schema.OWN, *schema.baseline(earlier)):
            link.execute(statement)
        link.execute("INSERT INTO schema_version VALUES (%s)", [earlier])


def version(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as link:
        return int(link.execute("SELECT version FROM pushjuju.schema_version").fetchone()[0])


def test_a_migration_waits_for_the_writers_of_the_release_before(url: str) -> None:
    make_earlier(url)
    opening = threading.Thread(target=lambda: Store.open(url).close())
    with psycopg.connect(url) as writer:
        writer.execute("SELECT pg_advisory_xact_lock_shared(%s)", [address.LOCK])
        opening.start()
        comes(lambda: someone_waits(url), limit=20)
        assert version(url) == schema.newest() - 1
    opening.join(20)
    assert version(url) == schema.newest()
