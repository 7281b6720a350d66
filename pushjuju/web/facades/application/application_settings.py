"""The part of the facade Application that changes settings, relations and exposure, and resolves hooks."""

from __future__ import annotations

from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.application import expose, resolved, settings
from pushjuju.services.requests.application.expose import ExposeOptions
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views import relation_rows
from pushjuju.web import errors, tags
from pushjuju.web.call import each
from pushjuju.web.errors import ErrorResults
from pushjuju.web.registry import Facade, Needs, method
from pushjuju.web.shapes import applications as shapes
from pushjuju.web.shapes.common import ConstraintsValue, Entities, force_of, known_constraints


class Settings(Facade):
    """Changes applications."""

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def set_configs(self, args: list[shapes.ConfigSet]) -> ErrorResults:
        """Change settings, including `trust`."""
        return {"results": [each(self._set_config, item) for item in args]}

    def _set_config(self, item: shapes.ConfigSet) -> None:
        file = item.config_yaml.encode() or None
        options = ConfigOptions(application=item.application, values=item.config, file=file)
        settings.set_config(self.ctx, self.model, options)

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def unset_applications_config(self, args: list[shapes.ApplicationUnset]) -> ErrorResults:
        """Reset settings to their defaults."""
        return {"results": [each(self._unset, item) for item in args]}

    def _unset(self, item: shapes.ApplicationUnset) -> None:
        options = ConfigOptions(application=item.application, reset=item.options)
        settings.set_config(self.ctx, self.model, options)

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def set_constraints(self, application: str, constraints: ConstraintsValue) -> None:
        """Replace the constraints of future machines."""
        settings.set_constraints(self.ctx, self.model, application, known_constraints(constraints))

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def merge_bindings(self, args: list[shapes.ApplicationMergeBindings]) -> ErrorResults:
        """Bind endpoints to spaces."""
        return {"results": [each(self._bind, item) for item in args]}

    def _bind(self, item: shapes.ApplicationMergeBindings) -> None:
        name = tags.application(item.application_tag)
        settings.bind(self.ctx, self.model, name, item.bindings, force=item.force)

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def update_application_base(self, args: list[shapes.UpdateChannelArg]) -> ErrorResults:
        """Set the bases of future units."""
        return {"results": [each(self._set_base, item) for item in args]}

    def _set_base(self, item: shapes.UpdateChannelArg) -> None:
        if not item.channel:
            raise errors.ApiError("base missing from args", errors.BAD_REQUEST)
        base = Base.parse(f"ubuntu@{item.channel.partition('/')[0]}")
        settings.set_base(self.ctx, self.model, tags.application(item.tag.tag), base)

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def add_relation(self, endpoints: list[str], via_cidrs: list[str]) -> shapes.AddRelationResults:
        """Relate two applications."""
        if len(endpoints) != 2:
            raise errors.ApiError(f"expected 2 endpoints, got {len(endpoints)}", errors.BAD_REQUEST)
        first, second = endpoints
        try:
            number = integrate.integrate(self.ctx, self.model, first, second, via=via_cidrs)
        except AlreadyExists as error:  # libjuju looks for these three words
            raise errors.ApiError(f"{error.what}: relation already exists", errors.ALREADY_EXISTS) from None
        found: dict[str, shapes.RelationEnd] = {
            side.application: {
                "name": side.endpoint,
                "role": side.role,
                "interface": side.interface,
                "optional": False,
                "limit": side.capacity,
                "scope": scope,
            }
            for scope, side in relation_rows.sides(self.ctx, self.model, number)
        }
        return {"endpoints": found}

    @method(Needs.WRITE, blocked_by=blocks.REMOVE)
    def destroy_relation(self, params: shapes.DestroyRelation) -> None:
        names = params.endpoints or [str(params.relation_id)]
        force = force_of(params.max_wait, force=params.force)
        integrate.remove_relation(self.ctx, self.model, names, force)

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def expose(self, application: str, exposed_endpoints: dict[str, shapes.ExposedEndpointParams]) -> None:
        """Expose applications: make their open ports reachable from outside."""
        if not exposed_endpoints:
            expose.expose(self.ctx, self.model, ExposeOptions(application=application))
        for endpoint, item in exposed_endpoints.items():
            names = [endpoint] if endpoint else []
            options = ExposeOptions(
                application=application,
                endpoints=names,
                spaces=item.expose_to_spaces,
                cidrs=item.expose_to_cidrs,
            )
            expose.expose(self.ctx, self.model, options)

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def unexpose(self, application: str, exposed_endpoints: list[str]) -> None:
        """End the exposure of applications or endpoints."""
        expose.unexpose(self.ctx, self.model, application, exposed_endpoints)

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def resolve_unit_errors(self, tags: Entities, *, retry: bool, all: bool) -> ErrorResults:  # noqa: A002 - its name on the wire
        """Resolve failed hooks: run them again, or skip them."""
        if all:
            resolved.resolve_all(self.ctx, self.model, retry=retry)
            return {"results": []}
        return {"results": [each(self._resolve, item.tag, retry=retry) for item in tags.entities]}

    def _resolve(self, tag: str, *, retry: bool) -> None:
        resolved.resolve(self.ctx, self.model, [tags.unit(tag)], retry=retry)
