"""A controller whose store goes back to where it was before each example."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.model.placement import Placement
from pushjuju.services.requests import integrate
from pushjuju.store.db import Store
from tests.world.charms import Charms
from tests.world.controller import TestController

HERE = Placement.parse("0")
ACTIONS = "backup:\n  params:\n    to: {type: string}\n"


class Stage:
    """A model with units that are at rest.

    web/0 (leader) and web/1 are peers on machines 0 and 1; db/0 shares machine 0; web and db are related.

    Attributes:
        world: The controller.
    """

    def __init__(self, world: TestController) -> None:
        self.world = world
        self.kept: dict[str, sqlite3.Connection] = {}
        self.keep("rest")

    def keep(self, name: str) -> None:
        """Keep the store under a name."""
        self.kept[name] = sqlite3.connect(":memory:")
        self._connection.backup(self.kept[name])

    def back(self, name: str = "rest") -> TestController:
        """Let all be as it was."""
        self.kept[name].backup(self._connection)
        return self.world

    @property
    def _connection(self) -> sqlite3.Connection:
        store: Store = self.world.ctx.store
        return store._connection

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Return all that the store holds: table -> rows."""
        names = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: [dict(row) for row in self._connection.execute(f"SELECT * FROM {name}")]
            for (name,) in names
        }

    def strangers(self, before: dict[str, list[dict[str, Any]]], unit: str) -> list[tuple[str, Any]]:
        """Return the rows that changed since then and are not a unit's own."""
        found = []
        for table, rows in self.rows().items():
            odd = [row for row in rows if row not in before[table]]
            odd += [row for row in before[table] if row not in rows]
            found += [(table, row) for row in odd if not _is_own(table, row, unit, before)]
        return found


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, empty_controller: Path, packs: Charms) -> Iterator[Stage]:
    """The model of `Stage`."""
    world = TestController.copy(empty_controller, tmp_path_factory.mktemp("stage"), packs)
    payloads = {"payloads": {"monitor": {"type": "docker"}}}
    web = packs.make(
        provides={"site": {"interface": "http"}}, files={"actions.yaml": ACTIONS}, **payloads
    )  # fmt: skip
    world.active(count=2, packed=web)
    world.active("db", packed=packs.make("db", requires={"up": {"interface": "http"}}), placements=[HERE])
    integrate.integrate(world.ctx, world.model, "web:site", "db:up")
    world.settle()
    yield Stage(world)
    world.ctx.close()


def _is_own(table: str, row: dict[str, Any], unit: str, before: dict[str, list[dict[str, Any]]]) -> bool:
    """Tell whether a row is one that a unit may change; every row has its owner in one column."""
    if table in ("work", "sequence"):
        return True  # who is to look again, and when
    if table == "application":  # any unit may say which version its workload has
        return {**row, "workload_version": ""} in [{**old, "workload_version": ""} for old in before[table]]
    owner = {"unit": "name", "relation_bag": "entity", "log": "entity", "task": "receiver"}.get(table)
    if table in ("status", "status_history"):
        owner = "entity"
    if table == "task_log":
        return row["task"] in [task["id"] for task in before["task"] if task["receiver"] == unit]
    if table == "operation" and not row["unit"]:
        return row["name"] == "reboot"
    return row[owner or "unit"] in (unit, "unit-" + unit.replace("/", "-"))
