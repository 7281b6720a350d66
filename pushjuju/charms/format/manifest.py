"""Reads `manifest.yaml`: the bases that a charm was built for. Mirrors: juju/charm manifest.go."""

from __future__ import annotations

import re
from typing import Any

from pushjuju.charms.format import yamlload
from pushjuju.charms.format.coerce import Report
from pushjuju.charms.values.goform import typed
from pushjuju.charms.values.model import Manifest, ManifestBase
from pushjuju.charms.values.problems import Problems
from pushjuju.core.base import OS_NAMES, RISKS, Base
from pushjuju.core.errors import NotValid
from pushjuju.portable.quote import quote

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
    """Return Juju's name of an architecture, or None when Juju does not know it. Mirrors: juju/utils/arch."""
    for pattern, name in _ARCHES:
        if pattern.fullmatch(text):
            return name
    return None


def read_manifest(data: bytes, problems: Problems) -> Manifest:
    """Return the manifest; faults go to `problems`."""
    try:
        raw = yamlload.load(data)
    except NotValid as error:
        problems.add(FILE, PREFIX + error.message)
        return Manifest()
    return manifest_from(raw, problems)


def manifest_from(raw: Any, problems: Problems) -> Manifest:
    """Return the manifest of a decoded document; faults go to `problems`."""

    def report(path: str, text: str) -> None:
        problems.add(FILE, PREFIX + text, key=path)

    document = {} if raw is None else raw
    if not isinstance(document, dict):
        report("", f"manifest: expected map, got {typed(raw)}")
        return Manifest()
    entries = _list(document.get("bases"), "bases", report)
    found = [_base(entry, f"bases[{number}]", report) for number, entry in enumerate(entries)]
    return Manifest(bases=tuple(base for base in found if base is not None))


def _list(value: Any, path: str, report: Report) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        report(path, f"{path}: expected list, got {typed(value)}")
        return []
    return value


def _base(entry: Any, path: str, report: Report) -> ManifestBase | None:
    if not isinstance(entry, dict):
        report(path, f"{path}: expected map, got {typed(entry)}")
        return None
    name = _name(entry.get("name"), f"{path}.name", report)
    base = _channel(name or "", entry.get("channel"), f"{path}.channel", report)
    arches = _arches(entry.get("architectures"), f"{path}.architectures", report)
    if name is None or base is None or arches is None:
        return None
    return ManifestBase(base=base, architectures=arches)


def _name(value: Any, path: str, report: Report) -> str | None:
    text = _string(value, path, report)
    if text == "":
        report(path, "validating manifest: base without name not valid")
    elif text is not None and text.lower() not in OS_NAMES:
        report(path, f"validating manifest: os {quote(text)} not valid")
    else:
        return text.lower() if text else None
    return None


def _channel(name: str, value: Any, path: str, report: Report) -> Base | None:
    text = _string(value, path, report)
    if text is None:
        return None
    base = _with_channel(name, text) if text else None
    if base is None:
        reason = f"parsing channel {quote(text)}: " if text else ""
        report(path, f"validating manifest: {reason}channel not valid")
    return base


def _string(value: Any, path: str, report: Report) -> str | None:
    """Return a text, empty when the value is missing, or None after reporting a value of another type."""
    if value is not None and not isinstance(value, str):
        report(path, f"{path}: expected string, got {typed(value)}")
        return None
    return value or ""


def _with_channel(name: str, channel: str) -> Base | None:
    """Return the base of a channel `track[/risk]`; a branch after the risk is dropped."""
    track, *more = channel.split("/")
    if not track or "@" in track or len(more) > 2 or "" in more or (more and more[0] not in RISKS):
        return None
    return Base(name, track, more[0] if more else "stable")


def _arches(value: Any, path: str, report: Report) -> tuple[str, ...] | None:
    """Return the architectures (empty for any architecture), or None when some are not valid."""
    found = []
    for number, item in enumerate(_list(value, path, report)):
        text = _string(item, f"{path}[{number}]", report)
        if text == ANY_ARCH:
            return ()
        arch = normalise_arch(text.lower()) if text is not None else None
        if text is not None and arch is None:
            report(f"{path}[{number}]", f"validating manifest: architecture {quote(text)} not valid")
        found.append(arch)
    known = [arch for arch in found if arch is not None]
    return tuple(dict.fromkeys(known)) if len(known) == len(found) else None
