"""The requests of grant, revoke and their variants for clouds and offers.

Mirrors: juju cmd/juju/model/grantrevoke.go, cmd/juju/cloud/grantrevoke.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pushjuju.core.model.offerurl import parse
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import offers
from pushjuju.store.tx import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessOptions:
    """Access to entities of one kind, by the names that users type; access to the controller has no names."""

    user: str
    level: str
    kind: Kind
    names: Sequence[str] = ()


def grant(ctx: Context, options: AccessOptions) -> None:
    """Grant a user access to entities; after an error, to none of them.

    Raises:
        NotFound: The user or an entity does not exist.
        NotValid: The user already has the access.
    """
    _change(ctx, options, users.grant)


def revoke(ctx: Context, options: AccessOptions) -> None:
    """Revoke a user's access to entities; after an error, none is revoked.

    Raises:
        NotFound: The user or an entity does not exist, or the user has no access (`users.NoAccess`).
        NotValid: The user's level of access is a lower one.
        NotPermitted: The user is the admin, who works the controller.
    """
    _change(ctx, options, users.revoke)


def _change(ctx: Context, options: AccessOptions, act: Callable[[Tx, str, str, Kind, str], None]) -> None:
    keys = _keys(ctx, options.kind, options.names)
    with ctx.change_controller() as tx:
        for key in keys:
            act(tx, options.user, options.level, options.kind, key)


def _keys(ctx: Context, kind: Kind, names: Sequence[str]) -> list[str]:
    """Return the keys under which the store keeps access to entities."""
    if kind is Kind.CONTROLLER:
        return [""]
    if kind is Kind.OFFER:
        return [_offer(ctx, name) for name in names]
    if kind is Kind.CLOUD:
        places = clouds.folders(ctx.datadir, ctx.controller)
        return [clouds.definition(places, name).name for name in names]
    return [models.resolve(ctx, name.rpartition(":")[2]).uuid for name in names]


def _offer(ctx: Context, name: str) -> str:
    with ctx.store.read() as tx:
        return offers.resolve(ctx, tx, parse(name))[1].uuid
