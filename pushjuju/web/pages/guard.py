"""The rules for every request of a browser: names of this server, origins, forms, and headers of answers."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Collection, Sequence
from urllib.parse import parse_qs, urlsplit

from aiohttp import web

from pushjuju.web import limits

_POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
        "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types pieces",
    )
)  # fmt: skip
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
TLS_FOR_A_YEAR = {"Strict-Transport-Security": "max-age=31536000"}


def is_own_host(hosts: Sequence[str], names: Collection[str]) -> bool:
    """Return True when a request names this server.

    Another name may be that of a page that rebinds its own name to this address, and then reads the answers.
    An address cannot be rebound.

    Args:
        hosts: The headers Host, of which a request has one.
        names: The names of this server, in addition to `localhost`.
    """
    host = hosts[0] if len(hosts) == 1 else ""
    try:
        parts = urlsplit(f"//{host}")
        name = (parts.hostname or "") if parts.netloc == host and "@" not in host else ""
    except ValueError:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or name in names
    return True


def wants_json(request: web.Request) -> bool:
    """Return True for a client that asks for JSON, and not for pages as browsers do."""
    accepted = request.headers.get("Accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def require_same_origin(request: web.Request) -> None:
    """Refuse a form that a page of another origin has sent.

    Raises:
        HTTPForbidden: The headers `Origin` and `Sec-Fetch-Site` do not name this server.
    """
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site", "same-origin")
    if origin != f"{request.scheme}://{request.host}" or site != "same-origin":
        raise web.HTTPForbidden(text="this origin may not send forms here")


async def read_form(request: web.Request, largest: int = 8192, most: int = 20) -> dict[str, str]:
    """Return name -> value of a form of at most `largest` bytes."""
    body = b""
    async with asyncio.timeout(limits.LOGIN_WITHIN_S):
        async for chunk in request.content.iter_any():
            body += chunk
            if len(body) > largest:
                raise web.HTTPRequestEntityTooLarge(largest, len(body))
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=most)
    except ValueError:
        raise web.HTTPBadRequest(text="the form cannot be read") from None
    return {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}
