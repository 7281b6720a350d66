"""A stand-in for Charmhub, with faults that can be switched on.

The real store is not reachable from where the tests run; this one speaks its protocol as far as a client
needs it: refresh (install by channel and by revision, refresh of what is there), info, find, resource
revisions, and downloads with ranges, from one server on the loopback interface. It serves archives that the
tests pack. Results come in another order than they were asked for, and charms without configuration have `{}`
as theirs, as there.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import zipfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.clouds.asgi import Cut, serve

Scope = dict[str, Any]
RISKS = ("stable", "candidate", "beta", "edge")
NOBLE = ("amd64", "ubuntu", "24.04")
JAMMY = ("amd64", "ubuntu", "22.04")
FOCAL = ("amd64", "ubuntu", "20.04")


@dataclass(kw_only=True)
class Revision:
    """One revision of a charm: its archive, what it runs on, its resources (name -> revision)."""

    number: int
    data: bytes
    bases: Sequence[tuple[str, str, str]] = (NOBLE,)
    version: str = ""
    resources: Mapping[str, int] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def read(self, name: str) -> str:
        try:
            return zipfile.ZipFile(io.BytesIO(self.data)).read(name).decode()
        except KeyError:
            return ""


@dataclass(kw_only=True)
class Entry:
    """A charm or bundle of the store.

    `channels`: (track, risk, branch) -> numbers of the revisions there; `resources`: name -> revision ->
    bytes.
    """

    name: str
    id: str
    kind: str = "charm"
    default_track: str = "latest"
    revisions: dict[int, Revision] = field(default_factory=dict)
    channels: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)
    resources: dict[str, dict[int, bytes]] = field(default_factory=dict)
    filenames: dict[str, str] = field(default_factory=dict)
    summary: str = "A charm of the tests."


@dataclass
class Fault:
    """What goes wrong: `how` at requests of a kind, `times` times (-1: always)."""

    kind: str
    how: str
    times: int = -1
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


class HubStore:
    """The stand-in, an ASGI app: put charms in, switch faults on, read what was asked."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str, Any]] = []
        self.url = ""

    async def __call__(
        self,
        scope: Scope,
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        """Answer one request."""
        asked = await receive()
        await _Exchange(store=self, scope=scope, send=send).answer(asked["body"])

    # --- content ------------------------------------------------------------------------------------------

    def add(
        self,
        name: str,
        data: bytes | Path,
        *,
        revision: int,
        channels: Sequence[str] = ("latest/stable",),
        bases: Sequence[tuple[str, str, str]] = (NOBLE,),
        version: str = "",
        resources: Mapping[str, int] | None = None,
        kind: str = "charm",
    ) -> Entry:
        """Put a revision into channels; a channel may have several revisions for different bases."""
        entry = self.entries.setdefault(name, Entry(name=name, id=f"id-{name}-0123456789", kind=kind))
        body = data.read_bytes() if isinstance(data, Path) else data
        entry.revisions[revision] = Revision(
            number=revision, data=body, bases=bases, version=version, resources=resources or {}
        )
        for channel in channels:
            track, risk, branch = (*channel.split("/"), "")[:3]
            listed = entry.channels.setdefault((track, risk, branch), [])
            listed[:] = [one for one in listed if not set(entry.revisions[one].bases) & set(bases)] + [
                revision
            ]
        return entry

    def add_resource(self, charm: str, name: str, revision: int, data: bytes, filename: str) -> None:
        """Put a revision of a resource in; the charm must be there."""
        entry = self.entries[charm]
        entry.resources.setdefault(name, {})[revision] = data
        entry.filenames[name] = filename

    def fail(self, kind: str, how: str, times: int = -1, *, seconds: float = 0.0, **headers: str) -> None:
        """Let requests of a kind go wrong.

        Kinds: refresh, info, find, resources, download. How: a status (`503`), `slow`, `cut`, `wrong`,
        `html`, `empty`, `redirect`, `no-json`, `huge`, `hang-up`, `error-list`.
        """
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        self.faults.append(Fault(kind, how, times, named, seconds))

    def well(self) -> None:
        """Switch all faults off."""
        self.faults.clear()

    def asked(self, kind: str) -> list[Any]:
        """Return the bodies (or paths) of the requests of a kind, in their order."""
        return [body for each, _, body in self.requests if each == kind]

    # --- answers ------------------------------------------------------------------------------------------

    def fault(self, kind: str) -> Fault | None:
        for fault in self.faults:
            if fault.kind == kind and fault.times:
                fault.times -= 1
                return fault
        return None

    def refresh(self, body: Any) -> dict[str, Any]:
        assert isinstance(body["context"], list), "context must be a list"
        assert body["fields"] == sorted(set(body["fields"])), "fields are sorted"
        held = {item["instance-key"]: item for item in body["context"]}
        results = [self._action(action, held.get(action["instance-key"])) for action in body["actions"]]
        return {"results": results[::-1], "error-list": []}

    def _action(self, action: Mapping[str, Any], held: Mapping[str, Any] | None) -> dict[str, Any]:
        entry = next(
            (
                one
                for one in self.entries.values()
                if one.id == action.get("id") or one.name == action.get("name")
            ),
            None,
        )
        found: dict[str, Any] = {"instance-key": action["instance-key"], "result": action["action"]}
        if entry is None:
            return found | {"result": "error", "error": _error("name-not-found", "No charm of that name.")}
        if "revision" in action:
            assert "channel" not in action, "a revision excludes the channel"
            assert action["base"] is None, "a revision excludes the base"
            if action["revision"] not in entry.revisions:
                return found | {"error": _error("revision-not-found", "No such revision.")}
            wanted = {item["name"]: item["revision"] for item in action.get("resource-revisions", ())}
            return found | self._given(entry, entry.revisions[action["revision"]], "", wanted)
        channel = held["tracking-channel"] if held else action["channel"]
        base = held["base"] if held else action["base"]
        return found | self._by_channel(entry, channel, base)

    def _by_channel(self, entry: Entry, channel: str, base: Mapping[str, str]) -> dict[str, Any]:
        track, risk, branch = _split(channel, entry.default_track)
        if base["name"] == "NA":
            bases = [base for one in self._open(entry, track, risk, branch) for base in one.bases]
            error = _error("invalid-charm-base", "Base is needed.")
            listed = [_base(one) for one in dict.fromkeys(bases)]
            error["extra"] = {"default-bases": listed, "releases": list(_releases(entry))}
            return {"error": error}
        asked = (base["architecture"], base["name"], base["channel"])
        for safer in reversed(RISKS[: RISKS.index(risk) + 1]):
            for number in entry.channels.get((track, safer, branch), ()):
                revision = entry.revisions[number]
                if any(_fits(one, asked) for one in revision.bases):
                    shown = safer if track == "latest" else f"{track}/{safer}"
                    shown += f"/{branch}" if branch else ""
                    return self._given(entry, revision, shown, revision.resources)
        error = _error("revision-not-found", "No revision was found in the Store.")
        error["extra"] = {"default-bases": None, "releases": list(_releases(entry))}
        return {"error": error}

    def _open(self, entry: Entry, track: str, risk: str, branch: str) -> list[Revision]:
        for safer in reversed(RISKS[: RISKS.index(risk) + 1]):
            if numbers := entry.channels.get((track, safer, branch)):
                return [entry.revisions[number] for number in numbers]
        return []

    def _given(
        self, entry: Entry, revision: Revision, channel: str, resources: Mapping[str, int]
    ) -> dict[str, Any]:
        charm = {
            "type": entry.kind,
            "id": entry.id,
            "name": entry.name,
            "revision": revision.number,
            "version": revision.version,
            "summary": entry.summary,
            "download": {
                "hash-sha-256": revision.sha256,
                "hash-sha-384": hashlib.sha384(revision.data).hexdigest(),
                "size": len(revision.data),
                "url": f"{self.url}/api/v1/charms/download/{entry.id}_{revision.number}.charm",
            },
            "bases": [_base(one) for one in revision.bases],
            "resources": [self._resource(entry, name, number) for name, number in resources.items()],
            "metadata-yaml": revision.read("metadata.yaml"),
            "config-yaml": revision.read("config.yaml") or "{}\n",
        }
        return {
            "charm": charm,
            "effective-channel": channel,
            "id": entry.id,
            "name": entry.name,
            "error": None,
        }

    def _resource(self, entry: Entry, name: str, number: int) -> dict[str, Any]:
        data = entry.resources[name][number]
        return {
            "name": name,
            "type": "file",
            "filename": entry.filenames[name],
            "description": f"Resource {name}.",
            "revision": number,
            "download": {
                "hash-sha-256": hashlib.sha256(data).hexdigest(),
                "hash-sha-384": hashlib.sha384(data).hexdigest(),
                "size": len(data),
                "url": f"{self.url}/api/v1/resources/download/{entry.name}/{name}_{number}",
            },
        }

    def revisions(self, charm: str, name: str) -> dict[str, Any] | None:
        entry = self.entries.get(charm)
        if entry is None or name not in entry.resources:
            return None
        return {"revisions": [self._resource(entry, name, one) for one in entry.resources[name]]}

    def info(self, name: str) -> dict[str, Any] | None:
        entry = self.entries.get(name)
        if entry is None:
            return None
        listed = [
            {
                "channel": {
                    "name": f"{track}/{risk}",
                    "track": track,
                    "risk": risk,
                    "base": _base(base),
                    "released-at": "2024-03-11T09:00:00.000000+00:00",
                },
                "revision": self._told(revision),
            }
            for (track, risk, branch), numbers in entry.channels.items()
            if not branch
            for revision in (entry.revisions[number] for number in numbers)
            for base in revision.bases
        ]
        first = next(iter(entry.channels.values()))[0]
        default = self._told(entry.revisions[first]) | {
            "metadata-yaml": entry.revisions[first].read("metadata.yaml"),
            "config-yaml": entry.revisions[first].read("config.yaml") or "{}\n",
        }
        return {
            "type": entry.kind,
            "id": entry.id,
            "name": entry.name,
            "result": self._result(entry),
            "default-release": {"channel": listed[0]["channel"], "revision": default, "resources": []},
            "channel-map": listed,
            "error-list": [],
        }

    def _told(self, revision: Revision) -> dict[str, Any]:
        return {
            "revision": revision.number,
            "version": revision.version,
            "created-at": "2024-03-01T09:00:00+00:00",
            "bases": [_base(one) for one in revision.bases],
            "download": {"size": len(revision.data)},
        }

    def _result(self, entry: Entry) -> dict[str, Any]:
        return {
            "publisher": {"display-name": "Example Ltd"},
            "summary": entry.summary,
            "description": "Serves the tests.\nOf no other use.",
            "store-url": f"https://charmhub.io/{entry.name}",
            "license": "Apache-2.0",
            "categories": [{"name": "databases", "featured": True}],
            "contains-charms": [],
        }

    def find(self, query: Mapping[str, str]) -> dict[str, Any]:
        results = []
        for entry in self.entries.values():
            if query.get("q", "") in entry.name and query.get("type", entry.kind) == entry.kind:
                found = self.info(entry.name)
                assert found is not None
                results.append(
                    {key: found[key] for key in ("type", "id", "name", "result", "default-release")}
                )
        return {"results": results, "error-list": []}

    def blob(self, path: str) -> bytes | None:
        last = path.rpartition("/")[2]
        if "/charms/" in path:
            name, _, number = last.removesuffix(".charm").rpartition("_")
            entry = next((one for one in self.entries.values() if one.id == name), None)
            return entry.revisions[int(number)].data if entry and int(number) in entry.revisions else None
        charm, (name, _, number) = path.split("/")[-2], last.rpartition("_")
        return self.entries[charm].resources[name][int(number)]


def _split(channel: str, default: str) -> tuple[str, str, str]:
    parts = channel.split("/")
    if parts[0] in RISKS:
        parts = [default, *parts]
    track, risk, branch = (*parts, "stable", "")[:3] if len(parts) == 1 else (*parts, "")[:3]
    return track, risk, branch


def _fits(base: tuple[str, str, str], asked: tuple[str, str, str]) -> bool:
    return all(own in ("all", wanted) for own, wanted in zip(base, asked, strict=True))


def _base(base: tuple[str, str, str]) -> dict[str, str]:
    return {"architecture": base[0], "name": base[1], "channel": base[2]}


def _releases(entry: Entry) -> Iterator[dict[str, Any]]:
    for (track, risk, branch), numbers in entry.channels.items():
        for base in dict.fromkeys(one for number in numbers for one in entry.revisions[number].bases):
            channel = risk if track == "latest" else f"{track}/{risk}"
            yield {"channel": f"{channel}/{branch}" if branch else channel, "base": _base(base)}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"code": code, "message": message, "extra": {}}


# --- the server -------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class _Exchange:
    """One request and its answer."""

    store: HubStore
    scope: Scope
    send: Callable[[Any], Awaitable[None]]
    fault: Fault | None = None

    @property
    def target(self) -> str:
        """Path and query; a proxy is asked with a whole address in their place."""
        parts = urlsplit(self.scope["raw_path"].decode())
        query = self.scope["query_string"].decode()
        return f"{parts.path}?{query}" if query else parts.path

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.scope["headers"]}

    async def answer(self, body: bytes) -> None:
        if self.scope["method"] == "POST":
            assert self.headers["accept"] == self.headers["content-type"] == "application/json"
            asked = json.loads(body)
            if await self._begin("refresh", asked):
                await self._json(self.store.refresh(asked))
            return
        parts = urlsplit(self.target)
        words = [unquote(word) for word in parts.path.strip("/").split("/")]
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if "download" in words:
            if await self._begin("download", parts.path):
                await self._blob(parts.path)
        elif words[:2] != ["v2", "charms"]:
            await self._send(404, b"nothing here", "text/plain")
        elif await self._begin(words[2], self.target):
            answers = {
                "info": lambda: self.store.info(words[3]),
                "find": lambda: self.store.find(query),
                "resources": lambda: self.store.revisions(words[3], words[4]),
            }
            await self._json(answers[words[2]]() if words[2] in answers else None)

    async def _begin(self, kind: str, body: Any) -> bool:
        """Note the request and do what a fault says; false: it is answered."""
        self.store.requests.append((kind, self.headers.get("range", ""), body))
        self.fault = fault = self.store.fault(kind)
        if fault is None or fault.how in ("cut", "wrong", "huge"):
            return True
        if fault.how == "slow":
            await asyncio.sleep(fault.seconds)
            return True
        await self._fail(fault)
        return False

    async def _fail(self, fault: Fault) -> None:
        if fault.how == "hang-up":
            raise Cut
        if fault.how == "redirect":
            here = self.store.url.replace("127.0.0.1", "localhost")
            to = fault.headers.get("Location") or f"{here}{self.target}"
            await self._send(307, b"", "text/plain", {"Location": to})
        elif fault.how == "html":
            await self._send(200, b"<html>please log in</html>", "text/html")
        elif fault.how == "no-json":
            await self._send(200, b"{not json", "application/json")
        elif fault.how == "empty":
            await self._send(200, b"", "application/json")
        elif fault.how == "error-list":
            await self._json({"error-list": [_error("api-error", "the database is away")], "results": []})
        else:
            await self._send(int(fault.how), b'{"error-list": []}', "application/json", fault.headers)

    async def _json(self, document: Any) -> None:
        if document is None:
            await self._send(404, b'{"error-list": []}', "application/json")
        else:
            await self._send(200, json.dumps(document).encode(), "application/json")

    async def _blob(self, path: str) -> None:
        data = self.store.blob(path)
        if data is None:
            await self._send(404, b"no such file", "text/plain")
            return
        how = self.fault.how if self.fault else ""
        if how == "wrong":
            data = bytes(len(data))
        if how == "huge":
            data += bytes(1 << 20)
        begin, status, headers = 0, 200, {}
        if wanted := self.headers.get("range"):
            begin = int(wanted.removeprefix("bytes=").rstrip("-"))
            if begin >= len(data):
                await self._send(416, b"", "text/plain")
                return
            status, headers = 206, {"Content-Range": f"bytes {begin}-{len(data) - 1}/{len(data)}"}
        await self._send(status, data[begin:], "application/octet-stream", headers)

    async def _send(
        self, status: int, body: bytes, kind: str, headers: Mapping[str, str] | None = None
    ) -> None:
        named = {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}
        pairs = [(name.lower().encode(), value.encode()) for name, value in named.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": pairs})
        if self.fault is not None and self.fault.how == "cut" and len(body) > 1:
            await self.send({"type": "http.response.body", "body": body[: len(body) // 2]})
            raise Cut
        await self.send({"type": "http.response.body", "body": body})


@contextmanager
def running() -> Iterator[HubStore]:
    """Run a stand-in for the length of the block."""
    store = HubStore()
    with serve(store) as store.url:
        yield store
