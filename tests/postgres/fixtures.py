"""Fixtures for tests on a real PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from typing import NoReturn
from urllib.parse import urlsplit

import pytest

from pushjuju.store.db import Store
from tests.postgres import databases, server
from tests.waiting import comes


def missing(reason: str) -> NoReturn:
    """Skip a test that needs PostgreSQL; in CI, where nobody would notice that, let the test fail."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def require_psycopg() -> None:
    """Do the same without psycopg."""
    if find_spec("psycopg") is None:
        missing("psycopg is not installed")


def cut(url: str) -> None:
    """End all other connections to the database, as a restart of the server does."""
    psycopg = import_module("psycopg")  # an extra
    with psycopg.connect(url, autocommit=True) as link:
        others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        link.execute(f"SELECT pg_terminate_backend(pid) {others}")
        comes(lambda: link.execute(f"SELECT count(*) {others}").fetchone() == (0,))


@pytest.fixture(scope="session")
def postgres_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The folder of the socket of the one PostgreSQL server of this run of the tests."""
    base = tmp_path_factory.getbasetemp()  # that of a worker of pytest-xdist is in the one of the run
    try:
        with server.running(base.parent if base.name.startswith("popen-gw") else base) as folder:
            yield folder
    except server.NoServerError as error:
        missing(str(error))


@pytest.fixture
def postgres_url(postgres_host: str) -> Iterator[str]:
    """The address of an empty database of PostgreSQL."""
    require_psycopg()
    with databases.database(postgres_host) as url:
        yield url


@pytest.fixture(scope="session")
def empty_store(postgres_host: str) -> Iterator[str]:
    """The name of a database with an empty store; a copy takes a fifth of the time of a new store."""
    require_psycopg()
    with databases.database(postgres_host) as url:
        with closing(Store.open(url, create=True)):
            pass
        yield urlsplit(url).path[1:]


@pytest.fixture
def postgres_store(postgres_host: str, empty_store: str) -> Iterator[str]:
    """The address of a database of PostgreSQL with an empty store."""
    with databases.database(postgres_host, empty_store) as url:
        yield url
