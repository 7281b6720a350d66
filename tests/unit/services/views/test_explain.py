"""explain: why things are as they are, and how to go on."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pushjuju.core.errors import NotFound
from pushjuju.services.lifecycle import removal
from pushjuju.services.views import explain
from pushjuju.services.views.explain import Reason
from pushjuju.store.queue import SqliteWorkQueue, model_key, touch
from pushjuju.uniter.wanted import wanted
from tests.world.controller import Charms, World, failed


@pytest.fixture
def shop(tmp_path: Path, packs: Charms) -> World:
    return World.build(tmp_path, packs)


def told(shop: World, *names: str) -> list[Reason]:
    return explain.explain(shop.ctx, shop.model, wanted, names)


def finished(shop: World, machine: str, due: datetime) -> None:
    """Give a machine's lane back at rest, as its worker does."""
    rested(shop, f"{shop.model}/machine/{machine}", due)


def rested(shop: World, key: str, due: datetime) -> None:
    """Give work back that has nothing to do until then."""
    queue = SqliteWorkQueue(shop.ctx.store, "host:1:2")
    claim = queue.claim(key, shop.clock.now())
    assert claim is not None
    queue.finish(claim, shop.clock.now(), due)


def test_a_unit_at_rest_and_its_application(shop: World) -> None:
    shop.active("web", 2)
    unit, application = told(shop, "web/0", "web")
    quiet = "nothing to do until the next update-status"
    assert (unit.doing, unit.reason, unit.next) == ("idle", f"{quiet} (core)", ())
    assert unit.due is not None
    finished(shop, "0", unit.due)
    (machine,) = told(shop, "0")
    assert (machine.doing, machine.reason, machine.due) == ("at rest", quiet, unit.due)
    assert (application.doing, application.leader, application.reason) == ("2 idle", "web/0", "")


@pytest.mark.parametrize("loop", ["charms", "cleanup", "firewall", "poller", "secrets", "storage"])
def test_a_loop_at_rest_says_what_it_does_next(shop: World, loop: str) -> None:
    key, later = model_key(shop.model, loop), shop.clock.now() + timedelta(days=1)
    with shop.ctx.store.write() as tx:
        touch(tx, key, shop.clock.now(), "asked for")
    assert "asked for" in [reason.reason for reason in told(shop)]
    rested(shop, key, later)
    found = [reason for reason in told(shop) if reason.due == later]
    assert [(reason.subject, reason.doing) for reason in found] == [("model", "at rest")]
    assert found[0].reason.endswith(" next")


def test_a_unit_in_error_tells_how_to_go_on(shop: World) -> None:
    shop.box("0")
    shop.deploy()
    shop.box("0").script["config-changed"] = [failed(2)]
    shop.settle()
    unit, application = told(shop, "web/0", "web")
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


def test_what_runs_holds_the_lock(shop: World) -> None:
    shop.active("web")
    shop.deploy("more", packed=shop.charms.make("more", peers=None))
    shop.refresh(shop.charms.make("web", files={"x": "y"}))
    prepared = shop.prepared("web/0")
    queue = SqliteWorkQueue(shop.ctx.store, "host:1:2")
    assert queue.claim(f"{shop.model}/machine/0", shop.clock.now())
    unit, machine = told(shop, "web/0", "0")
    assert unit.running == machine.running == f"{prepared.title} of web/0"
    assert unit.held_by == machine.held_by == "host:1:2"
    assert unit.since == shop.clock.now()


def test_a_unit_without_its_machine(shop: World) -> None:
    shop.deploy()
    unit, machine = told(shop, "web/0", "0")
    assert unit.doing == "not decided yet"
    assert unit.next == ("explain 0    tells why its machine is not there yet",)
    assert machine.reason


def test_storage_that_waits(shop: World, packs: Charms) -> None:
    stored = {"storage": {"data": {"type": "filesystem", "location": "/srv"}}}
    shop.deploy("disk", packed=packs.make("disk", peers=None, config=None, **stored))
    shop.box("0")
    shop.settle()
    unit, storage = told(shop, "disk/0", "data/0")
    assert unit.doing == "waiting"
    assert unit.next == ("explain data/0    tells what storage data/0 waits for",)
    assert (storage.subject, storage.doing, storage.reason) == ("storage data/0", "pending", "of disk/0")


def test_removals(shop: World) -> None:
    shop.active("web", 2)
    removal.remove_application(shop.ctx, shop.model, ["web"], removal.Force(wait_s=60))
    reasons = told(shop, "web/0", "web", "0")
    assert [reason.subject for reason in reasons] == ["web/0", "web/0", "web", "machine 0"]
    assert reasons[1].doing == "waiting to be removed"
    assert reasons[2].doing.startswith("going away: ")
    assert reasons[0].next[0].startswith("remove-unit web/0 --force")


@pytest.mark.parametrize("name", ["web", "web/0", "0", "0/lxd/1", "data/3", ""])
def test_things_that_are_not_there(shop: World, name: str) -> None:
    with pytest.raises(NotFound):
        told(shop, name)
