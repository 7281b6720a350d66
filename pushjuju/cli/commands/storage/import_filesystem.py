"""import-filesystem: imports a filesystem into the model. Mirrors: juju cmd/juju/storage (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.core.storage import is_store
from pushjuju.workers.provision import storage_import


@command(
    "import-filesystem",
    usage="<storage pool> <provider ID> <storage name>",
    summary="Imports a filesystem into the model.",
    flags=(*flags.IN_MODEL, flags.switch("force", "For Kubernetes only")),
    details="The filesystem becomes detached storage; attach it with `attach-storage` or `--attach-storage`.",
    examples="    pushjuju import-filesystem local volume-4f2a pgdata\n",
    see_also=("storage", "remove-storage"),
)
def import_filesystem(cli: Cli, args: tuple[str, ...], *, model: str, force: bool) -> None:
    if len(args) < 3:
        raise UsageError("import-filesystem requires a storage provider, provider ID, and storage name")
    if len(args) > 3:
        raise UsageError(f"unrecognized args: {list(args[3:])}")
    if force:
        raise UsageError("--force is only allowed with k8s models")
    pool, provider_id, name = args
    if not is_store(name):
        raise UsageError(f'"{name}" is not a valid storage name')

    opened = session.open_model(cli, model)
    cli.console.info(f'importing "{provider_id}" from storage pool "{pool}" as storage "{name}"')
    made = storage_import.import_found(
        opened.ctx, opened.uuid, pool, provider_id, name, warn=cli.console.warn
    )
    cli.console.info(f"imported storage {made}")
