"""Storage as machine workers do it: cut off anywhere it goes on, and comes and goes with its machine."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.cli.work import drive as of_drive
from pushjuju.core.clock import SystemClock
from pushjuju.core.storage import Directive, Kind
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.views.status import storage_document
from tests.world.charms import UBUNTU
from tests.world.commandline import call
from tests.world.controller import TestController
from tests.world.runtime import Died, drive
from tests.world.said import problems_of
from tests.world.storage import PlayedStorage, StorageRuntime, deploy_with_storage, storage_states


async def survive(runtime: TestController, ground: PlayedStorage, limit: int = 60) -> int:
    """Work to rest with a process that dies at each step in turn; return how many died."""
    for number in range(1, limit):
        work = StorageRuntime(runtime, ground, die_at=number)
        try:
            await drive(runtime, work)
        except Died:
            continue
        if not work.died:
            return number
    raise AssertionError("never at rest")


async def test_from_deploy_to_attached(runtime: TestController, ground: PlayedStorage) -> None:
    deploy_with_storage(runtime, {"data": "loop", "logs": "tmpfs"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    assert storage_states(runtime) == {"data/0": "attached", "logs/1": "attached"}
    assert sorted(point for _, point in ground.mounted) == ["/srv/data", "/var/lib/juju/storage/logs/1"]
    assert runtime.of("web/0")[:3] == ["data-storage-attached", "logs-storage-attached", "install"]
    words = [line.split()[0] for line in ground.log]
    assert words.index("make") < words.index("mount")
    ground.log.clear()
    await drive(runtime, work)
    assert ground.log == []


async def test_what_only_comes_with_a_machine_is_in_its_request(
    runtime: TestController, ground: PlayedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy_with_storage(runtime, {"data": "loop", "logs": "tmpfs"})
    work = StorageRuntime(runtime, ground)
    known = work.host.storage_types("local")
    static = {name: replace(kind, with_machine=name != "tmpfs") for name, kind in known.items()}
    monkeypatch.setattr(work.host, "storage_types", lambda _: static)
    await drive(runtime, work)
    (request,) = work.cloud.asked
    (volume,) = request.volumes
    assert (volume.id, volume.kind, volume.size) == ("0/0", Kind.BLOCK, 1024)
    assert volume.uuid in ground.made


@pytest.mark.parametrize("pool", ["loop", "tmpfs", "local"])
async def test_killed_between_any_two_steps(
    runtime: TestController, ground: PlayedStorage, pool: str
) -> None:
    """Each file system is made once, data is where it was, nothing is left behind."""
    deploy_with_storage(runtime, {"data": pool, "logs": "rootfs"})
    assert await survive(runtime, ground) > 5
    assert set(storage_states(runtime).values()) == {"attached"}
    assert set(ground.made.values()) == {1}
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    assert await survive(runtime, ground) > 2
    assert set(storage_states(runtime).values()) == {"detached"}
    assert ground.mounted == {}
    assert ground.made, "nobody said that it is to be destroyed"
    runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx), destroy_storage=True))
    await survive(runtime, ground)
    assert runtime.read(lambda tx: tx.rows("model_list")) == []


def add_machine(runtime: TestController, pool: str) -> None:
    machines.add_machine(
        runtime.ctx,
        runtime.model,
        base=UBUNTU,
        constraints={},
        disks=[Directive(pool=pool, size=64, count=2)],
    )


def disks(runtime: TestController) -> dict[str, str]:
    found = storage_document.document(runtime.ctx, runtime.model).get("volumes", {})
    return {name: item["status"]["current"] for name, item in found.items()}


@pytest.mark.parametrize("pool", ["loop", "local"])
async def test_disks_come_and_go_with_their_machine(
    runtime: TestController, ground: PlayedStorage, monkeypatch: pytest.MonkeyPatch, pool: str
) -> None:
    """Killed at any step, each is made once, and none outlives the machine."""
    real = PluginHost.storage_types

    def types(host: PluginHost, cloud_type: str) -> dict[str, Any]:
        known = dict(real(host, cloud_type))
        return {**known, "local": replace(known["local"], kinds=frozenset({Kind.BLOCK}))}

    monkeypatch.setattr(PluginHost, "storage_types", types)
    add_machine(runtime, pool)
    assert await survive(runtime, ground) > 5
    assert set(disks(runtime).values()) == {"attached"}
    assert list(ground.made.values()) == [1, 1]
    assert runtime.machine_ids() == ["0"]
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    await survive(runtime, ground)
    assert runtime.machine_ids() == []
    assert disks(runtime) == {}
    assert ground.attached == {}
    if pool == "local":  # a loop's file is gone with its machine
        assert ground.made == {}


async def test_a_disk_that_the_cloud_keeps_is_tried_again(
    runtime: TestController, ground: PlayedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PluginHost.storage_types
    monkeypatch.setattr(
        PluginHost,
        "storage_types",
        lambda host, kind: {
            **real(host, kind), "local": replace(real(host, kind)["local"], kinds=frozenset({Kind.BLOCK}))
        },
    )  # fmt: skip
    add_machine(runtime, "local")
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    ground.refusals["cloud-destroy"] = "busy"
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    settled = await drive(runtime, work)
    assert problems_of(settled) == tuple(
        f"disk of machine 0: destroy volume {number}: busy" for number in (0, 1)
    )
    assert (runtime.machine_ids(), disks(runtime)) == ([], {"0": "error", "1": "error"})
    ground.refusals.clear()
    runtime.clock.advance(31)
    await drive(runtime, work)
    assert (ground.made, disks(runtime)) == ({}, {})


async def test_a_kept_instance_keeps_no_disk(runtime: TestController, ground: PlayedStorage) -> None:
    add_machine(runtime, "loop")
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], keep_instance=True)
    await drive(runtime, work)
    assert (ground.made, disks(runtime), runtime.machine_ids()) == ({}, {}, [])


def test_a_machine_that_stays_for_detached_storage_says_so(
    runtime: TestController, ground: PlayedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that removes the last unit does, and `status`, until the storage is gone."""

    def work(*_words: Any, **_more: Any) -> None:
        # What commands record is due now, by the clock on the wall.
        runtime.clock.advance((SystemClock().now() - runtime.clock.now()).total_seconds())
        asyncio.run(drive(runtime, StorageRuntime(runtime, ground)))

    def typed(*words: str) -> tuple[int, str, str]:
        return call(runtime.ctx.datadir.root.parent, *words)

    monkeypatch.setattr(of_drive, "settle", work)
    runtime.focus()
    deploy_with_storage(runtime, {"data": "loop", "logs": "tmpfs"}, count=2)
    work()
    assert typed("remove-application", "web", "--no-prompt")[::2] == (0, (
        "machine 0 is kept for its storage: data/0, logs/1\n"
        "pushjuju remove-storage data/0 logs/1    lets the machine go\n"
        "machine 1 is kept for its storage: data/2, logs/3\n"
        "pushjuju remove-storage data/2 logs/3    lets the machine go\n"
    ))  # fmt: skip
    assert "kept for its storage: data/0, logs/1\n" in typed("status")[1]
    assert "kept for its storage: data/2, logs/3\n" in typed("machines")[1]
    assert typed("remove-storage", "data/0", "logs/1")[0] == 0
    assert runtime.machine_ids() == ["1"]


async def test_a_new_boot_attaches_again(runtime: TestController, ground: PlayedStorage) -> None:
    deploy_with_storage(runtime, {"data": "loop"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    ground.mounted.clear()
    runtime.reboot("0")
    runtime.write(
        lambda tx: tx.run(
            "work_touch", key=f"{runtime.model}/machine/0", due="2000", reason="", trace="", cause=""
        )
    )
    await drive(runtime, work)
    assert list(ground.mounted) == [("0", "/srv/data")]
    assert set(ground.made.values()) == {1}


async def test_a_machine_waits_for_what_outlives_it(runtime: TestController, ground: PlayedStorage) -> None:
    deploy_with_storage(runtime, {"data": "local"})
    await drive(runtime, StorageRuntime(runtime, ground))
    ground.refusals["unmount"] = "busy"
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    work = StorageRuntime(runtime, ground)
    settled = await drive(runtime, work)
    assert runtime.machine_ids() == ["0"]
    assert any("machine 0 has attachments" in problem for problem in problems_of(settled))
    ground.refusals.clear()
    runtime.clock.advance(31)
    await drive(runtime, work)
    assert runtime.machine_ids() == []
    assert ground.attached == {}
    assert storage_states(runtime) == {"data/0": "detached"}


async def test_kept_storage_that_goes_takes_its_machine_along(
    runtime: TestController, ground: PlayedStorage
) -> None:
    deploy_with_storage(runtime, {"data": "loop"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, work)
    assert runtime.machine_ids() == ["0"]
    storage_requests.remove(runtime.ctx, runtime.model, ["data/0"])
    await drive(runtime, work)
    assert (runtime.machine_ids(), storage_states(runtime)) == ([], {})
    assert not [item for item in ground.made if not item.startswith("fs-")]


@pytest.mark.parametrize("keep", [True, False])
async def test_a_forced_removal_leaves_no_data_on_a_machine_that_stays(
    runtime: TestController, ground: PlayedStorage, keep: bool
) -> None:
    deploy_with_storage(runtime, {"data": "loop"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, work)
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], force=removal.Force(), keep_instance=keep)
    await drive(runtime, work)
    assert (runtime.machine_ids(), storage_states(runtime)) == ([], {})
    destroyed = any(line.startswith("destroy") for line in ground.log)
    assert destroyed is keep  # else it goes with the machine's disk


async def test_units_without_storage_cost_no_script(runtime: TestController, ground: PlayedStorage) -> None:
    runtime.deploy()
    await drive(runtime, StorageRuntime(runtime, ground))
    assert ground.log == []
    assert runtime.agent() == ("idle", "")
