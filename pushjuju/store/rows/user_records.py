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
    """A token that stands for a user."""

    digest: str  # SHA-256 of the token
    purpose: str
    person: str
    until: datetime | None = None  # when the token is over, or None when it stays


@dataclass(frozen=True, slots=True, kw_only=True)
class UserLogin:
    """How a user logs in over the network."""

    name: str
    # the hash of the password, or the secret key of a user who has still to choose a password. Empty for a
    # user who cannot log in.
    password: str = ""
    generation: int = 0  # grows when the password changes and when the user is disabled
    last_connection: datetime | None = None  # when the user logged in last, or None
