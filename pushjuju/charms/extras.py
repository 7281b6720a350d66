"""The small files of a charm: LXD profile, metrics, revision, version. Layer: charms.

Mirrors: juju/charm lxdprofile.go metrics.go charmdir.go.
"""

from __future__ import annotations

import re
from typing import Any

from pushjuju.charms import yamlsafe
from pushjuju.charms.goform import quote, typed
from pushjuju.charms.model import LXDProfile, MetricMeta, Metrics
from pushjuju.charms.problems import Problems
from pushjuju.core.errors import NotValid

PROFILE_FILE = "lxd-profile.yaml"
METRICS_FILE = "metrics.yaml"
VERSION_LENGTH = 100

_DEVICE_TYPES = ("unix-char", "unix-block", "gpu", "usb")
_FORBIDDEN_CONFIG = ("boot", "limits", "migration")
_METRIC_TYPES = ("gauge", "absolute")
_VCS_PREFIX = "revision-id: "


class _Fault(Exception):
    """A rule that a file breaks: key path and text."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(text)
        self.key = key
        self.text = text


# --- LXD profile ------------------------------------------------------------------------------------------


def read_profile(data: bytes, problems: Problems) -> LXDProfile | None:
    """Return the LXD profile; a file that is no profile goes to `problems`."""
    start = f"failed to unmarshall {PROFILE_FILE}: "
    try:
        return _profile(yamlsafe.load(data))
    except NotValid as error:
        problems.add(PROFILE_FILE, start + error.message)
    except _Fault as fault:
        problems.add(PROFILE_FILE, start + fault.text, key=fault.key)
    return None


def _profile(raw: Any) -> LXDProfile:
    content = _map(raw, "")
    description = content.get("description") or ""
    return LXDProfile(
        description=description if isinstance(description, str) else str(description),
        config=_strings(content.get("config"), "config"),
        devices={
            str(name): _strings(entry, f"devices.{name}")
            for name, entry in _map(content.get("devices"), "devices").items()
        },
    )


def _map(value: Any, path: str) -> dict[Any, Any]:
    """Return a map; nothing is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        start = f"{path}: " if path else ""
        raise _Fault(path, f"{start}expected map, got {typed(value)}")
    return value


def _strings(value: Any, path: str) -> dict[str, str]:
    out = {}
    for key, item in _map(value, path).items():
        if isinstance(item, list | dict) or item is None:
            raise _Fault(f"{path}.{key}", f"{path}.{key}: expected string, got {typed(item)}")
        # LXD's values are texts; plain numbers and truth values are taken as they are written in YAML.
        out[str(key)] = str(item).lower() if isinstance(item, bool) else str(item)
    return out


def check_profile(profile: LXDProfile) -> None:
    """Refuse devices and settings that a charm may not ask for; `--force` skips this.

    Raises:
        NotValid: The profile asks for too much; the message is Juju's, the detail is the place.
    """
    for name, device in profile.devices.items():
        kind = device.get("type", "")
        if kind not in _DEVICE_TYPES:
            text = f"invalid {PROFILE_FILE}: contains device type {quote(kind)}"
            raise NotValid(text, detail=f"at devices.{name}.type")
    for key in profile.config:
        if key.startswith(_FORBIDDEN_CONFIG):
            text = f"invalid {PROFILE_FILE}: contains config value {quote(key)}"
            raise NotValid(text, detail=f"at config.{key}")


# --- metrics ----------------------------------------------------------------------------------------------


def read_metrics(data: bytes, problems: Problems) -> Metrics | None:
    """Return the metrics, which nobody collects any more: a bad file still refuses the charm, as in Juju."""
    start = f'parsing "{METRICS_FILE}" file: '
    try:
        found = _metrics(yamlsafe.load(data))
    except NotValid as error:
        problems.add(METRICS_FILE, start + error.message)
        return None
    except _Fault as fault:
        problems.add(METRICS_FILE, start + fault.text, key=fault.key)
        return None
    if found.metrics:
        problems.warn(f"{METRICS_FILE}: metrics are not collected any more; the file is ignored")
    return found


def _metrics(raw: Any) -> Metrics:
    content = _map(raw, "")
    required = _map(content.get("plan"), "plan").get("required")
    if required is not None and not isinstance(required, bool):
        raise _Fault("plan.required", f"plan.required: expected bool, got {typed(required)}")
    entries = _map(content.get("metrics"), "metrics")
    return Metrics(
        metrics={str(name): _metric(str(name), entry) for name, entry in entries.items()},
        plan_required=required,
    )


def _metric(name: str, raw: Any) -> MetricMeta:
    path = f"metrics.{name}"
    entry = _map(raw, path)
    found = MetricMeta(
        name=name, type=str(entry.get("type") or ""), description=str(entry.get("description") or "")
    )
    if name == "juju" or name.startswith("juju-"):
        if found.type or found.description:
            reason = "is using a prefix reserved for built-in metrics: it should not have type or description"
            raise _Fault(path, f"metric {quote(name)} {reason} specification")
    elif found.type not in _METRIC_TYPES:
        start = f"invalid metrics declaration: metric {quote(name)}"
        raise _Fault(f"{path}.type", f"{start} has unknown type {quote(found.type)}")
    elif not found.description:
        text = f"invalid metrics declaration: metric {quote(name)} lacks description"
        raise _Fault(f"{path}.description", text)
    return found


# --- revision, version ------------------------------------------------------------------------------------


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
