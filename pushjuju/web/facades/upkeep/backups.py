"""Backups: archives of the whole controller. Mirrors: juju apiserver/facades/client/backups (3.6)"""

from __future__ import annotations

import platform
from dataclasses import dataclass

from pushjuju import JUJU_VERSION
from pushjuju.core.clock import to_iso
from pushjuju.services.entities.model import models
from pushjuju.services.requests.controller import backups
from pushjuju.web import errors
from pushjuju.web.registry import Facade, Needs, facade, method

_ELSEWHERE = "backups are only supported from the controller model"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupsCreate:
    """A backup to make; the controller keeps the file until the client has downloaded it."""

    notes: str = ""
    no_download: bool = False


@facade("Backups")
class Backups(Facade):
    """Backups of the whole controller, with its private keys."""

    @method(Needs.SUPERUSER, changes=True)
    def create(self, params: BackupsCreate) -> dict[str, object]:
        """Make a backup, and return its metadata."""
        if self.call.model is None or not models.is_controller(self.call.model):
            raise errors.not_supported(_ELSEWHERE)
        made = backups.create_kept(self.ctx, params.notes)
        finished = to_iso(self.ctx.clock.now())
        return {
            "id": made.path.name,
            "filename": made.path.name,
            "checksum": backups.checksum(made.path),
            "checksum-format": "SHA-1, base64 encoded",
            "size": made.path.stat().st_size,
            "stored": finished,
            "started": made.meta["started"],
            "finished": finished,
            "notes": params.notes,
            "model": self.model,
            "machine": "",
            "hostname": platform.node(),
            "version": JUJU_VERSION,
            "base": "",
            "format-version": made.meta["format"],
            "controller-uuid": self.call.server.controller_uuid,
            "controller-machine-id": "",
            "controller-machine-inst-id": "",
            "ha-nodes": 1,
        }
