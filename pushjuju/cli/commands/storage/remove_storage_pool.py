"""remove-storage-pool: removes an existing storage pool. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.storage import storage_requests


@command(
    "remove-storage-pool",
    usage="<name>",
    summary="Removes an existing storage pool.",
    at_least=(1, "pool removal requires storage pool name"),
    at_most=1,
    flags=flags.IN_MODEL,
    examples="    pushjuju remove-storage-pool fast\n",
    see_also=("storage-pools", "create-storage-pool", "update-storage-pool"),
)
def remove_storage_pool(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    opened = session.open_model(cli, model)
    storage_requests.remove_pool(opened.ctx, opened.uuid, args[0])
