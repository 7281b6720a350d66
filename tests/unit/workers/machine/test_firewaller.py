"""The firewall of machines: in force from the first contact on, told again when others, kept over deaths."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.errors import ProviderError, RemoteFailed
from pushjuju.core.firewall import EVERYWHERE
from pushjuju.core.model.placement import Placement
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.application import units as unit_service
from pushjuju.services.entities.model import firewall, model_config
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import expose as service
from pushjuju.services.requests.application.expose import ExposeOptions
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.machine import add_machines
from pushjuju.services.requests.machine.add_machines import AddMachinesOptions
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views.status import document
from pushjuju.workers.machine.firewaller import Firewaller
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.runtime import Died, PlayedFirewall, PlayedRuntime, die_at, drive, worker
from tests.world.said import problems_of

HERE = Placement.parse("0")


def _guarded(world: TestController, **more: Any) -> PlayedRuntime:
    runtime = PlayedRuntime(world, **more)
    runtime.guard = PlayedFirewall()
    return runtime


def _opens(
    world: TestController, machine: str, hook: str, port: int, unit: str = "", word: str = "open"
) -> None:
    ports = {word: [{"endpoint": "", "protocol": "tcp", "from": port, "to": port}]}
    world.played_machines[machine].will(hook, {"writes": {"ports": ports}}, unit=unit)


def _ingress(runtime: PlayedRuntime, machine: str = "0") -> dict[str, tuple[str, ...]]:
    assert runtime.guard is not None
    return {str(rule.range): rule.sources for rule in runtime.guard.of(machine).ingress}


def _guard(runtime: PlayedRuntime) -> PlayedFirewall:
    assert runtime.guard is not None
    return runtime.guard


async def _at_rest(world: TestController, count: int = 1) -> PlayedRuntime:
    runtime = _guarded(world)
    world.deploy(count=count)
    assert (await drive(world, runtime)).problems == ()
    return runtime


async def _config(world: TestController, runtime: PlayedRuntime, port: int, word: str = "open") -> None:
    """Let a config-changed open or close a port."""
    from pushjuju.services.requests.application import settings

    _opens(world, "0", "config-changed", port, word=word)
    settings.set_config(
        world.ctx, world.model, ConfigOptions(application="web", values={"title": f"{word} {port}"})
    )
    assert (await drive(world, runtime)).problems == ()


async def test_rules_come_with_the_first_contact_and_no_more(runtime: TestController) -> None:
    """Once per machine, however many hooks run; a later contact that changes nothing tells nothing."""
    work = await _at_rest(runtime)
    assert _guard(work).times("0") == 1
    assert _ingress(work) == {}
    assert _guard(work).of("0").mates == ("10.0.0.2/32",)
    await _config(runtime, work, 80)
    assert _guard(work).times("0") == 1
    runtime.write(lambda tx: firewall.changed_on(tx, "0", "a test"))
    opened = len(work.opened)
    assert (await drive(runtime, work)).problems == ()
    assert (_guard(work).times("0"), len(work.opened)) == (1, opened)


async def test_exposure_and_ports_come_and_go(runtime: TestController) -> None:
    work = await _at_rest(runtime)
    await _config(runtime, work, 80)
    service.expose(runtime.ctx, runtime.model, ExposeOptions(application="web", cidrs=["10.1.0.0/16"]))
    await drive(runtime, work)
    assert _ingress(work) == {"80/tcp": ("10.1.0.0/16",)}
    await _config(runtime, work, 443)
    assert _ingress(work) == {"80/tcp": ("10.1.0.0/16",), "443/tcp": ("10.1.0.0/16",)}
    await _config(runtime, work, 80, "close")
    assert _ingress(work) == {"443/tcp": ("10.1.0.0/16",)}
    service.expose(runtime.ctx, runtime.model, ExposeOptions(application="web"))
    await drive(runtime, work)
    assert _ingress(work) == {"443/tcp": EVERYWHERE}
    service.unexpose(runtime.ctx, runtime.model, "web")
    await drive(runtime, work)
    assert _ingress(work) == {}
    assert _guard(work).times("0") == 6


async def test_ports_of_a_removed_unit_are_shut(runtime: TestController) -> None:
    work = await _at_rest(runtime)
    runtime.deploy("db", placements=[HERE])
    _opens(runtime, "0", "install", 5432, unit="db/0")
    service.expose(runtime.ctx, runtime.model, ExposeOptions(application="db"))
    await drive(runtime, work)
    assert _ingress(work) == {"5432/tcp": EVERYWHERE}
    removals.remove_units(runtime.ctx, runtime.model, ["db/0"])
    await drive(runtime, work)
    assert "db/0" not in runtime.units()
    assert _ingress(work) == {}


async def test_machines_that_come_and_go_are_let_in_and_out(runtime: TestController) -> None:
    work = await _at_rest(runtime)
    with runtime.ctx.write(runtime.model) as tx:
        unit_service.add(tx, applications.get(tx, "web"), 1, [])
    await drive(runtime, work)
    assert _guard(work).of("0").mates == _guard(work).of("1").mates == ("10.0.0.2/31",)
    removals.remove_units(runtime.ctx, runtime.model, ["web/1"])
    await drive(runtime, work)
    assert runtime.machine_ids() == ["0"]
    assert _guard(work).of("0").mates == ("10.0.0.2/32",)


async def test_a_new_machine_without_relations_costs_the_others_no_contact(runtime: TestController) -> None:
    work = await _at_rest(runtime, count=2)
    opened = len(work.opened)
    add_machines.add_machines(runtime.ctx, runtime.model, AddMachinesOptions(base=UBUNTU))
    assert (await drive(runtime, work)).problems == ()
    assert work.opened[opened:] == ["2"]
    assert _guard(work).of("2").mates == ("10.0.0.2/31", "10.0.0.4/32")
    assert _guard(work).of("0").mates == ("10.0.0.2/31",)
    await _config(runtime, work, 80)  # a contact for something else
    assert _guard(work).of("0").mates == _guard(work).of("1").mates == ("10.0.0.2/31", "10.0.0.4/32")


async def test_a_new_unit_is_let_in_by_what_relations_connect_with_it_and_by_nothing_else(
    runtime: TestController,
) -> None:
    """An address may be passed on along a chain of relations; no other machine is contacted."""
    link = {"interface": "link"}
    for name in ("client", "monitor", "disk", "alone"):
        packed = runtime.charms.make(name, peers=None, provides={"out": link}, requires={"in": link})
        runtime.deploy(name, packed=packed)
    work = _guarded(runtime)
    await drive(runtime, work)
    for name in ("client:in monitor:out", "monitor:in disk:out"):
        integrate.integrate(runtime.ctx, runtime.model, *name.split())
    assert (await drive(runtime, work)).problems == ()
    runtime.write(lambda tx: unit_service.add(tx, applications.get(tx, "client"), 1, []))
    assert (await drive(runtime, work)).problems == ()
    assert [_guard(work).of(machine).mates[-1] for machine in "0124"] == ["10.0.0.6/32"] * 4
    assert _guard(work).of("3").mates[-1] != "10.0.0.6/32"


async def test_another_boot_brings_the_rules_again(runtime: TestController) -> None:
    work = await _at_rest(runtime)
    runtime.played_machines["0"].boot_id = "boot-2"
    await _config(runtime, work, 80)
    assert _guard(work).times("0") == 2


async def test_rules_come_again_from_time_to_time(runtime: TestController) -> None:
    work = await _at_rest(runtime)
    runtime.clock.advance(3601)
    await _config(runtime, work, 80)
    assert _guard(work).times("0") == 2


async def test_who_may_log_in(runtime: TestController) -> None:
    work = await _at_rest(runtime)

    def change(tx: Any) -> None:
        model_config.change(tx, {"ssh-allow": "10.7.0.0/16"})
        firewall.changed_everywhere(tx, "a test")

    runtime.write(change)
    await drive(runtime, work)
    assert _guard(work).of("0").ssh == ("10.7.0.0/16", "192.0.2.9/32")


# --- when things fail -------------------------------------------------------------------------------------


async def test_a_machine_without_firewall_says_why_and_its_hooks_run(runtime: TestController) -> None:
    work = _guarded(runtime)
    _guard(work).refusals = [RemoteFailed("no nft on it", detail="install it")]
    runtime.deploy()
    settled = await drive(runtime, work)
    assert problems_of(settled) == ("machine 0: no nft on it: install it",)
    assert runtime.agent() == ("idle", "")
    machine = document.document(runtime.ctx, runtime.resolve_model())["machines"]["0"]["modification-status"]
    assert (machine["current"], machine["message"]) == ("error", "no nft on it: install it")
    assert _guard(work).times("0") == 0
    runtime.clock.advance(10)
    assert (await drive(runtime, work)).problems == ()
    assert _guard(work).times("0") == 1
    machine = document.document(runtime.ctx, runtime.resolve_model())["machines"]["0"]["modification-status"]
    assert machine["current"] == "idle"


async def test_failures_are_tried_again_later_each_time(runtime: TestController) -> None:
    work = _guarded(runtime)
    _guard(work).refusals = [RemoteFailed("no") for _ in range(3)]
    runtime.deploy()
    due = []
    for attempts in range(4):
        outcome = await worker(work, attempts=attempts)
        assert outcome.failed is (attempts < 3)
        assert outcome.due is not None
        due.append(outcome.due - runtime.clock.now())
    assert due[:3] == [timedelta(seconds=5), timedelta(seconds=10), timedelta(seconds=20)]
    logged = [line for line in runtime.dump()["log"] if "no" in line]
    assert len(logged) == 1


@pytest.mark.parametrize("at", ["attached", "prepared", "firewall-applied", "saved"])
async def test_a_controller_that_dies_leaves_rules_that_the_next_one_completes(
    runtime: TestController, at: str
) -> None:
    runtime.deploy()
    service.expose(runtime.ctx, runtime.model, ExposeOptions(application="web"))
    guard = PlayedFirewall()
    first = _guarded(runtime, checkpoint=die_at(at, 1))
    first.guard = guard
    with pytest.raises(Died):
        await worker(first)
    _opens(runtime, "0", "start", 80)
    second = _guarded(runtime)
    second.guard = guard
    assert (await drive(runtime, second)).problems == ()
    assert _ingress(second) == {"80/tcp": EVERYWHERE}
    known = runtime.read(lambda tx: firewall.state(tx, "0"))
    assert (known.changes, known.applied) == (known.seen, guard.of("0").digest())


async def test_a_machine_that_goes_on_without_us_is_left_open(runtime: TestController) -> None:
    work = await _at_rest(runtime)
    removals.remove_machines(
        runtime.ctx, runtime.model, ["0"], force=removal.Force(wait_s=600), keep_instance=True
    )
    await drive(runtime, work)
    assert _guard(work).cleared == ["0"]
    assert (runtime.machine_ids(), work.cloud.stopped) == ([], [])
    assert runtime.read(lambda tx: firewall.state(tx, "0")) is None


async def test_a_machine_that_ends_is_not_asked(runtime: TestController) -> None:
    work = await _at_rest(runtime)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, work)
    assert (_guard(work).cleared, runtime.machine_ids()) == ([], [])


async def test_a_machine_that_cannot_be_made_is_not_guarded(runtime: TestController) -> None:
    work = _guarded(runtime)
    runtime.deploy()
    work.cloud.refusals = [ProviderError("no quota")]
    await worker(work)
    assert _guard(work).applied == []


async def test_a_machine_that_is_just_gone_is_not_asked(runtime: TestController) -> None:
    """While it reboots the session knows nothing of it."""
    work = await _at_rest(runtime)
    guard = Firewaller.of(work, runtime.machine("0"))
    session = await work.session(runtime.machine("0"))
    session.hello = {}
    assert guard is not None
    assert not guard.is_stale(session)
