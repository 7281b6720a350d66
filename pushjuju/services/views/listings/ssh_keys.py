"""The public keys of a model. Mirrors: juju apiserver/facades/client/keymanager ListKeys (3.6)"""

from __future__ import annotations

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import ssh_keys
from pushjuju.services.entities.model.ssh_keys import PublicKey


def listed(ctx: Context, model: str) -> list[PublicKey]:
    """Return the keys of a model."""
    with ctx.read(model) as tx:
        return [ssh_keys.parse(line) for line in ssh_keys.lines(tx)]
