"""Reads the charms of a model for the API. Mirrors: juju apiserver/facades/client/charms (3.6)"""

from __future__ import annotations

from pushjuju.charms.values.model import Charm
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.store.rows.records import CharmRecord


def find(ctx: Context, model: str, url: str) -> tuple[Charm, int]:
    """Return a charm of the model, and its revision."""
    with ctx.read(model) as tx:
        return charms.get(tx, url), charms.record(tx, url).revision


def urls(ctx: Context, model: str) -> list[str]:
    """Return the URLs of all charms of a model."""
    with ctx.read(model) as tx:
        return [item.url for item in tx.list(CharmRecord, "charm_list")]
