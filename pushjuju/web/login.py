"""Login: checks passwords, limits wrong passwords, and keeps facts about the user who has logged in.

Mirrors: juju apiserver/admin.go (3.6)
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pushjuju.services.entities.basis import passwords, users
from pushjuju.services.entities.basis.audit import Caller
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.model import models
from pushjuju.services.requests.user import passwords as requests
from pushjuju.services.requests.user import tokens
from pushjuju.services.views.listings import users as listing
from pushjuju.store.rows.model import Model
from pushjuju.store.rows.user_records import Person
from pushjuju.store.tx import Tx
from pushjuju.web import errors
from pushjuju.web.limits import Attempts
from pushjuju.web.login_macaroons import LoginMacaroons, Presented
from pushjuju.web.macaroons import Macaroon
from pushjuju.web.pool import PEER, Pool

_HASHES = 2  # hashes computed at the same time
_REMEMBERED_S = 300.0
_MOST_REMEMBERED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedIn:
    """A user who has logged in."""

    user: str
    display_name: str
    generation: int  # of the login; another generation in the store ends the connection
    controller_access: str  # `login`, `superuser` or empty
    model: Model | None = None  # the model of the connection, or None on a controller connection
    model_access: str = ""  # `read`, `write`, `admin` or empty
    last_connection: datetime | None = None  # the time of the previous login, or None
    # when the user was added: who has the name of a removed user is somebody else
    created: datetime | None = None
    proved: bool = True  # False when the command `dashboard` names the user, without a proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What proves which user a client is: a password, or macaroons, with which the name may be empty."""

    name: str
    password: str = ""
    macaroons: Presented = ()


@dataclass(slots=True)
class Remembered:
    """The correct passwords of the last five minutes, as digests with a key of this process."""

    now: Callable[[], float]
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    known: dict[bytes, float] = field(default_factory=dict)

    def digest(self, kept: str, password: str) -> bytes:
        """Return the digest of a password and its stored hash, so that a new hash has another digest."""
        text = f"{kept}\0{password}".encode("utf-8", "surrogatepass")
        return hmac.new(self.key, text, hashlib.sha256).digest()

    def knows(self, digest: bytes) -> bool:
        """Return True when the digest was added in the last five minutes."""
        return self.known.get(digest, 0.0) > self.now()

    def add(self, digest: bytes) -> None:
        """Remember the digest of a correct password."""
        if len(self.known) >= _MOST_REMEMBERED:
            self.known.clear()
        self.known[digest] = self.now() + _REMEMBERED_S


class Logins:
    """Checks names and passwords for one server."""

    def __init__(
        self,
        pool: Pool,
        attempts: Attempts,
        now: Callable[[], float],
        refused: Callable[[Context, str], None],
    ) -> None:
        """Make the checks for a server; a wrong password calls `refused` in a thread with the user's name."""
        self._pool = pool
        self.refused = refused
        self.attempts = attempts
        self._remembered = Remembered(now)
        self._hashing = asyncio.Semaphore(_HASHES)
        self.macaroons = LoginMacaroons(secrets.token_bytes(32), now=lambda: datetime.now(UTC))

    async def check_proof(self, proof: Proof, *, peer: str, model: str = "") -> LoggedIn:
        """Check a password, or macaroons where there is none, as `check` does.

        Raises:
            ApiError: As `check`; or the proof has neither a password nor macaroons.
        """
        if proof.password:
            return await self.check(proof.name, proof.password, peer=peer, model=model)
        if not proof.macaroons:
            raise errors.ApiError(errors.NO_CREDENTIALS, errors.NO_CREDENTIALS)
        name = await self.user_of(proof.macaroons)
        if not name or proof.name not in ("", name):
            await self._note_refused(proof.name, peer)
            raise errors.refused_login()
        return await self._pool.run(lambda ctx: enter(ctx, name, model))

    async def user_of(self, presented: Presented, *, at_login: bool = True) -> str:
        """Return the user that a valid macaroon names, or an empty name."""

        def proven(ctx: Context) -> str:
            return self.macaroons.user(presented, lambda name: _known(ctx, name), at_login=at_login)

        return await self._pool.run(proven)

    async def macaroon(self, name: str, make: Callable[[str, str], Macaroon]) -> Macaroon:
        """Return a macaroon that a method of `macaroons` makes from the user's name and login."""
        return make(name, await self._pool.run(lambda ctx: _known(ctx, name)))

    async def check(self, name: str, password: str, *, peer: str, model: str = "") -> LoggedIn:
        """Check a password, and the user's access to the connection's controller or model; return the user.

        Args:
            name: The user's name, without `user-`.
            peer: The address of the client, for the limit of wrong passwords.
            model: The UUID of the connection's model, or empty.

        Raises:
            ApiError: The name or password is wrong, or the user has no access; the texts are Juju's.
        """
        self._require_try(peer, name)
        kept = await self._pool.run(lambda ctx: _kept(ctx, name))
        digest = self._remembered.digest(kept, password)
        if not (kept and self._remembered.knows(digest)):
            async with self._hashing:
                self._require_try(peer, name)  # logins that waited here count against each other
                if not await asyncio.to_thread(passwords.matches, password[: passwords.LONGEST + 1], kept):
                    await self._note_refused(name, peer)
                    raise errors.refused_login()
            self._remembered.add(digest)
        self.attempts.succeeded(name)
        return await self._pool.run(lambda ctx: enter(ctx, name, model))

    async def _note_refused(self, name: str, peer: str) -> None:
        """Count a wrong password or macaroon, and tell it the audit log, which no flood of them may fill."""
        may_note = self.attempts.may_try(peer, name)
        self.attempts.failed(peer, name)
        if may_note:
            await self._pool.run(lambda ctx: self.refused(ctx, name))

    def _require_try(self, peer: str, name: str) -> None:
        """Refuse a login when the address or the user had too many wrong passwords."""
        if not self.attempts.may_try(peer, name):
            raise errors.ApiError("try again", errors.TRY_AGAIN)


def _kept(ctx: Context, name: str) -> str:
    """Return the hash of a user's password; empty for a user who cannot log in."""
    with ctx.store.read() as tx:
        if not users.is_name(name) or not users.is_enabled(tx, name):
            return ""
        return passwords.hash_of(passwords.login_of(tx, name))


def _known(ctx: Context, name: str) -> str:
    """Return what changes when a user's macaroons end, with a new password or `disable-user`."""
    with ctx.store.read() as tx:
        login = passwords.login_of(tx, name)
    return (kept := _kept(ctx, name)) and f"{kept} {login.generation}"


def enter(ctx: Context, name: str, model: str = "") -> LoggedIn:
    """Return a user whose proof was checked, and note the time of the login.

    Raises:
        ApiError: The user is disabled, or has no access to the controller or model. Only a superuser learns
            that a model does not exist; the error for other users is the same as for missing access.
    """
    with ctx.store.read() as tx:
        level = users.effective_level(tx, name, Kind.CONTROLLER)
        login = passwords.login_of(tx, name)
        found = tx.find(Model, "model_by_uuid", uuid=model) if model else None
        if model and found is None and level == users.LEVELS[Kind.CONTROLLER][-1]:
            raise errors.ApiError(f'unknown model: "{model}"', errors.MODEL_NOT_FOUND)
        access = models.access_level(tx, name, found) if found else ""
        added, is_enabled = created(tx, name), users.is_enabled(tx, name)
    if not is_enabled or not (access if model else level):
        raise errors.denied()
    requests.note_connection(ctx, name)
    return LoggedIn(
        user=name,
        display_name=str(listing.document(ctx, name).get("display-name", "")),
        generation=login.generation,
        controller_access=level,
        model=found,
        model_access=access,
        last_connection=login.last_connection,
        created=added,
    )


def created(tx: Tx, name: str) -> datetime | None:
    """Return when a user was added; None for the owner, who always was."""
    found = tx.find(Person, "person_get", name=name)
    return found.created if found else None


def follow(ctx: Context, token: str) -> LoggedIn | None:
    """Return the user of a link that a superuser has made for the user; None when it does not work."""
    by = Caller(door="dashboard", command="enter", host=PEER.get(), verified=True)
    name = tokens.follow_link(replace(ctx, caller=by), token)
    return enter(ctx, name) if name else None


def controller_access(ctx: Context, user: str) -> str:
    """Return the access of a user to the controller now."""
    with ctx.store.read() as tx:
        return users.effective_level(tx, user, Kind.CONTROLLER)


def still_in(ctx: Context, entered: LoggedIn) -> bool:
    """Return True when a user may keep the connection: enabled, with access, and with the same password."""
    with ctx.store.read() as tx:
        same = passwords.login_of(tx, entered.user).generation == entered.generation
        if not same or created(tx, entered.user) != entered.created or not users.is_enabled(tx, entered.user):
            return False
        if entered.model is None:
            return bool(users.effective_level(tx, entered.user, Kind.CONTROLLER))
        return bool(models.access_level(tx, entered.user, entered.model))
