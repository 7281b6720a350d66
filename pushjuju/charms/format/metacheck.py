"""Checks the meaning of metadata: names, roles, formats, terms.

Mirrors: juju/charm meta.go Check.
Each function returns the faults that it finds as (key path, text) and raises no error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pushjuju.charms.values.model import CharmMeta, Endpoint, Manifest, Role, Scope
from pushjuju.core.names import is_endpoint, is_file, is_storage, is_user
from pushjuju.core.values import regex
from pushjuju.portable.quote import atoi, quote

Fault = tuple[str, str]

_SERIES = regex(r"[a-z]+(?:[a-z0-9]+)?")
_PAYLOAD = regex(r"[a-zA-Z](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?")
_TERM = regex(r"[a-z](?:-?[a-z0-9])+")
_TERM_LENGTH = 256
_SHOWN = 60  # characters that an error shows of a name that is too long
_VERSION = regex(r"\d{1,9}\.\d{1,9}(?:[.-](?:[a-z]+)?\d{1,9}){0,2}")
_USERS = ("root", "sudoer", "non-root")


def charm_format(meta: CharmMeta, manifest: Manifest | None) -> int:
    """Return 2 for a charm whose manifest names bases and whose metadata names no series, else 1."""
    return 2 if manifest and manifest.bases and not meta.series else 1


def k8s_faults(values: Mapping[str, Any], manifest: Manifest | None) -> list[Fault]:
    """Return a fault when a charm, by its metadata and `manifest.yaml`, runs only in Kubernetes."""
    text = f"charm {quote(values['name'])} is a Kubernetes charm; machine model only"
    if values["containers"]:
        return [("containers", text)]
    if "kubernetes" in values["series"]:
        return [(f"series[{values['series'].index('kubernetes')}]", text)]
    return [("deployment", text)] if values["deployment"] and manifest is None else []


def check_meta(
    meta: CharmMeta,
    values: Mapping[str, Any],
    raw: Mapping[Any, Any],
    manifest: Manifest | None,
    wrong: Collection[str] = (),
) -> list[Fault]:
    """Return every fault in the meaning of a document whose values have the right types.

    Args:
        values: The coerced document; it has keys that `meta` does not keep.
        raw: The document as written; in it, a missing key differs from an empty one.
        manifest: Content of `manifest.yaml`.
        wrong: Keys with values of a wrong shape, which are reported already, and `manifest` if that file has
            faults; checks that depend on them are skipped.
    """
    return [
        *_user_faults(meta),
        *(() if {"series", "manifest"} & set(wrong) else _format_faults(meta, values, manifest)),
        *(() if "manifest" in wrong else _deployment_faults(values, manifest)),
        *_relation_faults(meta),
        *(() if "extra-bindings" in wrong else _binding_faults(meta, raw)),
        *(() if "requires" in wrong else _subordinate_faults(meta)),
        *_series_faults(meta),
        *_storage_faults(meta),
        *_device_faults(meta),
        *_payload_faults(meta),
        *_resource_faults(meta),
        *_term_faults(meta),
        *_version_faults(meta),
    ]


def _user_faults(meta: CharmMeta) -> Iterator[Fault]:
    if meta.charm_user and meta.charm_user not in _USERS:
        expected = "expected one of root, sudoer or non-root"
        yield "charm-user", f"parsing charm-user: invalid charm-user {quote(meta.charm_user)} {expected}"


def _format_faults(meta: CharmMeta, values: Mapping[str, Any], manifest: Manifest | None) -> Iterator[Fault]:
    if charm_format(meta, manifest) == 2:
        for key in ("min-juju-version", "deployment"):
            if values[key]:
                yield key, f"{key} in metadata v2 not valid"
        return
    if values["assumes"]:
        yield "assumes", "assumes in metadata v1 not valid"
    if values["containers"]:
        where = "without a manifest.yaml" if manifest is None else "in metadata v1"
        yield "containers", f"containers {where} not valid"


def _deployment_faults(values: Mapping[str, Any], manifest: Manifest | None) -> Iterator[Fault]:
    if values["deployment"] and manifest is not None and not manifest.bases:
        yield "deployment", 'charms with deployment metadata only supported for "kubernetes"'


def _relation_faults(meta: CharmMeta) -> Iterator[Fault]:
    charm = quote(meta.name)
    seen: set[str] = set()
    for endpoint in meta.endpoints():
        key = f"{_section(endpoint.role)}.{endpoint.name}"
        if not is_endpoint(endpoint.name):
            yield key, f"charm {charm} using an invalid relation name: {_shown(endpoint.name)}"
        if _reserved(endpoint.name) and not _may_use_reserved(meta, endpoint):
            yield key, f"charm {charm} using a reserved relation name: {quote(endpoint.name)}"
        if endpoint.role is not Role.REQUIRER and _reserved(endpoint.interface) and not _is_juju(meta):
            name, interface = quote(endpoint.name), quote(endpoint.interface)
            yield key, f"charm {charm} relation {name} using a reserved interface: {interface}"
        if endpoint.name in seen:
            yield key, f"charm {charm} using a duplicated relation name: {quote(endpoint.name)}"
        seen.add(endpoint.name)


def _section(role: Role) -> str:
    return {Role.PROVIDER: "provides", Role.REQUIRER: "requires", Role.PEER: "peers"}[role]


def _reserved(name: str) -> bool:
    return name == "juju" or name.startswith("juju-")


def _is_juju(meta: CharmMeta) -> bool:
    return meta.name.startswith("juju-")


def _may_use_reserved(meta: CharmMeta, endpoint: Endpoint) -> bool:
    follows = meta.subordinate and endpoint.role is Role.REQUIRER and endpoint.scope is Scope.CONTAINER
    return follows or _is_juju(meta)


def _binding_faults(meta: CharmMeta, raw: Mapping[Any, Any]) -> Iterator[Fault]:
    if "extra-bindings" not in raw:
        return
    prefix = f"charm {quote(meta.name)} has invalid extra bindings: "
    if not meta.extra_bindings:
        yield "extra-bindings", prefix + "extra bindings cannot be empty when specified"
    both = sorted(set(meta.extra_bindings) & {endpoint.name for endpoint in meta.endpoints()})
    if both:
        key = f"extra-bindings.{both[0]}"
        yield key, f"{prefix}relation names ({', '.join(both)}) cannot be used in extra bindings"


def _subordinate_faults(meta: CharmMeta) -> Iterator[Fault]:
    if meta.subordinate and not any(item.scope is Scope.CONTAINER for item in meta.requires.values()):
        text = 'lacks "requires" relation with container scope'
        yield "subordinate", f"subordinate charm {quote(meta.name)} {text}"


def _series_faults(meta: CharmMeta) -> Iterator[Fault]:
    for number, series in enumerate(meta.series):
        if not _SERIES.fullmatch(series):
            yield f"series[{number}]", f"charm {quote(meta.name)} declares invalid series: {quote(series)}"


def _storage_faults(meta: CharmMeta) -> Iterator[Fault]:
    for name, store in meta.storage.items():
        prefix = f"charm {quote(meta.name)} storage {_shown(name)}: "
        if not is_storage(name):
            yield f"storage.{name}", f"{prefix}invalid storage name"
        if store.location and store.type == "block":
            text = 'location may not be specified for "type: block"'
            yield f"storage.{name}.location", prefix + text
        if store.count_max == 0:
            yield f"storage.{name}.multiple.range", f"{prefix}invalid maximum count {store.count_max}"


def _device_faults(meta: CharmMeta) -> Iterator[Fault]:
    for name, device in meta.devices.items():
        prefix = f"charm {quote(meta.name)} device {_shown(name)}: "
        if not is_storage(name):
            yield f"devices.{name}", f"{prefix}invalid device name"
        if not device.type:
            yield f"devices.{name}.type", prefix + "type must be specified"
        if device.count_max < device.count_min:
            text = (
                f"maximum count {device.count_max} can not be smaller than minimum count {device.count_min}"
            )
            yield f"devices.{name}.countmax", prefix + text


def _payload_faults(meta: CharmMeta) -> Iterator[Fault]:
    for name, payload in meta.payloads.items():
        if not _PAYLOAD.fullmatch(name):
            yield f"payloads.{name}", f"invalid payload class {quote(name)}"
        if not payload.type:
            yield f"payloads.{name}.type", "payload class missing type"


def _resource_faults(meta: CharmMeta) -> Iterator[Fault]:
    for name, resource in meta.resources.items():
        key = f"resources.{name}"
        if not name:
            yield key, "resource missing name"
        elif not is_file(name):
            yield key, f"invalid resource name {_shown(name)}"
        if resource.type not in ("file", "oci-image"):
            yield f"{key}.type", f"unsupported resource type {quote(resource.type)}"
        elif resource.type == "file" and not resource.filename:
            yield f"{key}.filename", "resource missing filename"
        if "/" in resource.filename:
            yield f"{key}.filename", f'filename cannot contain "/" (got {quote(resource.filename)})'
        elif resource.filename in (".", ".."):
            yield f"{key}.filename", f"filename cannot be {quote(resource.filename)}"


def _shown(name: str) -> str:
    return quote(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")


def _term_faults(meta: CharmMeta) -> Iterator[Fault]:
    for number, term in enumerate(meta.terms):
        fault = _term_fault(term)
        if fault:
            yield f"terms[{number}]", fault


def _term_fault(term: str) -> str:
    tenant, _, rest = term.rpartition(":") if term.count(":") == 1 else ("", "", term)
    parts = rest.split("/")
    if len(term) > _TERM_LENGTH or len(parts) > 3:
        return f"unknown term id format {quote(term)}"
    owner, name, revision = "", parts[0], "0"
    if len(parts) == 3:
        owner, name, revision = parts
    elif len(parts) == 2:
        owner, name, revision = ("", *parts) if _is_number(parts[1]) else (*parts, "0")
    try:
        number = atoi(revision)
    except ValueError as error:
        return f"invalid revision number {quote(revision)} {error}"
    if tenant and tenant != "cs" and not _TERM.fullmatch(tenant):
        return f"wrong term tenant format {quote(tenant)}"
    if owner and not is_user(owner):
        return f"wrong owner format {quote(owner)}"
    if not _TERM.fullmatch(name):
        return f"wrong term name format {quote(name)}"
    return "negative term revision" if number < 0 else ""


def _is_number(text: str) -> bool:
    try:
        atoi(text)
    except ValueError:
        return False
    return True


def _version_faults(meta: CharmMeta) -> Iterator[Fault]:
    text = meta.min_juju_version
    if text and not _VERSION.fullmatch(text):
        yield "min-juju-version", f"invalid min-juju-version: invalid version {quote(text)}"
