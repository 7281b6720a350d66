"""ModelConfig: settings and constraints. Mirrors: juju apiserver/facades/client/modelconfig (3.6)"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict

from pushjuju import JUJU_VERSION
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.model import models
from pushjuju.services.requests.model import model_config
from pushjuju.services.requests.model.model_config import ModelConfigOptions
from pushjuju.services.views.listings import settings
from pushjuju.store.rows.model import Model
from pushjuju.web import errors
from pushjuju.web.call import require_way
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes.common import ConstraintsValue, StringResult, checked_settings, known_constraints

ModelConfigResults = TypedDict("ModelConfigResults", {"config": dict[str, dict[str, Any]]})
GetConstraintsResults = TypedDict("GetConstraintsResults", {"constraints": dict[str, Any]})
_FIXED = ("agent-version", "name", "type", "uuid")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetConstraints:
    """New constraints of a model, or of an application."""

    application: str = ""
    constraints: ConstraintsValue = field(default_factory=ConstraintsValue)


@facade("ModelConfig")
class ModelConfig(Facade):
    """The settings of the connection's model, or of the controller's own model."""

    def _model(self) -> Model:
        if self.call.model is not None:
            return self.call.model
        return models.own(self.ctx)

    @method(Needs.READ)
    def model_get(self) -> ModelConfigResults:
        """Return all settings with their sources."""
        found = self._model()
        own = {
            "name": found.name, "uuid": found.uuid, "type": found.cloud_type, "agent-version": JUJU_VERSION,
        }  # fmt: skip
        shown = {key: {"value": value, "source": "model"} for key, value in own.items()}
        every = model_config.effective(self.ctx, found)
        if every["extra-info"]["source"] == "default":  # Juju has no default for it; libjuju's tests look
            del every["extra-info"]
        return {"config": {**every, **shown}}

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def model_set(self, config: dict[str, Any]) -> None:
        """Change settings."""
        values = {key: value for key, value in checked_settings(config).items() if key not in _FIXED}
        now = model_config.effective(self.ctx, self._model())
        require_way(self.ctx, {key for key in values if key not in now or values[key] != now[key]["value"]})
        model_config.set_model_config(self.ctx, self._model(), ModelConfigOptions(values=values))

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def model_unset(self, keys: list[str]) -> None:
        """Reset settings to their defaults."""
        require_way(self.ctx, keys)
        model_config.set_model_config(self.ctx, self._model(), ModelConfigOptions(reset=keys))

    @method(Needs.READ)
    def get_model_constraints(self) -> GetConstraintsResults:
        """Return the constraints of new machines."""
        return {"constraints": settings.model_constraints(self.ctx, self._model().uuid)}

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def set_model_constraints(self, params: SetConstraints) -> None:
        """Replace the constraints of new machines."""
        model_config.set_constraints(self.ctx, self._model().uuid, known_constraints(params.constraints))

    @method(Needs.READ)
    def sequences(self) -> dict[str, object]:
        """Return the next numbers of machines and of the units of applications."""
        return {"sequences": settings.sequences(self.ctx, self._model().uuid)}

    @method(Needs.READ, name="SLALevel")
    def sla_level(self) -> StringResult:
        """Return the service level `unsupported`, which every model has."""
        return {"result": "unsupported"}

    @method(Needs.SUPERUSER, name="SetSLALevel")
    def set_sla_level(self) -> None:
        """Refuse."""
        raise errors.not_supported("service levels are not supported")
