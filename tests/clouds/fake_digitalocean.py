"""DigitalOcean's API v2 as far as it is used, written from its public documentation."""

from __future__ import annotations

import itertools
import re
from typing import Any

from tests.clouds.httpfake import Answer, Asked, HttpFake, Refusal, route

TOKEN = "dop_v1_hunter2"
_TAG = re.compile(r"[a-zA-Z0-9:_-]{1,255}")
REGIONS = {"nyc1": True, "fra1": True, "sfo1": False}
SIZES = [
    ("s-1vcpu-1gb", 1, 1024, 25, 0.00893), ("s-1vcpu-2gb", 1, 2048, 50, 0.01786),
    ("s-2vcpu-4gb", 2, 4096, 80, 0.03571), ("c-32", 32, 65536, 400, 1.0),
]  # fmt: skip
IMAGES = {"ubuntu-24-04-x64": 1, "ubuntu-22-04-x64": 2, "debian-12-x64": 3}
_TIME = "2026-01-01T00:00:00Z"


class FakeDigitalOcean(HttpFake):
    """One account.

    Attributes:
        looks: How often a droplet is asked for before it has an address; below 0: it never gets one.
        page: Items on a page, whatever is asked for.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count(3164444)
        self.droplets: dict[int, dict[str, Any]] = {}
        self.keys: dict[int, dict[str, Any]] = {}
        self.volumes: dict[str, dict[str, Any]] = {}
        self.tags: set[str] = set()
        self.looks = 1
        self.page = 200
        super().__init__()

    def guard(self, asked: Asked) -> None:
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            raise Refusal(401, {"id": "unauthorized", "message": "Unable to authenticate you"})

    def listed(self, asked: Asked, name: str, items: list[Any]) -> Answer:
        """Return a page."""
        page, size = int(asked.query.get("page", 1)), min(int(asked.query.get("per_page", 20)), self.page)
        last = max(1, -(-len(items) // size))
        links = {"pages": {"last": f"{self.url}{asked.path}?page={last}"}} if last > 1 else {}
        shown = items[(page - 1) * size : page * size]
        return Answer(body={name: shown, "links": links, "meta": {"total": len(items)}})

    # --- the account --------------------------------------------------------------------------------------

    @route("GET", "/v2/account")
    def account(self, asked: Asked) -> Answer:
        return Answer(body={"account": {"email": "me@example.com", "droplet_limit": 25, "status": "active"}})

    @route("GET", "/v2/regions")
    def regions(self, asked: Asked) -> Answer:
        listed = [
            {"slug": slug, "name": slug, "available": usable, "features": [], "sizes": []}
            for slug, usable in REGIONS.items()
        ]
        return self.listed(asked, "regions", listed)

    @route("GET", "/v2/sizes")
    def sizes(self, asked: Asked) -> Answer:
        return self.listed(asked, "sizes", [self.size(*item) for item in SIZES])

    def size(self, slug: str, cores: int, mem: int, disk: int, price: float) -> dict[str, Any]:
        return {
            "slug": slug, "memory": mem, "vcpus": cores, "disk": disk, "transfer": 1.0, "available": True,
            "price_hourly": price, "price_monthly": price * 672,
            "regions": ["fra1"] if slug == "c-32" else ["nyc1", "fra1"],
        }  # fmt: skip

    @route("GET", "/v2/images/([^/]+)")
    def image(self, asked: Asked, slug: str) -> Answer:
        number = IMAGES.get(slug) or (int(slug) if slug == "4711" else 0)
        if not number:
            raise Refusal(404, {"id": "not_found", "message": "The resource could not be found."})
        return Answer(body={"image": self._image(slug)})

    def _image(self, slug: Any) -> dict[str, Any]:
        return {
            "id": IMAGES.get(slug, 4711), "name": str(slug), "slug": slug, "distribution": "Ubuntu",
            "public": True, "regions": ["nyc1"], "min_disk_size": 20, "created_at": _TIME,
        }  # fmt: skip

    @route("GET", "/v2/account/keys")
    def list_keys(self, asked: Asked) -> Answer:
        return self.listed(asked, "ssh_keys", list(self.keys.values()))

    @route("POST", "/v2/account/keys")
    def add_key(self, asked: Asked) -> Answer:
        given = asked.json("name public_key")
        if any(key["public_key"] == given["public_key"] for key in self.keys.values()):
            raise Refusal(422, {"message": "SSH Key is already in use on your account"}, problem="key twice")
        number = next(self.numbers)
        self.keys[number] = {"id": number, "fingerprint": f"aa:{number}", **given}
        return Answer(status=201, body={"ssh_key": self.keys[number]})

    @route("DELETE", "/v2/account/keys/([0-9]+)")
    def drop_key(self, asked: Asked, number: str) -> Answer:
        del self.keys[int(number)]
        return Answer(status=204)

    # --- tags ---------------------------------------------------------------------------------------------

    def take_tags(self, tags: list[str]) -> list[str]:
        for tag in tags:
            if not _TAG.fullmatch(tag):
                raise Refusal(422, {"message": "invalid tag"}, problem=f"tag {tag}")
        self.tags |= set(tags)
        return list(tags)

    @route("POST", "/v2/tags")
    def add_tag(self, asked: Asked) -> Answer:
        (tag,) = self.take_tags([asked.json("name")["name"]])
        return Answer(status=201, body={"tag": {"name": tag}})

    @route("DELETE", "/v2/tags/([^/]+)")
    def drop_tag(self, asked: Asked, tag: str) -> Answer:
        if tag not in self.tags:
            raise Refusal(404, {"message": "not found"})
        self.tags.remove(tag)
        for item in [*self.droplets.values(), *self.volumes.values()]:
            item["tags"] = [one for one in item["tags"] if one != tag]
        return Answer(status=204)

    @route("POST", "/v2/tags/([^/]+)/resources")
    def tag(self, asked: Asked, tag: str) -> Answer:
        if tag not in self.tags:
            raise Refusal(404, {"message": "not found"}, problem="tag without name")
        for item in asked.json("resources")["resources"]:
            self.volumes[item["resource_id"]]["tags"].append(tag)
        return Answer(status=204)

    @route("DELETE", "/v2/tags/([^/]+)/resources")
    def untag(self, asked: Asked, tag: str) -> Answer:
        for item in asked.json("resources")["resources"]:
            self.volumes[item["resource_id"]]["tags"].remove(tag)
        return Answer(status=204)

    # --- droplets -----------------------------------------------------------------------------------------

    @route("POST", "/v2/droplets")
    def create(self, asked: Asked) -> Answer:
        given = asked.json("name region size image", "user_data tags ssh_keys")
        if not re.fullmatch(r"[a-zA-Z0-9.-]+", given["name"]):
            raise Refusal(422, {"message": "Only valid hostname characters are allowed."}, problem="name")
        if given["image"] not in IMAGES and given["image"] != 4711:
            raise Refusal(422, {"message": "You specified an invalid image."}, problem="image")
        if not all(key in self.keys for key in given.get("ssh_keys") or ()):
            raise Refusal(422, {"message": "keys are invalid"}, problem="ssh key")
        (size,) = [item for item in SIZES if item[0] == given["size"]]
        number = next(self.numbers)
        self.droplets[number] = {
            "id": number, "name": given["name"], "status": "new", "size_slug": size[0], "memory": size[2],
            "vcpus": size[1], "disk": size[3], "region": {"slug": given["region"], "name": given["region"]},
            "image": self._image(given["image"]), "size": self.size(*size), "created_at": _TIME,
            "networks": {"v4": [], "v6": []}, "tags": self.take_tags(given.get("tags") or []),
            "volume_ids": [], "asked": 0, "user_data": given.get("user_data"), "keys": given.get("ssh_keys"),
        }  # fmt: skip
        return Answer(status=202, body={"droplet": self.droplets[number], "links": {"actions": []}})

    @route("GET", "/v2/droplets")
    def list_droplets(self, asked: Asked) -> Answer:
        tag = asked.query["tag_name"]
        found = [item for item in self.droplets.values() if tag in item["tags"]]
        for item in found:
            item["asked"] += 1
            v4 = [{"ip_address": f"10.0.0.{item['id'] % 250}", "type": "private"}]
            if 0 <= self.looks < item["asked"]:
                item["status"] = "active"
                v4.append({"ip_address": f"203.0.113.{item['id'] % 250}", "type": "public"})
            item["networks"] = {"v4": v4, "v6": []}
        return self.listed(asked, "droplets", found)

    @route("DELETE", "/v2/droplets/([0-9]+)")
    def destroy(self, asked: Asked, number: str) -> Answer:
        if int(number) not in self.droplets:
            raise Refusal(404, {"id": "not_found", "message": "not found"})
        del self.droplets[int(number)]
        for volume in self.volumes.values():
            volume["droplet_ids"] = [one for one in volume["droplet_ids"] if one != int(number)]
        return Answer(status=204)

    # --- volumes ------------------------------------------------------------------------------------------

    @route("POST", "/v2/volumes")
    def make_volume(self, asked: Asked) -> Answer:
        given = asked.json("name region size_gigabytes", "tags")
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", given["name"]) or given["size_gigabytes"] < 1:
            raise Refusal(422, {"message": "bad volume"}, problem="volume")
        if any(item["name"] == given["name"] for item in self.volumes.values()):
            raise Refusal(409, {"message": "name is taken"}, problem="volume twice")
        name = f"506f78a4-e098-11e5-ad9f-{next(self.numbers):012d}"
        self.volumes[name] = {
            "id": name, "name": given["name"], "size_gigabytes": given["size_gigabytes"], "droplet_ids": [],
            "region": {"slug": given["region"]}, "created_at": _TIME,
            "tags": self.take_tags(given.get("tags") or []),
        }  # fmt: skip
        return Answer(status=201, body={"volume": self.volumes[name]})

    @route("GET", "/v2/volumes")
    def list_volumes(self, asked: Asked) -> Answer:
        region = asked.query["region"]
        found = [item for item in self.volumes.values() if item["region"]["slug"] == region]
        return self.listed(asked, "volumes", found)

    @route("GET", "/v2/volumes/([^/]+)")
    def volume(self, asked: Asked, name: str) -> Answer:
        if name not in self.volumes:
            raise Refusal(404, {"id": "not_found", "message": "not found"})
        return Answer(body={"volume": self.volumes[name]})

    @route("DELETE", "/v2/volumes/([^/]+)")
    def drop_volume(self, asked: Asked, name: str) -> Answer:
        if self.volumes[name]["droplet_ids"]:
            raise Refusal(409, {"message": "volume is attached"}, problem="deleted while attached")
        del self.volumes[name]
        return Answer(status=204)

    @route("POST", "/v2/volumes/([^/]+)/actions")
    def act(self, asked: Asked, name: str) -> Answer:
        given = asked.json("type droplet_id", "region")
        holders = self.volumes[name]["droplet_ids"]
        if given["droplet_id"] not in self.droplets:
            raise Refusal(404, {"message": "no droplet"}, problem="attached to nothing")
        if given["type"] == "attach":
            if holders:
                raise Refusal(422, {"message": "attached already"}, problem="attached twice")
            holders.append(given["droplet_id"])
        else:
            holders.remove(given["droplet_id"])
        return Answer(status=202, body={"action": {"id": next(self.numbers), "status": "in-progress"}})
