"""Hashes and checks the passwords of users who log in to the API, with scrypt, and makes tokens for them.

The check of an unknown user takes as long as that of a wrong password, so that the time does not tell which
users exist. The owner of the data directory needs no password on the host itself.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from datetime import datetime
from enum import StrEnum

from pushjuju.services.entities.basis import users
from pushjuju.store.rows.user_records import Token, UserLogin
from pushjuju.store.tx import Tx

_COST, _BLOCK, _PARALLEL = 14, 8, 1  # 2 ** 14 rounds: 50 ms and 16 MiB
_MEMORY = 64 * 1024 * 1024
_SALT, _SIZE = 16, 32
LONGEST = 1024
_KEY = "$key$"  # begins the stored text of a user who has a secret key in place of a password
_BYTES = 32


def hashed(password: str) -> str:
    """Return the hash of a password as the store keeps it: `$scrypt$ln=14,r=8,p=1$SALT$HASH`."""
    salt = secrets.token_bytes(_SALT)
    return f"$scrypt$ln={_COST},r={_BLOCK},p={_PARALLEL}${_text(salt)}${_text(_scrypt(password, salt))}"


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        password.encode("utf-8", "surrogatepass"), salt=salt, n=1 << _COST, r=_BLOCK, p=_PARALLEL,
        maxmem=_MEMORY, dklen=_SIZE,
    )  # fmt: skip


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def matches(password: str, kept: str) -> bool:
    """Return True when a password has the given hash; an empty hash takes as long and matches nothing."""
    _, _, _, salt, wanted = kept.split("$") if kept else ("", "", "", _text(bytes(_SALT)), "")
    found = _scrypt(password, base64.b64decode(salt))
    return hmac.compare_digest(_text(found), wanted)


def login_of(tx: Tx, name: str) -> UserLogin:
    """Return the login of a user; its hash is empty when the user has no password."""
    return tx.find(UserLogin, "user_login_get", name=name) or UserLogin(name=name)


def hash_of(login: UserLogin) -> str:
    """Return the hash of a user's password; empty for a user without a password."""
    return "" if login.password.startswith(_KEY) else login.password


def key_of(login: UserLogin) -> bytes | None:
    """Return the secret key with which a user registers, or None."""
    key = login.password.removeprefix(_KEY)
    return base64.b64decode(key) if key != login.password else None


def kept_key(key: bytes) -> str:
    """Return the text that the store keeps of a secret key."""
    return f"{_KEY}{_text(key)}"


def generate() -> str:
    """Return a new password."""
    return secrets.token_urlsafe(18)


class Purpose(StrEnum):
    """What a token is for."""

    LINK = "link"  # logs a browser in once
    METRICS = "metrics"  # reads metrics, until it is revoked
    SESSION = "session"  # of a browser, until it was idle for long


def make_token(
    tx: Tx, purpose: Purpose, person: str, *, now: datetime, until: datetime | None = None, facts: str = ""
) -> str:
    """Return a new token for a user, which begins with `facts`, and delete those that are over."""
    token = facts + secrets.token_urlsafe(_BYTES)
    tx.run("token_delete_old", now=now)
    tx.insert("token", Token(digest=_digest(token), purpose=purpose, person=person, until=until))
    return token


def token_holder(tx: Tx, purpose: Purpose, token: str, *, now: datetime) -> str:
    """Return the user of a token; empty when the token is wrong or over, or the user is gone or disabled."""
    found = find_token(tx, purpose, token, now=now)
    return found.person if found and users.is_enabled(tx, found.person) else ""


def find_token(tx: Tx, purpose: Purpose, token: str, *, now: datetime) -> Token | None:
    """Return what the store knows of a token; None when the token is wrong or over."""
    found = tx.find(Token, "token_get", digest=_digest(token), purpose=purpose)
    return None if found is None or (found.until is not None and found.until < now) else found


def use_up_token(tx: Tx, token: str) -> bool:
    """Delete a token; return False when another process has deleted it."""
    return tx.run("token_delete", digest=_digest(token)) > 0


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
