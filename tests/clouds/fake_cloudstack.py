"""CloudStack's API as far as it is used, written from its public documentation."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import re
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, quote_plus

from tests.clouds.httpfake import Answer, Asked, HttpFake, Refusal, fields, route

KEY, HIDDEN = "API-KEY", "hunter2-secret"
ZONES = {"paris": True, "berlin": False}
OFFERINGS = {  # cores, MiB, GiB of the disk, customized
    "small": (1, 1024, 0, False), "medium": (2, 4096, 0, False), "large": (4, 16384, 100, False),
    "any": (0, 0, 0, True),
}  # fmt: skip
TEMPLATES = {
    "t-1": ("Ubuntu 24.04 LTS", "2025-01-01"), "t-2": ("Ubuntu 24.04 LTS", "2026-01-01"),
    "t-3": ("ubuntu-jammy", "2026-01-01"), "t-4": ("debian-12-genericcloud", "2026-01-01"),
}  # fmt: skip
DISK_OFFERINGS = {"tiny": 1, "big": 100, "custom": 0}  # GiB; 0: any
_PAGED = "page pagesize"


def signed(form: dict[str, str], secret: str) -> str:
    """Return the signature as the server makes it, which is written in Java."""
    pairs = []
    for name, value in sorted(form.items(), key=lambda item: item[0].lower()):
        encoded = quote_plus(value, safe="*").replace("~", "%7E").replace("+", "%20")
        pairs.append(f"{name}={encoded}".lower())
    digest = hmac.new(secret.encode(), "&".join(pairs).encode(), hashlib.sha1).digest()
    return base64.b64encode(digest).decode()


class FakeCloudStack(HttpFake):
    """One account.

    Attributes:
        looks: How often a machine is listed before it runs; below 0: it never does.
        doomed: Why machines fail after they were asked for; empty: they do not.
        may_expunge: Whether the account may delete machines for good.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count(10)
        self.vms: dict[str, dict[str, Any]] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self.disks: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, str] = {}
        self.looks = 1
        self.doomed = ""
        self.may_expunge = True
        super().__init__()

    def command(self, asked: Asked) -> str:
        """Return the command of a request."""
        return dict(parse_qsl(asked.body.decode(), keep_blank_values=True)).get("command", "")

    def work(self, asked: Asked) -> Answer:
        answer = super().work(asked)
        command = self.command(asked).lower()
        wrapped = {f"{command}response": answer.body}
        return Answer(status=answer.status, body=wrapped, headers=answer.headers)

    def fault(self, asked: Asked) -> Any:
        """Match faults against the command, which is in no path."""
        for fault in self.faults:
            if re.fullmatch(fault.path, self.command(asked)) and fault.times:
                fault.times -= 1
                return fault
        return None

    def count(self, method: str, path: str) -> int:
        return sum(item.method == method and self.command(item) == path for item in self.asked)

    @route("POST", "/client/api")
    def api(self, asked: Asked) -> Answer:
        if asked.headers.get("content-type") != "application/x-www-form-urlencoded" or asked.query:
            raise _refusal(430, "not a form", problem="content type, or something in the address")
        form = dict(parse_qsl(asked.body.decode(), keep_blank_values=True))
        given = form.pop("signature")
        if form.get("apiKey") != KEY or signed(form, HIDDEN) != given:
            raise _refusal(401, "unable to verify user credentials and/or request signature")
        if form.pop("response") != "json":
            raise _refusal(430, "not JSON", problem="response")
        del form["apiKey"]
        command = form.pop("command")
        function: Callable[..., Any] = getattr(self, f"do_{command}")
        return Answer(body=function(form))

    def listed(
        self, form: dict[str, str], key: str, items: list[Any], needed: str = "", more: str = ""
    ) -> Any:
        """Return a page of a list."""
        fields(form, f"{_PAGED} {needed}", more, key)
        size, page = int(form["pagesize"]), int(form["page"])
        if "zoneid" in form and form["zoneid"] not in {f"z-{name}" for name in ZONES}:
            raise _refusal(431, "Invalid parameter zoneid", problem=f"zone {form['zoneid']}")
        found = items[size * (page - 1) : size * page]
        return {"count": len(items), key: found} if found else {}

    def job(self, **more: str) -> Any:
        """Return a job that is done."""
        name = f"job-{next(self.numbers)}"
        self.jobs[name] = ""
        return {"jobid": name, **more}

    def do_queryAsyncJobResult(self, form: dict[str, str]) -> Any:  # noqa: N802 - the API's name
        fields(form, "jobid", "", "job")
        error = self.jobs[form["jobid"]]
        return {
            "jobstatus": 2 if error else 1,
            "jobresult": {"errortext": error} if error else {"success": True},
        }

    def do_listZones(self, form: dict[str, str]) -> Any:  # noqa: N802
        found = [{"id": f"z-{n}", "name": n, "securitygroupsenabled": on} for n, on in ZONES.items()]
        return self.listed(form, "zone", found, "available")

    def do_listServiceOfferings(self, form: dict[str, str]) -> Any:  # noqa: N802
        found = [
            {"id": f"o-{name}", "name": name, "iscustomized": free}
            | ({} if free else {"cpunumber": cores, "memory": mem, "rootdisksize": disk})
            for name, (cores, mem, disk, free) in OFFERINGS.items()
        ]
        return self.listed(form, "serviceoffering", found, "zoneid")

    def do_listTemplates(self, form: dict[str, str]) -> Any:  # noqa: N802
        found = [
            {"id": key, "name": name, "displaytext": name, "created": made, "isready": True}
            for key, (name, made) in TEMPLATES.items()
        ]
        return self.listed(form, "template", found, "templatefilter zoneid")

    def do_listNetworks(self, form: dict[str, str]) -> Any:  # noqa: N802
        return self.listed(form, "network", [{"id": "n-1", "name": "shared"}], "zoneid")

    # --- machines -----------------------------------------------------------------------------------------

    def do_deployVirtualMachine(self, form: dict[str, str]) -> Any:  # noqa: N802
        needed = "zoneid serviceofferingid templateid name displayname securitygroupids"
        fields(form, needed, "userdata rootdisksize networkids", "deploy")
        groups = form["securitygroupids"].split(",")
        if form["templateid"] not in TEMPLATES or not set(groups) <= set(self.groups):
            raise _refusal(431, "entity does not exist", problem=f"{form}")
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,61}[a-z0-9]", form["name"]):
            raise _refusal(431, "Invalid name", problem=form["name"])
        if any(item["name"] == form["name"] for item in self.vms.values()):
            raise _refusal(431, "The vm with hostName already exists in the network domain", problem="name")
        data = base64.b64decode(form.get("userdata", ""), validate=True)
        if len(form.get("userdata", "")) > 32768:
            raise _refusal(431, "User data has exceeded its limit", problem="user data")
        name = f"vm-{next(self.numbers)}"
        self.vms[name] = {
            "id": name, "name": form["name"], "displayname": form["displayname"], "state": "Starting",
            "serviceofferingname": form["serviceofferingid"][2:], "nic": [], "tags": [], "groups": groups,
            "templateid": form["templateid"], "looks": self.looks, "data": data.decode(), "form": form,
        }  # fmt: skip
        if self.doomed:
            self.vms[name]["state"] = "Error"
        job = self.job(id=name)
        self.jobs[job["jobid"]] = self.doomed
        return job

    def do_createTags(self, form: dict[str, str]) -> Any:  # noqa: N802
        thing = self.tagged(form)
        if len(form) % 2:
            raise _refusal(431, "bad tags", problem=f"{form}")
        for number in range(len(form) // 2):
            made = {key: form[f"tags[{number}].{key}"] for key in ("key", "value")}
            if made["key"] in {item["key"] for item in thing["tags"]}:
                raise _refusal(431, "tag already on the resource", problem=f"{made}")
            thing["tags"].append(made)
        return self.job()

    def tagged(self, form: dict[str, str]) -> dict[str, Any]:
        """Return what tags are of."""
        kind, name = form.pop("resourcetype"), form.pop("resourceids")
        found = {"UserVm": self.vms, "Volume": self.disks}[kind].get(name)
        if found is None:
            raise _refusal(431, f"Invalid parameter resourceids value={name}: entity does not exist")
        return found

    def do_deleteTags(self, form: dict[str, str]) -> Any:  # noqa: N802
        thing = self.tagged(form)
        fields(form, "tags[0].key", "", "deleteTags")
        thing["tags"] = [item for item in thing["tags"] if item["key"] != form["tags[0].key"]]
        return self.job()

    def do_listVirtualMachines(self, form: dict[str, str]) -> Any:  # noqa: N802
        for item in self.vms.values():
            if self.looks >= 0 and item["state"] == "Starting":
                item["looks"] -= 1
                if item["looks"] < 0:
                    item.update(state="Running", nic=[{"ipaddress": f"185.1.0.{next(self.numbers) % 250}"}])
        return self.listed(form, "virtualmachine", list(self.vms.values()), "zoneid")

    def do_destroyVirtualMachine(self, form: dict[str, str]) -> Any:  # noqa: N802
        fields(form, "id", "expunge", "destroy")
        vm = self.vms.get(form["id"])
        if vm is None:
            raise _refusal(
                431, "Invalid parameter id value due to incorrect format, or entity does not exist"
            )
        if form.get("expunge") and not self.may_expunge:
            raise _refusal(531, "Parameter expunge can be passed by Admin only.")
        if form.get("expunge"):
            del self.vms[form["id"]]
            for disk in self.disks.values():
                if disk.get("virtualmachineid") == form["id"]:
                    del disk["virtualmachineid"], disk["deviceid"]
        else:
            vm.update(state="Destroyed", groups=[])
        return self.job()

    # --- data disks ---------------------------------------------------------------------------------------

    def do_listDiskOfferings(self, form: dict[str, str]) -> Any:  # noqa: N802
        found = [
            {"id": f"do-{name}", "name": name, "iscustomized": not size, "disksize": size}
            for name, size in DISK_OFFERINGS.items()
        ]
        return self.listed(form, "diskoffering", found, "zoneid")

    def do_listVolumes(self, form: dict[str, str]) -> Any:  # noqa: N802
        if form.get("type") != "DATADISK":
            raise _refusal(431, "root disks", problem="type")
        if "id" in form and form["id"] not in self.disks:
            raise _refusal(
                431, "Invalid parameter id value due to incorrect format, or entity does not exist"
            )
        found = [item for item in self.disks.values() if form.get("id") in (None, item["id"])]
        return self.listed(form, "volume", found, "type", "zoneid id")

    def do_createVolume(self, form: dict[str, str]) -> Any:  # noqa: N802
        fields(form, "name zoneid diskofferingid", "size", "volume")
        fixed = DISK_OFFERINGS[form["diskofferingid"].removeprefix("do-")]
        if bool(fixed) == ("size" in form) or form["zoneid"] != "z-paris":
            raise _refusal(431, "a size goes with offerings of any size", problem=f"{form}")
        name = str(uuid.uuid4())
        self.disks[name] = {
            "id": name, "name": form["name"], "zoneid": form["zoneid"], "type": "DATADISK", "tags": [],
            "state": "Allocated", "size": (fixed or int(form["size"])) << 30, "hypervisor": "KVM",
            "diskofferingid": form["diskofferingid"],
        }  # fmt: skip
        return self.job(id=name)

    def do_attachVolume(self, form: dict[str, str]) -> Any:  # noqa: N802
        fields(form, "id virtualmachineid", "", "attach")
        disk, vm = self.disks[form["id"]], self.vms[form["virtualmachineid"]]
        if disk.get("virtualmachineid") or vm["state"] != "Running":
            raise _refusal(431, "Volume is attached already", problem=f"{disk}")
        disk.update(virtualmachineid=vm["id"], deviceid=1, state="Ready")
        return self.job()

    def do_detachVolume(self, form: dict[str, str]) -> Any:  # noqa: N802
        fields(form, "id", "", "detach")
        disk = self.disks[form["id"]]
        if not disk.pop("virtualmachineid", ""):
            raise _refusal(431, "The specified volume is not attached to a VM.", problem="not attached")
        del disk["deviceid"]
        return self.job()

    def do_deleteVolume(self, form: dict[str, str]) -> Any:  # noqa: N802
        fields(form, "id", "", "delete")
        if self.disks[form["id"]].get("virtualmachineid"):
            raise _refusal(431, "Please specify a volume that is not attached to any VM.", problem="attached")
        del self.disks[form["id"]]
        return {"success": True}

    # --- security groups ----------------------------------------------------------------------------------

    def do_listSecurityGroups(self, form: dict[str, str]) -> Any:  # noqa: N802
        wanted = form.get("securitygroupname")
        found = [item for item in self.groups.values() if wanted in (None, item["name"])]
        return self.listed(form, "securitygroup", found, "", "securitygroupname")

    def do_createSecurityGroup(self, form: dict[str, str]) -> Any:  # noqa: N802
        fields(form, "name description", "", "group")
        if any(item["name"] == form["name"] for item in self.groups.values()):
            raise _refusal(431, "Unable to create security group, a group with that name already exists")
        made = {"id": f"g-{next(self.numbers)}", "name": form["name"], "account": "me", "ingressrule": []}
        self.groups[made["id"]] = made
        return {"securitygroup": made}

    def do_deleteSecurityGroup(self, form: dict[str, str]) -> Any:  # noqa: N802
        fields(form, "id", "", "group")
        if any(form["id"] in vm["groups"] for vm in self.vms.values()):
            raise _refusal(536, "Cannot delete group when it's in use by virtual machines")
        if self.groups.pop(form["id"], None) is None:
            raise _refusal(431, f"Unable to find security group by id {form['id']}")
        return {"success": "true"}

    def do_authorizeSecurityGroupIngress(self, form: dict[str, str]) -> Any:  # noqa: N802
        icmp = form["protocol"] == "icmp"
        ports = ("icmptype", "icmpcode") if icmp else ("startport", "endport")
        source = "usersecuritygrouplist[0].account usersecuritygrouplist[0].group"
        if "cidrlist" in form:
            source = "cidrlist"
        fields(form, f"securitygroupid protocol {' '.join(ports)} {source}", "", "ingress")
        if form["protocol"] not in ("tcp", "udp", "icmp"):
            raise _refusal(431, "Invalid protocol", problem=form["protocol"])
        rule = {"ruleid": f"r-{next(self.numbers)}", "protocol": form["protocol"]}
        rule |= {key: int(form[key]) for key in ports}  # type: ignore[misc]
        if "cidrlist" in form:
            rule["cidr"] = form["cidrlist"]
        else:
            rule |= {"securitygroupname": form["usersecuritygrouplist[0].group"], "account": "me"}
        if form["securitygroupid"] not in self.groups:
            raise _refusal(431, f"Unable to find security group by id {form['securitygroupid']}")
        self.groups[form["securitygroupid"]]["ingressrule"].append(rule)
        return self.job()

    def do_revokeSecurityGroupIngress(self, form: dict[str, str]) -> Any:  # noqa: N802
        fields(form, "id", "", "revoke")
        for group in self.groups.values():
            group["ingressrule"] = [rule for rule in group["ingressrule"] if rule["ruleid"] != form["id"]]
        return self.job()


def _refusal(code: int, text: str, problem: str = "") -> Refusal:
    return Refusal(code, {"uuidList": [], "errorcode": code, "errortext": text}, problem=problem)
