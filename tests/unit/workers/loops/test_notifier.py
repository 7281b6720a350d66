"""Events reach a web server: each in its order, again after a failure, and as one when they repeat."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import AlreadyExists, NotFound, NotifyError, NotValid, Unreachable
from pushjuju.core.model.secrets import Content, OwnerKind
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.status import StatusKind, Workload
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis import notices, statuses
from pushjuju.services.entities.basis import notify_targets as notify_targets_of
from pushjuju.services.entities.model import models
from pushjuju.services.entities.secret import secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.controller import notify
from pushjuju.services.requests.controller.notify import TargetOptions
from pushjuju.services.requests.model import settled
from pushjuju.services.requests.secret import keys
from pushjuju.services.views.listings import notify_targets
from pushjuju.workers import serving
from pushjuju.workers.loops import notifier
from tests.unit.plugins.notifiers.receivers import Posted, web
from tests.waiting import LIMIT_S, until
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, drive

DAY, MINUTE = 86400, 60
HOST = PluginHost(environ={})


@pytest.fixture
def posted() -> Iterator[Posted]:
    with web() as made:
        yield made


@pytest.fixture
def work(runtime: TestController) -> PlayedRuntime:
    return PlayedRuntime(runtime)


def listen(runtime: TestController, posted: Posted, name: str = "t", **more: Any) -> None:
    """Add the web server as a target."""
    address = f"http://127.0.0.1:{posted.port}/{name}"
    notify.add(runtime.ctx, HOST, TargetOptions(name=name, address=address, **more))


def tell(runtime: TestController, event: str, subject: Subject, text: str = "said") -> None:
    runtime.write(lambda tx: notices.record(tx, event, subject, text))


async def later(runtime: TestController, work: PlayedRuntime, seconds: float) -> None:
    """Let time pass, and do what is due then."""
    runtime.clock.advance(seconds)
    await drive(runtime, work)


def texts(posted: Posted) -> list[str]:
    return [body["data"]["text"].partition(": ")[2] for _, _, body in posted.requests]


async def test_without_a_target_nothing_is_written(runtime: TestController, work: PlayedRuntime) -> None:
    runtime.deploy()
    runtime.played().fail("install")
    await drive(runtime, work)
    tables = runtime.tables()
    assert (tables["notice"], tables["alarm"]) == ([], [])


async def test_a_unit_in_error_and_its_recovery(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    runtime.deploy()
    runtime.played().fail("install", 2)
    await drive(runtime, work)
    assert texts(posted) == ['unit web/0 is in error: hook failed: "install"']
    data = posted.requests[0][2]["data"]
    assert (data["model"], data["unit"], data["status"]) == ("admin/shop", "web/0", "error")
    await later(runtime, work, 40)  # it is tried again, and fails as before
    assert posted.events == ["unit.error"]
    await later(runtime, work, 10 * MINUTE)
    assert runtime.agent() == ("idle", "")
    assert posted.events == ["unit.error", "unit.recovered"]


async def test_a_unit_that_is_blocked_for_long(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    def status(word: Workload, message: str) -> None:
        runtime.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", word, message))

    listen(runtime, posted)
    runtime.active()
    status(Workload.BLOCKED, "for a moment")
    await later(runtime, work, 5 * MINUTE)
    status(Workload.ACTIVE, "")
    status(Workload.BLOCKED, "needs a database")
    await later(runtime, work, 9 * MINUTE)
    assert posted.events == []
    status(Workload.BLOCKED, "needs two databases")
    await later(runtime, work, 61)
    assert texts(posted) == ["unit web/0 is blocked: needs a database"]
    status(Workload.ACTIVE, "")
    await drive(runtime, work)
    assert posted.events == ["unit.blocked", "unit.recovered"]


async def test_a_new_target_is_told_how_earlier_states_end_and_not_of_the_states(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    runtime.deploy(count=3)
    await drive(runtime, work)
    runtime.played("0").fail("config-changed", 2)
    work.unreachable["1"] = Unreachable("machine 1 does not answer")
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    await drive(runtime, work)
    listen(runtime, posted)
    listen(runtime, posted, "second")
    await later(runtime, work, 40)  # the hook fails again
    assert posted.events == []
    work.unreachable.clear()
    await later(runtime, work, 20 * MINUTE)
    assert sorted(posted.events) == ["machine.back"] * 2 + ["unit.recovered"] * 2


@pytest.mark.parametrize(
    ("minutes", "told"), [(4, ["unit.blocked", "unit.recovered"]), (11, ["unit.recovered"])]
)
async def test_a_new_target_is_told_of_a_unit_whose_ten_minutes_end_later(
    runtime: TestController, work: PlayedRuntime, posted: Posted, minutes: int, told: list[str]
) -> None:
    def status(word: Workload) -> None:
        runtime.write(lambda tx: statuses.set_status(tx, StatusKind.WORKLOAD, "web/0", word, "because"))

    runtime.active()
    status(Workload.BLOCKED)
    await later(runtime, work, minutes * MINUTE)
    listen(runtime, posted)
    await drive(runtime, work)
    assert posted.events == []
    await later(runtime, work, 7 * MINUTE)
    assert posted.events == told[:-1]
    status(Workload.ACTIVE)
    await drive(runtime, work)
    assert posted.events == told


async def test_a_new_target_is_told_of_removals_that_have_not_ended_after_fifteen_minutes_more(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    runtime.deploy(count=2)
    await drive(runtime, work)
    runtime.played().fail("stop", 100, unit="web/0")
    removals.remove_units(runtime.ctx, runtime.model, ["web/0", "web/1"])
    await drive(runtime, work)
    await later(runtime, work, 30 * MINUTE)
    listen(runtime, posted)
    await later(runtime, work, 14 * MINUTE)
    listen(runtime, posted, "second")
    assert "removal.stuck" not in posted.events
    await later(runtime, work, 2 * MINUTE)
    assert [text for text in texts(posted) if "removal" in text] == [
        "unit web/0 still waits for its removal"
    ] * 2


def test_a_new_target_knows_what_waits_for_its_removal(runtime: TestController, posted: Posted) -> None:
    runtime.active()
    runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx)))
    listen(runtime, posted)
    assert {(row["kind"], row["entity"], row["event"]) for row in runtime.tables()["alarm"]} == {
        ("model", "admin/shop", "removal.stuck"), ("application", "web", "removal.stuck"),
        ("unit", "web/0", "removal.stuck"),
    }  # fmt: skip


async def test_a_machine_that_is_lost_and_found(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    runtime.deploy()
    await drive(runtime, work)
    work.unreachable["0"] = Unreachable("no route to host")
    await later(runtime, work, 10 * MINUTE)
    await later(runtime, work, 10 * MINUTE)
    assert texts(posted) == ["machine 0 does not answer"]
    work.unreachable.clear()
    await later(runtime, work, 10 * MINUTE)
    assert posted.events == ["machine.unreachable", "machine.back"]


async def test_equal_events_become_one_and_a_flapping_unit_one_other(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    web0, web1 = Subject("unit", "web/0"), Subject("unit", "web/1")
    for _ in range(3):
        tell(runtime, "unit.error", web1)
    await drive(runtime, work)
    assert [(body["subject"], body["data"]["count"]) for _, _, body in posted.requests] == [("unit web/1", 3)]
    posted.requests.clear()
    for _ in range(6):
        tell(runtime, "unit.error", web0, "in error")
        tell(runtime, "unit.recovered", web0, "well")
        await later(runtime, work, 10)
    assert posted.events == ["unit.error", "unit.recovered"]
    await later(runtime, work, 5 * MINUTE)
    assert posted.events[2:] == ["unit.flapping"]
    assert "web/0 changes again and again; last: well (" in texts(posted)[-1]
    await later(runtime, work, 10 * MINUTE)
    tell(runtime, "unit.error", web0)
    await drive(runtime, work)
    assert posted.events[3:] == ["unit.error"]


async def test_the_last_event_tells_the_state_after_a_target_was_away(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    posted.status = 500
    unit = Subject("unit", "web/0")
    for event in ("unit.error", "unit.recovered", "unit.error"):
        tell(runtime, event, unit)
        await later(runtime, work, 1)
    posted.status = 200
    posted.requests.clear()
    await later(runtime, work, 3600)
    assert posted.events == ["unit.recovered", "unit.error"]
    assert [body["data"]["count"] for _, _, body in posted.requests] == [1, 2]


async def test_another_error_of_the_same_unit_does_not_wait(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    for text in ("install", "start"):
        tell(runtime, "unit.error", Subject("unit", "web/0"), text)
        await drive(runtime, work)
    assert texts(posted) == ["install", "start"]


async def test_a_target_that_fails_gets_all_later_and_holds_up_no_other(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    with web() as broken:
        broken.status = 500
        listen(runtime, broken, "broken")
        listen(runtime, posted, "well")
        for number in range(3):
            tell(runtime, "task.finished", Subject("task", str(number)), f"{number}")
        assert (await drive(runtime, work)).problems == ()
        assert (texts(posted), len(broken.requests)) == (["0", "1", "2"], 1)
        (state, _) = notify_targets.targets(runtime.ctx)
        assert (state["state"], state["waiting"]) == ("failing", 3)
        assert state["error"] == f"http://127.0.0.1:{broken.port}/… answered with status 500"
        tell(runtime, "task.finished", Subject("task", "3"), "3")
        await later(runtime, work, 5)
        assert len(broken.requests) == 1
        first = broken.requests.pop()[2]["id"]
        broken.status = 200
        await later(runtime, work, 6)
        assert (texts(broken), broken.requests[0][2]["id"]) == (["0", "1", "2", "3"], first)
        assert [item["state"] for item in notify_targets.targets(runtime.ctx)] == ["ok", "ok"]


async def test_a_target_whose_server_is_silent_keeps_no_other_waiting(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    ended = threading.Event()
    with web() as silent:
        silent.drip = lambda _: ended.wait(LIMIT_S)
        listen(runtime, silent, "a-silent-one")
        listen(runtime, posted, "well")
        tell(runtime, "task.finished", Subject("task", "1"), "1")
        driving = asyncio.create_task(drive(runtime, work))
        await until(lambda: posted.events)
        assert not driving.done()
        ended.set()
        await driving
    assert [item["state"] for item in notify_targets.targets(runtime.ctx)] == ["failing", "ok"]


async def test_the_pauses_grow_and_after_a_day_an_event_is_dropped(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    posted.status = 503
    tell(runtime, "task.finished", Subject("task", "1"))
    begun, pauses = runtime.clock.now(), list[float]()
    await drive(runtime, work)
    while (due := runtime.due("loop/notify")) is not None:
        pauses.append((from_iso(due) - runtime.clock.now()).total_seconds())
        await later(runtime, work, pauses[-1])
    assert pauses[:4] == [10, 20, 40, 80]
    assert set(pauses[10:]) == {3600}
    assert runtime.clock.now() - begun < timedelta(seconds=DAY + 2 * 3600)
    assert runtime.tables()["notice"] == []
    assert "has not got the event task.finished within a day" in str(runtime.tables()["log"])


async def test_a_process_that_dies_after_a_delivery_repeats_it_with_the_same_id(
    runtime: TestController, work: PlayedRuntime, posted: Posted, monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(runtime, posted)
    tell(runtime, "task.finished", Subject("task", "1"))

    class Killed(BaseException):
        pass

    def die(*_words: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(notifier, "_delivered", die)
        with pytest.raises(Killed):
            await notifier.deliver(work, runtime.model)
    await drive(runtime, work)
    first, second = (body["id"] for _, _, body in posted.requests)
    assert first == second


async def test_a_plugin_that_waits_for_ever_holds_up_no_command(
    runtime: TestController, work: PlayedRuntime, posted: Posted, monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(runtime, posted)
    tell(runtime, "task.finished", Subject("task", "1"))
    monkeypatch.setattr(notifier, "MOST_S", 0.1)
    hang = threading.Event()
    monkeypatch.setattr(notify_targets_of, "send", lambda *_words: hang.wait())
    await drive(runtime, work)
    hang.set()
    (state,) = notify_targets.targets(runtime.ctx)
    assert (state["state"], state["error"]) == ("failing", "no answer within 0 s")


async def test_receivers_that_refuse_an_event_are_reported_and_the_others_get_it_once(
    runtime: TestController, work: PlayedRuntime, posted: Posted, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = ["boss@example.com (550)", "boss@example.com (550)", ""]
    sends: list[str] = []

    def send(_ctx: Any, _host: Any, _row: Any, event: Any) -> str:
        sends.append(event.name)
        return refusals.pop(0)

    listen(runtime, posted)
    monkeypatch.setattr(notify_targets_of, "send", send)
    with pytest.raises(NotifyError, match=r"boss@example\.com"):
        notify.test(runtime.ctx, HOST, "t")
    tell(runtime, "unit.error", Subject("unit", "web/0"))
    await drive(runtime, work)
    (state,) = notify_targets.targets(runtime.ctx)
    assert (state["state"], state["error"], state["waiting"]) == ("partly", "boss@example.com (550)", 0)
    assert "target t, event unit.error: boss@example.com (550)" in [
        row["message"] for row in runtime.tables()["log"]
    ]
    await later(runtime, work, MINUTE)
    assert sends == ["test", "unit.error"]
    tell(runtime, "unit.error", Subject("unit", "web/1"))
    await drive(runtime, work)
    (state,) = notify_targets.targets(runtime.ctx)
    assert (state["state"], "error" in state) == ("ok", False)


async def test_old_events_of_a_restored_backup_are_not_sent(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    tell(runtime, "task.finished", Subject("task", "1"))
    runtime.clock.advance(2 * DAY)
    tell(runtime, "task.finished", Subject("task", "2"))
    await drive(runtime, work)
    assert [body["subject"] for _, _, body in posted.requests] == ["task 2"]


async def test_a_target_gets_what_it_wants_alone(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted, "units", events=["unit.*"])
    listen(runtime, posted, "here", models=["shop"], events=["machine.back"])
    listen(runtime, posted, "elsewhere", models=["admin/other"])
    for event in ("unit.error", "task.finished", "machine.back"):
        tell(runtime, event, Subject("unit", "web/0"))
    await drive(runtime, work)
    assert sorted((path, body["type"]) for path, _, body in posted.requests) == [
        ("/here", "io.pushjuju.machine.back.v1"),
        ("/units", "io.pushjuju.unit.error.v1"),
    ]


async def test_a_removal_that_does_not_end_is_told_of(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted, events=["removal.stuck"])
    runtime.deploy(count=2)
    await drive(runtime, work)
    runtime.played().fail("stop", 100, unit="web/0")
    removals.remove_units(runtime.ctx, runtime.model, ["web/0", "web/1"])
    await drive(runtime, work)
    await later(runtime, work, 16 * MINUTE)
    assert texts(posted) == ["unit web/0 still waits for its removal"]
    assert {row["entity"] for row in runtime.tables()["alarm"]} == {"web/0"}


async def test_a_secret_that_expires_within_a_day(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    runtime.active()
    expires = runtime.clock.now() + timedelta(days=2)
    owner = Owner(kind=OwnerKind.APPLICATION, name="web")
    change = Change(content=Content({"token": "YQ=="}), label="db", expires=expires)
    runtime.write(lambda tx: secrets.create(runtime.ctx, tx, "d0abc0000000000000a0", owner, change))
    await later(runtime, work, DAY - MINUTE)
    assert posted.events == []
    await later(runtime, work, 2 * MINUTE)
    await later(runtime, work, 10 * MINUTE)
    assert texts(posted) == [
        "revision 1 of secret d0abc0000000000000a0 (db) expires at 2025-03-03T09:00:00.000000Z"
    ]
    assert "YQ==" not in str(posted.requests)


async def test_a_revision_that_stays_after_its_expiry_is_told_of_once(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    """The unit runs secret-expired again and again until the revision is removed."""
    listen(runtime, posted)
    runtime.active()
    owner, secret = Owner(kind=OwnerKind.APPLICATION, name="web"), "d0abc0000000000000a0"
    change = Change(content=Content({"token": "YQ=="}), expires=runtime.clock.now() + timedelta(hours=1))
    runtime.write(lambda tx: secrets.create(runtime.ctx, tx, secret, owner, change))
    await later(runtime, work, MINUTE)
    for _ in range(4):
        await later(runtime, work, 30 * MINUTE)
    assert runtime.played().hooks.count(("web/0", "secret-expired")) > 1
    assert posted.events == ["secret.expiring"]
    assert len(runtime.tables()["alarm"]) == 1
    runtime.write(lambda tx: secrets.remove(tx, secrets.get(tx, secret), None))
    assert runtime.tables()["alarm"] == []


async def test_a_target_that_is_added_later_is_told_in_time(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    runtime.active()
    owner = Owner(kind=OwnerKind.APPLICATION, name="web")
    expires = runtime.clock.now() + timedelta(days=3)
    change = Change(content=Content({"token": "YQ=="}), label="db", expires=expires)
    runtime.write(lambda tx: secrets.create(runtime.ctx, tx, "d0abc0000000000000a0", owner, change))
    await drive(runtime, work)
    listen(runtime, posted)
    await later(runtime, work, 2 * DAY + MINUTE)
    await later(runtime, work, 10 * MINUTE)
    assert [text.partition(" expires at ")[0] for text in texts(posted)] == [
        "revision 1 of secret d0abc0000000000000a0 (db)"
    ]


async def test_a_task_that_ends(runtime: TestController, work: PlayedRuntime, posted: Posted) -> None:
    listen(runtime, posted)
    runtime.deploy()
    await drive(runtime, work)
    operations.enqueue_commands(
        runtime.ctx, runtime.model, operations.CommandRequest(command="true", timeout_s=9, units=["web/0"])
    )
    await drive(runtime, work)
    assert texts(posted) == ["task 2 (juju-exec on web/0) has ended: completed"]


def test_the_work_of_a_command(runtime: TestController, posted: Posted) -> None:
    assert settled.tell(runtime.ctx, runtime.model, 1.0, ()) is False
    listen(runtime, posted)
    assert settled.tell(runtime.ctx, runtime.model, 61.2, [Problem("unit web/0: hook failed")]) is True
    assert settled.tell(runtime.ctx, "no-such-model", 1.0, ()) is False
    (row,) = runtime.tables()["notice"]
    assert row["text"].endswith("its work on model shop in 61 s; failed: unit web/0: hook failed")


async def test_a_process_that_died_is_told_of_once(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    gone = f"{serving.processes.process_owner().partition(':')[0]}:4194304:1"
    with runtime.ctx.store.write() as tx:
        now = runtime.clock.now()
        tx.run("process_enlist", owner=gone, version="1", started=now, pools="", api="")
        tx.run("process_enlist", owner="elsewhere:1:1", version="1", started=now, pools="", api="")
    with runtime.ctx.store.read() as tx:
        found = serving.processes.gone(tx, runtime.ctx.store.lives)
    assert found == [gone]
    for _ in range(2):
        serving._bury(runtime.ctx, found)
    await notifier.deliver(work, "")
    ((_, _, body),) = posted.requests
    assert body["subject"] == f"process {gone.rpartition(':')[0]}"
    assert body["source"].startswith("/controllers/")
    assert "/models/" not in body["source"]


async def test_a_removed_target_leaves_nothing(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    listen(runtime, posted)
    with pytest.raises(AlreadyExists):
        listen(runtime, posted)
    runtime.deploy()
    runtime.played().fail("install", 100)
    posted.status = 500
    await drive(runtime, work)
    notify.remove(runtime.ctx, "t")
    tables = runtime.tables()
    assert (tables["notify_target"], tables["notice"], tables["alarm"]) == ([], [], [])
    for call in (lambda: notify.remove(runtime.ctx, "t"), lambda: notify.test(runtime.ctx, HOST, "t")):
        with pytest.raises(NotFound):
            call()


async def test_a_removed_model_leaves_no_event(
    runtime: TestController, work: PlayedRuntime, posted: Posted
) -> None:
    posted.status = 500
    listen(runtime, posted)
    tell(runtime, "task.finished", Subject("task", "1"))
    await drive(runtime, work)
    runtime.destroy_model()
    await drive(runtime, work)
    assert runtime.tables()["model"] == []
    assert runtime.tables()["notice"] == []


def test_a_new_key_opens_the_address_of_a_target(runtime: TestController, posted: Posted) -> None:
    listen(runtime, posted, secret="s3cret")
    keys.renew(runtime.ctx, forget=True)
    notify.test(runtime.ctx, HOST, "t")
    assert posted.events == ["test"]
    assert "s3cret" not in str(runtime.tables()) + str(posted.requests)
    posted.status = 404
    with pytest.raises(NotifyError, match="answered with status 404"):
        notify.test(runtime.ctx, HOST, "t")


@pytest.mark.parametrize(
    "wrong", [{"events": ["unit.eror"]}, {"body": "xml"}, {"name": "a b"}, {"address": "ftp://h/"}]
)
def test_what_no_target_can_have_is_refused(runtime: TestController, wrong: dict[str, Any]) -> None:
    options = TargetOptions(**{"name": "t", "address": "https://h/", **wrong})
    with pytest.raises(NotValid):
        notify.add(runtime.ctx, HOST, options)
