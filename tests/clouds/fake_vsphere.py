"""vCenter's REST API (6.7) as far as it is used, written from its public documentation.

Two datacenters; the first has a cluster that balances itself, one that does not, and a host in none.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import re
import uuid
from typing import Any

from tests.clouds.httpfake import Answer, Asked, HttpFake, Refusal, fields, route

USER, PASSWORD = "administrator@vsphere.local", "vsphere-hunter2"
DATACENTERS = {"dc0": "datacenter-2", "dc1": "datacenter-9"}
FOLDERS = {"datacenter-2": "group-v3", "datacenter-9": "group-v10"}
SUBFOLDERS = {("group-v3", "shop"): "group-v31", ("group-v31", "machines"): "group-v32"}
CLUSTERS = {"domain-c7": ("compute", True), "domain-c8": ("still", False)}
HOSTS = {
    "host-70": ("esx70", "domain-c7", "CONNECTED"), "host-80": ("esx80", "domain-c8", "DISCONNECTED"),
    "host-81": ("esx81", "domain-c8", "CONNECTED"), "host-90": ("esx90", "", "CONNECTED"),
    "host-91": ("esx91", "", "DISCONNECTED"),
}  # fmt: skip
POOLS = {"domain-c7": "resgroup-7", "domain-c8": "resgroup-8", "host-90": "resgroup-90"}
NETWORKS = {"VM Network": "network-12", "inner": "network-13"}
DATASTORES = {"fast": "datastore-15"}
ITEMS = {
    "item-noble": "noble-server-cloudimg-amd64", "item-debian": "debian@12", "item-bare": "bare",
}  # fmt: skip
_WORDS = ("instance-id", "hostname", "seedfrom", "public-keys", "user-data", "password")
_ERROR = "com.vmware.vapi.std.errors."


def error(status: int, kind: str, text: str) -> Answer:
    """Return an error as the API tells it."""
    said = {"messages": [{"id": "vapi.x", "default_message": text, "args": []}]}
    return Answer(status=status, body={"type": _ERROR + kind, "value": said})


def failed(text: str) -> Answer:
    """Return how a deployment tells that it failed."""
    told = {"messages": [{"id": "ovf.x", "default_message": text, "args": []}]}
    inner = {"errors": [{"category": "SERVER", "error": {"@class": f"{_ERROR}error", **told}}]}
    return Answer(body={"value": {"succeeded": False, "error": inner}})


def refused(status: int, kind: str, text: str, problem: str = "") -> Refusal:
    return Refusal(status, error(status, kind, text).body, problem)


def wrong(problem: str) -> Refusal:
    return refused(400, "invalid_argument", "not valid", problem=problem)


def disk(key: int, file: str, size: int) -> dict[str, Any]:
    """Return a disk as the larger API shows it."""
    name = str(uuid.uuid5(uuid.NAMESPACE_URL, file))
    return {
        "_typeName": "VirtualDisk", "key": key, "controllerKey": 1000, "unitNumber": key - 2000,
        "capacityInBytes": size, "capacityInKB": size // 1024,
        "backing": {
            "_typeName": "VirtualDiskFlatVer2BackingInfo", "fileName": file, "uuid": name.upper(),
            "diskMode": "persistent", "thinProvisioned": True,
        },
    }  # fmt: skip


class FakeVsphere(HttpFake):
    """One vCenter.

    Attributes:
        looks: How often a machine's tools are asked before they run; below 0: they never do.
        sessions: Those that hold.
        made: How many sessions there were.
        releases: Of the larger API, the newest first.
        task_error: What tasks fail by.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count(100)
        self.vms: dict[str, dict[str, Any]] = {}
        self.sessions: set[str] = set()
        self.made = 0
        self.looks = 1
        self.releases = ["9.0.0.0", "8.0.3.0", "8.0.2.0"]
        self.tasks: dict[str, int] = {}
        self.task_error = ""
        super().__init__()

    def guard(self, asked: Asked) -> None:
        if asked.path == "/rest/com/vmware/cis/session":
            return
        if "authorization" in asked.headers:
            raise wrong(f"{asked.path}: a password where a session is enough")
        if asked.headers.get("vmware-api-session-id") not in self.sessions:
            raise refused(401, "unauthenticated", "Authentication required.")

    @route("POST", "/rest/com/vmware/cis/session")
    def log_in(self, asked: Asked) -> Answer:
        kind, _, given = asked.headers.get("authorization", "").partition(" ")
        if kind != "Basic" or base64.b64decode(given).decode() != f"{USER}:{PASSWORD}":
            raise refused(401, "unauthenticated", "Authentication required.")
        self.made += 1
        token = f"session-{self.made}"
        self.sessions.add(token)
        return Answer(body={"value": token})

    # --- the inventory ------------------------------------------------------------------------------------

    def filters(self, asked: Asked, names: str) -> dict[str, str]:
        """Return the filters of a list, which must be among these."""
        fields(asked.query, "", " ".join(f"filter.{name}" for name in names.split()), asked.path)
        return {key.removeprefix("filter."): value for key, value in asked.query.items()}

    def here(self, filters: dict[str, str]) -> bool:
        """Tell whether the first datacenter is meant, which alone has anything."""
        given = filters.get("datacenters", "datacenter-2")
        if given not in FOLDERS:
            raise wrong(f"no datacenter {given}")
        return given == "datacenter-2"

    @route("GET", "/rest/vcenter/datacenter")
    def datacenters(self, asked: Asked) -> Answer:
        self.filters(asked, "")
        return Answer(
            body={"value": [{"name": name, "datacenter": one} for name, one in DATACENTERS.items()]}
        )

    @route("GET", r"/rest/vcenter/datacenter/(datacenter-\d+)")
    def datacenter(self, asked: Asked, name: str) -> Answer:
        return Answer(body={"value": {"name": "x", "vm_folder": FOLDERS[name], "host_folder": "group-h4"}})

    @route("GET", "/rest/vcenter/folder")
    def folders(self, asked: Asked) -> Answer:
        given = self.filters(asked, "names parent_folders type")
        if given["type"] != "VIRTUAL_MACHINE":
            raise wrong("type of folder")
        found = SUBFOLDERS.get((given["parent_folders"], given["names"]))
        return Answer(body={"value": [{"folder": found, "name": given["names"]}] if found else []})

    @route("GET", "/rest/vcenter/cluster")
    def clusters(self, asked: Asked) -> Answer:
        shown = CLUSTERS if self.here(self.filters(asked, "datacenters")) else {}
        found = [
            {"cluster": one, "name": name, "drs_enabled": drs, "ha_enabled": False}
            for one, (name, drs) in shown.items()
        ]
        return Answer(body={"value": found})

    @route("GET", "/rest/vcenter/host")
    def hosts(self, asked: Asked) -> Answer:
        given = self.filters(asked, "datacenters standalone clusters")
        wanted = "" if given.get("standalone") == "true" else given["clusters"]
        found = [
            {"host": one, "name": name, "connection_state": state}
            | ({"power_state": "POWERED_ON"} if state == "CONNECTED" else {})
            for one, (name, cluster, state) in HOSTS.items()
            if cluster == wanted and self.here(given)
        ]
        return Answer(body={"value": found})

    @route("GET", "/rest/vcenter/resource-pool")
    def pools(self, asked: Asked) -> Answer:
        given = self.filters(asked, "names clusters hosts")
        if given["names"] != "Resources":
            raise wrong("pool")
        found = POOLS[given.get("clusters") or given["hosts"]]
        return Answer(body={"value": [{"resource_pool": found, "name": "Resources"}]})

    @route("GET", "/rest/vcenter/(network|datastore)")
    def things(self, asked: Asked, kind: str) -> Answer:
        given = self.filters(asked, "names datacenters")
        known = (NETWORKS if kind == "network" else DATASTORES).get(given["names"])
        found = [{kind: known, "name": given["names"], "type": "X"}] if known and self.here(given) else []
        return Answer(body={"value": found})

    # --- the content library ------------------------------------------------------------------------------

    @route("POST", "/rest/com/vmware/content/library/item")
    def find(self, asked: Asked) -> Answer:
        spec = asked.json("spec")["spec"]
        fields(spec, "name type", "", asked.path)
        if asked.query != {"~action": "find"} or spec["type"] != "ovf":
            raise wrong(f"{asked.query} {spec}")
        return Answer(body={"value": [one for one, name in ITEMS.items() if name == spec["name"]]})

    @route("POST", "/rest/com/vmware/vcenter/ovf/library-item/id:(.+)")
    def ovf(self, asked: Asked, item: str) -> Answer:
        body = asked.json("target", "deployment_spec")
        fields(body["target"], "resource_pool_id folder_id", "host_id", asked.path)
        pool, host = body["target"]["resource_pool_id"], body["target"].get("host_id", "")
        if pool == "resgroup-8" and HOSTS.get(host, ("", "", ""))[1:] != ("domain-c8", "CONNECTED"):
            raise wrong(f"a cluster that does not balance itself needs a host that is up, not {host}")
        if item not in ITEMS or pool not in POOLS.values() or asked.query.get("~action") == "":
            raise refused(404, "not_found", "no such item", problem=f"{item} {pool}")
        if asked.query["~action"] == "filter":
            return Answer(body={"value": self.offer(item)})
        return self.deploy(item, body["target"], body["deployment_spec"])

    def offer(self, item: str) -> dict[str, Any]:
        """Return what an item asks for."""
        listed = [
            {
                "id": word, "class_id": "", "instance_id": "", "category": "", "label": word,
                "type": "string", "description": "", "ui_optional": True, "value": "",
            }
            for word in _WORDS
        ]  # fmt: skip
        inner = {"@class": "com.vmware.vcenter.ovf.property_params", "type": "PropertyParams"}
        plain = {"@class": "com.vmware.vcenter.ovf.size_params", "type": "SizeParams"}
        return {
            "name": ITEMS[item],
            "networks": ["nic0"],
            "storage_groups": [],
            "EULAs": [],
            "additional_params": [plain, {**inner, "properties": listed}] if item != "item-bare" else [plain],
        }

    def deploy(self, item: str, target: dict[str, Any], spec: dict[str, Any]) -> Answer:
        """Make a machine that is off."""
        fields(
            spec,
            "name annotation accept_all_EULA additional_parameters network_mappings",
            "default_datastore_id storage_provisioning",
            "deployment_spec",
        )
        (network,), (params,) = spec["network_mappings"], spec["additional_parameters"]
        if network["key"] != "nic0" or network["value"] not in NETWORKS.values() or len(spec["name"]) > 80:
            raise wrong(f"{spec}")
        if spec.get("storage_provisioning", "thin") not in ("thin", "thick", "eagerZeroedThick"):
            raise wrong(f"{spec}")
        fields(params, "@class type properties", "", "additional_parameters")
        values = {one["id"]: one["value"] for one in params["properties"]}
        if set(values) - set(_WORDS) or max(map(len, values.values())) > 65535:
            raise wrong(f"{sorted(values)}")
        try:
            values["user-data"] = base64.b64decode(values["user-data"], validate=True).decode()
        except binascii.Error:
            raise wrong("user data is not base64") from None
        folder = target["folder_id"]
        if (folder, spec["name"]) in {(one["folder"], one["name"]) for one in self.vms.values()}:
            return failed("The name already exists.")
        one = f"vm-{next(self.numbers)}"
        self.vms[one] = {
            "vm": one, "name": spec["name"], "power_state": "POWERED_OFF", "cpu_count": 2,
            "memory_size_MiB": 1024, "folder": folder, "spec": spec, "values": values, "looks": self.looks,
            "pool": target["resource_pool_id"], "host": target.get("host_id", ""), "item": item,
            "disks": [disk(2000, f"[fast] {one}/{one}.vmdk", 10 << 30)], "extra": {},
        }  # fmt: skip
        made = {"type": "VirtualMachine", "id": one}
        return Answer(body={"value": {"succeeded": True, "resource_id": made}})

    # --- machines -----------------------------------------------------------------------------------------

    @route("GET", "/rest/vcenter/vm")
    def listing(self, asked: Asked) -> Answer:
        given = self.filters(asked, "folders clusters hosts")
        place = given.get("clusters") or given.get("hosts")
        keys = ("vm", "name", "power_state", "cpu_count", "memory_size_MiB")
        found = [
            {key: one[key] for key in keys}
            for one in self.vms.values()
            if one["folder"] == given["folders"] and (not place or one["pool"] == POOLS.get(place))
        ]
        return Answer(body={"value": found})

    def vm(self, name: str) -> dict[str, Any]:
        """Return one."""
        if name not in self.vms:
            raise refused(404, "not_found", f"Virtual machine {name} was not found.")
        return self.vms[name]

    @route("PATCH", r"/rest/vcenter/vm/(vm-\d+)/hardware/(cpu|memory)")
    def resize(self, asked: Asked, name: str, kind: str) -> Answer:
        found, spec = self.vm(name), asked.json("spec")["spec"]
        fields(spec, "count cores_per_socket" if kind == "cpu" else "size_MiB", "", asked.path)
        if found["power_state"] != "POWERED_OFF":
            raise refused(400, "not_allowed_in_current_state", "It is on.", problem="resized while on")
        found["cpu_count" if kind == "cpu" else "memory_size_MiB"] = spec[
            "count" if kind == "cpu" else "size_MiB"
        ]
        return Answer(body="")

    @route("POST", r"/rest/vcenter/vm/(vm-\d+)/power/(start|stop)")
    def power(self, asked: Asked, name: str, action: str) -> Answer:
        found, wanted = self.vm(name), "POWERED_ON" if action == "start" else "POWERED_OFF"
        if found["power_state"] == wanted:
            raise refused(400, "already_in_desired_state", f"It is {wanted} already.")
        found["power_state"] = wanted
        return Answer(body="")

    @route("POST", r"/rest/vcenter/vm/(vm-\d+)/hardware/disk")
    def add_disk(self, asked: Asked, name: str) -> Answer:
        found, spec = self.vm(name), asked.json("spec")["spec"]["new_vmdk"]
        fields(spec, "name capacity", "", asked.path)
        made = disk(2000 + len(found["disks"]), f"[fast] {name}/{spec['name']}.vmdk", spec["capacity"])
        found["disks"].append(made)
        return Answer(body={"value": str(made["key"])})

    # --- the larger API -----------------------------------------------------------------------------------

    @route("GET", "/sdk/vimServiceVersions.xml")
    def versions(self, asked: Asked) -> Answer:
        text = (
            '<?xml version="1.0" encoding="UTF-8" ?><namespaces version="1.0"><namespace>'
            f"<name>urn:vim25</name><version>{self.releases[0]}</version><priorVersions>"
            + "".join(f"<version>{item}</version>" for item in self.releases[1:])
            + "</priorVersions></namespace><namespace><name>urn:vim</name><version>8.0.3.0</version>"
            "</namespace></namespaces>"
        )
        return Answer(body=text, headers={"content-type": "text/xml"})

    @route("GET", r"/sdk/vim25/8\.0\.3\.0/VirtualMachine/(vm-\d+)/config")
    def config(self, asked: Asked, name: str) -> Answer:
        found = self.larger(name)
        extra = [
            {"_typeName": "OptionValue", "key": key, "value": {"_typeName": "string", "_value": value}}
            for key, value in found["extra"].items()
        ]
        other = {"_typeName": "VirtualE1000", "key": 4000}
        hardware = {"_typeName": "VirtualHardware", "device": [other, *found["disks"]]}
        told = {"_typeName": "VirtualMachineConfigInfo", "hardware": hardware, "extraConfig": extra}
        return Answer(body=told)

    def larger(self, name: str) -> dict[str, Any]:
        """Return a machine, as the larger API has them."""
        if "8.0.3.0" not in self.releases:
            raise Refusal(404, {}, problem="no such release")
        if name not in self.vms:
            raise Refusal(500, {"_typeName": "ManagedObjectNotFound", "faultMessage": []})
        return self.vms[name]

    @route("POST", r"/sdk/vim25/8\.0\.3\.0/VirtualMachine/(vm-\d+)/ReconfigVM_Task")
    def reconfigure(self, asked: Asked, name: str) -> Answer:
        found, spec = self.larger(name), asked.json("spec")["spec"]
        fields(spec, "_typeName", "deviceChange extraConfig", "spec")
        for change in spec.get("deviceChange", ()):
            self.change(found, change)
        for option in spec.get("extraConfig", ()):
            if option["_typeName"] != "OptionValue" or found["power_state"] != "POWERED_OFF":
                raise wrong(f"{option}")
            found["extra"][option["key"]] = option["value"]["_value"]
        task = f"task-{next(self.numbers)}"
        self.tasks[task] = 1
        return Answer(body={"_typeName": "ManagedObjectReference", "type": "Task", "value": task})

    def change(self, found: dict[str, Any], change: dict[str, Any]) -> None:
        """Change a disk of a machine."""
        fields(change, "_typeName operation device", "fileOperation", "deviceChange")
        given = change["device"]
        (now,) = [item for item in found["disks"] if item["key"] == given["key"]]
        if change["operation"] == "remove" and change["fileOperation"] == "destroy":
            found["disks"].remove(now)
            return
        same = {**now, "capacityInBytes": given["capacityInBytes"], "capacityInKB": given["capacityInKB"]}
        grown = given["capacityInBytes"] > now["capacityInBytes"] == now["capacityInKB"] * 1024
        if change["operation"] != "edit" or given != same or not grown:
            raise wrong(f"{change}")
        now.update(given)

    @route("GET", r"/sdk/vim25/8\.0\.3\.0/Task/(task-\d+)/info")
    def task(self, asked: Asked, name: str) -> Answer:
        self.tasks[name] -= 1
        if self.task_error:
            told = {"_typeName": "LocalizedMethodFault", "fault": {}, "localizedMessage": self.task_error}
            return Answer(body={"_typeName": "TaskInfo", "state": "error", "error": told})
        return Answer(
            body={"_typeName": "TaskInfo", "state": "running" if self.tasks[name] >= 0 else "success"}
        )

    @route("GET", r"/rest/vcenter/vm/(vm-\d+)/power")
    def state(self, asked: Asked, name: str) -> Answer:
        return Answer(body={"value": {"state": self.vm(name)["power_state"], "clean_power_off": True}})

    @route("GET", r"/rest/vcenter/vm/(vm-\d+)/guest/identity")
    def guest(self, asked: Asked, name: str) -> Answer:
        found = self.vm(name)
        found["looks"] -= 1 if self.looks >= 0 else 0
        if self.looks < 0 or found["looks"] >= 0 or found["power_state"] != "POWERED_ON":
            raise refused(503, "service_unavailable", "VMware Tools is not running.")
        number = int(re.sub(r"\D", "", name)) % 250
        told = {
            "name": "UBUNTU_64",
            "family": "LINUX",
            "host_name": "x",
            "ip_address": f"10.0.0.{number}",
        }
        return Answer(body={"value": told})

    @route("DELETE", r"/rest/vcenter/vm/(vm-\d+)")
    def destroy(self, asked: Asked, name: str) -> Answer:
        if self.vm(name)["power_state"] != "POWERED_OFF":
            raise refused(400, "not_allowed_in_current_state", "It is on.", problem="deleted while on")
        del self.vms[name]
        return Answer(body="")
