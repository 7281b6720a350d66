"""The rows that a statement declares are the rows that its conditions select.

SQLite does not say which rows a statement uses, so the text of the statement is read here: what is not plain
enough to be sure declares nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import pytest

from pushjuju.store.db import Store
from pushjuju.store.effects import IDENTITY, Analyst
from pushjuju.store.statements import queries, rows

Rows = tuple[str, tuple[str, ...]]
WORK: Rows = ("work", ("key",))
NOT_PLAIN = re.compile(r"\b(OR|(?<!IS )NOT|CASE|JOIN|UNION|EXCEPT|INTERSECT|REPLACE|IGNORE)\b")
TARGET = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)\b")
INSERT = re.compile(
    r"INSERT INTO \w+ \(([\w, ]+)\) VALUES \(([:\w, ]+)\)(?: ON CONFLICT \(([\w, ]+)\) DO .*)?"
)
TAIL = re.compile(r" (ORDER BY|LIMIT|RETURNING|GROUP BY)\b.*")


@pytest.fixture
def analyst(store: Store) -> Iterator[Analyst]:
    """What asks SQLite for the tables and columns of a statement."""
    made = Analyst(store.engine.tables())
    yield made
    made.close()


def selected(analyst: Analyst, statement: str) -> Rows | None:
    """Return the table in which a statement uses only rows that parameters select, with these parameters."""
    effects, text = analyst.ask(statement), conditions(" ".join(statement.split()))
    if NOT_PLAIN.search(text) or text.count("SELECT") != (not effects.writes):
        return None
    target = TARGET.match(text)
    table = target[1] if target else effects.reads[0][0] if len(effects.reads) == 1 else ""
    columns = IDENTITY.get(table, ())
    if not columns or any((table, column) in effects.writes for column in columns):
        return None
    known = inserted(text, columns) if text.startswith("INSERT") else compared(text)
    return (table, tuple(known[column] for column in columns)) if known.keys() >= set(columns) else None


def conditions(text: str) -> str:
    """Return an UPDATE without its new values, which select no rows, and without what is in parentheses."""
    if not text.startswith("UPDATE ") or re.search(rf"\(SELECT .*\bFROM {text.split()[1]}\b", text):
        return text
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    assert " FROM " not in text, text
    return re.sub(r" SET .*?( WHERE |$)", r"\1", text)


def compared(text: str) -> Mapping[str, str]:
    """Return the conditions on every row that a statement uses: column -> the parameter that it equals."""
    condition = TAIL.sub("", text.partition(" WHERE ")[2])
    found = (re.fullmatch(r"(\w+) = :(\w+)", part.strip()) for part in condition.split(" AND "))
    return {match[1]: match[2] for match in found if match}


def inserted(text: str, columns: Iterable[str]) -> Mapping[str, str]:
    """Return what a statement puts into its row: column -> parameter; nothing if it may change others."""
    found = INSERT.fullmatch(TAIL.sub("", text))
    if found is None:
        return {}
    names, values, conflict = ([item.strip() for item in (part or "").split(",")] for part in found.groups())
    if found[3] and not set(columns) <= set(conflict):
        return {}
    return {name: value[1:] for name, value in zip(names, values, strict=True) if value.startswith(":")}


def test_every_statement_declares_the_rows_that_its_conditions_select(analyst: Analyst) -> None:
    wrong = {
        name: (rows().get(statement), found)
        for name, statement in queries().items()
        if rows().get(statement) != (found := selected(analyst, statement))
    }
    assert wrong == {}, "declared, selected"


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        (
            "SELECT life FROM unit WHERE model = :model AND name = :unit ORDER BY name",
            ("unit", ("model", "unit")),
        ),
        (
            "SELECT data FROM status WHERE model = :m AND kind = :k AND entity = :e LIMIT 1",
            ("status", ("m", "e", "k")),
        ),
        ("SELECT data FROM status WHERE kind = 'workload' AND entity = :e", None),
        ("SELECT life FROM unit WHERE model = :model AND name = :a OR life = :b", None),
        ("SELECT life FROM unit WHERE model = :model AND NOT name = :name", None),
        ("SELECT life FROM unit WHERE model = :model AND name >= :name", None),
        ("SELECT life FROM unit WHERE (life = :life AND name = :name)", None),
        ("SELECT life FROM unit WHERE name = :name AND machine IN (SELECT id FROM machine)", None),
        ("SELECT u.life FROM unit u CROSS JOIN machine m WHERE u.name = :name", None),
        ("UPDATE unit SET life = :life WHERE model = :model AND name = :name", ("unit", ("model", "name"))),
        ("UPDATE unit SET life = :life, name = :new WHERE model = :model AND name = :name", None),
        ("UPDATE unit SET life = :name WHERE model = :model", None),
        ("UPDATE work SET due = CASE WHEN due IS NULL THEN :due ELSE due END WHERE key = :key", WORK),
        ("UPDATE work SET due = :due WHERE key = :key AND (owner = :a OR owner = :b)", WORK),
        ("UPDATE work SET due = :due WHERE key = :key AND lease = :lease AND owner IS NOT NULL", WORK),
        ("UPDATE work SET due = :due WHERE key = :key OR owner IS NULL", None),
        ("UPDATE work SET due = (SELECT since FROM status WHERE entity = :key) WHERE key = :key", WORK),
        ("UPDATE work SET due = (SELECT MAX(due) FROM work) WHERE key = :key", None),
        ("UPDATE work SET due = :due WHERE (key = :key)", None),
        ("DELETE FROM lease WHERE model = :model AND application = :name", ("lease", ("model", "name"))),
        ("DELETE FROM lease WHERE model = :model AND holder = :name", None),
        ("INSERT INTO work (key, due) VALUES (:key, :due)", ("work", ("key",))),
        ("INSERT INTO work (key, due) VALUES (:key, :due) ON CONFLICT (key) DO NOTHING", ("work", ("key",))),
        ("INSERT INTO relation (model, id) VALUES (:m, :id) ON CONFLICT (model, key) DO NOTHING", None),
        ("INSERT INTO work (due) VALUES (:due)", None),
        ("INSERT INTO work (key, due) SELECT key, due FROM work", None),
        ("INSERT OR REPLACE INTO work (key, due) VALUES (:key, :due)", None),
    ],
)
def test_which_rows_are_selected(analyst: Analyst, statement: str, row: Rows | None) -> None:
    assert selected(analyst, statement) == row
