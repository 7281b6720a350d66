"""The part of the facade Application that shows applications and units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.errors import PushjujuError
from pushjuju.services.views import application_documents, unit_documents
from pushjuju.services.views.listings import applications
from pushjuju.web import errors, tags
from pushjuju.web.registry import Facade, Needs, bulk, method
from pushjuju.web.shapes import applications as shapes
from pushjuju.web.shapes.common import Base as BaseShape
from pushjuju.web.shapes.common import Entities, Entity, Results, StringResult

_TRUST = {"description": "Does this application have access to trusted credentials", "type": "bool"}


def _base(text: str) -> BaseShape:
    base = Base.parse(text)
    return {"name": base.os, "channel": base.channel}


class Showing(Facade):
    """Shows applications and units."""

    @method(Needs.READ)
    def get(self, params: shapes.ApplicationGet) -> shapes.ApplicationGetResults:
        """Return an application's settings, constraints, charm and base."""
        name = params.application
        config = applications.config(self.ctx, self.model, name)
        about = application_documents.about(self.ctx, self.model, name)
        trust = config.get("application-config", {}).get("trust", {})
        own = {"value": about.trusted, "source": "user" if about.trusted else "default", **_TRUST}
        return {
            "application": name,
            "charm": about.charm,
            "config": config.get("settings", {}),
            "application-config": {"trust": {**trust, **own}},
            "constraints": dict(applications.constraints(self.ctx, self.model, name)),
            "base": _base(about.base),
            "channel": about.channel,
            "endpoint-bindings": about.bindings,
        }

    @method(Needs.READ)
    def get_config(self, params: Entities) -> shapes.ConfigResults:
        """Return the settings of applications."""
        return {"Results": [self._settings(tags.application, item.tag) for item in params.entities]}

    @method(Needs.READ)
    def charm_config(self, args: list[shapes.ApplicationGet]) -> shapes.ConfigResults:
        """Return the settings of applications; the params have names instead of tags."""
        return {"Results": [self._settings(str, item.application) for item in args]}

    def _settings(self, read: Callable[[str], str], text: str) -> shapes.ConfigResult:
        try:
            found = applications.config(self.ctx, self.model, read(text))
        except PushjujuError as error:
            return {"config": {}, "error": errors.told(error)}
        return {"config": found.get("settings", {})}

    @method(Needs.READ)
    def charm_relations(self, params: shapes.ApplicationGet) -> shapes.CharmRelationsResults:
        """Return the names of the endpoints of an application."""
        found = application_documents.endpoint_names(self.ctx, self.model, params.application)
        return {"charm-relations": found}

    @method(Needs.READ)
    def leader(self, params: Entity) -> StringResult:
        """Return the unit that leads an application."""
        found = application_documents.leader(self.ctx, self.model, tags.application(params.tag))
        if not found:
            missing = errors.ApiError(f"leader for {params.tag} not found", errors.NOT_FOUND)
            return {"result": "", "error": errors.told(missing)}
        return {"result": found}

    @method(Needs.WRITE, name="GetCharmURLOrigin")
    def get_charm_url_origin(self, params: shapes.ApplicationGet) -> dict[str, object]:
        """Return the charm of an application, and where the charm comes from."""
        return application_documents.charm_origin(self.ctx, self.model, params.application)

    @bulk("entities", Needs.READ, empty={"constraints": {}})
    def get_constraints(self, tag: str) -> dict[str, object]:
        return {"constraints": dict(applications.constraints(self.ctx, self.model, tags.application(tag)))}

    @bulk("entities", Needs.READ)
    def applications_info(self, tag: str) -> dict[str, object]:
        name = tags.application(tag)
        known = application_documents.show_applications(self.ctx, self.model, [name])[name]
        about = application_documents.about(self.ctx, self.model, name)
        result = {
            "tag": tag,
            "charm": known["charm"],
            "base": _base(about.base),
            "channel": about.channel,
            "constraints": known.get("constraints", {}),
            "principal": known["principal"],
            "exposed": known["exposed"],
            "remote": False,
            "life": known["life"],
            "endpoint-bindings": about.bindings,
            "exposed-endpoints": known.get("exposed-endpoints", {}),
        }
        return {"result": result}

    @method(Needs.READ)
    def units_info(self, params: Entities) -> Results:
        """Return the details of units, or of all units of applications."""
        return {"results": [entry for item in params.entities for entry in self._units(item.tag)]}

    def _units(self, tag: str) -> list[dict[str, object]]:
        try:
            if tags.kind_of(tag) == "application":
                names = application_documents.units(self.ctx, self.model, tags.application(tag))
            else:
                names = [tags.unit(tag)]
            found = unit_documents.show_units(self.ctx, self.model, names)
        except PushjujuError as error:
            return [{"error": errors.told(error)}]
        return [{"result": _unit(name, known)} for name, known in found.items()]


def _unit(name: str, known: dict[str, Any]) -> dict[str, object]:
    return {
        "tag": tags.of_unit(name),
        "workload-version": known.get("workload-version", ""),
        "machine": known.get("machine", ""),
        "opened-ports": known.get("opened-ports", []),
        "public-address": known.get("public-address", ""),
        "charm": known["charm"],
        "leader": known["leader"],
        "life": known["life"],
        "relation-data": [_relation(entry) for entry in known.get("relation-info", ())],
    }


def _relation(entry: dict[str, Any]) -> dict[str, object]:
    units = {**entry.get("related-units", {})}
    return {
        "relation-id": entry["relation-id"],
        "endpoint": entry["endpoint"],
        "cross-model": bool(entry.get("cross-model")),
        "related-endpoint": entry["related-endpoint"],
        "ApplicationData": entry["application-data"],
        "unit-relation-data": {
            unit: {"InScope": data["in-scope"], "UnitData": data["data"]} for unit, data in units.items()
        },
    }
