"""The requests about passwords of users: set and reset them, and record logins.

Mirrors: juju apiserver/facades/client/usermanager SetPassword, ResetPassword (3.6)
"""

from __future__ import annotations

import secrets

from pushjuju.core.errors import NotPermitted, NotValid
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.passwords import LONGEST, hashed, kept_key, key_of, login_of

_KEY_SIZE = 32


def set_password(ctx: Context, name: str, password: str) -> None:
    """Set the password of a user; the user's open connections end."""
    check(password)
    _keep(ctx, name, hashed(password))


def _keep(ctx: Context, name: str, kept: str) -> None:
    with ctx.change_controller() as tx:
        users.require(tx, name)
        tx.run("user_login_set_password", name=name, password=kept)


def check(password: str) -> None:
    """Check that a user may have a password; raise NotValid when the password is empty or too long."""
    if not password:
        raise NotValid("cannot set an empty password")
    if len(password) > LONGEST:
        raise NotValid(f"the password is longer than {LONGEST} characters")


def first(password: str) -> tuple[str, bytes]:
    """Return what the store keeps for a new user, and the user's secret key.

    Args:
        password: The password; empty for a new secret key. With a password the returned key is empty.
    """
    if password:
        check(password)
        return hashed(password), b""
    key = secrets.token_bytes(_KEY_SIZE)
    return kept_key(key), key


def new_key(ctx: Context, name: str) -> bytes:
    """Remove the password of a user; return the secret key with which the user chooses a new password."""
    kept, key = first("")
    _keep(ctx, name, kept)
    return key


def secret_key(ctx: Context, name: str) -> bytes | None:
    """Return the secret key of an enabled user who has no password yet, or None."""
    with ctx.store.read() as tx:
        if not users.is_name(name) or not users.is_enabled(tx, name):
            return None
        return key_of(login_of(tx, name))


def register(ctx: Context, name: str, key: bytes, password: str) -> None:
    """Set the first password of a user; the secret key cannot be used again."""
    check(password)
    kept = hashed(password)
    with ctx.change_controller() as tx:
        if key_of(login_of(tx, name)) != key:
            raise NotPermitted("secret key not valid")
        tx.run("user_login_set_password", name=name, password=kept)


def note_connection(ctx: Context, name: str) -> None:
    """Record that a user has logged in at this time."""
    with ctx.store.write() as tx:
        tx.run("user_login_connected", name=name, now=ctx.clock.now())
