"""What pushjuju's own commands print, byte for byte, in each of their formats."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pushjuju.cli.commands.hook import replay, run_table
from pushjuju.cli.commands.plan import plan_table
from pushjuju.cli.commands.plan.planned import Plan
from pushjuju.cli.commands.program import controller
from pushjuju.cli.commands.relation import show_relation
from pushjuju.cli.commands.status import explain
from pushjuju.cli.terminal.output import render
from pushjuju.core.status import StatusInfo
from pushjuju.portable.gotypes import Struct
from pushjuju.services.views.decisions import Decided
from pushjuju.services.views.hook_runs import HookRun
from pushjuju.services.views.inventory import Change
from pushjuju.services.views.listings import run_documents
from pushjuju.services.views.relation_view import Member, RelationSide, RelationView
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import LocalState
from pushjuju.uniter.decide.wire import record
from pushjuju.uniter.replay import replayed as decided_again
from pushjuju.workers import deciding
from pushjuju.workers.rehearsal import Foreseen
from tests.world.printed import NINE, Golden

ID = "-0000-4000-8000-000000000000"


pytestmark = pytest.mark.usefixtures("utc")


def compare(golden: Golden, name: str, document: Any, table: str) -> None:
    """Hold all formats of a document against their files."""
    golden(f"own/{name}.txt", table)
    golden(f"own/{name}.yaml", render("yaml", document))
    golden(f"own/{name}.json", render("json", document))


def test_show_relation(golden: Golden) -> None:
    units = [
        Member(name="db/0", data={"password": "x" * 60, "note": "two\nlines"}, in_scope=True, leader=True),
        Member(name="db/10", data={}, in_scope=False),
    ]
    db = RelationSide(
        application="db",
        endpoint="server",
        role="provider",
        interface="sql",
        data={"version": "14"},
        units=units,
    )
    asker = Member(name="web/0", data={"user": "web"}, in_scope=True, departing=True)
    web = RelationSide(
        application="web", endpoint="db", role="requirer", interface="sql", remote=True, units=[asker]
    )
    view = RelationView(
        id=4, key="web:db db:server", scope="global", life="alive", suspended=True,
        status=StatusInfo(status="suspended", message="maintenance", since=NINE), sides=[db, web],
    )  # fmt: skip
    document = show_relation.relation_document(view)
    compare(golden, "show-relation", document, show_relation.show_table(document))


def test_hooks(golden: Golden) -> None:
    changes = {
        "relations": {"4": {"unit": ["user"], "app": ["version"]}}, "ports": {"open": ["80/tcp"]},
        "state": ["seen"], "storage": {"data": 2}, "secrets": {"create": 1}, "status": ["active: ready"],
    }  # fmt: skip
    later = NINE + timedelta(minutes=3)
    runs = [
        HookRun(
            unit="web/0", hook="db-relation-joined", kind="hook", operation=f"3f2a9c11{ID}",
            result="ok", exit_status=0, started=NINE, committed=later, took_s=125.4, changes=changes,
        ),
        HookRun(
            unit="web/0", hook="greet", kind="action", operation=f"4f2a9c11{ID}",
            result="failed", exit_status=3, started=later, committed=later, took_s=0.035,
            message="exit status 3",
        ),
        HookRun(
            unit="web/10", hook="config-changed", kind="hook", operation=f"5f2a9c11{ID}",
            result="running", started=later,
        ),
    ]  # fmt: skip
    document = [run_documents.of_run(run) for run in runs]
    compare(golden, "hooks", document, run_table.runs_table(runs, run_table.Look()))


def test_plan(golden: Golden) -> None:
    changes = [
        Change(action="add", kind="application", name="web", model="shop", fields={"charm": "local:web-0"}),
        Change(action="change", kind="application", name="db", model="shop", fields={"exposed": (0, 1)}),
        Change(action="remove", kind="unit", name="db/1", model="shop", fields={"machine": "3"}),
    ]
    steps = [
        (Foreseen(model="u", machine="3", unit="db/1", title="stop", kind="hook"), False),
        (Foreseen(model="u", machine="0", unit="db/0", title="greet", kind="action"), True),
    ]
    unknown = ["the addresses of machine 4, which has to be made or added first"]
    made = Plan(command=["deploy", "./web"], changes=changes, steps=steps, unknown=unknown)
    compare(golden, "plan", plan_table.document(made), plan_table.table(made))
    nothing = Plan(command=["expose", "db"], changes=[], steps=steps[1:], unknown=[])
    golden("own/plan-nothing.txt", plan_table.table(nothing))


def test_explain(golden: Golden) -> None:
    entries = [
        Struct(
            {
                "subject": "web/0", "doing": "idle",
                "reason": 'hook failed: "start": a retry will follow (hooks)',
                "again": "01 Mar 2025 09:00:05Z", "attempts": 2, "since": "01 Mar 2025 09:00:00Z",
                "running": "start of web/0", "held-by": "host:12:34",
                "next": [
                    "resolved web/0    tries it again at once",
                    "resolved web/0 --no-retry    goes on without it",
                ],
            }
        ),
        Struct({"subject": "web", "doing": "1 idle", "leader": "web/0"}),
        Struct({"subject": "machine 0", "doing": "at rest"}),
    ]  # fmt: skip
    compare(golden, "explain", entries, explain.reasons(entries, wide=True))
    golden("own/explain-all.txt", explain.reasons(entries))


def test_replay(golden: Golden) -> None:
    local = LocalState(installed=True, started=True, config_hash="a")
    remote = RemoteState(unit="web/0", config_hash="b", leader=False)
    kept = record(local, remote, decide(local, remote))
    kept["decision"] = {"answer": "idle", "reason": "of old", "badge": "core"}
    found = Decided(subject="3f2a", unit="web/0", record=kept, operation="3f2a", title="config-changed")
    document = deciding.document(found, decided_again(kept))
    compare(golden, "replay", document, replay.text(document))


def test_controller_processes(golden: Golden) -> None:
    working = {
        "process": "one.example:4711:123456", "host": "one.example", "pid": 4711, "version": "0.1.0",
        "pools": ["one.example", "one.example:/var/lib/data", "lab"], "api": ["one.example:17070"],
        "state": "working", "keys": 12, "started": NINE, "seen": NINE + timedelta(hours=30),
    }  # fmt: skip
    command = {
        **working, "process": "two.example:12:99", "host": "two.example", "pid": 12, "version": "",
        "pools": [], "api": [], "state": "command", "keys": 1, "started": None,
    }  # fmt: skip
    document = controller.with_times([working, command])
    compare(golden, "controller-processes", document, controller.processes_table(document))
