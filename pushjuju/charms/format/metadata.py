"""Reads `metadata.yaml`. Mirrors: juju/charm meta.go extra_bindings.go (v12).

Coerces all values, then checks the meaning of the valid ones, so that one error lists every fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pushjuju.charms.format import coerce, yamlsafe
from pushjuju.charms.format.assumes import parse_assumes
from pushjuju.charms.format.coerce import MISSING, Report
from pushjuju.charms.format.metacheck import check_meta, k8s_faults
from pushjuju.charms.values import model
from pushjuju.charms.values.goform import typed
from pushjuju.charms.values.problems import Problems
from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.portable.quote import quote

FILE = "metadata.yaml"
PREFIX = f'parsing "{FILE}" file: '

_V1_KEYS = ("deployment", "min-juju-version", "series")
_V2_KEYS = ("assumes", "charm-user", "containers")
# Keys that stores and users read, and Juju ignores.
_INFORMATIONAL = (
    "display-name", "maintainer", "maintainers", "docs", "issues", "source", "website", "title", "links",
    "license",
)  # fmt: skip


def _interface(value: Any, path: str, report: Report) -> Any:
    """Accept an endpoint: an interface name, or a map with `interface` and other keys."""
    if isinstance(value, str):
        return {"interface": value, "limit": None, "optional": False, "scope": model.Scope.GLOBAL}
    return _ENDPOINT(value, path, report)


def _extra_bindings(value: Any, path: str, report: Report) -> Any:
    if not isinstance(value, dict):
        return coerce.fail(path, f"expected map, got {typed(value)}", report)
    names = []
    for key, entry in value.items():
        if not isinstance(key, str) or not key:
            coerce.fail(path, f"expected non-empty binding name, got {typed(key)}", report)
        elif entry is not None:
            coerce.fail(f"{path}.{key}", f"expected empty value, got {typed(entry)}", report)
        else:
            names.append(key)
    return names


def _device_count(value: Any, path: str, report: Report) -> Any:
    number = coerce.integer(value, path, report)
    if number is not MISSING and number < 0:
        report(path, f"invalid device count {number}")
        return MISSING
    return number


_STRINGS = coerce.list_of(coerce.string)
_ENDPOINT = coerce.record(
    {
        "interface": coerce.string,
        "limit": coerce.or_null(coerce.integer),
        "optional": coerce.boolean,
        "scope": coerce.one_of("global", "container"),
    },
    {"limit": None, "optional": False, "scope": "global"},
)
_STORAGE = coerce.record(
    {
        "type": coerce.one_of("block", "filesystem"),
        "description": coerce.string,
        "shared": coerce.boolean,
        "read-only": coerce.boolean,
        "multiple": coerce.record({"range": coerce.count_range}, {}),
        "minimum-size": coerce.size_mib,
        "location": coerce.string,
        "properties": coerce.list_of(coerce.one_of("transient")),
    },
    {
        "description": "",
        "shared": False,
        "read-only": False,
        "multiple": {"range": (1, 1)},
        "minimum-size": 0,
        "location": "",
        "properties": [],
    },
)
_DEVICE = coerce.record(
    {
        "type": coerce.string,
        "description": coerce.string,
        "countmin": _device_count,
        "countmax": _device_count,
    },
    {"description": "", "countmin": 1, "countmax": 1},
)
_RESOURCE = coerce.record(
    {"type": coerce.string, "filename": coerce.string, "description": coerce.string},
    {"type": "file", "filename": "", "description": ""},
)
_FIELDS: Mapping[str, coerce.Check] = {
    "name": coerce.string,
    "summary": coerce.string,
    "description": coerce.string,
    "subordinate": coerce.boolean,
    "provides": coerce.map_of(_interface),
    "requires": coerce.map_of(_interface),
    "peers": coerce.map_of(_interface),
    "extra-bindings": _extra_bindings,
    "revision": coerce.integer,
    "format": coerce.integer,
    "categories": _STRINGS,
    "tags": _STRINGS,
    "series": _STRINGS,
    "storage": coerce.map_of(_STORAGE),
    "devices": coerce.map_of(_DEVICE),
    "deployment": coerce.or_null(coerce.map_of(coerce.anything)),
    "payloads": coerce.map_of(coerce.record({"type": coerce.string}, {"type": ""})),
    "resources": coerce.map_of(_RESOURCE),
    "terms": _STRINGS,
    "min-juju-version": coerce.string,
    "assumes": coerce.anything,
    "containers": coerce.map_of(coerce.anything),
    "charm-user": coerce.string,
}
_DEFAULTS: Mapping[str, Any] = {
    "subordinate": False,
    "provides": {},
    "requires": {},
    "peers": {},
    "extra-bindings": [],
    "revision": 0,
    "format": 1,
    "categories": [],
    "tags": [],
    "series": [],
    "storage": {},
    "devices": {},
    "deployment": None,
    "payloads": {},
    "resources": {},
    "terms": [],
    "min-juju-version": "",
    "assumes": None,
    "containers": {},
    "charm-user": "",
}
_FIRST = regex(r"[.\[]")
_META = coerce.record(_FIELDS, _DEFAULTS)


def read_metadata(
    data: bytes, manifest: model.Manifest | None, problems: Problems, *, manifest_wrong: bool = False
) -> model.CharmMeta | None:
    """Return the metadata, or None when the document does not have the form of metadata.

    Args:
        data: Bytes of the file.
        manifest: Content of `manifest.yaml`; it decides the charm's format.
        problems: Takes every fault and warning.
        manifest_wrong: True when `manifest.yaml` has faults; checks that depend on its bases are skipped.
    """
    try:
        raw = yamlsafe.load(data)
    except NotValid as error:
        problems.add(FILE, PREFIX + error.message)
        return None
    if raw is None:
        raw = {}
    _check_ambiguous(raw, problems)
    found = _coerce(raw, problems)
    if found is None:
        return None
    _warn_unknown(raw, problems)
    coerced, wrong = found
    if manifest_wrong:
        wrong |= {"manifest"}
    faults = k8s_faults(coerced, manifest)
    meta = _build(coerced)
    faults += check_meta(meta, coerced, raw, manifest, wrong)
    if "assumes" in raw:
        meta = replace(meta, assumes=parse_assumes(raw["assumes"], lambda *fault: faults.append(fault)))
    for key, text in faults:
        problems.add(FILE, PREFIX + text, key=key)
    return meta


def _coerce(raw: Any, problems: Problems) -> tuple[dict[str, object], frozenset[str]] | None:
    """Return (values by key, keys whose values are wrong); wrong values are replaced by defaults.

    Returns None when the document is not a map with names as keys.
    """
    wrong = set()

    def report(path: str, text: str) -> None:
        wrong.add(_FIRST.split(path, maxsplit=1)[0])
        problems.add(FILE, f"{PREFIX}metadata: {text}", key=path)

    if not isinstance(raw, dict) or not all(isinstance(key, str) for key in raw):
        _META(raw, "", report)
        return None
    coerced = {}
    for key, check in _FIELDS.items():
        value = _DEFAULTS[key] if key not in raw and key in _DEFAULTS else check(raw.get(key), key, report)
        coerced[key] = _DEFAULTS.get(key, "") if value is MISSING else value
    return coerced, frozenset(wrong)


def _check_ambiguous(raw: Any, problems: Problems) -> None:
    if not isinstance(raw, dict):
        return
    old = [quote(key) for key in _V1_KEYS if key in raw]
    new = [quote(key) for key in _V2_KEYS if key in raw]
    if old and new:
        text = f"ambiguous metadata: keys {', '.join(old)} cannot be used with {', '.join(new)}"
        problems.add(FILE, PREFIX + text, key=old[0].strip('"'))


def _warn_unknown(raw: dict[str, object], problems: Problems) -> None:
    for key in sorted(set(raw) - set(_FIELDS) - set(_INFORMATIONAL)):
        problems.warn(f"{FILE}: unknown key {quote(key)} is ignored")
    groups = (
        ("storage", _STORAGE_KEYS),
        ("resources", _RESOURCE_KEYS),
        *((role, _ENDPOINT_KEYS) for role in ("provides", "requires", "peers")),
    )
    for group, known in groups:
        entries = raw.get(group)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            extra = set(entry) - known if isinstance(entry, dict) else ()
            for key in sorted(map(str, extra)):
                problems.warn(f"{FILE}: unknown key {quote(f'{group}.{name}.{key}')} is ignored")


_ENDPOINT_KEYS = frozenset(("interface", "limit", "optional", "scope", "description", "schema"))
_STORAGE_KEYS = frozenset(
    ("type", "description", "shared", "read-only", "multiple", "minimum-size", "location", "properties")
)
_RESOURCE_KEYS = frozenset(("type", "filename", "description", "upstream-source"))


def _build(values: dict[str, Any]) -> model.CharmMeta:
    return model.CharmMeta(
        name=values["name"],
        summary=values["summary"],
        description=values["description"],
        subordinate=values["subordinate"],
        series=tuple(values["series"]),
        provides=_endpoints(values["provides"], model.Role.PROVIDER),
        requires=_endpoints(values["requires"], model.Role.REQUIRER),
        peers=_endpoints(values["peers"], model.Role.PEER),
        extra_bindings=tuple(values["extra-bindings"]),
        storage={name: _storage(name, entry) for name, entry in values["storage"].items()},
        devices={name: _device(name, entry) for name, entry in values["devices"].items()},
        resources={
            name: model.ResourceMeta(name=name, **entry) for name, entry in values["resources"].items()
        },
        payloads={name: model.PayloadMeta(name=name, **entry) for name, entry in values["payloads"].items()},
        terms=tuple(values["terms"]),
        min_juju_version=values["min-juju-version"],
        charm_user=values["charm-user"],
        tags=tuple(values["tags"]),
    )


def _endpoints(group: Mapping[str, Any], role: model.Role) -> dict[str, model.Endpoint]:
    return {
        name: model.Endpoint(
            name=name,
            role=role,
            interface=entry["interface"],
            limit=entry["limit"] or 0,
            scope=model.Scope(entry["scope"]),
            optional=entry["optional"],
        )
        for name, entry in group.items()
    }


def _storage(name: str, entry: Mapping[str, Any]) -> model.StorageMeta:
    low, high = entry["multiple"]["range"]
    return model.StorageMeta(
        name=name,
        type=entry["type"],
        description=entry["description"],
        shared=entry["shared"],
        read_only=entry["read-only"],
        count_min=low,
        count_max=high,
        minimum_size=entry["minimum-size"],
        location=entry["location"],
        properties=tuple(entry["properties"]),
    )


def _device(name: str, entry: Mapping[str, Any]) -> model.DeviceMeta:
    return model.DeviceMeta(
        name=name,
        type=entry["type"],
        description=entry["description"],
        count_min=entry["countmin"],
        count_max=entry["countmax"],
    )
