"""HTTP endpoints of charms: upload and download. Mirrors: juju apiserver/charms.go (3.6)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from pushjuju.core.values import regex
from pushjuju.services.requests.application import new_charm
from pushjuju.services.views.listings import charms
from pushjuju.web import errors
from pushjuju.web.endpoints.transfers import CONTROLLER_CHARMS, Transfers, refusing

if TYPE_CHECKING:
    from pushjuju.web.errors import Error

LARGEST_CHARM = 1024**3
_OBJECT = regex(r"([a-z][a-z0-9-]*)-([0-9a-f]{7})")
_CHARMS = ("/model/{model}/charms", CONTROLLER_CHARMS)
_REMOTE_ICON = "/model/{model}/rest/1.0/remote-application/{name}/icon"
_ZIP = "application/zip"
_ICON = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96">'
    b'<circle cx="48" cy="48" r="44" fill="#888"/></svg>'
)
_ONLY_LOOKED_AT = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}


class Uploads:
    """Receives and sends the charms of models."""

    def __init__(self, transfers: Transfers) -> None:
        self._transfers = transfers

    def routes(self) -> list[web.RouteDef]:
        """Return the paths of charms."""
        return [
            *(web.post(path, refusing(self._post, _body)) for path in _CHARMS),
            *(web.get(path, refusing(self._get, _body)) for path in _CHARMS),
            web.put("/model-{model}/charms/{object}", refusing(self._put, _body)),
            web.get("/model-{model}/charms/{object}", refusing(self._get_object, _body)),
            web.get(_REMOTE_ICON, refusing(self._get_remote_icon, _body)),
        ]

    async def _post(self, request: web.Request) -> web.StreamResponse:
        return await self._take(request, "")

    async def _put(self, request: web.Request) -> web.StreamResponse:
        """Receive a charm; the request's path has the beginning of the archive's SHA-256."""
        found = _OBJECT.fullmatch(request.match_info["object"])
        return await self._take(request, found[2] if found else "-")

    async def _take(self, request: web.Request, digest: str) -> web.StreamResponse:
        entered, model = await self._transfers.admit(request, "write")
        if request.content_type != _ZIP:
            text = f"expected Content-Type: application/zip, got: {request.content_type}"
            raise errors.ApiError(text, errors.BAD_REQUEST)
        if request.query.get("schema", "local") != "local":
            text = "non-local charms may only be uploaded during model migration import"
            raise errors.ApiError(text, errors.BAD_REQUEST)
        series = request.query.get("series", "")
        async with self._transfers.received(request, entered.user, LARGEST_CHARM) as body:
            if not body.sha256.startswith(digest):
                raise errors.ApiError("the hash of the charm is not that of its path", errors.BAD_REQUEST)
            url = await self._transfers.change(
                entered,
                "Charms.Upload",
                lambda ctx: new_charm.upload_charm(ctx, model, body.path, series=series),
            )
        self._transfers.api.changed()
        return web.json_response({"charm-url": url}, headers={"Juju-Curl": url})

    async def _get(self, request: web.Request) -> web.StreamResponse:
        """Return the names of the files of a charm, one file, its icon or the archive."""
        entered, model = await self._transfers.admit(request, "read")
        url, file = request.query.get("url", ""), request.query.get("file", "")
        if not url:
            raise errors.ApiError("expected url=CharmURL query argument", errors.BAD_REQUEST)
        if file == "*":
            return web.FileResponse(
                await self._transfers.run(entered, lambda ctx: charms.archive(ctx, model, url)),
                headers={"Content-Type": _ZIP},
            )
        if request.query.get("icon") == "1":
            return _picture(await self._transfers.run(entered, lambda ctx: charms.icon(ctx, model, url)))
        if file:
            content = await self._transfers.run(entered, lambda ctx: charms.content(ctx, model, url, file))
            return web.Response(body=content, content_type="application/octet-stream")
        names = await self._transfers.run(entered, lambda ctx: charms.names(ctx, model, url))
        return web.json_response({"files": names})

    async def _get_object(self, request: web.Request) -> web.StreamResponse:
        """Return the archive of a charm, found by the charm's name and the beginning of the SHA-256."""
        entered, model = await self._transfers.admit(request, "read")
        found = _OBJECT.fullmatch(request.match_info["object"])
        if found is None:
            raise errors.ApiError("charm not found", errors.NOT_FOUND)
        path = await self._transfers.run(
            entered, lambda ctx: charms.archive_of(ctx, model, found[1], found[2])
        )
        return web.FileResponse(path, headers={"Content-Type": _ZIP})

    async def _get_remote_icon(self, request: web.Request) -> web.StreamResponse:
        """Return the icon of an application that the model consumes."""
        entered, model = await self._transfers.admit(request, "read")
        name = request.match_info["name"]
        return _picture(await self._transfers.run(entered, lambda ctx: charms.remote_icon(ctx, model, name)))


def _picture(icon: bytes) -> web.Response:
    """Return an icon; a browser that opens it runs no script of the charm as one of this server's pages."""
    return web.Response(body=icon or _ICON, content_type="image/svg+xml", headers=_ONLY_LOOKED_AT)


def _body(found: Error) -> dict[str, str]:
    return {"error": found["message"], "error-code": found["code"]}
