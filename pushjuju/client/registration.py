"""Registers a user of a controller on another computer: reads the registration string, sets a password.

Request and answer are sealed with the secret key of the string, so that the answer can be trusted before the
CA of the controller is known. Mirrors: juju cmd/juju/controller/register.go (3.6)
"""

from __future__ import annotations

import asyncio
import base64
import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pushjuju.client import libraries
from pushjuju.client.accounts import Account
from pushjuju.core.errors import ControllerUnreachable, NotPermitted, NotValid

_LETTERS = frozenset(string.ascii_letters + string.digits + "-_=")
_LIST = 0x30
_KEY_SIZE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """The content of a registration string."""

    user: str
    addresses: tuple[str, ...]
    key: bytes
    controller: str


def read(text: str) -> Invitation:
    """Read a registration string."""
    try:
        if not _LETTERS.issuperset(text):
            raise ValueError("a letter that URL-safe Base64 does not have")
        outer = dict(_parts(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))))
        (_, user), (_, places), (_, key), *rest = list(_parts(outer[_LIST]))
        found = Invitation(
            user=user.decode(),
            addresses=tuple(place.decode() for _, place in _parts(places)),
            key=key,
            controller=rest[0][1].decode() if rest else "",
        )
        if len(key) != _KEY_SIZE:
            raise ValueError("the key has another size")
    except (ValueError, LookupError) as error:
        raise NotValid(
            "the text is not a registration string",
            hint="copy the whole line that `add-user` printed on the host of the controller",
        ) from error
    if not found.addresses:
        raise NotValid(
            "the registration string has no address of the controller",
            hint="ask for another string, made while the API is served: "
            f"pushjuju change-user-password {found.user} --reset",
        )
    return found


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (tag, content) of each DER value; zeros at the end are ignored."""
    at = 0
    while at < len(data) and data[at]:
        tag, size, at = data[at], data[at + 1], at + 2
        if size >= 0x80:
            digits = size & 0x7F
            size, at = int.from_bytes(data[at : at + digits], "big"), at + digits
        if at + size > len(data):
            raise ValueError("a value is cut off")
        yield tag, data[at : at + size]
        at += size


def register(invitation: Invitation, name: str, password: str) -> Account:
    """Set the password of the invited user; return the account, for a controller's name on this client."""
    network = libraries.websocket()
    made = Account(
        name=name, uuid="", addresses=invitation.addresses, ca="", user=invitation.user, password=password
    )
    payload = {"password": password}
    try:
        work = network.post_sealed(invitation.addresses, invitation.user, invitation.key, payload)
        status, answer = asyncio.run(work)
    except network.FAULTS as error:
        fault: ControllerUnreachable = network.unreachable(made, error)
        raise fault from error
    if status != 200:
        raise NotPermitted(
            f'controller "{name}" refuses the registration of {invitation.user}: {_message(answer)}',
            hint="a registration string works once; an administrator of the controller prints another: "
            f"pushjuju change-user-password {invitation.user} --reset",
        )
    return replace(made, uuid=str(answer.get("controller-uuid", "")), ca=str(answer.get("ca-cert", "")))


def _message(answer: Any) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    return str(error.get("message") if isinstance(error, dict) else error)
