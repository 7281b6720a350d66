"""resource-get: sends a resource to the machine's cache while the hook waits.

The file is read and sent in pieces, once for each machine; the machine compares the hashes.

Mirrors: juju apiserver/resources_unit.go, worker/uniter/runner/context/resources (3.6)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from pushjuju.core.errors import LeaseLost, NotFound, NotValid, PushjujuError
from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.application import resources, units
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.supply import store_resources
from pushjuju.store.files.blobs import Blobs
from pushjuju.store.rows.records import Resource
from pushjuju.workers.live import LiveAnswer

TOOL = "resource-get"
FETCH = "fetch"  # what the machine sends when it has no copy of the file
AGAIN = "again"  # what the machine sends when its cached copy of the file is damaged


async def answer(
    ctx: Context, session: MachineSession, model: str, unit: str, argv: Sequence[str]
) -> LiveAnswer:
    """Send the facts of a resource to the machine and, on request, its file.

    Raises:
        LeaseLost: Another controller process works on the machine now and answers instead.
    """
    try:
        found = await _deliver(ctx, session, model, unit, list(argv))
    except LeaseLost:
        raise
    except (PushjujuError, OSError) as error:
        text = error.message if isinstance(error, PushjujuError) else str(error)
        return 1, b"", f"ERROR could not download resource: {text}\n".encode()
    told = {"path": found.path, "sha256": found.sha256, "sha384": found.fingerprint, "size": found.size}
    return 0, json.dumps(told).encode(), b""


async def at_hand(blobs: Blobs, sha256: str) -> Path:
    """Return the path of a blob, which may have to be fetched from a database first.

    Raises:
        NotFound: The blob is not stored.
    """
    if (found := blobs.find(sha256)) is not None:
        return found
    return await asyncio.to_thread(blobs.path, sha256)


async def _deliver(ctx: Context, session: MachineSession, model: str, unit: str, argv: list[str]) -> Resource:
    if len(argv) not in (2, 3) or argv[0] != "--" or (len(argv) == 3 and argv[2] not in (FETCH, AGAIN)):
        raise NotValid("resource-get takes the name of a resource")
    if len(argv) == 2:
        return await _here(ctx, model, _look(ctx, model, unit, argv[1]))
    while True:
        found = await _here(ctx, model, _look(ctx, model, unit, argv[1]))
        if argv[2] == AGAIN:
            session.forget_blob(found.sha256)
        try:
            await session.put_blob(found.sha256, await at_hand(ctx.controller.blobs, found.sha256))
        except (NotFound, FileNotFoundError):
            if _look(ctx, model, unit, argv[1]).sha256 != found.sha256:
                continue  # another file was attached meanwhile
            raise
        with ctx.write(model) as tx:
            resources.fetched(tx, units.get(tx, unit), found)
        return found


async def _here(ctx: Context, model: str, found: Resource) -> Resource:
    """Return a resource with its content; the content in a charm store is downloaded at the first request."""
    if found.sha256:
        return found

    errand = store_resources.errand(ctx, model, found)
    with ExitStack() as stack:
        return resources.have_content(ctx, found, await asyncio.to_thread(errand.run, stack))


def _look(ctx: Context, model: str, unit: str, name: str) -> Resource:
    with ctx.read(model) as tx:
        return resources.wanted(tx, units.get(tx, unit), name)
