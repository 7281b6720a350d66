"""The part of the facade ModelManager about credentials of models and defaults of new models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.model import model_defaults as entity
from pushjuju.services.requests.cloud import credentials
from pushjuju.services.requests.model import model_defaults
from pushjuju.services.requests.model.model_defaults import ModelDefaultsOptions
from pushjuju.web import errors, tags
from pushjuju.web.call import each, reach
from pushjuju.web.errors import ErrorResults
from pushjuju.web.facades.cloud_sides import credential_key, trial_of
from pushjuju.web.registry import Facade, Needs, method
from pushjuju.web.shapes.common import Entities, Results, checked_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCredential:
    """A model and its new credential."""

    model_tag: str = ""
    credential_tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultValues:
    """New defaults of a cloud, or of one of its regions; without a cloud, defaults of the controller."""

    cloud_tag: str = ""
    cloud_region: str = ""
    config: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsetKeys:
    """Defaults to remove."""

    cloud_tag: str = ""
    cloud_region: str = ""
    keys: list[str] = field(default_factory=list)


class Defaults(Facade):
    """Changes credentials and defaults of models."""

    @method(Needs.LOGIN, changes=True)
    def change_model_credential(self, model_credentials: list[ModelCredential]) -> ErrorResults:
        """Change the credentials of models that the caller administers, to credentials of the caller.

        Superusers may name credentials of all users.
        """
        return {"results": [each(self._change_credential, item) for item in model_credentials]}

    def _change_credential(self, item: ModelCredential) -> None:
        found = reach(self.ctx, tags.model_to_reach(item.model_tag), "admin")
        cloud, key = credential_key(self.ctx, item.credential_tag)
        credentials.set_credential(self.ctx, found, cloud, key, trial_of(self.ctx))

    @method(Needs.LOGIN)
    def model_defaults_for_clouds(self, params: Entities) -> Results:
        return {"results": [self._defaults(item.tag) for item in params.entities]}

    def _defaults(self, tag: str) -> dict[str, object]:
        try:
            cloud, _ = model_defaults.place(self.ctx, tags.cloud(tag), "")
            found = entity.document(self.ctx.controller.settings(), cloud)
        except PushjujuError as error:
            return {"config": {}, "error": errors.told(error)}
        return {"config": {key: _default(known) for key, known in found.items()}}

    @method(Needs.SUPERUSER, changes=True)
    def set_model_defaults(self, config: list[DefaultValues]) -> ErrorResults:
        return {"results": [each(self._set_defaults, item) for item in config]}

    def _set_defaults(self, item: DefaultValues) -> None:
        self._change_defaults(item.cloud_tag, item.cloud_region, values=checked_settings(item.config))

    @method(Needs.SUPERUSER, changes=True)
    def unset_model_defaults(self, keys: list[UnsetKeys]) -> ErrorResults:
        """Remove defaults for new models."""
        return {"results": [each(self._unset_defaults, item) for item in keys]}

    def _unset_defaults(self, item: UnsetKeys) -> None:
        self._change_defaults(item.cloud_tag, item.cloud_region, reset=item.keys)

    def _change_defaults(
        self, tag: str, region: str, *, values: Mapping[str, Any] | None = None, reset: Sequence[str] = ()
    ) -> None:
        cloud, region = model_defaults.place(self.ctx, tags.cloud(tag) if tag else "", region)
        options = ModelDefaultsOptions(cloud=cloud, region=region, values=values or {}, reset=reset)
        model_defaults.change(self.ctx, options)


def _default(known: Mapping[str, Any]) -> dict[str, object]:
    found = {key: known[key] for key in ("default", "controller") if key in known}
    listed: Iterable[Mapping[str, Any]] = known.get("regions", ())
    regions = [{"region-name": item["name"], "value": item["value"]} for item in listed]
    return {**found, "regions": regions} if regions else found
