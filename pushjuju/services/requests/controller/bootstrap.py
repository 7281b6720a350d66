"""bootstrap: what can be known wrong before a controller is made, and its first model.

Mirrors: juju cmd/juju/commands/bootstrap.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.clouds import DEFAULT_REGION, Cloud
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import (
    controller_config,
    model_config,
    new_models,
    sessions,
)
from pushjuju.services.requests.model import add_model as new_model
from pushjuju.services.requests.model import model_config as request
from pushjuju.services.requests.storage import pools
from pushjuju.store.datadir import DataDir
from pushjuju.store.rows.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePool:
    """A storage pool of a new model; `kind` names its provider."""

    name: str
    kind: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapOptions:
    """A new controller and its first model.

    Attributes:
        config: Settings of the controller and of its first model.
        defaults: Settings that all its models begin with.
        model: The name of the first model; empty for none.
        constraints: Of the first model.
        pool: Of the first model, or None.
    """

    credential: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    constraints: Mapping[str, Any] = field(default_factory=dict)
    pool: StoragePool | None = None

    def check(self) -> None:
        """Refuse what could only fail half-way.

        Raises:
            NotValid: A setting does not fit.
            UsageError: The name of the model cannot be one.
        """
        settings = {**self.config, **self.defaults}
        model_config.parse_values(_of_models(settings))
        controller_config.parse_values(settings)
        if self.model:
            new_models.require_name(self.model)

    def controller_settings(self) -> dict[str, object]:
        """Return what controller.toml keeps of the settings."""
        return {**self.config, "model-defaults": dict(self.defaults)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a controller's models will be by default; `credential` is the name of one, or empty."""

    cloud: Cloud
    region: str
    credential: str

    def __str__(self) -> str:
        return f"{self.cloud.name}/{self.region}"

    @property
    def is_remote(self) -> bool:
        """Return True when a cloud must be asked for machines."""
        return self.cloud.type not in clouds.BUILT_IN.values()


def place(datadir: DataDir, host: PluginHost, text: str, credential: str = "") -> Place:
    """Return the place that `cloud[/region]` means.

    Raises:
        NotFound: No such cloud, region or credential.
        NotValid: There are several credentials.
    """
    name, region = clouds.split(text)
    places = clouds.folders(datadir)
    cloud = clouds.definition(places, clouds.first_name(places, name), host)
    return Place(
        cloud=cloud,
        region=clouds.choose_region(places, cloud, region),
        credential=clouds.choose_credential(places, cloud.name, credential),
    )


def cloud_names(datadir: DataDir, host: PluginHost) -> list[str]:
    """Return the clouds that a controller can be for."""
    return sorted({*clouds.public_clouds(host), *clouds.BUILT_IN, *datadir.clouds()})


def region_names(datadir: DataDir, host: PluginHost, name: str) -> list[str]:
    """Return the regions of a cloud.

    Raises:
        NotFound: No such cloud.
    """
    places = clouds.folders(datadir)
    found = clouds.definition(places, clouds.first_name(places, name), host)
    return [region.name for region in found.regions] or [DEFAULT_REGION]


def add_first_model(ctx: Context, options: BootstrapOptions) -> Model:
    """Make the first model of a controller, with the constraints and the pool of Juju's controller model."""
    settings = {**options.defaults, **_of_models(options.config)}
    model = new_model.add_model(
        ctx, new_model.AddModelOptions(name=options.model, credential=options.credential, config=settings)
    )
    sessions.focus(ctx, model)
    if options.constraints:
        request.set_constraints(ctx, model.uuid, options.constraints)
    if options.pool:
        pools.create(ctx, model.uuid, options.pool.name, options.pool.kind, options.pool.attributes)
    return model


def _of_models(config: Mapping[str, Any]) -> dict[str, object]:
    """Return the entries of a bootstrap configuration that belong to models."""
    known = {*model_config.ATTRIBUTES, model_config.SERIES}
    return {key: value for key, value in config.items() if key in known}
