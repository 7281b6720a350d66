"""Source trees with a `charmcraft.yaml`: what charmcraft would write into the archive. Layer: charms.

Only the split of the file and the `dispatch` script; nothing is built. Mirrors: charmcraft's package service.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pushjuju.charms import yamlsafe
from pushjuju.charms.goform import quote, typed
from pushjuju.core.errors import InvalidCharm, NotValid

FILE = "charmcraft.yaml"
PREFIX = f'parsing "{FILE}" file: '

_REQUIRED = ("name", "summary", "description")
_VERBATIM = (
    "assumes",
    "charm-user",
    "containers",
    "devices",
    "extra-bindings",
    "peers",
    "provides",
    "requires",
    "resources",
    "storage",
    "subordinate",
    "terms",
)
_METADATA_KEYS = (*_REQUIRED, *_VERBATIM, "title", "links")
_LINKS = {
    "contact": "maintainers",
    "documentation": "docs",
    "issues": "issues",
    "source": "source",
    "website": "website",
}
_LABEL = re.compile(r"(?:([a-z]+)@([^:]+):)?(.+)")

_DISPATCH = """#!/bin/sh
# The entry of every event: runs the charm's Python code with the packages it carries.
export JUJU_DISPATCH_PATH="${JUJU_DISPATCH_PATH:-$0}"
export PYTHONPATH=lib:venv
exec python3 {entry}
"""


def generate(data: bytes, present: Callable[[str], bool]) -> dict[str, bytes]:
    """Return the files of a packed charm that only `charmcraft.yaml` describes: name -> content.

    Args:
        data: Bytes of `charmcraft.yaml`.
        present: Tells whether the tree has a path of its own.

    Raises:
        InvalidCharm: The file does not describe a charm.
    """
    project = _project(data)
    out: dict[str, bytes] = {}
    _split(project, present, out)
    if not present("manifest.yaml"):
        bases = list(_bases(project))
        if bases:
            out["manifest.yaml"] = _document({"bases": bases})
    entry = _entry(project)
    if not present("dispatch") and not present("hooks") and present(entry):
        out["dispatch"] = _DISPATCH.replace("{entry}", entry).encode()
    return out


def _entry(project: Mapping[str, Any]) -> str:
    """Return the program that events run: `src/charm.py` unless the plugin charm names another."""
    parts = project.get("parts")
    for part in parts.values() if isinstance(parts, dict) else ():
        chosen = part.get("charm-entrypoint") if isinstance(part, dict) else None
        if isinstance(chosen, str) and re.fullmatch(r"[\w./-]+", chosen) and ".." not in chosen:
            return chosen
    return "src/charm.py"


def _project(data: bytes) -> dict[str, Any]:
    try:
        # Four levels: `config: {options: {NAME: {type: ...}}}`.
        project = yamlsafe.load(data, text_keys=4)
    except NotValid as error:
        raise _fault(error.message) from None
    if not isinstance(project, dict):
        raise _fault(f"expected map, got {typed(project)}")
    if project.get("type", "charm") != "charm":
        raise _fault(f"type {quote(str(project['type']))} is not a charm", key="type")
    return project


def _fault(text: str, *, key: str = "") -> InvalidCharm:
    return InvalidCharm(PREFIX + text, file=FILE, key=key)


def _split(project: Mapping[str, Any], present: Callable[[str], bool], out: dict[str, bytes]) -> None:
    if present("metadata.yaml"):
        _refuse_both(project, _VERBATIM, "metadata.yaml")
    else:
        out["metadata.yaml"] = _document(_metadata(project))
    for key, file in (("config", "config.yaml"), ("actions", "actions.yaml")):
        if key not in project:
            continue
        if present(file):
            _refuse_both(project, (key,), file)
        out[file] = _document(project[key])


def _refuse_both(project: Mapping[str, Any], keys: tuple[str, ...], file: str) -> None:
    for key in keys:
        if key in project:
            raise _fault(f"{quote(key)} cannot be used when {file} exists", key=key)


def _metadata(project: Mapping[str, Any]) -> dict[str, Any]:
    for key in _REQUIRED:
        if key not in project:
            raise _fault(f"{key}: expected string, got nothing", key=key)
    out = {key: project[key] for key in (*_REQUIRED, *_VERBATIM) if key in project}
    if "title" in project:
        out["display-name"] = project["title"]
    links = project.get("links") or {}
    if not isinstance(links, dict):
        raise _fault(f"links: expected map, got {typed(links)}", key="links")
    for key, name in _LINKS.items():
        if key in links:
            value = links[key]
            out[name] = [value] if name == "maintainers" and isinstance(value, str) else value
    return out


def _document(value: Any) -> bytes:
    """Return a YAML document; written as JSON, whose words mean the same to every YAML parser."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _bases(project: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if project.get("bases"):
        yield from _old_bases(project["bases"])
        return
    base, platforms = project.get("base"), project.get("platforms")
    if platforms is None:
        if base:
            raise _fault("platforms: expected map, got nothing", key="platforms")
        return
    if not isinstance(platforms, dict):
        raise _fault(f"platforms: expected map, got {typed(platforms)}", key="platforms")
    found: dict[tuple[str, str], list[str]] = {}
    for label, entry in platforms.items():
        for name, channel, arch in _targets(str(label), entry, base):
            arches = found.setdefault((name, channel), [])
            if arch not in arches:
                arches.append(arch)
    for (name, channel), arches in found.items():
        yield {"name": name, "channel": channel, "architectures": arches}


def _targets(label: str, entry: Any, base: Any) -> Iterator[tuple[str, str, str]]:
    given = entry.get("build-for") if isinstance(entry, dict) else None
    texts = [given] if isinstance(given, str) else given if isinstance(given, list) and given else [label]
    for text in map(str, texts):
        match = _LABEL.fullmatch(text)
        own = _LABEL.fullmatch(label)
        if match is None or own is None:
            raise _fault(f"platform {quote(label)} not valid", key=f"platforms.{label}")
        name, channel, arch = match[1] or own[1], match[2] or own[2], match[3]
        if not name and isinstance(base, str) and base.count("@") == 1:
            name, channel = base.split("@")
        if not name:
            raise _fault(f"platform {quote(label)} has no base", key=f"platforms.{label}")
        yield name, channel, arch


def _old_bases(entries: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(entries, list):
        raise _fault(f"bases: expected list, got {typed(entries)}", key="bases")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise _fault(f"bases[{number}]: expected map, got {typed(entry)}", key=f"bases[{number}]")
        if "name" in entry:
            yield _run_on(entry)
            continue
        targets = entry.get("run-on") or entry.get("build-on") or []
        for target in targets if isinstance(targets, list) else []:
            if isinstance(target, dict):
                yield _run_on(target)


def _run_on(entry: Mapping[Any, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in ("name", "channel", "architectures") if key in entry}
