"""The access that each request needs, read from the store for each request."""

from __future__ import annotations

from typing import Protocol

from pushjuju.services.entities.basis import blocks, users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.model import models
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import Tx
from pushjuju.web import errors
from pushjuju.web.call import SUPERUSER
from pushjuju.web.registry import Needs

_LEVELS = {Needs.READ: "read", Needs.WRITE: "write", Needs.ADMIN: "admin"}


class Guarded(Protocol):
    """What needs access: a method of a facade, or a change of a page.

    Attributes:
        blocked_by: The set of disabled commands that forbids the change (`blocks.SETS`), or empty.
    """

    @property
    def needs(self) -> Needs: ...

    @property
    def blocked_by(self) -> str: ...


def permit(ctx: Context, method: Guarded, model: str) -> Model | None:
    """Check that a user may call a method now, and return the model of the connection.

    Access is read for each request, so that revoked access ends at once.

    Raises:
        ApiError: The user is disabled or has too little access, or the model has been removed.
        Blocked: The commands of this kind are disabled for the model.
    """
    with ctx.store.read() as tx:
        if not users.is_enabled(tx, ctx.user):
            raise errors.denied()
        found = _model(tx, ctx.user, model) if model else None
        if not _has(tx, ctx.user, method.needs, found):
            raise errors.denied()
        if method.blocked_by and found is not None:
            blocks.require(ctx.of(tx, found.uuid), method.blocked_by)
    return found


def _model(tx: Tx, user: str, uuid: str) -> Model:
    found = tx.find(Model, "model_by_uuid", uuid=uuid)
    if found is None or not models.may_access(tx, user, found, "read"):
        raise errors.denied()
    return found


def _has(tx: Tx, user: str, needs: Needs, model: Model | None) -> bool:
    if needs is Needs.SUPERUSER or (model is None and needs > Needs.LOGIN):
        return users.effective_level(tx, user, Kind.CONTROLLER) == SUPERUSER
    if model is None:
        return bool(users.effective_level(tx, user, Kind.CONTROLLER))
    return needs is Needs.LOGIN or models.may_access(tx, user, model, _LEVELS[needs])
