"""Keys of a model reach its machines, whatever is refused or cut off, and leave with the machines."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.errors import ConnectionLost, Unreachable
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.runner.session import ExecResult
from pushjuju.services.entities.basis import logs
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.model import ssh_keys
from pushjuju.workers.machine import keywriter
from pushjuju.workers.machine.machine_worker import Outcome
from tests.world.controller import TestController
from tests.world.runtime import Died, PlayedRuntime, PlayedSession, die_at, drive, worker
from tests.world.said import problems_of, reason_of

KIM = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILTw1yJzqNmzJc4p7Qz0oT4yZ0hYJtO6cQkqNq9bH2r1 kim"
ROB = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGAGTnxSVmVQ9ITRwPEsoCnNGWLkXZCYCXpLtLQ4NdEr rob"


class Scripts:
    """What machines ran, and how the next runs end."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.ends: list[ExecResult | Exception] = []

    def run(self, script: str) -> ExecResult:
        """Run a script as told, else well."""
        self.ran.append(script)
        end = self.ends.pop(0) if self.ends else ExecResult(exit=0, signal=None, stdout="", stderr="")
        if isinstance(end, Exception):
            raise end
        return end


REFUSED = ExecResult(exit=1, signal=None, stdout="", stderr="read-only file system\n")


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Scripts:
    """Take the place of what runs scripts on machines."""
    made = Scripts()

    async def execute(_session: Any, *, script: str, timeout: float) -> ExecResult:  # noqa: ASYNC109
        assert timeout == keywriter.TIMEOUT_S
        return made.run(script)

    async def run_script(_runner: Any, _target: SSHTarget, script: str, **_more: Any) -> ScriptResult:
        done = made.run(script)
        return ScriptResult(rc=done.exit or 0, stdout=done.stdout, stderr=done.stderr)

    monkeypatch.setattr(PlayedSession, "exec", execute)
    monkeypatch.setattr(keywriter.ScriptRunner, "run_script", run_script)
    return made


@pytest.fixture
async def work(runtime: TestController, scripts: Scripts) -> PlayedRuntime:
    """A model at rest, with a unit, whose machine is to take a key."""
    made = PlayedRuntime(runtime)
    runtime.active()
    await drive(runtime, made)
    ssh_keys.add(runtime.ctx, runtime.model, [KIM])
    return made


def _due(runtime: TestController) -> bool:
    return bool(runtime.machine("0").keys_due)


async def test_keys_are_written_once(runtime: TestController, work: PlayedRuntime, scripts: Scripts) -> None:
    assert problems_of(await drive(runtime, work)) == ()
    (script,) = scripts.ran
    assert f"{KIM} {keywriter.mark(runtime.model)}" in script
    assert not _due(runtime)
    await drive(runtime, work)
    assert len(scripts.ran) == 1


async def test_a_machine_that_refuses_keys_runs_its_hooks_and_is_asked_again(
    runtime: TestController, work: PlayedRuntime, scripts: Scripts
) -> None:
    scripts.ends = [REFUSED]
    runtime.clock.advance(400)
    assert not (await worker(work)).failed
    assert runtime.of("web/0")[-1] == "update-status"
    assert _due(runtime)
    text = "machine 0 does not take the keys: read-only file system"
    told = logs.after(runtime.ctx.store, runtime.model, 0)
    assert [(item.entity, item.level) for item in told if item.message == text] == [("machine-0", "ERROR")]
    await worker(work)
    assert not _due(runtime)


async def test_keys_are_written_again_when_the_controller_died_before_it_could_record_that(
    runtime: TestController, work: PlayedRuntime, scripts: Scripts
) -> None:
    with pytest.raises(Died):
        await worker(PlayedRuntime(runtime, die_at("keys-written")))
    assert _due(runtime)
    await worker(work)
    assert (len(scripts.ran), len(set(scripts.ran))) == (2, 1)
    assert not _due(runtime)


async def test_a_key_that_is_added_during_the_writing_is_written_too(
    runtime: TestController, work: PlayedRuntime, scripts: Scripts
) -> None:
    def add(name: str) -> None:
        if name == "keys-written" and len(scripts.ran) == 1:
            ssh_keys.add(runtime.ctx, runtime.model, [ROB])

    await worker(PlayedRuntime(runtime, add))
    assert _due(runtime)
    await worker(work)
    assert [(KIM in script, ROB in script) for script in scripts.ran] == [(True, False), (True, True)]
    assert not _due(runtime)


async def test_a_machine_that_is_lost_while_it_takes_keys_is_tried_again(
    runtime: TestController, work: PlayedRuntime, scripts: Scripts
) -> None:
    scripts.ends = [ConnectionLost("the connection was lost")]
    outcome = await worker(work)
    assert (outcome.failed, reason_of(outcome)) == (True, "the connection was lost")
    assert _due(runtime)


def _leaves(runtime: TestController, force: Force | None = None) -> None:
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], keep_instance=True, force=force)


async def test_a_machine_that_leaves_the_model_loses_its_keys_first(
    runtime: TestController, work: PlayedRuntime, scripts: Scripts
) -> None:
    await worker(work)
    machine = runtime.machine("0")
    _leaves(runtime)
    scripts.ends = [REFUSED]
    outcome = await worker(work)
    assert reason_of(outcome) == "machine 0 keeps the keys: read-only file system"
    assert runtime.machine_ids() == ["0"]
    assert await worker(work) == Outcome()
    assert scripts.ran[-1] == keywriter.script(machine, ())
    assert runtime.machine_ids() == []


@pytest.mark.parametrize("end", [REFUSED, Unreachable("no route to host")])
async def test_a_machine_that_is_forced_away_may_keep_its_keys(
    runtime: TestController, work: PlayedRuntime, scripts: Scripts, end: ExecResult | Exception
) -> None:
    await worker(work)
    _leaves(runtime, Force())
    scripts.ends = [end]
    assert await worker(work) == Outcome()
    assert runtime.machine_ids() == []
    (told,) = [item for item in work.events if item.text.startswith("the keys could not be removed: ")]
    assert (told.entity, told.state) == ("machine 0", "failed")
