"""Which rows of the store a unit owns, so that a test sees what a unit changed of others."""

from __future__ import annotations

import json
from typing import Any

Tables = dict[str, list[dict[str, Any]]]


def strangers(before: Tables, after: Tables, unit: str) -> list[tuple[str, Any]]:
    """Return the rows that changed and are not a unit's own: (table, row)."""
    found = []
    for table, rows in after.items():
        odd = [row for row in rows if row not in before[table]]
        odd += [row for row in before[table] if row not in rows]
        found += [(table, row) for row in odd if not _is_own(table, row, unit, before)]
    return found


def _is_own(table: str, row: dict[str, Any], unit: str, before: Tables) -> bool:
    """Return True when a row is one that a unit may change; every row has its owner in one column."""
    if table in ("work", "sequence"):
        return True  # who is to look again, and when
    if table == "application":  # any unit may say which version its workload has
        return {**row, "workload_version": ""} in [{**old, "workload_version": ""} for old in before[table]]
    if table == "hook_tally":  # how many hooks of its application ran
        return row["application"] == unit.partition("/")[0]
    if table == "tally":  # how many of its tasks ended
        return json.loads(row["labels"])[0] == (unit.partition("/")[0] if "/" in unit else "")
    owner = {"unit": "name", "relation_bag": "entity", "log": "entity", "task": "receiver"}.get(table)
    if table in ("status", "status_history"):
        owner = "entity"
    if table == "task_log":
        return row["task"] in [task["id"] for task in before["task"] if task["receiver"] == unit]
    if table == "operation" and not row["unit"]:
        return row["name"] == "reboot"
    return row[owner or "unit"] in (unit, "unit-" + unit.replace("/", "-"))
