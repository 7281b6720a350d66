"""Reads `manifest.yaml`: the bases a charm was made for. Layer: charms. Mirrors: juju/charm manifest.go."""

from __future__ import annotations

import re
from typing import Any

from pushjuju.charms import yamlsafe
from pushjuju.charms.goform import quote, typed
from pushjuju.charms.model import Manifest, ManifestBase
from pushjuju.charms.problems import Problems
from pushjuju.core.base import OS_NAMES, RISKS, Base
from pushjuju.core.errors import NotValid

FILE = "manifest.yaml"
PREFIX = f'parsing "{FILE}" file: '
ANY_ARCH = "all"

_ARCHES = (
    (re.compile(r"amd64|x86_64"), "amd64"),
    (re.compile(r"i?[3-9]86"), "i386"),
    (re.compile(r"arm64|aarch64"), "arm64"),
    (re.compile(r"arm.*"), "armhf"),
    (re.compile(r"ppc64.*"), "ppc64el"),
    (re.compile(r"s390x"), "s390x"),
    (re.compile(r"riscv.*"), "riscv64"),
)


def normalise_arch(text: str) -> str | None:
    """Return Juju's word for an architecture, None if it has none. Mirrors: juju/utils/arch."""
    for pattern, name in _ARCHES:
        if pattern.fullmatch(text):
            return name
    return None


def read_manifest(data: bytes, problems: Problems) -> Manifest:
    """Return the manifest; faults go to `problems`."""
    try:
        raw = yamlsafe.load(data)
    except NotValid as error:
        problems.add(FILE, PREFIX + error.message)
        return Manifest()
    return manifest_from(raw, problems)


def manifest_from(raw: Any, problems: Problems) -> Manifest:
    """Return the manifest of a decoded document; faults go to `problems`."""
    bases = []
    try:
        for number, entry in enumerate(_entries(raw)):
            bases.append(_base(entry, f"bases[{number}]"))
    except _Fault as fault:
        problems.add(FILE, PREFIX + fault.text, key=fault.key)
    return Manifest(bases=tuple(bases))


class _Fault(Exception):
    """The manifest is not valid at a key."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(text)
        self.key = key
        self.text = text


def _entries(raw: Any) -> list[Any]:
    document = {} if raw is None else raw
    if not isinstance(document, dict):
        raise _Fault("", f"manifest: expected map, got {typed(raw)}")
    return _list(document.get("bases"), "bases")


def _list(value: Any, path: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise _Fault(path, f"{path}: expected list, got {typed(value)}")
    return value


def _base(entry: Any, path: str) -> ManifestBase:
    if not isinstance(entry, dict):
        raise _Fault(path, f"{path}: expected map, got {typed(entry)}")
    name = _string(entry.get("name"), f"{path}.name")
    channel = _string(entry.get("channel"), f"{path}.channel")
    if not name:
        raise _Fault(f"{path}.name", "validating manifest: base without name not valid")
    if name.lower() not in OS_NAMES:
        raise _Fault(f"{path}.name", f"validating manifest: os {quote(name)} not valid")
    if not channel:
        raise _Fault(f"{path}.channel", "validating manifest: channel not valid")
    base = _with_channel(name.lower(), channel)
    if base is None:
        text = f"validating manifest: parsing channel {quote(channel)}: channel not valid"
        raise _Fault(f"{path}.channel", text)
    arches = _arches(entry.get("architectures"), f"{path}.architectures")
    return ManifestBase(base=base, architectures=arches)


def _string(value: Any, path: str) -> str:
    if value is not None and not isinstance(value, str):
        raise _Fault(path, f"{path}: expected string, got {typed(value)}")
    return value or ""


def _with_channel(name: str, channel: str) -> Base | None:
    """Return the base of a channel `track[/risk]`; a branch after the risk is dropped."""
    track, *more = channel.split("/")
    if not track or "@" in track or len(more) > 2 or "" in more or (more and more[0] not in RISKS):
        return None
    return Base(name, track, more[0] if more else "stable")


def _arches(value: Any, path: str) -> tuple[str, ...]:
    found = []
    for item in _list(value, path):
        text = _string(item, path)
        if text == ANY_ARCH:
            return ()
        arch = normalise_arch(text.lower())
        if arch is None:
            raise _Fault(path, f"validating manifest: architecture {quote(text)} not valid")
        found.append(arch)
    return tuple(dict.fromkeys(found))
