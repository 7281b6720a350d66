"""HTTP endpoints that take files: charms. Bodies go to a file of their own, hashed and bounded as they come.

Mirrors: juju apiserver/charms.go, objects.go (3.6)
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import re
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from pushjuju.core.errors import NotValid, PushjujuError
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.application.upload_charm import upload_charm
from pushjuju.web import errors, tags
from pushjuju.web.audit import Speaker
from pushjuju.web.call import reach, require_unblocked

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.web.api import Api
    from pushjuju.web.login import LoggedIn

LARGEST_CHARM = 1024**3
MOST_AT_ONCE = 4  # uploads of one user
_SLOWEST, _WITHIN_S = 1024, 60.0  # bytes in that time
_OBJECT = re.compile(r"[a-z][a-z0-9-]*-([0-9a-f]{7})")
_STATUS = {
    errors.UNAUTHORIZED: 401, errors.NO_CREDENTIALS: 401, errors.NOT_FOUND: 404, errors.MODEL_NOT_FOUND: 404,
    errors.BAD_REQUEST: 400, errors.FORBIDDEN: 403, errors.TRY_AGAIN: 429, "not valid": 400,
    "operation is blocked": 400,
}  # fmt: skip


class Uploads:
    """Takes charms for the models of a server."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._under_way: Counter[str] = Counter()

    def routes(self) -> list[web.RouteDef]:
        """Return the paths that take files."""
        return [
            web.post("/model/{model}/charms", self._post),
            web.put("/model-{model}/charms/{object}", self._put),
        ]

    async def _post(self, request: web.Request) -> web.Response:
        return await self._answer(request, "")

    async def _put(self, request: web.Request) -> web.Response:
        """Take a charm whose path says how the SHA-256 of the archive begins."""
        found = _OBJECT.fullmatch(request.match_info["object"])
        return await self._answer(request, found[1] if found else "-")

    async def _answer(self, request: web.Request, digest: str) -> web.Response:
        try:
            entered = await self._enter(request)
            url = await self._take(request, entered, digest)
        except PushjujuError as error:
            found = errors.told(error)
            status = _STATUS.get(found["code"], 500)
            headers = {"WWW-Authenticate": 'Basic realm="juju"'} if status == 401 else {}
            body = {"error": found["message"], "error-code": found["code"]}
            return web.json_response(body, status=status, headers=headers)
        return web.json_response({"charm-url": url}, headers={"Juju-Curl": url})

    async def _enter(self, request: web.Request) -> LoggedIn:
        """Return the user of a request.

        Raises:
            ApiError: The name or password is wrong, or the user has no access to the model.
        """
        name, password = _credentials(request)
        return await self._api.logins.check(
            name, password, peer=request.remote or "", model=request.match_info["model"]
        )

    async def _take(self, request: web.Request, entered: LoggedIn, digest: str) -> str:
        assert entered.model is not None, "the path names a model"
        model = entered.model.uuid
        await self._api.pool.run(lambda ctx: _permit(_as(ctx, entered), model))
        if request.content_type != "application/zip":
            text = f"expected Content-Type: application/zip, got: {request.content_type}"
            raise errors.ApiError(text, errors.BAD_REQUEST)
        if request.query.get("schema", "local") != "local":
            text = "non-local charms may only be uploaded during model migration import"
            raise errors.ApiError(text, errors.BAD_REQUEST)
        if self._under_way[entered.user] >= MOST_AT_ONCE:
            raise errors.ApiError("too many uploads at once", errors.TRY_AGAIN)
        self._under_way[entered.user] += 1
        try:
            return await self._keep(request, entered, model, digest)
        finally:
            self._under_way[entered.user] -= 1

    async def _keep(self, request: web.Request, entered: LoggedIn, model: str, digest: str) -> str:
        with tempfile.TemporaryDirectory(prefix="pushjuju-") as folder:
            path = Path(folder) / "upload"
            try:
                found = await _receive(request, path)
            except TimeoutError:
                raise web.HTTPRequestTimeout(text="the upload is too slow\n") from None
            if not found.startswith(digest):
                raise errors.ApiError("the hash of the charm is not that of its path", errors.BAD_REQUEST)
            url = await self._api.pool.run(lambda ctx: self._record(_as(ctx, entered), model, path))
        self._api.changed()
        return url

    def _record(self, ctx: Context, model: str, path: Path) -> str:
        """Record a charm, and note it in the audit log."""
        noted = self._api.audit(ctx).conversation(Speaker(user=ctx.user, model=model))
        noted.asked(0, "Charms.Upload", 0, {})
        url = upload_charm(ctx, model, path)
        noted.answered(0)
        return url


def _as(ctx: Context, entered: LoggedIn) -> Context:
    return replace(ctx, user=entered.user)


def _permit(ctx: Context, model: str) -> None:
    reach(ctx, model, "write")
    require_unblocked(ctx, model, blocks.CHANGE)


def _credentials(request: web.Request) -> tuple[str, str]:
    """Return name and password of Basic authentication; the name may be a tag."""
    kind, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "basic":
        raise errors.ApiError(errors.NO_CREDENTIALS, errors.NO_CREDENTIALS)
    try:
        name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise errors.refused_login() from None
    try:
        return (tags.user(name) if name.startswith("user-") else name), password
    except NotValid:
        raise errors.refused_login() from None


async def _receive(request: web.Request, path: Path) -> str:
    """Write the body to a file, and return its SHA-256 in hex.

    Raises:
        ApiError: The body is too large, or comes too slowly.
    """
    digest, size, since = hashlib.sha256(), 0, 0
    deadline = asyncio.get_running_loop().time() + _WITHIN_S
    with path.open("wb") as file:
        async with asyncio.timeout(None) as limit:
            async for chunk in request.content.iter_chunked(1024 * 1024):
                size, since = size + len(chunk), since + len(chunk)
                if size > LARGEST_CHARM:
                    raise web.HTTPRequestEntityTooLarge(LARGEST_CHARM, size)
                if since >= _SLOWEST:
                    since, deadline = 0, asyncio.get_running_loop().time() + _WITHIN_S
                limit.reschedule(deadline)
                digest.update(chunk)
                await asyncio.to_thread(file.write, chunk)
    return digest.hexdigest()
