"""Documents of bundles as they are written."""

from __future__ import annotations

from typing import Any

from pushjuju.portable.gotypes import Struct
from pushjuju.services.bundles.plan import as_bundle


def document(value: Any) -> Any:
    """Return data of a bundle in the form that is written: maps whose keys stay in order are so."""
    if isinstance(value, as_bundle.Fields):
        return Struct({key: document(item) for key, item in value.items()})
    if isinstance(value, dict):
        return {key: document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [document(item) for item in value]
    return value
