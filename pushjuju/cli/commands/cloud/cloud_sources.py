"""Reads clouds of a controller, and clouds in files."""

from __future__ import annotations

from typing import Any

from pushjuju.cli.syntax import values
from pushjuju.cli.syntax.command import Cli
from pushjuju.core.clouds import Cloud
from pushjuju.services.entities.model import sides
from pushjuju.services.requests.cloud import definitions
from pushjuju.services.views import cloud_documents as documents


def controller_clouds(where: sides.Sides) -> dict[str, dict[str, Any]]:
    """Return the clouds of the controller that the flags name, if any.

    Juju lists all of them as public, without descriptions.
    """
    if not where.ctx:
        return {}
    found = {}
    for name, cloud in definitions.controller_clouds(where.ctx, where.host).items():
        document = documents.controller_cloud_document(where.ctx, cloud, where.host)
        document.pop("description", None)
        found[name] = {"defined": "public", **document}
    return found


def cloud_of_file(cli: Cli, where: sides.Sides, path: str, name: str) -> Cloud:
    """Read a cloud from Juju's YAML."""
    document = values.yaml_map(values.read_file(path, cli.console.stdin), path)
    cloud, warnings = definitions.of_document(where.host, document, name, path)
    for warning in warnings:
        cli.console.warn(warning)
    return cloud
