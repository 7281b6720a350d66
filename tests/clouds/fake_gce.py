"""Google's token endpoint and Compute Engine's API v1 as far as they are used, from their references."""

from __future__ import annotations

import base64
import itertools
import json
import re
import time
import uuid
from typing import Any
from urllib.parse import parse_qsl

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.clouds.httpfake import Answer, Asked, HttpFake, Refusal, fields, route

EMAIL, PROJECT, REGION = "juju@shop-1234.iam.gserviceaccount.com", "shop-1234", "us-east1"
KEY: RSAPrivateKey = generate_private_key(65537, 2048)
OTHER_KEY: RSAPrivateKey = generate_private_key(65537, 2048)
_P = f"/compute/v1/projects/{PROJECT}"
_ROOT = "https://www.googleapis.com/compute/v1"
_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL, _VALUE = re.compile(r"[a-z][a-z0-9_-]{0,62}"), re.compile(r"[a-z0-9_-]{0,63}")
TYPES = [
    ("e2-small", 2, 2048, "X86_64"), ("e2-medium", 2, 4096, "X86_64"), ("n1-standard-1", 1, 3840, "X86_64"),
    ("t2a-standard-1", 1, 4096, "ARM64"), ("a2-highgpu-1g", 12, 87040, "X86_64"),
    ("n4-standard-64", 64, 262144, "X86_64"),
]  # fmt: skip
FAMILIES = {
    "ubuntu-os-cloud": [
        "ubuntu-2404-lts-amd64", "ubuntu-2404-lts-arm64", "ubuntu-2204-lts", "ubuntu-2204-lts-arm64",
    ],
    "debian-cloud": ["debian-12", "debian-12-arm64"],
}  # fmt: skip


def pem(key: RSAPrivateKey) -> str:
    """Return a key as Google's key files have it."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def error(status: int, reason: str, message: str) -> Answer:
    """Return an error in Google's form."""
    one = {"domain": "global", "reason": reason, "message": message}
    return Answer(status=status, body={"error": {"code": status, "message": message, "errors": [one]}})


def refusal(status: int, reason: str, message: str, problem: str = "") -> Refusal:
    """Return an error to raise."""
    return Refusal(status, error(status, reason, message).body, problem)


class FakeGce(HttpFake):
    """One project.

    Attributes:
        looks: How often an instance is listed before it has addresses; below 0: it never gets any.
        page: Items on a page, whatever is asked for.
        broken: Errors (code, message) that the next operations end with.
    """

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.numbers = itertools.count(1)
        self.instances: dict[str, dict[str, Any]] = {}
        self.disks: dict[str, dict[str, Any]] = {}
        self.firewalls: dict[str, dict[str, Any]] = {}
        self.operations: dict[str, dict[str, Any]] = {}
        self.looks, self.page = 1, 500
        self.broken: list[tuple[str, str]] = []
        super().__init__()

    def key_file(self, key: RSAPrivateKey = KEY) -> str:
        """Return the text of a key file for this server."""
        known = {
            "type": "service_account", "project_id": PROJECT, "private_key_id": "k", "private_key": pem(key),
            "client_email": EMAIL, "client_id": "1", "token_uri": f"{self.url}/token",
        }  # fmt: skip
        return json.dumps(known)

    def guard(self, asked: Asked) -> None:
        if asked.path != "/token" and asked.headers.get("authorization", "")[7:] not in self.tokens:
            raise refusal(401, "authError", "Request had invalid authentication credentials.")

    # --- the token endpoint -------------------------------------------------------------------------------

    @route("POST", "/token")
    def token(self, asked: Asked) -> Answer:
        given = dict(parse_qsl(asked.body.decode()))
        fields(given, "grant_type assertion", "", "token")
        if given["grant_type"] != "urn:ietf:params:oauth:grant-type:jwt-bearer":
            raise Refusal(400, {"error": "unsupported_grant_type"}, problem="grant type")
        head, claims, signature = given["assertion"].split(".")
        if "=" in given["assertion"] or json.loads(_raw(head)) != {"alg": "RS256", "typ": "JWT"}:
            raise Refusal(400, {"error": "invalid_grant"}, problem="head of the JWT")
        said = json.loads(_raw(claims))
        fields(said, "iss scope aud iat exp", "", "claims")
        known = (said["iss"], said["aud"], said["scope"])
        if known != (EMAIL, f"{self.url}/token", "https://www.googleapis.com/auth/compute"):
            raise Refusal(400, {"error": "invalid_grant"}, problem=f"claims {known}")
        if not said["iat"] <= time.time() + 5 < said["exp"] <= said["iat"] + 3600:
            raise Refusal(400, {"error": "invalid_grant"}, problem="times of the JWT")
        try:
            KEY.public_key().verify(_raw(signature), f"{head}.{claims}".encode(), PKCS1v15(), SHA256())
        except InvalidSignature:
            text = {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
            raise Refusal(400, text) from None
        self.tokens.append(f"ya29.{uuid.uuid4().hex}")
        body = {"access_token": self.tokens[-1], "expires_in": 3599, "token_type": "Bearer"}
        return Answer(body=body)

    # --- lists --------------------------------------------------------------------------------------------

    def listed(self, asked: Asked, items: list[Any]) -> Answer:
        start = int(asked.query.get("pageToken") or 0)
        end = start + min(self.page, int(asked.query["maxResults"]))
        more = {"nextPageToken": str(end)} if end < len(items) else {}
        return Answer(body={"kind": "list", "items": items[start:end], **more})

    def grouped(self, asked: Asked, name: str, known: dict[str, dict[str, Any]]) -> Answer:
        """Return an aggregated list, filtered by a label."""
        key, _, value = asked.query["filter"].removeprefix("labels.").partition("=")
        found = [item for item in known.values() if item["labels"].get(key) == value]
        parts: dict[str, Any] = {
            f"zones/{zone}": {"warning": {"code": "NO_RESULTS_ON_PAGE"}} for zone in "abc"
        }
        start = int(asked.query.get("pageToken") or 0)
        for item in found[start : start + self.page]:
            parts.setdefault(f"zones/{item['zone'].rpartition('/')[2]}", {}).setdefault(name, []).append(item)
        more = {"nextPageToken": str(start + self.page)} if start + self.page < len(found) else {}
        return Answer(body={"items": parts, **more})

    @route("GET", f"{_P}/regions")
    def regions(self, asked: Asked) -> Answer:
        return self.listed(
            asked, [{"name": REGION, "status": "UP"}, {"name": "europe-west1", "status": "UP"}]
        )

    @route("GET", f"{_P}/zones")
    def zones(self, asked: Asked) -> Answer:
        names = {"us-east1-b": "UP", "us-east1-c": "UP", "us-east1-d": "DOWN", "europe-west1-b": "UP"}
        listed = [
            {"name": name, "status": status, "region": f"{_ROOT}/projects/{PROJECT}/regions/{name[:-2]}"}
            for name, status in names.items()
        ]
        return self.listed(asked, listed)

    @route("GET", f"{_P}/zones/([^/]+)/machineTypes")
    def types(self, asked: Asked, zone: str) -> Answer:
        listed = [
            {"name": name, "guestCpus": cores, "memoryMb": mem, "architecture": arch, "zone": zone,
             **({"accelerators": [{"guestAcceleratorCount": 1}]} if name.startswith("a2") else {})}
            for name, cores, mem, arch in TYPES
            if not (zone == "us-east1-c" and name == "t2a-standard-1")
        ]  # fmt: skip
        return self.listed(asked, listed)

    @route("GET", f"{_P}/regions/{REGION}/subnetworks")
    def subnetworks(self, asked: Asked) -> Answer:
        network = f"{_ROOT}/projects/{PROJECT}/global/networks/lab"
        return self.listed(asked, [{"name": "lab-east", "network": network}])

    @route("GET", "/compute/v1/projects/([^/]+)/global/images/family/([^/]+)")
    def family(self, asked: Asked, project: str, family: str) -> Answer:
        if family not in FAMILIES.get(project, ()):
            raise refusal(404, "notFound", f"The resource 'projects/{project}/{family}' was not found")
        return Answer(body=self._image(project, f"{family}-v2026"))

    @route("GET", "/compute/v1/projects/([^/]+)/global/images/([^/]+)")
    def image(self, asked: Asked, project: str, name: str) -> Answer:
        if name != "golden":
            raise refusal(404, "notFound", f"The resource '{name}' was not found")
        return Answer(body=self._image(project, name))

    def _image(self, project: str, name: str) -> dict[str, Any]:
        link = f"{_ROOT}/projects/{project}/global/images/{name}"
        return {"name": name, "selfLink": link, "diskSizeGb": "10", "status": "READY"}

    # --- operations ---------------------------------------------------------------------------------------

    def operation(self, zone: str = "") -> Answer:
        name = f"operation-{next(self.numbers)}"
        self.operations[name] = {
            "name": name, "status": "RUNNING", "kind": "compute#operation",
            **({"zone": f"{_ROOT}/projects/{PROJECT}/zones/{zone}"} if zone else {}),
        }  # fmt: skip
        return Answer(body=dict(self.operations[name]))

    @route("GET", f"{_P}/(?:global|zones/[^/]+)/operations/([^/]+)")
    def look(self, asked: Asked, name: str) -> Answer:
        found = self.operations[name]
        if ("zones" in asked.path) != ("zone" in found):
            raise refusal(404, "notFound", "operation", problem="scope of an operation")
        shown = dict(found)
        found["status"] = "DONE"
        return Answer(body=shown)

    def check_labels(self, labels: dict[str, str]) -> None:
        for key, value in labels.items():
            if not _LABEL.fullmatch(key) or not _VALUE.fullmatch(value):
                raise refusal(400, "invalid", "bad label", problem=f"label {key}={value}")

    # --- instances ----------------------------------------------------------------------------------------

    @route("POST", f"{_P}/zones/([^/]+)/instances")
    def create(self, asked: Asked, zone: str) -> Answer:
        given = asked.json("name machineType disks networkInterfaces metadata labels tags")
        self.check_labels(given["labels"])
        tags = given["tags"]["items"]
        if not _NAME.fullmatch(given["name"]) or not all(_NAME.fullmatch(tag) for tag in tags):
            raise refusal(400, "invalid", "bad name", problem="name or tag")
        if given["name"] in self.instances:
            raise refusal(409, "alreadyExists", f"The resource '{given['name']}' already exists")
        (disk,) = given["disks"]
        fields(disk, "boot autoDelete initializeParams", "", "disk")
        fields(disk["initializeParams"], "sourceImage diskSizeGb diskType", "", "disk")
        (card,) = given["networkInterfaces"]
        fields(card, "network accessConfigs", "subnetwork", "network interface")
        kind = given["machineType"].rpartition("/")[2]
        if given["machineType"] != f"zones/{zone}/machineTypes/{kind}" or kind not in {
            item[0] for item in TYPES
        }:
            raise refusal(400, "invalid", "no such type", problem="machine type")
        answer = self.operation(zone)
        if self.broken:
            code, message = self.broken.pop(0)
            failed = self.operations[answer.body["name"]]
            failed["error"] = {"errors": [{"code": code, "message": message}]}
            failed["status"] = "DONE"
            return answer
        self.instances[given["name"]] = {
            "id": str(next(self.numbers)), "status": "PROVISIONING", **given, "asked": 0,
            "zone": f"{_ROOT}/projects/{PROJECT}/zones/{zone}",
            "machineType": f"{_ROOT}/projects/{PROJECT}/{given['machineType']}",
        }  # fmt: skip
        return answer

    @route("GET", f"{_P}/zones/([^/]+)/instances/([^/]+)")
    def instance(self, asked: Asked, zone: str, name: str) -> Answer:
        if name not in self.instances:
            raise refusal(404, "notFound", f"The resource '{name}' was not found")
        return Answer(body=self.instances[name])

    @route("GET", f"{_P}/aggregated/instances")
    def list_instances(self, asked: Asked) -> Answer:
        for number, item in enumerate(self.instances.values(), 1):
            item["asked"] += 1
            if 0 <= self.looks < item["asked"] and item["status"] != "STOPPING":
                item["status"] = "RUNNING"
                (card,) = item["networkInterfaces"]
                card["networkIP"] = f"10.142.0.{number}"
                for access in card["accessConfigs"]:
                    access["natIP"] = f"203.0.113.{number}"
        answer = self.grouped(asked, "instances", self.instances)
        self.instances = {key: item for key, item in self.instances.items() if item["status"] != "STOPPING"}
        return answer

    @route("DELETE", f"{_P}/zones/([^/]+)/instances/([^/]+)")
    def delete(self, asked: Asked, zone: str, name: str) -> Answer:
        if name not in self.instances or not self.instances[name]["zone"].endswith(zone):
            raise refusal(404, "notFound", f"The resource '{name}' was not found")
        self.instances[name]["status"] = "STOPPING"
        for disk in self.disks.values():
            disk["users"] = [user for user in disk["users"] if not user.endswith(f"/{name}")]
        return self.operation(zone)

    @route("POST", f"{_P}/zones/([^/]+)/instances/([^/]+)/attachDisk")
    def attach(self, asked: Asked, zone: str, name: str) -> Answer:
        given = asked.json("source deviceName mode type")
        disk = self.disks[given["source"].rpartition("/")[2]]
        instance = self.instances[name]
        if disk["users"] or disk["zone"] != instance["zone"]:
            raise refusal(400, "resourceInUseByAnotherResource", "in use", problem="attached twice")
        if given["source"] != f"projects/{PROJECT}/zones/{zone}/disks/{disk['name']}":
            raise refusal(400, "invalid", "bad source", problem="source")
        disk["users"] = [f"{_ROOT}/projects/{PROJECT}/zones/{zone}/instances/{name}"]
        return self.operation(zone)

    @route("POST", f"{_P}/zones/([^/]+)/instances/([^/]+)/detachDisk")
    def detach(self, asked: Asked, zone: str, name: str) -> Answer:
        disk = self.disks[asked.query["deviceName"]]
        if not disk["users"]:
            raise refusal(400, "invalid", f"No attached disk found with device name '{name}'")
        assert disk["users"][0].endswith(f"/instances/{name}")
        disk["users"] = []
        return self.operation(zone)

    # --- disks --------------------------------------------------------------------------------------------

    @route("POST", f"{_P}/zones/([^/]+)/disks")
    def make_disk(self, asked: Asked, zone: str) -> Answer:
        given = asked.json("name sizeGb type labels")
        self.check_labels(given["labels"])
        if given["name"] in self.disks:
            raise refusal(409, "alreadyExists", f"The resource '{given['name']}' already exists")
        self.disks[given["name"]] = {
            **given, "status": "READY", "users": [], "labelFingerprint": "42WmSpB8rSM=",
            "zone": f"{_ROOT}/projects/{PROJECT}/zones/{zone}",
        }  # fmt: skip
        return self.operation(zone)

    @route("GET", f"{_P}/zones/([^/]+)/disks/([^/]+)")
    def disk(self, asked: Asked, zone: str, name: str) -> Answer:
        if name not in self.disks:
            raise refusal(404, "notFound", f"The resource '{name}' was not found")
        return Answer(body=self.disks[name])

    @route("GET", f"{_P}/aggregated/disks")
    def list_disks(self, asked: Asked) -> Answer:
        return self.grouped(asked, "disks", self.disks)

    @route("DELETE", f"{_P}/zones/([^/]+)/disks/([^/]+)")
    def drop_disk(self, asked: Asked, zone: str, name: str) -> Answer:
        if self.disks[name]["users"]:
            raise refusal(400, "resourceInUseByAnotherResource", "in use", problem="deleted in use")
        del self.disks[name]
        return self.operation(zone)

    @route("POST", f"{_P}/zones/([^/]+)/disks/([^/]+)/setLabels")
    def label(self, asked: Asked, zone: str, name: str) -> Answer:
        given = asked.json("labels labelFingerprint")
        if given["labelFingerprint"] != self.disks[name]["labelFingerprint"]:
            raise refusal(412, "conditionNotMet", "fingerprint", problem="fingerprint")
        self.check_labels(given["labels"])
        self.disks[name]["labels"] = given["labels"]
        return self.operation(zone)

    # --- firewalls ----------------------------------------------------------------------------------------

    @route("GET", f"{_P}/global/firewalls")
    def list_firewalls(self, asked: Asked) -> Answer:
        field, word, pattern = asked.query["filter"].split(" ")
        assert (field, word) == ("name", "eq")
        found = [item for name, item in self.firewalls.items() if re.fullmatch(pattern, name)]
        return self.listed(asked, found)

    def check_firewall(self, given: dict[str, Any]) -> None:
        fields(given, "name network direction targetTags allowed", "sourceTags sourceRanges", "firewall")
        tags = [given["name"], *given["targetTags"], *given.get("sourceTags", ())]
        if not all(_NAME.fullmatch(tag) for tag in tags):
            raise refusal(400, "invalid", "bad name", problem=f"firewall {tags}")
        for rule in given["allowed"]:
            fields(rule, "IPProtocol", "ports", "allowed")

    @route("POST", f"{_P}/global/firewalls")
    def make_firewall(self, asked: Asked) -> Answer:
        given = json.loads(asked.body)
        self.check_firewall(given)
        if given["name"] in self.firewalls:
            raise refusal(409, "alreadyExists", f"The resource '{given['name']}' already exists")
        self.firewalls[given["name"]] = given
        return self.operation()

    @route("GET", f"{_P}/global/firewalls/([^/]+)")
    def firewall(self, asked: Asked, name: str) -> Answer:
        return Answer(body=self.known_firewall(name))

    def known_firewall(self, name: str) -> dict[str, Any]:
        """Return one."""
        if name not in self.firewalls:
            raise refusal(404, "notFound", f"The resource '{name}' was not found")
        return self.firewalls[name]

    @route("PATCH", f"{_P}/global/firewalls/([^/]+)")
    def change_firewall(self, asked: Asked, name: str) -> Answer:
        given = json.loads(asked.body)
        self.check_firewall(given)
        self.known_firewall(name).update(given)
        return self.operation()

    @route("DELETE", f"{_P}/global/firewalls/([^/]+)")
    def drop_firewall(self, asked: Asked, name: str) -> Answer:
        self.known_firewall(name)
        del self.firewalls[name]
        return self.operation()


def _raw(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
