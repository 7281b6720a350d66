"""HTTP endpoint of `register`: a user who has a secret key chooses a password.

Request and answer are sealed with the key (NaCl's secretbox), so that neither side has to trust a
certificate first. The answer has a cookie with a macaroon, with which the client gets the macaroon for its
login (`endpoints/discharges.py`) within two minutes. Mirrors: juju apiserver/registration.go (3.6)
"""

from __future__ import annotations

import base64
import binascii
import json
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aiohttp import web
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis.audit import Caller
from pushjuju.services.requests.user import passwords
from pushjuju.web import decoding, errors, messages, tags
from pushjuju.web.audit import Speaker
from pushjuju.web.endpoints.discharges import set_cookie
from pushjuju.web.endpoints.transfers import read_small, refusing

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.web.api import Api
    from pushjuju.web.errors import Error

_LONGEST = 16 * 1024  # bytes of a request


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretKeyLogin:
    """A request: `cipher-text` is the sealed payload, in base64 like the nonce."""

    user: str = ""
    nonce: str = ""
    cipher_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The sealed part of a request."""

    password: str = ""


class Registration:
    """Lets users with secret keys choose passwords."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/register", refusing(self._post, _body))]

    async def _post(self, request: web.Request) -> web.Response:
        body = await read_small(request, _LONGEST)
        asked = decoding.decode(SecretKeyLogin, messages.parse(body.decode("utf-8", "replace")))
        answer = web.json_response(await self._register(asked, request.remote or ""))
        logins = self._api.logins
        set_cookie(answer, await logins.macaroon(_name(asked.user), logins.macaroons.proof), brief=True)
        return answer

    async def _register(self, asked: SecretKeyLogin, peer: str) -> dict[str, str]:
        """Set the password of a request, and return the sealed answer.

        Raises:
            ApiError: The key is wrong, or the address or the user had too many wrong keys.
        """
        name, attempts = _name(asked.user), self._api.logins.attempts
        if not attempts.may_try(peer, name):
            raise errors.ApiError("try again", errors.TRY_AGAIN)
        key = await self._api.pool.run(lambda ctx: passwords.secret_key(ctx, name))
        box = SecretBox(key or secrets.token_bytes(SecretBox.KEY_SIZE))
        payload = _opened(box, asked)
        if key is None or payload is None:
            attempts.failed(peer, name)
            await self._api.pool.run(lambda ctx: self._api.logins.refused(ctx, name))
            raise errors.ApiError("secret key not valid", errors.UNAUTHORIZED)
        await self._api.pool.run(lambda ctx: self._record(ctx, peer, name, key, payload))
        attempts.succeeded(name)
        self._api.changed()
        return self._sealed(box)

    def _record(self, ctx: Context, peer: str, name: str, key: bytes, payload: Payload) -> None:
        """Set the password, and write a line in the audit log."""
        noted = self._api.audit(ctx).conversation(Speaker(user=name))
        caller = Caller(door="api", command="UserManager.Register", host=peer, verified=True)
        with noted.request(0, "UserManager.Register", 0, {}):
            passwords.register(replace(ctx, user=name, caller=caller), name, key, payload.password)

    def _sealed(self, box: SecretBox) -> dict[str, str]:
        about = {"ca-cert": self._api.ca, "controller-uuid": self._api.controller_uuid}
        sealed = box.encrypt(json.dumps(about).encode())
        return {
            "nonce": base64.b64encode(sealed.nonce).decode(),
            "cipher-text": base64.b64encode(sealed.ciphertext).decode(),
        }


def _name(tag: str) -> str:
    try:
        return tags.user(tag)
    except NotValid:
        return ""


def _opened(box: SecretBox, asked: SecretKeyLogin) -> Payload | None:
    """Return the payload of a request; None when the key does not open the payload."""
    try:
        nonce = base64.b64decode(asked.nonce, validate=True)
        opened = box.decrypt(base64.b64decode(asked.cipher_text, validate=True), nonce)
    except (binascii.Error, CryptoError, ValueError):
        return None
    return decoding.decode(Payload, messages.parse(opened.decode("utf-8", "replace")))


def _body(found: Error) -> dict[str, object]:
    return {"error": found}
