"""explain: why things are as they are, and how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pushjuju.core.errors import NotFound
from pushjuju.services.entities.application import units
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.views import explain
from pushjuju.services.views.explain import Reason
from pushjuju.store.queue import WorkQueue, model_key, touch
from pushjuju.uniter.wanted import wanted
from tests.world import related
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.machine import failed


@pytest.fixture
def runtime(tmp_path: Path, empty_controller: Path, packs: Charms) -> Iterator[TestController]:
    made = TestController.copy(empty_controller, tmp_path, packs)
    yield made
    made.ctx.close()


def told(runtime: TestController, *names: str) -> list[Reason]:
    return explain.explain(runtime.ctx, runtime.model, wanted, names)


def finished(runtime: TestController, machine: str, due: datetime) -> None:
    """Give a machine's lane back at rest, as its worker does."""
    rested(runtime, f"{runtime.model}/machine/{machine}", due)


def rested(runtime: TestController, key: str, due: datetime) -> None:
    """Give work back that has nothing to do until then."""
    queue = WorkQueue(runtime.ctx.store, "host:1:2")
    claim = queue.claim(key, runtime.clock.now())
    assert claim is not None
    queue.finish(claim, runtime.clock.now(), due)


def test_a_unit_at_rest_and_its_application(runtime: TestController) -> None:
    runtime.active("web", 2)
    unit, application = told(runtime, "web/0", "web")
    quiet = "nothing to do until the next update-status"
    assert (unit.doing, unit.reason, unit.next) == ("idle", f"{quiet} (core)", ())
    assert unit.due is not None
    finished(runtime, "0", unit.due)
    (machine,) = told(runtime, "0")
    assert (machine.doing, machine.reason, machine.due) == ("at rest", quiet, unit.due)
    assert (application.doing, application.leader, application.reason) == ("2 idle", "web/0", "")


@pytest.mark.parametrize("loop", ["charms", "cleanup", "firewall", "poller", "secrets", "storage"])
def test_a_loop_at_rest_says_what_it_does_next(runtime: TestController, loop: str) -> None:
    key, later = model_key(runtime.model, loop), runtime.clock.now() + timedelta(days=1)
    with runtime.ctx.store.write() as tx:
        touch(tx, key, runtime.clock.now(), "asked for")
    assert "asked for" in [reason.reason for reason in told(runtime)]
    rested(runtime, key, later)
    found = [reason for reason in told(runtime) if reason.due == later]
    assert [(reason.subject, reason.doing) for reason in found] == [("model", "at rest")]
    assert found[0].reason.endswith(" next")


def test_a_unit_in_error_tells_how_to_go_on(runtime: TestController) -> None:
    runtime.played("0")
    runtime.deploy()
    runtime.played("0").script["config-changed"] = [failed(2)]
    runtime.settle()
    unit, application = told(runtime, "web/0", "web")
    assert unit.reason.startswith('hook failed: "config-changed": a retry will follow')
    assert unit.attempts == 1
    assert [line.partition("    ")[0] for line in unit.next] == [
        "hooks web/0 --failed",
        "debug-log --replay --include web/0",
        "resolved web/0",
        "resolved web/0 --no-retry",
    ]
    assert application.next == ("explain web/0    tells how to go on with each",)
    assert application.reason == ""


def test_what_runs_holds_the_lock(runtime: TestController) -> None:
    runtime.active("web")
    runtime.deploy("more", packed=runtime.charms.make("more", peers=None))
    runtime.refresh(runtime.charms.make("web", files={"x": "y"}))
    dispatch = runtime.prepared("web/0")
    queue = WorkQueue(runtime.ctx.store, "host:1:2")
    assert queue.claim(f"{runtime.model}/machine/0", runtime.clock.now())
    unit, machine = told(runtime, "web/0", "0")
    assert unit.running == machine.running == f"{dispatch.title} of web/0"
    assert unit.held_by == machine.held_by == "host:1:2"
    assert unit.since == runtime.clock.now()


def test_a_unit_without_its_machine(runtime: TestController) -> None:
    runtime.deploy()
    unit, machine = told(runtime, "web/0", "0")
    assert unit.doing == "not decided yet"
    assert unit.next == ("explain 0    tells why its machine is not there yet",)
    assert machine.reason


def test_storage_that_waits(runtime: TestController, packs: Charms) -> None:
    stored = {"storage": {"data": {"type": "filesystem", "location": "/srv"}}}
    runtime.deploy("disk", packed=packs.make("disk", peers=None, config=None, **stored))
    runtime.played("0")
    runtime.settle()
    unit, storage = told(runtime, "disk/0", "data/0")
    assert unit.doing == "waiting"
    assert unit.next == ("explain data/0    tells what storage data/0 waits for",)
    assert (storage.subject, storage.doing, storage.reason) == ("storage data/0", "pending", "of disk/0")


def test_removals(runtime: TestController) -> None:
    runtime.active("web", 2)
    removals.remove_applications(runtime.ctx, runtime.model, ["web"], removal.Force(wait_s=60))
    reasons = told(runtime, "web/0", "web", "0")
    assert [reason.subject for reason in reasons] == ["web/0", "web/0", "web", "machine 0"]
    assert reasons[1].doing == "waiting to be removed"
    assert reasons[2].doing.startswith("going away: ")


def test_a_dying_subordinate_is_ended_by_force_with_its_principal(runtime: TestController) -> None:
    runtime.active("web")
    related.deploy(runtime, "log")
    runtime.integrate("log:host", "web")
    runtime.settle()
    runtime.write(lambda tx: removal.destroy_unit(tx, units.get(tx, "log/0")))
    assert not [line for line in told(runtime, "log/0")[0].next if line.startswith("remove-unit")]
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    assert told(runtime, "log/0")[0].next[0].startswith("remove-unit web/0 --force")


def test_what_goes_by_force_is_not_told_to_be_forced_again(runtime: TestController) -> None:
    runtime.active("web", 2)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    assert told(runtime, "web/0")[0].next[0].startswith("remove-unit web/0 --force")
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], force=Force(wait_s=60))
    (dying, end) = told(runtime, "web/0")
    assert end.doing == "waiting to be removed"
    removals.remove_applications(runtime.ctx, runtime.model, ["web"], force=Force(wait_s=60))
    assert "--force" not in "".join(line for reason in told(runtime, "web", "web/1") for line in reason.next)
    assert "--force" not in "".join(dying.next)


@pytest.mark.parametrize("name", ["web", "web/0", "0", "0/lxd/1", "data/3", ""])
def test_things_that_are_not_there(runtime: TestController, name: str) -> None:
    with pytest.raises(NotFound):
        told(runtime, name)
