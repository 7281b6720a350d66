"""Functions that the commands for credentials share."""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.core.clouds import Cloud, StoredCredential
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import plugin_host
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import credentials

SHOW_SECRETS = flags.switch("show-secrets", "Show secrets, displaying sensitive information")


def upload(
    cli: Cli,
    where: sides.Sides,
    cloud: Cloud,
    kind: plugin_host.ProviderType,
    found: Mapping[str, StoredCredential],
    verb: str,
) -> None:
    """Write credentials to the controller, and print the result."""
    ctx = where.controller
    name = ctx.controller.name
    if not credentials.upload(where, cloud, kind, found):
        cli.output.text(
            f"No cloud {quote(cloud.name)} found on the controller {quote(name)}: "
            "credentials are not uploaded.\n"
            f"Use 'pushjuju clouds -c {name}' to see what clouds are available on the controller.\n"
            f"User 'pushjuju add-cloud {cloud.name} -c {name}' to add your cloud to the controller.\n"
        )
        return
    for credential in found:
        cli.console.info(
            f"Controller credential {quote(credential)} for user {quote(ctx.user)} "
            f"for cloud {quote(cloud.name)} on controller {quote(name)} {verb}.\n"
            f"For more information, see ‘pushjuju show-credential {cloud.name} {credential}’."
        )
