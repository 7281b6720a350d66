"""What `explain` and `status` say of work that cannot be done: since when, why, what is next, who does it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.errors import DiskFull, HostKeyChanged, PushjujuError, Unreachable
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.model import pools
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.views import explain
from pushjuju.services.views.explain_basis import Reason
from pushjuju.services.views.status import document as status_document
from pushjuju.store import processes
from pushjuju.store.processes import process_owner
from pushjuju.store.queue import WorkQueue, machine_key
from pushjuju.uniter.wanted import wanted
from pushjuju.workers import deciding
from pushjuju.workers.machine import contact
from tests.bench.models import populate
from tests.bench.statements import counted
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, drive

NOBODY = "nobody is working on this; next: pushjuju update-status, or any command"
_OTHER = """
import pathlib, sys
from datetime import UTC, datetime
from pushjuju.store import processes
from pushjuju.store.db import Store
store = Store.open(pathlib.Path(sys.argv[1]))
with store.write() as tx:
    processes.enlist(tx, datetime.now(UTC), "1", store.lives)
store.close()
print("there", flush=True)
sys.stdin.read()
"""
SILENT = Unreachable("machine 0 does not answer", detail="no route to host")
CHANGE = "new since config-changed last ran: the configuration"
FULL = DiskFull("the disk of machine 0 is full")


def waiting(runtime: TestController) -> str:
    with runtime.ctx.store.read() as tx:
        return processes.waiting(tx, runtime.ctx.store.lives)


def told(runtime: TestController, *names: str) -> list[Reason]:
    return explain.explain(runtime.ctx, runtime.model, wanted, names)


def machine_message(runtime: TestController, moment: Callable[[str], Any] = from_iso) -> str:
    document = status_document.document(runtime.ctx, runtime.resolve_model(), moment)
    return str(document["machines"]["0"]["machine-status"]["message"])


async def changed(runtime: TestController, work: PlayedRuntime, error: PushjujuError) -> None:
    """Let a setting wait for a machine that cannot be used."""
    runtime.deploy()
    await drive(runtime, work)
    work.unreachable["0"] = error
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    await drive(runtime, work)


@pytest.mark.parametrize(("error", "why"), [(SILENT, f"{SILENT}: no route to host"), (FULL, str(FULL))])
async def test_a_change_that_waits_for_its_machine_says_so(
    runtime: TestController, error: PushjujuError, why: str
) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await drive(runtime, work)
    failed_at = runtime.clock.now() + timedelta(seconds=30)
    work.unreachable["0"] = error
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    await drive(runtime, work)
    unit, machine = told(runtime, "web/0", "0")
    assert (unit.doing, unit.since, machine.since) == ("waiting", failed_at, failed_at)
    assert unit.reason == f"to run config-changed hook: {CHANGE} (core); {why}"
    assert machine.reason == why
    assert unit.due == machine.due == failed_at + timedelta(seconds=5)
    assert unit.unattended
    assert machine.unattended
    assert machine_message(runtime) == f"{error}; since {failed_at:%Y-%m-%d %H:%M:%SZ}; {NOBODY}"
    assert machine_message(runtime, lambda _: "noon") == f"{error}; since noon; {NOBODY}"
    work.unreachable.clear()
    runtime.clock.advance(5)
    await drive(runtime, work)
    unit, machine = told(runtime, "web/0", "0")
    assert (unit.doing, unit.unattended, unit.since, machine.unattended) == ("idle", False, None, False)
    assert machine_message(runtime) == "Running"


async def test_since_when_a_disk_is_full_does_not_begin_anew_with_each_try(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    await changed(runtime, work, FULL)
    (first,) = told(runtime, "0")
    for _ in range(3):
        runtime.clock.advance(60)
        await drive(runtime, work)
    (machine,) = told(runtime, "0")
    assert (machine.since, machine.attempts) == (first.since, 4)
    assert [text for _, text in runtime.history(StatusKind.INSTANCE, "0")].count(str(FULL)) == 1


async def test_a_machine_that_answers_between_two_failures_still_says_why(runtime: TestController) -> None:
    """A disk that is full is found after the contact, which says nothing about it."""
    work = PlayedRuntime(runtime)
    await changed(runtime, work, FULL)
    runtime.clock.advance(60)
    hello = runtime.played().hello()
    contact.note_facts(runtime.ctx, runtime.machine("0"), hello)
    assert machine_message(runtime).startswith(f"{FULL}; since ")
    contact.note_success(runtime.ctx, runtime.machine("0"), hello)
    assert runtime.status(StatusKind.INSTANCE, "0") == ("running", "Running")


async def test_a_unit_at_rest_does_not_hide_that_its_machine_is_silent(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await drive(runtime, work)
    work.unreachable["0"] = SILENT
    runtime.write(lambda tx: tx.run("machine_see_again", id="0"))
    runtime.write(
        lambda tx: tx.run(
            "work_touch",
            key=machine_key(runtime.model, "0"),
            due=to_iso(runtime.clock.now()),
            reason="look",
            trace="",
            cause="",
        )
    )
    await drive(runtime, work)
    (unit,) = told(runtime, "web/0")
    assert unit.doing == "idle"
    assert unit.reason.endswith("; machine 0 does not answer: no route to host")
    assert unit.next[-1] == "explain 0    tells what is known of its machine"


async def test_a_unit_that_is_to_go_from_a_dead_machine_says_what_it_waits_for(
    runtime: TestController,
) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await drive(runtime, work)
    work.unreachable["0"] = SILENT
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    await drive(runtime, work)
    unit = told(runtime, "web/0")[0]
    assert unit.doing == "waiting"
    assert unit.reason.startswith("to resign leadership: the unit is being removed (leadership); ")
    assert "machine 0 does not answer" in unit.reason
    assert unit.unattended
    assert unit.next[0].startswith("remove-unit web/0 --force    ")


async def test_a_hook_whose_result_is_not_known_is_not_called_running(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    runtime.played().will("start", {"cut": True})
    await drive(runtime, work)
    work.unreachable["0"] = SILENT
    runtime.clock.advance(600)
    await drive(runtime, work)
    (unit,) = told(runtime, "web/0")
    assert [row.name for row in runtime.open_operations()] == ["start"]
    assert unit.running == ""
    assert unit.reason.startswith("start was started there, and its result is unknown; ")


def test_work_that_was_only_recorded_is_told_as_waiting_for_somebody(runtime: TestController) -> None:
    runtime.active()
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    unit, machine = told(runtime, "web/0", "0")
    assert (unit.doing, unit.reason) == ("waiting", f"to run config-changed hook: {CHANGE} (core)")
    assert unit.unattended
    assert machine.unattended


def test_update_status_that_is_overdue_is_not_told_as_at_rest(runtime: TestController) -> None:
    runtime.active()
    WorkQueue(runtime.ctx.store, "host:1:2")
    runtime.clock.advance(3600)
    (unit,) = told(runtime, "web/0")
    assert unit.reason == "update-status is due (core)"
    assert unit.unattended


def test_a_process_that_is_dead_is_not_named_as_working(runtime: TestController) -> None:
    runtime.active()
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    dead = f"{os.uname().nodename}:{os.getpid()}:1"  # the process of that number began at another time
    for owner, working in ((dead, False), (process_owner(), True)):
        claim = WorkQueue(runtime.ctx.store, owner).claim(
            machine_key(runtime.model, "0"), runtime.clock.now()
        )
        assert claim is not None
        (machine,) = told(runtime, "0")
        assert machine.unattended is not working
        assert machine.held_by == (owner if working else "")
        assert machine.doing == (f"worked by {owner}" if working else "waiting")
    runtime.clock.advance(60)  # nobody renewed the lease
    assert told(runtime, "0")[0].held_by == ""


async def test_a_process_that_waits_for_work_is_named_as_long_as_it_lives(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    await changed(runtime, work, SILENT)
    argv = [sys.executable, "-c", _OTHER]
    with subprocess.Popen(  # noqa: ASYNC220 - a process of its own, beside the work
        [*argv, str(runtime.ctx.controller.store_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "there\n"
        owner = waiting(runtime)
        assert owner.split(":")[1] == str(other.pid)
        (unit,) = told(runtime, "web/0")
        assert (unit.attended_by, unit.unattended) == (owner, False)
        assert f"process {owner} tries it again at {unit.due}" in machine_message(runtime).replace(
            "Z", "+00:00"
        )
        other.communicate()
    assert waiting(runtime) == ""
    assert told(runtime, "web/0")[0].unattended
    assert machine_message(runtime).endswith(NOBODY)


def test_processes_of_another_computer_count_for_nothing(runtime: TestController) -> None:
    """A restored store names the processes of the computer where it was."""
    assert waiting(runtime) == ""
    lives = runtime.ctx.store.lives
    with runtime.ctx.store.write() as tx:
        now = runtime.ctx.clock.now()
        tx.run("process_enlist", owner="elsewhere:1:2", version="1", started=now, pools="", api="")
        assert processes.waiting(tx, lives) == ""
        processes.enlist(tx, now, "1", lives)
        assert [item.owner for item in tx.list(processes.Process, "process_list")] == [process_owner()]
    assert waiting(runtime) == process_owner()


async def test_work_of_another_hosts_pool_is_not_said_to_be_tried_from_here(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of that host tries it again, so no command of this host helps."""
    await changed(runtime, PlayedRuntime(runtime), SILENT)
    with runtime.ctx.store.write() as tx:
        processes.enlist(tx, runtime.clock.now(), "1", runtime.ctx.store.lives)
    here = "update-status    tries it again at once"
    assert here in told(runtime, "0")[0].next
    monkeypatch.setattr(pools, "is_elsewhere", lambda _ctx, _tx: True)
    assert here not in told(runtime, "0")[0].next


def test_the_overview_reads_the_same_for_few_units_at_rest_as_for_many(tmp_path: Path) -> None:
    counts = []
    for units in (10, 150):
        made = TestController.build(tmp_path / f"of {units}", Charms(tmp_path / "charms"))
        populate(made, units)
        with counted(made.ctx.store) as statements:
            found = deciding.of_overview(made.ctx, made.model, ["web/0"])
        counts.append(len(statements))
        assert found[0].subject == "web/0"
        assert len(found) < 8
        made.ctx.close()
    assert counts[0] == counts[1]


async def test_the_overview_names_what_is_retried_or_failed_and_that_nobody_works(
    runtime: TestController,
) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy(count=4)
    await drive(runtime, work)
    runtime.played("1").fail("config-changed", 9)
    work.unreachable["2"] = SILENT
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    await drive(runtime, work)
    found = {reason.subject: reason for reason in deciding.of_overview(runtime.ctx, runtime.model, ())}
    assert {"web/1", "web/2", "machine 2"} <= set(found)
    assert "web/0" not in found
    assert any(reason.unattended for reason in found.values())


@pytest.mark.parametrize("due", [False, True])
def test_an_application_of_many_units_is_explained_by_as_many_statements(tmp_path: Path, due: bool) -> None:
    counts = []
    for units in (60, 150):
        made = TestController.build(tmp_path / f"of {units}", Charms(tmp_path / "charms"))
        populate(made, units)
        if due:
            options = ConfigOptions(application="web", values={"title": "x"})
            settings.set_config(made.ctx, made.model, options)
        with counted(made.ctx.store) as statements:
            (found,) = deciding.explained(made.ctx, made.model, ["web"], 20)
        counts.append(len(statements))
        assert found.subject == "web"
        made.ctx.close()
    assert counts[0] == counts[1] < 600


async def test_an_application_gives_the_reasons_of_some_units_and_counts_the_others(
    runtime: TestController,
) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy(count=4)
    await drive(runtime, work)
    for number in range(4):
        work.unreachable[str(number)] = SILENT
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    await drive(runtime, work)
    (every,) = told(runtime, "web")
    (some,) = deciding.explained(runtime.ctx, runtime.model, ["web"], 3)
    assert [every.reason.count(f"web/{number}: ") for number in range(4)] == [1, 1, 1, 1]
    assert some.reason == "; ".join([*every.reason.split("; web/3")[:1], "1 more unit"])
    assert some.next == every.next


async def test_a_machine_with_another_host_key_is_explained_with_what_to_type(
    runtime: TestController,
) -> None:
    work = PlayedRuntime(runtime)
    runtime.active()
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    error = HostKeyChanged("expected A, got B", detail="Who is it?", hint="accept: echo B >> file")
    work.unreachable["0"] = error
    await drive(runtime, work)
    unit, machine = told(runtime, "web/0", "0")
    assert machine.reason == "expected A, got B: Who is it?; next: accept: echo B >> file"
    assert unit.next[-1] == "explain 0    tells what is known of its machine"
