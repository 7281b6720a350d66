"""Admin: Login, the only request before a user has logged in. Mirrors: juju apiserver/admin.go (3.6)"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pushjuju import JUJU_VERSION
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotValid
from pushjuju.services.requests.user import registration_string
from pushjuju.web import decoding, errors, messages, registry, tags
from pushjuju.web.login import Proof
from pushjuju.web.macaroons import Macaroon, MacaroonParams

if TYPE_CHECKING:
    from pushjuju.web.api import Api
    from pushjuju.web.login import LoggedIn
    from pushjuju.web.peers import Member

VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginRequest:
    """The params of Login, by which a client names itself."""

    auth_tag: str = ""
    credentials: str = ""
    macaroons: list[list[MacaroonParams]] = field(default_factory=list)
    bakery_version: int = 0
    cli_args: str = ""


async def answer(api: Api, connection: Member, model: str, request: messages.Request) -> dict[str, object]:
    """Return the answer to a request of the facade Admin.

    Args:
        model: The UUID of the connection's model, or empty.

    Raises:
        ApiError: The login is refused, or the method is unknown.
    """
    if connection.entered is not None:
        raise errors.ApiError("already logged in")
    if request.version != VERSION:
        text = f'unknown version ({request.version}) of interface "Admin"'
        raise errors.ApiError(text, errors.NOT_IMPLEMENTED)
    if request.method == "RedirectInfo":
        raise errors.ApiError("not redirected")
    if request.method != "Login":
        text = f"no such request - method Admin({VERSION}).{request.method} is not implemented"
        raise errors.ApiError(text, errors.NOT_IMPLEMENTED)
    asked = decoding.decode(LoginRequest, request.params)
    proof = Proof(name=_name(asked.auth_tag), password=asked.credentials, macaroons=asked.macaroons)
    try:
        entered = await api.logins.check_proof(proof, peer=connection.peer, model=model)
    except errors.ApiError as error:
        if asked.credentials or not asked.bakery_version or not proof.name:
            raise
        return await _demand(api, connection, proof.name, error)
    connection.what = asked.cli_args
    api.enter(connection, entered)
    found = _result(api, registry.On.MODEL if model else registry.On.CONTROLLER, entered)
    servers = await api.pool.run(registration_string.addresses)
    return {**found, "servers": [[host_port(text) for text in servers]]}


async def _demand(api: Api, connection: Member, name: str, why: errors.ApiError) -> dict[str, object]:
    """Return the answer for a client that can discharge macaroons, with one for `/auth` of this server."""

    def make(user: str, kept: str) -> Macaroon:
        return api.logins.macaroons.demanding(user, kept, f"https://{connection.host}/auth")

    made = await api.logins.macaroon(name, make)
    return {"discharge-required": made.document(), "discharge-required-error": why.message}


def _name(tag: str) -> str:
    """Return the user's name; empty without a tag, and for the tag of a machine, which cannot log in."""
    try:
        return tags.user(tag)
    except NotValid:
        return ""


def _result(api: Api, on: registry.On, entered: LoggedIn) -> dict[str, object]:
    user = {
        "display-name": entered.display_name,
        "identity": f"user-{entered.user}",
        "controller-access": entered.controller_access,
        "model-access": entered.model_access,
    }
    if entered.last_connection:
        user["last-connection"] = to_iso(entered.last_connection)
    found: dict[str, object] = {
        "controller-tag": f"controller-{api.controller_uuid}",
        "server-version": JUJU_VERSION,
        "facades": registry.announced(on),
        "user-info": user,
    }
    if api.public_name:
        found["public-dns-name"] = api.public_name
    if entered.model is not None:
        found["model-tag"] = f"model-{entered.model.uuid}"
    return found


def host_port(text: str) -> dict[str, object]:
    """Return an address of a server, HOST:PORT, in the form that clients store."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        kind, scope = "hostname", "local-machine" if host == "localhost" else "public"
    else:
        kind = f"ipv{address.version}"
        scope = "local-machine" if address.is_loopback else "local-cloud" if address.is_private else "public"
    return {"value": host, "type": kind, "scope": scope, "port": int(port)}
