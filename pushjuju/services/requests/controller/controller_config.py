"""The request of controller-config: changes the configuration of a controller.

Mirrors: juju cmd/juju/controller/config.go (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis.context import AUDITING, AUDITING_OFF, Context
from pushjuju.services.entities.model import controller_config


def fixed(values: Iterable[str]) -> list[str]:
    """Return the keys that cannot be set after bootstrap, sorted."""
    return sorted(key for key in values if not controller_config.may_change(key))


def change(ctx: Context, values: Mapping[str, Any]) -> None:
    """Set configuration keys; after an error, none is set.

    Raises:
        NotValid: A key is fixed or unknown, or a value does not fit.
    """
    if keys := fixed(values):
        listed = " ".join(keys)
        raise NotValid(f"invalid or read-only controller config values cannot be updated: [{listed}]")
    parsed = controller_config.parse_values(values)

    def edit(settings: MutableMapping[str, Any]) -> None:
        config = settings.setdefault("config", {})
        config.update(parsed)
        controller_config.check_state_sizes(config)

    with ctx.change_controller(*(_audited(key, value) for key, value in parsed.items())):
        ctx.controller.change(edit)


def _audited(key: str, value: object) -> str:
    """Return the name of a change in the audit log; that of the end of the log has the value, too."""
    return f"{AUDITING_OFF}={str(value).lower()}" if key == AUDITING else f"controller-config {key}"
