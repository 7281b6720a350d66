"""controller-config: settings of a controller that may change.

Mirrors: juju cmd/juju/controller/config.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import controller_config


def change(ctx: Context, values: Mapping[str, Any]) -> None:
    """Set keys; all of them or, after a refusal, none."""
    parsed = controller_config.parse_values(values)

    def edit(settings: MutableMapping[str, Any]) -> None:
        config = settings.setdefault("config", {})
        config.update(parsed)
        controller_config.check_state_sizes(config)

    ctx.controller.change(edit)
