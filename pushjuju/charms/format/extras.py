"""Reads the small files of a charm: LXD profile, metrics, revision, version.

Mirrors: juju/charm lxdprofile.go metrics.go charmdir.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from pushjuju.charms.format import coerce, yamlload
from pushjuju.charms.format.coerce import Report
from pushjuju.charms.values.goform import typed
from pushjuju.charms.values.model import LXDProfile, MetricMeta, Metrics
from pushjuju.charms.values.problems import Locate, Problem, Problems
from pushjuju.core.errors import NotValid
from pushjuju.portable.quote import quote

PROFILE_FILE = "lxd-profile.yaml"
METRICS_FILE = "metrics.yaml"
VERSION_LENGTH = 100

_DEVICE_TYPES = ("unix-char", "unix-block", "gpu", "usb")
_FORBIDDEN_CONFIG = ("boot", "limits", "migration")
_METRIC_TYPES = ("gauge", "absolute")
_VCS_PREFIX = "revision-id: "

T = TypeVar("T")


# --- LXD profile ------------------------------------------------------------------------------------------


def read_profile(data: bytes, problems: Problems) -> LXDProfile | None:
    """Return the LXD profile, or None after adding the faults of the file to `problems`."""
    return _read(PROFILE_FILE, data, problems, f"failed to unmarshall {PROFILE_FILE}: ", _profile)


def _read(
    file: str, data: bytes, problems: Problems, start: str, make: Callable[[Any, Report], T]
) -> T | None:
    """Return the value of a YAML file; its faults, which begin with `start`, are added to `problems`."""
    try:
        raw = yamlload.load(data)
    except NotValid as error:
        problems.add(file, start + error.message)
        return None
    return make(raw, lambda path, text: problems.add(file, start + text, key=path))


def _profile(raw: Any, report: Report) -> LXDProfile:
    content = _map(raw, "", report)
    description = content.get("description") or ""
    return LXDProfile(
        description=description if isinstance(description, str) else str(description),
        config=_strings(content.get("config"), "config", report),
        devices={
            str(name): _strings(entry, f"devices.{name}", report)
            for name, entry in _map(content.get("devices"), "devices", report).items()
        },
    )


def _map(value: Any, path: str, report: Report) -> dict[Any, Any]:
    """Return a map; empty for a missing value, and for a value of another type, which is reported."""
    if value is None or isinstance(value, dict):
        return value or {}
    coerce.fail(path, f"expected map, got {typed(value)}", report)
    return {}


def _strings(value: Any, path: str, report: Report) -> dict[str, str]:
    out = {}
    for key, item in _map(value, path, report).items():
        if isinstance(item, list | dict) or item is None:
            coerce.fail(f"{path}.{key}", f"expected string, got {typed(item)}", report)
        # The values of LXD are texts; numbers and booleans are accepted, and written as in YAML.
        out[str(key)] = str(item).lower() if isinstance(item, bool) else str(item)
    return out


def place_faults(profile: LXDProfile, locate: Locate) -> LXDProfile:
    """Return the profile with the file and line of each part that a charm may not ask for."""
    problems = profile_problems(profile)
    return replace(profile, places={item.key: locate(item) for item in problems}) if problems else profile


def profile_problems(profile: LXDProfile) -> list[Problem]:
    """Return the parts of a profile that a charm may not ask for without `--force`."""
    return [Problem(file=PROFILE_FILE, key=key, text=text) for key, text in _profile_faults(profile)]


def check_profile(profile: LXDProfile) -> None:
    """Refuse devices and settings that a charm may not ask for; `--force` skips this.

    Raises:
        NotValid: The profile has such a part; the message is Juju's text for the first, the detail gives its
            place and lists the others.
    """
    faults = [
        (", ".join(filter(None, (key, profile.places.get(key)))), text)
        for key, text in _profile_faults(profile)
    ]
    if faults:
        (where, first), *rest = faults
        also = ["also:", *(f"  {text} ({place})" for place, text in rest)] if rest else []
        raise NotValid(first, detail="\n".join([f"at {where}", *also]))


def _profile_faults(profile: LXDProfile) -> Iterator[tuple[str, str]]:
    start = f"invalid {PROFILE_FILE}: contains"
    for name, device in profile.devices.items():
        kind = device.get("type", "")
        if kind not in _DEVICE_TYPES:
            yield f"devices.{name}.type", f"{start} device type {quote(kind)}"
    for key in profile.config:
        if key.startswith(_FORBIDDEN_CONFIG):
            yield f"config.{key}", f"{start} config value {quote(key)}"


# --- metrics ----------------------------------------------------------------------------------------------


def read_metrics(data: bytes, problems: Problems) -> Metrics | None:
    """Return the metrics. Nothing uses them any more, but as in Juju, a bad file makes the charm invalid."""
    found = _read(METRICS_FILE, data, problems, f'parsing "{METRICS_FILE}" file: ', _metrics)
    if found is not None and found.metrics:
        problems.warn(f"{METRICS_FILE}: metrics are not collected any more; the file is ignored")
    return found


def _metrics(raw: Any, report: Report) -> Metrics:
    content = _map(raw, "", report)
    required = _map(content.get("plan"), "plan", report).get("required")
    if required is not None and not isinstance(required, bool):
        coerce.fail("plan.required", f"expected bool, got {typed(required)}", report)
    entries = _map(content.get("metrics"), "metrics", report)
    return Metrics(
        metrics={str(name): _metric(str(name), entry, report) for name, entry in entries.items()},
        plan_required=required,
    )


def _metric(name: str, raw: Any, report: Report) -> MetricMeta:
    path = f"metrics.{name}"
    if raw is not None and not isinstance(raw, dict):
        coerce.fail(path, f"expected map, got {typed(raw)}", report)
        return MetricMeta(name=name)
    entry = raw or {}
    found = MetricMeta(
        name=name, type=str(entry.get("type") or ""), description=str(entry.get("description") or "")
    )
    if name == "juju" or name.startswith("juju-"):
        if found.type or found.description:
            reason = "is using a prefix reserved for built-in metrics: it should not have type or description"
            report(path, f"metric {quote(name)} {reason} specification")
    elif found.type not in _METRIC_TYPES:
        start = f"invalid metrics declaration: metric {quote(name)}"
        report(f"{path}.type", f"{start} has unknown type {quote(found.type)}")
    elif not found.description:
        text = f"invalid metrics declaration: metric {quote(name)} lacks description"
        report(f"{path}.description", text)
    return found


# --- revision, version ------------------------------------------------------------------------------------


def read_revision(data: bytes, problems: Problems) -> int:
    """Return the number in a `revision` file; any other content is added to `problems`."""
    words = data.split(maxsplit=1)
    if not words or not re.fullmatch(rb"[+]?[0-9]{1,9}", words[0]):
        problems.add("revision", "invalid revision file")
        return 0
    return int(words[0])


def read_version(data: bytes) -> str:
    """Return the version text: the first line of the file, without a bzr prefix, at most 100 characters."""
    lines = data.decode("utf-8", "replace").splitlines()
    return clean_version(lines[0] if lines else "")


def clean_version(text: str) -> str:
    """Return a charm's version text, cleaned for display in `status`."""
    return text.strip().removeprefix(_VCS_PREFIX)[:VERSION_LENGTH]
