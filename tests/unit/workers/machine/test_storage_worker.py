"""Storage as lanes do it: cut off anywhere it goes on, and what fails holds up nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pushjuju.cli.work import drive as of_drive
from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import ConnectionLost, CredentialInvalid, ProviderError
from pushjuju.core.status import StatusKind
from pushjuju.core.storage import Directive, Kind
from pushjuju.plugins.api.storage_types import BootMount, StorageItem, StorageMade, StorageSeen
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.storage import mounts
from pushjuju.runner.session import ExecResult
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.machine import credential_validity, machines
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import storage_requests
from pushjuju.services.views import explain
from pushjuju.services.views.status import storage_document
from pushjuju.uniter.wanted import wanted
from pushjuju.workers.machine import storage_worker as of_storage
from tests.world.charms import UBUNTU
from tests.world.commandline import call
from tests.world.controller import TestController
from tests.world.runtime import Died, PlayedRuntime, drive

STORES = {
    "data": {"type": "filesystem", "location": "/srv/data"},
    "logs": {"type": "filesystem", "multiple": {"range": "0-"}},
}


@dataclass
class Ground:
    """What machines and the cloud hold: it outlives every controller process.

    Attributes:
        made: Items -> how often their file system was made.
        mounted: (machine, mount point) -> what is there.
        log: Every script that ran.
        refusals: Word in a script -> why it fails; taken out by the test.
        refused: The cloud does not take the credential.
    """

    made: dict[str, int] = field(default_factory=dict)
    mounted: dict[tuple[str, str], str] = field(default_factory=dict)
    attached: dict[str, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    refused: bool = False

    def run(self, machine: str, script: str) -> tuple[int, str, str]:
        """Run a script of ours: one line, `word item rest`."""
        self.log.append(script)
        for word, why in self.refusals.items():
            if word in script:
                return 1, "", why
        word, item, *rest = script.split()
        if word == "create" and item not in self.made:
            self.made[item] = 1
        elif word in ("attach", "device"):
            return 0, f"source=/var/lib/juju/storage/.fake/{item}\ndevice=loop7\n", ""
        elif word == "make" and f"fs-{item}" not in self.made:
            self.made[f"fs-{item}"] = 1
        elif word == "mount":
            assert self.mounted.get((machine, rest[0]), item) == item, "somebody else is there"
            self.mounted[machine, rest[0]] = item
        elif word == "unmount":
            self.mounted.pop((machine, rest[0]), None)
        elif word == "destroy":
            assert item not in self.mounted.values(), "destroyed while it is mounted"
            self.made.pop(item, None)
        return 0, "size=64\n", ""


class Scripts:
    """Storage of machines, in words that `Ground` knows."""

    def create(self, item: StorageItem) -> str:
        return f"create {item.uuid}"

    def attach(self, item: StorageItem) -> str:
        return f"attach {item.uuid}"

    def detach(self, item: StorageItem) -> str:
        return f"detach {item.uuid}"

    def destroy(self, item: StorageItem) -> str:
        return f"destroy {item.uuid}"

    def at_boot(self, item: StorageItem) -> BootMount | None:
        return None


class Cloud:
    """Storage of a cloud."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    def _refuse(self, word: str) -> None:
        self.ground.log.append(word)
        if self.ground.refused:
            raise CredentialInvalid(detail="AuthFailure")
        if word in self.ground.refusals:
            raise ProviderError(self.ground.refusals[word])

    async def create(self, item: StorageItem) -> StorageMade:
        self._refuse("cloud-create")
        self.ground.made.setdefault(item.uuid, 1)
        return StorageMade(provider_id=item.uuid, size=item.size)

    async def attach(self, item: StorageItem) -> StorageSeen:
        self._refuse("cloud-attach")
        assert self.ground.attached.get(item.uuid, item.instance_id) == item.instance_id
        self.ground.attached[item.uuid] = item.instance_id
        return StorageSeen(source=f"/var/lib/juju/storage/.cloud/{item.uuid}")

    async def detach(self, item: StorageItem) -> None:
        self._refuse("cloud-detach")
        self.ground.attached.pop(item.uuid, None)

    async def destroy(self, item: StorageItem) -> None:
        self._refuse("cloud-destroy")
        assert item.uuid not in self.ground.attached
        self.ground.made.pop(item.uuid, None)

    async def release(self, item: StorageItem) -> None:
        assert item.uuid not in self.ground.attached

    async def find(self, provider_id: str, kind: Any) -> StorageMade:
        raise AssertionError


class StorageRuntime(PlayedRuntime):
    """A runtime whose machines and cloud have storage; it may die at a step."""

    def __init__(self, world: TestController, ground: Ground, die_at: int = 0) -> None:
        super().__init__(world, self._step)
        self.ground = ground
        self.left = die_at
        self.died = False

    def _step(self, name: str) -> None:
        if name.startswith("storage-") and self.left:
            self.left -= 1
            if not self.left:
                self.died = True
                raise Died

    def storage_provider(self, model: str, type_name: str) -> Any:
        return Cloud(self.ground) if type_name == "local" else Scripts()

    async def session(self, machine: Any) -> Any:
        made = await super().session(machine)

        async def execute(*, script: str, timeout: float) -> ExecResult:  # noqa: ASYNC109
            rc, out, err = self.ground.run(machine.id, script)
            return ExecResult(exit=rc, signal=None, stdout=out, stderr=err)

        made.exec = execute
        return made


@pytest.fixture
def ground(monkeypatch: pytest.MonkeyPatch) -> Ground:
    """An empty world; what is done to mount points is told in words too."""

    def mount(item: StorageItem, what: str, boots: Any) -> str:
        return f"mount {item.uuid} {item.path}"

    def unmount(item: StorageItem, what: str) -> str:
        return f"unmount {item.uuid} {item.path}"

    monkeypatch.setattr(mounts, "mount", mount)
    monkeypatch.setattr(mounts, "unmount", unmount)
    monkeypatch.setattr(mounts, "make", lambda item, device: f"make {item.uuid} {device}")
    return Ground()


def deploy(runtime: TestController, pools: Mapping[str, str], count: int = 1) -> None:
    wanted = {name: Directive(pool=pool, count=1) for name, pool in pools.items()}
    runtime.deploy(count=count, packed=runtime.charms.make(storage=STORES), storage=wanted)


def states(runtime: TestController) -> dict[str, str]:
    found = storage_document.document(runtime.ctx, runtime.model).get("storage", {})
    return {name: item["status"]["current"] for name, item in found.items()}


async def survive(runtime: TestController, ground: Ground, limit: int = 60) -> int:
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


async def test_from_deploy_to_attached(runtime: TestController, ground: Ground) -> None:
    deploy(runtime, {"data": "loop", "logs": "tmpfs"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    assert states(runtime) == {"data/0": "attached", "logs/1": "attached"}
    assert sorted(point for _, point in ground.mounted) == ["/srv/data", "/var/lib/juju/storage/logs/1"]
    assert runtime.of("web/0")[:3] == ["data-storage-attached", "logs-storage-attached", "install"]
    words = [line.split()[0] for line in ground.log]
    assert words.index("make") < words.index("mount")
    ground.log.clear()
    await drive(runtime, work)
    assert ground.log == []


async def test_what_only_comes_with_a_machine_is_in_its_request(
    runtime: TestController, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(runtime, {"data": "loop", "logs": "tmpfs"})
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
async def test_killed_between_any_two_steps(runtime: TestController, ground: Ground, pool: str) -> None:
    """Each file system is made once, data is where it was, nothing is left behind."""
    deploy(runtime, {"data": pool, "logs": "rootfs"})
    assert await survive(runtime, ground) > 5
    assert set(states(runtime).values()) == {"attached"}
    assert set(ground.made.values()) == {1}
    removal.remove_units(runtime.ctx, runtime.model, ["web/0"])
    assert await survive(runtime, ground) > 2
    assert set(states(runtime).values()) == {"detached"}
    assert ground.mounted == {}
    assert ground.made, "nobody said that it is to be destroyed"
    runtime.write(
        lambda tx: removal.destroy_model(
            tx, models.get(tx, runtime.model), runtime.clock.now(), destroy_storage=True
        )
    )
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
    runtime: TestController, ground: Ground, monkeypatch: pytest.MonkeyPatch, pool: str
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
    removal.remove_machines(runtime.ctx, runtime.model, ["0"])
    await survive(runtime, ground)
    assert runtime.machine_ids() == []
    assert disks(runtime) == {}
    assert ground.attached == {}
    if pool == "local":  # a loop's file is gone with its machine
        assert ground.made == {}


async def test_a_disk_that_the_cloud_keeps_is_tried_again(
    runtime: TestController, ground: Ground, monkeypatch: pytest.MonkeyPatch
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
    removal.remove_machines(runtime.ctx, runtime.model, ["0"])
    settled = await drive(runtime, work)
    assert settled.problems == tuple(f"disk of machine 0: destroy volume {number}: busy" for number in (0, 1))
    assert (runtime.machine_ids(), disks(runtime)) == ([], {"0": "error", "1": "error"})
    ground.refusals.clear()
    runtime.clock.advance(31)
    await drive(runtime, work)
    assert (ground.made, disks(runtime)) == ({}, {})


async def test_a_kept_instance_keeps_no_disk(runtime: TestController, ground: Ground) -> None:
    add_machine(runtime, "loop")
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    removal.remove_machines(runtime.ctx, runtime.model, ["0"], keep_instance=True)
    await drive(runtime, work)
    assert (ground.made, disks(runtime), runtime.machine_ids()) == ({}, {}, [])


async def test_what_fails_is_told_and_tried_again_later(runtime: TestController, ground: Ground) -> None:
    deploy(runtime, {"data": "loop", "logs": "tmpfs"})
    ground.refusals["make"] = "mkfs.ext4: no such program"
    work = StorageRuntime(runtime, ground)
    settled = await drive(runtime, work)
    assert settled.problems == (
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
    assert states(runtime)["data/0"] == "pending"  # the second pause is a minute
    runtime.clock.advance(31)
    await drive(runtime, work)
    assert states(runtime)["data/0"] == "attached"
    assert "install" in runtime.of("web/0")


async def test_a_detach_that_waits_says_for_what(runtime: TestController, ground: Ground) -> None:
    deploy(runtime, {"data": "tmpfs"})
    await drive(runtime, StorageRuntime(runtime, ground))
    ground.refusals["unmount"] = "umount: /srv/data: target is busy.\nused by process 12 (psql)\n"
    removal.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, StorageRuntime(runtime, ground))
    assert runtime.units() == []
    why = "umount: /srv/data: target is busy.; used by process 12 (psql)"
    assert runtime.status(StatusKind.FILESYSTEM, "0/0") == ("detaching", why)
    reasons = [item.reason for item in explain.explain(runtime.ctx, runtime.model, wanted, ["0"])]
    assert reasons == [f"storage data/0 on machine 0: detach filesystem 0/0: {why}"]
    runtime.write(lambda tx: wake.machine(tx, runtime.model, "0", runtime.clock.now(), "look again"))
    await drive(runtime, StorageRuntime(runtime, ground))
    reasons = [item.reason for item in explain.explain(runtime.ctx, runtime.model, wanted, ["0"])]
    assert reasons == [f"filesystem 0/0 (data/0) is detaching, {why}"]
    ground.refusals.clear()
    runtime.clock.advance(31)
    await drive(runtime, StorageRuntime(runtime, ground))
    assert states(runtime) == {"data/0": "detached"}
    reasons = [item.reason for item in explain.explain(runtime.ctx, runtime.model, wanted, ["0"])]
    assert reasons == ["kept for its storage: data/0"]


def test_a_machine_that_stays_for_detached_storage_says_so(
    runtime: TestController, ground: Ground, monkeypatch: pytest.MonkeyPatch
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
    deploy(runtime, {"data": "loop", "logs": "tmpfs"}, count=2)
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


async def test_a_new_boot_attaches_again(runtime: TestController, ground: Ground) -> None:
    deploy(runtime, {"data": "loop"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    ground.mounted.clear()
    runtime.reboot("0")
    runtime.write(lambda tx: tx.run("work_touch", key=f"{runtime.model}/machine/0", due="2000", reason=""))
    await drive(runtime, work)
    assert list(ground.mounted) == [("0", "/srv/data")]
    assert set(ground.made.values()) == {1}


async def test_a_machine_waits_for_what_outlives_it(runtime: TestController, ground: Ground) -> None:
    deploy(runtime, {"data": "local"})
    await drive(runtime, StorageRuntime(runtime, ground))
    ground.refusals["unmount"] = "busy"
    removal.remove_units(runtime.ctx, runtime.model, ["web/0"])
    work = StorageRuntime(runtime, ground)
    settled = await drive(runtime, work)
    assert runtime.machine_ids() == ["0"]
    assert any("machine 0 has attachments" in problem for problem in settled.problems)
    ground.refusals.clear()
    runtime.clock.advance(31)
    await drive(runtime, work)
    assert runtime.machine_ids() == []
    assert ground.attached == {}
    assert states(runtime) == {"data/0": "detached"}


async def test_kept_storage_that_goes_takes_its_machine_along(
    runtime: TestController, ground: Ground
) -> None:
    deploy(runtime, {"data": "loop"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    removal.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, work)
    assert runtime.machine_ids() == ["0"]
    storage_requests.remove(runtime.ctx, runtime.model, ["data/0"])
    await drive(runtime, work)
    assert (runtime.machine_ids(), states(runtime)) == ([], {})
    assert not [item for item in ground.made if not item.startswith("fs-")]


@pytest.mark.parametrize("keep", [True, False])
async def test_a_forced_removal_leaves_no_data_on_a_machine_that_stays(
    runtime: TestController, ground: Ground, keep: bool
) -> None:
    deploy(runtime, {"data": "loop"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    removal.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, work)
    removal.remove_machines(runtime.ctx, runtime.model, ["0"], force=removal.Force(), keep_instance=keep)
    await drive(runtime, work)
    assert (runtime.machine_ids(), states(runtime)) == ([], {})
    destroyed = any(line.startswith("destroy") for line in ground.log)
    assert destroyed is keep  # else it goes with the machine's disk


async def test_a_cloud_that_fails_is_asked_again(runtime: TestController, ground: Ground) -> None:
    deploy(runtime, {"data": "local"})
    await drive(runtime, StorageRuntime(runtime, ground))
    removal.remove_units(runtime.ctx, runtime.model, ["web/0"], destroy_storage=True)
    ground.refusals["cloud-destroy"] = "quota of goodwill exceeded"
    work = StorageRuntime(runtime, ground)
    settled = await drive(runtime, work)
    assert any("quota of goodwill exceeded" in problem for problem in settled.problems)
    assert runtime.status(StatusKind.FILESYSTEM, "0") == ("error", "quota of goodwill exceeded")
    ground.refusals.clear()
    runtime.clock.advance(31)
    await drive(runtime, work)
    assert (states(runtime), ground.made) == ({}, {})


SUSPENDED = "suspended since cloud credential is not valid"


def _renew(runtime: TestController) -> None:
    runtime.write(
        lambda tx: credential_validity.renew(tx, models.get(tx, runtime.model), runtime.clock.now())
    )


@pytest.mark.parametrize("step", ["create", "attach", "detach", "destroy"])
async def test_a_refused_credential_suspends_the_model_and_asks_no_more(
    runtime: TestController, ground: Ground, step: str
) -> None:
    runtime.write(lambda tx: tx.run("model_set_credential", model=runtime.model, credential="bob"))
    deploy(runtime, {"data": "local", "logs": "loop"})
    work = StorageRuntime(runtime, ground)
    wrong = f"cloud-{step}"
    if step != "create":
        ground.refusals["cloud-attach"] = "not yet" if step == "attach" else ""
        if step != "attach":
            ground.refusals.clear()
        await drive(runtime, work)
        ground.refusals.clear()
    if step in ("detach", "destroy"):
        removal.remove_units(runtime.ctx, runtime.model, ["web/0"], destroy_storage=True)
    if step == "destroy":
        ground.refusals["cloud-destroy"] = "not yet"
        await drive(runtime, work)
        ground.refusals.clear()
    runtime.clock.advance(3600)
    ground.refused, ground.log = True, []
    settled = await drive(runtime, work)
    assert any("the cloud refuses the credential: AuthFailure" in text for text in settled.problems)
    assert [word for word in ground.log if word.startswith("cloud")] == [wrong]
    with runtime.ctx.store.read() as tx:
        assert credential_validity.reason(tx, models.get(tx, runtime.model)) == "AuthFailure"
    runtime.clock.advance(3600)
    ground.log = []
    settled = await drive(runtime, work)
    assert any(SUSPENDED in text for text in settled.problems)
    assert [word for word in ground.log if word.startswith("cloud")] == []
    assert runtime.status(StatusKind.FILESYSTEM, "0")[1] == SUSPENDED
    ground.refused = False
    _renew(runtime)
    await drive(runtime, work)
    assert wrong in ground.log
    assert states(runtime) == (
        {"data/0": "attached", "logs/1": "attached"} if step in ("create", "attach") else {}
    )


async def test_a_cloud_that_never_answers_for_a_volume(
    runtime: TestController, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_cloud: Cloud, _item: StorageItem) -> StorageMade:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(of_storage, "STORAGE_S", 0.01)
    monkeypatch.setattr(Cloud, "create", never)
    deploy(runtime, {"data": "local"})
    settled = await drive(runtime, StorageRuntime(runtime, ground))
    assert any("the cloud did not answer within 1 minutes" in text for text in settled.problems)


async def test_a_forced_end_forgets_what_cannot_be_destroyed(runtime: TestController, ground: Ground) -> None:
    deploy(runtime, {"data": "local"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    ground.refusals["cloud-destroy"] = "no"
    runtime.write(
        lambda tx: removal.destroy_model(
            tx, models.get(tx, runtime.model), runtime.clock.now(), removal.Force(), destroy_storage=True
        )
    )
    await drive(runtime, work)
    assert states(runtime) == {"data/0": "error"}
    [end] = [item for item in removal.forced_ends(runtime.ctx, runtime.model) if "storage" in item.kind]
    assert end.reason == "storage data/0 is forced away if it is not gone by then"
    runtime.clock.advance(61)
    await drive(runtime, work)
    assert runtime.read(lambda tx: tx.rows("model_list")) == []


async def test_storage_that_is_removed_by_force_under_its_unit(
    runtime: TestController, ground: Ground
) -> None:
    """First in order, with its hook; after a minute whatever stands in the way."""
    deploy(runtime, {"data": "tmpfs"})
    work = StorageRuntime(runtime, ground)
    await drive(runtime, work)
    storage_requests.add(runtime.ctx, runtime.model, "web/0", {"logs": Directive(pool="tmpfs", count=2)})
    await drive(runtime, work)
    storage_requests.remove(runtime.ctx, runtime.model, ["logs/1"], force=True)
    await drive(runtime, work)
    assert runtime.of("web/0")[-1] == "logs-storage-detaching"
    assert sorted(states(runtime)) == ["data/0", "logs/2"]
    ground.refusals["unmount"] = "busy"
    storage_requests.remove(runtime.ctx, runtime.model, ["logs/2"], force=True)
    await drive(runtime, work)
    assert states(runtime)["logs/2"] == "detaching"
    runtime.clock.advance(61)
    await drive(runtime, work)
    assert sorted(states(runtime)) == ["data/0"]
    assert (runtime.unit("web/0").storage, runtime.agent()) == (1, ("idle", ""))


@pytest.mark.parametrize(
    "said", ["", "size=-1\n", "size=99999999999999999999\n", "size=1e9\n", "size=9999999999999999\n", "x\0"]
)
async def test_odd_answers_of_a_machine_change_nothing(
    runtime: TestController, ground: Ground, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    deploy(runtime, {"data": "tmpfs"})
    monkeypatch.setattr(ground, "run", lambda machine, script: (0, said, ""))
    await drive(runtime, StorageRuntime(runtime, ground))
    word, why = runtime.status(StatusKind.FILESYSTEM, "0/0")
    assert (word, why.startswith("the machine names")) == ("pending", True)


@pytest.mark.parametrize(
    "source", ["/etc", "/var/lib/juju/storage/.x/../../../etc", "", "/var/lib/juju/storage/\n"]
)
async def test_an_odd_place_is_not_mounted(
    runtime: TestController, ground: Ground, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    deploy(runtime, {"data": "tmpfs"})
    monkeypatch.setattr(ground, "run", lambda machine, script: (0, f"size=64\nsource={source}\n", ""))
    await drive(runtime, StorageRuntime(runtime, ground))
    assert runtime.status(StatusKind.FILESYSTEM, "0/0")[0] == "attaching"
    assert states(runtime) == {"data/0": "attaching"}


async def test_what_a_machine_says_is_shown_as_text(runtime: TestController, ground: Ground) -> None:
    deploy(runtime, {"data": "tmpfs"})
    ground.refusals["create"] = "\x1b[31mred\x1b[0m " + "x" * 5000
    await drive(runtime, StorageRuntime(runtime, ground))
    _, why = runtime.status(StatusKind.FILESYSTEM, "0/0")
    assert why.isprintable()
    assert len(why) == 1000


async def test_a_lost_machine_is_no_failure_of_its_storage(
    runtime: TestController, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(runtime, {"data": "tmpfs"})

    def lose(machine: str, script: str) -> tuple[int, str, str]:
        raise ConnectionLost("gone")

    monkeypatch.setattr(ground, "run", lose)
    work = StorageRuntime(runtime, ground)
    settled = await drive(runtime, work)
    assert settled.problems == ("machine 0: gone",)
    assert runtime.status(StatusKind.FILESYSTEM, "0/0") == ("pending", "")


async def test_units_without_storage_cost_no_script(runtime: TestController, ground: Ground) -> None:
    runtime.deploy()
    await drive(runtime, StorageRuntime(runtime, ground))
    assert ground.log == []
    assert runtime.agent() == ("idle", "")
