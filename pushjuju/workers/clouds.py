"""Opens the provider of a model's cloud."""

from __future__ import annotations

from collections.abc import Callable

from pushjuju.plugins.api.clouds import Credential
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services
from pushjuju.plugins.api.targets import RemoteRunner
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.cloud import opened as opened_clouds
from pushjuju.services.entities.model import model_config
from pushjuju.store.rows.records import Model


def services_for(ctx: Context, warn: Callable[[str], None], remote: RemoteRunner | None = None) -> Services:
    """Return the services of the controller that a provider may use."""
    return Services(
        data_dir=ctx.controller.machines, environ=ctx.environ, clock=ctx.clock, warn=warn, remote=remote
    )


def model_info(ctx: Context, model: Model) -> ModelInfo:
    """Return a model as plugins see it."""
    controller = str(ctx.controller.settings().get("uuid", ""))
    return ModelInfo(uuid=model.uuid, name=model.name, controller_uuid=controller)


def open_provider(
    ctx: Context,
    host: PluginHost,
    model: Model,
    *,
    warn: Callable[[str], None],
    remote: RemoteRunner | None = None,
    cloud: str | None = None,
    credential: Credential | None = None,
) -> Provider:
    """Open the provider of a model's cloud.

    Args:
        cloud: Another cloud than the model's: `manual`, for machines that a user named.
        credential: Another credential than the model's, to check the credential before it is stored.
    """
    name = cloud or model.cloud
    with ctx.read(model.uuid) as tx:
        config = {key: item["value"] for key, item in model_config.effective(tx).items()}
    places = clouds.folders(ctx.datadir, ctx.controller)
    return host.open_provider(
        cloud=opened_clouds.open_spec(places, name, model.region if cloud is None else "", host),
        credential=credential
        or opened_clouds.open_credential(places, name, model.credential if cloud is None else ""),
        model=model_info(ctx, model),
        config=config,
        services=services_for(ctx, warn, remote),
    )
