"""JSON as it is kept: without spaces, keys in order, so equal values give equal texts."""

from __future__ import annotations

import json
from typing import Any, Final

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), sort_keys=True)  # to make it is half of the work


def compact(value: Any) -> str:
    """Write a value."""
    return _ENCODER.encode(value)
