"""Makes the documents of `find` and `info` from a store's answers. Pure.

Mirrors: juju charmhub/{find,info}.go, cmd/juju/charmhub/{convert,infowriter,findwriter}.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.charms.format import yamlsafe
from pushjuju.core.base import RISKS
from pushjuju.core.charmstore import HubError
from pushjuju.core.errors import NotValid

FIND_FIELDS = (
    "result.publisher.display-name,result.summary,result.store-url,"
    "default-release.revision.bases.architecture,default-release.revision.bases.name,"
    "default-release.revision.bases.channel,default-release.revision.version"
)
INFO_FIELDS = ",".join(
    (
        "result.categories.featured", "result.categories.name", "result.contains-charms.name",
        "result.contains-charms.package-id", "result.contains-charms.store-url", "result.description",
        "result.license", "result.publisher.display-name", "result.store-url", "result.summary",
        *(
            f"default-release.revision.{name}"
            for name in (
                "download.size", "config-yaml", "metadata-yaml", "bundle-yaml", "bases.architecture",
                "bases.name", "bases.channel", "revision", "version",
            )
        ),
        *(
            f"channel-map.revision.{name}"
            for name in (
                "download.size", "created-at", "bases.architecture", "bases.name", "bases.channel",
                "revision", "version",
            )
        ),
        *(
            f"{part}.channel.{name}"
            for part in ("default-release", "channel-map")
            for name in (
                "name", "base.architecture", "base.name", "base.channel", "released-at", "risk", "track",
            )
        ),
    )
)  # fmt: skip


def text(item: Any, *keys: str) -> str:
    """Return the text at a path in a document; empty when the document has no text there."""
    for key in keys:
        item = item.get(key) if isinstance(item, Mapping) else None
    return item.encode("utf-8", "replace").decode() if isinstance(item, str) else ""


def number(item: Any, *keys: str) -> int:
    """Return the number at a path in a document, or 0 when the document has no number there."""
    for key in keys:
        item = item.get(key) if isinstance(item, Mapping) else None
    return item if isinstance(item, int) and not isinstance(item, bool) else 0


def items(item: Any, *keys: str) -> list[Mapping[str, Any]]:
    """Return the maps of the list at a path in a document."""
    for key in keys:
        item = item.get(key) if isinstance(item, Mapping) else None
    return [each for each in item if isinstance(each, Mapping)] if isinstance(item, list) else []


def bases(listed: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the bases of a revision, each once, in the store's order."""
    found: list[dict[str, str]] = []
    for item in listed:
        base = {"name": text(item, "name"), "channel": text(item, "channel")}
        if base["name"] and base not in found:
            found.append(base)
    return found


def arches(listed: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the architectures of a revision, sorted."""
    return sorted({text(item, "architecture") for item in listed} - {""})


def found_entry(item: Mapping[str, Any]) -> dict[str, object]:
    """Return one result of `find` in the form of Juju's documents."""
    release = item.get("default-release")
    listed = items(release, "revision", "bases")
    entry: dict[str, object] = {
        "type": text(item, "type"),
        "id": text(item, "id"),
        "name": text(item, "name"),
        "publisher": text(item, "result", "publisher", "display-name"),
        "summary": text(item, "result", "summary"),
        "version": text(release, "revision", "version"),
    }
    if listed:
        entry["architectures"] = arches(listed)
        entry["os"] = sorted({text(base, "name") for base in listed} - {""})
        entry["supports"] = bases(listed)
    entry["store-url"] = text(item, "result", "store-url")
    return entry


def channels(document: Mapping[str, Any]) -> tuple[list[str], dict[str, dict[str, list[dict[str, object]]]]]:
    """Return the tracks in the store's order, and the revisions as track -> risk -> revisions."""
    tracks: list[str] = []
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for item in items(document, "channel-map"):
        channel, revision = item.get("channel"), item.get("revision")
        track, risk = text(channel, "track") or "latest", text(channel, "risk")
        if risk not in RISKS:
            continue
        if track not in found:
            tracks.append(track)
        base = channel.get("base") if isinstance(channel, Mapping) else None
        entries = found.setdefault(track, {}).setdefault(risk, [])
        listed = [base] if isinstance(base, Mapping) else items(revision, "bases")
        same = next((one for one in entries if one["revision"] == number(revision, "revision")), None)
        if same is not None:
            same["architectures"] = sorted({*same["architectures"], *arches(listed)})
            same["bases"] += [one for one in bases(listed) if one not in same["bases"]]
            continue
        entries.append(
            {
                "track": track,
                "risk": risk,
                "version": text(revision, "version"),
                "revision": number(revision, "revision"),
                "released-at": text(channel, "released-at"),
                "size": number(revision, "download", "size"),
                "architectures": arches(listed),
                "bases": bases(listed),
            }
        )
    return tracks, found


def info_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of `info` for a charm or bundle, in the order of Juju's documents."""
    kind = text(document, "type")
    if kind not in ("charm", "bundle"):
        raise HubError(f'unexpected response type "{kind[:40]}", expected charm or bundle')
    result = document.get("result")
    tracks, listed = channels(document)
    entry: dict[str, object] = {
        "type": kind,
        "id": text(document, "id"),
        "name": text(document, "name"),
        "description": text(result, "description"),
        "publisher": text(result, "publisher", "display-name"),
        "summary": text(result, "summary"),
    }
    if supported := bases(items(document, "default-release", "revision", "bases")):
        entry["supports"] = supported
    entry["store-url"] = text(result, "store-url")
    if tags := [text(item, "name") for item in items(result, "categories") if text(item, "name")]:
        entry["tags"] = tags
    if kind == "charm":
        entry["charm"] = _charm(document)
    else:
        entry["bundle"] = {
            "charms": [{"name": text(one, "name")} for one in items(result, "contains-charms")]
        }
    entry["channels"] = listed
    entry["tracks"] = tracks
    return entry


def _charm(document: Mapping[str, Any]) -> dict[str, object]:
    revision = document.get("default-release")
    metadata = _yaml(text(revision, "revision", "metadata-yaml"))
    config = _yaml(text(revision, "revision", "config-yaml"))
    entry: dict[str, object] = {}
    if options := config.get("options"):
        entry["config"] = {
            "Options": {
                str(name): {
                    "Type": str(one.get("type", "string")),
                    "Description": str(one.get("description") or ""),
                    "Default": one.get("default"),
                }
                for name, one in (options.items() if isinstance(options, dict) else ())
                if isinstance(one, dict)
            }
        }
    relations = {role: _interfaces(metadata.get(role)) for role in ("provides", "requires")}
    if any(relations.values()):
        entry["relations"] = {role: found for role, found in relations.items() if found}
    entry["subordinate"] = metadata.get("subordinate") is True
    return entry


def _interfaces(endpoints: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in endpoints.items() if isinstance(endpoints, dict) else ():
        interface = value.get("interface") if isinstance(value, dict) else value
        if isinstance(interface, str):
            found[str(name)] = interface
    return found


def _yaml(content: str) -> dict[str, object]:
    """Return the map in a YAML text of the store; empty for a text that cannot be read."""
    try:
        found = yamlsafe.load(content.encode())
    except NotValid:
        return {}
    return found if isinstance(found, dict) else {}
