"""The requests about passwords of users: set and reset them, and record logins.

Mirrors: juju apiserver/facades/client/usermanager SetPassword, ResetPassword (3.6)
"""

from __future__ import annotations

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.passwords import LONGEST, hashed


def set_password(ctx: Context, name: str, password: str) -> None:
    """Set the password of a user; the user's open connections end.

    Raises:
        NotFound: The user does not exist.
        NotValid: The password is empty or too long.
    """
    if not password:
        raise NotValid("cannot set an empty password")
    if len(password) > LONGEST:
        raise NotValid(f"the password is longer than {LONGEST} characters")
    kept = hashed(password)
    with ctx.store.write() as tx:
        users.require(tx, name)
        tx.run("user_login_set_password", name=name, password=kept)


def reset(ctx: Context, name: str) -> None:
    """Delete the password of a user, who cannot log in until a new password is set.

    Raises:
        NotFound: The user does not exist.
    """
    with ctx.store.write() as tx:
        users.require(tx, name)
        tx.run("user_login_set_password", name=name, password="")


def note_connection(ctx: Context, name: str) -> None:
    """Record that a user has logged in at this time."""
    with ctx.store.write() as tx:
        tx.run("user_login_connected", name=name, now=ctx.clock.now())
