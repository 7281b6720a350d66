"""Rows about users."""

from __future__ import annotations

from datetime import datetime

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user of a controller, except the user who owns the data directory."""

    name: str
    display_name: str
    created: datetime
    created_by: str
    disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token that stands for a user.

    Attributes:
        digest: SHA-256 of the token.
        until: When the token is over, or None when it stays.
    """

    digest: str
    purpose: str
    person: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserLogin:
    """How a user logs in over the network.

    Attributes:
        password: The hash of the password, or the secret key of a user who has still to choose a password.
            Empty for a user who cannot log in.
        generation: Grows when the password changes and when the user is disabled.
        last_connection: When the user logged in last, or None.
    """

    name: str
    password: str = ""
    generation: int = 0
    last_connection: datetime | None = None
