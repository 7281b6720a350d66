"""The storage of EC2: volumes of one model. Mirrors: juju provider/ec2/ebs.go (3.6)"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import Conflict, NotFound, ProviderError
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageSeen
from pushjuju.plugins.providers.libcloud import ebs
from pushjuju.plugins.providers.libcloud.calls import Gone
from pushjuju.plugins.providers.libcloud.ebs import Volume
from pushjuju.plugins.providers.libcloud.ec2 import MODEL_TAG

if TYPE_CHECKING:
    from pushjuju.plugins.providers.libcloud.ec2provider import Ec2Provider

WAIT_S = 120.0  # until a volume that does not come to rest is given up
LOOK_S = 0.5
INSTANCE_LOOKS = 10  # after so many looks at a volume the instance that waits for it is looked at
_GIB = 1024  # MiB


class EbsStorage:
    """Volumes, through the provider whose machines have them."""

    def __init__(self, provider: Ec2Provider) -> None:
        self._provider = provider
        self._model = provider.model.uuid

    async def create(self, item: StorageItem) -> StorageMade:
        """Make a volume in the zone of the machine that will have it, or find the one that was made.

        Raises:
            NotFound: The machine is gone.
            NotValid: The pool asks for what does not go together.
        """
        found = await self._of(item)
        if found is None:
            ebs.wanted(item.size, item.attributes)
            zone = await self._provider.zone_of(item.instance_id)
            tags = {
                **item.tags,
                "Name": f"juju-{self._model[-6:]}-volume-{item.id.replace('/', '-')}",
                MODEL_TAG: self._model,
                ebs.STORAGE_TAG: item.uuid,
            }
            found = await self._run(lambda driver: ebs.create(driver, item, zone, tags))
        return _made(await self._settled(found.id, lambda now: now.state in ("available", "in-use")))

    async def attach(self, item: StorageItem) -> StorageSeen:
        """Attach a volume, and wait until the cloud says that it is.

        Raises:
            NotFound: The volume does not exist any more.
            Conflict: Another machine has it, or it is in another zone.
            ProviderError: The machine is gone, or it took too long.
        """
        volume = await self._get(item.provider_id)
        others = [one for one in volume.attachments if one.instance != item.instance_id]
        if others:
            raise Conflict(f"volume {volume.id} is attached to instance {others[0].instance}")
        if not volume.attachments:
            await self._same_zone(volume, item.instance_id)
            taken = await self._run(lambda driver: ebs.devices(driver, item.instance_id))
            device = ebs.free_device(taken)
            await self._run(lambda driver: ebs.attach(driver, volume.id, item.instance_id, device))
        volume = await self._settled(
            volume.id, lambda now: any(one.state == "attached" for one in now.attachments), item.instance_id
        )
        return _seen(volume)

    async def detach(self, item: StorageItem) -> None:
        """Take a volume from its machine, and wait until it is free."""
        volume = await self._find(item.provider_id)
        if volume is None:
            return
        mine = [one for one in volume.attachments if one.instance == item.instance_id]
        if not mine:
            return
        if any(one.state in ("attached", "attaching") for one in mine):
            try:
                await self._run(lambda driver: ebs.detach(driver, volume.id, item.instance_id))
            except Gone:
                return  # with its machine
            except ProviderError as error:
                if "IncorrectState" not in error.detail:
                    raise
        await self._settled(
            volume.id, lambda now: all(one.instance != item.instance_id for one in now.attachments)
        )

    async def destroy(self, item: StorageItem) -> None:
        """Delete a volume.

        Raises:
            Conflict: A machine has it.
        """
        volume = await self._find(item.provider_id) if item.provider_id else await self._of(item)
        if volume is None:
            return
        alive = set(await self._provider.alive())
        here = [one.instance for one in volume.attachments if one.instance in alive]
        if here:
            raise Conflict(f"volume {volume.id} is attached to instance {here[0]}")
        if volume.attachments:  # its machine goes; the volume is free in a moment
            volume = await self._settled(volume.id, lambda now: not now.attachments)
        gone = volume.id
        try:
            await self._run(lambda driver: ebs.delete(driver, gone))
        except Gone:
            return

    async def release(self, item: StorageItem) -> None:
        """Take the model's tags from a volume, so that any model can import the volume."""
        volume = await self._find(item.provider_id)
        if volume is None:
            return
        own = sorted({MODEL_TAG, ebs.STORAGE_TAG, *item.tags} & set(volume.tags))
        if own:
            await self._run(lambda driver: ebs.untag(driver, volume.id, own))

    async def find(self, provider_id: str, kind: Kind) -> StorageMade:  # noqa: ARG002 - a disk is a disk
        """Take in a volume.

        Raises:
            NotFound: The volume does not exist.
            Conflict: It is a model's, or a machine has it.
        """
        volume = await self._get(provider_id)
        owner = volume.tags.get(MODEL_TAG, "")
        if owner not in ("", self._model) or volume.tags.get(ebs.STORAGE_TAG):
            raise Conflict(f"volume {provider_id} belongs to model {owner}")
        if volume.attachments:
            raise Conflict(f"volume {provider_id} is attached to instance {volume.attachments[0].instance}")
        await self._run(lambda driver: ebs.claim(driver, volume.id, self._model))
        return _made(volume)

    # --- what they need -----------------------------------------------------------------------------------

    async def _run(self, function: Callable[[Any], Any]) -> Any:
        return await self._provider.run(function)

    async def _of(self, item: StorageItem) -> Volume | None:
        """Return the volume that was made for an item."""
        filters = {f"tag:{MODEL_TAG}": self._model, f"tag:{ebs.STORAGE_TAG}": item.uuid}
        found: list[Volume] = await self._run(lambda driver: ebs.volumes(driver, filters))
        whole = [one for one in found if one.state != "error"]
        for broken in (one for one in found if one.state == "error"):
            await self._run(lambda driver, name=broken.id: ebs.delete(driver, name))  # type: ignore[misc]
        return whole[0] if whole else None

    async def _find(self, name: str) -> Volume | None:
        try:
            return await self._get(name)
        except NotFound:
            return None

    async def _get(self, name: str) -> Volume:
        """Return a volume.

        Raises:
            NotFound: The volume does not exist.
        """
        try:
            found: list[Volume] = await self._run(lambda driver: ebs.volumes(driver, {}, [name]))
        except Gone:
            found = []
        if not found:
            raise NotFound(f"volume {name} not found")
        return found[0]

    async def _settled(self, name: str, done: Callable[[Volume], bool], instance: str = "") -> Volume:
        """Wait for a volume to be in a state.

        Args:
            name: The volume.
            done: Whether it is.
            instance: The instance that waits for the volume, if one does: when it is gone, nothing comes.

        Raises:
            NotFound: The volume was deleted.
            ProviderError: It is not in time, or broke, or its instance is gone.
        """
        end = asyncio.get_running_loop().time() + WAIT_S
        looks = itertools.count(1)
        while not done(volume := await self._get(name)):
            if volume.state == "error":
                raise ProviderError(f"volume {name} is broken", detail="the cloud says: error")
            if asyncio.get_running_loop().time() > end:
                raise ProviderError(f"volume {name} is {_state(volume)} after {WAIT_S:.0f} s")
            if (
                instance
                and next(looks) % INSTANCE_LOOKS == 0
                and instance not in await self._provider.alive()
            ):
                raise ProviderError(f"volume {name} cannot be attached: instance {instance} is gone")
            await asyncio.sleep(LOOK_S)
        return volume

    async def _same_zone(self, volume: Volume, instance: str) -> None:
        zone = await self._provider.zone_of(instance)
        if zone != volume.zone:
            raise Conflict(
                f"volume {volume.id} is in zone {volume.zone}, the machine is in {zone}",
                hint=f"pushjuju add-unit --to zone={volume.zone} --attach-storage ...",
            )


def _state(volume: Volume) -> str:
    return "/".join((volume.state, *(one.state for one in volume.attachments)))


def _made(volume: Volume) -> StorageMade:
    return StorageMade(provider_id=volume.id, size=volume.size * _GIB)


def _seen(volume: Volume) -> StorageSeen:
    """Return where a machine finds a volume: NVMe by its serial, Xen by the name that it was given."""
    serial = volume.id.replace("-", "")
    name = volume.attachments[0].device.removeprefix("/dev/").removeprefix("sd").removeprefix("xvd")
    seen = StorageSeen(serial=serial, paths=(f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{serial}",))
    return replace(seen, paths=(*seen.paths, f"/dev/xvd{name}", f"/dev/sd{name}"))
