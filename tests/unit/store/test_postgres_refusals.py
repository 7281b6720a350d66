"""What is said when a server of PostgreSQL, a database or a role cannot be used; the server is real."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreAway, StoreBusy, StoreError, StoreGone
from pushjuju.store.db import Store
from tests.postgres import databases, server

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

from pushjuju.store.postgres import address, schema  # noqa: E402 - needs psycopg

SSL_REQUEST = struct.pack("!ii", 8, 80877103)
ASK_FOR_PASSWORD = b"R" + struct.pack("!ii", 8, 3)
TABLES = "ALL TABLES IN SCHEMA pushjuju"


@pytest.fixture
def stranger(postgres_url: str) -> Iterator[str]:
    """The address of a store for a role that has no right to its schema."""
    Store.open(postgres_url, create=True).close()
    with psycopg.connect(postgres_url, autocommit=True) as link:
        link.execute("CREATE ROLE stranger LOGIN")
        yield postgres_url.replace("pushjuju@", "stranger@")
        link.execute("DROP OWNED BY stranger")
        link.execute("DROP ROLE stranger")


def read(store: Store) -> None:
    with store.read() as tx:
        tx.rows("model_list")


def test_a_store_that_a_role_may_not_read_is_not_said_to_be_missing(postgres_url: str, stranger: str) -> None:
    def refused() -> str:
        with pytest.raises(StoreError, match="cannot be used: the role lacks a right") as raised:
            Store.open(stranger)
        return raised.value.detail

    with psycopg.connect(postgres_url, autocommit=True) as link:
        assert "for schema pushjuju" in refused()
        link.execute("GRANT USAGE ON SCHEMA pushjuju TO stranger")
        assert "for table schema_version" in refused()
        link.execute(f'REVOKE CONNECT ON DATABASE "{link.info.dbname}" FROM PUBLIC')
        assert "for database" in refused()


def test_a_schema_that_another_role_has_made_is_not_said_to_be_out_of_reach(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as link:
        link.execute(f'CREATE ROLE maker LOGIN; GRANT CREATE ON DATABASE "{link.info.dbname}" TO maker')
        link.execute("CREATE SCHEMA pushjuju")
        try:
            with pytest.raises(StoreError, match="cannot be used: the role lacks a right"):
                Store.open(postgres_url.replace("pushjuju@", "maker@"), create=True)
        finally:
            link.execute("DROP OWNED BY maker; DROP ROLE maker")


def test_a_store_that_could_not_be_made_leaves_nothing(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later move into the database would take an empty schema for the store of another controller."""
    monkeypatch.setattr(schema, "_ROOM", "what no server understands {}")
    with pytest.raises(StoreError):
        Store.open(postgres_url, create=True)
    with psycopg.connect(postgres_url) as link:
        assert not link.execute("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'pushjuju%'").fetchone()


def test_a_role_that_may_only_read_is_told_of_its_setting(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as link:
        link.execute(f'ALTER DATABASE "{link.info.dbname}" SET default_transaction_read_only = on')
    with pytest.raises(StoreError, match="the server is read-only") as raised:
        Store.open(postgres_url, create=True)
    assert "default_transaction_read_only" in raised.value.hint


def test_a_right_that_is_taken_from_a_role_at_work_is_named(postgres_url: str, stranger: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as link:
        link.execute(f"GRANT USAGE ON SCHEMA pushjuju TO stranger; GRANT ALL ON {TABLES} TO stranger")
        with closing(Store.open(stranger)) as store:
            read(store)
            link.execute(f"REVOKE ALL ON {TABLES} FROM stranger")
            with pytest.raises(StoreError, match="cannot be used: the role lacks a right"):
                read(store)
            link.execute(f"GRANT ALL ON {TABLES} TO stranger")
            read(store)


def test_a_server_without_tls_is_not_waited_for(tmp_path: Path) -> None:
    with server.running(tmp_path, address="127.0.97.3") as folder, databases.database(folder) as made:
        far = made.partition("?")[0].replace("@/", "@127.0.97.3/")
        for mode in ("require", "verify-full"):
            with pytest.raises(StoreBusy, match="cannot be reached") as raised:
                Store.open(f"{far}?sslmode={mode}")
            assert not isinstance(raised.value, StoreAway)
        with pytest.raises(StoreAway):
            Store.open(f"{far}?sslmode=require&port=1")


def test_a_server_without_tls_hears_no_name_and_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever answers in place of the server refuses TLS, and asks for a password in clear text."""
    monkeypatch.setenv("PGPASSWORD", "password of ada")
    heard: list[bytes] = []

    def answer() -> None:
        for _ in range(3):  # the connection, the look, the look without TLS
            with listener.accept()[0] as link:
                while said := link.recv(1000):
                    heard.append(said)
                    link.sendall(b"N" if said == SSL_REQUEST else ASK_FOR_PASSWORD)

    with socket.create_server(("127.0.97.3", 0)) as listener:
        answers = threading.Thread(target=answer, daemon=True)
        answers.start()
        with pytest.raises(StoreBusy, match="cannot be reached"):
            Store.open(f"postgresql://ada@127.0.97.3:{listener.getsockname()[1]}/shop?sslmode=require")
        answers.join(20)
    assert not answers.is_alive()
    assert any(b"user\0pushjuju" in said for said in heard)
    assert not any(word in said for said in heard for word in (b"ada", b"shop"))


def test_a_server_that_is_too_old_is_refused(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "_LEAST_VERSION", 990000)
    with pytest.raises(StoreError, match="pushjuju needs 14 or newer"):
        Store.open(postgres_url, create=True)


def test_a_database_with_another_encoding_is_refused(postgres_host: str) -> None:
    name = "of_another_encoding"
    databases.command(postgres_host, f"CREATE DATABASE {name} ENCODING LATIN1 LOCALE 'C' TEMPLATE template0")
    try:
        with pytest.raises(StoreError, match="has the encoding LATIN1; pushjuju needs UTF8") as raised:
            Store.open(f"postgresql://pushjuju@/{name}?host={postgres_host}", create=True)
    finally:
        databases.command(postgres_host, f"DROP DATABASE {name}")
    assert raised.value.hint.startswith("createdb --encoding UTF8")


def test_a_store_that_was_removed_is_gone_for_those_who_have_it_open(postgres_url: str) -> None:
    with closing(Store.open(postgres_url, create=True)) as store:
        with psycopg.connect(postgres_url, autocommit=True) as link:
            link.execute("DROP SCHEMA pushjuju CASCADE")
        with pytest.raises(StoreGone, match="is gone: its controller was removed or moved"):
            read(store)
