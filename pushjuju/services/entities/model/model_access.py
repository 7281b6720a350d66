"""Access of users to models: the owner has every access, other users have the granted access.

Mirrors: juju core/permission (3.6)
"""

from __future__ import annotations

from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.users import Kind
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import Tx

LEVELS = users.LEVELS[Kind.MODEL]


def level(tx: Tx, user: str, model: Model) -> str:
    """Return `read`, `write` or `admin`; empty for a user without access."""
    if model.owner == user:
        return LEVELS[-1]
    return users.effective_level(tx, user, Kind.MODEL, model.uuid)


def may(tx: Tx, user: str, model: Model, wanted: str) -> bool:
    """Return True when a user has at least the wanted level of access to a model."""
    found = level(tx, user, model)
    return bool(found) and LEVELS.index(found) >= LEVELS.index(wanted)
