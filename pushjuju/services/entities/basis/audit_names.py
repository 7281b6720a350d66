"""Names what a request changes in tables without a journal of changes, from the statements that it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushjuju.store.engine import Connection, Rows
    from pushjuju.store.statement_names import StatementName
    from pushjuju.store.tx import Tx

_NAMED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "access": (("user", "person"),),
    "binding": (("application", "application"),),
    "encryption_key": (("encryption-key", "id"),),
    "exposed_endpoint": (("application", "application"),),
    "machine_upgrade": (("machine", "machine"),),
    "notify_target": (("notify-target", "name"),),
    "payload": (("unit", "unit"),),
    "person": (("user", "name"),),
    "process": (("process", "owner"),),
    "resource": (("resource", "application", "name"),),
    "secret": (("secret", "id"), ("secret", "label")),
    "secret_backend": (("secret-backend", "name"),),
    "secret_grant": (("secret", "secret"), ("application", "target")),
    "secret_revision": (("secret", "secret"),),
    "space": (("space", "name"),),
    "storage_attachment": (("unit", "unit"), ("storage", "storage")),
    "storage_directive": (("application", "application"),),
    "storage_pool": (("storage-pool", "name"),),
    "subnet": (("subnet", "cidr"),),
    "user_login": (("user", "name"),),
}
"""Table -> the kinds of what its rows are about, each with the parameters that have the name."""
_KNOWN_BY_ID: Mapping[str, tuple[str, str, StatementName]] = {
    "secret": ("secret", "id", "audit_secret_name"),
    "secret_grant": ("secret", "secret", "audit_secret_name"),
    "secret_revision": ("secret", "secret", "audit_secret_name"),
    "space": ("space", "id", "audit_space_name"),
    "subnet": ("space", "space", "audit_space_name"),
}
"""Table -> what has a name besides the id in a parameter, and the statement that returns the name."""
_NO_CHANGE = ("SELECT", "INSERT INTO work ", "UPDATE work ")  # to wake a machine changes nothing
_SEALED_ANEW = "UPDATE secret_revision SET key"  # a new key changes no secret, and there may be thousands
_WRITTEN = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)")


class Noted:
    """A connection that notes how many rows statements write, apart from the work queue, and their names.

    Attributes:
        rows: The number of rows.
        names: What the rows are about, as `kind name`.
    """

    def __init__(self, connection: Connection, plain: Tx) -> None:
        self._connection = connection
        self._plain = plain  # a transaction of the same connection, which is not noted
        self._found: dict[tuple[str, str, str], str] = {}  # statement, model, id -> name
        self.rows = 0
        self.names: set[str] = set()

    def execute(self, statement: str, params: Any = (), /) -> Rows:
        if statement.startswith(_NO_CHANGE):
            return self._connection.execute(statement, params)
        names = self._concerned(_table(statement), params)  # before a removal
        found = self._connection.execute(statement, params)
        if found.rowcount > 0:
            self.rows += found.rowcount
            self.names.update(names)
        return found

    def _concerned(self, table: str, params: Mapping[str, Any]) -> list[str]:
        names = list(_concerned(table, params))
        if table in _KNOWN_BY_ID:
            kind, key, query = _KNOWN_BY_ID[table]
            if name := self._name(query, params.get("model", ""), params.get(key, "")):
                names.append(f"{kind} {name}")
        if table == "access" and "target" in params:
            names.append(self._target(params["kind"], params["target"]))
        return names

    def _target(self, kind: str, target: str) -> str:
        """Return what access is granted to; an offer by its name, a model by its UUID."""
        name = self._name("audit_offer_name", "", target) if kind == "offer" else target
        return f"{kind} {name or target}".rstrip()

    def _name(self, query: StatementName, model: str, entity: str) -> str:
        key = (query, model, entity)
        if entity and not self._found.get(key):
            self._found[key] = self._plain.scalar(query, model=model, id=entity) or ""
        return self._found.get(key, "")


@cache
def _table(statement: str) -> str:
    """Return the table that a statement writes; empty when nothing in it is named."""
    found = None if statement.startswith(_SEALED_ANEW) else _WRITTEN.match(statement)
    return found[1] if found else ""


def _concerned(table: str, params: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the parameters name, as `kind name`."""
    for kind, *keys in _NAMED.get(table, ()):
        parts = [str(params[key]) for key in keys if params.get(key)]
        if len(parts) == len(keys):
            name = "/".join(parts)
            is_unit = kind == "application" and "/" in name  # a secret may be granted to either
            yield f"{'unit' if is_unit else kind} {name}"
