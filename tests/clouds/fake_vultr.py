"""Vultr's API v2 as far as it is used, written from its public documentation."""

from __future__ import annotations

import base64
import itertools
import re
from typing import Any

from tests.clouds.httpfake import Answer, Asked, HttpFake, Refusal, fields, route

TOKEN = "VULTR-hunter2"
PLANS = [
    ("vc2-1c-1gb", 1, 1024, 25, 5.0, "vc2"), ("vc2-1c-2gb", 1, 2048, 55, 10.0, "vc2"),
    ("vc2-2c-4gb", 2, 4096, 80, 20.0, "vc2"), ("vcg-a16-2c-8g", 2, 8192, 50, 15.0, "vcg"),
    ("vhf-8c-32gb", 8, 32768, 512, 192.0, "vhf"),
]  # fmt: skip
SYSTEMS = {
    2284: ("Ubuntu 24.04 LTS x64", "ubuntu"), 1743: ("Ubuntu 22.04 LTS x64", "ubuntu"),
    2136: ("Debian 12 x64 (bookworm)", "debian"), 167: ("CentOS 9 Stream x64", "centos"),
    186: ("Application", "application"),
}  # fmt: skip
_TAG = re.compile(r"[A-Za-z0-9:_-]{1,255}")


class FakeVultr(HttpFake):
    """One account.

    Attributes:
        looks: How often an instance is listed before it has an address; below 0: it never gets one.
        page: Items on a page.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count(10)
        self.instances: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, dict[str, Any]] = {}
        self.blocks: dict[str, dict[str, Any]] = {}
        self.looks = 1
        self.page = 3
        super().__init__()

    def guard(self, asked: Asked) -> None:
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            raise Refusal(401, {"error": "Invalid API token.", "status": 401})

    def listed(self, asked: Asked, name: str, items: list[Any]) -> Answer:
        """Return a page."""
        start = int(asked.query.get("cursor") or 0)
        more = str(start + self.page) if len(items) > start + self.page else ""
        meta = {"total": len(items), "links": {"next": more, "prev": ""}}
        return Answer(body={name: items[start : start + self.page], "meta": meta})

    @route("GET", "/v2/account")
    def account(self, asked: Asked) -> Answer:
        return Answer(body={"account": {"name": "Me", "email": "me@example.com", "acls": []}})

    @route("GET", "/v2/regions")
    def regions(self, asked: Asked) -> Answer:
        return self.listed(asked, "regions", [{"id": name, "options": []} for name in ("ewr", "ams")])

    @route("GET", "/v2/plans")
    def plans(self, asked: Asked) -> Answer:
        found = [
            {
                "id": name, "vcpu_count": cores, "ram": mem, "disk": disk, "monthly_cost": cost, "type": kind,
                "locations": ["ams"] if kind == "vhf" else ["ewr", "ams"], "bandwidth": 1024,
            }
            for name, cores, mem, disk, cost, kind in PLANS
        ]  # fmt: skip
        return self.listed(asked, "plans", found)

    @route("GET", "/v2/os")
    def systems(self, asked: Asked) -> Answer:
        found = [
            {"id": number, "name": name, "arch": "x64", "family": family}
            for number, (name, family) in SYSTEMS.items()
        ]
        return self.listed(asked, "os", found)

    @route("GET", "/v2/ssh-keys")
    def ssh_keys(self, asked: Asked) -> Answer:
        return self.listed(asked, "ssh_keys", list(self.keys.values()))

    @route("POST", "/v2/ssh-keys")
    def add_key(self, asked: Asked) -> Answer:
        made = {"id": f"key-{next(self.numbers)}", **asked.json("name ssh_key")}
        self.keys[made["id"]] = made
        return Answer(status=201, body={"ssh_key": made})

    @route("DELETE", "/v2/ssh-keys/([^/]+)")
    def drop_key(self, asked: Asked, name: str) -> Answer:
        del self.keys[name]
        return Answer(status=204)

    # --- instances ----------------------------------------------------------------------------------------

    @route("POST", "/v2/instances")
    def create(self, asked: Asked) -> Answer:
        body = asked.json(
            "region plan os_id label hostname tags sshkey_id enable_ipv6 activation_email backups",
            "user_data",
        )
        if body["plan"] not in {plan[0] for plan in PLANS} or body["os_id"] not in SYSTEMS:
            raise Refusal(400, {"error": "Invalid plan or OS"}, problem=f"{body}")
        if not all(_TAG.fullmatch(tag) for tag in body["tags"]) or set(body["sshkey_id"]) - set(self.keys):
            raise Refusal(400, {"error": "Invalid"}, problem=f"{body['tags']} {body['sshkey_id']}")
        text = base64.b64decode(body.pop("user_data"), validate=True).decode()
        number = next(self.numbers)
        made = {
            **{key: body[key] for key in ("region", "plan", "os_id", "label", "hostname", "tags")},
            "id": f"4f0f12e5-{number}", "main_ip": "0.0.0.0", "internal_ip": "", "status": "pending",
            "power_status": "running", "server_status": "none",
        }  # fmt: skip
        self.instances[made["id"]] = {**made, "looks": self.looks, "user_data": text}
        return Answer(status=202, body={"instance": made})

    @route("GET", "/v2/instances")
    def instances_(self, asked: Asked) -> Answer:
        for item in self.instances.values():
            if self.looks >= 0:
                item["looks"] -= 1
                if item["looks"] < 0 and item["status"] == "pending":
                    item.update(main_ip=f"45.0.0.{next(self.numbers) % 250}", status="active")
        found = [item for item in self.instances.values() if asked.query.get("tag") in (None, *item["tags"])]
        return self.listed(asked, "instances", found)

    @route("DELETE", "/v2/instances/([^/]+)")
    def destroy(self, asked: Asked, name: str) -> Answer:
        if self.instances.pop(name, None) is None:
            raise Refusal(404, {"error": "Invalid instance.", "status": 404})
        for item in self.blocks.values():
            if item["attached_to_instance"] == name:
                item["attached_to_instance"] = ""
        return Answer(status=204)

    # --- volumes ------------------------------------------------------------------------------------------

    @route("GET", "/v2/blocks")
    def blocks_(self, asked: Asked) -> Answer:
        return self.listed(asked, "blocks", list(self.blocks.values()))

    @route("POST", "/v2/blocks")
    def make_block(self, asked: Asked) -> Answer:
        body = asked.json("region size_gb label block_type")
        if not 10 <= body["size_gb"] <= 10000:
            raise Refusal(400, {"error": "Invalid size_gb"}, problem=f"{body}")
        number = next(self.numbers)
        made = {
            **body, "id": f"block-{number}", "status": "active", "attached_to_instance": "",
            "mount_id": f"ewr-{number:017d}abcdef", "cost": 1,
        }  # fmt: skip
        self.blocks[made["id"]] = made
        return Answer(status=202, body={"block": made})

    def block(self, name: str) -> dict[str, Any]:
        """Return one."""
        if name not in self.blocks:
            raise Refusal(404, {"error": "Invalid block storage ID", "status": 404})
        return self.blocks[name]

    @route("GET", "/v2/blocks/([^/]+)")
    def one_block(self, asked: Asked, name: str) -> Answer:
        return Answer(body={"block": self.block(name)})

    @route("PATCH", "/v2/blocks/([^/]+)")
    def rename(self, asked: Asked, name: str) -> Answer:
        self.block(name).update(asked.json("label"))
        return Answer(status=204)

    @route("DELETE", "/v2/blocks/([^/]+)")
    def drop_block(self, asked: Asked, name: str) -> Answer:
        self.block(name)
        del self.blocks[name]
        return Answer(status=204)

    @route("POST", "/v2/blocks/([^/]+)/(attach|detach)")
    def act(self, asked: Asked, name: str, action: str) -> Answer:
        body = asked.json("live", "instance_id")
        fields(body, "live instance_id" if action == "attach" else "live", "", action)
        if action == "attach" and body["instance_id"] not in self.instances:
            raise Refusal(400, {"error": "Invalid instance."}, problem="no such instance")
        self.block(name)["attached_to_instance"] = body.get("instance_id", "")
        return Answer(status=204)
