"""Disks of vSphere machines, through the JSON form of vCenter's SOAP API. Blocking.

The REST API can add a disk, but not enlarge or delete it: for that, `ReconfigVM_Task` is needed, which
accepts the session of the REST API since 8.0 Update 3. On older versions, machines keep the disks that they
were made with. Mirrors, for the root disk: juju provider/vsphere/internal/vsphereclient/createvm.go (3.6)
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.values import regex
from pushjuju.plugins.api.storage_types import StorageItem, StorageMade, StorageSeen
from pushjuju.plugins.providers.libcloud.drivers.vsphere_api import Vcenter

RELEASE = "8.0.3.0"
_VIM = f"/sdk/vim25/{RELEASE}"
_VERSIONS = "/sdk/vimServiceVersions.xml"
_VIM25 = re.compile(r"<namespace>\s*<name>urn:vim25</name>(.*?)</namespace>", re.DOTALL)
_VERSION = regex(r"<version>\s*([^<\s]+)\s*</version>")
_TOLD = "disk.enableuuid"  # shows a machine the UUIDs of its disks; vCenter ignores the case of the name

Json = Mapping[str, Any]


class VmDisks:
    """The disks of machines in one vCenter.

    Args:
        long_s: Seconds for one change of a machine; a thick disk is filled with zeros in that time.
    """

    def __init__(self, vcenter: Vcenter, long_s: float) -> None:
        self._vcenter = vcenter
        self.long_s = long_s
        self.look_s = 0.5
        self._usable: bool | None = None

    def usable(self, driver: Any) -> bool:
        """Return True when vCenter accepts these requests (8.0 Update 3)."""
        if self._usable is None:
            known = _VIM25.search(self._versions(driver))
            self._usable = known is not None and RELEASE in _VERSION.findall(known[1])
        return self._usable

    def _versions(self, driver: Any) -> str:
        try:
            return str(self._vcenter.ask_plain(driver, "GET", _VERSIONS))
        except Exception as error:
            if getattr(error, "code", 0) != 404:
                raise
            return ""

    def require(self, driver: Any, what: str) -> None:
        """Refuse a feature when vCenter is too old for it."""
        if not self.usable(driver):
            raise NotValid(f"{what} needs vCenter 8.0 Update 3 or later")

    def prepare(self, driver: Any, vm: str, root_disk: int) -> None:
        """Enlarge the root disk of a stopped machine to at least so many MiB, and show its disk UUIDs.

        A second call changes nothing. On a vCenter that is too old, the machine stays as it is.
        """
        if not self.usable(driver):
            return
        config = self._config(driver, vm)
        first = min(_disks(config), key=lambda item: int(item["key"]), default=None)
        spec: dict[str, object] = {}
        if first is not None and _size(first) < root_disk << 20:
            larger = {**first, "capacityInBytes": root_disk << 20, "capacityInKB": root_disk << 10}
            spec["deviceChange"] = [_change("edit", larger)]
        if not _tells(config):
            told = {"_typeName": "string", "_value": "TRUE"}
            spec["extraConfig"] = [{"_typeName": "OptionValue", "key": "disk.enableUUID", "value": told}]
        if spec:
            self._reconfigure(driver, vm, spec)

    def make(self, driver: Any, vm: str, item: StorageItem) -> StorageMade:
        """Add a disk to a machine, or return the disk that an earlier call made for this item."""
        self.require(driver, "a disk of vSphere")
        config = self._config(driver, vm)
        if not _tells(config):
            raise NotValid(f"machine {vm} does not see the UUIDs of its disks: set disk.enableUUID on it")
        if _made_for(config, item) is None:
            body = {"spec": {"new_vmdk": {"name": _name(item), "capacity": item.size << 20}}}
            self._vcenter.ask(driver, "POST", f"{_path(vm)}/hardware/disk", body=body)
            config = self._config(driver, vm)
        found = _made_for(config, item)
        if found is None:
            raise ProviderError(f"vCenter does not show the disk that it made for machine {vm}")
        return StorageMade(provider_id=f"{vm}/{_uuid(found)}", size=_size(found) >> 20)

    def see(self, name: str) -> StorageSeen:
        """Return how a machine finds a disk: by the links that udev makes of the disk's UUID."""
        bare = name.partition("/")[2].replace("-", "")
        return StorageSeen(paths=(f"/dev/disk/by-id/wwn-0x{bare}", f"/dev/disk/by-id/scsi-3{bare}"))

    def drop(self, driver: Any, vm: str, item: StorageItem) -> None:
        """Remove and delete the disk that was made for an item; a missing disk is no error."""
        if not self.usable(driver):
            return
        found = _made_for(self._config(driver, vm), item)
        if found is not None:
            change = {**_change("remove", found), "fileOperation": "destroy"}
            self._reconfigure(driver, vm, {"deviceChange": [change]})

    # --- requests -----------------------------------------------------------------------------------------

    def _config(self, driver: Any, vm: str) -> Json:
        path = f"{_VIM}/VirtualMachine/{quote(vm, safe='')}/config"
        found: Json = self._vcenter.ask_plain(driver, "GET", path)
        return found

    def _reconfigure(self, driver: Any, vm: str, spec: Json) -> None:
        """Change a machine, and wait until the change is done."""
        path = f"{_VIM}/VirtualMachine/{quote(vm, safe='')}/ReconfigVM_Task"
        body = {"spec": {"_typeName": "VirtualMachineConfigSpec", **spec}}
        task = str(self._vcenter.ask_plain(driver, "POST", path, body=body)["value"])
        end = time.monotonic() + self.long_s
        while True:
            told = self._vcenter.ask_plain(driver, "GET", f"{_VIM}/Task/{quote(task, safe='')}/info")
            if told["state"] == "success":
                return
            if told["state"] == "error":
                text = str((told.get("error") or {}).get("localizedMessage") or "without a reason")
                raise ProviderError(f"vCenter could not change machine {vm}", detail=text)
            if time.monotonic() > end:
                raise ProviderError(f"vCenter did not change machine {vm} in {self.long_s:.0f} s")
            time.sleep(self.look_s)


def _path(vm: str) -> str:
    return f"/rest/vcenter/vm/{quote(vm, safe='')}"


def _disks(config: Json) -> Sequence[Json]:
    return [item for item in config["hardware"]["device"] if item.get("_typeName") == "VirtualDisk"]


def _size(disk: Json) -> int:
    return int(disk.get("capacityInBytes") or int(disk["capacityInKB"]) << 10)


def _uuid(disk: Json) -> str:
    return str(disk["backing"]["uuid"]).lower()


def _tells(config: Json) -> bool:
    for item in config.get("extraConfig") or ():
        if str(item["key"]).lower() == _TOLD:
            value = item["value"]
            return str(value.get("_value") if isinstance(value, Mapping) else value).lower() == "true"
    return False


def _name(item: StorageItem) -> str:
    return f"juju-{item.uuid}"


def _made_for(config: Json, item: StorageItem) -> Json | None:
    file = f"/{_name(item)}.vmdk"
    return next((disk for disk in _disks(config) if str(disk["backing"]["fileName"]).endswith(file)), None)


def _change(operation: str, disk: Json) -> dict[str, object]:
    return {"_typeName": "VirtualDeviceConfigSpec", "operation": operation, "device": disk}
