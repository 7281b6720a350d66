"""model-defaults: what new models take. Mirrors: juju cmd/juju/model/defaults.go (3.6)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.model.model_defaults import CONTROLLER, REGIONS


def change(ctx: Context, cloud: str, region: str, values: Mapping[str, Any], reset: Iterable[str]) -> None:
    """Set and reset defaults; models that are there stay as they are.

    Args:
        cloud: The cloud; the controller's own cloud stands for the controller.
        region: One region alone; empty for all.
        values: Key -> new value.
    """
    for key in (*values, *reset):
        if key in model_config.READ_ONLY or key in model_config.UNSHOWN:
            raise NotValid(f'"{key}" cannot be set to a default: each model has its own')
    parsed = model_config.parse_values(values)
    reset = [model_config.BASE if key == model_config.SERIES else key for key in reset]
    place = f"{cloud}/{region}" if region else cloud
    own = not region and cloud == str(ctx.controller.settings().get("cloud", ""))

    def edit(settings: MutableMapping[str, Any]) -> None:
        config = settings.setdefault("config", {})
        table = (
            config.setdefault(CONTROLLER, {}) if own else config.setdefault(REGIONS, {}).setdefault(place, {})
        )
        for key in reset:
            table.pop(key, None)
        table.update(parsed)

    ctx.controller.change(edit)
