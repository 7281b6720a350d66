"""Every named statement is valid, and every use in the code names one with exactly its parameters."""

from __future__ import annotations

import ast
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path

import pytest

import pushjuju
from contrib import statement_names
from pushjuju.store.db import Store
from pushjuju.store.rows import records, storage_records
from pushjuju.store.schema import migrate
from pushjuju.store.statements import migrations, queries

CODE = Path(pushjuju.__file__).parent
POSITION = {"run": 0, "row": 0, "rows": 0, "scalar": 0, "find": 1, "get": 1, "list": 1}
TABLES = {
    "CharmRecord": "charm",
    "RelationEndpoint": "relation_endpoint",
    "RelationScope": "relation_scope",
    "Bag": "relation_bag",
    "LogRecord": "log",
    "ActionOperation": "action_operation",
    "TaskLog": "task_log",
    "UnitResource": "unit_resource",
    "MachineUpgrade": "machine_upgrade",
    "ExposedEndpoint": "exposed_endpoint",
    "MachineFirewall": "machine_firewall",
    "RemoteApplication": "remote_application",
    "MachineUpgradeMessage": "machine_upgrade_message",
    "StoragePool": "storage_pool",
    "StorageDirective": "storage_directive",
    "StorageInstance": "storage_instance",
    "StorageAttachment": "storage_attachment",
    "BackingAttachment": "backing_attachment",
}
PARTS = {records.Seat: "unit"}  # records of some columns
MODULES = (records, storage_records)
RECORDS = [
    kind
    for module in MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and is_dataclass(kind) and kind not in PARTS
]


def test_the_module_of_names_is_what_the_statements_say() -> None:
    assert statement_names.TARGET.read_text() == statement_names.text(), "run `make statements`"


def test_every_statement_has_a_caller() -> None:
    folders = (CODE, CODE.parent / "tests")
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    words = {word for path in paths for word in re.findall(r'"(\w+)"', path.read_text())}
    made = ("inventory_",)  # their names are put together
    assert not [name for name in queries() if name not in words and not name.startswith(made)]


def parameters(sql: str) -> set[str]:
    return set(re.findall(r"(?<!:):([a-z_0-9]+)", sql))


@pytest.fixture(scope="module")
def schema() -> Iterator[sqlite3.Connection]:
    """A connection to an empty store, in which statements are explained and not run."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, Path("state.db"))
    yield connection
    connection.close()


@pytest.mark.parametrize("name", queries())
def test_a_statement_is_valid(schema: sqlite3.Connection, name: str) -> None:
    sql = queries()[name]
    schema.execute("EXPLAIN " + sql, dict.fromkeys(parameters(sql), 0))


def test_migrations_are_numbered_without_gaps() -> None:
    assert [number for number, _ in migrations()] == list(range(1, len(migrations()) + 1))


def test_statement_names_are_unique() -> None:
    texts = [path.read_text() for path in (CODE / "store" / "sql").glob("*.sql")]
    names = re.findall(r"^-- name: (\S+)", "\n".join(texts), re.MULTILINE)
    assert len(names) == len(set(names)) == len(queries())


@dataclass(frozen=True)
class Use:
    place: str
    query: str
    given: frozenset[str]
    open_ended: bool
    of_model: bool = True


def uses() -> Iterator[Use]:
    for path in sorted(CODE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        plain = {call for node in ast.walk(tree) if takes_plain_tx(node) for call in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (found := use(node, path)):
                yield replace(found, of_model=node not in plain)


def takes_plain_tx(node: ast.AST) -> bool:
    """Return True for a function whose `tx` is of no model."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    named = {arg.arg: arg.annotation for arg in (*node.args.posonlyargs, *node.args.args)}
    return isinstance(of := named.get("tx"), ast.Name) and of.id == "Tx"


def use(call: ast.Call, path: Path) -> Use | None:
    """Recognise `tx.method(..., "query", name=...)`; the receiver is called tx everywhere in this project."""
    match call.func:
        case ast.Attribute(attr=method, value=ast.Name(id="tx") | ast.Attribute(attr="tx" | "_tx")) if (
            method in POSITION
        ):
            pass
        case _:
            return None
    at = POSITION[method]
    if len(call.args) <= at or not isinstance(call.args[at], ast.Constant):
        return None
    given = frozenset(keyword.arg for keyword in call.keywords if keyword.arg)
    return Use(
        f"{path.relative_to(CODE)}:{call.lineno}",
        str(call.args[at].value),  # type: ignore[attr-defined]
        given,
        any(keyword.arg is None for keyword in call.keywords),
    )


def test_the_code_uses_only_statements_that_exist_with_their_parameters() -> None:
    wrong = []
    for found in uses():
        if found.query not in queries():
            wrong.append(f"{found.place}: no statement {found.query}")
            continue
        wanted = parameters(queries()[found.query])
        mine = {"model"} & wanted if found.of_model else set()  # a transaction of a model gives it
        if found.given | mine != wanted and not (found.open_ended and found.given <= wanted):
            wrong.append(
                f"{found.place}: {found.query} wants {sorted(wanted)}, is given {sorted(found.given)}"
            )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("record", RECORDS, ids=lambda kind: kind.__name__)
def test_a_record_has_the_fields_of_its_table(store: Store, record: type) -> None:
    table = TABLES.get(record.__name__, record.__name__.lower())
    connection = sqlite3.connect(store.path)
    columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    connection.close()
    assert {field.name for field in fields(record)} == columns


@pytest.mark.parametrize(("record", "table"), PARTS.items())
def test_a_record_of_some_columns_has_no_others(store: Store, record: type, table: str) -> None:
    columns = {row["name"] for row in store._connection.execute(f"PRAGMA table_info({table})")}
    assert {field.name for field in fields(record)} < columns
