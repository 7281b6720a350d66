"""Registration strings in Juju's form, with which a user registers and chooses a password.

Mirrors: juju jujuclient/proxy RegistrationInfo, cmd/juju/user/add.go (3.6)
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from pathlib import Path

from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.requests.user import passwords
from pushjuju.store import processes
from pushjuju.store.files.private import private_dir, replace_text

_TEXT, _LIST, _BYTES = 0x0C, 0x30, 0x04


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """The registration string for a new user."""

    text: str
    reachable: bool  # True when the string has an address: the API has been served before


def invite(ctx: Context, name: str) -> Invitation:
    """Give a user a secret key in place of a password, and return the registration string."""
    return with_key(ctx, name, passwords.new_key(ctx, name))


def with_key(ctx: Context, name: str, key: bytes) -> Invitation:
    """Return the registration string for a user's secret key, with the addresses of this controller."""
    return encoded(name, key, addresses(ctx), ctx.controller.name)


def encoded(name: str, key: bytes, addresses: Sequence[str], controller: str) -> Invitation:
    """Return the registration string for a user's secret key."""
    parts = [
        _der(_TEXT, name.encode()),
        _der(_LIST, b"".join(_der(_TEXT, address.encode()) for address in addresses)),
        _der(_BYTES, key),
        _der(_TEXT, controller.encode()),
    ]
    data = _der(_LIST, b"".join(parts))
    # Padded with zeros, which DER readers ignore, so that the base64 text has no "=".
    return Invitation(
        text=urlsafe_b64encode(data + bytes(-len(data) % 3)).decode(), reachable=bool(addresses)
    )


def note_addresses(ctx: Context, listening: Sequence[tuple[str, int]]) -> None:
    """Note the addresses at which this process serves the API, also for future registration strings."""
    ctx.api[:] = [address_text(host, port) for host, port in listening]
    private_dir(_file(ctx).parent)
    replace_text(_file(ctx), json.dumps(ctx.api))


def address_text(host: str, port: int) -> str:
    """Return HOST:PORT."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def addresses(ctx: Context) -> list[str]:
    """Return where this process serves the API, or else where this host did last, then all other hosts.

    Each address is HOST:PORT.
    """
    known = ctx.api or (json.loads(_file(ctx).read_text()) if _file(ctx).is_file() else [])
    with ctx.store.read() as tx:
        return list(dict.fromkeys([*known, *processes.served(tx, ctx.store.lives)]))


def _file(ctx: Context) -> Path:
    return ctx.controller.root / "api" / "addresses.json"


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = bytes([size]) if size < 128 else _long(size)
    return bytes([tag]) + length + content


def _long(size: int) -> bytes:
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits
