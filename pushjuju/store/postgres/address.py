"""The address of a store in PostgreSQL, and the connection to it."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import conninfo, pq

from pushjuju.core.errors import NotValid, StoreAway, StoreBusy, StoreError
from pushjuju.core.values import dataclass
from pushjuju.store.postgres.faults import NO_RIGHT, NO_SCHEMA, STANDBY, WAITED, explain_error
from pushjuju.store.postgres.pipeline import Failed

SCHEMES = ("postgresql", "postgres")
SCHEMA = "pushjuju"
PROGRAM = "pushjuju"
_LEAST_VERSION = 140000
_SAFE = "verify-full"
_WAITS = {
    "connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 15000, "client_encoding": "utf8",
}  # fmt: skip
# Any answer tells that the server is there, also one to a user that it does not know.
_NAMELESS = {
    "user": PROGRAM, "dbname": PROGRAM, "password": "-", "sslmode": "disable", "gssencmode": "disable",
}  # fmt: skip
# Whatever the role has: a machine deletes the result of a hook once the result is committed, a writer reads
# what was committed while it waited for its lock, and a copy of a large store takes long. Bytes and numbers
# are sent and read in the forms of the last three.
_OURS = {
    "synchronous_commit": "on", "default_transaction_isolation": "read committed", "lock_timeout": 0,
    "statement_timeout": 0, "idle_in_transaction_session_timeout": 0, "idle_session_timeout": 0,
    "bytea_output": "hex", "extra_float_digits": 1, "standard_conforming_strings": "on",
}  # fmt: skip
_ASKED = ", ".join(
    ["SELECT pg_backend_pid(), current_setting('server_encoding')"]
    + [f"set_config('{name}', '{value}', false)" for name, value in _OURS.items()]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A database of PostgreSQL."""

    url: str  # the address as it was given
    shown: str  # the address for people
    parameters: dict[str, Any]  # the parameters of libpq


def lock_of(name: str) -> int:
    """Return the number of an advisory lock of the store: "" for the whole store.

    A lock belongs to one database of a server. The address takes no part: hosts may write it in several ways.
    """
    digest = hashlib.sha256(f"{SCHEMA}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


LOCK = lock_of("")


def parsed(url: str) -> Place:
    """Return the place that an address names.

    Raises:
        NotValid: The address is malformed, or has a password.
    """
    if url.partition("://")[0] not in SCHEMES:
        raise NotValid(f'the address of a store begins with {SCHEMES[0]}://, not "{url.partition("/")[0]}"')
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise NotValid(f"the address of the store is malformed: {str(error).strip()}") from None
    if "password" in given:
        raise NotValid(
            "the address of a store has no password: it would stand in a file and in lists of processes",
            hint="put the password into ~/.pgpass (mode 0600), or set PGPASSFILE",
        )
    name = f"{PROGRAM} {os.getpid()} on {os.uname().nodename}"  # shown to others who wait for this process
    shown = url.partition("?")[0].partition("#")[0]
    parameters = {**_WAITS, "application_name": name, **given}
    return Place(url=url, shown=shown, parameters=parameters)


def require_safe(place: Place) -> None:
    """Check that nobody between this computer and the server can read or change what is sent.

    Raises:
        NotValid: The address names a server on the network, and asks for less than TLS with a checked name.
    """
    if not is_safe(place):
        service = f"service={place.parameters['service']}&" if "service" in place.parameters else ""
        raise NotValid(
            f"the address of a store on the network needs TLS: {place.shown}?{service}sslmode={_SAFE}",
            hint="--insecure-store allows a connection that others can read and change",
        )


def is_safe(place: Place) -> bool:
    """Return True when `require_safe` raises nothing."""
    if place.parameters.get("sslmode") == _SAFE:
        return True
    return _is_local(place.parameters) and _is_local(_effective(place))


def _is_local(given: dict[str, Any]) -> bool:
    """Return True for a socket of this computer; what a service file says is not known."""
    if given.get("hostaddr") or given.get("service"):
        return False
    return all(not host or host.startswith(("/", "@")) for host in str(given.get("host") or "").split(","))


def _effective(place: Place) -> dict[str, Any]:
    """Return the parameters with those that libpq takes from the environment, such as PGHOST."""
    found = {item.keyword.decode(): item.val.decode() for item in pq.Conninfo.get_defaults() if item.val}
    return {**found, **place.parameters}


def _require_as_written(place: Place) -> None:
    """Check that the environment sends no connection over the network whose address names no server.

    Raises:
        NotValid: It does, and the address does not ask for TLS with a checked name.
    """
    if place.parameters.get("sslmode") == _SAFE or not _is_local(place.parameters):
        return
    if not _is_local(_effective(place)):
        raise NotValid(
            f"the address of the store names no server: {place.shown}; "
            "PGHOST, PGHOSTADDR or PGSERVICE would send the connection over the network",
            hint="unset PGHOST PGHOSTADDR PGSERVICE",
        )


def connected(place: Place) -> psycopg.Connection[Any]:
    """Connect to a place, without transactions.

    Raises:
        StoreError: The server does not answer or refuses, is too old, or a pooler stands before it.
        NotValid: The environment names another server than the address, without TLS.
    """
    _require_as_written(place)
    try:
        link = psycopg.connect(**place.parameters, autocommit=True)
    except psycopg.Error as error:
        raise refused(error, place) from error
    try:
        _check(link, place)
    except BaseException:
        link.close()
        raise
    return link


@contextmanager
def linked(place: Place, schema: str = SCHEMA) -> Iterator[psycopg.Connection[Any]]:
    """Connect to a place for a while, without transactions.

    Args:
        schema: The schema of names without one; it need not exist.

    Raises:
        StoreError: The server does not answer or refuses, its disk is full, or the role lacks a right.
    """
    link = connected(place)
    try:
        link.execute(f"SET search_path = {schema}")
        yield link
    except psycopg.Error as error:
        said = error.diag.message_primary or str(error).strip()
        raise explain_error(Failed(said, error.sqlstate or ""), place.shown) from error
    finally:
        link.close()


def _check(link: psycopg.Connection[Any], place: Place) -> None:
    if link.info.server_version < _LEAST_VERSION:
        old = link.info.server_version // 10000
        raise StoreError(f"the store {place.shown} runs PostgreSQL {old}; pushjuju needs 14 or newer")
    newer = ", set_config('transaction_timeout', '0', false)" if link.info.server_version >= 170000 else ""
    row = link.execute(_ASKED + newer).fetchone()
    pid, encoding = row[:2] if row is not None else (0, "")
    if pid != link.info.backend_pid:
        raise StoreError(
            f"a pooler answers at {place.shown}; locks and notifications of a session do not work through it",
            hint="give the address of the server itself; a process of pushjuju holds two connections",
        )
    if encoding != "UTF8":
        raise StoreError(
            f"the database {place.shown} has the encoding {encoding}; pushjuju needs UTF8",
            hint="createdb --encoding UTF8 --template template0 NAME",
        )


def refused(error: psycopg.Error, place: Place) -> StoreError:
    """Return the error for users when the server cannot be reached or refuses the role."""
    text, state = str(error).strip(), error.sqlstate or ""
    if "permission denied" in text or state == NO_SCHEMA:  # also of a connection, whose errors have no number
        state = NO_RIGHT
    if state in (NO_RIGHT, *STANDBY, *WAITED):
        return explain_error(Failed(text, state), place.shown)
    kind = StoreAway if _is_away(error, place) else StoreBusy
    return kind(
        f"the store {place.shown} cannot be reached",
        detail=text,
        hint=f"psql {shlex.quote(place.url)}    tries the same",
    )


def _is_away(error: psycopg.Error, place: Place) -> bool:
    """Return True when the server does not answer, starts or stops; False when it answers and refuses.

    The texts of errors, which may be translated, do not tell.
    """
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return True
    found = pq.PGconn.ping(conninfo.make_conninfo(**place.parameters).encode())
    # A server with which TLS fails answers a look without TLS, which sends neither the user nor a password.
    if found == pq.Ping.NO_RESPONSE and not _is_local(place.parameters):
        found = pq.PGconn.ping(conninfo.make_conninfo(**{**place.parameters, **_NAMELESS}).encode())
    return found in (pq.Ping.REJECT, pq.Ping.NO_RESPONSE)
