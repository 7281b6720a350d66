"""Disks for volumes of fakes: a loop device of this host for each, shown to a machine by its by-id link.

What a hypervisor does. Everything that is asked of the cloud went through libcloud to the server before.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from shlex import quote

from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageProvider, StorageSeen
from tests.clouds.standing import Standing


def _run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def release_disks(folder: Path) -> None:
    """Let go of the loop devices that a test left."""
    for line in _run("losetup", "-n", "-O", "NAME,BACK-FILE").splitlines():
        device, _, file = line.partition(" ")
        if str(folder) in file:
            _run("losetup", "-d", device)


class Disks:
    """Volumes of a cloud with a disk behind each."""

    def __init__(self, cloud: StorageProvider, here: Standing, folder: Path) -> None:
        self._cloud, self._here, self._folder = cloud, here, folder

    def _file(self, name: str) -> Path:
        return self._folder / f"disk-{name.strip('/').replace('/', '_')}"

    def _device(self, name: str) -> str:
        return _run("losetup", "-n", "-O", "NAME", "-j", str(self._file(name))).partition("\n")[0]

    async def create(self, item: StorageItem) -> StorageMade:
        """Make a volume and its disk."""
        made = await self._cloud.create(item)
        with self._file(made.provider_id).open("ab") as file:
            file.truncate(made.size << 20)
        return made

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Attach a volume, and let the machine's kernel see it."""
        seen = await self._cloud.attach(item)
        device = self._device(item.provider_id) or _run(
            "losetup", "-f", "--show", str(self._file(item.provider_id))
        )
        major, minor = _run("stat", "-c", "%Hr %Lr", device).split()
        link = quote(seen.paths[0])
        await self._here.in_machine(
            item.instance_id,
            f"[ -b {device} ] || mknod -m 660 {device} b {major} {minor}\n"
            f"mkdir -p $(dirname {link}) && ln -sfn {device} {link}\n",
        )
        return seen

    async def detach(self, item: StorageItem) -> None:
        """Take the disk away."""
        await self._cloud.detach(item)
        if device := self._device(item.provider_id):
            await self._here.in_machine(item.instance_id, f"find /dev/disk -lname {device} -delete\n")
            _run("losetup", "-d", device)

    async def destroy(self, item: StorageItem) -> None:
        """Delete both."""
        await self._cloud.destroy(item)
        if item.provider_id:
            self._file(item.provider_id).unlink(missing_ok=True)

    async def release(self, item: StorageItem) -> None:
        """Leave it."""
        await self._cloud.release(item)

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:
        """Take it in."""
        return await self._cloud.find(provider_id, kind)
