"""Reads applications and the charms that they use.

Mirrors: juju apiserver/facades/client/application, state/application.go (3.6)
"""

from __future__ import annotations

from pushjuju.charms.values.model import Charm
from pushjuju.core.errors import not_found
from pushjuju.core.problems import Subject
from pushjuju.core.status import Life
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.store.rows.records import Application
from pushjuju.store.tx import ModelTx


def get(tx: ModelTx, name: str) -> Application:
    """Return an application, or raise NotFound."""
    return tx.get(Application, "application_get", Subject("application", name), name=name)


def drop_unused_blob(ctx: Context, blob: str) -> None:
    """Delete an archive that no charm or resource of any model uses."""
    with ctx.store.write() as tx:
        if not tx.scalar("blob_uses", sha256=blob):
            ctx.controller.blobs.delete(blob)


def current_charm(tx: ModelTx, application: Application) -> Charm:
    """Return the charm that an application uses at present."""
    return charms.get(tx, application.charm_url)


def require_alive(tx: ModelTx, name: str) -> Application:
    """Return an application, or raise NotFound when it is dead."""
    found = get(tx, name)
    if found.life == Life.DEAD:
        raise not_found("application", name)
    return found
