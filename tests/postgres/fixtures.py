"""Fixtures for tests on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import databases, server


@pytest.fixture(scope="session")
def postgres_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The folder of the socket of the one PostgreSQL server of this run of the tests."""
    base = tmp_path_factory.getbasetemp()  # that of a worker of pytest-xdist is in the one of the run
    try:
        with server.running(base.parent if base.name.startswith("popen-gw") else base) as folder:
            yield folder
    except server.NoServerError as error:
        pytest.skip(str(error))


@pytest.fixture
def postgres_url(postgres_host: str) -> Iterator[str]:
    """The address of an empty database of PostgreSQL."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with databases.database(postgres_host) as url:
        yield url
