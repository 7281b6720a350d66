"""Keys of a model's configuration that belong to its cloud's provider."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.services.entities.basis.plugin_host import Attr, PluginHost
from pushjuju.services.entities.model import model_config

_OURS = frozenset(
    (
        *model_config.ATTRIBUTES,
        *model_config.READ_ONLY,
        *model_config.UNSHOWN,
        *model_config.OWN,
        model_config.SERIES,
    )
)


def of(host: PluginHost, names: Collection[str], cloud_type: str = "") -> dict[str, Attr]:
    """Return the keys of one type of cloud, or of all types: name -> attribute.

    Plugins are loaded only when a name is not a key of pushjuju; a type without a plugin has no keys.
    """
    if _OURS.issuperset(names):
        return {}
    try:
        kinds = (host.provider_type(cloud_type),) if cloud_type else host.provider_types()
    except NotFound:
        return {}
    return {attr.name: attr for kind in kinds for attr in kind.config_schema}


def check(theirs: Mapping[str, Attr], changes: Mapping[str, Any]) -> None:
    """Refuse values that are not among the choices of a provider's key."""
    for name, value in changes.items():
        choices = theirs[name].choices if name in theirs else ()
        if choices and str(value) not in choices:
            raise NotValid(f'{name}: expected one of [{" ".join(choices)}], got "{value}"')


def unknown(names: Collection[str], *known: Collection[str]) -> list[str]:
    """Return the names that are neither keys of pushjuju nor in one of the `known` collections."""
    return [name for name in names if name not in _OURS and not any(name in one for one in known)]
