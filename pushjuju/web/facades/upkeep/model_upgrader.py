"""ModelUpgrader: the version of models. Mirrors: juju apiserver/facades/client/modelupgrader (3.6)"""

from __future__ import annotations

from dataclasses import dataclass

from pushjuju import JUJU_VERSION
from pushjuju.web import tags
from pushjuju.web.call import reach
from pushjuju.web.registry import Facade, Needs, facade, method

_NONE = "0.0.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeModel:
    """The version to upgrade a model to; empty or zero for the newest."""

    model_tag: str = ""
    target_version: str = ""
    dry_run: bool = False


@facade("ModelUpgrader")
class ModelUpgrader(Facade):
    """Models have no agents: each has the version of the controller."""

    @method(Needs.LOGIN)
    def upgrade_model(self, params: UpgradeModel) -> dict[str, object]:
        """Return the version of a model that the caller administers."""
        reach(self.ctx, tags.model_to_reach(params.model_tag), "admin")
        if params.target_version not in ("", _NONE, JUJU_VERSION):
            text = "no matching agent versions available"
            return {"chosen-version": _NONE, "error": {"message": text, "code": "not found"}}
        return {"chosen-version": JUJU_VERSION}

    @method(Needs.SUPERUSER)
    def abort_model_upgrade(self, model_tag: str) -> None:
        """Do nothing: no upgrade is ever under way."""
        reach(self.ctx, tags.model_to_reach(model_tag), "admin")
