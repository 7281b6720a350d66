"""Bundle: exports the model as a bundle, and returns the steps of a deploy.

Mirrors: juju apiserver/facades/client/bundle, core/bundle/changes GUIArgs (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pushjuju.services.bundles import client_changes, export
from pushjuju.services.bundles.client_changes import ClientStep
from pushjuju.services.entities.model import models
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes.common import StringResult

# The keys of each method's arguments in the order of a list.
_ORDER: Mapping[str, tuple[str, ...]] = {
    "addCharm": ("charm", "series", "channel"),
    "deploy": (
        "charm", "series", "application", "options", "constraints", "storage", "devices",
        "endpoint-bindings", "resources", "num-units", "channel",
    ),
    "addRelation": ("endpoint1", "endpoint2"),
    "addUnit": ("application", "to"),
    "expose": ("application", "exposed-endpoints"),
    "setAnnotations": ("id", "entity-type", "annotations"),
    "createOffer": ("application", "endpoints", "offer-name"),
    "consumeOffer": ("url", "application-name"),
    "grantOfferAccess": ("user", "access", "offer"),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleChangesParams:
    """A bundle with its overlays, as YAML."""

    yaml: str = ""
    bundle_url: str = field(default="", metadata={"wire": "bundleURL"})


@facade("Bundle")
class Bundle(Facade):
    """Bundles of the connection's model; the steps of a deploy do not depend on the model."""

    @method(Needs.READ)
    def export_bundle(self, *, include_charm_defaults: bool, include_series: bool) -> StringResult:
        request = export.Request(defaults=include_charm_defaults, series=include_series)
        return {"result": export.as_text(self.ctx, self.model or models.own(self.ctx).uuid, request)}

    @method(Needs.READ)
    def get_changes_map_args(self, params: BundleChangesParams) -> dict[str, object]:
        """Return the steps for a bundle, with arguments by name."""
        return self._changes(params, lambda step: dict(step.args))

    @method(Needs.READ)
    def get_changes(self, params: BundleChangesParams) -> dict[str, object]:
        """Return the steps for a bundle, with arguments in their order."""
        return self._changes(params, _in_order)

    def _changes(
        self, params: BundleChangesParams, args: Callable[[ClientStep], object]
    ) -> dict[str, object]:
        steps, faults = client_changes.steps(params.yaml, params.bundle_url)
        if faults:
            return {"errors": faults}
        return {
            "changes": [
                {"id": item.id, "method": item.method, "args": args(item), "requires": list(item.requires)}
                for item in steps
            ]
        }


def _in_order(step: ClientStep) -> list[Any]:
    if step.method == "addMachines":
        names = {"series": "series", "constraints": "constraints", "container-type": "containerType",
                 "parent-id": "parentId"}  # fmt: skip
        return [{names[key]: value for key, value in step.args.items() if key in names}]
    return [step.args.get(key, "") for key in _ORDER[step.method]]
