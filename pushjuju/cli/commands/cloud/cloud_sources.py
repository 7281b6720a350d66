"""Clouds of a controller, and clouds out of files."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import values
from pushjuju.cli.syntax.command import Cli
from pushjuju.core.clouds import Cloud, read_clouds
from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.cloud import cloud_checks
from pushjuju.services.entities.cloud import clouds as service
from pushjuju.services.entities.model import sides
from pushjuju.services.views import cloud_documents as documents


def controller_clouds(where: sides.Sides) -> dict[str, dict[str, Any]]:
    """Return the clouds of the controller that was asked for, if any.

    Juju calls them all public, and has no descriptions of them.
    """
    if not where.ctx:
        return {}
    found = {}
    for name, cloud in documents.controller_clouds(where.ctx, where.host).items():
        document = documents.controller_cloud_document(where.ctx, cloud, where.host)
        document.pop("description", None)
        found[name] = {"defined": "public", **document}
    return found


def cloud_of_file(cli: Cli, where: sides.Sides, path: str, name: str) -> Cloud:
    """Read a cloud from Juju's YAML."""
    found = read_clouds(values.yaml_map(values.read_file(path, cli.console.stdin), path))
    if name and name not in found:
        raise NotFound(f"cloud {quote(name)} not found in file {quote(path)}")
    if not name and len(found) > 1:
        raise UsageError(f"file {quote(path)} defines several clouds: name one of {', '.join(found)}")
    cloud = found[name or next(iter(found))]
    kind = service.kind_of(where.host, cloud.type)
    if kind is None:
        known = ", ".join(sorted(item.name for item in where.host.provider_types()))
        raise NotValid(f"cloud type {quote(cloud.type)} not valid", hint=f"known types: {known}")
    for warning in cloud_checks.check(cloud, kind):
        cli.console.warn(warning)
    return cloud
