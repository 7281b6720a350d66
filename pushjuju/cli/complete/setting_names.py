"""Names of settings, for shell completion."""

from __future__ import annotations

from collections.abc import Iterator

from pushjuju.services.entities.model.controller_config import SETTINGS, may_change
from pushjuju.services.entities.model.model_config import ATTRIBUTES


class SettingNames:
    """The names of the settings of models and controllers."""

    @staticmethod
    def of_models() -> Iterator[str]:
        """Yield the names of a model's settings."""
        yield from ATTRIBUTES

    @staticmethod
    def of_controllers() -> Iterator[str]:
        """Yield the names of a controller's settings that may be changed after bootstrap."""
        return (name for name in SETTINGS if may_change(name))
