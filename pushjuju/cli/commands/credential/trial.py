"""Tries a credential on the cloud of a model, for requests that change credentials."""

from __future__ import annotations

from pushjuju.cli.syntax.command import Cli
from pushjuju.services.entities.basis import plugin_host
from pushjuju.services.requests.cloud import credentials as request
from pushjuju.workers.machine import credentials


def credential_trial(cli: Cli, host: plugin_host.PluginHost) -> request.Trial:
    """Return a function that asks the cloud of a model whether it accepts a credential."""
    return lambda ctx, model, name, item: credentials.problems(
        ctx, host, model, name, item, warn=cli.console.warn
    )
