"""Machines that clients of the API name: contacted when a script was given out, believed by their proof."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from pushjuju.core.errors import AuthFailed, NotPermitted, NotValid, PushjujuError
from pushjuju.core.status import StatusKind
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.plugins.providers.manual import scripts
from pushjuju.services.entities.machine import awaited
from pushjuju.services.requests import removals
from pushjuju.services.requests.machine import manual_machines, provisioning
from pushjuju.services.requests.machine.manual_machines import ManualMachineOptions
from pushjuju.workers.machine.machine_worker import Outcome
from pushjuju.workers.provision import joining
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine
from tests.world.runtime import PlayedRuntime, worker

HOST = "192.0.2.9"
FACTS = "id=ubuntu\nversion=24.04\narch=x86_64\nmem_kib=4194304\ncores=2\n"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJGVGbkpcaFWvGyzNCnWs6jDkQLwQC3bL0mpkC4qY2jL"


class Stranger:
    """A host that somebody has named.

    Attributes:
        proof: What the host shows.
        refusal: The error of its logins.
        held: The line of another holder, or empty.
        ran: The scripts that ran there, with the targets.
    """

    def __init__(self) -> None:
        self.proof = ""
        self.refusal: PushjujuError | None = None
        self.held = ""
        self.ran: list[tuple[SSHTarget, str]] = []

    async def run_script(self, target: SSHTarget, script: str, **_: Any) -> ScriptResult:
        """Run one of our scripts."""
        self.ran.append((target, script))
        if self.refusal:
            raise self.refusal
        if script == scripts.READ_PROOF:
            return ScriptResult(rc=0, stdout=f"{self.proof}\n", host_key=KEY)
        if self.held:
            return ScriptResult(rc=scripts.PROVISIONED, stderr=self.held, host_key=KEY)
        return ScriptResult(rc=0, stdout=FACTS, host_key=KEY)

    @property
    def changes(self) -> list[str]:
        """The scripts that could change something there."""
        return [script for _, script in self.ran if script != scripts.READ_PROOF]


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Stranger:
    """The host to which every connection leads."""
    made = Stranger()
    monkeypatch.setattr(joining, "ScriptRunner", lambda *_, **__: made)
    return made


def add(world: TestController, host: str = HOST, nonce: str = "n") -> str:
    """Add a machine as a client does."""
    options = ManualMachineOptions(instance_id=f"manual:{host}", nonce=nonce)
    return manual_machines.add_manual_machine(world.ctx, world.model, options)


def ask(world: TestController, machine: str = "0", nonce: str = "n") -> str:
    """Return the provisioning script."""
    return manual_machines.provisioning_script(world.ctx, world.model, machine, nonce)


def instance(world: TestController, machine: str = "0") -> tuple[str, str]:
    return world.status(StatusKind.INSTANCE, machine)


def contact(world: TestController) -> PlayedRuntime:
    """Return a runtime; the machine answers once it is taken in."""
    world.played_machines["0"] = PlayedMachine(id="0", address=HOST)
    return PlayedRuntime(world)


async def work(world: TestController) -> Outcome:
    return await worker(contact(world))


async def test_a_machine_that_shows_its_proof_is_taken_in(
    runtime: TestController, stranger: Stranger
) -> None:
    assert add(runtime) == "0"
    proof = awaited.proof_of(runtime.ctx, runtime.machine("0"))
    script = ask(runtime)
    key = runtime.ctx.controller.public_key.read_text().strip()
    assert shlex.quote(key) in script
    assert proof in script
    stranger.proof = proof
    assert not (await work(runtime)).failed
    machine = runtime.machine("0")
    assert (machine.provider, machine.instance_id, machine.base, machine.ssh["host"]) == (
        "manual", f"manual:{HOST}", "ubuntu@24.04/stable", HOST,
    )  # fmt: skip
    assert machine.last_seen is not None
    assert runtime.status(StatusKind.MACHINE, "0")[0] == "started"
    (look, first), (join, second) = stranger.ran
    assert (first, look.user, look.port, look.host_keys) == (scripts.READ_PROOF, "ubuntu", 22, None)
    assert join.host_keys == (KEY,)
    assert proof not in second


async def test_nothing_is_contacted_before_a_script_was_given_out(
    runtime: TestController, stranger: Stranger
) -> None:
    add(runtime)
    outcome = await work(runtime)
    assert (outcome.due, outcome.reason) == (None, "no client has asked for its provisioning script")
    assert stranger.ran == []
    assert instance(runtime) == ("pending", f"waiting for the provisioning script on {HOST}")


@pytest.mark.parametrize("proof", ["", "wrong", "ü" * 40])
async def test_a_host_without_the_proof_is_left_as_it_is(
    runtime: TestController, stranger: Stranger, proof: str
) -> None:
    """No command but the one that reads the proof runs there; the host is contacted once for each try."""
    add(runtime)
    ask(runtime)
    stranger.proof = proof
    outcome = await work(runtime)
    assert (len(stranger.ran), stranger.changes) == (1, [])
    assert outcome.due is not None
    assert runtime.machine("0").instance_id == ""
    assert instance(runtime)[0] == "allocating"


async def test_the_proof_of_another_machine_is_no_proof(runtime: TestController, stranger: Stranger) -> None:
    """A client knows the proofs of its own machines: they open no other machine."""
    add(runtime)
    add(runtime, "192.0.2.10")
    ask(runtime)
    stranger.proof = awaited.proof_of(runtime.ctx, runtime.machine("1"))
    await work(runtime)
    assert stranger.changes == []


async def test_a_machine_of_another_model_is_refused(runtime: TestController, stranger: Stranger) -> None:
    """Also where its owner ran the script there."""
    add(runtime)
    ask(runtime)
    stranger.proof = awaited.proof_of(runtime.ctx, runtime.machine("0"))
    stranger.held = "controller=other model=other machine=3"
    outcome = await work(runtime)
    assert outcome.due is None
    assert instance(runtime) == ("provisioning error", "machine is already provisioned")


async def test_a_client_learns_nothing_about_hosts(runtime: TestController, stranger: Stranger) -> None:
    """What a try finds has no trace in the model: a silent host looks like one that answers."""
    add(runtime)
    ask(runtime)
    before = instance(runtime)
    seen = []
    for refusal in (None, AuthFailed("the machine refuses the login"), PushjujuError("no route")):
        stranger.refusal = refusal
        outcome = await work(runtime)
        seen.append((instance(runtime), [str(problem) for problem in outcome.problems]))
        runtime.clock.advance(60)
    assert seen == [(before, seen[0][1])] * 3


async def test_tries_follow_each_other_slowly_and_end(runtime: TestController, stranger: Stranger) -> None:
    """A wake does not bring a try forward; after the last try, a user must ask again."""
    add(runtime)
    ask(runtime)
    outcome = await work(runtime)
    assert (await work(runtime)).due == outcome.due
    assert len(stranger.ran) == 1
    for _ in range(2 * awaited.TRIES):
        runtime.clock.advance(awaited.pause(99))
        await work(runtime)
    assert len(stranger.ran) == awaited.TRIES
    assert instance(runtime) == ("provisioning error", f"the provisioning script did not run on {HOST}")
    provisioning.retry_provisioning(runtime.ctx, runtime.model, ["0"])
    runtime.clock.advance(60)
    stranger.proof = awaited.proof_of(runtime.ctx, runtime.machine("0"))
    await work(runtime)
    assert runtime.machine("0").instance_id == f"manual:{HOST}"


async def test_a_machine_that_waits_is_removed_without_a_contact(
    runtime: TestController, stranger: Stranger
) -> None:
    add(runtime)
    ask(runtime)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    await work(runtime)
    assert runtime.machine_ids() == []
    assert stranger.ran == []


async def test_a_name_that_leads_to_the_controller_itself_is_refused(
    runtime: TestController, stranger: Stranger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name is judged by the addresses that it has when the controller connects."""
    monkeypatch.setattr(joining.socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", 22))])
    add(runtime, "box.example.com")
    ask(runtime)
    await work(runtime)
    assert stranger.ran == []
    status, text = instance(runtime)
    assert status == "provisioning error"
    assert text.startswith("box.example.com cannot be added over the API")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1", "fe80::1%eth0",
        "0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "255.255.255.255", "localhost", "a.localhost",
    ],
)  # fmt: skip
def test_addresses_that_no_client_may_name(runtime: TestController, host: str) -> None:
    with pytest.raises(NotPermitted, match="cannot be added over the API"):
        add(runtime, host)
    assert runtime.machine_ids() == []


@pytest.mark.parametrize(
    "host",
    ["", "-oProxyCommand=x", "a b", "a/b", "user@host", "host:23", "1.2.3", "2130706433", "ü", "a" * 300],
)
def test_texts_that_name_no_host(runtime: TestController, host: str) -> None:
    with pytest.raises(NotValid):
        add(runtime, host)


def test_a_script_needs_the_nonce_of_its_machine(runtime: TestController) -> None:
    add(runtime, nonce="mine")
    with pytest.raises(NotValid, match="machine 0 was added with another nonce"):
        ask(runtime, nonce="yours")
    assert instance(runtime)[0] == "pending"
    runtime.deploy()
    with pytest.raises(NotValid, match="machine 1 does not wait for a provisioning script"):
        ask(runtime, machine="1")


@pytest.mark.parametrize("nonce", ["", "n" * 513])
def test_a_machine_needs_a_nonce(runtime: TestController, nonce: str) -> None:
    with pytest.raises(NotValid, match="nonce"):
        add(runtime, nonce=nonce)


def test_only_so_many_machines_wait(runtime: TestController) -> None:
    for number in range(awaited.MOST):
        add(runtime, f"192.0.2.{number}")
    with pytest.raises(NotValid, match="50 machines wait"):
        add(runtime, "192.0.2.200")
