"""The request of model-defaults. Mirrors: juju cmd/juju/model/defaults.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import field
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.plugin_host import PluginHost
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import model_config, model_defaults, provider_keys
from pushjuju.services.entities.model.model_defaults import CONTROLLER, REGIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDefaultsOptions:
    """New values for the defaults of future models."""

    cloud: str  # the name of a cloud; the controller's own cloud stands for the controller
    region: str = ""  # the only region that the values are for; empty for all regions
    values: Mapping[str, Any] = field(default_factory=dict)  # key -> new value
    reset: Sequence[str] = ()


def place(ctx: Context, cloud: str, region: str) -> tuple[str, str]:
    """Return (cloud, region) of `--cloud` and `--region [CLOUD/]REGION`, by default the controller's cloud.

    Raises:
        NotFound: The cloud does not exist.
        NotValid: The cloud does not have the region.
    """
    before, slash, name = region.rpartition("/")
    own = str(ctx.controller.settings().get("cloud", ""))
    chosen = (before if slash else cloud) or own
    if chosen != own:
        clouds.definition(clouds.folders(ctx.datadir, ctx.controller), chosen)
    if name:
        model_defaults.require_region(ctx, chosen, name)
    return chosen, name


def unknown_keys(ctx: Context, options: ModelDefaultsOptions, host: PluginHost) -> list[str]:
    """Return the keys that neither Juju nor any provider has; setting them is allowed."""
    keys = (*options.values, *options.reset)
    present = model_defaults.document(ctx.controller.settings(), options.cloud)
    return provider_keys.unknown(keys, provider_keys.of(host, keys), present)


def change(ctx: Context, options: ModelDefaultsOptions) -> None:
    """Set and reset defaults; existing models are not changed."""
    cloud, region, values, reset = options.cloud, options.region, options.values, options.reset
    for key in (*values, *reset):
        if key in model_config.READ_ONLY or key in model_config.UNSHOWN:
            raise NotValid(f'"{key}" cannot be set to a default: each model has its own')
    parsed = model_config.parse_values(values)
    charms.check_default_base(ctx.datadir, parsed)
    reset = [model_config.BASE if key == model_config.SERIES else key for key in reset]
    where = f"{cloud}/{region}" if region else cloud
    own = not region and cloud == str(ctx.controller.settings().get("cloud", ""))

    def edit(settings: MutableMapping[str, Any]) -> None:
        config = settings.setdefault("config", {})
        table = (
            config.setdefault(CONTROLLER, {}) if own else config.setdefault(REGIONS, {}).setdefault(where, {})
        )
        for key in reset:
            table.pop(key, None)
        table.update(parsed)

    with ctx.change_controller(*(f"model-defaults {key}" for key in (*parsed, *reset))):
        ctx.controller.change(edit)
