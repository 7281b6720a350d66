"""refresh of an application of a model on another computer."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pushjuju.charms.format.url import ArgumentKind, name_in
from pushjuju.cli.commands.application import refreshing
from pushjuju.cli.remote.call import Call
from pushjuju.client import charms
from pushjuju.client.connection import Connection
from pushjuju.services.requests.application import deploy
from pushjuju.services.requests.application.refresh import RefreshOptions
from pushjuju.services.supply import charm_places


def refresh(call: Call) -> None:
    """Change an application to another revision of its charm; the host of the controller does the work."""
    options = refreshing.options_of(call.args[0], call.flags)
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder, call.target.opened() as (connection, _):
        before = _charm(connection, options.application)
        wanted = {**_wanted(options), **_source(call, connection, options, before["url"], Path(folder))}
        connection.call("Application", "SetCharm", wanted)
        if options.trust is not None:
            config = {"trust": str(options.trust).lower()}
            item = {"application": options.application, "config": config}
            connection.each("Application", "SetConfigs", {"Args": [item]})
        after = _charm(connection, options.application)
    _tell(call, before, after)


def _charm(connection: Connection, application: str) -> dict[str, Any]:
    """Return the URL and the origin of an application's charm."""
    found = connection.call("Application", "GetCharmURLOrigin", {"application": application})
    connection.require(found)
    return found


def _wanted(options: RefreshOptions) -> dict[str, Any]:
    """Return the params that every refresh has."""
    base = options.base
    return {
        "application": options.application,
        "charm-origin": {"base": {"name": base.os, "channel": base.channel}} if base else {},
        "config-settings": dict(options.config),
        "config-settings-yaml": (options.config_file or b"").decode(),
        "endpoint-bindings": dict(options.bind),
        "storage-constraints": charms.storage(options.storage),
        "force": options.force,
        "force-base": options.force_base,
        "force-units": options.force_units,
    }


def _source(
    call: Call, connection: Connection, options: RefreshOptions, url: str, folder: Path
) -> dict[str, Any]:
    """Return the params that name the new charm; a charm and files of this computer are sent first."""
    place = options.path or options.switch
    name = options.application
    if place and charm_places.kind_of(place, call.cli.env, call.cli.console) is ArgumentKind.LOCAL:
        asked = deploy.DeployOptions(charm=place, application=name, build_scripts=options.build_scripts)
        packed = deploy.read_local(asked, folder, call.cli.env, call.cli.console).found.packed
        sent = charms.upload(connection, packed)
        resources = charms.send_resources(connection, name, sent, packed, options.resources)
        return {"charm-url": sent, "resource-ids": resources}
    origin = {**_wanted(options)["charm-origin"]}
    if options.revision >= 0:
        origin["revision"] = options.revision
    return {
        "charm-url": place or f"ch:{name_in(url)}",
        "channel": options.channel,
        "charm-origin": origin,
        "resource-ids": charms.send_files(connection, name, place or url, options.resources, {}),
    }


def _tell(call: Call, before: dict[str, Any], after: dict[str, Any]) -> None:
    name, _, revision = after["url"].rpartition("/")[2].partition(":")[2].rpartition("-")
    if before["url"] == after["url"]:
        return call.cli.console.info(f'charm "{name}": already up-to-date')
    kind = "local" if after["url"].startswith("local:") else "charm-hub"
    return call.cli.console.info(f'Added {kind} charm "{name}", revision {revision}, to the model')
