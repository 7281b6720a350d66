"""Writes cloud-config documents as the YAML text that cloud-init reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_text(document: Mapping[str, Any]) -> str:
    """Return a cloud-config document as text; an empty text for an empty document."""
    if not document:
        return ""
    import yaml  # only the start of a machine needs YAML, so most commands save this import

    return "#cloud-config\n" + str(yaml.safe_dump(dict(document), sort_keys=False))
