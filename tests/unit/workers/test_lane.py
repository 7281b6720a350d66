"""One machine's lane: started, reached, worked, recovered, ended; failures with reason and back-off."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import (
    AuthFailed,
    HostKeyChanged,
    NotValid,
    ProviderError,
    PushjujuError,
    Unreachable,
)
from pushjuju.core.placement import Placement
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.runner.hostkeys import HostKeyFile
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import leadership, logs, statuses
from pushjuju.services.entities.machine import machines
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.views.status import document as status
from pushjuju.workers import contact, hostkeys
from pushjuju.workers.lane import Outcome
from tests.unit.services.world import SETUP, UBUNTU, Box, World, failed, ok
from tests.unit.workers.fakes import Guard, Resuming, Shop, drive, lane

HERE = Placement.parse("0")


def _in(shop: World, outcome: Outcome) -> float:
    assert outcome.due is not None
    return (outcome.due - shop.clock.now()).total_seconds()


def _instance(shop: World, machine: str = "0") -> tuple[str, str]:
    return shop.status(StatusKind.INSTANCE, machine)


# --- making machines --------------------------------------------------------------------------------------


async def test_machine_is_made_and_noted(shop: World) -> None:
    work = Shop(shop)
    shop.deploy(constraints={"mem": 1024})
    outcome = await lane(work)
    assert not outcome.failed
    (request,) = work.cloud.asked
    machine = shop.machine("0")
    assert (request.machine_id, request.base, dict(request.constraints)) == ("0", UBUNTU, {"mem": 1024})
    assert request.nonce == f"machine-0:{machine.nonce}"
    assert request.hostname == f"juju-{shop.model[-6:]}-0"
    assert request.authorized_keys == (shop.ctx.controller.public_key.read_text().strip(),)
    assert (machine.instance_id, machine.display_name, machine.hostname) == ("i-0", "box-0", "juju-0")
    assert (machine.boot_id, machine.provider, machine.attempts) == ("boot-1", "local", 0)
    assert machine.hardware["mem"] == "2048M"
    assert shop.status(StatusKind.MACHINE, "0") == ("started", "")
    assert _instance(shop) == ("running", "Running")
    known = shop.ctx.controller.known_hosts(shop.model).read_text()
    assert known == "10.0.0.2 ssh-ed25519 0\n"


async def test_machine_without_units_is_reached_once(shop: World) -> None:
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    assert await lane(work) == Outcome()
    assert shop.status(StatusKind.MACHINE, "0") == ("started", "")
    assert await lane(work) == Outcome()
    assert work.opened == ["0"]


async def test_machine_that_nobody_knows(shop: World) -> None:
    assert await lane(Shop(shop), "7") == Outcome()


async def test_start_is_tried_eleven_times(shop: World) -> None:
    """Juju: 10 retries, 10 s apart, then `provisioning error`."""
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [ProviderError("no quota", detail="limit 3") for _ in range(11)]
    for tries in range(1, 11):
        outcome = await lane(work, attempts=tries - 1)
        assert (_in(shop, outcome), outcome.attempts, outcome.failed) == (10.0, tries, True)
        assert outcome.reason == "failed to start machine 0: no quota: limit 3"
        left = 11 - tries
        assert _instance(shop) == (
            "allocating",
            f"failed to start machine 0 (no quota: limit 3), retrying in 10s ({left} more attempts)",
        )
    outcome = await lane(work, attempts=10)
    assert (outcome.due, outcome.failed) == (None, True)
    assert _instance(shop) == ("provisioning error", "no quota: limit 3")
    outcome = await lane(work)
    assert (outcome.due, outcome.reason) == (None, "the machine could not be started; see status")
    assert len(work.cloud.asked) == 11


async def test_start_that_can_never_work_is_tried_once(shop: World) -> None:
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [NotValid("no such zone")]
    outcome = await lane(work)
    assert (outcome.due, outcome.failed) == (None, True)
    assert _instance(shop) == ("provisioning error", "no such zone")


async def test_retry_provisioning_begins_anew(shop: World) -> None:
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [NotValid("no such zone")]
    await lane(work)
    shop.write(lambda tx: machines.retry_provisioning(tx, shop.model, "0", shop.clock.now()))
    assert _instance(shop)[0] == "allocating"
    assert "machine/0" in shop.touched()
    assert not (await lane(work)).failed
    assert _instance(shop) == ("running", "Running")
    with pytest.raises(NotValid, match=r"machine 0 is not in an error state \(running\)"):
        shop.write(lambda tx: machines.retry_provisioning(tx, shop.model, "0", shop.clock.now()))
    assert _instance(shop) == ("running", "Running")


async def test_success_forgets_earlier_failures(shop: World) -> None:
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [ProviderError("busy") for _ in range(3)]
    for _ in range(4):
        await lane(work)
    assert shop.machine("0").attempts == 0


async def test_machine_removed_before_it_was_made(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    assert await lane(work) == Outcome()
    assert (shop.machine_ids(), work.cloud.asked) == ([], [])


async def test_machine_given_up_may_be_removed(shop: World) -> None:
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [NotValid("no such zone")]
    await lane(work)
    removal.remove_machines(shop.ctx, shop.model, ["0"])
    assert await lane(work) == Outcome()
    assert shop.machine_ids() == []


async def test_another_base_than_asked_for_is_told(shop: World) -> None:
    work = Shop(shop)
    shop.deploy(base=UBUNTU.__class__.parse("ubuntu@24.04"))
    await lane(work)
    assert _instance(shop) == ("running", "Running ubuntu@22.04 in place of ubuntu@24.04")


# --- reaching machines ------------------------------------------------------------------------------------


async def test_fresh_machine_gets_time_to_boot(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    work.unreachable["0"] = Unreachable("connection refused")
    opened = work.session

    async def session(machine: Any) -> Any:
        if shop.clock.now().minute >= 1:  # it answers after a minute
            work.unreachable.clear()
        return await opened(machine)

    work.session = session  # type: ignore[method-assign]
    assert not (await lane(work)).failed
    assert tuple(shop.of("web/0")) == SETUP


async def test_fresh_machine_that_never_answers(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    work.unreachable["0"] = Unreachable("connection refused")
    outcome = await lane(work)
    told = "connection refused; next: pushjuju remove-machine 0 --force, if it never will answer"
    assert (outcome.failed, outcome.reason, outcome.attempts) == (True, told, 1)
    assert shop.machine("0").unreachable_since is not None
    assert _instance(shop) == ("running", "connection refused")
    assert shop.agent() == ("allocating", "")  # nothing is prepared before the machine answers
    assert shop.open_operations() == []


async def test_fresh_machine_with_a_foreign_host_key(shop: World) -> None:
    """Its first boot gets time to give it ours; then it is told, with what to type, and nothing is lost."""
    work = Shop(shop)
    shop.deploy()
    work.unreachable["0"] = HostKeyChanged("expected A, got B", detail="Who is it?", hint="echo B >> file")
    outcome = await lane(work)
    text = "waits until it can be reached: expected A, got B"
    assert [event.text for event in work.events if event.state == "waiting"] == [text]
    assert outcome.reason == "expected A, got B: Who is it?; next: echo B >> file"
    assert outcome.due is not None
    assert _instance(shop) == ("running", "expected A, got B")
    assert len(work.cloud.asked) == 1
    del work.unreachable["0"]
    assert not (await lane(work)).failed
    assert (len(work.cloud.asked), _instance(shop)[0]) == (1, "running")
    assert tuple(shop.of("web/0")) == SETUP


async def test_a_machine_that_moves_takes_its_host_keys_along(shop: World) -> None:
    """Another one was at its new address before; its key opens nothing there."""
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    machine = shop.machine("0")
    file = HostKeyFile(shop.ctx.controller.known_hosts(shop.model))
    file.add("10.9.9.9", "ssh-ed25519 OLD")
    moved = shop.write(
        lambda tx: machines.set_ssh(tx, machine, {**machine.ssh, "host": "10.9.9.9"}, shop.clock.now())
    )
    hostkeys.moved(shop.ctx, machine, moved)
    assert file.find("10.9.9.9") == ["ssh-ed25519 0"]
    hostkeys.forget(shop.ctx, moved)
    assert file.find("10.9.9.9") == []


@pytest.mark.parametrize(
    "error",
    [
        AuthFailed("refused", retryable=False),
        HostKeyChanged("another key", detail="SHA256:a SHA256:b", retryable=False),
    ],
)
async def test_what_waiting_does_not_mend_is_told_at_once(shop: World, error: PushjujuError) -> None:
    work = Shop(shop)
    shop.deploy()
    work.unreachable["0"] = error
    before = shop.clock.now()
    outcome = await lane(work)
    assert outcome.failed
    assert outcome.reason.startswith(error.message)
    assert (shop.clock.now() - before).total_seconds() == 30  # one try
    found = [item.message for item in logs.after(shop.ctx.store, shop.model, 0) if item.entity == "machine-0"]
    assert found == [outcome.reason]


async def test_back_off_doubles_to_five_minutes(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    work.unreachable["0"] = AuthFailed("refused", retryable=False)
    waits = []
    for attempts in range(9):
        outcome = await lane(work, attempts=attempts)
        assert outcome.attempts == attempts + 1
        waits.append(_in(shop, outcome))
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300]


async def test_silence_has_a_beginning(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    work.unreachable["0"] = Unreachable("no route")
    await lane(work)
    since = shop.machine("0").unreachable_since
    await lane(work)
    assert shop.machine("0").unreachable_since == since
    work.unreachable.clear()
    outcome = await lane(work)
    assert not outcome.failed
    assert shop.machine("0").unreachable_since is None
    assert _instance(shop) == ("running", "Running")
    assert shop.of("web/0")[-1] == "config-changed"


async def test_machine_that_is_gone_from_its_cloud(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    del shop.boxes["0"]
    outcome = await lane(work)
    assert outcome.reason == (
        "machine 0 is gone from its cloud: no instance i-0; next: pushjuju remove-machine 0 --force"
    )


async def test_an_idle_machine_is_left_alone(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    outcome = await lane(work)
    due = from_iso(str(shop.unit("web/0").update_status_due))
    assert outcome == Outcome(due=due, routine=True)
    work.unreachable["0"] = Unreachable("no route")
    assert await lane(work) == Outcome(due=due, routine=True)  # nobody even tried
    assert len(work.opened) == 1


async def test_silent_leader_is_followed(shop: World) -> None:
    work = Shop(shop)
    shop.deploy(count=2)
    await drive(shop, work)
    leader = shop.read(lambda tx: leadership.holder(tx, shop.model, "web"))
    lost, other = ("0", "web/1") if leader == "web/0" else ("1", "web/0")
    work.unreachable[lost] = AuthFailed("refused", retryable=False)
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    for _ in range(4):
        await lane(work, lost)
        await lane(work, "1" if lost == "0" else "0")
    assert shop.read(lambda tx: leadership.holder(tx, shop.model, "web")) == other
    assert "leader-elected" in shop.of(other)


# --- running operations -----------------------------------------------------------------------------------


async def test_charm_travels_before_it_is_unpacked(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    assert shop.boxes["0"].blobs == [shop.charms.make().sha256]
    assert [frame["kind"] for frame in shop.boxes["0"].frames] == ["deploy"] + ["hook"] * 5
    assert shop.boxes["0"].results == {}  # all acknowledged


async def test_failed_hook_is_no_failure_of_the_lane(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    shop.boxes["0"] = box = _fresh_box(shop)
    box.fail("install")
    outcome = await lane(work)
    assert not outcome.failed
    assert outcome.due == from_iso(str(shop.unit("web/0").retry_due))
    assert shop.agent() == ("error", 'hook failed: "install"')


def _fresh_box(shop: World) -> Any:
    """A machine that is there already, so that its hooks can be told how to end."""
    return shop.box("0")


async def test_machine_that_cannot_even_try(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    box = _fresh_box(shop)
    box.will("deploy", {"outcome": "error", "message": "no space left on device"})
    outcome = await lane(work)
    assert (outcome.failed, _in(shop, outcome)) == (True, 5.0)
    assert outcome.reason == "unit web/0: charm local:web-0: no space left on device"
    assert shop.agent() == ("failed", "no space left on device")
    assert not (await lane(work)).failed
    assert tuple(shop.of("web/0")) == SETUP


NO_SPACE = {"outcome": "error", "message": "no space left on device"}


@pytest.mark.parametrize("what", ["deploy", "install", "config-changed"])
async def test_a_unit_that_the_machine_cannot_serve_leaves_its_neighbours_their_turns(
    shop: World, what: str
) -> None:
    """Those that sort before it and after it; also when they are to go."""
    work = Shop(shop)
    for name in ("app", "web", "zap"):
        shop.deploy(name, packed=shop.charms.make(name), placements=[] if name == "app" else [HERE])
    box = _fresh_box(shop)
    box.will(what, NO_SPACE, NO_SPACE, NO_SPACE, unit="web/0")
    outcome = await lane(work)
    assert tuple(shop.of("app/0")) == tuple(shop.of("zap/0")) == SETUP
    assert (outcome.failed, outcome.attempts, _in(shop, outcome)) == (True, 1, 5.0)
    assert outcome.reason.startswith("unit web/0: ")
    assert outcome.reason.endswith("no space left on device")
    assert shop.agent("web/0") == ("failed", "no space left on device")
    removal.remove_units(shop.ctx, shop.model, ["zap/0"])
    outcome = await lane(work, attempts=1)
    assert shop.units() == ["app/0", "web/0"]
    assert _in(shop, outcome) == 10.0
    await lane(work, attempts=2)  # fails for the third and last time
    assert not (await lane(work, attempts=3)).failed
    assert shop.agent("web/0") == ("idle", "")
    assert [hook for hook in shop.of("web/0") if hook != what] == [hook for hook in SETUP if hook != what]


async def test_a_charm_that_is_missing_from_the_store_holds_its_own_unit_up_alone(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    shop.deploy("zap", packed=shop.charms.make("zap"), placements=[HERE])
    shop.ctx.controller.blobs.delete(shop.charms.make().sha256)
    outcome = await lane(work)
    assert tuple(shop.of("zap/0")) == SETUP
    assert outcome.failed
    assert shop.agent() == ("failed", "resolver loop error")
    assert "is missing from" in logs.after(shop.ctx.store, shop.model, 0)[-1].message


async def test_a_hook_that_is_killed_each_time_holds_its_own_unit_up_alone(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    shop.deploy("zap", packed=shop.charms.make("zap"), placements=[HERE])
    _fresh_box(shop).will("start", *[{"outcome": "terminated"}] * 5, unit="web/0")
    outcome = await lane(work)
    assert tuple(shop.of("zap/0")) == SETUP
    assert outcome.reason == "unit web/0: start was killed 5 times in a row"


STUCK = {"outcome": "error", "code": "conflict", "message": "data: device or resource busy"}


async def test_an_upgrade_that_cannot_be_unpacked_waits_for_resolved(shop: World) -> None:
    """It is the unit's error, as a failed hook is: nothing is tried again by itself, neighbours go on."""
    work = Shop(shop)
    shop.deploy()
    shop.deploy("zap", packed=shop.charms.make("zap"), placements=[HERE])
    await lane(work)
    box = _fresh_box(shop)
    box.will("deploy", STUCK, STUCK, unit="web/0")
    shop.refresh(shop.charms.make("web", files={"new": "1"}))
    applications.set_trust(shop.ctx, shop.model, "zap", trusted=True)
    ran = len(shop.of("web/0"))
    assert not (await lane(work)).failed
    assert (shop.agent(), shop.of("zap/0")[-1]) == (("error", "upgrade failed"), "config-changed")
    assert any(STUCK["message"] in item.message for item in logs.after(shop.ctx.store, shop.model, 0))
    shop.clock.advance(600)
    await lane(work)
    deploys = [frame for frame in box.frames if frame["kind"] == "deploy" and frame["unit"] == "web/0"]
    assert (len(deploys), shop.of("web/0")[ran:]) == (2, [])
    units.resolve(shop.ctx, shop.model, ["web/0"], retry=False)
    await lane(work)
    assert shop.agent() == ("error", "upgrade failed")
    units.resolve(shop.ctx, shop.model, ["web/0"], retry=True)
    await lane(work)
    assert shop.of("web/0")[ran:][:2] == ["upgrade-charm", "config-changed"]
    assert (shop.agent(), shop.unit("web/0").charm_url) == (("idle", ""), "local:web-1")


async def test_a_charm_that_was_deleted_on_its_machine_comes_back_at_the_next_contact(shop: World) -> None:
    """Then upgrade-charm and config-changed run, once; a unit that never had its charm installs it."""
    work = Shop(shop)
    shop.deploy()
    shop.deploy("zap", packed=shop.charms.make("zap"), placements=[HERE])
    await lane(work)
    del shop.boxes["0"].charms["web/0"]
    applications.set_trust(shop.ctx, shop.model, "zap", trusted=True)
    shop.deploy("new", packed=shop.charms.make("new"), placements=[HERE])
    ran = len(shop.of("web/0"))
    for _ in range(2):
        assert not (await lane(work)).failed
    assert shop.of("web/0")[ran:] == ["upgrade-charm", "config-changed"]
    assert shop.boxes["0"].charms["web/0"] == "local:web-0"
    assert (tuple(shop.of("new/0")), shop.of("zap/0")[-1]) == (SETUP, "config-changed")


async def test_files_that_cannot_be_removed_hold_nobody_up(shop: World) -> None:
    """Of a unit that ran its last hook, and of one that was removed by force while nobody could be asked."""
    work = Shop(shop)
    for name in ("app", "web", "zap"):
        shop.deploy(name, packed=shop.charms.make(name), placements=[] if name == "app" else [HERE])
    await lane(work)
    removal.remove_units(shop.ctx, shop.model, ["app/0", "zap/0"])
    box = _fresh_box(shop)
    refusal = {"outcome": "error", "message": "read-only file system"}
    box.will("remove-unit", refusal, refusal, unit="app/0")
    outcome = await lane(work)
    assert shop.units() == ["app/0", "web/0"]
    assert outcome.reason == "unit app/0: its files could not be removed: read-only file system"
    assert shop.agent("app/0") == ("failed", outcome.reason)
    shop.write(lambda tx: removal.force_unit(tx, units.get(tx, shop.model, "app/0"), shop.clock.now()))
    box.left = ["app/0", "web/0"]
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    outcome = await lane(work)
    assert shop.of("web/0")[-1] == "config-changed"
    assert outcome.reason == "unit app/0: its files could not be removed: read-only file system"
    assert not (await lane(work)).failed


async def test_cut_connection_loses_nothing(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    box = _fresh_box(shop)
    box.will("install", ok(cut=True, writes={"state": {"k": "v"}}))
    outcome = await lane(work)
    assert (outcome.failed, outcome.reason) == (True, "the connection was lost")
    (operation,) = shop.open_operations()
    assert operation.name == "install"
    assert not (await lane(work)).failed
    assert tuple(shop.of("web/0")) == SETUP  # install ran once
    assert [row[2:] for row in shop.dump()["charm_state"]] == [("k", "v")]
    assert shop.open_operations() == []


class Killed(BaseException):
    """The controller process is gone."""


STEPS = (
    "machine-started", "attached", "prepared", "charm-pushed", "result", "committed", "saved", "acknowledged",
)  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("nth", [1, 3])
async def test_killed_at_any_step_every_hook_runs_once(shop: World, step: str, nth: int) -> None:
    seen = 0

    def die(name: str) -> None:
        nonlocal seen
        seen += name == step
        if name == step and seen == nth:
            raise Killed

    shop.deploy()
    with_death = Shop(shop, die)
    try:
        await lane(with_death)
    except Killed:
        pass
    else:
        assert nth > 1
    outcome = await lane(Shop(shop))
    assert not outcome.failed
    assert tuple(shop.of("web/0")) == SETUP
    assert shop.agent() == ("idle", "")
    assert shop.boxes["0"].results == {}
    assert shop.open_operations() == []


async def test_result_of_a_unit_that_was_forced_away(shop: World) -> None:
    work = Shop(shop)
    shop.deploy(count=1)
    box = _fresh_box(shop)
    box.will("install", ok(cut=True))
    await lane(work)
    shop.write(lambda tx: removal.force_unit(tx, units.get(tx, shop.model, "web/0"), shop.clock.now()))
    await lane(work)
    assert shop.machine_ids() == []


async def test_hook_of_a_unit_that_was_forced_away_is_ended(shop: World) -> None:
    """Its neighbour's lane finds it in the machine's journal."""
    work = Shop(shop)
    shop.deploy()
    shop.deploy("db", packed=shop.charms.make("db"), placements=[Placement.parse("0")])
    box = _fresh_box(shop)
    box.will("install", ok(cut=True), unit="web/0")
    for _ in range(3):
        await lane(work)
    shop.write(lambda tx: removal.force_unit(tx, units.get(tx, shop.model, "web/0"), shop.clock.now()))
    box.results["late"] = {"outcome": "ok"}
    assert not (await lane(work)).failed
    assert tuple(shop.of("db/0")) == SETUP
    assert shop.units() == ["db/0"]


async def test_events_come_in_while_the_hook_runs(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    box = _fresh_box(shop)
    status = {"k": "status", "scope": "unit", "status": "active", "message": "up", "time": None}
    box.will("install", ok(writes={"status_set": True}, events=[{"seq": 1, "e": status}]))
    await lane(work)
    assert shop.workload() == ("active", "up")
    assert shop.history(StatusKind.WORKLOAD, "web/0").count(("active", "up")) == 1


async def test_live_calls_are_answered(shop: World) -> None:
    work = Shop(shop)
    shop.deploy(count=2)
    box = _fresh_box(shop)
    calls = [("leader-set", ["a=1"]), ("leader-set", ["--", "b=2"]), ("no-such-tool", ["x"])]
    box.will("leader-elected", ok(live=calls))
    await lane(work)
    assert shop.read(lambda tx: leadership.settings(tx, shop.model, "web")) == {"a": "1", "b": "2"}
    assert box.answers[:2] == [(0, b"", b"")] * 2
    assert box.answers[2] == (1, b"", b"ERROR no-such-tool is not answered by this controller\n")
    shop.box("1").will("start", ok(live=[("leader-set", ["a=9"])]))
    await lane(work, "1")
    text = b"ERROR cannot write leadership settings: cannot write settings: not the leader\n"
    assert shop.boxes["1"].answers == [(1, b"", text)]


async def test_reboot_of_a_hook(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    box = _fresh_box(shop)
    box.will("start", ok(reboot="after"))
    outcome = await lane(work)
    assert not outcome.failed
    assert box.boot_id == "boot-1+"
    assert tuple(shop.of("web/0")) == SETUP  # `start` itself asked: none is run for the boot
    assert [frame["kind"] for frame in box.frames].count("reboot") == 1
    assert shop.machine("0").boot_id == "boot-1+"
    assert shop.agent() == ("idle", "")


@pytest.mark.parametrize("step", ["committed", "rebooting"])
async def test_killed_before_a_reboot_it_happens_once(shop: World, step: str) -> None:
    shop.deploy()
    box = _fresh_box(shop)
    box.will("start", ok(reboot="after"))
    seen: list[str] = []

    def die(name: str) -> None:
        seen.append(name)
        if name == step and shop.agent() == ("rebooting", ""):
            raise Killed

    with pytest.raises(Killed):
        await lane(Shop(shop, die))
    await lane(Shop(shop))
    await lane(Shop(shop))
    assert [frame["kind"] for frame in box.frames].count("reboot") == 1
    assert box.boot_id == "boot-1+"
    assert shop.agent() == ("idle", "")


# --- the end ----------------------------------------------------------------------------------------------


async def test_last_unit_takes_its_machine_along(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    box = shop.boxes["0"]
    assert await lane(work) == Outcome()
    assert work.cloud.stopped == ["i-0"]
    assert shop.machine_ids() == []
    assert [frame["kind"] for frame in box.frames][-2:] == ["hook", "hook"]  # no file is worth removing
    assert shop.ctx.controller.known_hosts(shop.model).read_text() == ""


async def test_kept_instance_is_left_clean(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    removal.remove_machines(shop.ctx, shop.model, ["0"], keep_instance=True)
    box = shop.boxes["0"]
    await lane(work)
    assert (work.cloud.stopped, shop.machine_ids()) == ([], [])
    last, let_go = box.frames[-2:]
    assert (last["kind"], last["unit"], last["last"], "release" in last) == (
        "remove-unit",
        "web/0",
        True,
        False,
    )
    assert (let_go["kind"], let_go["unit"], let_go["release"]) == ("remove-unit", "", True)


async def test_files_that_cannot_be_removed(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    removal.remove_machines(shop.ctx, shop.model, ["0"], keep_instance=True)
    shop.boxes["0"].will("remove-unit", {"outcome": "error", "message": "read-only file system"})
    outcome = await lane(work)
    assert outcome.reason == "unit web/0: its files could not be removed: read-only file system"
    assert shop.units() == ["web/0"]
    await lane(work)
    assert shop.units() == []


async def test_machine_that_cannot_be_stopped_is_tried_again(shop: World) -> None:
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    await lane(work)
    removal.remove_machines(shop.ctx, shop.model, ["0"])
    work.cloud.stuck = [ProviderError("cloud is down")]
    outcome = await lane(work)
    assert (outcome.failed, outcome.reason) == (True, "cloud is down")
    assert shop.machine_ids() == ["0"]
    assert await lane(work) == Outcome()
    assert shop.machine_ids() == []


async def test_forced_machine_is_forgotten_though_it_cannot_be_stopped(shop: World) -> None:
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    await lane(work)
    removal.remove_machines(shop.ctx, shop.model, ["0"], force=Force())
    work.cloud.stuck = [ProviderError("cloud is down")]
    assert await lane(work) == Outcome()
    assert shop.machine_ids() == []
    assert "forgotten though it could not be stopped: cloud is down" in [item.text for item in work.events]


async def test_dying_unit_of_a_silent_machine_stays(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    work.unreachable["0"] = AuthFailed("refused", retryable=False)
    assert (await lane(work)).failed
    assert shop.unit("web/0").life == "dying"


async def test_stopping_is_told(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    await lane(work)
    told = [(item.entity, item.text, item.state) for item in work.events]
    assert ("machine 0", "making a box", "running") in told
    assert ("web/0", "install: running", "running") in told
    assert ("web/0", "install: done", "done") in told
    assert told[-3:] == [
        ("web/0", "removed", "done"),
        ("machine 0", "stopping", "running"),
        ("machine 0", "removed", "done"),
    ]


async def test_a_new_machine_ends_on_its_address(shop: World) -> None:
    """Whatever is done on it at the first contact besides, as its firewall."""
    work = Shop(shop)
    work.guard = Guard()
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    await lane(work)
    assert work.guard.times("0") == 1
    last = [item for item in work.events if item.entity == "machine 0"][-1]
    assert (last.text, last.state) == (f"started, {shop.machine('0').ssh['host']}", "done")


async def test_a_machine_that_is_let_go_is_released(shop: World) -> None:
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    await lane(work)
    removal.remove_machines(shop.ctx, shop.model, ["0"], keep_instance=True)
    await lane(work)
    assert [item.text for item in work.events][-2:] == ["being released", "released"]


async def test_failed_hook_is_told(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    _fresh_box(shop).will("install", failed(7))
    await lane(work)
    assert ("web/0", "install: failed: exit status 7", "failed") in [
        (item.entity, item.text, item.state) for item in work.events
    ]


# --- processes that died ----------------------------------------------------------------------------------


async def test_machine_that_nobody_came_to_record_is_ended_with_its_removal(shop: World) -> None:
    work = Shop(shop)
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    shop.boxes["0"] = Box(id="0")  # made by a process that died then
    shop.write(
        lambda tx: statuses.set_status(
            tx, shop.model, StatusKind.INSTANCE, "0", InstanceStatus.ALLOCATING, now=shop.clock.now()
        )
    )
    removal.remove_machines(shop.ctx, shop.model, ["0"])
    assert (await drive(shop, work)).problems == ()
    assert (work.cloud.stopped, shop.boxes, shop.machine_ids()) == (["i-0"], {}, [])


async def test_machine_that_nobody_began_is_removed_without_its_cloud(shop: World) -> None:
    work = Shop(shop)
    work.cloud.stuck = [ProviderError("the cloud is closed")]
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})
    removal.remove_machines(shop.ctx, shop.model, ["0"])
    assert (await drive(shop, work)).problems == ()
    assert shop.machine_ids() == []


def _shown(shop: World) -> tuple[str, str, str]:
    """Return how the machine, its instance and its unit's agent are shown in status."""
    document = status.document(shop.ctx, shop.resolve_model())
    machine = document["machines"]["0"]
    unit = document["applications"]["web"]["units"]["web/0"]
    parts = (machine["juju-status"], machine["machine-status"], unit["juju-status"])
    return tuple(part["current"] for part in parts)  # type: ignore[return-value]


async def test_a_stopped_machine_is_started_again_by_the_next_contact(shop: World) -> None:
    work = Shop(shop)
    work.cloud = Resuming(shop)
    shop.deploy()
    await lane(work)
    work.cloud.halt("0")
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    outcome = await lane(work)
    assert not outcome.failed
    assert contact.RESUMING in [event.text for event in work.events]
    assert shop.of("web/0")[-1] == "config-changed"
    assert _shown(shop) == ("started", "running", "idle")
    assert ("stopped", contact.RESUMING) in shop.history(StatusKind.INSTANCE, "0")


async def test_a_machine_that_cannot_be_started_again_is_shown_at_once(shop: World) -> None:
    """Where the cloud leaves that to people, and where it fails: no minute of `active idle` passes."""
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    work.cloud.halt("0")
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    outcome = await lane(work)
    assert outcome.reason == "machine 0 is stopped in its cloud; next: start instance i-0 there"
    assert _shown(shop) == ("down", "stopped", "lost")
    work.cloud = Resuming(shop)
    work.cloud.halted = {"0": Box(id="0")}
    work.cloud.resume = _refused  # type: ignore[method-assign]
    outcome = await lane(work)
    assert "no room on this host" in outcome.reason
    assert _shown(shop) == ("down", "stopped", "lost")


async def _refused(_: str) -> None:
    raise ProviderError("no room on this host")


async def test_a_machine_that_is_gone_is_lost_at_once(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    del shop.boxes["0"]
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    await lane(work)
    assert _shown(shop) == ("down", "unknown", "lost")


async def test_a_machine_that_is_stopped_in_the_middle_of_a_hook_is_started_at_once(shop: World) -> None:
    cloud, halting = Resuming(shop), []

    def stop_once(name: str) -> None:
        if name == "prepared" and halting:
            cloud.halt(halting.pop())

    work = Shop(shop, stop_once)
    work.cloud = cloud
    shop.deploy()
    await lane(work)
    shop.boxes["0"].will("config-changed", {"cut": True})
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    halting.append("0")
    outcome = await lane(work)
    assert (outcome.failed, outcome.due) == (True, shop.clock.now())
    assert not (await lane(work, attempts=outcome.attempts)).failed
    assert _shown(shop) == ("started", "running", "idle")


async def test_retry_provisioning_starts_a_stopped_machine(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await lane(work)
    work.cloud.halt("0")
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    await lane(work)
    work.cloud, halted = Resuming(shop), work.cloud.halted
    work.cloud.halted = halted
    shop.write(lambda tx: machines.retry_provisioning(tx, shop.model, "0", shop.clock.now()))
    assert not (await lane(work)).failed
    assert _shown(shop) == ("started", "running", "idle")
