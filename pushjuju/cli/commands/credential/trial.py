"""Tries a credential on the cloud of a model, for requests that change credentials."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.syntax.command import Cli
from pushjuju.core.clouds import StoredCredential
from pushjuju.services.entities.basis import context, plugin_host
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.cloud import credentials as request
from pushjuju.workers.machine import credentials


def credential_trial(cli: Cli, host: plugin_host.PluginHost) -> request.Trial:
    """Return a function that asks the cloud of a model whether it accepts a credential."""

    def problems(
        ctx: context.Context, model: sessions.Model, name: str, item: StoredCredential
    ) -> Sequence[str]:
        return credentials.problems(ctx, host, model, name, item, warn=cli.console.warn)

    return problems
