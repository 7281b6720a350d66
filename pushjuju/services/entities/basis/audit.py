"""The audit log of a controller: who changed what, through which door, as lines that are chained by hashes.

The transaction of a change writes the line, so neither exists without the other. A line has names of what
changed, never a value.
"""

from __future__ import annotations

import hashlib
import os
import pwd
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from pushjuju.core.clock import to_iso
from pushjuju.core.values import changed as replaced
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.jsontext import compact
from pushjuju.store.processes import CAUSE
from pushjuju.store.tx import Tx

if TYPE_CHECKING:
    from pushjuju.store.engine import Connection, Rows
    from pushjuju.store.statement_names import StatementName

_KINDS = {"action": "task", "remote": "saas", "units": "application", "progress": "task"}
"""Names of kinds in the journal of changes -> names for people."""
_NAMED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "access": (("user", "person"),),
    "action_operation": (("operation", "id"),),
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
    "token": (("user", "person"),),
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
_WRITTEN = regex(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)")


class Course:
    """What a request has done so far."""

    __slots__ = ("cause", "hashes", "model", "recorded")

    def __init__(self) -> None:
        # the id of the request, once it has begun a change: operations that follow it have the id, too
        self.cause = ""
        self.hashes: list[str] = []
        self.model = ("", "")  # the name and the UUID of the model of its last line
        self.recorded = False  # True once a change is committed


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks for a change, and how."""

    door: str = ""  # `command`, `api`, `dashboard` or `cron`; empty for Python code that uses this package
    command: str = ""  # a command, or `Facade.Method` of the API
    arguments: tuple[str, ...] = ()  # the words behind a command, without values
    host: str = ""  # the address of a client of the API or the dashboard, when it is known
    # the environment of a command or dashboard, which names the user behind `sudo`
    env: Mapping[str, str] = field(default_factory=dict)
    verified: bool = False  # True when a password, a macaroon or a link for the user has proved the user
    course: Course = field(default_factory=Course, compare=False)  # what the request has done so far

    def facts(self) -> dict[str, object]:
        """Return the caller as a line of the log has it."""
        found: dict[str, object] = {"door": self.door, "verified": self.verified}
        if self.door in ("api", "dashboard"):
            found["host"] = self.host
            if not self.verified:
                found["login"] = _login(self.env)
        else:
            found |= {"host": os.uname().nodename, "login": _login(self.env)}
        return found | {"command": self.command, "arguments": list(self.arguments)}


def _login(env: Mapping[str, str]) -> str:
    """Return the login name of this process's user, and who called `sudo`."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    behind = env.get("SUDO_USER", "")
    return f"{name} (sudo by {behind})" if behind and behind != name else name


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """A line of the log; `previous` is the hash of the line before, empty for the first line."""

    number: int
    time: str
    line: str
    previous: str
    hash: str


def hash_of(line: AuditLine) -> str:
    """Return the hash that a line must have."""
    text = "\n".join(map(str, (line.previous, line.number, line.time, line.line)))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Noting:
    """What the line of a transaction needs to know."""

    user: str
    caller: Caller
    now: datetime
    model: str = ""  # the UUID of the model; empty for a change of the controller
    # names of what the transaction changes in files; the line is written in any case
    files: tuple[str, ...] = ()


@contextmanager
def noted(tx: Tx, noting: Noting) -> Iterator[Tx]:
    """Write a line at the end of the block when the block has written anything.

    Yields:
        The transaction for the block.
    """
    plain = Tx(tx._connection)  # no cache: triggers write the journal of changes
    begun = plain.row("audit_begin", model=noting.model)
    assert begun is not None, "the statement always has a row"
    seen, course = Noted(tx._connection, plain), noting.caller.course
    course.cause = course.cause or _new_id(noting.now)
    asks = CAUSE.set(course.cause)
    try:
        yield Tx(seen, tx._memo)
    finally:
        CAUSE.reset(asks)
    rows = plain.rows("change_after", after=begun["newest"] or 0)
    if not (rows or seen.rows or noting.files):
        return
    model = noting.model or _only({row["model"] for row in rows})
    name = begun["model_name"] or (plain.scalar("audit_model_name", model=model) if model else "")
    names = _names((row["kind"], row["entity"]) for row in rows) | seen.names
    course.model = name or "", model
    made = append(
        plain,
        (begun["number"] or 0, begun["hash"] or ""),
        noting.now,
        {
            "user": noting.user,
            **noting.caller.facts(),
            "cause": course.cause,
            "model": name or "",
            "model-uuid": model,
            "changed": [*noting.files, *sorted({_readable(plain, item, {model: name}) for item in names})],
        },
    )
    if noting.caller.door:
        course.hashes.append(made)


def _new_id(now: datetime) -> str:
    """Return an id for a request; ids of later requests sort behind."""
    return f"{int(now.timestamp() * 1000):012x}{os.urandom(4).hex()}"


def answer(tx: Tx, noting: Noting, result: Mapping[str, object]) -> None:
    """Write the line with the result of a request: `answers` has the hashes of the lines of its changes."""
    plain, course = Tx(tx._connection), noting.caller.course
    if (begun := plain.row("audit_begin", model="")) is None:
        return
    name, uuid = course.model
    line = {"user": noting.user, **noting.caller.facts(), "model": name, "model-uuid": uuid}
    head = (begun["number"] or 0, begun["hash"] or "")
    append(plain, head, noting.now, {**line, "answers": list(course.hashes), **result})


def append(tx: Tx, head: tuple[int, str], now: datetime, line: Mapping[str, Any]) -> str:
    """Add a line behind the newest line, whose number and hash are `head`; return the hash of the line."""
    made = AuditLine(number=head[0] + 1, time=to_iso(now), line=compact(line), previous=head[1], hash="")
    digest = hash_of(made)
    tx.insert("audit", replaced(made, hash=digest))
    return digest


def prune(tx: Tx, now: datetime, before: datetime) -> None:
    """Delete the lines from before a time; a new line names the last of these with its hash."""
    plain = Tx(tx._connection)
    last = plain.find(AuditLine, "audit_last_older", before=to_iso(before))
    begun = plain.row("audit_begin", model="")
    if last is None or begun is None:
        return
    plain.run("audit_prune", number=last.number)
    facts = Caller(command="prune").facts()
    pruned = {"number": last.number, "hash": last.hash}
    append(plain, (begun["number"], begun["hash"]), now, {"user": "", **facts, "pruned": pruned})


def _names(rows: Iterable[tuple[str, str]]) -> set[str]:
    """Return entities of the journal of changes as `kind name`."""
    return {f"{_KINDS.get(kind, kind)} {entity}" for kind, entity in rows}


def _readable(tx: Tx, item: str, known: Mapping[str, str]) -> str:
    """Return `kind name` with the name of a model in place of its UUID, or of its name without the owner.

    Args:
        known: UUID -> `owner/name` of the model of the transaction.
    """
    kind, _, entity = item.partition(" ")
    if kind != "model":
        return item
    for name in known.values():
        if name and name.rpartition("/")[2] == entity:
            return f"model {name}"
    return f"model {known.get(entity) or tx.scalar('audit_model_name', model=entity) or entity}"


def _only(found: Collection[str]) -> str:
    return next(iter(found)) if len(found) == 1 else ""


# --- names of what has no journal of changes ---------------------------------------------------------------


class Noted:
    """A connection that notes how many rows statements write, apart from the work queue, and their names."""

    def __init__(self, connection: Connection, plain: Tx) -> None:
        self._connection = connection
        self._plain = plain  # a transaction of the same connection, which is not noted
        self._found: dict[tuple[str, str, str], str] = {}  # statement, model, id -> name
        self.rows = 0
        self.names: set[str] = set()  # what the rows are about, as `kind name`

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
