"""The way of commands to the checks that clouds make."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pushjuju.cli.work.cloud_checks import CloudChecks


def of_clouds() -> type[CloudChecks]:
    """Return the checks of clouds."""
    from pushjuju.cli.work.cloud_checks import CloudChecks  # asyncio and the workers: not for a help text

    return CloudChecks
