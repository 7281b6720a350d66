"""Converts charms to JSON documents and back, for the store and for messages to machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pushjuju.charms.values import model
from pushjuju.core.base import Base


def to_wire(charm: model.Charm) -> dict[str, object]:
    """Return a charm as plain JSON data."""
    document: dict[str, object] = _plain(charm)
    return document


def from_wire(document: Mapping[str, Any]) -> model.Charm:
    """Return the charm of a document that `to_wire` wrote."""
    manifest, profile = document["manifest"], document["lxd_profile"]
    return model.Charm(
        meta=_meta(document["meta"]),
        config={name: _option(entry) for name, entry in document["config"].items()},
        actions={name: model.ActionSpec(**entry) for name, entry in document["actions"].items()},
        manifest=None if manifest is None else model.Manifest(bases=tuple(map(_base, manifest["bases"]))),
        revision=document["revision"],
        version=document["version"],
        lxd_profile=None if profile is None else model.LXDProfile(**profile),
        metrics=_metrics(document.get("metrics")),  # charms that an older version stored have no metrics
        format=document["format"],
        warnings=tuple(document["warnings"]),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Base):
        return str(value)
    # A field that takes no part in comparisons is left out.
    if is_dataclass(value) and not isinstance(value, type):
        return {entry.name: _plain(getattr(value, entry.name)) for entry in fields(value) if entry.compare}
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, str) else value


def _base(entry: Mapping[str, Any]) -> model.ManifestBase:
    return model.ManifestBase(base=Base.parse(entry["base"]), architectures=tuple(entry["architectures"]))


def _metrics(entry: Mapping[str, Any] | None) -> model.Metrics | None:
    if entry is None:
        return None
    found = {name: model.MetricMeta(**item) for name, item in entry["metrics"].items()}
    return model.Metrics(metrics=found, plan_required=entry["plan_required"])


def _option(entry: Mapping[str, Any]) -> model.ConfigOption:
    return model.ConfigOption(**{**entry, "type": model.OptionType(entry["type"])})


def _endpoint(entry: Mapping[str, Any]) -> model.Endpoint:
    return model.Endpoint(
        **{**entry, "role": model.Role(entry["role"]), "scope": model.Scope(entry["scope"])}
    )


def _storage(entry: Mapping[str, Any]) -> model.StorageMeta:
    return model.StorageMeta(**{**entry, "properties": tuple(entry["properties"])})


def _assumption(entry: Mapping[str, Any]) -> model.Feature | model.Composite:
    if "kind" in entry:
        return model.Composite(kind=entry["kind"], items=tuple(map(_assumption, entry["items"])))
    version = entry["version"]
    return model.Feature(
        name=entry["name"],
        op=entry["op"],
        version=None if version is None else (version[0], version[1], version[2]),
    )


def _meta(entry: Mapping[str, Any]) -> model.CharmMeta:
    read: dict[str, Callable[[Mapping[str, Any]], object]] = {
        "provides": _endpoint,
        "requires": _endpoint,
        "peers": _endpoint,
        "storage": _storage,
        "devices": lambda entry: model.DeviceMeta(**entry),
        "resources": lambda entry: model.ResourceMeta(**entry),
        "payloads": lambda entry: model.PayloadMeta(**entry),
    }
    values = dict(entry)
    for key, make in read.items():
        values[key] = {name: make(item) for name, item in entry[key].items()}
    for key in ("series", "extra_bindings", "terms", "tags"):
        values[key] = tuple(entry[key])
    values["assumes"] = tuple(map(_assumption, entry["assumes"]))
    return model.CharmMeta(**values)
