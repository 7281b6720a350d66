"""The built-in plugin `libcloud`: public and private clouds through apache-libcloud. Layer: plugins.

Imports its parts only when used; libcloud itself is loaded at the first call to a cloud.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.types import DetectedCredential, ProviderType

PUSHJUJU_API = (1, 3)


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Name the clouds that libcloud drives, with Juju's names for those that Juju has."""
    from pushjuju.plugins.providers.libcloud.kinds import KINDS

    return KINDS


@hookimpl
def pushjuju_detect_credentials(cloud_type: str, environ: Mapping[str, str]) -> Sequence[DetectedCredential]:
    """Find what the clouds' own tools left in files and variables."""
    from pushjuju.plugins.providers.libcloud.detect import FINDERS

    found: Sequence[Any] = FINDERS[cloud_type](environ) if cloud_type in FINDERS else ()
    return found
