"""The request to end controller processes, wherever they run."""

from __future__ import annotations

from pushjuju.core.errors import NotFound
from pushjuju.services.entities.basis.context import Context
from pushjuju.store import processes
from pushjuju.store.processes import place_of


def drain(ctx: Context, name: str) -> list[str]:
    """Ask controller processes to give back their keys and to end; return the names of the processes.

    Hooks that run go on, on their machines; another process, or the next command, commits their results.

    Args:
        name: A host, for all controller processes there, or the name of one process.

    Raises:
        NotFound: No controller process has this name or runs on this host.
    """
    with ctx.change_controller() as tx:
        living = [item.owner for item in processes.living(tx, ctx.store.lives)]
        found = [owner for owner in living if name in (owner, place_of(owner)[0])]
        for owner in found:
            tx.run("process_drain", owner=owner)
    if not found:
        raise NotFound(f'no controller process runs on a host "{name}"', hint="pushjuju controller processes")
    return found
