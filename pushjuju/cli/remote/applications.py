"""deploy and config on a controller of another computer."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.charms.archive import bundles
from pushjuju.charms.format import yamlload
from pushjuju.charms.format.url import ArgumentKind, parse_url
from pushjuju.cli.commands.application import deploying
from pushjuju.cli.commands.config import config as config_command
from pushjuju.cli.commands.config import config_arguments
from pushjuju.cli.commands.config import model_config as model_config_command
from pushjuju.cli.commands.resource import attach_resource as attach_command
from pushjuju.cli.remote import reading
from pushjuju.cli.remote.call import Call
from pushjuju.cli.syntax import values
from pushjuju.client import charms
from pushjuju.core.base import Base
from pushjuju.core.errors import NotSupported, NotValid
from pushjuju.portable.yamltext import to_yaml
from pushjuju.services.requests.application import deploy as request
from pushjuju.services.requests.application.new_application import Deployed
from pushjuju.services.supply import charm_places

if TYPE_CHECKING:
    from pushjuju.client.connection import Connection
    from pushjuju.services.requests.application.deploy import DeployOptions, ReadCharm


def deploy(call: Call) -> None:
    """Record an application; the host of the controller does the work."""
    argument = call.args[0]
    if bundles.names_bundle(argument):
        raise NotSupported(
            "a bundle is deployed only on the host of the controller",
            hint=f"there: pushjuju deploy {argument}",
        )
    deploying.check_flags(call.flags)
    options = deploying.options_of(call.cli, argument, "".join(call.args[1:]), call.flags)
    kind = charm_places.kind_of(argument, call.cli.env, call.cli.console)
    if kind is ArgumentKind.LOCAL and options.dry_run:
        raise NotSupported("--dry-run of a local charm works only on the host of the controller")
    with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder, call.target.opened() as (connection, _):
        if kind is ArgumentKind.CHARMHUB:
            deployed = _from_store(connection, options)
        elif kind is ArgumentKind.LOCAL:
            read = request.read_local(options, Path(folder), call.cli.env, call.cli.console)
            deployed = _local(connection, options, read)
        else:
            deployed = _uploaded(connection, options, argument, options.config)
    deploying.tell(call.cli, deployed, dry_run=options.dry_run)


def _local(connection: Connection, options: DeployOptions, read: ReadCharm) -> Deployed:
    """Send a charm of this computer, and deploy it."""
    url = charms.upload(connection, read.found.packed)
    name = options.application or read.charm.name
    resources = charms.send_resources(connection, name, url, read.found.packed, options.resources)
    usual = 0 if read.charm.meta.subordinate else 1
    return _uploaded(connection, options, url, read.settings, resources=resources, usual=usual)


def _uploaded(
    connection: Connection,
    options: DeployOptions,
    url: str,
    settings: Mapping[str, Any],
    *,
    resources: Mapping[str, str] | None = None,
    usual: int = 1,
) -> Deployed:
    """Deploy a charm that is in the model."""
    charm, _, revision = url.rpartition("/")[2].removeprefix("local:").rpartition("-")
    name = options.application or charm
    wanted = {
        **_wanted(connection, options),
        "application": name,
        "charm-url": url,
        "charm-origin": {"source": "local", "type": "charm", "base": _base(options.base)},
        "num-units": usual if options.num_units is None else options.num_units,
        "config": {"trust": "true"} if options.trust else {},
        "config-yaml": _yaml(name, settings),
        "constraints": dict(options.constraints),
        "resources": dict(resources or {}),
    }
    connection.each("Application", "Deploy", {"applications": [wanted]})
    (found,) = connection.each(
        "Application", "ApplicationsInfo", {"entities": [{"tag": f"application-{name}"}]}
    )
    base = found["result"]["base"]
    return Deployed(
        application=name,
        charm=charm,
        revision=int(revision),
        base=Base.parse(f"{base['name']}@{base['channel']}"),
        units=(),
    )


def _from_store(connection: Connection, options: DeployOptions) -> Deployed:
    """Deploy a charm of the model's store."""
    name = options.application or parse_url(options.charm).name
    settings = {**_of_file(options, name), **options.config}
    wanted = {
        **_wanted(connection, options),
        "ApplicationName": name,
        "AttachStorage": [f"storage-{item.replace('/', '-')}" for item in options.attach_storage],
        "CharmName": options.charm,
        "ConfigYAML": _yaml(name, settings),
        "Cons": dict(options.constraints),
        "DryRun": options.dry_run,
        "Trust": options.trust,
        "base": _base(options.base),
        "channel": options.channel,
        "num-units": options.num_units,
        "resources": dict(options.resources),
        "revision": options.revision if options.revision >= 0 else None,
    }
    files = {
        key: charms.file_of(key, value) for key, value in options.resources.items() if not value.isdigit()
    }
    (found,) = connection.call("Application", "DeployFromRepository", {"args": [wanted]})["Results"]
    for error in found.get("Errors") or ():
        connection.require({"error": error})
    for resource, file in files.items():
        if not options.dry_run:
            charms.send_resource(connection, name, resource, file)
    info = found["Info"]
    return Deployed(
        application=name,
        charm=info["name"],
        revision=info["revision"],
        base=Base.parse(f"{info['base']['name']}@{info['base']['channel']}"),
        units=(),
        channel=info["channel"],
    )


def _wanted(connection: Connection, options: DeployOptions) -> dict[str, Any]:
    """Return the params that both kinds of deploy have."""
    return {
        "placement": charms.places(options.placements, connection.model),
        "storage": charms.storage(options.storage),
        "attach-storage": [f"storage-{item.replace('/', '-')}" for item in options.attach_storage],
        "endpoint-bindings": dict(options.bind),
        "force": options.force,
    }


def _base(base: Base | None) -> dict[str, str]:
    return {"name": base.os, "channel": base.channel} if base else {}


def _yaml(name: str, settings: Mapping[str, Any]) -> str:
    return to_yaml({name: dict(settings)}) if settings else ""


def _of_file(options: DeployOptions, name: str) -> dict[str, Any]:
    """Return the settings of the file of `--config`."""
    if options.config_file is None:
        return {}
    own = yamlload.load(options.config_file, text_keys=3)
    if not isinstance(own, dict) or not isinstance(own.get(name), dict):
        raise NotValid(f'no settings found for "{name}"')
    return dict(own[name])


def config(call: Call) -> None:
    """Get, set or reset the settings of an application; the host of the controller runs the hooks."""
    name = values.application_name(call.args)
    options = config_arguments.parse(call.args[1:], file=call.flags.file, reset=call.flags.reset)
    given = values.from_file(options.values)
    content = values.read_file(options.file, call.cli.console.stdin).decode() if options.file else ""
    with call.target.opened() as (connection, _):
        if options.reset:
            item: dict[str, object] = {"application": name, "options": list(options.reset)}
            connection.each("Application", "UnsetApplicationsConfig", {"Args": [item]})
        if given or content:
            item = {"application": name, "config": dict(given), "config-yaml": content}
            connection.each("Application", "SetConfigs", {"Args": [item]})
        if options.change:
            return None
        found = connection.call("Application", "Get", {"application": name})
    document = {
        "application": name,
        "application-config": found.get("application-config") or {},
        "charm": found.get("charm", ""),
        "settings": found.get("config") or {},
    }
    return config_command.show(call.cli, name, options.key, document)


def model_config(call: Call) -> None:
    """Get, set or reset the configuration of the model."""
    options = config_arguments.parse(call.args, file=call.flags.file, reset=call.flags.reset)
    if not options.change:
        return reading.read(call)
    skips = call.flags.ignore_read_only_fields
    changes = model_config_command.changes_of(call.cli, options, skip_read_only=skips)
    with call.target.opened() as (connection, _):
        if options.reset:
            connection.call("ModelConfig", "ModelUnset", {"keys": list(options.reset)})
        if changes:
            connection.call("ModelConfig", "ModelSet", {"config": changes})
    return None


def attach_resource(call: Call) -> None:
    """Set another file for an application's resource."""
    name, file = attach_command.pair_of(call.args[1])
    with call.target.opened() as (connection, _):
        charms.send_resource(connection, call.args[0], name, charms.file_of(name, file))
