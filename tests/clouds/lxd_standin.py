"""A stand-in for LXD on a socket: keeps instances, profiles and volumes, refuses what LXD would refuse."""

from __future__ import annotations

import json
import re
import socketserver
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

MAC = "00:16:3e:aa:bb:cc"


class StandIn:
    """What the server has; tests look into it and bend it.

    Attributes:
        fail: `METHOD path` -> (status, text) for all such requests.
        fail_later: `METHOD path` -> text of the error of the first such operation.
        logs: instance -> LXC's log of it.
        down: Instances whose cluster member does not answer.
        targets: Members that instances were asked to be made on.
        before: Hears of each request before it is answered.
    """

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.instances: dict[str, dict[str, Any]] = {}
        self.profiles: dict[str, dict[str, Any]] = {"default": {"name": "default", "devices": {}}}
        self.images = [{"fingerprint": "f00d", "aliases": [{"name": "juju/debian@12/amd64"}]}]
        self.environment: dict[str, Any] = {
            "architectures": ["x86_64"], "server_name": "one", "server_version": "5.0.2", "driver": "lxc",
        }  # fmt: skip
        self.auth = "trusted"
        self.members: list[dict[str, str]] = []
        self.pools: dict[str, dict[str, Any]] = {
            name: {"name": name, "driver": "btrfs", "config": {}} for name in ("default", "fast")
        }
        self.volumes: dict[str, dict[str, Any]] = {}  # "POOL/VOLUME" -> the volume
        self.texts: dict[str, str] = {}  # what machines wrote into volumes
        self.cards: dict[str, Any] = {
            "eth0": {"hwaddr": MAC, "addresses": [_address("10.1.2.3", "24")]},
        }
        self.fail: dict[str, tuple[int, str]] = {}
        self.fail_later: dict[str, str] = {}
        self.logs: dict[str, str] = {}
        self.down: set[str] = set()
        self.projects: set[str] = set()
        self.targets: list[str] = []
        self.before: Callable[[str], None] = lambda _what: None
        self.made = 0
        self._errors: dict[str, str] = {}
        self._lock = threading.Lock()
        self._server = _Server(str(socket), _handler(self))
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, target: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return (status, answer)."""
        url = urlsplit(target)
        path = unquote(url.path).removeprefix("/1.0").strip("/")
        params = dict(parse_qsl(url.query))
        self.before(f"{method} {path}")
        with self._lock:
            if f"{method} {path}" in self.fail:
                code, text = self.fail[f"{method} {path}"]
                return code, {"type": "error", "error": text, "error_code": code}
            if method == "GET":
                return self._get(path)
            return self._change(method, path, params, body)

    def _as_seen(self, name: str) -> dict[str, Any]:
        """Return an instance; of one that nobody reaches a cluster tells no more than this."""
        if name not in self.down:
            return self.instances[name]
        blank = {"name": name, "location": "two", "status": "Error", "config": None, "devices": None}
        return {**blank, "profiles": None, "architecture": "", "type": ""}

    def _get(self, path: str) -> tuple[int, dict[str, Any]]:
        fixed: dict[str, Any] = {
            "": {"auth": self.auth, **({"environment": self.environment} if self.auth == "trusted" else {})},
            "instances": [self._as_seen(name) for name in self.instances],
            "images": self.images,
            "profiles": [self._profile(name) for name in self.profiles],
            "operations": {},
            "storage-pools": list(self.pools.values()),
            "cluster/members": self.members,
        }
        if path in fixed:
            return _sync(fixed[path])
        kind, _, rest = path.partition("/")
        name, _, part = rest.partition("/")
        if kind == "storage-pools":
            return self._get_storage(name, part)
        if kind == "projects":
            return _sync({"name": name}) if name in self.projects else _gone("Project not found")
        if kind == "operations":
            error = self._errors.pop(name, "")
            return _sync({"id": name, "status_code": 400 if error else 200, "err": error})
        found = {"instances": self.instances, "profiles": self.profiles}.get(kind, {}).get(name)
        if found is None:
            return 404, {"type": "error", "error": f"{kind} not found", "error_code": 404}
        if kind == "profiles":
            return _sync(self._profile(name))
        if part == "logs/lxc.log":
            return 200, {"raw": self.logs.get(name, "")}
        return _sync({"network": self.cards} if part == "state" else found)

    def _change(
        self, method: str, path: str, params: dict[str, str], body: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        kind, _, rest = path.partition("/")
        name, _, part = rest.partition("/")
        if kind == "storage-pools":
            return self._change_storage(method, name, part, body, params.get("target", ""))
        if method == "POST" and kind == "profiles":
            self.profiles[body["name"]] = body
            return _sync({})
        if kind == "profiles" and method == "PUT":
            self.profiles[name] = {**body, "name": name}
            return _sync({})
        if method == "DELETE" and kind == "profiles":
            if name in self.profiles and self._profile(name)["used_by"]:
                return 400, {"type": "error", "error": "Profile is currently in use", "error_code": 400}
            return _sync({}) if self.profiles.pop(name, None) else (404, {"error": "Profile not found"})
        if method == "POST":
            problem = self._problem(body)
            if problem:
                return 400, {"type": "error", "error": problem, "error_code": 400}
            self.targets.append(params.get("target", ""))
            name = body["name"]
            self.made += 1
            config = {**body["config"], "volatile.eth0.hwaddr": MAC}
            self.instances[name] = {
                **body, "config": config, "expanded_config": config, "status": "Stopped",
                "architecture": "x86_64", "location": params.get("target", "none"),
                "expanded_devices": body["devices"],
            }  # fmt: skip
        elif name not in self.instances:
            return 404, {"type": "error", "error": "Instance not found", "error_code": 404}
        elif f"{method} {path}" in self.fail_later:
            pass
        elif method == "PATCH" or (method == "PUT" and not part):
            old = self.instances[name]["devices"] if method == "PATCH" else {}
            if "devices" in body:
                self.instances[name]["devices"] = {**old, **body["devices"]}
            if missing := [item for item in body.get("profiles", ()) if item not in self.profiles]:
                return 400, {"type": "error", "error": f"Profile not found: {missing}", "error_code": 400}
            self.instances[name]["profiles"] = body.get("profiles", self.instances[name]["profiles"])
        elif method == "PUT" and part == "state":
            assert body["action"] in ("start", "stop")
            self.instances[name]["status"] = "Running" if body["action"] == "start" else "Stopped"
        elif method == "DELETE":
            if self.instances[name]["status"] == "Running":
                return 400, {"type": "error", "error": "Instance is running", "error_code": 400}
            del self.instances[name]
        operation = f"op{len(self._errors)}-{self.made}-{method}"
        if f"{method} {path}" in self.fail_later:
            self._errors[operation] = self.fail_later.pop(f"{method} {path}")
        return 202, {"type": "async", "metadata": {"id": operation}}

    def _profile(self, name: str) -> dict[str, Any]:
        users = [key for key, item in self.instances.items() if name in item["profiles"]]
        found = {"config": {}, **self.profiles[name]}
        return {**found, "used_by": [f"/1.0/instances/{key}" for key in users]}

    def _get_storage(self, pool: str, part: str) -> tuple[int, dict[str, Any]]:
        if pool not in self.pools:
            return _gone("Storage pool not found")
        if not part:
            return _sync(self.pools[pool])
        if part == "resources":
            return _sync({"space": {"total": 2**30}})
        key = f"{pool}/{part.rpartition('/')[2]}"
        if key not in self.volumes:
            return _gone("Storage volume not found")
        return _sync({**self.volumes[key], "used_by": self.users(key)})

    def _make_pool(self, body: dict[str, Any], target: str) -> tuple[int, dict[str, Any]]:
        """Make a pool; a cluster has it announced for each member before, with what is a member's own."""
        found = self.pools.get(body["name"], {"locations": []})
        if not self.environment.get("server_clustered"):
            self.pools[body["name"]] = body
            return _sync({})
        problem = ""
        if target in found["locations"]:
            problem = f'The storage pool already defined on member "{target}"'
        elif not target and len(found["locations"]) < len(self.members):
            problem = "Pool not pending on any node (use --target <node> first)"
        elif bool(target) is not ("size" in body["config"]) and body["config"]:
            problem = 'Config key "size" is cluster member specific'
        if problem:
            return 400, {"type": "error", "error": problem, "error_code": 400}
        places = [*found["locations"], *([target] if target else ())]
        status = "Pending" if target else "Created"
        self.pools[body["name"]] = {**body, "locations": places, "status": status}
        return _sync({})

    def users(self, key: str) -> list[str]:
        """Return the instances that have a volume, as LXD tells them."""
        pairs = (
            (name, device) for name, item in self.instances.items() for device in item["devices"].values()
        )
        return [
            f"/1.0/instances/{name}"
            for name, device in pairs
            if f"{device.get('pool')}/{device.get('source')}" == key
        ]

    def _change_storage(
        self, method: str, pool: str, part: str, body: dict[str, Any], target: str
    ) -> tuple[int, dict[str, Any]]:
        if not pool:
            return self._make_pool(body, target)
        if pool not in self.pools:
            return _gone("Storage pool not found")
        if method == "POST":
            texts = all(isinstance(value, str) for value in body["config"].values())
            if not texts or (self.pools[pool]["driver"] == "dir") is ("size" in body["config"]):
                return 400, {"type": "error", "error": "Invalid volume", "error_code": 400}
            self.volumes[f"{pool}/{body['name']}"] = body
            return _sync({})
        key = f"{pool}/{part.rpartition('/')[2]}"
        if key not in self.volumes:
            return _gone("Storage volume not found")
        if method == "PUT":
            self.volumes[key]["config"] = body["config"]
        elif self.users(key):
            return 400, {"type": "error", "error": "Storage volume is still in use", "error_code": 400}
        else:
            del self.volumes[key]
        return _sync({})

    def _problem(self, body: dict[str, Any]) -> str:
        if body["name"] in self.instances:
            return f'Instance "{body["name"]}" already exists'
        if not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9-]{0,62}", body["name"]):
            return "Invalid instance name"
        missing = [name for name in body["profiles"] if name not in self.profiles]
        texts = all(isinstance(value, str) for value in body["config"].values())
        return f"Profile not found: {missing}" if missing else "" if texts else "cannot unmarshal into string"


def _address(address: str, netmask: str, scope: str = "global") -> dict[str, str]:
    return {"family": "inet", "address": address, "netmask": netmask, "scope": scope}


def _gone(text: str) -> tuple[int, dict[str, Any]]:
    return 404, {"type": "error", "error": text, "error_code": 404}


def _sync(metadata: Any) -> tuple[int, dict[str, Any]]:
    return 200, {"type": "sync", "status_code": 200, "metadata": metadata}


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else {}
            code, answer = stand_in.answer(self.command, self.path, body)
            data = answer["raw"].encode() if "raw" in answer else json.dumps(answer).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
