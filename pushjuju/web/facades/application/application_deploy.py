"""The part of the facade Application that deploys and removes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.core.values import regex
from pushjuju.services.entities.application.resources import FILE
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import deploy, pending_resources, refresh, unit_requests
from pushjuju.services.requests.application.deploy import DeployOptions
from pushjuju.services.requests.application.new_application import Deployed
from pushjuju.services.requests.application.refresh import RefreshOptions
from pushjuju.services.views import application_documents, removal_plan, resource_documents
from pushjuju.web import errors, tags
from pushjuju.web.facades.store_names import store_name
from pushjuju.web.registry import Facade, Needs, bulk, method
from pushjuju.web.shapes import applications as shapes
from pushjuju.web.shapes.common import force_of, known_constraints
from pushjuju.web.shapes.placement import PlacementParams, directives, places

_LOCAL = regex(r"local:(?:[a-z]+/)?[a-z][a-z0-9-]*-[0-9]+")


def charm_of(ctx: Context, model: str, application: str) -> str:
    """Return the name of an application's charm."""
    return application_documents.about(ctx, model, application).charm


class Deploying(Facade):
    """Deploys applications, adds and removes units."""

    @bulk("applications", Needs.WRITE, blocked_by=blocks.CHANGE)
    def deploy(self, item: shapes.ApplicationDeploy) -> None:
        """Deploy charms that were uploaded to the model, or that a client has resolved in the store."""
        if item.devices:
            raise errors.not_supported("devices are for Kubernetes only")
        options = DeployOptions(
            **_source(item),
            application=item.application,
            num_units=item.num_units,
            least_units=0,
            base=item.charm_origin.base.value,
            config=item.config,
            config_file=item.config_yaml.encode() or None,
            constraints=known_constraints(item.constraints),
            placements=places(item.placement, self.model),
            storage=directives(item.storage),
            attach_storage=[tags.storage(tag) for tag in item.attach_storage],
            resources=pending_resources.claim(self.ctx, self.model, item.application, item.resources),
            bind=item.endpoint_bindings,
            force=item.force,
        )
        deploy.deploy(self.ctx, self.model, options)
        pending_resources.keep_images(self.ctx, self.model, item.application, item.resources)
        pending_resources.drop(self.ctx, item.resources.values())

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def deploy_from_repository(
        self, args: list[shapes.DeployFromRepositoryArg]
    ) -> shapes.DeployFromRepositoryResults:
        """Deploy charms of the model's store."""
        return {"Results": [self._from_store(item) for item in args]}

    def _from_store(self, item: shapes.DeployFromRepositoryArg) -> shapes.DeployFromRepositoryResult:
        try:
            deployed = deploy.deploy(self.ctx, self.model, self._store_options(item))
        except PushjujuError as error:
            return {"Errors": [errors.told(error)], "Info": _nothing(), "PendingResourceUploads": []}
        types = {} if item.dry_run else self._resource_types(deployed.application)
        return {
            "Errors": [], "Info": _info(deployed), "PendingResourceUploads": _uploads(item.resources, types),
        }  # fmt: skip

    def _resource_types(self, application: str) -> dict[str, str]:
        found = resource_documents.listing(self.ctx, self.model, application)
        return {item.name: item.type for item in found.resources}

    def _store_options(self, item: shapes.DeployFromRepositoryArg) -> DeployOptions:
        """Return the options of a deploy from the store, from a client's params.

        Raises:
            PushjujuError: The name is not that of a charm in a store, or another param is wrong.
        """
        name, number = store_name(item.charm_name)
        if item.devices:
            raise errors.not_supported("devices are for Kubernetes only")
        application = item.application_name or name
        revision = number if item.revision is None else item.revision
        return DeployOptions(
            charm=f"ch:{name}",
            application=application,
            num_units=item.num_units,
            least_units=0,
            base=item.base.value,
            channel=item.channel or ("stable" if revision >= 0 else ""),
            revision=revision,
            config_file=item.config_yaml.encode() or None,
            trust=item.trust,
            constraints=known_constraints(item.cons),
            placements=places(item.placement, self.model),
            storage=directives(item.storage),
            attach_storage=[tags.storage(tag) for tag in item.attach_storage],
            resources={key: value for key, value in item.resources.items() if value.isdigit()},
            bind=item.endpoint_bindings,
            force=item.force,
            dry_run=item.dry_run,
        )

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def set_charm(self, params: shapes.ApplicationSetCharm) -> None:
        """Refresh an application to another revision of its charm, or to an uploaded charm."""
        name, origin, ids = params.application, params.charm_origin, params.resource_ids
        options = RefreshOptions(
            application=name,
            base=origin.base.value,
            config=params.config_settings,
            config_file=params.config_settings_yaml.encode() or None,
            force=params.force,
            force_units=params.force_units,
            force_base=params.force_base,
            resources=pending_resources.claim(self.ctx, self.model, name, ids),
            storage=directives(params.storage_constraints),
            bind=params.endpoint_bindings,
        )
        if _LOCAL.fullmatch(params.charm_url):
            options = replace(options, uploaded=params.charm_url)
        else:
            options = self._of_store(params, options)
        refresh.refresh(self.ctx, self.model, options)
        pending_resources.keep_images(self.ctx, self.model, name, ids)
        pending_resources.drop(self.ctx, ids.values())

    def _of_store(self, params: shapes.ApplicationSetCharm, options: RefreshOptions) -> RefreshOptions:
        """Return the options of a refresh to the store revision that a client names."""
        name, number = store_name(params.charm_url)
        origin = params.charm_origin
        return replace(
            options,
            switch="" if name == charm_of(self.ctx, self.model, params.application) else name,
            channel=params.channel or origin.channel,
            revision=number if origin.revision is None else origin.revision,
        )

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def add_units(
        self, application: str, num_units: int, placement: list[PlacementParams], attach_storage: list[str]
    ) -> shapes.AddUnitsResults:
        if num_units < 1:
            raise NotValid("must add at least one unit")
        options = unit_requests.AddUnitsOptions(
            application=application,
            num_units=num_units,
            placements=places(placement, self.model),
            attach_storage=[tags.storage(tag) for tag in attach_storage],
        )
        return {"units": unit_requests.add_units(self.ctx, self.model, options)}

    @bulk("units", Needs.WRITE, blocked_by=blocks.REMOVE)
    def destroy_unit(self, item: shapes.DestroyUnit) -> dict[str, object]:
        name, force = tags.unit(item.unit_tag), force_of(item.max_wait, force=item.force)
        units = removals.doomed_units(self.ctx, self.model, [name])
        info = self._storage_of(units, destroy=item.destroy_storage)
        if not item.dry_run:
            removals.remove_units(self.ctx, self.model, [name], force, destroy_storage=item.destroy_storage)
        return {"info": info}

    def _storage_of(self, units: list[str], *, destroy: bool) -> dict[str, object]:
        """Return the storage of removed units as Juju's keys have it: destroyed, or detached and kept."""
        fate = removal_plan.storage_fate(self.ctx, self.model, units, destroy_storage=destroy)
        return {
            "destroyed-storage": [{"tag": tags.of_storage(name)} for name in fate.destroyed],
            "detached-storage": [{"tag": tags.of_storage(name)} for name in fate.detached],
        }

    @bulk("applications", Needs.WRITE, blocked_by=blocks.REMOVE)
    def destroy_application(self, item: shapes.DestroyApplication) -> dict[str, object]:
        """Remove applications with their units."""
        name, force = tags.application(item.application_tag), force_of(item.max_wait, force=item.force)
        units = removals.units_of(self.ctx, self.model, name)
        info = self._storage_of(units, destroy=item.destroy_storage)
        if not item.dry_run:
            removals.remove_applications(
                self.ctx, self.model, [name], force, destroy_storage=item.destroy_storage
            )
        return {"info": {"destroyed-units": [{"tag": tags.of_unit(unit)} for unit in units], **info}}


def _source(item: shapes.ApplicationDeploy) -> dict[str, Any]:
    """Return the options that name the charm: an upload, or a revision of the store.

    Raises:
        NotValid: The URL is neither, so that it could name a file of this host.
    """
    if _LOCAL.fullmatch(item.charm_url):
        return {"charm": item.charm_url}
    name, number = store_name(item.charm_url)
    revision = number if item.charm_origin.revision is None else item.charm_origin.revision
    channel = item.charm_origin.channel or ("stable" if revision >= 0 else "")
    return {"charm": f"ch:{name}", "revision": revision, "channel": channel}


def _nothing() -> shapes.Info:
    base = {"name": "", "channel": ""}
    return {"architecture": "", "base": base, "channel": "", "name": "", "revision": 0}  # type: ignore[typeddict-item]


def _info(deployed: Deployed) -> shapes.Info:
    return {
        "architecture": "amd64",
        "base": {"name": deployed.base.os, "channel": deployed.base.channel},
        "channel": deployed.channel,
        "effective-channel": deployed.channel,
        "name": deployed.charm,
        "revision": deployed.revision,
    }


def _uploads(resources: Mapping[str, str], types: Mapping[str, str]) -> list[shapes.PendingUpload]:
    """Return what the client uploads next: the resources whose value is not a revision.

    Args:
        types: Resource -> `file` or `oci-image`; Terraform's provider uploads images alone.
    """
    given: Iterable[tuple[str, str]] = resources.items()
    return [
        {"Name": name, "Type": types.get(name, FILE), "Filename": value}
        for name, value in given
        if not value.isdigit()
    ]
