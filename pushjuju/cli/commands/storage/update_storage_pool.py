"""update-storage-pool: updates storage pool attributes. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.storage.storage_words import attribute_pairs
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.services.requests.storage import storage_requests


@command(
    "update-storage-pool",
    usage="<name> [<key>=<value> ...]",
    summary="Updates storage pool attributes.",
    at_least=(1, "pool update requires name and configuration attributes"),
    flags=flags.IN_MODEL,
    details="Replaces all attributes. `provider-type=...` changes the type of a pool that is not in use.",
    examples="    pushjuju update-storage-pool fast volume-type=ssd\n",
    see_also=("storage-pools", "create-storage-pool", "remove-storage-pool"),
)
def update_storage_pool(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    attributes = attribute_pairs(args[1:])
    if not attributes:
        raise UsageError("pool update requires configuration attributes")

    opened = session.open_model(cli, model)
    provider = attributes.pop("provider-type", "")
    storage_requests.update_pool(opened.ctx, opened.uuid, args[0], attributes, provider)
