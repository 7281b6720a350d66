"""The defaults for the configuration of new models, by controller, cloud and region.

controller.toml keeps them, and users may edit the file:

    [config.model-defaults]              all models of the controller
    [config.region-defaults."lab/east"]  models in a region; "lab" alone: in any region of a cloud

Mirrors: juju apiserver/facades/client/modelmanager, cmd/juju/model/defaults.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.core.clouds import DEFAULT_REGION
from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import model_config

CONTROLLER = "model-defaults"
REGIONS = "region-defaults"


def of_controller(settings: Mapping[str, Any]) -> dict[str, object]:
    """Return the defaults for all models of a controller; `settings` is the content of controller.toml."""
    return model_config.parse_values(settings.get("config", {}).get(CONTROLLER, {}))


def _placed(settings: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    tables = settings.get("config", {}).get(REGIONS, {})
    return {name: model_config.parse_values(table) for name, table in tables.items()}


def of_cloud(settings: Mapping[str, Any], cloud: str) -> dict[str, object]:
    """Return the defaults for all regions of a cloud: the controller's, overridden by the cloud's."""
    return {**of_controller(settings), **_placed(settings).get(cloud, {})}


def of_region(settings: Mapping[str, Any], cloud: str, region: str) -> dict[str, object]:
    """Return the defaults that are set for one region only."""
    return _placed(settings).get(f"{cloud}/{region}", {})


def regions(settings: Mapping[str, Any], cloud: str) -> dict[str, dict[str, object]]:
    """Return region -> the defaults that are set for this region only."""
    prefix = f"{cloud}/"
    placed = _placed(settings)
    return {name.removeprefix(prefix): table for name, table in placed.items() if name.startswith(prefix)}


def inherited(settings: Mapping[str, Any], cloud: str, region: str) -> dict[str, object]:
    """Return the defaults for a new model in a region: those of controller, cloud and region merged."""
    return {**of_cloud(settings, cloud), **of_region(settings, cloud, region)}


def document(settings: Mapping[str, Any], cloud: str) -> dict[str, dict[str, object]]:
    """Return key -> {default?, controller?, regions?: [{name, value}]}, as `model-defaults` shows them."""
    found: dict[str, dict[str, Any]] = {
        key: {"default": item.default}
        for key, item in model_config.ATTRIBUTES.items()
        if key not in model_config.UNSHOWN
    }
    for key, value in of_cloud(settings, cloud).items():
        found.setdefault(key, {})["controller"] = model_config.shown_value(key, value)
    for region, table in sorted(regions(settings, cloud).items()):
        for key, value in table.items():
            shown = {"name": region, "value": model_config.shown_value(key, value)}
            found.setdefault(key, {}).setdefault("regions", []).append(shown)
    return dict(sorted(found.items()))


def require_region(ctx: Context, cloud: str, region: str) -> None:
    found = clouds.definition(clouds.folders(ctx.datadir, ctx.controller), cloud)
    known = [item.name for item in found.regions] or [DEFAULT_REGION]
    if region not in known:
        raise NotValid(f'invalid region specified: "{region}"', hint=f"known regions: {', '.join(known)}")
