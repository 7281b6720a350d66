"""Resources that a user attaches, or that a client of the API uploads before the deploy.

A pending resource is a folder of the controller, `api/pending/ID`, with the resource's description and, after
the upload, its file. A deploy takes the resource; an unused resource is deleted after a day.
Mirrors: juju apiserver/facades/client/resources AddPendingResources, apiserver/resources.go,
cmd/juju/resource/upload.go (3.6)
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from pushjuju.charms.archive import named_files
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.core.ids import new_uuid
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import applications, resources
from pushjuju.services.entities.application.resources import Upload
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.store.files.private import private_dir, replace_text

_KEPT_S = 24 * 60 * 60
_MOST = 1000  # pending resources of a controller
_ID = regex(r"[0-9a-f-]{36}")
_SUFFIX = regex(r"(\.[A-Za-z0-9_-]{1,30})?")
_ABOUT = "about.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A resource that a client announces."""

    name: str
    type: str = resources.FILE
    # the name of the file that the charm declares; the uploaded file must have the same suffix
    path: str = ""
    origin: str = resources.UPLOAD  # `upload`, or `store` for a revision of the store
    revision: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    """The description of a pending resource, as its folder keeps it."""

    model: str
    application: str
    resource: Expected


def suffix_of(filename: str) -> str:
    """Return the suffix of a client's file name, with its dot; the rest of the name is not used."""
    suffix = PurePosixPath(filename).suffix
    if not _SUFFIX.fullmatch(suffix):
        raise NotValid(f"file name {quote(filename)} not valid")
    return suffix


def expect(ctx: Context, model: str, application: str, listed: Sequence[Expected]) -> list[str]:
    """Announce resources, and return their ids."""
    _drop_old(ctx)
    folder = _folder(ctx)
    if len(list(folder.iterdir())) + len(listed) > _MOST:
        raise NotValid("too many resources wait for their applications")
    return [_announce(folder, _Pending(model=model, application=application, resource=it)) for it in listed]


def _folder(ctx: Context) -> Path:
    folder = ctx.controller.root / "api" / "pending"
    private_dir(folder.parent)
    private_dir(folder)
    return folder


def _announce(folder: Path, pending: _Pending) -> str:
    number = new_uuid()
    private_dir(folder / number)
    replace_text(folder / number / _ABOUT, json.dumps(asdict(pending)))
    return number


def fill(ctx: Context, model: str, owner: tuple[str, str], number: str, file: Path, filename: str) -> None:
    """Move an uploaded file to its pending resource, which `owner` (application, resource) names."""
    place, found = _find(ctx, model, *owner, number)
    wanted, given = PurePosixPath(found.path).suffix, suffix_of(filename)
    if found.type == resources.FILE and wanted and given != wanted:
        raise NotValid(f"incorrect extension on resource upload {quote(filename)}, expected {quote(wanted)}")
    shutil.move(file, place / f"content{given}")


def _find(ctx: Context, model: str, application: str, name: str, number: str) -> tuple[Path, Expected]:
    place = _folder(ctx) / number
    if not _ID.fullmatch(number) or not (place / _ABOUT).is_file():
        raise NotFound(f"pending resource {quote(f'{application}/{name}')} not found")
    known = json.loads((place / _ABOUT).read_text())
    found = Expected(**known["resource"])
    if (known["model"], known["application"], found.name) != (model, application, name):
        raise NotFound(f"pending resource {quote(f'{application}/{name}')} not found")
    return place, found


def claim(ctx: Context, model: str, application: str, ids: Mapping[str, str]) -> dict[str, str]:
    """Return the values for `--resource`: name -> path of the file, or revision of the store.

    Resources of other types than `file` are left out: `keep_images` records them after the deploy.
    """
    found: dict[str, str] = {}
    for name, number in ids.items():
        place, known = _find(ctx, model, application, name, number)
        if known.origin == resources.STORE:
            if known.revision >= 0:
                found[name] = str(known.revision)
        elif known.type == resources.FILE:
            found[name] = str(_content(place, name))
    return found


def keep_images(ctx: Context, model: str, application: str, ids: Mapping[str, str]) -> None:
    """Record the descriptions of OCI images, which clients may read and machines cannot run."""
    for name, number in ids.items():
        place, known = _find(ctx, model, application, name, number)
        if known.type == resources.FILE or known.origin == resources.STORE:
            continue
        keep_image(ctx, model, application, name, _content(place, name))


def keep_image(ctx: Context, model: str, application: str, name: str, content: Path) -> None:
    """Record the description of an OCI image for an application."""
    with content.open("rb") as stream, ctx.controller.blobs.staged(stream) as copy, ctx.change(model) as tx:
        owner = applications.get(tx, application)
        declared = applications.current_charm(tx, owner).meta.resources
        resources.check_names(declared, [name])
        resources.put(ctx, tx, owner, [resources.Upload(meta=declared[name], copy=copy)])


def _content(place: Path, name: str) -> Path:
    content = next(place.glob("content*"), None)
    if content is None:
        raise NotFound(f"resource {quote(name)} has not been uploaded yet")
    return content


def drop(ctx: Context, ids: Collection[str]) -> None:
    """Delete pending resources that an application has taken."""
    for number in ids:
        if _ID.fullmatch(number):
            shutil.rmtree(_folder(ctx) / number, ignore_errors=True)


def _drop_old(ctx: Context) -> None:
    for place in _folder(ctx).iterdir():
        if time.time() - place.stat().st_mtime > _KEPT_S:
            shutil.rmtree(place, ignore_errors=True)


def attach_resource(
    ctx: Context, model: str, application: str, name: str, path: str, filename: str = ""
) -> None:
    """Attach a file to an application as one of its resources; its units run upgrade-charm.

    Args:
        filename: The name that the user knows the file by; empty for its path.

    Raises:
        NotValid: The file cannot be the resource; nothing is changed.
    """
    with ctx.read(model) as tx:
        found = applications.get(tx, application)
        declared = charms.get(tx, found.charm_url).meta.resources
    try:
        meta = declared.get(name)
        if meta is not None and meta.type != resources.FILE:
            resources.check_file(meta, path)  # as in Juju: the type counts before the file is opened
        with _source(path) as stream:
            if meta is None:
                raise NotFound(f"resource {quote(f'{application}/{name}')} not found")
            resources.check_file(meta, filename or path)
            with ctx.controller.blobs.staged(stream) as copy:
                _attach(ctx, model, application, Upload(meta=meta, copy=copy))
    except PushjujuError as error:
        text = f"failed to upload resource {quote(name)}: {error.message}"
        raise type(error)(text, detail=error.detail, hint=error.hint) from None


def _attach(ctx: Context, model: str, name: str, upload: Upload) -> None:
    with ctx.change(model) as tx:
        resources.replace_some(ctx, tx, applications.get(tx, name), [upload], ())


def _source(path: str) -> BinaryIO:
    try:
        return named_files.regular(path)
    except FileNotFoundError:
        raise NotFound(f"open {path}: no such file or directory") from None
    except OSError as error:
        raise NotValid(f"open {path}: {(error.strerror or str(error)).lower()}") from None
