"""Managed disks of Azure. Blocking. Mirrors: juju provider/azure/storage.go (3.6)"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.drivers.adapter import MODEL_TAG, HasVolumes, Seen, Site, Volume
from pushjuju.plugins.providers.libcloud.drivers.azure_api import Arm

STORAGE_TAG = "pushjuju-storage"
_LUNS = 64


class AzureDisks(HasVolumes):
    """Disks in the model's resource group, found by their tags; the id of a disk is its whole path."""

    site: Site

    @abstractmethod
    def arm(self, driver: Any) -> Arm:
        """Return the requests for the model's resource group."""

    def common(self) -> dict[str, object]:
        """Return the location and tags of the model's group and its shared resources."""
        tags = {MODEL_TAG: self.site.model.uuid, "juju-controller-uuid": self.site.model.controller_uuid}
        return {"location": self.site.cloud.region, "tags": tags}

    def is_nobodys(self, data: Any) -> bool:
        """Return True for a released disk, which has tags of its storage but no tag of a model."""
        tags = data.get("tags") or {}
        return STORAGE_TAG in tags and not tags.get(MODEL_TAG)

    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the disks of the model, without the system disks of machines."""
        arm = self.arm(driver)
        found = [_volume(item) for item in arm.each(arm.compute("disks"))]
        return [item for item in found if item.uuid and item.model == self.site.model.uuid]

    def volume(self, driver: Any, name: str) -> Volume | None:
        """Return a disk by its path, or by its name in the model's group."""
        arm = self.arm(driver)
        found = arm.find(name if name.startswith("/") else arm.compute("disks", name))
        return _volume(found) if found is not None else None

    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:
        """Request a disk of whole GiB, in the zone of the machine that will use the disk."""
        tags = {**item.tags, MODEL_TAG: self.site.model.uuid, STORAGE_TAG: item.uuid}
        body: dict[str, object] = {
            "location": self.site.cloud.region,
            "tags": tags,
            "sku": {"name": str(item.attributes.get("account-type") or "Standard_LRS")},
            "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": -(-item.size // 1024)},
        }
        if holder is not None and holder.zone:
            body["zones"] = [holder.zone]
        arm = self.arm(driver)
        if arm.find(arm.group) is None:  # for a model without machines, the group does not exist yet
            arm.ask("PUT", arm.group, self.common())
        return _volume(arm.ask("PUT", arm.compute("disks", f"volume-{item.uuid}"), body))

    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Add a disk to the machine's disks, at the first free LUN."""
        disks = self._disks(driver, instance)
        taken = {int(item["lun"]) for item in disks}
        lun = next((number for number in range(_LUNS) if number not in taken), None)
        if lun is None:
            raise ProviderError(f"machine {instance} has {_LUNS} disks already")
        added = {"lun": lun, "createOption": "Attach", "managedDisk": {"id": volume.id}}
        self._put(driver, instance, [*disks, added])

    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Remove a disk from the machine's disks."""
        disks = self._disks(driver, instance)
        self._put(driver, instance, [item for item in disks if not _is(item, volume)])

    def _disks(self, driver: Any, instance: str) -> list[Any]:
        arm = self.arm(driver)
        found = arm.ask("GET", arm.compute("virtualMachines", instance))
        return list(found["properties"]["storageProfile"].get("dataDisks") or ())

    def _put(self, driver: Any, instance: str, disks: Sequence[Any]) -> None:
        arm = self.arm(driver)
        body = {"properties": {"storageProfile": {"dataDisks": list(disks)}}}
        arm.ask("PATCH", arm.compute("virtualMachines", instance), body)

    def delete_volume(self, driver: Any, volume: Volume) -> None:
        self.arm(driver).ask("DELETE", volume.id)

    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        """Change the model in the disk's tags."""
        tags = {key: value for key, value in (volume.raw.get("tags") or {}).items() if key != MODEL_TAG}
        tags.setdefault(STORAGE_TAG, "imported")
        owned = {MODEL_TAG: model} if model else {}
        self.arm(driver).ask("PATCH", volume.id, {"tags": {**tags, **owned}})

    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:
        """Return the links that Azure's udev rules make for the LUN on the machine."""
        for item in self._disks(driver, instance):
            if _is(item, volume):
                lun = int(item["lun"])
                return StorageSeen(
                    paths=(f"/dev/disk/azure/scsi1/lun{lun}", f"/dev/disk/azure/data/by-lun/{lun}")
                )
        raise NotValid(f"disk {volume.id} is not attached to {instance}")


def _is(item: Any, volume: Volume) -> bool:
    return str(item.get("managedDisk", {}).get("id") or "").lower() == volume.id.lower()


def _volume(data: Any) -> Volume:
    tags, inside = data.get("tags") or {}, data["properties"]
    state = str(inside.get("provisioningState") or "")
    holder = str(data.get("managedBy") or "").rpartition("/")[2]
    return Volume(
        id=str(data["id"]),
        size=int(inside.get("diskSizeGB") or 0) * 1024,
        uuid=str(tags.get(STORAGE_TAG) or ""),
        model=str(tags.get(MODEL_TAG) or ""),
        holders=(holder,) if holder else (),
        ready=state == "Succeeded",
        failed=state if state in ("Failed", "Canceled") else "",
        zone=next(iter(data.get("zones") or ()), ""),
        raw=data,
    )
