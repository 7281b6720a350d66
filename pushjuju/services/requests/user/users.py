"""The requests of add-user, remove-user, disable-user, enable-user, grant and revoke.

Mirrors: juju apiserver/facades/client/usermanager, cmd/juju/model/grantrevoke.go,
cmd/juju/cloud/grantrevoke.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pushjuju.core.errors import AlreadyExists, NotPermitted, NotValid
from pushjuju.core.model.offerurl import parse
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.cloud.clouds import parts_of
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import offers
from pushjuju.services.requests.cloud import credentials
from pushjuju.services.requests.user import passwords
from pushjuju.store.rows.user_records import Person
from pushjuju.store.tx import Tx

_LONGEST_DISPLAY = 1024


def add(ctx: Context, name: str, display_name: str, password: str = "") -> bytes:
    """Add a user who may log in, but has no other access.

    Args:
        password: The user's password; empty for a user who chooses one with a secret key.

    Returns:
        The secret key; empty for a user with a password.
    """
    if not users.is_name(name):
        raise NotValid(f'failed to create user: invalid user name "{name}"')
    if len(display_name) > _LONGEST_DISPLAY or not display_name.isprintable():
        raise NotValid("failed to create user: invalid display name")
    kept, key = passwords.first(password)
    with ctx.change_controller() as tx:
        if users.exists(tx, name):
            raise AlreadyExists("failed to create user: username unavailable")
        tx.insert(
            "person",
            Person(name=name, display_name=display_name, created=ctx.clock.now(), created_by=ctx.user),
        )
        tx.run("access_set", kind=Kind.CONTROLLER, target="", person=name, level="login")
        tx.run("user_login_set_password", name=name, password=kept)
    return key


def remove(ctx: Context, name: str) -> None:
    """Remove a user with all access, for good."""
    with ctx.change_controller() as tx:
        _require_other(tx, name, f'failed to delete user "{name}": cannot delete controller owner "{name}"')
        owned = [row["name"] for row in tx.rows("model_list") if row["owner"] == name]
        if owned:
            raise NotValid(
                f'failed to delete user "{name}": models belong to the user: {", ".join(owned)}',
                hint="pushjuju destroy-model OWNER/MODEL",
            )
        tx.run("access_forget_person", person=name)
        tx.run("user_login_delete", name=name)
        tx.run("token_delete_person", person=name)
        tx.run("person_delete", name=name)
    _forget_credentials(ctx, name)


def _forget_credentials(ctx: Context, owner: str) -> None:
    """Remove a removed user's credentials that no model uses: the next user of this name is somebody else."""
    files = ctx.controller.cloud_files
    for cloud, known in files.all_credentials().items():
        for key in known.credentials:
            if parts_of(key)[0] == owner and not credentials.models_using(ctx, cloud, key):
                files.remove_credential(cloud, key)


def set_enabled(ctx: Context, name: str, *, enabled: bool) -> None:
    """Enable or disable the login of a user; to disable it ends the user's sessions and tokens for good."""
    word = "enable" if enabled else "disable"
    with ctx.change_controller() as tx:
        _require_other(tx, name, f"failed to {word} user: cannot {word} controller model owner")
        tx.run("person_set_disabled", name=name, disabled=not enabled)
        if not enabled:
            tx.run("user_login_end", name=name)
            tx.run("token_delete_person", person=name)


def _require_other(tx: Tx, name: str, text: str) -> None:
    users.require(tx, name)
    if name == DEFAULT_USER:
        raise NotPermitted(text)


def require(ctx: Context, name: str) -> None:
    """Raise NotFound when a controller does not have a user."""
    with ctx.store.read() as tx:
        users.require(tx, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessOptions:
    """Access to entities of one kind, by the names that users type; access to the controller has no names."""

    user: str
    level: str
    kind: Kind
    names: Sequence[str] = ()


def grant(ctx: Context, options: AccessOptions) -> None:
    """Grant a user access to entities; after an error, to none of them."""
    _change(ctx, options, users.grant)


def revoke(ctx: Context, options: AccessOptions) -> None:
    """Revoke a user's access to entities; after an error, none is revoked."""
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
