"""The request of attach-resource. Mirrors: juju cmd/juju/resource/upload.go (3.6)"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import applications, resources
from pushjuju.services.entities.application.resources import Upload
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms


def attach(ctx: Context, model: str, application: str, name: str, path: str) -> None:
    """Attach a file to an application as one of its resources; its units run upgrade-charm.

    Raises:
        NotValid: The file cannot be the resource; nothing is changed.
    """
    with ctx.read(model) as tx:
        found = applications.get(tx, application)
        declared = charms.get(tx, found.charm_url).meta.resources
    try:
        with _source(path) as stream:
            if name not in declared:
                raise NotFound(f"resource {quote(f'{application}/{name}')} not found")
            resources.check_file(declared[name], path)
            with ctx.controller.blobs.staged(stream) as copy:
                _attach(ctx, model, application, Upload(meta=declared[name], copy=copy))
    except PushjujuError as error:
        text = f"failed to upload resource {quote(name)}: {error.message}"
        raise type(error)(text, detail=error.detail, hint=error.hint) from None


def _attach(ctx: Context, model: str, name: str, upload: Upload) -> None:
    with ctx.change(model) as tx:
        resources.replace_some(ctx, tx, applications.get(tx, name), [upload], ())


def _source(path: str) -> BinaryIO:
    try:
        return Path(path).expanduser().open("rb")
    except FileNotFoundError:
        raise NotFound(f"open {path}: no such file or directory") from None
    except OSError as error:
        raise NotValid(f"open {path}: {(error.strerror or str(error)).lower()}") from None
