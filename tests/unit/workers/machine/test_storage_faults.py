"""Storage that fails holds up nothing else, is reported, and is tried again."""

from __future__ import annotations

import asyncio

import pytest

from pushjuju.core.errors import ConnectionLost
from pushjuju.core.status import StatusKind
from pushjuju.core.storage import Directive
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.machine import credential_validity
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import forced_ends, removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.views import explain
from pushjuju.uniter.wanted import wanted
from pushjuju.workers.machine import storage_worker as of_storage
from tests.world.controller import TestController
from tests.world.runtime import drive
from tests.world.said import problems_of
from tests.world.storage import (
    PlayedStorage,
    StorageCloud,
    StorageRuntime,
    deploy_with_storage,
    storage_states,
)

SUSPENDED = "suspended since cloud credential is not valid"


async def test_what_fails_is_told_and_tried_again_later(
    runtime: TestController, ground: PlayedStorage
) -> None:
    deploy_with_storage(runtime, {"data": "loop", "logs": "tmpfs"})
    ground.refusals["make"] = "mkfs.ext4: no such program"
    work = StorageRuntime(runtime, ground)
    settled = await drive(runtime, work)
    assert problems_of(settled) == (
        "storage data/0 on machine 0: create filesystem 0/0: mkfs.ext4: no such program",
    )  # fmt: skip
    assert runtime.status(StatusKind.FILESYSTEM, "0/0") == ("pending", "mkfs.ext4: no such program")
    assert runtime.of("web/0") == ["logs-storage-attached"]
    made = len(ground.log)
    runtime.clock.advance(29)
    await drive(runtime, work)
    assert len(ground.log) == made
    runtime.clock.advance(2)
    await drive(runtime, work)
    assert len(ground.log) > made
    ground.refusals.clear()
    runtime.clock.advance(31)
    await drive(runtime, work)
    assert storage_states(runtime)["data/0"] == "pending"  # the second pause is a minute
    runtime.clock.advance(31)
    await drive(runtime, work)
    assert storage_states(runtime)["data/0"] == "attached"
    assert "install" in runtime.of("web/0")


async def test_a_detach_that_waits_says_for_what(runtime: TestController, ground: PlayedStorage) -> None:
    deploy_with_storage(runtime, {"data": "tmpfs"})
    await drive(runtime, StorageRuntime(runtime, ground))
    ground.refusals["unmount"] = "umount: /srv/data: target is busy.\nused by process 12 (psql)\n"
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, StorageRuntime(runtime, ground))
    assert runtime.units() == []
    why = "umount: /srv/data: target is busy.; used by process 12 (psql)"
    assert runtime.status(StatusKind.FILESYSTEM, "0/0") == ("detaching", why)
    reasons = [item.reason for item in explain.explain(runtime.ctx, runtime.model, wanted, ["0"])]
    assert reasons == [f"storage data/0 on machine 0: detach filesystem 0/0: {why}"]
    runtime.write(lambda tx: wake.machine(tx, "0", "look again"))
    await drive(runtime, StorageRuntime(runtime, ground))
    reasons = [item.reason for item in explain.explain(runtime.ctx, runtime.model, wanted, ["0"])]
    assert reasons == [f"filesystem 0/0 (data/0) is detaching, {why}"]
    ground.refusals.clear()
    runtime.clock.advance(31)
    await drive(runtime, StorageRuntime(runtime, ground))
    assert storage_states(runtime) == {"data/0": "detached"}
    reasons = [item.reason for item in explain.explain(runtime.ctx, runtime.model, wanted, ["0"])]
    assert reasons == ["kept for its storage: data/0"]


async def test_a_cloud_that_fails_is_asked_again(runtime: TestController, ground: PlayedStorage) -> None:
    deploy_with_storage(runtime, {"data": "local"})
    await drive(runtime, StorageRuntime(runtime, ground))
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], destroy_storage=True)
    ground.refusals["cloud-destroy"] = "quota of goodwill exceeded"
    work = StorageRuntime(runtime, ground)
    settled = await drive(runtime, work)
    assert any("quota of goodwill exceeded" in problem for problem in problems_of(settled))
    assert runtime.status(StatusKind.FILESYSTEM, "0") == ("error", "quota of goodwill exceeded")
    ground.refusals.clear()
    runtime.clock.advance(31)
    await drive(runtime, work)
    assert (storage_states(runtime), ground.made) == ({}, {})


def _renew(runtime: TestController) -> None:
    runtime.write(lambda tx: credential_validity.renew(tx, models.get(tx)))


@pytest.mark.parametrize("step", ["create", "attach", "detach", "destroy"])
async def test_a_refused_credential_suspends_the_model_and_asks_no_more(
    runtime: TestController, ground: PlayedStorage, step: str
) -> None:
    runtime.write(lambda tx: tx.run("model_set_credential", credential="bob"))
    deploy_with_storage(runtime, {"data": "local", "logs": "loop"})
    work = StorageRuntime(runtime, ground)
    wrong = f"cloud-{step}"
    if step != "create":
        ground.refusals["cloud-attach"] = "not yet" if step == "attach" else ""
        if step != "attach":
            ground.refusals.clear()
        await drive(runtime, work)
        ground.refusals.clear()
    if step in ("detach", "destroy"):
        removals.remove_units(runtime.ctx, runtime.model, ["web/0"], destroy_storage=True)
    if step == "destroy":
        ground.refusals["cloud-destroy"] = "not yet"
        await drive(runtime, work)
        ground.refusals.clear()
    runtime.clock.advance(3600)
    ground.refused, ground.log = True, []
    settled = await drive(runtime, work)
    assert any("the cloud refuses the credential: AuthFailure" in text for text in problems_of(settled))
    assert [word for word in ground.log if word.startswith("cloud")] == [wrong]
    with runtime.ctx.read(runtime.model) as tx:
        assert credential_validity.reason(tx, models.get(tx)) == "AuthFailure"
    runtime.clock.advance(3600)
    ground.log = []
    settled = await drive(runtime, work)
    assert any(SUSPENDED in text for text in problems_of(settled))
    assert [word for word in ground.log if word.startswith("cloud")] == []
    assert runtime.status(StatusKind.FILESYSTEM, "0")[1] == SUSPENDED
    ground.refused = False
    _renew(runtime)
    await drive(runtime, work)
    assert wrong in ground.log
    assert storage_states(runtime) == (
        {"data/0": "attached", "logs/1": "attached"} if step in ("create", "attach") else {}
    )


async def test_a_cloud_that_never_answers_for_a_volume(
    runtime: TestController, ground: PlayedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_cloud: StorageCloud, _item: StorageItem) -> StorageMade:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(of_storage, "STORAGE_S", 0.01)
    monkeypatch.setattr(StorageCloud, "create", never)
    deploy_with_storage(runtime, {"data": "local"})
    settled = await drive(runtime, StorageRuntime(runtime, ground))
    assert any("the cloud did not answer within 1 minutes" in text for text in problems_of(settled))


async def test_a_forced_end_forgets_what_cannot_be_destroyed(
    runtime: TestController, ground: PlayedStorage
) -> None:
    deploy_with_storage(runtime, {"data": "local"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    ground.refusals["cloud-destroy"] = "no"
    runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx), removal.Force(), destroy_storage=True))
    await drive(runtime, work)
    assert storage_states(runtime) == {"data/0": "error"}
    [end] = [item for item in forced_ends.forced_ends(runtime.ctx, runtime.model) if "storage" in item.kind]
    assert end.reason == "storage data/0 is removed by force if it still exists by then"
    runtime.clock.advance(61)
    await drive(runtime, work)
    assert runtime.read(lambda tx: tx.rows("model_list")) == []


async def test_storage_that_is_removed_by_force_under_its_unit(
    runtime: TestController, ground: PlayedStorage
) -> None:
    """First in order, with its hook; after a minute whatever stands in the way."""
    deploy_with_storage(runtime, {"data": "tmpfs"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    storage_requests.add(runtime.ctx, runtime.model, "web/0", {"logs": Directive(pool="tmpfs", count=2)})
    await drive(runtime, work)
    storage_requests.remove(runtime.ctx, runtime.model, ["logs/1"], force=True)
    await drive(runtime, work)
    assert runtime.of("web/0")[-1] == "logs-storage-detaching"
    assert sorted(storage_states(runtime)) == ["data/0", "logs/2"]
    ground.refusals["unmount"] = "busy"
    storage_requests.remove(runtime.ctx, runtime.model, ["logs/2"], force=True)
    await drive(runtime, work)
    assert storage_states(runtime)["logs/2"] == "detaching"
    runtime.clock.advance(61)
    await drive(runtime, work)
    assert sorted(storage_states(runtime)) == ["data/0"]
    assert (runtime.unit("web/0").storage, runtime.agent()) == (1, ("idle", ""))


@pytest.mark.parametrize(
    "said", ["", "size=-1\n", "size=99999999999999999999\n", "size=1e9\n", "size=9999999999999999\n", "x\0"]
)
async def test_odd_answers_of_a_machine_change_nothing(
    runtime: TestController, ground: PlayedStorage, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    deploy_with_storage(runtime, {"data": "tmpfs"})
    monkeypatch.setattr(ground, "run", lambda machine, script: (0, said, ""))
    await drive(runtime, StorageRuntime(runtime, ground))
    word, why = runtime.status(StatusKind.FILESYSTEM, "0/0")
    assert (word, why.startswith("the machine reports")) == ("pending", True)


@pytest.mark.parametrize(
    "source", ["/etc", "/var/lib/juju/storage/.x/../../../etc", "", "/var/lib/juju/storage/\n"]
)
async def test_an_odd_place_is_not_mounted(
    runtime: TestController, ground: PlayedStorage, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    deploy_with_storage(runtime, {"data": "tmpfs"})
    monkeypatch.setattr(ground, "run", lambda machine, script: (0, f"size=64\nsource={source}\n", ""))
    await drive(runtime, StorageRuntime(runtime, ground))
    assert runtime.status(StatusKind.FILESYSTEM, "0/0")[0] == "attaching"
    assert storage_states(runtime) == {"data/0": "attaching"}


async def test_what_a_machine_says_is_shown_as_text(runtime: TestController, ground: PlayedStorage) -> None:
    deploy_with_storage(runtime, {"data": "tmpfs"})
    ground.refusals["create"] = "\x1b[31mred\x1b[0m " + "x" * 5000
    await drive(runtime, StorageRuntime(runtime, ground))
    _, why = runtime.status(StatusKind.FILESYSTEM, "0/0")
    assert why.isprintable()
    assert len(why) == 1000


async def test_a_lost_machine_is_no_failure_of_its_storage(
    runtime: TestController, ground: PlayedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy_with_storage(runtime, {"data": "tmpfs"})

    def lose(machine: str, script: str) -> tuple[int, str, str]:
        raise ConnectionLost("gone")

    monkeypatch.setattr(ground, "run", lose)
    work = StorageRuntime(runtime, ground)
    settled = await drive(runtime, work)
    assert problems_of(settled) == ("machine 0: gone",)
    assert runtime.status(StatusKind.FILESYSTEM, "0/0") == ("pending", "")
