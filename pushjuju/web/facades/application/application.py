"""Application: the applications of a model. Mirrors: juju apiserver/facades/client/application (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists, PushjujuError
from pushjuju.core.model.offerurl import parse
from pushjuju.core.storage import Directive
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.application import expose, settings, unit_requests
from pushjuju.services.requests.application.expose import ExposeOptions
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.relation import cross_model, integrate
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.views import relation_rows
from pushjuju.web import errors, tags
from pushjuju.web.call import each, reach_offer
from pushjuju.web.errors import ErrorResults
from pushjuju.web.facades.application.application_deploy import Deploying
from pushjuju.web.facades.application.application_documents import Showing
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes import applications as shapes
from pushjuju.web.shapes import offers
from pushjuju.web.shapes.common import ConstraintsValue, Entities, force_of, known_constraints

_SINCE = 22


class Settings(Facade):
    """Changes applications."""

    @bulk("args", Needs.WRITE, blocked_by=blocks.CHANGE)
    def set_configs(self, item: shapes.ConfigSet) -> None:
        """Change settings, including `trust`."""
        file = item.config_yaml.encode() or None
        options = ConfigOptions(application=item.application, values=item.config, file=file)
        settings.set_config(self.ctx, self.model, options)

    @bulk("args", Needs.WRITE, blocked_by=blocks.CHANGE)
    def unset_applications_config(self, item: shapes.ApplicationUnset) -> None:
        """Reset settings to their defaults."""
        options = ConfigOptions(application=item.application, reset=item.options)
        settings.set_config(self.ctx, self.model, options)

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def set_constraints(self, application: str, constraints: ConstraintsValue) -> None:
        """Replace the constraints of future machines."""
        settings.set_constraints(self.ctx, self.model, application, known_constraints(constraints))

    @bulk("args", Needs.WRITE, blocked_by=blocks.CHANGE)
    def merge_bindings(self, item: shapes.ApplicationMergeBindings) -> None:
        """Bind endpoints to spaces."""
        name = tags.application(item.application_tag)
        settings.bind(self.ctx, self.model, name, item.bindings, force=item.force)

    @bulk("args", Needs.WRITE, blocked_by=blocks.CHANGE)
    def update_application_base(self, item: shapes.UpdateChannelArg) -> None:
        """Set the bases of future units."""
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
            unit_requests.resolve_all(self.ctx, self.model, retry=retry)
            return {"results": []}
        return {"results": [each(self._resolve, item.tag, retry=retry) for item in tags.entities]}

    def _resolve(self, tag: str, *, retry: bool) -> None:
        unit_requests.resolve(self.ctx, self.model, [tags.unit(tag)], retry=retry)


class Consuming(Facade):
    """Consumes offers of other models."""

    @bulk("args", Needs.WRITE, blocked_by=blocks.CHANGE)
    def consume(self, item: offers.ConsumeApplicationArg) -> None:
        """Let the model consume offers."""
        url = parse(item.offer_url)
        reach_offer(self.ctx, url, "consume")
        cross_model.consume(self.ctx, self.model, url, item.application_alias)

    @bulk("applications", Needs.WRITE, blocked_by=blocks.REMOVE)
    def destroy_consumed_applications(self, item: offers.DestroyConsumedApplication) -> None:
        """Remove consumed offers (SAAS) from the model."""
        force = force_of(item.max_wait, force=item.force)
        cross_model.remove_saas(self.ctx, self.model, tags.application(item.application_tag), force)

    @bulk("args", Needs.WRITE, blocked_by=blocks.CHANGE)
    def set_relations_suspended(self, item: shapes.RelationSuspendedArg) -> None:
        """Suspend relations to offers, or resume them."""
        integrate.set_suspended(
            self.ctx, self.model, [str(item.relation_id)], suspended=item.suspended, reason=item.message
        )


class Storing(Facade):
    """Shows and changes the storage of future units."""

    @bulk("entities", Needs.READ, since=_SINCE)
    def get_application_storage(self, tag: str) -> dict[str, object]:
        """Return the storage that future units of applications get."""
        try:
            found = storage_requests.application_directives(self.ctx, self.model, tags.application(tag))
        except PushjujuError as error:
            return {"storage-constraints": {}, "Error": errors.told(error)}
        return {
            "storage-constraints": {
                name: {"pool": item.pool, "size": item.size, "count": item.count}
                for name, item in found.items()
            }
        }

    @bulk("storage_updates", Needs.WRITE, since=_SINCE, blocked_by=blocks.CHANGE)
    def update_application_storage(self, item: shapes.ApplicationStorageUpdate) -> None:
        """Change the storage that future units of applications get; omitted fields keep their values."""
        wanted = {
            name: Directive(pool=part.pool, size=part.size, count=part.count)
            for name, part in item.storage_constraints.items()
        }
        name = tags.application(item.application_tag)
        storage_requests.set_application_directives(self.ctx, self.model, name, wanted)


@facade("Application")
class Application(Deploying, Settings, Consuming, Storing, Showing):
    """The applications of the model."""

    @method(Needs.WRITE)
    def scale_applications(self, applications: list[Any]) -> None:
        """Refuse: machines have units, not a scale."""
        del applications
        raise errors.not_supported("scaling IAAS applications not supported")
