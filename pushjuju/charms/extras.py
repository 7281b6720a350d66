"""The small files of a charm: LXD profile, metrics, revision, version. Layer: charms.

Mirrors: juju/charm lxdprofile.go metrics.go charmdir.go.
"""

from __future__ import annotations

import re
from typing import Any

from pushjuju.charms import yamlsafe
from pushjuju.charms.goform import quote, typed
from pushjuju.charms.model import LXDProfile
from pushjuju.charms.problems import Problems
from pushjuju.core.errors import NotValid

PROFILE_FILE = "lxd-profile.yaml"
METRICS_FILE = "metrics.yaml"
VERSION_LENGTH = 100

_DEVICE_TYPES = ("unix-char", "unix-block", "gpu", "usb")
_FORBIDDEN_CONFIG = ("boot", "limits", "migration")
_METRIC_TYPES = ("gauge", "absolute")
_VCS_PREFIX = "revision-id: "


def read_profile(data: bytes, problems: Problems) -> LXDProfile | None:
    """Return the LXD profile; a file that is no profile goes to `problems`."""
    try:
        raw = yamlsafe.load(data)
        return _profile({} if raw is None else raw)
    except NotValid as error:
        problems.add(PROFILE_FILE, f"failed to unmarshall {PROFILE_FILE}: {error.message}")
        return None


def _profile(raw: Any) -> LXDProfile:
    if not isinstance(raw, dict):
        raise NotValid(f"expected map, got {typed(raw)}")
    devices = raw.get("devices") or {}
    if not isinstance(devices, dict):
        raise NotValid(f"devices: expected map, got {typed(devices)}")
    description = raw.get("description") or ""
    return LXDProfile(
        description=description if isinstance(description, str) else str(description),
        config=_strings(raw.get("config"), "config"),
        devices={str(name): _strings(entry, f"devices.{name}") for name, entry in devices.items()},
    )


def _strings(value: Any, path: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise NotValid(f"{path}: expected map, got {typed(value)}")
    out = {}
    for key, item in value.items():
        if isinstance(item, list | dict) or item is None:
            raise NotValid(f"{path}.{key}: expected string, got {typed(item)}")
        # LXD's values are texts; plain numbers and truth values are taken as they are written in YAML.
        out[str(key)] = str(item).lower() if isinstance(item, bool) else str(item)
    return out


def check_profile(profile: LXDProfile) -> None:
    """Refuse devices and settings that a charm may not ask for; `--force` skips this.

    Raises:
        NotValid: The profile asks for too much; the message is Juju's.
    """
    for device in profile.devices.values():
        kind = device.get("type", "")
        if kind not in _DEVICE_TYPES:
            raise NotValid(f"invalid {PROFILE_FILE}: contains device type {quote(kind)}")
    for key in profile.config:
        if key.startswith(_FORBIDDEN_CONFIG):
            raise NotValid(f"invalid {PROFILE_FILE}: contains config value {quote(key)}")


def check_metrics(data: bytes, problems: Problems) -> None:
    """Check a file that nothing reads any more: a bad one still refuses the charm, as in Juju."""
    try:
        raw = yamlsafe.load(data)
    except NotValid as error:
        problems.add(METRICS_FILE, f'parsing "{METRICS_FILE}" file: {error.message}')
        return
    metrics = raw.get("metrics") if isinstance(raw, dict) else None
    for name, entry in (metrics if isinstance(metrics, dict) else {}).items():
        fault = _metric_fault(str(name), entry if isinstance(entry, dict) else {})
        if fault:
            text = f'parsing "{METRICS_FILE}" file: {fault}'
            problems.add(METRICS_FILE, text, key=f"metrics.{name}")
    if metrics:
        problems.warn(f"{METRICS_FILE}: metrics are not collected any more; the file is ignored")


def _metric_fault(name: str, entry: dict[Any, Any]) -> str:
    kind, description = entry.get("type") or "", entry.get("description") or ""
    if name == "juju" or name.startswith("juju-"):
        if not kind and not description:
            return ""
        reason = "is using a prefix reserved for built-in metrics: it should not have type or description"
        return f"metric {quote(name)} {reason} specification"
    if kind not in _METRIC_TYPES:
        return f"invalid metrics declaration: metric {quote(name)} has unknown type {quote(str(kind))}"
    return "" if description else f"invalid metrics declaration: metric {quote(name)} lacks description"


def read_revision(data: bytes, problems: Problems) -> int:
    """Return the number in a `revision` file; anything else goes to `problems`."""
    words = data.split(maxsplit=1)
    if not words or not re.fullmatch(rb"[+]?[0-9]{1,9}", words[0]):
        problems.add("revision", "invalid revision file")
        return 0
    return int(words[0])


def read_version(data: bytes) -> str:
    """Return the version text: the first line, without a bzr prefix, cut to 100 characters."""
    lines = data.decode("utf-8", "replace").splitlines()
    return clean_version(lines[0] if lines else "")


def clean_version(text: str) -> str:
    """Return a version text as status may show it."""
    return text.strip().removeprefix(_VCS_PREFIX)[:VERSION_LENGTH]
