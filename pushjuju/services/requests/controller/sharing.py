"""Lets several hosts work for one controller whose store is in a database: exports its key, and joins hosts.

The hosts share the files of the controller, encrypted with the controller key (`store.postgres.vault`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushjuju.core.errors import AlreadyExists, Conflict, NotValid, UsageError
from pushjuju.core.names import is_controller
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.cloud.clouds import share_with_hosts
from pushjuju.services.entities.model import model_config, models, pools
from pushjuju.store import databases
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.db import Store
from pushjuju.store.files.private import replace_text


def export_key(ctx: Context, file: Path | None = None) -> str:
    """Return the text of the controller key; the first call makes the key and begins to share the files.

    Args:
        file: A file to write the key to, which only its owner can read.
    """
    place, root = ctx.store.place, ctx.controller.root
    if not isinstance(place, str):
        raise Conflict(
            f"the store of controller {ctx.controller.name} is a file on this host: {place}",
            hint="pushjuju controller move --to postgresql://HOST/DATABASE    moves it to a shared place",
        )
    key = databases.key_file(root)
    if key is None:
        key = root / databases.CONTROLLER_KEY
        _begin(ctx, place, key)
    share_with_hosts(ctx)
    vaults = databases.vaults()
    text: str = vaults.key_text(vaults.read_key(key, is_own=key.parent == root))
    if file is not None:
        replace_text(file, text)
    return text


def _begin(ctx: Context, place: str, key: Path) -> None:
    """Begin to share; the key gets its name last, so that an interrupted command can be repeated."""
    vaults, new = databases.vaults(), key.with_name(f"{key.name}.new")
    if not new.exists():
        with ctx.change_controller("the controller key"):
            ctx.controller.set("name", ctx.controller.name)  # for hosts that join without a name of their own
            replace_text(new, vaults.key_text(vaults.new_key()))
    _bind_to_host(ctx)
    vaults.Vault(place, ctx.controller.root, vaults.read_key(new)).exchange()
    new.replace(key)


def _bind_to_host(ctx: Context) -> None:
    """Put the models whose machines only this host reaches into its pool."""
    host = PluginHost(environ=ctx.environ)
    for model in models.list_models(ctx):
        cloud = clouds.definition(clouds.folders(ctx.datadir, ctx.controller), model.cloud, host)
        wanted = {} if models.is_controller(model) else pools.of_host(ctx, cloud, host)
        if wanted:
            with ctx.change(model.uuid) as tx:
                model_config.change(tx, {pools.POOL: pools.pool_of(tx) or wanted[pools.POOL]})


def join(
    datadir: DataDir, url: str, *, key: Path | None, name: str = "", insecure: bool = False
) -> ControllerDir:
    """Make this host one of the hosts of a controller, or give it the key that it has lost.

    Args:
        url: The address of the controller's store, as this host reaches it.
        key: The file with the controller key, which this host copies; None for the file that the environment
            names, which this host goes on to use.
        name: The name of the controller on this host; empty for its name on the host that exported the key.
        insecure: Allow a connection over the network without TLS.
    """
    path = key or _given()
    if not insecure:
        databases.require_safe(url)
    Store.open(url).close()  # brings the schema up to date, and explains what is wrong with the address
    vaults = databases.vaults()
    known = vaults.read_key(path, is_own=key is not None)
    text = vaults.key_text(known) if key is not None else ""
    settings = vaults.Vault(url, datadir.root, known).settings()
    chosen = name or str(settings.get("name", ""))
    if not is_controller(chosen):
        raise NotValid(f'"{chosen}" is not a valid controller name', hint="--name NAME gives it another name")
    if chosen in datadir.controllers():
        if _lacks_key(found := datadir.controller(chosen), settings, text):
            if text:
                replace_text(found.root / databases.CONTROLLER_KEY, text)
            vaults.Vault(url, found.root, known).exchange()
            return found
        raise AlreadyExists(f'controller "{chosen}" already exists', hint="--name NAME gives it another name")
    return datadir.create_controller(
        chosen, {**settings, "store": url}, prepare=lambda made: _take(made, url, known, text)
    )


def _given() -> Path:
    if (found := databases.given_key()) is None:
        raise UsageError("say which key: --key-file FILE, from `controller key export FILE`")
    return found


def _lacks_key(found: ControllerDir, settings: Mapping[str, Any], text: str) -> bool:
    """Return True when a directory is of the controller with these settings, and has not this key."""
    key = found.root / databases.CONTROLLER_KEY
    same = found.settings().get("uuid") == settings.get("uuid") and isinstance(found.store_place, str)
    return same and not (key.exists() and key.read_text() == text)


def _take(made: ControllerDir, url: str, key: bytes, text: str) -> None:
    """Write the shared files into the directory of a controller, and the key if it has a text."""
    made.private_key.unlink(missing_ok=True)
    made.public_key.unlink(missing_ok=True)
    if text:
        replace_text(made.root / databases.CONTROLLER_KEY, text)
    databases.vaults().Vault(url, made.root, key).take()
