"""Azure's Resource Manager and its login as far as they are used, written from their public documentation."""

from __future__ import annotations

import base64
import itertools
import json
import re
import time
from typing import Any
from urllib.parse import parse_qsl

from tests.clouds.httpfake import Answer, Asked, HttpFake, Refusal, fields, route

TENANT, APPLICATION, PASSWORD = "ten-ant", "app-id", "hunter2"
SUBSCRIPTION, TOKEN, REGION = "sub-id", "eyJ0eXAi.hunter2", "eastus"
_SUB = f"/subscriptions/{SUBSCRIPTION}"
_RG = rf"{_SUB}/resourceGroups/([\w.-]+)"
_NET, _COMPUTE = f"{_RG}/providers/Microsoft.Network", f"{_RG}/providers/Microsoft.Compute"
_VERSIONS = {
    "disks": "2023-10-02", "virtualMachines": "2024-03-01", "Microsoft.Compute/skus": "2021-07-01",
    "Microsoft.Network": "2023-09-01", "locations/": "2024-03-01",
}  # fmt: skip
SIZES = [
    ("Standard_B1s", 1, 1, "x64", "V1,V2"), ("Standard_B2s", 2, 4, "x64", "V1,V2"),
    ("Standard_D2ps_v5", 2, 8, "Arm64", "V2"), ("Standard_D2s_v5", 2, 8, "x64", "V1,V2"),
    ("Standard_DS1", 1, 3.5, "x64", "V1"), ("Standard_D32s_v5", 32, 128, "x64", "V1,V2"),
]  # fmt: skip
IMAGES = {
    ("Canonical", "ubuntu-24_04-lts", "server"), ("Canonical", "ubuntu-24_04-lts", "server-gen1"),
    ("Canonical", "ubuntu-24_04-lts", "server-arm64"), ("Debian", "debian-12", "12-gen2"),
    ("Canonical", "0001-com-ubuntu-server-jammy", "22_04-lts-gen2"),
}  # fmt: skip


def error(status: int, code: str, message: str) -> Answer:
    """Return an error as Resource Manager tells it."""
    return Answer(status=status, body={"error": {"code": code, "message": message}})


class FakeAzure(HttpFake):
    """One subscription.

    Attributes:
        looks: How often machines are listed before they have a public address; below 0: never.
        doomed: Why machines fail after they were asked for, with its code first; empty: they do not.
        things: Path in lower case -> resource.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count(4)
        self.groups: dict[str, dict[str, Any]] = {}
        self.things: dict[str, dict[str, Any]] = {}
        self.looks = 1
        self.logins = 0
        self.doomed = ""
        super().__init__()

    def guard(self, asked: Asked) -> None:
        if asked.path.endswith("/oauth2/token"):
            return
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            body = {"error": {"code": "InvalidAuthenticationToken", "message": "The token is invalid."}}
            raise Refusal(401, body)
        wanted = next((v for part, v in _VERSIONS.items() if part in asked.path), None)
        if "api-version" not in asked.query or (wanted and asked.query["api-version"] != wanted):
            raise Refusal(400, {}, problem=f"{asked.path}: api-version {asked.query.get('api-version')}")

    @route("POST", f"/{TENANT}/oauth2/token")
    def login(self, asked: Asked) -> Answer:
        given = dict(parse_qsl(asked.body.decode()))
        fields(given, "grant_type client_id client_secret resource", "", "login")
        if (given["client_id"], given["client_secret"]) != (APPLICATION, PASSWORD):
            text = "AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 1"
            raise Refusal(401, {"error": "invalid_client", "error_description": text})
        self.logins += 1
        return Answer(body={"access_token": TOKEN, "expires_on": str(int(time.time()) + 3600)})

    @route("GET", _SUB)
    def subscription(self, asked: Asked) -> Answer:
        return Answer(body={"id": _SUB, "displayName": "Pay as you go", "state": "Enabled"})

    @route("GET", f"{_SUB}/locations")
    def locations(self, asked: Asked) -> Answer:
        return Answer(body={"value": [{"name": "eastus"}, {"name": "westeurope"}]})

    @route("GET", f"{_SUB}/providers/Microsoft.Compute/skus")
    def skus(self, asked: Asked) -> Answer:
        match = re.fullmatch(r"location eq '(\w+)'", asked.query.get("$filter", ""))
        if not match:
            raise Refusal(400, {}, problem="skus: $filter")
        found: list[dict[str, Any]] = [{"resourceType": "disks", "name": "Premium_LRS"}]
        for name, cores, mem, arch, generations in SIZES if match[1] == REGION else ():
            able = {
                "vCPUs": cores, "MemoryGB": mem, "CpuArchitectureType": arch, "HyperVGenerations": generations
            }  # fmt: skip
            banned = [{"type": "Location", "reasonCode": "NotAvailableForSubscription"}]
            found.append(
                {
                    "resourceType": "virtualMachines",
                    "name": name,
                    "capabilities": [{"name": key, "value": str(value)} for key, value in able.items()],
                    "locationInfo": [{"location": REGION, "zones": ["2", "1"]}],
                    "restrictions": banned if name == "Standard_D32s_v5" else [],
                }
            )
        return self.paged(asked, found)

    def paged(self, asked: Asked, items: list[Any]) -> Answer:
        start = int(asked.query.get("$skiptoken", 0))
        body: dict[str, Any] = {"value": items[start : start + 4]}
        if len(items) > start + 4:
            query = "&".join(f"{key}={value}" for key, value in asked.query.items() if key != "$skiptoken")
            query = query.replace(" ", "%20").replace("'", "%27")
            body["nextLink"] = f"https://management.azure.com{asked.path}?{query}&$skiptoken={start + 4}"
        return Answer(body=body)

    @route(
        "GET",
        rf"{_SUB}/providers/Microsoft.Compute/locations/{REGION}/publishers/(\w+)/artifacttypes/vmimage"
        r"/offers/([\w-]+)/skus/([\w-]+)/versions",
    )
    def versions(self, asked: Asked, publisher: str, offer: str, sku: str) -> Answer:
        if (publisher, offer, sku) not in IMAGES:
            body = {"error": {"code": "NotFound", "message": "Artifact: VMImage was not found."}}
            raise Refusal(404, body)
        return Answer(body=[{"name": "24.04.202601010"}])

    # --- groups -------------------------------------------------------------------------------------------

    @route("PUT", _RG)
    def make_group(self, asked: Asked, name: str) -> Answer:
        self.groups[name] = asked.json("location tags")
        return Answer(status=201, body={"name": name, "properties": {"provisioningState": "Succeeded"}})

    @route("GET", _RG)
    def group(self, asked: Asked, name: str) -> Answer:
        if name not in self.groups:
            raise Refusal(404, {"error": {"code": "ResourceGroupNotFound", "message": name}})
        return Answer(body={"name": name, **self.groups[name]})

    @route("DELETE", _RG)
    def drop_group(self, asked: Asked, name: str) -> Answer:
        self.groups.pop(name, None)
        head = asked.path.lower() + "/"
        self.things = {key: item for key, item in self.things.items() if not key.startswith(head)}
        return Answer(status=202)

    # --- resources ----------------------------------------------------------------------------------------

    @route("GET", rf"{_RG}/providers/[\w.]+/(\w+)")
    def listed(self, asked: Asked, group: str, kind: str) -> Answer:
        if group not in self.groups:
            raise Refusal(404, {"error": {"code": "ResourceGroupNotFound", "message": group}})
        head = asked.path.lower() + "/"
        found = [item for key, item in self.things.items() if key.startswith(head)]
        if kind == "publicIPAddresses":
            for item in found:
                item["looks"] -= 1 if self.looks >= 0 else 0
                if item["looks"] < 0 and self.looks >= 0:
                    item["properties"].setdefault("ipAddress", f"20.0.0.{next(self.numbers) % 250}")
        if kind == "networkSecurityGroups":
            found = [self.with_users(item) for item in found]
        return self.paged(asked, found)

    def with_users(self, group: dict[str, Any]) -> dict[str, Any]:
        users = [
            {"id": item["id"]}
            for item in self.things.values()
            if item["properties"].get("networkSecurityGroup", {}).get("id") == group["id"]
        ]
        return {**group, "properties": {**group["properties"], "networkInterfaces": users}}

    @route("GET", rf"{_RG}/providers/[\w.]+/\w+/([\w-]+)")
    def one(self, asked: Asked, group: str, name: str) -> Answer:
        return Answer(body=self.one_of(asked.path))

    @route("GET", f"{_COMPUTE}/virtualMachines/([\\w-]+)/instanceView")
    def shown(self, asked: Asked, group: str, name: str) -> Answer:
        self.one_of(asked.path.removesuffix("/instanceView"))
        found = [{"code": "PowerState/stopped", "level": "Info", "displayStatus": "VM stopped"}]
        if self.doomed:
            code, _, text = self.doomed.partition(": ")
            failed = f"ProvisioningState/failed/{code}"
            found.insert(0, {"code": failed, "level": "Error", "displayStatus": "failed", "message": text})
        return Answer(body={"vmAgent": {}, "disks": [], "statuses": found})

    def one_of(self, path: str) -> dict[str, Any]:
        """Return one by its path."""
        found = self.things.get(path.lower())
        if found is None:
            raise Refusal(404, {"error": {"code": "ResourceNotFound", "message": path}})
        return found

    @route("PUT", rf"{_RG}/providers/Microsoft\.[A-Z]\w+/(\w+)/([\w-]+)")
    def put(self, asked: Asked, group: str, kind: str, name: str) -> Answer:
        if group not in self.groups:
            raise Refusal(404, {"error": {"code": "ResourceGroupNotFound", "message": group}})
        body = asked.json("location tags properties", "sku zones")
        getattr(self, f"put_{kind}")(body, body["properties"])
        known = self.things.get(asked.path.lower())
        state = "Failed" if self.doomed and kind == "virtualMachines" else "Succeeded"
        inside = {**body["properties"], "provisioningState": state}
        made = {**body, "properties": inside, "name": name, "id": asked.path, "looks": self.looks}
        if known is not None and kind == "virtualMachines":
            made = known
        if kind == "publicIPAddresses" and known is not None:
            made = {**known, **body, "properties": {**known["properties"], **inside}}
        self.things[asked.path.lower()] = made
        return Answer(status=201 if known is None else 200, body=made)

    def refer(self, path: str) -> None:
        """Check that something is there."""
        if path.partition("/subnets/")[0].lower() not in self.things:
            raise Refusal(
                400, {"error": {"code": "InvalidResourceReference"}}, problem=f"{path} is not there"
            )

    def put_virtualNetworks(self, body: Any, inside: Any) -> None:  # noqa: N802 - the kind's name
        fields(inside, "addressSpace subnets", "", "vnet")

    def put_publicIPAddresses(self, body: Any, inside: Any) -> None:  # noqa: N802
        fields(inside, "publicIPAllocationMethod publicIPAddressVersion", "", "address")
        assert body["sku"] == {"name": "Standard"}

    def put_networkSecurityGroups(self, body: Any, inside: Any) -> None:  # noqa: N802
        rules = [item["properties"] for item in inside["securityRules"]]
        priorities = [rule["priority"] for rule in rules]
        if len(set(priorities)) != len(priorities) or not all(100 <= item <= 4096 for item in priorities):
            raise Refusal(400, {}, problem=f"priorities {priorities}")

    def put_networkInterfaces(self, body: Any, inside: Any) -> None:  # noqa: N802
        (config,) = inside["ipConfigurations"]
        self.refer(inside["networkSecurityGroup"]["id"])
        self.refer(config["properties"]["publicIPAddress"]["id"])
        self.refer(config["properties"]["subnet"]["id"])
        config["properties"]["privateIPAddress"] = f"192.168.0.{next(self.numbers) % 250}"

    def put_virtualMachines(self, body: Any, inside: Any) -> None:  # noqa: N802
        fields(inside, "hardwareProfile storageProfile osProfile networkProfile", "", "machine")
        login = inside["osProfile"]
        assert login["adminUsername"] == "ubuntu"
        assert login["linuxConfiguration"]["ssh"]["publicKeys"]
        base64.b64decode(login["customData"], validate=True)
        for item in inside["networkProfile"]["networkInterfaces"]:
            self.refer(item["id"])

    def put_disks(self, body: Any, inside: Any) -> None:
        fields(inside, "creationData diskSizeGB", "", "disk")
        inside["diskState"] = "Unattached"

    @route("PATCH", f"{_COMPUTE}/virtualMachines/([\\w-]+)")
    def attach(self, asked: Asked, group: str, name: str) -> Answer:
        machine = self.things[asked.path.lower()]
        disks = asked.json("properties")["properties"]["storageProfile"]["dataDisks"]
        for item in self.things.values():
            if item.get("managedBy") == machine["id"]:
                item.pop("managedBy")
        for disk in disks:
            fields(disk, "lun createOption managedDisk", "", "data disk")
            there = self.things[disk["managedDisk"]["id"].lower()]
            if there.get("managedBy"):
                raise Refusal(409, {"error": {"code": "ConflictingUserInput", "message": "attached"}})
            if there.get("zones") != machine.get("zones"):
                raise Refusal(400, {"error": {"code": "BadRequest", "message": "another zone"}})
            there["managedBy"] = machine["id"]
        machine["properties"]["storageProfile"]["dataDisks"] = disks
        return Answer(body=machine)

    @route("PATCH", f"{_COMPUTE}/disks/([\\w-]+)")
    def retag(self, asked: Asked, group: str, name: str) -> Answer:
        disk = self.things[asked.path.lower()]
        disk["tags"] = asked.json("tags")["tags"]
        return Answer(body=disk)

    @route("DELETE", rf"{_RG}/providers/[\w.]+/(\w+)/([\w-]+)")
    def drop(self, asked: Asked, group: str, kind: str, name: str) -> Answer:
        found = self.things.pop(asked.path.lower(), None)
        if found is None:
            return Answer(status=204)
        if kind == "virtualMachines":
            self.drop_machine(found)
        return Answer(status=202)

    def drop_machine(self, machine: dict[str, Any]) -> None:
        """Delete what goes with it."""
        for item in self.things.values():
            if item.get("managedBy") == machine["id"]:
                item.pop("managedBy")
        for link in machine["properties"]["networkProfile"]["networkInterfaces"]:
            if link["properties"]["deleteOption"] == "Delete":
                interface = self.things.pop(link["id"].lower())
                (config,) = interface["properties"]["ipConfigurations"]
                address = config["properties"]["publicIPAddress"]
                if address["properties"]["deleteOption"] == "Delete":
                    self.things.pop(address["id"].lower())

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the resources of a kind."""
        return [item for key, item in self.things.items() if f"/{kind.lower()}/" in key]

    def told(self) -> str:
        """Return everything, to look for secrets."""
        return json.dumps(self.things)
