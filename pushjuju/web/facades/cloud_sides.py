"""How requests about clouds and credentials reach the controller of the API."""

from __future__ import annotations

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.plugin_host import PluginHost
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model.sides import Sides
from pushjuju.services.requests.cloud.credentials import Trial
from pushjuju.web import tags
from pushjuju.web.call import require_self
from pushjuju.workers.machine import credentials


def sides_of(ctx: Context) -> Sides:
    """Return the controller alone: the API never writes the client files of the host's owner."""
    return Sides(folder=ctx.datadir, host=PluginHost(environ=ctx.environ), client=False, ctx=ctx)


def credential_key(ctx: Context, tag: str) -> tuple[str, str]:
    """Return the cloud and the key of a credential that the calling user may name."""
    cloud, owner, name = tags.credential(tag)
    require_self(ctx, owner)
    return cloud, clouds.key_of(owner, name)


def trial_of(ctx: Context) -> Trial:
    """Return the function that asks a model's cloud whether a credential works."""
    host = PluginHost(environ=ctx.environ)
    return lambda ctx, model, name, item: credentials.problems(
        ctx, host, model, name, item, warn=lambda _: None
    )
