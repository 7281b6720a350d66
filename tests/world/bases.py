"""Builds the base images of the machines that tests start."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from pushjuju.core.base import Base
from pushjuju.core.errors import PushjujuError
from pushjuju.plugins.api.providers import no_progress
from pushjuju.plugins.providers.local.bases import BasesConfig, cache_dir, ensure_base

BASES = ("ubuntu@24.04", "ubuntu@22.04")


def build_bases() -> None:
    """Build the images that the cache lacks; when a build is impossible, each test reports that itself."""
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        return
    for base in BASES:
        with suppress(PushjujuError):
            ensure_base(BasesConfig(stand_in=False), Base.parse(base), cache_dir(os.environ), no_progress)
