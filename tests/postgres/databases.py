"""Databases on the one server of a run of the tests."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

_numbers = itertools.count()


@contextmanager
def database(host: str, template: str = "") -> Iterator[str]:
    """Yield the address of a new database, which is deleted at the end.

    Args:
        host: The folder of the server's socket.
        template: The name of a database to copy, which nobody uses meanwhile.
    """
    name = f"of_{os.getpid()}_{next(_numbers)}"
    command(host, f"CREATE DATABASE {name} TEMPLATE {template or 'template1'}")
    try:
        yield f"postgresql://pushjuju@/{name}?host={host}"
    finally:
        command(host, f"DROP DATABASE {name} WITH (FORCE)")


def command(host: str, statement: str) -> list[tuple[object, ...]]:
    """Run a statement outside of the databases of the tests, and return its rows."""
    psycopg = import_module("psycopg")  # an extra
    with psycopg.connect(host=host, user="pushjuju", dbname="postgres", autocommit=True) as link:
        cursor = link.execute(statement)
        return cursor.fetchall() if cursor.description else []
