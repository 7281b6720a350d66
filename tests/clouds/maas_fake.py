"""A MAAS server for tests, as an ASGI app: written from the documents of its API 2.0.

It keeps machines and their states, refuses what MAAS refuses (keys, operations, parameters, states), and can
be told to fail. What it does not know is an error, so that no request goes unchecked.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from tests.clouds.asgi import Cut

KEY = "consumer:token:hunter2"
_HANG_S = 30.0
_DISK_ID = 30  # of a machine's first disk; those of the others follow
NEW, READY, ALLOCATED, DEPLOYING = "New", "Ready", "Allocated", "Deploying"
DEPLOYED, RELEASING, FAILED = "Deployed", "Releasing", "Failed deployment"
_CODES = {NEW: 0, READY: 4, DEPLOYED: 6, DEPLOYING: 9, ALLOCATED: 10, FAILED: 11, RELEASING: 12}
_RELEASABLE = (ALLOCATED, DEPLOYING, DEPLOYED, FAILED, "Broken")
_PARTS = {
    "oauth_version", "oauth_signature_method", "oauth_consumer_key", "oauth_token", "oauth_signature",
    "oauth_timestamp", "oauth_nonce",
}  # fmt: skip
_ALLOCATE = {
    "name", "system_id", "arch", "cpu_count", "mem", "tags", "not_tags", "zone", "pool", "storage",
    "interfaces", "not_subnets", "agent_name", "comment",
}  # fmt: skip
_STORAGE = re.compile(r"(?:([a-zA-Z0-9]+):)?([0-9.]+)(?:\(([^)]*)\))?$")


class Refused(Exception):
    """An answer with an error code."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


@dataclass
class Node:
    """A machine.

    Attributes:
        spaces: Names of the spaces that it has an address in.
        disks: (size in bytes, tags), the root disk first.
    """

    system_id: str
    hostname: str
    zone: str = "default"
    pool: str = "default"
    arch: str = "amd64"
    cores: int = 4
    mem: int = 8192
    tags: tuple[str, ...] = ("virtual",)
    spaces: tuple[str, ...] = ("undefined",)
    disks: tuple[tuple[int, tuple[str, ...]], ...] = ((100 * 10**9, ("ssd",)),)
    address: str = "192.0.2.10"
    status: str = READY
    message: str = ""
    owner: str | None = None
    agent: str = ""
    owner_data: dict[str, str] = field(default_factory=dict)
    deployed_with: dict[str, str] = field(default_factory=dict)
    changes_at: float = 0.0


@dataclass
class Failure:
    """What is to go wrong: `how` is `refuse`, `cut` (no answer), `half` (of an answer) or `hang`.

    `done`: the request is carried out all the same.
    """

    what: str
    how: str = "refuse"
    status: int = 500
    text: str = "oops"
    times: int = 1
    done: bool = False
    headers: tuple[tuple[str, str], ...] = ()


class FakeMaas:
    """The server; tests look into it and bend it.

    Attributes:
        deploy_s: Seconds that a deployment takes; None: until `finish`.
        release_s: Seconds that a machine is on its way out.
        asked: What was asked for: `METHOD path op`.
    """

    def __init__(self, nodes: Sequence[Node] = ()) -> None:
        self.nodes = {node.system_id: node for node in nodes}
        self.deploy_s: float | None = 0.0
        self.release_s = 0.0
        self.spaces = {"undefined": -1, "Big Space": 1, "dmz": 2}
        self.zones = ["default", "rack-b"]
        self.images = ["ubuntu/focal", "ubuntu/jammy", "ubuntu/noble", "custom/debian-12"]
        self.key = KEY
        self.events: list[dict[str, Any]] = []
        self.failures: list[Failure] = []
        self.asked: list[str] = []
        self.allocations: list[list[tuple[str, str]]] = []
        self.before: Callable[[str], None] = lambda _what: None
        self._nonces: set[str] = set()

    # --- for tests ----------------------------------------------------------------------------------------

    def fail(self, what: str, **how: Any) -> None:
        """Let the next requests for `METHOD path op` go wrong; `path` without the machine: `machines/*/`."""
        self.failures.append(Failure(what, **how))

    def in_state(self, *states: str) -> list[Node]:
        """Return the machines in some states."""
        self._pass_time()
        return [node for node in self.nodes.values() if node.status in states]

    def finish(self, system_id: str, status: str = DEPLOYED, message: str = "") -> None:
        """End a deployment."""
        node = self.nodes[system_id]
        assert node.status == DEPLOYING
        node.status, node.message = status, message or f"From 'Deploying' to '{status}'"

    # --- the app ------------------------------------------------------------------------------------------

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer a request."""
        body = (await receive())["body"]
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        query = parse_qsl(scope["query_string"].decode(), keep_blank_values=True)
        form = parse_qsl(body.decode(), keep_blank_values=True)
        path = scope["path"].removeprefix("/MAAS/api/2.0/")
        op = dict(query).get("op", "")
        what = f"{scope['method']} {re.sub('machines/[^/]+/', 'machines/*/', path)} {op}".rstrip()
        self.asked.append(what)
        self.before(what)
        failure = next((item for item in self.failures if item.what == what and item.times), None)
        extra: tuple[tuple[str, str], ...] = ()
        try:
            if failure is not None:
                failure.times -= 1
                await self._go_wrong_before(failure)
            status, answer = 200, self._answer(scope["method"], scope["path"], path, headers, query, form)
            if failure is not None and failure.how == "refuse":
                raise Refused(failure.status, failure.text)
            if failure is not None and failure.how == "hang":
                await asyncio.sleep(_HANG_S)
            if failure is not None and failure.how in ("cut", "hang"):
                raise Cut
        except Refused as error:
            status, answer = error.status, error.text
            extra = failure.headers if failure is not None else ()
        await _send(send, status, answer, extra, half=failure is not None and failure.how == "half")

    async def _go_wrong_before(self, failure: Failure) -> None:
        if failure.done or failure.how == "half":
            return
        if failure.how == "hang":
            await asyncio.sleep(_HANG_S)
        if failure.how in ("cut", "hang"):
            raise Cut
        raise Refused(failure.status, failure.text)

    def _answer(
        self,
        method: str,
        whole: str,
        path: str,
        headers: dict[str, str],
        query: list[tuple[str, str]],
        form: list[tuple[str, str]],
    ) -> Any:
        if not whole.startswith("/MAAS/api/2.0/") or not whole.endswith("/"):
            raise Refused(404, "Not Found")
        self._check_key(headers.get("authorization", ""))
        self._pass_time()
        op = dict(query).get("op")
        parts = path.strip("/").split("/")
        if method == "POST":
            if headers.get("content-type") != "application/x-www-form-urlencoded":
                raise Refused(400, "Unable to parse the body")
            if [name for name, _ in query] != ["op"]:
                raise Refused(400, "parameters in the address")
            return self._post(parts, op, form)
        if method != "GET" or form:
            raise Refused(405, "Method Not Allowed")
        return self._get(parts, op, [(name, value) for name, value in query if name != "op"])

    def _check_key(self, header: str) -> None:
        """Check each part of the signature, as MAAS's OAuth does."""
        if not header.startswith("OAuth "):
            raise Refused(401, "Authorization Error: no OAuth header")
        pairs = re.findall(r'([a-z_]+)="([^"]*)"', header)
        found = {name: unquote(value) for name, value in pairs}
        if set(found) - {"realm"} != _PARTS or len(found) != len(pairs):
            raise Refused(401, "Authorization Error: Invalid OAuth header")
        consumer, token, secret = self.key.split(":")
        given = (found["oauth_consumer_key"], found["oauth_token"], found["oauth_signature"])
        if given != (consumer, token, f"&{secret}"):
            raise Refused(401, "Authorization Error: Invalid API key.")
        if (found["oauth_signature_method"], found["oauth_version"]) != ("PLAINTEXT", "1.0"):
            raise Refused(401, "Authorization Error: Invalid signature method")
        if abs(int(found["oauth_timestamp"]) - time.time()) > 300:
            raise Refused(401, "Authorization Error: Expired timestamp")
        if found["oauth_nonce"] in self._nonces:
            raise Refused(401, "Authorization Error: Nonce already used")
        self._nonces.add(found["oauth_nonce"])

    # --- reading ------------------------------------------------------------------------------------------

    def _get(self, parts: list[str], op: str | None, params: list[tuple[str, str]]) -> Any:
        fixed: dict[tuple[str, str | None], Callable[[], Any]] = {
            ("users", "whoami"): lambda: {
                "username": "admin",
                "email": "a@example.com",
                "is_superuser": True,
            },
            ("version", None): lambda: {"version": "3.5.1", "subversion": "", "capabilities": []},
            ("zones", None): lambda: [{"name": name, "description": ""} for name in self.zones],
            ("spaces", None): self._spaces,
            ("boot-resources", None): self._images,
        }
        if len(parts) == 1 and (parts[0], op) in fixed:
            _known(params, set())
            return fixed[parts[0], op]()
        if parts == ["machines"] and op is None:
            _known(params, {"agent_name", "id", "hostname", "domain"})
            return [self._document(node) for node in self._filtered(params)]
        if parts == ["events"] and op == "query":
            _known(params, {"id", "level", "limit"})
            ids = [value for name, value in params if name == "id"]
            listed = [item for item in self.events if item["node"] in ids]
            listed = listed if dict(params).get("level") == "DEBUG" else []
            return {"count": len(listed), "events": listed[::-1], "next_uri": "", "prev_uri": ""}
        if len(parts) == 2 and parts[0] == "machines" and op is None:
            return self._document(self._node(parts[1]))
        raise Refused(400, f"Unrecognised signature: method=GET op={op}")

    def _filtered(self, params: list[tuple[str, str]]) -> list[Node]:
        ids = [value for name, value in params if name == "id"]
        asked = dict(params)
        return [
            node
            for node in self.nodes.values()
            if (not ids or node.system_id in ids)
            and asked.get("agent_name", node.agent) == node.agent
            and asked.get("hostname", node.hostname) == node.hostname
            and asked.get("domain", "maas") == "maas"
        ]

    def _spaces(self) -> list[dict[str, Any]]:
        return [
            {
                "id": number,
                "name": name,
                "subnets": [{"id": 10 + number, "cidr": f"10.{10 + number}.0.0/24", "space": name}],
            }
            for name, number in self.spaces.items()
        ]

    def _images(self) -> list[dict[str, Any]]:
        return [
            {"id": number, "type": "Synced", "name": name, "architecture": "amd64/ga-24.04"}
            for number, name in enumerate(self.images)
        ]

    def _node(self, system_id: str) -> Node:
        if system_id not in self.nodes:
            raise Refused(404, "No Machine matches the given query.")
        return self.nodes[system_id]

    def _document(self, node: Node) -> dict[str, Any]:
        up = node.status in (DEPLOYING, DEPLOYED)
        links = [
            {
                "id": 1,
                "mode": "auto",
                "subnet": {"id": 1, "cidr": "192.0.2.0/24", "space": node.spaces[0]},
                **({"ip_address": node.address} if up and node.address else {}),
            }
        ]
        card = {"id": 5, "name": "eth0", "mac_address": "52:54:00:00:00:01", "links": links}
        return {
            "system_id": node.system_id,
            "hostname": node.hostname,
            "fqdn": f"{node.hostname}.maas",
            "domain": {"id": 0, "name": "maas"},
            "owner": node.owner,
            "owner_data": dict(node.owner_data),
            "architecture": f"{node.arch}/generic",
            "cpu_count": node.cores,
            "memory": node.mem,
            "tag_names": list(node.tags),
            "status": _CODES.get(node.status, 99),
            "status_name": node.status,
            "status_message": node.message,
            "power_state": "on" if up else "off",
            "ip_addresses": [node.address] if up and node.address else [],
            "interface_set": [card],
            "boot_interface": card,
            "blockdevice_set": [
                {
                    "id": _DISK_ID + number,
                    "name": f"sd{'abcdef'[number]}",
                    "path": f"/dev/disk/by-dname/sd{'abcdef'[number]}",
                    "id_path": f"/dev/disk/by-id/wwn-0x{node.system_id}{number}",
                    "serial": f"S-{node.system_id}-{number}",
                    "size": size,
                    "tags": list(tags),
                }
                for number, (size, tags) in enumerate(node.disks)
            ],
            "boot_disk": {"id": _DISK_ID},
            "zone": {
                "name": node.zone,
                "description": "",
                "resource_uri": f"/MAAS/api/2.0/zones/{node.zone}/",
            },
            "pool": {"id": 0, "name": node.pool},
            "resource_uri": f"/MAAS/api/2.0/machines/{node.system_id}/",
        }

    # --- changing -----------------------------------------------------------------------------------------

    def _post(self, parts: list[str], op: str | None, form: list[tuple[str, str]]) -> Any:
        if parts == ["machines"] and op == "allocate":
            return self._allocate(form)
        if parts == ["machines"] and op == "release":
            _known(form, {"machines", "comment"})
            return self._release([value for name, value in form if name == "machines"])
        if len(parts) == 2 and parts[0] == "machines" and op == "set_owner_data":
            return self._annotate(self._node(parts[1]), form)
        if len(parts) == 2 and parts[0] == "machines" and op == "deploy":
            _known(form, {"user_data", "distro_series", "hwe_kernel", "comment"})
            return self._deploy(self._node(parts[1]), dict(form))
        raise Refused(400, f"Unrecognised signature: method=POST op={op}")

    def _allocate(self, form: list[tuple[str, str]]) -> dict[str, Any]:
        _known(form, _ALLOCATE)
        self.allocations.append(form)
        asked = dict(form)
        if asked.get("zone") and asked["zone"] not in self.zones:
            raise Refused(400, json.dumps({"zone": [f"No such zone: '{asked['zone']}'."]}))
        node = next((item for item in self.nodes.values() if self._fits(item, form)), None)
        if node is None:
            shown = " ".join(
                f"{name}={value}" for name, value in form if name not in ("agent_name", "comment")
            )
            if not shown:
                raise Refused(409, "No machine available.")
            raise Refused(409, f'No available machine matches constraints: {form} (resolved to "{shown}")')
        node.status, node.owner, node.agent = ALLOCATED, "admin", asked.get("agent_name", "")
        node.message = "From 'Ready' to 'Allocated'"
        self.log(node, "User acquiring node", asked.get("comment", ""))
        told = _match_disks(node, asked["storage"]) if asked.get("storage") else None
        return {**self._document(node), "constraints_by_type": {"storage": told} if told else {}}

    def _fits(self, node: Node, form: list[tuple[str, str]]) -> bool:
        names = (node.hostname, f"{node.hostname}.maas")
        tests: dict[str, Callable[[str], bool]] = {
            "name": lambda value: value in names,
            "system_id": lambda value: value == node.system_id,
            "arch": lambda value: value.split("/")[0] == node.arch,
            "cpu_count": lambda value: node.cores >= int(value),
            "mem": lambda value: node.mem >= int(value),
            "tags": lambda value: value in node.tags,
            "not_tags": lambda value: value not in node.tags,
            "zone": lambda value: value == node.zone,
            "pool": lambda value: value == node.pool,
            "storage": lambda value: _match_disks(node, value) is not None,
            "interfaces": lambda value: all(self._has_space(node, word) for word in value.split(";")),
            "not_subnets": lambda value: not self._has_space(node, f"x:{value.replace(':', '=')}"),
        }
        return node.status == READY and all(tests[name](value) for name, value in form if name in tests)

    def _has_space(self, node: Node, word: str) -> bool:
        """Tell whether a card of a machine fits `label:space=ID`."""
        _label, colon, rest = word.partition(":")
        kind, equals, value = rest.partition("=")
        if not colon or kind != "space" or not equals:
            raise Refused(400, json.dumps({"interfaces": [f"Malformed constraint: {word}"]}))
        return int(value) in [self.spaces[name] for name in node.spaces]

    def _annotate(self, node: Node, form: list[tuple[str, str]]) -> dict[str, Any]:
        if node.owner is None:
            raise Refused(409, "Cannot set workload annotation: it hasn't been acquired.")
        node.owner_data = {name: value for name, value in {**node.owner_data, **dict(form)}.items() if value}
        return self._document(node)

    def _deploy(self, node: Node, asked: dict[str, str]) -> dict[str, Any]:
        if node.status != ALLOCATED:
            raise Refused(409, f"Can't deploy a machine that is in the '{node.status}' state")
        series = asked.get("distro_series", "noble")
        if not {series, f"ubuntu/{series}", f"custom/{series}"} & set(self.images):
            text = (
                f"'{series}' is not a valid distro_series.  It should be one of: 'focal', 'jammy', 'noble'."
            )
            raise Refused(400, json.dumps({"distro_series": [text]}))
        base64.b64decode(asked.get("user_data", ""), validate=True)
        node.deployed_with = asked
        node.status, node.message = DEPLOYING, "Configuring OS"
        node.changes_at = time.monotonic() + self.deploy_s if self.deploy_s is not None else float("inf")
        return self._document(node)

    def _release(self, ids: list[str]) -> list[str]:
        unknown = [name for name in ids if name not in self.nodes]
        if unknown:
            raise Refused(400, f"Unknown machine(s): {', '.join(unknown)}.")
        refused = []
        for node in (self.nodes[name] for name in ids):
            if node.status in _RELEASABLE:
                node.status, node.agent, node.owner_data = RELEASING, "", {}
                node.changes_at = time.monotonic() + self.release_s
            elif node.status != READY:
                refused.append(f"{node.system_id} ('{node.status}')")
        if refused:
            raise Refused(409, f"Machine(s) cannot be released in their current state: {', '.join(refused)}.")
        return ids

    def log(self, node: Node, kind: str, comment: str) -> None:
        """Note an event."""
        text = f"(admin) - {comment}" if comment else "(admin)"
        self.events.append(
            {
                "id": len(self.events),
                "node": node.system_id,
                "type": kind,
                "level": "DEBUG",
                "description": text,
            }
        )

    def _pass_time(self) -> None:
        for node in self.nodes.values():
            if node.changes_at <= time.monotonic() and node.status in (DEPLOYING, RELEASING):
                done = DEPLOYED if node.status == DEPLOYING else READY
                node.message = f"From '{node.status}' to '{done}'"
                node.status = done
                node.owner = node.owner if done == DEPLOYED else None


def _known(params: list[tuple[str, str]], known: set[str]) -> None:
    odd = sorted({name for name, _ in params} - known)
    if odd:
        raise Refused(400, json.dumps({name: ["No such constraint."] for name in odd}))


def _match_disks(node: Node, text: str) -> dict[str, list[int]] | None:
    """Return label -> ids of disks for `label:GB(tag,tag),...`, root disk first; None: too few."""
    left = dict(enumerate(node.disks))
    found: dict[str, list[int]] = {}
    for number, word in enumerate(re.findall(r"[^,(]+(?:\([^)]*\))?", text)):
        asked = _STORAGE.match(word)
        if not asked:
            raise Refused(400, json.dumps({"storage": [f"Malformed storage constraint: {word}"]}))
        size, tags = float(asked[2]) * 10**9, set(filter(None, (asked[3] or "").split(",")))
        choice = {0: left[0]} if number == 0 else left
        fitting = [at for at, disk in choice.items() if disk[0] >= size and tags <= set(disk[1])]
        if not fitting:
            return None
        del left[fitting[0]]
        found[asked[1]] = [_DISK_ID + fitting[0]]
    return found


async def _send(
    send: Any, status: int, answer: Any, extra: tuple[tuple[str, str], ...], *, half: bool
) -> None:
    plain = isinstance(answer, str)
    data = answer.encode() if plain else json.dumps(answer).encode()
    named = {
        "content-type": "text/plain" if plain else "application/json; charset=utf-8",
        "content-length": str(len(data)),
        **{name.lower(): value for name, value in extra},
    }
    headers = [(name.encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data[: len(data) // 2] if half else data})
    if half:
        raise Cut
