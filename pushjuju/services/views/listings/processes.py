"""The document of `controller processes`, and the processes that work on models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import pools
from pushjuju.store import processes
from pushjuju.store.processes import place_of
from pushjuju.store.tx import Tx


def documents(ctx: Context) -> list[dict[str, Any]]:
    """Return the processes that work for a controller: controller processes, and commands that hold keys.

    Each has `process`, `host`, `pid`, `version`, `pools` (a list), `api` (a list of HOST:PORT), `state`
    (working, waiting, draining or command), `keys`, `started` (a datetime, or None for a command), and
    `seen`: when the process last used the store. Where the store is a file, that is now: the process was
    found on this host.
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


def of_models(ctx: Context, tx: Tx, uuids: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """Return UUID of a model -> `working` -> processes that work on it now, `waiting` -> those that will.

    A process is named `HOST:PID`. Without either, the work waits for the next command.
    """
    lives, shared = ctx.store.lives, ctx.store.engine.locks_models
    held: dict[str, list[str]] = {}
    for row in tx.rows("work_holders", now=ctx.clock.now()):
        if lives(row["owner"]) is not False:
            held.setdefault(row["model"], []).append(row["owner"])
    listed = [item for item in processes.living(tx, lives) if not item.draining]
    found = {}
    for uuid in uuids:
        pool = pools.pool_of(ctx.of(tx, uuid)) if shared else ""
        waiting = [item.owner for item in listed if item.works(pool)]
        found[uuid] = {"working": _places(held.get(uuid, ())), "waiting": _places(waiting)}
    return found


def _places(owners: Iterable[str]) -> list[str]:
    return sorted(":".join(place_of(owner)) for owner in owners)


def _entry(owner: str, keys: int, process: processes.Process | None) -> dict[str, Any]:
    host, pid = place_of(owner)
    return {
        "process": owner,
        "host": host,
        "pid": int(pid),
        "version": process.version if process is not None else "",
        "pools": _words(process.pools if process is not None else ""),
        "api": _words(process.api if process is not None else ""),
        "state": _state(process, keys),
        "keys": keys,
        "started": process.started if process is not None else None,
    }


def _words(text: str) -> list[str]:
    return text.split(",") if text else []


def _state(process: processes.Process | None, keys: int) -> str:
    if process is None:
        return "command"
    if process.draining:
        return "draining"
    return "working" if keys else "waiting"
