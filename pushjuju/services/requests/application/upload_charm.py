"""The request of an API client that uploads a charm before any application uses the charm.

Mirrors: juju apiserver/charms.go (3.6)
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pushjuju.charms.archive.pack import pack
from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import models
from pushjuju.services.requests.application import new_application

_NO_SERIES = "None"  # python-libjuju sends this text for a folder without a base
_SERIES = regex(r"[a-z]{1,20}")


def upload_charm(ctx: Context, model: str, archive: Path, *, series: str = "") -> str:
    """Add the charm of an archive to the model, and return the charm's URL there.

    Args:
        series: The series that the URL names, `local:jammy/web-0`; the charm's bases do not depend on it.

    Raises:
        NotValid: The file is not a charm archive, or the model is being destroyed.
    """
    if series == _NO_SERIES:
        series = ""
    if series and not _SERIES.fullmatch(series):
        raise NotValid(f"series {quote(series)} not valid")
    if not archive.is_file():
        raise NotValid("the charm is not an archive")
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        packed = pack(archive, Path(folder) / "charm", origin="", needs_hooks=False)
        ctx.controller.blobs.prepare(packed.path, packed.sha256)
        with ctx.change(model) as tx:
            models.require_alive(tx)
            return new_application.add_charm(ctx, tx, packed, series=series)[0]
