"""Scaleway's APIs of instances, images and block storage as far as they are used, from public documents."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

from tests.clouds.httpfake import Answer, Asked, HttpFake, Refusal, fields, route

KEY = "5ca1e000-0000-4000-8000-000000hunter"
PROJECT = "105bdce1-64c0-48ab-899d-868455867ecf"
TYPES: dict[str, tuple[int, int, str, float, int]] = {  # cores, GiB, architecture, price, local GB
    "DEV1-S": (2, 2, "x86_64", 0.01, 20), "DEV1-M": (3, 4, "x86_64", 0.02, 40),
    "PLAY2-NANO": (2, 8, "x86_64", 0.027, 0), "COPARM1-2C-8G": (2, 8, "arm64", 0.019, 0),
}  # fmt: skip
LABELS = ("ubuntu_noble", "ubuntu_jammy", "debian_bookworm", "centos_stream_9")
_ZONE = r"/instance/v1/zones/([a-z]{2}-[a-z]{3}-[1-3])"
_SERVER = _ZONE + r"/servers/([^/]+)"
_BLOCK = r"/block/v1/zones/([a-z]{2}-[a-z]{3}-[1-3])/volumes"
_DISK = _BLOCK + r"/([0-9a-f-]{36})"


def image(label: str, kind: str, arch: str) -> str:
    """Return the id of an image."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{label} {kind} {arch}"))


IMAGES = {
    image(label, kind, arch): (label, kind, arch)
    for label in LABELS for kind in ("instance_local", "instance_sbs") for arch in ("x86_64", "arm64")
}  # fmt: skip


class FakeScaleway(HttpFake):
    """One project.

    Attributes:
        looks: How often a server is listed after its start before it runs; below 0: it never does.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count(10)
        self.servers: dict[str, dict[str, Any]] = {}
        self.data: dict[str, str] = {}
        self.disks: dict[str, dict[str, Any]] = {}
        self.looks = 1
        super().__init__()

    def guard(self, asked: Asked) -> None:
        if asked.headers.get("x-auth-token") != KEY:
            refused = {
                "message": "authentication is denied",
                "method": "api_key",
                "type": "denied_authentication",
            }
            raise Refusal(401, refused)

    def page(self, asked: Asked, size: str, items: list[Any]) -> list[Any]:
        """Return a page of a list."""
        most, number = int(asked.query[size]), int(asked.query.get("page", "1"))
        if not 1 <= most <= 100:
            raise Refusal(400, {"message": "bad page"}, problem=f"{asked.path}: {size}={most}")
        return items[most * (number - 1) : most * number]

    @route("GET", _ZONE + "/products/servers")
    def types(self, asked: Asked, zone: str) -> Answer:
        found = {
            name: {
                "ncpus": cores, "ram": mem * 2**30, "arch": arch, "hourly_price": price, "gpu": None,
                "baremetal": False, "monthly_price": price * 730, "alt_names": [],
                "volumes_constraint": {"min_size": 0, "max_size": disk * 10**9},
            }
            for name, (cores, mem, arch, price, disk) in TYPES.items()
        }  # fmt: skip
        return Answer(body={"servers": dict(self.page(asked, "per_page", list(found.items())))})

    @route("GET", "/marketplace/v2/local-images")
    def images(self, asked: Asked) -> Answer:
        label, kind = asked.query["image_label"], asked.query["type"]
        if kind not in ("instance_local", "instance_sbs") or not asked.query["zone"]:
            raise Refusal(400, {"message": "invalid"}, problem=f"{dict(asked.query)}")
        if label not in LABELS:
            raise Refusal(
                404, {"message": "resource is not found", "resource": "MarketplaceImage", "type": "not_found"}
            )
        found = [
            {
                "id": name, "arch": item[2], "zone": asked.query["zone"], "label": label, "type": kind,
                "compatible_commercial_types": [
                    key for key, size in TYPES.items()
                    if size[2] == item[2] and bool(size[4]) == (kind == "instance_local")
                ],
            }
            for name, item in IMAGES.items() if item[:2] == (label, kind)
        ]  # fmt: skip
        return Answer(body={"local_images": self.page(asked, "page_size", found), "total_count": len(found)})

    # --- servers ------------------------------------------------------------------------------------------

    @route("GET", _ZONE + "/servers")
    def listed(self, asked: Asked, zone: str) -> Answer:
        if asked.query["project"] != PROJECT:
            raise Refusal(403, {"message": "insufficient permissions", "type": "permissions_denied"})
        for item in list(self.servers.values()):
            self.go_on(item)
        tags = set(filter(None, asked.query.get("tags", "").split(",")))
        found = [item for item in self.servers.values() if item["zone"] == zone and tags <= set(item["tags"])]
        return Answer(body={"servers": self.page(asked, "per_page", found)})

    def go_on(self, item: dict[str, Any]) -> None:
        """Let a server be one look older."""
        if item["state"] == "stopping":
            self.forget(item["id"])
        if item["state"] == "starting" and self.looks >= 0:
            item["looks"] = item.get("looks", self.looks) - 1
            if item["looks"] < 0:
                ip = {
                    "id": "ip",
                    "address": f"51.15.0.{next(self.numbers) % 250}",
                    "family": "inet",
                    "dynamic": True,
                }
                item.update(state="running", public_ips=[ip], public_ip=ip, private_ip=None)

    def forget(self, name: str) -> None:
        """Delete a server; its disk on block storage stays."""
        del self.servers[name]
        self.data.pop(name, None)
        for disk in self.disks.values():
            if held_by(disk) == name:
                disk.update(references=[], status="available")

    @route("POST", _ZONE + "/servers")
    def create(self, asked: Asked, zone: str) -> Answer:
        body = asked.json("name project commercial_type image tags dynamic_ip_required", "volumes")
        size, image_ = TYPES.get(body["commercial_type"]), IMAGES.get(body["image"])
        if not size or not image_ or size[2] != image_[2] or body["project"] != PROJECT:
            raise Refusal(400, {"message": "Invalid", "type": "invalid_request_error"}, problem=f"{body}")
        disk = body.pop("volumes", {}).get("0")
        if bool(size[4]) == bool(disk) or (disk and set(disk) != {"name", "volume_type", "size"}):
            raise Refusal(400, {"message": "Invalid volumes"}, problem=f"{disk} of {body['commercial_type']}")
        if not all(isinstance(tag, str) and "," not in tag for tag in body["tags"]):
            raise Refusal(400, {"message": "Invalid tags"}, problem=f"{body['tags']}")
        name = str(uuid.uuid4())
        if disk:
            self.disks[name] = {
                **disk, "id": name, "status": "in_use", "references": [held(name)], "zone": zone, "tags": [],
                "project_id": PROJECT,
            }  # fmt: skip
        self.servers[name] = {
            **body, "id": name, "zone": zone, "state": "stopped", "arch": size[2], "public_ip": None,
            "public_ips": [], "private_ip": None, "volumes": {"0": {"id": name}}, "started": False,
        }  # fmt: skip
        return Answer(status=201, body={"server": self.servers[name]})

    def one(self, zone: str, name: str) -> dict[str, Any]:
        """Return a server."""
        found = self.servers.get(name)
        if found is None or found["zone"] != zone:
            gone = {"message": "resource is not found", "type": "not_found", "resource": "instance_server"}
            raise Refusal(404, gone)
        return found

    @route("GET", _SERVER)
    def server(self, asked: Asked, zone: str, name: str) -> Answer:
        return Answer(body={"server": self.one(zone, name)})

    @route("PATCH", _SERVER)
    def change(self, asked: Asked, zone: str, name: str) -> Answer:
        self.one(zone, name).update(asked.json("tags"))
        return Answer(body={"server": self.servers[name]})

    @route("PATCH", _SERVER + "/user_data/cloud-init")
    def tell(self, asked: Asked, zone: str, name: str) -> Answer:
        if asked.headers.get("content-type") != "text/plain" or self.one(zone, name)["state"] != "stopped":
            raise Refusal(400, {"message": "bad user data"}, problem="user data: content type or state")
        self.data[name] = asked.body.decode()
        return Answer(status=204)

    @route("POST", _SERVER + "/action")
    def act(self, asked: Asked, zone: str, name: str) -> Answer:
        item, action = self.one(zone, name), asked.json("action")["action"]
        before = {"poweron": ("stopped",), "terminate": ("running", "starting")}[action]
        if item["state"] not in before:
            raise Refusal(400, {"message": "wrong state"}, problem=f"{action} of a {item['state']} server")
        item.update(state="starting" if action == "poweron" else "stopping", started=True)
        return Answer(status=202, body={"task": {"id": "t", "status": "pending"}})

    @route("DELETE", _SERVER)
    def delete(self, asked: Asked, zone: str, name: str) -> Answer:
        if self.one(zone, name)["state"] != "stopped":
            raise Refusal(
                400, {"message": "instance should be powered off"}, problem="delete of a started one"
            )
        self.forget(name)
        return Answer(status=204)

    # --- block storage ------------------------------------------------------------------------------------

    @route("GET", _BLOCK)
    def volumes(self, asked: Asked, zone: str) -> Answer:
        fields(asked.query, "project_id page page_size", "name tags", asked.path)
        for item in list(self.servers.values()):
            self.go_on(item)
        name, tag = asked.query.get("name", ""), asked.query.get("tags")
        found = [
            item for item in self.disks.values()
            if item["zone"] == zone and asked.query["project_id"] == PROJECT
            and name in item["name"] and tag in (None, *item["tags"])
        ]  # fmt: skip
        return Answer(body={"volumes": self.page(asked, "page_size", found), "total_count": len(found)})

    @route("POST", _BLOCK)
    def make_volume(self, asked: Asked, zone: str) -> Answer:
        body = asked.json("name project_id perf_iops from_empty tags")
        fields(body["from_empty"], "size", "", "from_empty")
        size = body.pop("from_empty")["size"]
        if size % 10**9 or size < 10**9 or body["perf_iops"] not in (5000, 15000):
            raise Refusal(400, {"message": "invalid", "type": "invalid_arguments"}, problem=f"{size} {body}")
        if body["project_id"] != PROJECT or not all(isinstance(tag, str) for tag in body["tags"]):
            raise Refusal(403, {"message": "no", "type": "permissions_denied"}, problem=f"{body}")
        specs = {"perf_iops": body.pop("perf_iops"), "class": "sbs"}
        name = str(uuid.uuid4())
        self.disks[name] = {
            **body, "id": name, "zone": zone, "type": "sbs_5k", "size": size, "status": "creating",
            "references": [], "specs": specs, "parent_snapshot_id": None,
        }  # fmt: skip
        return Answer(body=self.disks[name])

    def disk(self, zone: str, name: str) -> dict[str, Any]:
        """Return one; what was under way is done at the next look."""
        found = self.disks.get(name)
        if found is None or found["zone"] != zone:
            raise Refusal(
                404, {"message": "resource is not found", "type": "not_found", "resource": "volume"}
            )
        return found

    @route("GET", _DISK)
    def one_disk(self, asked: Asked, zone: str, name: str) -> Answer:
        found = self.disk(zone, name)
        shown = {**found, "references": [dict(item) for item in found["references"]]}
        if found["status"] == "creating":
            found["status"] = "available"
        for item in list(found["references"]):
            if item["status"] == "attaching":
                item["status"] = "attached"
            if item["status"] == "detaching":
                found.update(references=[], status="available")
        return Answer(body=shown)

    @route("PATCH", _DISK)
    def change_disk(self, asked: Asked, zone: str, name: str) -> Answer:
        self.disk(zone, name).update(asked.json("tags"))
        return Answer(body=self.disks[name])

    @route("POST", _SERVER + "/(attach|detach)-volume")
    def plug(self, asked: Asked, zone: str, name: str, action: str) -> Answer:
        server = self.one(zone, name)
        body = asked.json("volume_id volume_type boot" if action == "attach" else "volume_id")
        disk = self.disk(zone, body["volume_id"])
        wanted = "available" if action == "attach" else "in_use"
        if disk["status"] != wanted or (body.get("volume_type", "sbs_volume"), body.get("boot")) not in (
            ("sbs_volume", False), ("sbs_volume", None),
        ):  # fmt: skip
            raise Refusal(400, {"message": "wrong state"}, problem=f"{action} of {disk}")
        if action == "attach":
            disk.update(status="in_use", references=[held(name, "attaching")])
        else:
            disk["references"][0]["status"] = "detaching"
        return Answer(body={"server": server})

    @route("DELETE", _DISK)
    def drop(self, asked: Asked, zone: str, name: str) -> Answer:
        if self.disk(zone, name)["status"] != "available":
            raise Refusal(412, {"message": "resource is still in use", "type": "precondition_failed"})
        del self.disks[name]
        return Answer(status=204)


def held(server: str, status: str = "attached") -> dict[str, str]:
    """Return the reference of a disk to its server."""
    return {
        "id": str(uuid.uuid4()), "product_resource_type": "instance_server", "product_resource_id": server,
        "type": "exclusive", "status": status,
    }  # fmt: skip


def held_by(disk: dict[str, Any]) -> str:
    """Return the server of a disk; empty for none."""
    return str(disk["references"][0]["product_resource_id"]) if disk["references"] else ""
