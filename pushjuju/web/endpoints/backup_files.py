"""HTTP endpoint of backups: a superuser downloads a backup. Mirrors: juju apiserver/backup.go (3.6)"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from pushjuju.services.entities.model import models
from pushjuju.services.requests.controller import backups
from pushjuju.web import errors
from pushjuju.web.call import require_superuser
from pushjuju.web.endpoints.transfers import Transfers, read_small, refusing

if TYPE_CHECKING:
    from pushjuju.services.entities.basis.context import Context

_LONGEST = 4096  # bytes of a request


class BackupFiles:
    """Sends the backups that the controller keeps."""

    def __init__(self, transfers: Transfers) -> None:
        self._transfers = transfers

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/model/{model}/backups", refusing(self._get, dict))]

    async def _get(self, request: web.Request) -> web.StreamResponse:
        entered = await self._transfers.enter(request)
        assert entered.model is not None, "the path names a model"
        if not models.is_controller(entered.model):
            raise errors.ApiError("backups are only supported from the controller model")
        name = _name(await read_small(request, _LONGEST))
        path, checksum = await self._transfers.run(entered, lambda ctx: _find(ctx, name))
        headers = {"Content-Type": "application/octet-stream", "Digest": f"SHA={checksum}"}
        return web.FileResponse(path, headers=headers)


def _name(body: bytes) -> str:
    try:
        found = json.loads(body)
        return str(found["id"])
    except (ValueError, KeyError, TypeError):
        raise errors.ApiError("the body must be a JSON object with an id", errors.BAD_REQUEST) from None


def _find(ctx: Context, name: str) -> tuple[Path, str]:
    require_superuser(ctx)
    path = backups.find_kept(ctx, name)
    return path, backups.checksum(path)
