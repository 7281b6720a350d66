"""Opens the provider of MAAS, its disks, and the API keys that MAAS's tools store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pushjuju.core.errors import NotValid
from pushjuju.plugins.api.clouds import CloudSpec, Credential, DetectedCredential
from pushjuju.plugins.api.providers import ModelInfo, Provider
from pushjuju.plugins.api.storage_types import MachineStorage, StorageProvider
from pushjuju.plugins.providers.maas.client import ATTRIBUTE, AUTH_TYPE
from pushjuju.plugins.providers.maas.provider import MaasProvider

_LARGEST = 64 * 1024  # bytes; a larger file is ignored


class Opening:
    """Functions that open the objects for the plugin's hooks."""

    @staticmethod
    def provider(cloud: CloudSpec, credential: Credential, model: ModelInfo) -> Provider:
        return MaasProvider(cloud=cloud, credential=credential, model=model)

    @staticmethod
    def storage(provider: Provider | None) -> StorageProvider | MachineStorage | None:
        """Return the disks of a provider of this plugin, or None for another provider."""
        return provider.storage() if isinstance(provider, MaasProvider) else None

    @staticmethod
    def detect(environ: Mapping[str, str]) -> Sequence[DetectedCredential]:
        """Return the API key that MAAS's own tools store."""
        return find(environ)


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
