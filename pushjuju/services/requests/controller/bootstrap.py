"""The request of bootstrap: checks the options first, then adds the controller's first model.

Mirrors: juju cmd/juju/commands/bootstrap.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pushjuju.core.clouds import DEFAULT_REGION, Cloud
from pushjuju.core.values import dataclass
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import controller_config, model_config, models, sessions
from pushjuju.services.requests.model import add_model as new_model
from pushjuju.services.requests.model import model_config as request
from pushjuju.services.requests.storage import storage_requests
from pushjuju.store.datadir import DataDir
from pushjuju.store.rows.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePool:
    """A storage pool for the first model; `kind` is its storage provider."""

    name: str
    kind: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapOptions:
    """What a user asks for when making a controller."""

    credential: str = ""
    # configuration of the controller and of its first model
    config: Mapping[str, Any] = field(default_factory=dict)
    # the defaults for the configuration of all its models
    defaults: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""  # the name of the first model; empty for no model
    constraints: Mapping[str, Any] = field(default_factory=dict)  # the constraints of the first model
    pool: StoragePool | None = None  # a storage pool of the first model, or None

    def check(self, datadir: DataDir) -> None:
        """Check the options, so that bootstrap does not fail half-way.

        Raises:
            NotValid: A configuration value is wrong.
            UsageError: The name of the model is not valid.
        """
        settings = {**self.config, **self.defaults}
        model_config.parse_values(_of_models(settings))
        charms.check_default_base(datadir, settings)
        controller_config.parse_values(settings)
        if self.model:
            models.require_name(self.model)

    def controller_settings(self, *, in_plan: bool = False) -> dict[str, object]:
        """Return the configuration as controller.toml keeps it; a plan makes no directory for all hosts."""
        kept = {key: value for key, value in self.config.items() if not (in_plan and key == "blobs")}
        return {**kept, "model-defaults": dict(self.defaults)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The cloud and region that a controller's models get by default; `credential` is a name, or empty."""

    cloud: Cloud
    region: str
    credential: str

    def __str__(self) -> str:
        return f"{self.cloud.name}/{self.region}"

    @property
    def is_remote(self) -> bool:
        """True when a cloud has to start the machines."""
        return self.cloud.type not in clouds.BUILT_IN.values()


def place(datadir: DataDir, host: PluginHost, text: str, credential: str = "") -> Place:
    """Return the place that `cloud[/region]` names."""
    name, region = clouds.split(text)
    places = clouds.folders(datadir)
    cloud = clouds.definition(places, clouds.first_name(places, name), host)
    return Place(
        cloud=cloud,
        region=clouds.choose_region(places, cloud, region),
        credential=clouds.choose_credential(places, cloud.name, credential),
    )


def cloud_names(datadir: DataDir, host: PluginHost) -> list[str]:
    """Return the names of the clouds that a controller can be made for."""
    return sorted({*clouds.public_clouds(host), *clouds.BUILT_IN, *datadir.clouds()})


def region_names(datadir: DataDir, host: PluginHost, name: str) -> list[str]:
    """Return the regions of a cloud."""
    places = clouds.folders(datadir)
    found = clouds.definition(places, clouds.first_name(places, name), host)
    return [region.name for region in found.regions] or [DEFAULT_REGION]


def add_first_model(ctx: Context, options: BootstrapOptions) -> Model:
    """Add the first model of a controller, with constraints and storage pool, and make it current."""
    settings = {**options.defaults, **_of_models(options.config)}
    model = new_model.add_model(
        ctx, new_model.AddModelOptions(name=options.model, credential=options.credential, config=settings)
    )
    sessions.focus(ctx, model)
    if options.constraints:
        request.set_constraints(ctx, model.uuid, options.constraints)
    if options.pool:
        storage_requests.create_pool(
            ctx, model.uuid, options.pool.name, options.pool.kind, options.pool.attributes
        )
    return model


def _of_models(config: Mapping[str, Any]) -> dict[str, object]:
    """Return the entries of a bootstrap configuration that belong to models."""
    known = {*model_config.ATTRIBUTES, model_config.SERIES}
    return {key: value for key, value in config.items() if key in known}
