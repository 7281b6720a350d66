"""create-storage-pool: creates or defines a storage pool. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.storage.storage_words import attribute_pairs
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.services.requests.storage import storage_requests


@command(
    "create-storage-pool",
    usage="<name> <storage provider> [<key>=<value> ...]",
    summary="Creates or defines a storage pool.",
    at_least=(2, "pool creation requires names, provider type and optional attributes for configuration"),
    flags=flags.IN_MODEL,
    examples="    pushjuju create-storage-pool scratch tmpfs\n",
    see_also=("storage-pools", "update-storage-pool", "remove-storage-pool"),
)
def create_storage_pool(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    if "=" in args[0] or "=" in args[1]:
        raise UsageError(
            "pool creation requires names and provider type before optional attributes for configuration"
        )
    attributes = attribute_pairs(args[2:])

    opened = session.open_model(cli, model)
    storage_requests.create_pool(opened.ctx, opened.uuid, args[0], args[1], attributes)
