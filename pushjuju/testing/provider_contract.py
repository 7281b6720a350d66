"""The contract suite for providers: subclass it and add a bench.

    from pushjuju.testing.provider_contract import Bench, ProviderContract

    class TestMyCloud(ProviderContract):
        @pytest.fixture
        def bench(self, tmp_path): return MyBench(tmp_path)

Needs pytest and pytest-asyncio. The suite starts real machines: mark the class as a slow test.
"""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Protocol

import pytest

from pushjuju.core.constraints import check
from pushjuju.core.errors import AlreadyExists, NotFound
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.providers import (
    Constrained,
    Enlister,
    Provider,
    Reachable,
    Started,
    StartRequest,
    Zoned,
)
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.testing.blocking import calls_that_block

MODEL = "0b0b0b0b-1111-4222-8333-a1a1a1a1a1a1"
OTHER_MODEL = "0c0c0c0c-1111-4222-8333-b2b2b2b2b2b2"
READY_S = 120.0


class Bench(Protocol):
    """What the suite needs from the author of the provider."""

    def open(self, model_uuid: str) -> Provider:
        """Return a new provider object for a model, as after a restart of the controller."""
        ...

    def request(self, machine_id: str) -> StartRequest:
        """Return a request for a plain machine to which `run` can log in."""
        ...

    async def run(self, target: SSHTarget, script: str) -> ScriptResult:
        """Run a script as root, as soon as the machine allows the login."""
        ...

    async def leftovers(self) -> list[str]:
        """Return what is left in the cloud after the end of all models, if the cloud can list that."""
        ...


@pytest.mark.asyncio
class ProviderContract:
    """The tests for every provider that can start machines."""

    async def test_a_machine_starts_is_listed_answers_ssh_and_stops(self, bench: Bench) -> None:
        """A machine starts, is listed, allows a login and stops."""
        provider = bench.open(MODEL)
        started = await provider.start(bench.request("0"))
        try:
            assert isinstance(provider, Provider)
            instance = started.instance
            assert instance.id
            assert instance.status in (
                InstanceStatus.RUNNING,
                InstanceStatus.ALLOCATING,
                InstanceStatus.PENDING,
            )
            assert [item.id for item in await provider.list()] == [instance.id]
            (again,) = await provider.get([instance.id])
            assert again is not None
            assert again.id == instance.id
            target = await provider.ssh_target(again)
            facts = await bench.run(target, ". /etc/os-release; echo $ID $VERSION_ID $(id -u)\n")
            assert facts.stdout.split() == [started.base.os, started.base.track, "0"]
        finally:
            await provider.stop([started.instance.id])
        assert await provider.list() == []
        assert await provider.get([started.instance.id]) == [None]
        with pytest.raises(NotFound):
            await provider.ssh_target(started.instance)
        await provider.stop([started.instance.id])
        await provider.destroy_model()
        assert await bench.leftovers() == []

    async def test_host_keys_known_in_advance_are_the_ones_shown(self, bench: Bench) -> None:
        """When the provider knows the host keys, strict checking works from the first connection."""
        provider = bench.open(MODEL)
        started = await provider.start(bench.request("0"))
        try:
            target = await provider.ssh_target(started.instance)
            assert target.host_keys == started.host_keys
            done = await bench.run(target, "exit 0\n")
            assert started.host_keys is None or _bare(done.host_key) in map(_bare, started.host_keys)
        finally:
            await provider.destroy_model()

    async def test_unknown_ids_are_no_error(self, bench: Bench) -> None:
        """`stop` and `get` accept unknown ids; `get` keeps the order of the ids."""
        provider = bench.open(MODEL)
        await provider.stop(["no-such-instance"])
        assert await provider.get(["no-such-instance", "nor-this-one"]) == [None, None]
        assert await provider.get([]) == []
        started = await provider.start(bench.request("0"))
        try:
            await provider.stop(["no-such-instance"])
            found = await provider.get(["no-such-instance", started.instance.id])
            assert [item and item.id for item in found] == [None, started.instance.id]
        finally:
            await provider.destroy_model()

    async def test_machines_start_in_parallel(self, bench: Bench) -> None:
        """Parallel starts return different machines."""
        provider = bench.open(MODEL)
        try:
            requests = [bench.request(str(number)) for number in range(3)]
            started = await asyncio.gather(*(provider.start(request) for request in requests))
            assert len({item.instance.id for item in started}) == 3
            targets = [await provider.ssh_target(item.instance) for item in started]
            assert len({(target.host, target.port) for target in targets}) == 3
            done = await asyncio.gather(*(bench.run(target, "cat /etc/machine-id\n") for target in targets))
            assert len({item.stdout for item in done}) == 3
        finally:
            await provider.destroy_model()
        assert await provider.list() == []

    async def test_a_second_start_of_a_machine_replaces_the_first(self, bench: Bench) -> None:
        """When the controller ended during a start and starts the machine again, one machine is left."""
        provider = bench.open(MODEL)
        try:
            await provider.start(bench.request("0"))
            second = await provider.start(bench.request("0"))
            assert [item.id for item in await provider.list()] == [second.instance.id]
            await bench.run(await provider.ssh_target(second.instance), "exit 0\n")
        finally:
            await provider.destroy_model()

    async def test_a_repeated_start_finds_its_machine(self, bench: Bench) -> None:
        """When the controller ended before it recorded the machine, a second start finds the machine."""
        request = dataclasses.replace(bench.request("0"), nonce="machine-0:contract")
        try:
            first = await bench.open(MODEL).start(request)
            second = await bench.open(MODEL).start(request)
            assert second.instance.id == first.instance.id
            assert [item.machine_id for item in await bench.open(MODEL).list()] == ["0"]
        finally:
            await bench.open(MODEL).destroy_model()

    async def test_a_machine_is_in_the_zone_that_was_chosen(self, bench: Bench) -> None:
        """In clouds with zones, a machine starts in each available zone and reports the zone."""
        provider = bench.open(MODEL)
        if not isinstance(provider, Zoned):
            return
        try:
            usable = [zone.name for zone in await provider.zones() if zone.available]
            if not usable:
                return  # the cloud has no zones
            for number, zone in enumerate(usable[:2]):
                request = dataclasses.replace(bench.request(str(number)), zone=zone)
                assert list(await provider.derive_zones(request)) == []
                started = await provider.start(request)
                assert started.instance.hardware.availability_zone == zone
        finally:
            await provider.destroy_model()

    async def test_rules_of_constraints_take_a_plain_machine(self, bench: Bench) -> None:
        """The rules of constraints accept what `start` accepts."""
        provider = bench.open(MODEL)
        if isinstance(provider, Constrained):
            assert check(bench.request("0").constraints, await provider.rules()) == []

    async def test_a_restarted_controller_finds_its_machines(self, bench: Bench) -> None:
        """A new provider object knows everything that later calls need."""
        started = await bench.open(MODEL).start(bench.request("0"))
        provider = bench.open(MODEL)
        try:
            (instance,) = await provider.list()
            assert instance.id == started.instance.id
            target = await provider.ssh_target(instance)
            assert target.host_keys == started.host_keys
            await bench.run(target, "exit 0\n")
        finally:
            await bench.open(MODEL).destroy_model()
        assert await provider.list() == []

    async def test_models_do_not_see_each_other(self, bench: Bench) -> None:
        """`list`, `get` and `destroy_model` concern only their own model."""
        mine, other = bench.open(MODEL), bench.open(OTHER_MODEL)
        try:
            one = await mine.start(bench.request("0"))
            two = await other.start(bench.request("0"))
            assert one.instance.id != two.instance.id
            assert [item.id for item in await mine.list()] == [one.instance.id]
            assert await mine.get([two.instance.id]) == [None]
            await mine.destroy_model()
            assert [item.id for item in await other.list()] == [two.instance.id]
            await bench.run(await other.ssh_target(two.instance), "exit 0\n")
        finally:
            await mine.destroy_model()
            await other.destroy_model()
        assert await bench.leftovers() == []

    async def test_a_reboot_comes_back(self, bench: Bench) -> None:
        """After a reboot, which `juju-reboot` needs, the machine has the same address, keys and disk."""
        provider = bench.open(MODEL)
        started = await provider.start(bench.request("0"))
        try:
            target = await provider.ssh_target(started.instance)
            await bench.run(target, "touch /var/lib/stays /run/goes\n")
            await bench.run(target, "(sleep 0.2; systemctl reboot) >/dev/null 2>&1 </dev/null &\n")
            await asyncio.sleep(0.2)
            await _until_gone(bench, target, "/run/goes")
            assert (await bench.run(target, "test -e /var/lib/stays\n")).rc == 0
        finally:
            await provider.destroy_model()

    async def test_a_plain_machine_passes_the_precheck(self, bench: Bench) -> None:
        """The precheck accepts what `start` accepts."""
        request = bench.request("0")
        await bench.open(MODEL).precheck(request.base, request.constraints, request.placement)

    async def test_no_call_blocks_the_event_loop(self, bench: Bench) -> None:
        """Waiting calls run in a thread or use `await`, because one thread serves many machines."""
        with calls_that_block() as found:
            provider = bench.open(MODEL)
            try:
                request = bench.request("0")
                await provider.precheck(request.base, request.constraints, request.placement)
                if isinstance(provider, Reachable):
                    await provider.check()
                if isinstance(provider, Constrained):
                    await provider.rules()
                if isinstance(provider, Zoned):
                    await provider.zones()
                started = await provider.start(request)
                await provider.list()
                await provider.get([started.instance.id])
                await provider.ssh_target(started.instance)
                await provider.doctor()
                await provider.stop([started.instance.id])
            finally:
                await provider.destroy_model()
        assert found == []

    async def test_doctor_answers_here(self, bench: Bench) -> None:
        """Where the suite runs, `doctor` finds nothing required missing."""
        findings = await bench.open(MODEL).doctor()
        assert [item.message for item in findings if item.required and not item.ok] == []


class EnlistBench(Bench, Protocol):
    """A bench for providers that take over existing machines."""

    target: str
    """`ssh:user@host` of a machine that no model has and to which `run` can log in."""

    public_key: str


@pytest.mark.asyncio
class EnlistContract:
    """The tests for every provider that takes over existing machines."""

    async def _enlist(self, bench: EnlistBench, model: str, machine_id: str) -> tuple[Provider, Started]:
        provider = bench.open(model)
        assert isinstance(provider, Enlister)
        started = await provider.enlist(
            bench.target, machine_id=machine_id, authorized_keys=[bench.public_key]
        )
        return provider, started

    async def test_a_machine_joins_and_leaves(self, bench: EnlistBench) -> None:
        """`enlist` returns the facts and a login with root rights; `stop` leaves the machine running."""
        provider, started = await self._enlist(bench, MODEL, "0")
        assert started.instance.hardware.arch
        assert started.instance.hardware.cores
        assert started.instance.hardware.mem
        target = await provider.ssh_target(started.instance)
        facts = await bench.run(target, ". /etc/os-release; echo $ID $VERSION_ID $(id -u)\n")
        assert facts.stdout.split() == [started.base.os, started.base.track, "0"]
        assert [item.id for item in await bench.open(MODEL).list()] == [started.instance.id]
        await provider.stop([started.instance.id])
        assert await provider.list() == []
        await provider.stop([started.instance.id])
        assert await bench.leftovers() == []

    async def test_a_machine_belongs_to_one_model(self, bench: EnlistBench) -> None:
        """A second model is refused until the first releases the machine; the first may enlist again."""
        provider, started = await self._enlist(bench, MODEL, "0")
        with pytest.raises(AlreadyExists, match="machine is already provisioned"):
            await self._enlist(bench, OTHER_MODEL, "0")
        with pytest.raises(AlreadyExists, match="machine is already provisioned"):
            await self._enlist(bench, MODEL, "1")
        await self._enlist(bench, MODEL, "0")
        await provider.stop([started.instance.id])
        other, again = await self._enlist(bench, OTHER_MODEL, "7")
        await other.stop([again.instance.id])
        assert await bench.leftovers() == []

    async def test_unknown_ids_are_no_error(self, bench: EnlistBench) -> None:
        """`stop` and `get` accept unknown ids."""
        provider = bench.open(MODEL)
        await provider.stop(["manual:192.0.2.77"])
        assert await provider.get(["manual:192.0.2.77"]) == [None]


async def _until_gone(bench: Bench, target: SSHTarget, path: str) -> None:
    async with asyncio.timeout(READY_S):
        while (await bench.run(target, f"test -e {path}\n")).rc == 0:  # noqa: ASYNC110 (a file elsewhere)
            await asyncio.sleep(0.1)


def _bare(key: str) -> str:
    """Return a public key without its comment."""
    return " ".join(key.split()[:2])
