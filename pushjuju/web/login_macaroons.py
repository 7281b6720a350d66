"""Login with a macaroon in place of the password: what a macaroon of a user has to fulfil.

A user who has logged in with a password gets a macaroon that is good for 24 hours. Its key is derived from
the hash of the user's password, the generation of the login and a key of the controller, so that a new
password or `disable-user` ends all macaroons of the user, and no list of macaroons is kept. A client
without a password and without a macaroon gets a macaroon that is good only with a discharge; `/auth` of
this server gives the discharge to a client that proves to be the user. Mirrors: juju
apiserver/authentication/user.go (3.6)
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.web import decoding, macaroons, messages
from pushjuju.web.macaroons import BadMacaroon, Macaroon, MacaroonParams

LIFETIME = timedelta(hours=24)
BRIEF = timedelta(minutes=2)  # how long the proof of a registration, and the demand of a discharge, are good
_BEFORE, _AUTHENTICATED = "time-before ", "is-authenticated-user "
_MOST = 10  # macaroons that a client may present, each with its discharges

Presented = Sequence[Sequence[MacaroonParams]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What the caveat of a third party demands: a proof that the client is the user."""

    user: str
    key: str  # the key of the discharge, in hexadecimal
    until: str  # the end of the time to discharge the caveat, as RFC 3339


@dataclass(frozen=True, slots=True)
class LoginMacaroons:
    """Makes and checks the macaroons of users."""

    key: bytes  # a secret of the controller
    now: Callable[[], datetime]  # the clock

    def login(self, user: str, kept: str) -> Macaroon:
        """Return a macaroon with which a user logs in; `kept` is the hash of the user's password."""
        return self._mint(user, kept).restricted(self._before(LIFETIME))

    def proof(self, user: str, kept: str) -> Macaroon:
        """Return a macaroon that only discharges a caveat."""
        made = self._mint(user, kept).restricted(f"{_AUTHENTICATED}{user}")
        return made.restricted(self._before(BRIEF))

    def demanding(self, user: str, kept: str, location: str) -> Macaroon:
        """Return a macaroon with which a user logs in after the server at `location` has discharged it."""
        key = secrets.token_bytes(32)
        demand = {"user": user, "key": key.hex(), "until": to_iso(self.now() + BRIEF)}
        sealed = bytes(self._box().encrypt(json.dumps(demand).encode()))
        made = self._mint(user, kept).restricted(self._before(LIFETIME))
        return made.demanding(key, macaroons.base64_text(sealed).encode(), location)

    def demand(self, caveat: str) -> Demand | None:
        """Return what the id of a caveat demands; None for an id that is too old or not of this server."""
        try:
            opened = self._box().decrypt(macaroons.read_base64(caveat))
        except (CryptoError, ValueError):
            return None
        found = decoding.decode(Demand, messages.parse(opened.decode()))
        return found if self._is_before(found.until) else None

    def discharge(self, caveat: str, demand: Demand) -> Macaroon:
        return macaroons.mint(bytes.fromhex(demand.key), caveat.encode()).restricted(self._before(LIFETIME))

    def user(self, presented: Presented, kept: Callable[[str], str], *, at_login: bool = True) -> str:
        """Return the user of the first valid macaroon, or an empty name.

        Args:
            presented: Macaroons of a client, each followed by its discharges.
            kept: Returns the hash of a user's password; empty for a user who cannot log in.
            at_login: False where a macaroon is good, too, that only discharges a caveat.
        """
        for params in presented[:_MOST]:
            try:
                found = [macaroons.read(item) for item in params]
                if found and (name := self._proven(found, kept, at_login=at_login)):
                    return name
            except BadMacaroon:
                continue
        return ""

    def _proven(self, found: Sequence[Macaroon], kept: Callable[[str], str], *, at_login: bool) -> str:
        name = found[0].id.decode("utf-8", "replace").partition(" ")[0]
        if not (hashed := kept(name)):
            return ""
        conditions = macaroons.conditions(self._root(name, hashed), found)
        return name if all(self._holds(text, name, at_login=at_login) for text in conditions) else ""

    def _holds(self, condition: str, user: str, *, at_login: bool) -> bool:
        if condition.startswith(_BEFORE):
            return self._is_before(condition.removeprefix(_BEFORE))
        return condition == f"{_AUTHENTICATED}{user}" and not at_login

    def _is_before(self, text: str) -> bool:
        try:
            return self.now() < from_iso(text)
        except (ValueError, TypeError):  # no time, or a time without a zone
            return False

    def _before(self, within: timedelta) -> str:
        return f"{_BEFORE}{to_iso(self.now() + within)}"

    def _mint(self, user: str, kept: str) -> Macaroon:
        return macaroons.mint(self._root(user, kept), f"{user} {secrets.token_hex(16)}".encode())

    def _root(self, user: str, kept: str) -> bytes:
        return hmac.digest(self.key, f"{user}\0{kept}".encode(), "sha256")

    def _box(self) -> SecretBox:
        return SecretBox(hmac.digest(self.key, b"demands", "sha256"))


def read_presented(value: object) -> list[list[MacaroonParams]]:
    """Return the macaroons of a JSON value: a list of macaroons, or a list of such lists.

    Raises:
        NotValid: The value has another type.
    """
    whole = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    return decoding.decode(_Presented, {"macaroons": whole}).macaroons


@dataclass(frozen=True, slots=True, kw_only=True)
class _Presented:
    macaroons: list[list[MacaroonParams]]
