"""Checks the definition of a cloud against the schema of the cloud's type. Pure.

Mirrors: juju cloud/clouds.go, `ValidateCloudSet` (3.6): an unknown key causes a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pushjuju.core.clouds import KEYS, Cloud
from pushjuju.core.errors import NotValid
from pushjuju.core.suggest import closest, is_alike

if TYPE_CHECKING:
    from pushjuju.plugins.api.clouds import Attr, ProviderType

_TYPES: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "attrs": ("a map", dict),
    "bool": ("true or false", bool),
    "int": ("a whole number", int),
    "list": ("a list", (list, tuple)),
    "string": ("text", (str, int, float)),
}


def check(cloud: Cloud, kind: ProviderType) -> list[str]:
    """Return a warning for each unknown key of a cloud, or raise NotValid for a wrong value."""
    for auth in cloud.auth_types:
        if auth not in kind.credential_schemas:
            known = ", ".join(sorted(kind.credential_schemas))
            raise NotValid(f'auth type "{auth}" not supported', hint=f"{kind.name} takes: {known}")
    schema = {attr.name: attr for attr in kind.cloud_schema}
    for name, attr in schema.items():
        _check_value(cloud, attr, cloud.own.get(name))
    return [_unknown(cloud, kind, name) for name in cloud.own if name not in schema] if schema else []


def _check_value(cloud: Cloud, attr: Attr, value: Any) -> None:
    what, wanted = _TYPES.get(attr.type, _TYPES["string"])
    if value is None:
        if attr.required:
            raise NotValid(
                f"cloud {cloud.name}: {attr.name}: expected {what}, got nothing", hint=attr.summary
            )
        return
    is_other = not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool)
    if is_other:
        raise NotValid(f"cloud {cloud.name}: {attr.name}: expected {what}", hint=attr.summary)
    if attr.choices and value not in attr.choices:
        known = ", ".join(attr.choices)
        raise NotValid(f"cloud {cloud.name}: {attr.name}: expected one of {known}", hint=attr.summary)


def _unknown(cloud: Cloud, kind: ProviderType, name: str) -> str:
    said = f"cloud {cloud.name}: {kind.name} has no key {name}"
    if name in {attr.name for attr in kind.config_schema}:
        return f"{said}; as a default of its models it belongs below config"
    near = closest(name, (*KEYS, *(attr.name for attr in kind.cloud_schema)))
    return f"{said}; perhaps you mean {near}" if near and is_alike(name, near) else said
