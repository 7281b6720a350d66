"""Finds the API key that MAAS's own tools store.

Mirrors: juju provider/maas/credentials.go DetectCredentials (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pushjuju.core.errors import NotValid
from pushjuju.plugins.api.clouds import DetectedCredential
from pushjuju.plugins.providers.maas.client import ATTRIBUTE, AUTH_TYPE

_LARGEST = 64 * 1024  # bytes; a larger file is ignored


def find(environ: Mapping[str, str]) -> Sequence[DetectedCredential]:
    """Return the key in `~/.maasrc`: `{"Server": "http://HOST/MAAS", "OAuth": KEY}`."""
    if not environ.get("HOME"):
        return []
    path = Path(environ["HOME"]) / ".maasrc"
    try:
        text = path.read_text() if path.stat().st_size <= _LARGEST else ""
    except (OSError, UnicodeDecodeError):
        return []
    try:
        found = json.loads(text)
    except ValueError:
        raise NotValid(f"{path} cannot be read: not JSON") from None
    key = found.get("OAuth") if isinstance(found, dict) else None
    if not isinstance(key, str) or not key:
        raise NotValid(f"{path}: MAAS credentials require a value for OAuth token")
    label = f"MAAS credential for {found.get('Server') or 'unspecified server'}"
    return [DetectedCredential(name="default", label=label, auth_type=AUTH_TYPE, attributes={ATTRIBUTE: key})]
