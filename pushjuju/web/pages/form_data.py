"""Reads the forms that browsers send."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs

from aiohttp import web

from pushjuju.web import limits

_LARGEST = 8192


async def read(request: web.Request, largest: int = _LARGEST, most: int = 20) -> dict[str, str]:
    """Return name -> value of a form.

    Args:
        largest: The most bytes of the form.
        most: The most fields of the form.
    """
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
