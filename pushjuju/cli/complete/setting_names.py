"""Names of settings, for completion."""

from __future__ import annotations

from collections.abc import Iterator

from pushjuju.services.entities.model.controller_config import SETTINGS, may_change
from pushjuju.services.entities.model.model_config import ATTRIBUTES


class SettingNames:
    """Whose settings there are."""

    @staticmethod
    def of_models() -> Iterator[str]:
        """Yield the settings of models."""
        yield from ATTRIBUTES

    @staticmethod
    def of_controllers() -> Iterator[str]:
        """Yield the settings of controllers that may be changed."""
        return (name for name in SETTINGS if may_change(name))
