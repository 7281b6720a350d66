"""Loads YAML; imports the parser at the first call, as most commands with this module read no YAML."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


def load(data: bytes | str, *, text_keys: int = 0, text_tags: Collection[str] = ()) -> Any:
    """Return the value of a YAML document; arguments and errors are those of `yamlsafe.load`."""
    from pushjuju.charms.format import yamlsafe  # importing PyYAML takes half the time of a small command

    return yamlsafe.load(data, text_keys=text_keys, text_tags=text_tags)
