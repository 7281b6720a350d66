"""HTTP endpoints of resources: upload and download of files. Mirrors: juju apiserver/resources.go (3.6)"""

from __future__ import annotations

import email.message
from typing import TYPE_CHECKING

from aiohttp import web

from pushjuju.services.entities.application.resources import FILE
from pushjuju.services.requests.application import pending_resources
from pushjuju.services.requests.application.pending_resources import attach_resource
from pushjuju.services.views import resource_documents
from pushjuju.services.views.resource_documents import Shown
from pushjuju.web import errors
from pushjuju.web.endpoints.transfers import Received, Transfers, refusing
from pushjuju.web.shapes.resource_shapes import resource

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context
    from pushjuju.web.errors import Error

LARGEST_RESOURCE = 20 * 1024**3
_BYTES = "application/octet-stream"
_PATH = "/model/{model}/applications/{application}/resources/{resource}"


class ResourceFiles:
    """Receives and sends the files of resources."""

    def __init__(self, transfers: Transfers) -> None:
        self._transfers = transfers

    def routes(self) -> list[web.RouteDef]:
        """Return the paths of resources."""
        return [
            web.put(_PATH, refusing(self._put, _body, invalid=500)),
            web.get(_PATH, refusing(self._get, _body, invalid=500)),
        ]

    async def _put(self, request: web.Request) -> web.StreamResponse:
        entered, model = await self._transfers.admit(request, "write")
        if request.content_type != _BYTES:
            text = f"expected Content-Type: {_BYTES}, got: {request.content_type}"
            raise errors.ApiError(text, errors.BAD_REQUEST)
        async with self._transfers.received(request, entered.user, LARGEST_RESOURCE) as body:
            if body.sha384 != request.headers.get("Content-Sha384", "").lower():
                raise errors.ApiError("resource data did not match its Content-Sha384", errors.BAD_REQUEST)
            found = await self._transfers.change(
                entered, "Resources.Upload", lambda ctx: _keep(ctx, model, request, body)
            )
        self._transfers.api.changed()
        return web.json_response({"resource": found})

    async def _get(self, request: web.Request) -> web.StreamResponse:
        entered, model = await self._transfers.admit(request, "read")
        application, name = request.match_info["application"], request.match_info["resource"]
        path, shown = await self._transfers.run(
            entered, lambda ctx: resource_documents.content(ctx, model, application, name)
        )
        return web.FileResponse(path, headers={"Content-Type": _BYTES, "Content-Sha384": shown.fingerprint})


def _keep(ctx: Context, model: str, request: web.Request, body: Received) -> dict[str, object]:
    """Give the file to the application, or to a resource that waits for its application."""
    application, name = request.match_info["application"], request.match_info["resource"]
    number, filename = request.query.get("pendingid", ""), _filename(request)
    if number:
        pending_resources.fill(ctx, model, (application, name), number, body.path, filename)
        shown = Shown(application=application, name=name, fingerprint=body.sha384, origin="upload")
        return {**resource(shown), "pending-id": number}
    if _is_image(ctx, model, application, name):
        pending_resources.keep_image(ctx, model, application, name, body.path)
    else:
        attach_resource(ctx, model, application, name, str(body.path), filename or name)
    listed = resource_documents.listing(ctx, model, application).resources
    return resource(next(item for item in listed if item.name == name))


def _is_image(ctx: Context, model: str, application: str, name: str) -> bool:
    listed = resource_documents.listing(ctx, model, application).resources
    return any(item.name == name and item.type != FILE for item in listed)


def _filename(request: web.Request) -> str:
    """Return the file name of `Content-Disposition`, of which only the suffix is used."""
    header = email.message.Message()
    header["Content-Disposition"] = request.headers.get("Content-Disposition", "")
    return header.get_filename() or ""


def _body(found: Error) -> dict[str, object]:
    return {"error": found}
