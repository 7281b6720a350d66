"""Keystone, Nova, Neutron, Glance and Cinder as far as they are used, from their public API references."""

from __future__ import annotations

import base64
import uuid
from typing import Any

from tests.clouds.httpfake import Answer, Asked, HttpFake, Refusal, fields, route

PASSWORD, APP_ID, APP_SECRET = "hunter2", "21dced0fd20347869b93710d2b98aae0", "rEaqvJka48mpv"
PROJECT = "6b0a7f0f0f4b4f6a9b1f0c8f1f0a0c11"
_TIME = "2026-01-01T00:00:00Z"
_C, _N, _G, _V = "/compute/v2.1", "/network/v2.0", "/image/v2", f"/volume/v3/{PROJECT}"


class FakeOpenStack(HttpFake):
    """One project in two regions.

    Attributes:
        looks: How often a server is asked for before it has an address; below 0: it never gets one.
        doomed: Faults of the servers that are made next.
        lifetime: When tokens expire.
    """

    def __init__(self, tls: str = "") -> None:
        self.tokens: list[str] = []
        self.servers: dict[str, dict[str, Any]] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self.rules: dict[str, dict[str, Any]] = {}
        self.ports: dict[str, dict[str, Any]] = {}
        self.floating: dict[str, dict[str, Any]] = {}
        self.volumes: dict[str, dict[str, Any]] = {}
        self.networks = [
            {"id": "net-1", "name": "private", "router:external": False},
            {"id": "net-9", "name": "public", "router:external": True},
        ]
        self.images = [
            self.image(
                "noble", "noble-server", os_distro="ubuntu", os_version="24.04", architecture="x86_64"
            ),
            self.image("noble-arm", "n", os_distro="ubuntu", os_version="24.04", architecture="aarch64"),
            self.image("jammy-old", "Ubuntu 22.04", created_at="2025-01-01T00:00:00Z"),
            self.image("jammy", "Ubuntu 22.04"),
            self.image("jammy-arm", "ubuntu-jammy-22.04-arm64", created_at="2026-06-01T00:00:00Z"),
            self.image("bookworm", "debian-12-generic-amd64"),
            self.image("broken", "Ubuntu 16.04", status="queued"),
        ]
        self.looks = 1
        self.doomed: list[str] = []
        self.lifetime = "2036-01-01T00:00:00.000000Z"
        self.logins: list[dict[str, Any]] = []
        super().__init__(tls)

    @staticmethod
    def image(name: str, title: str, **more: str) -> dict[str, Any]:
        return {
            "id": name, "name": title, "status": "active", "created_at": _TIME, "updated_at": _TIME,
            "visibility": "public", **more,
        }  # fmt: skip

    def guard(self, asked: Asked) -> None:
        login = asked.path == "/identity/v3/auth/tokens" and asked.method == "POST"
        if not login and asked.headers.get("x-auth-token") not in self.tokens:
            raise Refusal(
                401, {"error": {"code": 401, "message": "The request you have made requires auth."}}
            )

    # --- Keystone -----------------------------------------------------------------------------------------

    @route("POST", "/identity/v3/auth/tokens")
    def login(self, asked: Asked) -> Answer:
        auth = asked.json("auth")["auth"]
        identity = auth["identity"]
        (method,) = identity["methods"]
        if method == "password":
            fields(auth, "identity scope", "", "auth")
            user, scope = identity["password"]["user"], auth["scope"]["project"]
            fields(user, "name password domain", "", "user")
            named = scope.get("name") == "shop" and scope.get("domain") == {"name": "Default"}
            good = (user["name"], user["password"], user["domain"]) == ("me", PASSWORD, {"name": "People"})
            good = good and (named or scope == {"id": PROJECT})
        else:
            fields(auth, "identity", "", "auth")  # such a token has its scope
            good = identity["application_credential"] == {"id": APP_ID, "secret": APP_SECRET}
        self.logins.append(auth)
        if not good:
            text = "The request you have made requires authentication."
            raise Refusal(401, {"error": {"code": 401, "message": text, "title": "Unauthorized"}})
        self.tokens.append(f"gAAAA{uuid.uuid4().hex}")
        return self.token(self.tokens[-1], 201)

    @route("GET", "/identity/v3/auth/tokens")
    def validate(self, asked: Asked) -> Answer:
        if asked.headers["x-subject-token"] not in self.tokens:
            raise Refusal(404, {"error": {"code": 404, "message": "Failed to validate token"}})
        return self.token(asked.headers["x-subject-token"], 200)

    def token(self, token: str, status: int) -> Answer:
        paths = {"compute": _C, "network": "/network", "image": "/image", "volumev3": _V}
        catalog = [
            {
                "type": kind, "name": f"our {kind}", "id": kind,
                "endpoints": [
                    {"id": f"{kind}{region}{interface}", "interface": interface, "region": region,
                     "region_id": region, "url": f"{self.url}{path}"}
                    for region in ("north", "south") for interface in ("public", "internal")
                ],
            }
            for kind, path in paths.items()
        ]  # fmt: skip
        body = {
            "methods": ["password"], "expires_at": self.lifetime, "issued_at": _TIME, "catalog": catalog,
            "user": {"id": "u1", "name": "me", "domain": {"id": "p", "name": "People"}},
            "project": {"id": PROJECT, "name": "shop"}, "roles": [{"id": "r", "name": "member"}],
        }  # fmt: skip
        return Answer(status=status, body={"token": body}, headers={"x-subject-token": token})

    # --- Nova ---------------------------------------------------------------------------------------------

    @route("GET", f"{_C}/flavors/detail")
    def flavors(self, asked: Asked) -> Answer:
        found = [
            ("1", "m1.small", 1, 2048, 20),
            ("2", "m1.medium", 2, 4096, 40),
            ("9", "m1.huge", 8, 16384, 160),
        ]
        listed = [
            {"id": number, "name": name, "vcpus": cores, "ram": mem, "disk": disk, "swap": "",
             "OS-FLV-DISABLED:disabled": name == "m1.huge", "OS-FLV-EXT-DATA:ephemeral": 0}
            for number, name, cores, mem, disk in found
        ]  # fmt: skip
        return Answer(body={"flavors": listed})

    @route("GET", f"{_C}/os-availability-zone")
    def nova_zones(self, asked: Asked) -> Answer:
        zones = {"az1": True, "az2": True, "az3": False}
        listed = [{"zoneName": name, "zoneState": {"available": usable}} for name, usable in zones.items()]
        return Answer(body={"availabilityZoneInfo": listed})

    @route("POST", f"{_C}/servers")
    def create(self, asked: Asked) -> Answer:
        given = asked.json("server")["server"]
        must = "name flavorRef imageRef metadata networks security_groups"
        fields(given, must, "user_data availability_zone block_device_mapping_v2", "server")
        known = {item["name"] for item in self.groups.values()} | {"default"}
        names = [item["name"] for item in given["security_groups"]]
        networks = {item["id"] for item in self.networks}
        disks = given.get("block_device_mapping_v2") or ()
        image = given["imageRef"] or disks[0]["uuid"]
        if not set(names) <= known or not {item["uuid"] for item in given["networks"]} <= networks:
            raise Refusal(400, {"badRequest": {"code": 400, "message": "unknown"}}, problem="group, network")
        if image not in {item["id"] for item in self.images} or given["flavorRef"] not in ("1", "2", "9"):
            raise Refusal(400, {"badRequest": {"code": 400, "message": "bad image"}}, problem="image, flavor")
        if any(len(key) > 255 or len(value) > 255 for key, value in given["metadata"].items()):
            raise Refusal(400, {"badRequest": {"code": 400, "message": "too long"}}, problem="metadata")
        name = str(uuid.uuid4())
        fault = self.doomed.pop(0) if self.doomed else ""
        self.servers[name] = {
            "id": name, "name": given["name"], "status": "ERROR" if fault else "BUILD", "addresses": {},
            "image": {"id": image}, "flavor": {"id": given["flavorRef"], "links": []},
            "metadata": given["metadata"], "created": _TIME, "updated": _TIME, "hostId": "",
            "tenant_id": PROJECT, "user_id": "u1",
            "links": [{"rel": "self", "href": f"{self.url}{_C}/servers/{name}"}],
            "OS-EXT-AZ:availability_zone": given.get("availability_zone") or "az1",
            "OS-EXT-STS:task_state": None, "asked": 0, "groups": names, "disks": disks,
            "data": base64.b64decode(given.get("user_data") or "").decode(),
            **({"fault": {"code": 500, "message": fault, "created": _TIME}} if fault else {}),
        }  # fmt: skip
        port = str(uuid.uuid4())
        self.ports[port] = {"id": port, "device_id": name, "network_id": given["networks"][0]["uuid"]}
        return Answer(status=202, body={"server": {"id": name, "adminPass": "zPnp2GseTqG4", "links": []}})

    @route("GET", f"{_C}/servers/([^/]+)")
    def server(self, asked: Asked, name: str) -> Answer:
        if name == "detail":
            for item in self.servers.values():
                self.look(item)
            return Answer(body={"servers": list(self.servers.values())})
        return Answer(body={"server": self.known(name)})

    def known(self, name: str) -> dict[str, Any]:
        """Return a server."""
        if name not in self.servers:
            raise Refusal(404, {"itemNotFound": {"code": 404, "message": "Instance could not be found."}})
        return self.servers[name]

    def look(self, item: dict[str, Any]) -> None:
        item["asked"] += 1
        if not 0 <= self.looks < item["asked"] or item["status"] == "ERROR":
            return
        number = list(self.servers).index(item["id"]) + 1
        item["status"] = "ACTIVE"
        found = [{"addr": f"10.0.0.{number}", "version": 4, "OS-EXT-IPS:type": "fixed"}]
        if item["metadata"].get("owner") == "public":
            found = [{"addr": f"198.51.99.{number}", "version": 4, "OS-EXT-IPS:type": "fixed"}]
        for port in self.ports.values():
            for one in self.floating.values():
                if port["device_id"] == item["id"] and one["port_id"] == port["id"]:
                    address = {"addr": one["floating_ip_address"], "version": 4}
                    found.append({**address, "OS-EXT-IPS:type": "floating"})
        item["addresses"] = {"private": found}

    @route("DELETE", f"{_C}/servers/([^/]+)")
    def delete(self, asked: Asked, name: str) -> Answer:
        self.known(name)
        del self.servers[name]
        for port in [item for item in self.ports.values() if item["device_id"] == name]:
            del self.ports[port["id"]]
        for volume in self.volumes.values():
            volume["attachments"] = [item for item in volume["attachments"] if item["server_id"] != name]
            volume["later"] = volume["status"] = "in-use" if volume["attachments"] else "available"
        return Answer(status=204)

    @route("POST", f"{_C}/servers/([^/]+)/os-volume_attachments")
    def attach(self, asked: Asked, name: str) -> Answer:
        given = asked.json("volumeAttachment")["volumeAttachment"]
        fields(given, "volumeId", "device", "attachment")
        volume = self.volumes[given["volumeId"]]
        if volume["status"] != "available" or name not in self.servers:
            raise Refusal(400, {"badRequest": {"code": 400, "message": "in use"}}, problem="attached twice")
        volume["status"], volume["later"] = "attaching", "in-use"
        volume["attachments"] = [
            {"id": volume["id"], "attachment_id": "a", "server_id": name, "device": "/dev/vdb"}
        ]
        return Answer(body={"volumeAttachment": {"id": volume["id"], "serverId": name, "device": "/dev/vdb"}})

    @route("DELETE", f"{_C}/servers/([^/]+)/os-volume_attachments/([^/]+)")
    def detach(self, asked: Asked, name: str, volume: str) -> Answer:
        found = self.volumes[volume]
        assert found["attachments"][0]["server_id"] == name
        found["status"], found["later"], found["attachments"] = "detaching", "available", []
        return Answer(status=202)

    # --- Glance -------------------------------------------------------------------------------------------

    @route("GET", f"{_G}/images")
    def list_images(self, asked: Asked) -> Answer:
        marker = asked.query.get("marker")
        names = [item["id"] for item in self.images]
        start = names.index(marker) + 1 if marker else 0
        shown = self.images[start : start + 4]
        more = {"next": f"/v2/images?marker={shown[-1]['id']}"} if start + 4 < len(names) else {}
        return Answer(body={"images": shown, "schema": "/v2/schemas/images", **more})

    # --- Neutron ------------------------------------------------------------------------------------------

    @route("GET", f"{_N}/networks")
    def list_networks(self, asked: Asked) -> Answer:
        return Answer(body={"networks": self.networks})

    @route("GET", f"{_N}/ports")
    def list_ports(self, asked: Asked) -> Answer:
        return Answer(body={"ports": self.matching(self.ports, asked)})

    def matching(self, known: dict[str, dict[str, Any]], asked: Asked) -> list[dict[str, Any]]:
        wanted = asked.query.items()
        return [item for item in known.values() if all(item.get(key) == value for key, value in wanted)]

    @route("GET", f"{_N}/security-groups")
    def list_groups(self, asked: Asked) -> Answer:
        return Answer(body={"security_groups": self.matching(self.groups, asked)})

    @route("POST", f"{_N}/security-groups")
    def make_group(self, asked: Asked) -> Answer:
        given = asked.json("security_group")["security_group"]
        fields(given, "name description", "", "security group")
        if any(item["name"] == given["name"] for item in self.groups.values()):
            self.problems.append(f"security group {given['name']} twice")
        name = str(uuid.uuid4())
        self.groups[name] = {"id": name, "tenant_id": PROJECT, "security_group_rules": [], **given}
        for version in ("IPv4", "IPv6"):
            self.add_rule({"direction": "egress", "ethertype": version, "security_group_id": name})
        return Answer(status=201, body={"security_group": self.groups[name]})

    def add_rule(self, given: dict[str, Any]) -> dict[str, Any]:
        blank = dict.fromkeys(
            ("protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "remote_group_id")
        )
        rule = {**blank, **given}
        if any({**item, "id": ""} == {**rule, "id": ""} for item in self.rules.values()):
            body = {
                "type": "SecurityGroupRuleExists",
                "message": "Security group rule already exists.",
                "detail": "",
            }
            raise Refusal(409, {"NeutronError": body})
        name = str(uuid.uuid4())
        self.rules[name] = {**rule, "id": name}
        return self.rules[name]

    @route("DELETE", f"{_N}/security-groups/([^/]+)")
    def drop_group(self, asked: Asked, name: str) -> Answer:
        if name not in self.groups:
            raise Refusal(404, {"NeutronError": {"type": "NotFound", "message": "no group", "detail": ""}})
        if any(self.groups[name]["name"] in item["groups"] for item in self.servers.values()):
            body = {"type": "SecurityGroupInUse", "message": f"Security Group {name} in use.", "detail": ""}
            raise Refusal(409, {"NeutronError": body})
        del self.groups[name]
        self.rules = {key: item for key, item in self.rules.items() if item["security_group_id"] != name}
        return Answer(status=204)

    @route("GET", f"{_N}/security-group-rules")
    def list_rules(self, asked: Asked) -> Answer:
        return Answer(body={"security_group_rules": self.matching(self.rules, asked)})

    @route("POST", f"{_N}/security-group-rules")
    def make_rule(self, asked: Asked) -> Answer:
        given = asked.json("security_group_rule")["security_group_rule"]
        must = "direction ethertype security_group_id"
        fields(given, must, "protocol port_range_min port_range_max remote_ip_prefix remote_group_id", "rule")
        wide = ":" in given.get("remote_ip_prefix", "")
        if given.get("remote_ip_prefix") and wide != (given["ethertype"] == "IPv6"):
            raise Refusal(
                400, {"NeutronError": {"message": "Conflicting value ethertype"}}, problem="ethertype"
            )
        if given["security_group_id"] not in self.groups:
            raise Refusal(404, {"NeutronError": {"message": "no group"}})
        return Answer(status=201, body={"security_group_rule": self.add_rule(given)})

    @route("DELETE", f"{_N}/security-group-rules/([^/]+)")
    def drop_rule(self, asked: Asked, name: str) -> Answer:
        del self.rules[name]
        return Answer(status=204)

    @route("GET", f"{_N}/floatingips")
    def list_floating(self, asked: Asked) -> Answer:
        return Answer(body={"floatingips": self.matching(self.floating, asked)})

    @route("POST", f"{_N}/floatingips")
    def make_floating(self, asked: Asked) -> Answer:
        given = asked.json("floatingip")["floatingip"]
        fields(given, "floating_network_id port_id description", "", "floating ip")
        if given["floating_network_id"] != "net-9" or given["port_id"] not in self.ports:
            raise Refusal(404, {"NeutronError": {"message": "no port"}}, problem="floating ip")
        if any(item["port_id"] == given["port_id"] for item in self.floating.values()):
            raise Refusal(409, {"NeutronError": {"message": "has one"}}, problem="floating ip twice")
        name = str(uuid.uuid4())
        address = f"203.0.113.{len(self.floating) + 1}"
        self.floating[name] = {"id": name, "floating_ip_address": address, **given}
        return Answer(status=201, body={"floatingip": self.floating[name]})

    @route("DELETE", f"{_N}/floatingips/([^/]+)")
    def drop_floating(self, asked: Asked, name: str) -> Answer:
        del self.floating[name]
        return Answer(status=204)

    # --- Cinder -------------------------------------------------------------------------------------------

    @route("GET", f"{_V}/os-availability-zone")
    def cinder_zones(self, asked: Asked) -> Answer:
        listed = [{"zoneName": name, "zoneState": {"available": True}} for name in ("az1", "az2")]
        return Answer(body={"availabilityZoneInfo": listed})

    @route("POST", f"{_V}/volumes")
    def make_volume(self, asked: Asked) -> Answer:
        given = asked.json("volume")["volume"]
        fields(given, "name size metadata", "volume_type availability_zone", "volume")
        name = str(uuid.uuid4())
        self.volumes[name] = {
            "id": name, "status": "creating", "later": "available", "attachments": [], "created_at": _TIME,
            "volume_type": "__DEFAULT__", "availability_zone": "nova", **given,
        }  # fmt: skip
        return Answer(status=202, body={"volume": dict(self.volumes[name])})

    @route("GET", f"{_V}/volumes/([^/]+)")
    def volume(self, asked: Asked, name: str) -> Answer:
        if name == "detail":
            return Answer(body={"volumes": list(self.volumes.values())})
        if name not in self.volumes:
            raise Refusal(
                404, {"itemNotFound": {"code": 404, "message": f"Volume {name} could not be found."}}
            )
        found = dict(self.volumes[name])
        self.volumes[name]["status"] = self.volumes[name].get("later", found["status"])
        return Answer(body={"volume": found})

    @route("DELETE", f"{_V}/volumes/([^/]+)")
    def drop_volume(self, asked: Asked, name: str) -> Answer:
        if self.volumes[name]["status"] not in ("available", "error"):
            raise Refusal(400, {"badRequest": {"code": 400, "message": "in use"}}, problem="deleted in use")
        del self.volumes[name]
        return Answer(status=202)

    @route("POST", f"{_V}/volumes/([^/]+)/metadata")
    def mark(self, asked: Asked, name: str) -> Answer:
        self.volumes[name]["metadata"].update(asked.json("metadata")["metadata"])
        return Answer(body={"metadata": self.volumes[name]["metadata"]})

    @route("DELETE", f"{_V}/volumes/([^/]+)/metadata/([^/]+)")
    def unmark(self, asked: Asked, name: str, key: str) -> Answer:
        del self.volumes[name]["metadata"][key]
        return Answer(status=200)
