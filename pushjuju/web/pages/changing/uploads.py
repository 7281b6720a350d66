"""Takes a file from a page, and attaches the file to an application as one of its resources."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from aiohttp import BodyPartReader, web

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.requests.application.pending_resources import attach_resource
from pushjuju.web import access
from pushjuju.web.api import Api
from pushjuju.web.login import LoggedIn
from pushjuju.web.pages.changing.changes import Change
from pushjuju.web.pages.changing.noted import noted
from pushjuju.web.pages.visit import Visit

FOREIGN = "the form is not from a page of this session: load the page again"
_LARGEST = 20 * 1024**3  # bytes, as over the API
_MOST_TEXT = 1024  # bytes of the other fields
_STEP = 1024 * 1024
_WITHIN_S = 60.0  # seconds in which the next MiB arrives
_RIGHT = Change(words=lambda _: [], act=lambda *_: None, blocked_by=blocks.CHANGE)


async def take(
    api: Api, visit: Visit, entered: LoggedIn, request: web.Request, is_own: Callable[[str], bool]
) -> None:
    """Receive the form of a page: the proof of its session, `APPLICATION/RESOURCE`, then the file.

    Args:
        is_own: Tells of a proof whether it is of this session's pages.

    Raises:
        HTTPForbidden: The form is from another page.
        PushjujuError: The user may not attach the file, or it cannot be the resource.
    """
    try:
        form = await request.multipart()
    except (AssertionError, ValueError):  # another type, or no boundary
        raise NotValid("the form has no file") from None
    if not is_own(await _text(await form.next(), "csrf")):
        raise web.HTTPForbidden(text=FOREIGN)
    application, _, name = (await _text(await form.next(), "resource")).partition("/")
    await api.pool.run(lambda ctx: _permit(ctx, entered, visit))
    part = _part(await form.next(), "file")
    if not part.filename:
        raise NotValid("choose a file")
    with api.staging.folder() as folder:
        path = folder / "upload"
        await _save(api, part, path)
        sent = (application, name, part.filename)
        await api.pool.run(lambda ctx: _attach(api, ctx, entered, visit, sent, path))
    api.changed()


def _part(found: object, name: str) -> BodyPartReader:
    if not isinstance(found, BodyPartReader) or found.name != name:
        raise NotValid(f"the form has no field {name} at its place")
    return found


async def _text(found: object, name: str) -> str:
    part = _part(found, name)
    data = b""
    async with asyncio.timeout(_WITHIN_S):
        while not part.at_eof():
            data += await part.read_chunk(_MOST_TEXT)
            if len(data) > _MOST_TEXT:
                raise NotValid(f"the field {name} is too long")
    return data.decode(errors="replace")


async def _save(api: Api, part: BodyPartReader, path: Path) -> None:
    size = 0
    with path.open("wb") as file:
        while not part.at_eof():
            async with asyncio.timeout(_WITHIN_S):
                chunk = await part.read_chunk(_STEP)
            size += len(chunk)
            if size > _LARGEST:
                raise web.HTTPRequestEntityTooLarge(_LARGEST, size)
            await asyncio.to_thread(_keep, api, file.write, chunk)


def _keep(api: Api, write: Callable[[bytes], int], chunk: bytes) -> None:
    api.staging.require_room(len(chunk))
    write(chunk)


def _permit(ctx: Context, entered: LoggedIn, visit: Visit) -> None:
    access.permit(replace(ctx, user=entered.user), _RIGHT, visit.model.uuid)


def _attach(
    api: Api, ctx: Context, entered: LoggedIn, visit: Visit, sent: tuple[str, str, str], path: Path
) -> None:
    """Attach the file, with lines in the audit log before and after.

    Args:
        sent: The application, its resource, and the name of the file.
    """
    application, name, filename = sent
    params = {"application": application, "resource": name}
    with noted(api, ctx, entered, visit, "attach-resource", params) as own:
        _permit(own, entered, visit)
        attach_resource(own, visit.model.uuid, application, name, str(path), filename)
