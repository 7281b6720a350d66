"""The document of `controller processes`."""

from __future__ import annotations

from typing import Any

from pushjuju.services.entities.basis.context import Context
from pushjuju.store import processes
from pushjuju.store.processes import place_of


def documents(ctx: Context) -> list[dict[str, Any]]:
    """Return the processes that work for a controller: controller processes, and commands that hold keys.

    Each has `process`, `host`, `pid`, `version`, `pools` (a list), `state` (working, waiting, draining or
    command), `keys`, `started` (a datetime, or None for a command), and `seen`: when the process last used
    the store. Where the store is a file, that is now: the process was found on this host.
    """
    now = ctx.clock.now()
    with ctx.store.read() as tx:
        keys = {row["owner"]: row["keys"] for row in tx.rows("process_keys", now=now)}
        listed = processes.living(tx, ctx.store.lives)
        commands = {owner: held for owner, held in keys.items() if ctx.store.lives(owner) is not False}
    found = [_entry(item.owner, commands.pop(item.owner, 0), item) for item in listed]
    found += [_entry(owner, held, None) for owner, held in commands.items()]
    seen = ctx.store.engine.seen(item["process"] for item in found)
    return [{**item, "seen": seen.get(item["process"], now)} for item in found]


def _entry(owner: str, keys: int, process: processes.Process | None) -> dict[str, Any]:
    host, pid = place_of(owner)
    return {
        "process": owner,
        "host": host,
        "pid": int(pid),
        "version": process.version if process is not None else "",
        "pools": [name for name in process.pools.split(",") if name] if process is not None else [],
        "state": _state(process, keys),
        "keys": keys,
        "started": process.started if process is not None else None,
    }


def _state(process: processes.Process | None, keys: int) -> str:
    if process is None:
        return "command"
    if process.draining:
        return "draining"
    return "working" if keys else "waiting"
