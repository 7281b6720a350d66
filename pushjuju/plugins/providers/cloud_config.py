"""Cloud-config documents as the text that cloud-init reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_text(document: Mapping[str, Any]) -> str:
    """Return a cloud-config document as text; empty for an empty document."""
    if not document:
        return ""
    import yaml  # of all that providers do, only the start of a machine writes YAML

    return "#cloud-config\n" + str(yaml.safe_dump(dict(document), sort_keys=False))
