"""Read YAML, for modules that commands load which read none."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


def load(data: bytes | str, *, text_keys: int = 0, text_tags: Collection[str] = ()) -> Any:
    """Return the value of a YAML document; arguments and errors are those of `yamlsafe.load`."""
    from pushjuju.charms.format import yamlsafe  # the builder and PyYAML: half of a small command

    return yamlsafe.load(data, text_keys=text_keys, text_tags=text_tags)
