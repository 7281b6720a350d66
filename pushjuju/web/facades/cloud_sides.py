"""How requests about clouds and credentials reach the controller of the API."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.clouds import StoredCredential
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.plugin_host import PluginHost
from pushjuju.services.entities.model.sides import Sides
from pushjuju.services.requests.cloud.credentials import Trial
from pushjuju.store.rows.model import Model
from pushjuju.workers.machine import credentials


def sides_of(ctx: Context) -> Sides:
    """Return the controller alone: the files of the host's owner are not written over the API."""
    return Sides(folder=ctx.datadir, host=PluginHost(environ=ctx.environ), client=False, ctx=ctx)


def trial_of(ctx: Context) -> Trial:
    """Return what asks the cloud of a model whether a credential will do."""
    host = PluginHost(environ=ctx.environ)

    def problems(ctx: Context, model: Model, name: str, item: StoredCredential) -> Sequence[str]:
        return credentials.problems(ctx, host, model, name, item, warn=lambda _: None)

    return problems
