"""Simulated storage of machines and of a cloud: scripts are single words, and their effects are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pushjuju.core.errors import CredentialInvalid, ProviderError
from pushjuju.core.storage import Directive
from pushjuju.plugins.api.storage_types import BootMount, StorageItem, StorageMade, StorageSeen
from pushjuju.plugins.storage import mounts
from pushjuju.runner.session import ExecResult
from pushjuju.services.views.status import storage_document
from tests.world.controller import TestController
from tests.world.runtime import Died, PlayedRuntime

STORES = {
    "data": {"type": "filesystem", "location": "/srv/data"},
    "logs": {"type": "filesystem", "multiple": {"range": "0-"}},
}


@dataclass
class PlayedStorage:
    """The storage of machines and cloud, which outlives controller processes.

    Attributes:
        made: Item -> how often its file system was made.
        mounted: (machine, mount point) -> the mounted item.
        log: Every script that ran.
        refusals: Word in a script -> the error of scripts with this word, until the test removes the entry.
        refused: True when the cloud refuses the credential.
    """

    made: dict[str, int] = field(default_factory=dict)
    mounted: dict[tuple[str, str], str] = field(default_factory=dict)
    attached: dict[str, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    refused: bool = False

    def run(self, machine: str, script: str) -> tuple[int, str, str]:
        """Run a script, a line `word item rest`; return exit code, stdout, stderr."""
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


class StorageScripts:
    """Scripts for storage, in the words that `PlayedStorage` runs."""

    def create(self, item: StorageItem) -> str:
        """Return the script that makes an item."""
        return f"create {item.uuid}"

    def attach(self, item: StorageItem) -> str:
        return f"attach {item.uuid}"

    def detach(self, item: StorageItem) -> str:
        return f"detach {item.uuid}"

    def destroy(self, item: StorageItem) -> str:
        return f"destroy {item.uuid}"

    def at_boot(self, item: StorageItem) -> BootMount | None:
        """Return None: a boot mounts nothing."""
        return None


class StorageCloud:
    """Storage of a cloud, which outlives machines."""

    def __init__(self, ground: PlayedStorage) -> None:
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
    """A runtime with storage of machines and cloud; the test may kill it at a step."""

    def __init__(self, world: TestController, ground: PlayedStorage, die_at: int = 0) -> None:
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
        return StorageCloud(self.ground) if type_name == "local" else StorageScripts()

    async def session(self, machine: Any) -> Any:
        made = await super().session(machine)

        async def execute(*, script: str, timeout: float) -> ExecResult:  # noqa: ASYNC109
            rc, out, err = self.ground.run(machine.id, script)
            return ExecResult(exit=rc, signal=None, stdout=out, stderr=err)

        made.exec = execute
        return made


def play_mounts(monkeypatch: pytest.MonkeyPatch) -> PlayedStorage:
    """Return empty storage; scripts for mount points are words, too."""

    def mount(item: StorageItem, what: str, boots: Any) -> str:
        return f"mount {item.uuid} {item.path}"

    def unmount(item: StorageItem, what: str) -> str:
        return f"unmount {item.uuid} {item.path}"

    monkeypatch.setattr(mounts, "mount", mount)
    monkeypatch.setattr(mounts, "unmount", unmount)
    monkeypatch.setattr(mounts, "make", lambda item, device: f"make {item.uuid} {device}")
    return PlayedStorage()


def deploy_with_storage(runtime: TestController, pools: Mapping[str, str], count: int = 1) -> None:
    """Deploy the small charm with storage; `pools` is storage name -> pool."""
    wanted = {name: Directive(pool=pool, count=1) for name, pool in pools.items()}
    runtime.deploy(count=count, packed=runtime.charms.make(storage=STORES), storage=wanted)


def storage_states(runtime: TestController) -> dict[str, str]:
    """Return the status of each storage of the model."""
    found = storage_document.document(runtime.ctx, runtime.model).get("storage", {})
    return {name: item["status"]["current"] for name, item in found.items()}
