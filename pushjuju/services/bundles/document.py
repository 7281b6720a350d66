"""Converts exported bundles for the writers of YAML and JSON."""

from __future__ import annotations

from typing import Any

from pushjuju.portable.gotypes import Struct
from pushjuju.services.bundles.plan import as_bundle


def document(value: Any) -> Any:
    """Return the data of a bundle with `Fields` as `Struct`, so that the writers keep the order of keys."""
    if isinstance(value, as_bundle.Fields):
        return Struct({key: document(item) for key, item in value.items()})
    if isinstance(value, dict):
        return {key: document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [document(item) for item in value]
    return value
