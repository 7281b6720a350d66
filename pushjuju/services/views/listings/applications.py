"""The names, constraints and configuration of applications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.charms.format.config import config_document
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms


def names(ctx: Context, model: str) -> list[str]:
    with ctx.read(model) as tx:
        return [str(row["name"]) for row in tx.rows("application_list")]


def constraints(ctx: Context, model: str, name: str) -> Mapping[str, Any]:
    """Return the constraints of an application."""
    with ctx.read(model) as tx:
        return applications.get(tx, name).constraints


def config(ctx: Context, model: str, name: str) -> dict[str, Any]:
    """Return the document of `config APPLICATION`."""
    with ctx.read(model) as tx:
        application = applications.get(tx, name)
        charm = applications.current_charm(tx, application)
        settings = charms.stored_settings(tx, name, application.charm_url)
        return config_document(
            name, charm.name, options=charm.config, settings=settings, trust=application.trust
        )
