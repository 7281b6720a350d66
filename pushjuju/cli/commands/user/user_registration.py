"""Makes registration strings of Juju's form."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context


NO_USE = (
    "`register` does not work yet: `pushjuju change-user-password {name}` lets {name} in at `pushjuju api`."
)


def registration(ctx: Context, name: str) -> str:
    """Return Juju's registration string: the DER of user, addresses, key and controller, in base64.

    Mirrors: juju jujuclient/proxy RegistrationInfo, cmd/juju/user/add.go (3.6)
    """
    parts = [
        _der(0x0C, name.encode()),
        _der(0x30, b""),
        _der(0x04, secrets.token_bytes(32)),
        _der(0x0C, ctx.controller.name.encode()),
    ]
    data = _der(0x30, b"".join(parts))
    # Padded with zeros, which DER readers ignore, so that the base64 text has no "=".
    return urlsafe_b64encode(data + bytes(-len(data) % 3)).decode()


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = bytes([size]) if size < 128 else _long(size)
    return bytes([tag]) + length + content


def _long(size: int) -> bytes:
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits
