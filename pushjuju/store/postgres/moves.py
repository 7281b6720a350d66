"""Moves of a store into a database and back into a file: the schemas that exist meanwhile.

A store that arrives has a schema with another name until it is complete. The schema of a store that has moved
to a file is renamed, so that no other process can write there any more, and stays as an old copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from pushjuju.core.errors import Conflict, StoreError
from pushjuju.store.postgres import address, schema, transfer
from pushjuju.store.postgres.blobs import DatabaseBlobs

if TYPE_CHECKING:
    from pushjuju.store.engine import Connection
    from pushjuju.store.files.known_hosts import HostKey

_ARRIVING = f"{address.SCHEMA}_arriving_"
# a copy of a large store takes longer than other transactions may
_PATIENCE = ("SET LOCAL idle_in_transaction_session_timeout = 0", "SET LOCAL statement_timeout = 0")


def prepare(url: str, uuid: str) -> None:
    """Make a new schema for a store that arrives.

    Args:
        uuid: Of the controller; what an interrupted move of the same controller has left is deleted.

    Raises:
        Conflict: The database has a store already.
        StoreError: The server does not answer.
    """
    place, name = address.parsed(url), _arriving(uuid)
    with address.linked(place) as link:
        if _exists(link, address.SCHEMA):
            raise Conflict(
                f"the database {place.shown} has the store of a controller already",
                hint="createdb makes another database for this controller",
            )
        _drop(link, name)
        schema.prepare(link, place.shown, create=True, name=name)


def blobs(url: str, uuid: str, root: Path) -> DatabaseBlobs:
    """Return the blobs of a store that arrives; the folder is that of the controller."""
    return DatabaseBlobs(address.parsed(url), root, _arriving(uuid))


def keep_host_keys(url: str, uuid: str, found: Iterable[tuple[str, HostKey]]) -> None:
    """Put host keys into the schema that `prepare` has made.

    Args:
        found: Each with the UUID of its model.
    """
    put = "INSERT INTO host_key (model, name, key, accepted) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
    with address.linked(address.parsed(url), _arriving(uuid)) as link, link.cursor() as cursor:
        cursor.executemany(put, [(model, key.name, key.key, int(key.accepted)) for model, key in found])


def arrive(path: Path, url: str, uuid: str) -> None:
    """Copy a file that nobody writes into the schema that `prepare` has made, and compare all rows.

    Raises:
        StoreError: The server does not answer, or the rows differ.
    """
    transfer.from_file(path, address.parsed(url), name=_arriving(uuid), compare=True)


def give_up(url: str, uuid: str) -> None:
    """Delete what `prepare` and `arrive` have made, also from a full disk."""
    name, asked = _arriving(uuid), "SELECT tablename FROM pg_tables WHERE schemaname = %s"
    with address.linked(address.parsed(url)) as link:
        for (table,) in link.execute(asked, [name]).fetchall():
            with suppress(psycopg.Error):  # a table with defaults needs the room of others
                link.execute(f"DROP TABLE {name}.{table} CASCADE")
        _drop(link, name)


def settle(url: str, uuid: str) -> None:
    """Make what `arrive` has copied the store of the database; called again, do nothing.

    Raises:
        StoreError: The copy is not there, or the server does not answer.
    """
    place = address.parsed(url)
    with address.linked(place) as link:
        if _exists(link, _arriving(uuid)):
            _rename(link.execute, _arriving(uuid), address.SCHEMA)
        elif not _exists(link, address.SCHEMA):
            raise StoreError(f"the database {place.shown} does not have the store that has moved")


def leave(connection: Connection, stamp: str) -> None:
    """Rename the schema in the open transaction of the whole store; later writes of others fail.

    Args:
        stamp: A new name for this move: letters, digits and underscores.
    """
    moved = f"{schema.MOVED}{stamp}"
    _rename(connection.execute, address.SCHEMA, moved)
    connection.execute(f"SET LOCAL search_path = {moved}")


def be_patient(connection: Connection) -> None:
    """Let the open transaction take as long as a copy takes."""
    for statement in _PATIENCE:
        connection.execute(statement).fetchall()  # it counts before the copy begins


def has_left(url: str, stamp: str) -> bool:
    """Return True when the transaction of `leave` was committed; wait for a commit whose answer was lost."""
    with address.linked(address.parsed(url)) as link, link.transaction():
        link.execute("SET LOCAL lock_timeout = '30s'")
        link.execute("SELECT pg_advisory_xact_lock(%s)", [address.LOCK])
        return _exists(link, f"{schema.MOVED}{stamp}")


def _arriving(uuid: str) -> str:
    return _ARRIVING + uuid.replace("-", "")


def _exists(link: psycopg.Connection[Any], name: str) -> bool:
    return link.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [name]).fetchone() is not None


def _drop(link: psycopg.Connection[Any], name: str) -> None:
    link.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


def _rename(run: Any, name: str, other: str) -> None:
    run(f"ALTER SCHEMA {name} RENAME TO {other}")
