"""One request as facades see it: the calling user, the model of the connection, and what the user may do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ParamSpec, TypeVar, cast

from pushjuju.core.errors import NotPermitted, PushjujuError
from pushjuju.core.model.offerurl import OfferUrl
from pushjuju.services.entities.basis import blocks, users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.model import jump_hosts, models
from pushjuju.services.entities.relation import offers
from pushjuju.store.rows.model import Model
from pushjuju.web import errors
from pushjuju.web.peers import OwnWatchers, ServerFacts

P = ParamSpec("P")
T = TypeVar("T")
_OFFER = users.LEVELS[Kind.OFFER]
SUPERUSER = users.LEVELS[Kind.CONTROLLER][-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that has passed the check of access."""

    ctx: Context  # the controller, as the calling user
    server: ServerFacts
    watchers: OwnWatchers
    model: Model | None = None  # the model of the connection, or None on a controller connection
    version: int = 0
    object: str = ""  # the id of a watcher, or empty

    @property
    def model_uuid(self) -> str:
        """The UUID of the connection's model, or an empty text."""
        return self.model.uuid if self.model else ""


def is_superuser(ctx: Context) -> bool:
    """Return True when the calling user is a superuser of the controller."""
    with ctx.store.read() as tx:
        return users.effective_level(tx, ctx.user, Kind.CONTROLLER) == SUPERUSER


def require_superuser(ctx: Context) -> None:
    """Check that the calling user is a superuser."""
    if not is_superuser(ctx):
        raise errors.denied()


def require_self(ctx: Context, user: str) -> None:
    """Check that the caller names itself, or is a superuser."""
    if user != ctx.user:
        require_superuser(ctx)


def require_way(ctx: Context, keys: Collection[str]) -> None:
    """Check that only a superuser changes the way to the machines of a model.

    The controller logs in at a jump host with its own key: at its own host, or at a machine of another model,
    from which it would reach addresses that a client may not name itself.

    Raises:
        NotPermitted: The caller is no superuser, and a key names the jump host.
    """
    if jump_hosts.KEY in keys and not is_superuser(ctx):
        raise NotPermitted(
            f"only a superuser can change {jump_hosts.KEY} over the API",
            hint=f"On the host of the controller: pushjuju model-config {jump_hosts.KEY}=...",
        )


def require_unblocked(ctx: Context, model: str, act: str) -> None:
    """Check that no disabled set of commands forbids a change in a model.

    Raises:
        Blocked: The change is disabled.
    """
    with ctx.read(model) as tx:
        blocks.require(tx, act)


def require_cloud_admin(ctx: Context, cloud: str) -> None:
    """Check that the calling user administers a cloud.

    Raises:
        ApiError: Permission denied; the message is the same for an unknown cloud.
    """
    with ctx.store.read() as tx:
        if users.effective_level(tx, ctx.user, Kind.CLOUD, cloud) != users.LEVELS[Kind.CLOUD][-1]:
            raise errors.denied()


def require_add_model(ctx: Context, cloud: str) -> None:
    """Check that the calling user may add models to a cloud; an empty name is the controller's own cloud."""
    name = cloud or str(ctx.controller.settings().get("cloud", ""))
    with ctx.store.read() as tx:
        if not users.effective_level(tx, ctx.user, Kind.CLOUD, name):
            raise errors.denied()


def reach(ctx: Context, uuid: str, level: str = "read") -> Model:
    """Return a model that the calling user has a level of access to.

    Raises:
        ApiError: The user has no such access, or the model does not exist; the message is the same.
    """
    with ctx.store.read() as tx:
        found = tx.find(Model, "model_by_uuid", uuid=uuid)
        if found is None or not models.may_access(tx, ctx.user, found, level):
            raise errors.denied()
        return found


def reach_offer(ctx: Context, url: OfferUrl, level: str) -> Model:
    """Return the model of an offer that the calling user has a level of access to.

    Raises:
        ApiError: The access is too low, or the offer belongs to another controller.
        NotFound: The offer does not exist, or the user may not see it; the message is the same.
    """
    if url.controller not in ("", ctx.controller.name):
        raise errors.not_supported("offers of other controllers are not supported")
    with ctx.store.read() as tx:
        model, _, own = offers.visible(ctx, tx, url)
    if _OFFER.index(own) < _OFFER.index(level):
        raise errors.denied()
    return model


def each(act: Callable[P, object], *arguments: P.args, **named: P.kwargs) -> errors.ErrorResult:
    """Carry out one item of a bulk call, and return the item's result: empty, or with an error."""
    try:
        act(*arguments, **named)
    except PushjujuError as error:
        return {"error": errors.told(error)}
    return {}


def result_of(act: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Return what one item of a bulk call gives; a failed item has nothing but the field `error`."""
    try:
        return act(*arguments, **named)
    except PushjujuError as error:
        return cast("T", {"error": errors.told(error)})
