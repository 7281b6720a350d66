"""show-relation, hooks, replay: what they tell of a model that lived."""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.clock import SystemClock
from pushjuju.services.entities.basis.decision_text import _WORDS, packed, unpacked
from pushjuju.services.entities.basis.hook_changes import MOST_NAMES, summary
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views import hook_runs
from pushjuju.store.rows.records import Operation
from tests.world.charms import Charms
from tests.world.commandline import Run
from tests.world.controller import TestController
from tests.world.machine import failed, ok, status_event

WORDS_OF_FORMAT_1 = "218bb446055f5a2fa6c043110cd3bd265e479e13c37765ceb5dc4be28b2f0183"


@pytest.fixture
def runtime(runtime: TestController, packs: Charms) -> TestController:
    """A model with a website and its database, related (relation 2, after two peer relations)."""
    runtime.active("web", packed=packs.make("web", requires={"db": {"interface": "sql"}}))
    runtime.active("db", packed=packs.make("db", provides={"server": {"interface": "sql"}}))
    integrate.integrate(runtime.ctx, runtime.model, "web", "db")
    runtime.focus()
    return runtime


def written(key: str, value: str) -> dict[str, Any]:
    return {"status_set": False, "relations": {"2": {"unit": {key: value}, "app": {"shared": "s"}}}}


# --- show-relation ----------------------------------------------------------------------------------------


def test_a_relation_is_shown_with_both_sides(runtime: TestController, run: Run) -> None:
    runtime.played("1").script["server-relation-joined"] = [ok(writes=written("password", "x\ty" * 40))]
    runtime.settle()
    ended = run("show-relation", "web", "db", "--format", "json")
    assert ended.status == 0, ended.err
    document = json.loads(ended.out)
    assert (document["relation-id"], document["scope"], document["life"]) == (2, "global", "alive")
    db, web = document["endpoints"]
    assert (db["application"], db["endpoint"], db["role"], db["interface"]) == (
        "db",
        "server",
        "provider",
        "sql",
    )
    assert db["application-data"] == {"shared": "s"}
    assert db["units"]["db/0"]["data"]["password"].startswith("x\ty")
    assert db["units"]["db/0"]["leader"] is db["units"]["db/0"]["in-scope"] is True
    assert set(web["units"]) == {"web/0"}
    table = run("show-relation", "db:server", "web:db").out
    assert "db:server" in table.splitlines()[4]
    assert "web:db" in table.splitlines()[4]
    assert "password: x\\tyx" in table
    assert run("show-relation", "2", "--format", "yaml").out.startswith("relation-id: 2\n")


def test_a_peer_relation_has_one_side(runtime: TestController, run: Run) -> None:
    document = json.loads(run("show-relation", "web:cluster", "--format", "json").out)
    assert [side["application"] for side in document["endpoints"]] == ["web"]
    assert "web:cluster" in run("show-relation", "web:cluster").out
    assert run("show-relation", "nope").err.startswith('ERROR peer relation of "nope" not found\n')


def test_a_unit_that_left_is_shown_as_such(runtime: TestController, run: Run) -> None:
    runtime.settle()
    runtime.write(lambda tx: tx.run("scope_leave", relation=2, unit="web/0"))
    assert "web/0 (leader, left)" in run("show-relation", "2").out


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["9"], 1, "relation 9 not found"),
        (["web", "nope"], 1, 'relation matching "web nope" not found'),
        (["A!"], 2, 'relation ID or application "A!" not valid'),
        ([], 2, "no relation specified"),
        (["web", "db", "x"], 2, 'unrecognized args: ["x"]'),
    ],
)
def test_relations_that_are_not_there(
    runtime: TestController, run: Run, words: list[str], status: int, text: str
) -> None:
    ended = run("show-relation", *words)
    assert (ended.status, ended.err.splitlines()[0]) == (status, f"ERROR {text}")


# --- hooks ------------------------------------------------------------------------------------------------


def test_hooks_tells_what_ran_and_what_it_changed(runtime: TestController, run: Run) -> None:
    writes = {**written("host", "10.0.0.2"), "state": {"seen": "1"}}
    writes["ports"] = {"open": [{"endpoint": "", "protocol": "tcp", "from": 80, "to": 80}], "close": []}
    told = ok(writes=writes, started=5.0, ended=6.5, events=[status_event(1, "active", "ready")])
    runtime.played("0").script["db-relation-joined"] = [told]
    runtime.clock.advance(10)
    runtime.settle()
    runs = json.loads(run("hooks", "web/0", "--hook", "db-relation-joined", "--format", "json").out)
    assert len(runs) == 1
    one = runs[0]
    assert (one["unit"], one["hook"], one["kind"], one["result"]) == (
        "web/0",
        "db-relation-joined",
        "hook",
        "ok",
    )
    assert (one["exit-status"], one["seconds"]) == (0, 1.5)
    assert one["changes"] == {
        "relations": {"2": {"unit": ["host"], "app": ["shared"]}},
        "ports": {"open": ["80/tcp"]},
        "state": ["seen"],
        "status": ["active: ready"],
    }
    table = " ".join(run("hooks", "web/0").out.split())
    assert "db-relation-joined ok 1.5s" in table
    assert "relation 2: shared (app), host; open 80/tcp; state seen; status active: ready" in table
    assert "10.0.0.2" not in json.dumps(runs)  # names, never values


def test_what_a_hook_wrote_again_is_no_change_of_its_own(runtime: TestController, run: Run) -> None:
    port = {"endpoint": "", "protocol": "tcp", "from": 80, "to": 80}
    first = {**written("host", "10.0.0.2"), "state": {"seen": "1", "kept": "2"}}
    first["ports"] = {"open": [port], "close": []}
    again = {**first, "state": {"seen": "3", "kept": "2", "never": None}}
    script = runtime.played("0").script
    script["db-relation-joined"], script["db-relation-changed"] = [ok(writes=first)], [ok(writes=again)]
    runtime.clock.advance(10)
    runtime.settle()
    runs = {item["hook"]: item for item in json.loads(run("hooks", "web/0", "--format", "json").out)}
    assert runs["db-relation-joined"]["changes"]["ports"] == {"open": ["80/tcp"]}
    assert runs["db-relation-joined"]["changes"]["state"] == ["kept", "seen"]
    assert runs["db-relation-changed"]["changes"] == {"state": ["seen"]}


def test_hooks_are_chosen(runtime: TestController, run: Run) -> None:
    runtime.played("0").script["db-relation-joined"] = [failed(3)]
    runtime.settle()
    bad = json.loads(run("hooks", "--failed", "--format", "json").out)
    assert [(one["hook"], one["exit-status"], one["message"]) for one in bad] == [
        ("db-relation-joined", 3, "exit status 3")
    ]
    assert len(json.loads(run("hooks", "--limit", "3", "--format", "json").out)) == 3
    assert "install" in run("hooks", "db/0", "--limit", "0").out
    runtime.clock.advance(7200)
    assert run("hooks", "--since", "2030-01-01").err == "No hook runs to display.\n"
    assert json.loads(run("hooks", "--since", "2030-01-01", "--format", "json").out) == []


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["web"], 2, 'invalid unit name "web"'),
        (["web/9"], 1, 'unit "web/9" not found'),
        (["--since", "soon"], 2, 'invalid value "soon" for option --since'),
        (["--since", "9999999999999h"], 2, 'invalid value "9999999999999h" for option --since'),
    ],
)
def test_hooks_of_what_is_not_there(
    runtime: TestController, run: Run, words: list[str], status: int, text: str
) -> None:
    ended = run("hooks", *words)
    assert ended.status == status
    assert ended.err.startswith(f"ERROR {text}")


def test_hooks_are_followed(runtime: TestController, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.until("server-relation-created", "db/0")
    dispatch = runtime.prepared("web/0")
    looks = iter(range(9))

    def sleep(_seconds: float) -> None:
        match next(looks):
            case 0:
                runtime.commit(dispatch, ok(started=1.0, ended=1.5))
            case 1:
                runtime.commit(runtime.prepared("web/0"), failed(4))
            case 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(SystemClock, "now", lambda _clock: runtime.clock.now())
    ended = run("hooks", "web/0", "--follow", "--limit", "1", "--format", "json")
    assert (ended.status, ended.err) == (130, "\nFollowing ended.\n")
    followed = [json.loads(line) for line in ended.out.splitlines()]
    assert [one["hook"] for one in followed[-2:]] == [dispatch.title, followed[-1]["hook"]]
    assert [one["result"] for one in followed] == ["ok", "failed"]


def test_a_running_hook_is_told(runtime: TestController) -> None:
    runtime.prepared("web/0")
    runs = hook_runs.history(runtime.ctx, runtime.model, hook_runs.Wanted(units=("web/0",), most=1))
    assert (runs[0].result, runs[0].committed) == ("running", None)


def test_a_hook_that_was_sent_ahead_does_not_run_yet(runtime: TestController) -> None:
    runtime.prepared("web/0")
    rows = runtime.read(lambda tx: tx.list(Operation, "operation_of_unit", unit="web/0", limit=1))
    runtime.write(lambda tx: tx.insert("operation", replace(rows[0], id="ahead", state="planned")))
    runs = hook_runs.history(runtime.ctx, runtime.model, hook_runs.Wanted(units=("web/0",)))
    assert {run.operation: run.result for run in runs}["ahead"] == "planned"


def test_what_is_kept_of_a_flood_is_small() -> None:
    keys = {f"{number:04}" + "k" * 10_000: "v" for number in range(5000)}
    kept = summary({"relations": {"1": {"unit": keys, "app": {}}}, "state": keys, "status_set": True})
    assert len(json.dumps(kept)) < 4000
    assert kept["state"][-1] == f"and {5000 - MOST_NAMES} more"
    assert summary({"status_set": True}) == {}


# --- replay -----------------------------------------------------------------------------------------------


def failing(runtime: TestController) -> Operation:
    """Let a hook fail and return its operation."""
    runtime.played("0").script["db-relation-joined"] = [failed(3)]
    runtime.settle()
    rows = runtime.read(lambda tx: tx.list(Operation, "operation_of_unit", unit="web/0", limit=99))
    return next(row for row in rows if row.outcome == "failed")


def test_a_failure_is_decided_again(runtime: TestController, run: Run) -> None:
    operation = failing(runtime)
    runtime.change_unit("web/0", decision="{}")
    ended = run("replay", operation.id[:8], "--format", "json")
    assert ended.status == 0, ended.err
    document = json.loads(ended.out)
    assert document["same"] is True
    assert document["recorded"]["doing"] == "run relation-joined (2; unit: db/0) hook"
    assert document["resolvers"][-1]["says"] == document["now"]["doing"]
    assert [item["resolver"] for item in document["resolvers"]][:2] == ["unit-dead", "install"]
    assert "the same" in run("replay", operation.id).out


@pytest.mark.parametrize("hook", ["install", "config-changed", "db-relation-joined"])
def test_a_hook_that_was_decided_ahead_is_decided_again(runtime: TestController, run: Run, hook: str) -> None:
    if hook != "db-relation-joined":
        runtime.deploy("late", packed=runtime.charms.make("late", peers=None))
    unit = "web/0" if hook == "db-relation-joined" else "late/0"
    runtime.until("server-relation-created", "db/0")
    dispatch = runtime.until(hook, unit)
    runtime.change_unit(unit, decision="{}")
    runtime.commit(dispatch, failed(1))
    ended = run("replay", dispatch.id, "--format", "json")
    assert ended.status == 0, ended.err
    document = json.loads(ended.out)
    assert document["recorded"]["doing"].startswith(f"run {hook.removeprefix('db-')}")


def test_the_last_decision_of_a_unit_is_decided_again(runtime: TestController, run: Run) -> None:
    runtime.settle()
    document = json.loads(run("replay", "web/0", "--format", "json").out)
    assert (document["recorded"]["answer"], document["same"]) == ("idle", True)


def test_a_record_from_elsewhere_that_is_decided_otherwise(
    runtime: TestController, run: Run, tmp_path: Path
) -> None:
    runtime.settle()
    document = json.loads(run("replay", "web/0", "--format", "json").out)
    document["record"]["decision"] = {"answer": "waiting", "reason": "of old", "badge": "core"}
    report = tmp_path / "report.json"
    report.write_text(json.dumps(document))
    ended = run("replay", "--file", str(report))
    assert ended.status == 2
    assert "answer: waiting -> idle" in ended.out
    assert run("replay", "--file", "-", stdin=report.read_text()).status == 2


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"record": 3}', '{"format": 9, "remote": {}}', "[" * 100_000]
)
def test_files_that_are_no_records(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    ended = run("replay", "--file", "r.json")
    assert (ended.status, ended.err[:6]) == (1, "ERROR ")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ([], 2, "no operation or unit specified"),
        (["web/0", "--file", "x"], 2, "give an operation or --file, not both"),
        (["zz"], 1, 'operation "zz" not found'),
        (["web/7"], 1, 'unit "web/7" not found'),
    ],
)
def test_replay_of_what_is_not_there(
    runtime: TestController, run: Run, words: list[str], status: int, text: str
) -> None:
    ended = run("replay", *words)
    assert (ended.status, ended.err.splitlines()[0]) == (status, f"ERROR {text}")


def test_every_hook_of_the_history_is_decided_again(runtime: TestController, run: Run) -> None:
    runtime.settle()
    ran = hook_runs.history(runtime.ctx, runtime.model, hook_runs.Wanted())
    assert len(ran) > 15
    for one in ran:
        ended = run("replay", one.operation, "--format", "json")
        assert ended.status == 0, (one, ended.err)
        document = json.loads(ended.out)
        assert (document["same"], document["unit"], document["operation"]) == (True, one.unit, one.operation)
        if one.kind == "hook":
            assert re.sub("^(db|server|cluster)-", "", one.hook) in document["recorded"]["doing"], one


def change(runtime: TestController, operation: str, **columns: object) -> None:
    """Change an operation as nobody but an earlier release or a bad disk would."""
    with runtime.ctx.store.write() as tx:
        for name, value in columns.items():
            asked = {"value": value, "id": operation}
            tx._connection.execute(f"UPDATE operation SET {name} = :value WHERE id = :id", asked)


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"decided": None}, "was not kept: an older pushjuju ran it"),
        ({"decided": None, "state": "planned"}, "is decided when the hook before it has ended well"),
        ({"decided": None, "unit": ""}, "is of machine 0: no unit decided it"),
        ({"decided": b"\x01junk"}, "cannot be read: "),
        ({"decided": b"\x07"}, "cannot be read: format 07"),
        ({"decided": b""}, "cannot be read: format none"),
        ({"decided": "no JSON"}, "cannot be read: "),
    ],
)
def test_operations_without_a_record(
    runtime: TestController, run: Run, columns: dict[str, object], text: str
) -> None:
    runtime.settle()
    good = hook_runs.history(
        runtime.ctx, runtime.model, hook_runs.Wanted(units=("web/0",), hooks=("start",))
    )[0]
    change(runtime, good.operation, **columns)
    ended = run("replay", good.operation)
    assert (ended.status, ended.err[:6]) == (1, "ERROR ")
    assert text in ended.err


def test_a_record_of_an_earlier_release_is_text(runtime: TestController, run: Run) -> None:
    operation = failing(runtime)
    assert isinstance(operation.decided, bytes)
    change(runtime, operation.id, decided=unpacked(operation.decided))
    assert "the same" in run("replay", operation.id).out


def test_a_record_is_small_and_whole(runtime: TestController) -> None:
    operation = failing(runtime)
    assert isinstance(operation.decided, bytes)
    text = unpacked(operation.decided)
    assert len(operation.decided) * 3 < len(text)
    long = text * 50  # that of a unit with a thousand neighbours
    assert unpacked(packed(long)) == long
    assert len(packed(long)) * 20 < len(long)


def test_the_words_of_the_format_never_change() -> None:
    """Records that are kept already could not be read with other words."""
    assert hashlib.sha256(_WORDS).hexdigest() == WORDS_OF_FORMAT_1


def test_the_newest_runs_of_an_application_are_those_of_its_units(runtime: TestController) -> None:
    runtime.deploy("shop", 3)
    runtime.settle()
    units = ["shop/0", "shop/1", "shop/2"]
    whole = hook_runs.history(runtime.ctx, runtime.model, hook_runs.Wanted(units=units))
    for most in (4, 1000):
        found = hook_runs.of_application(runtime.ctx, runtime.model, "shop", most)
        assert [run.started for run in found] == [run.started for run in whole[-most:]]
        assert {run.operation for run in found} <= {run.operation for run in whole}
