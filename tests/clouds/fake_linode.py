"""Linode's API v4 as far as it is used, written from its public documentation."""

from __future__ import annotations

import base64
import itertools
import re
from typing import Any

from tests.clouds.httpfake import Answer, Asked, HttpFake, Refusal, route

TOKEN = "linode-hunter2"
TYPES = [
    ("g6-nanode-1", 1, 1024, 25600, 0.0075, "nanode"), ("g6-standard-1", 1, 2048, 51200, 0.018, "standard"),
    ("g6-standard-2", 2, 4096, 81920, 0.036, "standard"), ("g1-gpu-1", 8, 32768, 655360, 0.01, "gpu"),
]  # fmt: skip
IMAGES = {"linode/ubuntu24.04": ["cloud-init"], "linode/debian12": ["cloud-init"], "linode/arch": []}


def error(status: int, reason: str, field: str = "") -> Answer:
    """Return an error as the API tells it."""
    said = {"reason": reason, **({"field": field} if field else {})}
    return Answer(status=status, body={"errors": [said]})


def refused(status: int, reason: str, problem: str = "") -> Refusal:
    return Refusal(status, error(status, reason).body, problem)


class FakeLinode(HttpFake):
    """One account.

    Attributes:
        looks: How often an instance is listed before it has an address; below 0: it never gets one.
        page: Items on a page.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count(10)
        self.instances: dict[str, dict[str, Any]] = {}
        self.disks: dict[str, dict[str, Any]] = {}
        self.passwords: set[str] = set()
        self.looks = 1
        self.page = 3
        super().__init__()

    def guard(self, asked: Asked) -> None:
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            raise refused(401, "Invalid Token")

    def listed(self, asked: Asked, items: list[Any]) -> Answer:
        """Return a page."""
        page, pages = int(asked.query.get("page") or 1), max(1, -(-len(items) // self.page))
        shown = items[(page - 1) * self.page : page * self.page]
        return Answer(body={"data": shown, "page": page, "pages": pages, "results": len(items)})

    @route("GET", "/v4/profile")
    def profile(self, asked: Asked) -> Answer:
        return Answer(body={"username": "me", "email": "me@example.com"})

    @route("GET", "/v4/regions")
    def regions(self, asked: Asked) -> Answer:
        found = [
            {"id": "us-ord", "capabilities": ["Linodes", "Metadata", "Block Storage"], "status": "ok"},
            {"id": "us-old", "capabilities": ["Linodes"], "status": "ok"},
        ]
        return self.listed(asked, found)

    @route("GET", "/v4/linode/types")
    def types(self, asked: Asked) -> Answer:
        found = [
            {
                "id": name, "vcpus": cores, "memory": mem, "disk": disk, "class": kind,
                "price": {"hourly": cost, "monthly": cost * 667},
            }
            for name, cores, mem, disk, cost, kind in TYPES
        ]  # fmt: skip
        return self.listed(asked, found)

    @route("GET", "/v4/images/(.+)")
    def image(self, asked: Asked, name: str) -> Answer:
        if name not in IMAGES:
            raise refused(404, "Not found")
        return Answer(body={"id": name, "capabilities": IMAGES[name]})

    def check_tags(self, tags: list[str]) -> None:
        if not all(3 <= len(tag) <= 50 for tag in tags):
            raise refused(400, "Tag must be between 3 and 50 characters", problem=f"{tags}")

    # --- instances ----------------------------------------------------------------------------------------

    @route("POST", "/v4/linode/instances")
    def create(self, asked: Asked) -> Answer:
        body = asked.json("label region type image root_pass authorized_keys tags booted", "metadata")
        if not re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{1,62}[a-zA-Z0-9]", body["label"]):
            raise refused(400, "Label is not valid", problem=body["label"])
        if body["label"] in {item["label"] for item in self.instances.values()}:
            raise refused(400, "Label must be unique among your linodes", problem="a double")
        if body["type"] not in {item[0] for item in TYPES} or body["image"] not in IMAGES:
            raise refused(400, "not valid", problem=f"{body}")
        self.check_tags(body["tags"])
        assert not any(key.endswith("controller") for key in body["authorized_keys"])
        assert body["root_pass"] not in self.passwords
        self.passwords.add(body["root_pass"])
        number = next(self.numbers)
        made = {
            **{key: body[key] for key in ("label", "region", "type", "image", "tags")},
            "id": number, "status": "provisioning", "ipv4": [], "ipv6": "2600::1/128",
        }  # fmt: skip
        text = base64.b64decode(body["metadata"]["user_data"], validate=True).decode()
        self.instances[str(number)] = {**made, "looks": self.looks, "user_data": text}
        return Answer(body=made)

    @route("GET", "/v4/linode/instances")
    def listing(self, asked: Asked) -> Answer:
        for item in self.instances.values():
            item["looks"] -= 1 if self.looks >= 0 else 0
            if self.looks >= 0 and item["looks"] < 0 and not item["ipv4"]:
                item.update(ipv4=["192.168.128.4", f"172.105.0.{next(self.numbers) % 250}"], status="running")
        return self.listed(asked, list(self.instances.values()))

    @route("DELETE", r"/v4/linode/instances/(\d+)")
    def destroy(self, asked: Asked, name: str) -> Answer:
        if self.instances.pop(name, None) is None:
            raise refused(404, "Not found")
        for item in self.disks.values():
            if item["linode_id"] == int(name):
                item["linode_id"] = None
        return Answer(body={})

    # --- volumes ------------------------------------------------------------------------------------------

    @route("GET", "/v4/volumes")
    def volumes(self, asked: Asked) -> Answer:
        return self.listed(asked, list(self.disks.values()))

    @route("POST", "/v4/volumes")
    def make_volume(self, asked: Asked) -> Answer:
        body = asked.json("label size region tags")
        self.check_tags(body["tags"])
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", body["label"]) or not 10 <= body["size"] <= 16384:
            raise refused(400, "not valid", problem=f"{body}")
        number = next(self.numbers)
        made = {
            **body, "id": number, "status": "active", "linode_id": None,
            "filesystem_path": f"/dev/disk/by-id/scsi-0Linode_Volume_{body['label']}",
        }  # fmt: skip
        self.disks[str(number)] = made
        return Answer(body=made)

    def disk(self, name: str) -> dict[str, Any]:
        """Return one."""
        if name not in self.disks:
            raise refused(404, "Not found")
        return self.disks[name]

    @route("GET", r"/v4/volumes/(\d+)")
    def volume(self, asked: Asked, name: str) -> Answer:
        return Answer(body=self.disk(name))

    @route("PUT", r"/v4/volumes/(\d+)")
    def retag(self, asked: Asked, name: str) -> Answer:
        body = asked.json("tags")
        self.check_tags(body["tags"])
        self.disk(name).update(body)
        return Answer(body=self.disk(name))

    @route("DELETE", r"/v4/volumes/(\d+)")
    def drop(self, asked: Asked, name: str) -> Answer:
        if self.disk(name)["linode_id"]:
            raise refused(400, "Volume is attached", problem="attached")
        del self.disks[name]
        return Answer(body={})

    @route("POST", r"/v4/volumes/(\d+)/attach")
    def attach(self, asked: Asked, name: str) -> Answer:
        body = asked.json("linode_id persist_across_boots")
        if str(body["linode_id"]) not in self.instances:
            raise refused(404, "Not found", problem="no such instance")
        self.disk(name)["linode_id"] = body["linode_id"]
        return Answer(body=self.disk(name))

    @route("POST", r"/v4/volumes/(\d+)/detach")
    def detach(self, asked: Asked, name: str) -> Answer:
        self.disk(name)["linode_id"] = None
        return Answer(body={})
