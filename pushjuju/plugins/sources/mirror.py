"""A mirror: charms and resources in a directory or on any web server, for sites without the internet.

The directory has `mirror.json`, `info/NAME.json` and `files/SHA256`; `pushjuju mirror` writes them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from pushjuju.charms.hub.resolve import resolve
from pushjuju.charms.hub.wire import NO_REVISION, Fault, download, resources
from pushjuju.core.base import LATEST, RISKS, Channel
from pushjuju.core.charmstore import Ask, Download, HubError, Platform, StoreCharm, StoreResource
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.plugins.api.sources import SourceServices, Tell, no_tell
from pushjuju.plugins.sources.charmhub import open_http
from pushjuju.plugins.sources.http import verify
from pushjuju.portable.names import is_application

TYPE = "mirror"
INDEX, INFO, FILES = "mirror.json", "info", "files"
_FORMAT = 1
_PREFIX = "mirror+"


class Mirror:
    """A store in a directory, on this computer or on a web server."""

    def __init__(self, address: str, services: SourceServices) -> None:
        self.address = address.removeprefix(_PREFIX).rstrip("/")
        self._services = services
        self._index: list[StoreCharm] | None = None
        self._defaults: dict[str, Channel] = {}
        self._more: dict[str, list[StoreResource]] = {}

    # --- reading ------------------------------------------------------------------------------------------

    def resolve(self, asks: Sequence[Ask]) -> list[StoreCharm | HubError]:
        return resolve(asks, lambda some: [self._answer(ask) for ask in some]) if asks else []

    def resources(self, charm: str, resource: str) -> list[StoreResource]:
        """Return all mirrored revisions of a resource."""
        found = {
            item.revision: item
            for entry in self._entries()
            for item in (*entry.resources, *self._more.get(entry.name, ()))
            if entry.name == charm and item.name == resource
        }
        if not found:
            raise HubError(f'"{resource}" for "{charm}" not found', reason="not-found")
        return [found[revision] for revision in sorted(found, reverse=True)]

    def fetch(self, wanted: Download, target: Path, what: str, tell: Tell = no_tell) -> None:
        """Copy or download a file and check its hashes."""
        if self._local is None:
            open_http(self._services).file(wanted, target, what, tell)
            return

        source = self._local / FILES / wanted.url.rpartition("/")[2]
        part = target.with_name(f"{target.name}.part")
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(source, part)
        except OSError as error:
            raise HubError(f"cannot read {source}: {error.strerror}") from None
        verify(wanted, part, what)
        part.replace(target)

    def info(self, name: str, channel: str = "") -> Mapping[str, Any]:  # noqa: ARG002 - all is one document
        """Return the store's description of a charm at the time when it was mirrored."""
        if not any(entry.name == name for entry in self._entries()):
            raise HubError(f"{name} not found", reason="not-found")
        found = self._read(f"{INFO}/{name}.json")
        if not isinstance(found, dict):
            raise HubError(f"the mirror at {self.address} is damaged: {INFO}/{name}.json")
        listed = found.get("channel-map")
        here = [item for item in (listed if isinstance(listed, list) else ()) if self._has(name, item)]
        return {**found, "channel-map": here}

    def _has(self, name: str, item: Any) -> bool:
        """Return True when the mirror has a release that the store lists."""
        try:
            number, track = item["revision"]["revision"], item["channel"].get("track") or LATEST
        except (KeyError, TypeError, AttributeError):
            return False
        return any(
            entry.name == name
            and entry.revision == number
            and (entry.channel is None or entry.channel.full().track == track)
            for entry in self._entries()
        )

    def find(self, query: str, options: Mapping[str, str]) -> list[Mapping[str, Any]]:
        """Return the mirrored charms whose name contains a text."""
        names = sorted({entry.name for entry in self._entries() if query in entry.name})
        found = [self.info(name) for name in names]
        kind = options.get("type", "")
        return [item for item in found if not kind or item.get("type") == kind]

    # --- the index ----------------------------------------------------------------------------------------

    @property
    def _local(self) -> Path | None:
        if not self.address.startswith("file://"):
            return None

        return Path(unquote(self.address.removeprefix("file://")))

    def _entries(self) -> list[StoreCharm]:
        if self._index is None:
            document = self._read(INDEX)
            if not isinstance(document, dict) or document.get("format") != _FORMAT:
                raise HubError(f"{self.address} is not a mirror of charms", hint="pushjuju mirror --help")
            listed = document.get("charms")
            self._index = [self._entry(item) for item in (listed if isinstance(listed, list) else ())]
        return self._index

    def _read(self, path: str) -> Any:
        if self._local is None:
            return open_http(self._services).json("GET", f"{self.address}/{quote(path)}")
        try:
            return json.loads((self._local / path).read_bytes())
        except FileNotFoundError:
            raise HubError(f"{self._local} is not a mirror of charms: {path} is missing") from None
        except (OSError, ValueError, RecursionError) as error:
            raise HubError(f"{self._local / path} cannot be read: {error}") from None

    def _entry(self, item: Any) -> StoreCharm:
        """Return the release that an entry of the index describes."""
        try:
            if not is_application(item["name"]):
                raise NotValid("its name is not valid")
            link = {**item["download"], "url": self._url(item["download"])}
            listed, more = (
                [
                    {**one, "download": {**one["download"], "url": self._url(one["download"])}}
                    for one in item.get(key, [])
                ]
                for key in ("resources", "more")
            )
            self._more.setdefault(item["name"], []).extend(resources(more, secure=False))
            entry = StoreCharm(
                id=str(item["id"]),
                name=item["name"],
                kind=str(item.get("type", "charm")),
                revision=int(item["revision"]),
                channel=Channel.parse(item["channel"]) if item.get("channel") else None,
                platform=Platform(),
                platforms=tuple(_platform(one) for one in item.get("platforms", [])),
                download=download(link, item["name"], secure=False),
                resources=tuple(resources(listed, secure=False)),
                version=str(item.get("version", "")),
                source=TYPE,
                metadata=str(item.get("metadata-yaml") or ""),
                config=str(item.get("config-yaml") or ""),
            )
        except (KeyError, TypeError, ValueError, AttributeError, NotValid) as error:
            raise HubError(f"the index of the mirror at {self.address} is damaged: {error!r}") from None
        if item.get("default") and entry.channel:
            self._defaults.setdefault(entry.name, entry.channel)
        return entry

    def _url(self, item: Mapping[str, Any]) -> str:
        # For a mirror in a directory, the URL only contains the file's name; no request is sent to it.
        base = self.address if self._local is None else "http://mirror.invalid"
        return f"{base}/{FILES}/{item['hash-sha-256'] or item['hash-sha-384']}"

    # --- choosing -----------------------------------------------------------------------------------------

    def _answer(self, ask: Ask) -> StoreCharm | Fault:
        mine = [entry for entry in self._entries() if entry.name == ask.name]
        if not mine:
            return Fault(code="name-not-found", message="charm or bundle name not found")
        if ask.revision >= 0:
            fit = [entry for entry in mine if entry.revision == ask.revision]
            return self._picked(fit[0], ask) if fit else Fault(code=NO_REVISION, message="revision not found")
        channel = self._channel(ask, mine)
        for risk in reversed(RISKS[: RISKS.index(channel.risk) + 1]):
            wanted = replace(channel, risk=risk)
            fit = [entry for entry in mine if entry.channel and entry.channel.full() == wanted]
            usable = [entry for entry in fit if _runs_on(entry, ask.platform)]
            if usable:
                return self._picked(max(usable, key=lambda entry: entry.revision), ask)
            if fit and ask.platform.base is None:
                return Fault(code="invalid-charm-base", message="invalid base", bases=fit[0].platforms)
        releases = [
            (entry.channel, platform) for entry in mine if entry.channel for platform in entry.platforms
        ]
        return Fault(code=NO_REVISION, message="revision not found", releases=tuple(releases))

    def _channel(self, ask: Ask, mine: Sequence[StoreCharm]) -> Channel:
        wanted = (ask.channel or (ask.held.channel if ask.held else Channel())).normal()
        if wanted.track:
            return wanted
        default = self._defaults.get(ask.name) or next((one.channel for one in mine if one.channel), None)
        return replace(wanted, track=default.track if default else LATEST)

    def _picked(self, entry: StoreCharm, ask: Ask) -> StoreCharm:
        named = {
            item.name: item
            for other in self._entries()
            if other.name == entry.name
            for item in (*other.resources, *self._more.get(other.name, ()))
            if ask.resources.get(item.name) == item.revision
        }
        missing = sorted(set(ask.resources) - set(named))
        if missing:
            raise NotFound(f'charm resource "{missing[0]}" at revision {ask.resources[missing[0]]} not found')
        listed = tuple(named.get(item.name, item) for item in entry.resources)
        channel = entry.channel if ask.revision < 0 else ask.channel
        return replace(entry, platform=ask.platform, channel=channel, resources=listed)


def _platform(item: Mapping[str, Any]) -> Platform:
    """Return the platform of an item of the index; raise NotValid when the text is not a platform."""
    values = {key: item[key] for key in ("arch", "os", "track")}
    if not all(isinstance(value, str) for value in values.values()):
        raise NotValid("one of its platforms is not valid")
    return Platform(**values)


def _runs_on(entry: StoreCharm, platform: Platform) -> bool:
    return any(
        one.arch in (platform.arch, "", "all") and (one.os, one.track) == (platform.os, platform.track)
        for one in entry.platforms
    )


# --- writing ----------------------------------------------------------------------------------------------


def entry_document(
    charm: StoreCharm, *, default: bool, more: Sequence[StoreResource] = ()
) -> dict[str, object]:
    """Return a charm's entry for the index; `more` are other revisions of the charm's resources."""
    return {
        "id": charm.id,
        "name": charm.name,
        "type": charm.kind,
        "revision": charm.revision,
        "version": charm.version,
        "channel": str(charm.channel.full()) if charm.channel else "",
        "default": default,
        "platforms": [asdict(item) for item in charm.platforms],
        "download": _download(charm.download),
        "resources": [_resource(item) for item in charm.resources if item.download.url],
        "more": [_resource(item) for item in more],
        "metadata-yaml": charm.metadata,
        "config-yaml": charm.config,
    }


def _resource(item: StoreResource) -> dict[str, object]:
    return {
        "name": item.name,
        "type": item.type,
        "filename": item.filename,
        "description": item.description,
        "revision": item.revision,
        "download": _download(item.download),
    }


def _download(item: Download) -> dict[str, object]:
    return {"hash-sha-256": item.sha256, "hash-sha-384": item.sha384, "size": item.size}


def file_name(item: Download) -> str:
    """Return the name of a downloaded file in the mirror."""
    return item.sha256 or item.sha384


def read_index(folder: Path) -> list[dict[str, object]]:
    """Return the entries of an existing mirror; empty when there is none yet."""
    try:
        found = json.loads((folder / INDEX).read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise HubError(f"{folder / INDEX} cannot be read: {error}") from None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise HubError(f"{folder} is not a mirror of charms")
    return [item for item in found.get("charms") or () if isinstance(item, dict)]


def write_index(folder: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write the index atomically."""
    order = sorted(entries, key=lambda item: (item["name"], item["channel"], -item["revision"]))
    text = json.dumps({"format": _FORMAT, "charms": order}, indent=2)
    temporary = folder / f".{INDEX}.new"
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.replace(folder / INDEX)
