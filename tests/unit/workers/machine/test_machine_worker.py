"""The worker of one machine: started, reached, recovered, ended; failures with reason and back-off."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from pushjuju.core.errors import (
    AuthFailed,
    HostKeyChanged,
    NotValid,
    ProviderError,
    PushjujuError,
    Unreachable,
)
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.runner.ssh.hostkeys import HostKeyFile
from pushjuju.services.entities.basis import leadership, logs, statuses
from pushjuju.services.entities.machine import machines
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings
from pushjuju.services.views.status import document as status
from pushjuju.store.db import Store
from pushjuju.store.rows.records import Machine, Unit
from pushjuju.workers.machine import contact
from pushjuju.workers.machine.machine_worker import Outcome
from pushjuju.workers.provision import hostkeys
from tests.world.charms import SETUP, UBUNTU
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine, failed
from tests.world.runtime import PlayedFirewall, PlayedRuntime, ResumingCloud, drive, worker
from tests.world.said import reason_of

HERE = Placement.parse("0")


def _in(runtime: TestController, outcome: Outcome) -> float:
    assert outcome.due is not None
    return (outcome.due - runtime.clock.now()).total_seconds()


def _instance(runtime: TestController, machine: str = "0") -> tuple[str, str]:
    return runtime.status(StatusKind.INSTANCE, machine)


def _fresh_box(runtime: TestController) -> Any:
    """A machine that is there already, so that its hooks can be told how to end."""
    return runtime.played("0")


# --- making machines --------------------------------------------------------------------------------------


async def test_machine_is_made_and_noted(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy(constraints={"mem": 1024})
    outcome = await worker(work)
    assert not outcome.failed
    (request,) = work.cloud.asked
    machine = runtime.machine("0")
    assert (request.machine_id, request.base, dict(request.constraints)) == ("0", UBUNTU, {"mem": 1024})
    assert request.nonce == f"machine-0:{machine.nonce}"
    assert request.hostname == f"juju-{runtime.model[-6:]}-0"
    assert request.authorized_keys == (runtime.ctx.controller.public_key.read_text().strip(),)
    assert (machine.instance_id, machine.display_name, machine.hostname) == ("i-0", "box-0", "juju-0")
    assert (machine.boot_id, machine.provider, machine.attempts) == ("boot-1", "local", 0)
    assert machine.hardware["mem"] == "2048M"
    assert runtime.status(StatusKind.MACHINE, "0") == ("started", "")
    assert _instance(runtime) == ("running", "Running")
    known = runtime.ctx.controller.known_hosts(runtime.model).read_text()
    assert known == "10.0.0.2 ssh-ed25519 0\n"


async def test_machine_without_units_is_reached_once(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    assert await worker(work) == Outcome()
    assert runtime.status(StatusKind.MACHINE, "0") == ("started", "")
    assert await worker(work) == Outcome()
    assert work.opened == ["0"]


async def test_machine_that_nobody_knows(runtime: TestController) -> None:
    assert await worker(PlayedRuntime(runtime), "7") == Outcome()


async def test_what_a_turn_without_contact_writes_is_durable_at_the_end_of_the_work(
    runtime: TestController,
) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await drive(runtime, work)
    work.opened.clear()  # no session is open any more
    runtime.change_unit("web/0", update_status_version=0, update_status_due=None)
    await worker(work)
    with closing(Store.open(runtime.ctx.store.place)) as other, other.read() as tx:
        unit = tx.get(Unit, "unit_get", "no unit", model=runtime.model, name="web/0")
    assert unit.update_status_due is not None
    assert work.opened == []


async def test_start_is_tried_eleven_times(runtime: TestController) -> None:
    """Juju: 10 retries, 10 s apart, then `provisioning error`."""
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [ProviderError("no quota", detail="limit 3") for _ in range(11)]
    for tries in range(1, 11):
        outcome = await worker(work, attempts=tries - 1)
        assert (_in(runtime, outcome), outcome.attempts, outcome.failed) == (10.0, tries, True)
        assert reason_of(outcome) == "failed to start machine 0: no quota: limit 3"
        left = 11 - tries
        assert _instance(runtime) == (
            "allocating",
            f"failed to start machine 0 (no quota: limit 3), retrying in 10s ({left} more attempts)",
        )
    outcome = await worker(work, attempts=10)
    assert (outcome.due, outcome.failed) == (None, True)
    assert _instance(runtime) == ("provisioning error", "no quota: limit 3")
    outcome = await worker(work)
    assert (outcome.due, reason_of(outcome)) == (None, "the machine could not be started; see status")
    assert len(work.cloud.asked) == 11


async def test_start_that_can_never_work_is_tried_once(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [NotValid("no such zone")]
    outcome = await worker(work)
    assert (outcome.due, outcome.failed) == (None, True)
    assert _instance(runtime) == ("provisioning error", "no such zone")


async def test_retry_provisioning_begins_anew(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [NotValid("no such zone")]
    await worker(work)
    runtime.write(lambda tx: machines.retry_start(tx, "0"))
    assert _instance(runtime)[0] == "allocating"
    assert "machine/0" in runtime.touched()
    assert not (await worker(work)).failed
    assert _instance(runtime) == ("running", "Running")
    with pytest.raises(NotValid, match=r"machine 0 is not in an error state \(running\)"):
        runtime.write(lambda tx: machines.retry_start(tx, "0"))
    assert _instance(runtime) == ("running", "Running")


async def test_success_forgets_earlier_failures(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [ProviderError("busy") for _ in range(3)]
    for _ in range(4):
        await worker(work)
    assert runtime.machine("0").attempts == 0


async def test_machine_removed_before_it_was_made(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    assert await worker(work) == Outcome()
    assert (runtime.machine_ids(), work.cloud.asked) == ([], [])


async def test_machine_given_up_may_be_removed(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [NotValid("no such zone")]
    await worker(work)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    assert await worker(work) == Outcome()
    assert runtime.machine_ids() == []


async def test_another_base_than_asked_for_is_told(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy(base=UBUNTU.__class__.parse("ubuntu@24.04"))
    await worker(work)
    assert _instance(runtime) == ("running", "Running ubuntu@22.04 in place of ubuntu@24.04")


# --- reaching machines ------------------------------------------------------------------------------------


async def test_fresh_machine_gets_time_to_boot(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    work.unreachable["0"] = Unreachable("connection refused")
    opened = work.session

    async def session(machine: Any) -> Any:
        if runtime.clock.now().minute >= 1:  # it answers after a minute
            work.unreachable.clear()
        return await opened(machine)

    work.session = session  # type: ignore[method-assign]
    assert not (await worker(work)).failed
    assert tuple(runtime.of("web/0")) == SETUP


async def test_fresh_machine_that_never_answers(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    work.unreachable["0"] = Unreachable("connection refused")
    outcome = await worker(work)
    told = "connection refused; next: pushjuju remove-machine 0 --force, if it will never answer"
    assert (outcome.failed, reason_of(outcome), outcome.attempts) == (True, told, 1)
    assert runtime.machine("0").unreachable_since is not None
    assert _instance(runtime) == ("running", "connection refused")
    assert runtime.agent() == ("allocating", "")  # nothing is prepared before the machine answers
    assert runtime.open_operations() == []


async def test_fresh_machine_with_a_foreign_host_key(runtime: TestController) -> None:
    """Its first boot gets time to give it ours; then it is told, with what to type, and nothing is lost."""
    work = PlayedRuntime(runtime)
    runtime.deploy()
    work.unreachable["0"] = HostKeyChanged("expected A, got B", detail="Who is it?", hint="echo B >> file")
    outcome = await worker(work)
    text = "waits until it can be reached: expected A, got B"
    assert [event.text for event in work.events if event.state == "waiting"] == [text]
    assert reason_of(outcome) == "expected A, got B: Who is it?; next: echo B >> file"
    assert outcome.due is not None
    assert _instance(runtime) == ("running", "expected A, got B")
    assert len(work.cloud.asked) == 1
    del work.unreachable["0"]
    assert not (await worker(work)).failed
    assert (len(work.cloud.asked), _instance(runtime)[0]) == (1, "running")
    assert tuple(runtime.of("web/0")) == SETUP


async def test_a_machine_that_moves_takes_its_host_keys_along(runtime: TestController) -> None:
    """Another one was at its new address before; its key opens nothing there."""
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    machine = runtime.machine("0")
    file = HostKeyFile(runtime.ctx.controller.known_hosts(runtime.model))
    file.add("10.9.9.9", "ssh-ed25519 OLD")
    moved = runtime.write(lambda tx: machines.set_ssh(tx, machine, {**machine.ssh, "host": "10.9.9.9"}))
    hostkeys.moved(runtime.ctx, machine, moved)
    assert file.find("10.9.9.9") == ["ssh-ed25519 0"]
    hostkeys.forget(runtime.ctx, moved)
    assert file.find("10.9.9.9") == []


@pytest.mark.parametrize(
    "error",
    [
        AuthFailed("refused", retryable=False),
        HostKeyChanged("another key", detail="SHA256:a SHA256:b", retryable=False),
    ],
)
async def test_what_waiting_does_not_mend_is_told_at_once(
    runtime: TestController, error: PushjujuError
) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    work.unreachable["0"] = error
    before = runtime.clock.now()
    outcome = await worker(work)
    assert outcome.failed
    assert reason_of(outcome).startswith(error.message)
    assert (runtime.clock.now() - before).total_seconds() == 30  # one try
    found = [
        item.message for item in logs.after(runtime.ctx.store, runtime.model, 0) if item.entity == "machine-0"
    ]
    assert found == [reason_of(outcome)]


async def test_back_off_doubles_to_five_minutes(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    work.unreachable["0"] = AuthFailed("refused", retryable=False)
    waits = []
    for attempts in range(9):
        outcome = await worker(work, attempts=attempts)
        assert outcome.attempts == attempts + 1
        waits.append(_in(runtime, outcome))
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300]


async def test_silence_has_a_beginning(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    work.unreachable["0"] = Unreachable("no route")
    await worker(work)
    since = runtime.machine("0").unreachable_since
    await worker(work)
    assert runtime.machine("0").unreachable_since == since
    work.unreachable.clear()
    outcome = await worker(work)
    assert not outcome.failed
    assert runtime.machine("0").unreachable_since is None
    assert _instance(runtime) == ("running", "Running")
    assert runtime.of("web/0")[-1] == "config-changed"


async def test_machine_that_is_gone_from_its_cloud(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    del runtime.played_machines["0"]
    outcome = await worker(work)
    assert reason_of(outcome) == (
        "machine 0 is gone from its cloud: no instance i-0; next: pushjuju remove-machine 0 --force"
    )


async def test_an_idle_machine_is_left_alone(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    outcome = await worker(work)
    due = runtime.unit("web/0").update_status_due
    assert outcome == Outcome(due=due, routine=True)
    work.unreachable["0"] = Unreachable("no route")
    assert await worker(work) == Outcome(due=due, routine=True)  # nobody even tried
    assert len(work.opened) == 1


async def test_silent_leader_is_followed(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy(count=2)
    await drive(runtime, work)
    leader = runtime.read(lambda tx: leadership.holder(tx, "web"))
    lost, other = ("0", "web/1") if leader == "web/0" else ("1", "web/0")
    work.unreachable[lost] = AuthFailed("refused", retryable=False)
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    for _ in range(4):
        await worker(work, lost)
        await worker(work, "1" if lost == "0" else "0")
    assert runtime.read(lambda tx: leadership.holder(tx, "web")) == other
    assert "leader-elected" in runtime.of(other)


# --- the end ----------------------------------------------------------------------------------------------


async def test_last_unit_takes_its_machine_along(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    played = runtime.played_machines["0"]
    assert await worker(work) == Outcome()
    assert work.cloud.stopped == ["i-0"]
    assert runtime.machine_ids() == []
    assert [frame["kind"] for frame in played.frames][-2:] == ["hook", "hook"]  # no file is worth removing
    assert runtime.ctx.controller.known_hosts(runtime.model).read_text() == ""


async def test_kept_instance_is_left_clean(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], keep_instance=True)
    played = runtime.played_machines["0"]
    await worker(work)
    assert (work.cloud.stopped, runtime.machine_ids()) == ([], [])
    last, let_go = played.frames[-2:]
    assert (last["kind"], last["unit"], last["last"], "release" in last) == (
        "remove-unit",
        "web/0",
        True,
        False,
    )
    assert (let_go["kind"], let_go["unit"], let_go["release"]) == ("remove-unit", "", True)


async def test_files_that_cannot_be_removed(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], keep_instance=True)
    runtime.played_machines["0"].will("remove-unit", {"outcome": "error", "message": "read-only file system"})
    outcome = await worker(work)
    assert reason_of(outcome) == "unit web/0: its files could not be removed: read-only file system"
    assert runtime.units() == ["web/0"]
    await worker(work)
    assert runtime.units() == []


async def test_machine_that_cannot_be_stopped_is_tried_again(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    await worker(work)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    work.cloud.stuck = [ProviderError("cloud is down")]
    outcome = await worker(work)
    assert (outcome.failed, reason_of(outcome)) == (True, "cloud is down")
    assert runtime.machine_ids() == ["0"]
    assert await worker(work) == Outcome()
    assert runtime.machine_ids() == []


async def test_forced_machine_is_forgotten_though_it_cannot_be_stopped(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    await worker(work)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], force=Force())
    work.cloud.stuck = [ProviderError("cloud is down")]
    assert await worker(work) == Outcome()
    assert runtime.machine_ids() == []
    assert "forgotten though it could not be stopped: cloud is down" in [item.text for item in work.events]


async def test_dying_unit_of_a_silent_machine_stays(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    work.unreachable["0"] = AuthFailed("refused", retryable=False)
    assert (await worker(work)).failed
    assert runtime.unit("web/0").life == "dying"


async def test_stopping_is_told(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await worker(work)
    told = [(item.entity, item.text, item.state) for item in work.events]
    assert ("machine 0", "making a box", "running") in told
    assert ("web/0", "install: running", "running") in told
    assert ("web/0", "install: done", "done") in told
    assert told[-3:] == [
        ("web/0", "removed", "done"),
        ("machine 0", "stopping", "running"),
        ("machine 0", "removed", "done"),
    ]


async def test_a_new_machine_ends_on_its_address(runtime: TestController) -> None:
    """Whatever is done on it at the first contact besides, as its firewall."""
    work = PlayedRuntime(runtime)
    work.guard = PlayedFirewall()
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    await worker(work)
    assert work.guard.times("0") == 1
    last = [item for item in work.events if item.entity == "machine 0"][-1]
    assert (last.text, last.state) == (f"started, {runtime.machine('0').ssh['host']}", "done")


async def test_a_machine_that_is_let_go_is_released(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    await worker(work)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], keep_instance=True)
    await worker(work)
    assert [item.text for item in work.events][-2:] == ["being released", "released"]


async def test_failed_hook_is_told(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    _fresh_box(runtime).will("install", failed(7))
    await worker(work)
    assert ("web/0", "install: failed: exit status 7", "failed") in [
        (item.entity, item.text, item.state) for item in work.events
    ]


# --- processes that died ----------------------------------------------------------------------------------


async def test_machine_that_nobody_came_to_record_is_ended_with_its_removal(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    runtime.played_machines["0"] = PlayedMachine(id="0")  # made by a process that died then
    runtime.write(lambda tx: statuses.set_status(tx, StatusKind.INSTANCE, "0", InstanceStatus.ALLOCATING))
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    assert (await drive(runtime, work)).problems == ()
    assert (work.cloud.stopped, runtime.played_machines, runtime.machine_ids()) == (["i-0"], {}, [])


async def test_machine_that_nobody_began_is_removed_without_its_cloud(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    work.cloud.stuck = [ProviderError("the cloud is closed")]
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    assert (await drive(runtime, work)).problems == ()
    assert runtime.machine_ids() == []


def _shown(runtime: TestController) -> tuple[str, str, str]:
    """Return how the machine, its instance and its unit's agent are shown in status."""
    document = status.document(runtime.ctx, runtime.resolve_model())
    machine = document["machines"]["0"]
    unit = document["applications"]["web"]["units"]["web/0"]
    parts = (machine["juju-status"], machine["machine-status"], unit["juju-status"])
    return tuple(part["current"] for part in parts)  # type: ignore[return-value]


async def test_a_stopped_machine_is_started_again_by_the_next_contact(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    work.cloud = ResumingCloud(runtime)
    runtime.deploy()
    await worker(work)
    work.cloud.halt("0")
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    outcome = await worker(work)
    assert not outcome.failed
    assert contact.RESUMING in [event.text for event in work.events]
    assert runtime.of("web/0")[-1] == "config-changed"
    assert _shown(runtime) == ("started", "running", "idle")
    assert ("stopped", contact.RESUMING) in runtime.history(StatusKind.INSTANCE, "0")


async def test_a_machine_that_an_ended_process_started_again_is_awaited(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cloud says "running" as soon as the machine begins to boot: its first silence is no failure."""
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    runtime.write(
        lambda tx: statuses.set_status(tx, StatusKind.INSTANCE, "0", InstanceStatus.STOPPED, contact.RESUMING)
    )
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    silences, reach = [Unreachable("connection refused")] * 2, work.session

    async def booting(machine: Machine) -> Any:
        if silences:
            raise silences.pop()
        return await reach(machine)

    monkeypatch.setattr(work, "session", booting)
    assert not (await worker(work)).failed
    assert _shown(runtime) == ("started", "running", "idle")


async def test_a_machine_that_cannot_be_started_again_is_shown_at_once(runtime: TestController) -> None:
    """Where the cloud leaves that to people, and where it fails: no minute of `active idle` passes."""
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    work.cloud.halt("0")
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    outcome = await worker(work)
    assert reason_of(outcome) == "machine 0 is stopped in its cloud; next: start instance i-0 in the cloud"
    assert _shown(runtime) == ("down", "stopped", "lost")
    work.cloud = ResumingCloud(runtime)
    work.cloud.halted = {"0": PlayedMachine(id="0")}
    work.cloud.resume = _refused  # type: ignore[method-assign]
    outcome = await worker(work)
    assert "no room on this host" in reason_of(outcome)
    assert _shown(runtime) == ("down", "stopped", "lost")


async def _refused(_: str) -> None:
    raise ProviderError("no room on this host")


async def test_a_machine_that_is_gone_is_lost_at_once(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    del runtime.played_machines["0"]
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    await worker(work)
    assert _shown(runtime) == ("down", "unknown", "lost")


async def test_a_machine_that_is_stopped_in_the_middle_of_a_hook_is_started_at_once(
    runtime: TestController,
) -> None:
    cloud, halting = ResumingCloud(runtime), []

    def stop_once(name: str) -> None:
        if name == "prepared" and halting:
            cloud.halt(halting.pop())

    work = PlayedRuntime(runtime, stop_once)
    work.cloud = cloud
    runtime.deploy()
    await worker(work)
    runtime.played_machines["0"].will("config-changed", {"cut": True})
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    halting.append("0")
    outcome = await worker(work)
    assert (outcome.failed, outcome.due) == (True, runtime.clock.now())
    assert not (await worker(work, attempts=outcome.attempts)).failed
    assert _shown(runtime) == ("started", "running", "idle")


async def test_retry_provisioning_starts_a_stopped_machine(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    await worker(work)
    work.cloud.halt("0")
    settings.set_trust(runtime.ctx, runtime.model, "web", trusted=True)
    await worker(work)
    work.cloud, halted = ResumingCloud(runtime), work.cloud.halted
    work.cloud.halted = halted
    runtime.write(lambda tx: machines.retry_start(tx, "0"))
    assert not (await worker(work)).failed
    assert _shown(runtime) == ("started", "running", "idle")
