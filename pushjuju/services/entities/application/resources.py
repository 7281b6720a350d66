"""Resources: the files of an application's charm that users attach, and the copies that units have fetched.

A resource that a charm declares has no row until a file is attached or a store's revision is chosen.

Mirrors: juju state/resources.go, apiserver/resources.go, cmd/juju/resource/validation.go (3.6)
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from io import BufferedReader
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pushjuju.charms.archive import named_files
from pushjuju.charms.values.model import Charm, ResourceMeta
from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.store.files.blobs import Blobs, Staged
from pushjuju.store.rows.records import Application, Resource, Unit, UnitResource
from pushjuju.store.tx import ModelTx, Tx

if TYPE_CHECKING:
    from pushjuju.core.charmstore import StoreResource

FILE = "file"
UPLOAD, STORE = "upload", "store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """The uploaded file of a resource, copied into the controller but not yet recorded."""

    meta: ResourceMeta
    copy: Staged


# --- files that users attach -----------------------------------------------------------------------------


def check_names(declared: Mapping[str, ResourceMeta], names: Sequence[str]) -> None:
    """Refuse resources that a charm does not declare."""
    unknown = sorted(set(names) - set(declared))
    if len(unknown) == 1:
        raise NotValid(f"unrecognized resource {quote(unknown[0])}")
    if unknown:
        raise NotValid(f"unrecognized resources: {', '.join(unknown)}")


def check_file(meta: ResourceMeta, path: str) -> None:
    """Refuse a file that cannot be the resource, because of the resource's type or the file's extension."""
    if meta.type != FILE:
        raise NotValid(
            f"its type is {meta.type}: machines accept only files",
            hint="a charm with images runs on Kubernetes, which pushjuju does not support",
        )
    wanted = _extension(meta.filename)
    if _extension(path) != wanted:
        raise NotValid(f"incorrect extension on resource upload {quote(path)}, expected {quote(wanted)}")


def _extension(path: str) -> str:
    """Return the extension of a file name, with its dot, as Go's `filepath.Ext` does."""
    name = PurePosixPath(path).name
    return name[name.rindex(".") :] if "." in name else ""


@contextlib.contextmanager
def uploads(
    blobs: Blobs, declared: Mapping[str, ResourceMeta], given: Mapping[str, str]
) -> Iterator[list[Upload]]:
    """Copy the files that `--resource` names; after the block, copies that `put` did not record are deleted.

    Args:
        given: Name -> path of a file; a number is refused, as only stores have revisions.

    Raises:
        NotValid: A file or a name is wrong; the messages are Juju's. Nothing was copied.
    """
    check_names(declared, list(given))
    for name, path in given.items():
        if path.isascii() and path.isdigit():
            raise NotValid(f"resource {quote(name)} revision not found, provide via --resource")
        with about(name):
            check_file(declared[name], path)
        _opened(name, path).close()
    with contextlib.ExitStack() as stack:
        found = []
        for name, path in sorted(given.items()):
            stream = stack.enter_context(_opened(name, path))
            found.append(Upload(meta=declared[name], copy=stack.enter_context(blobs.staged(stream))))
        yield found


@contextlib.contextmanager
def about(name: str) -> Iterator[None]:
    """Add the name of the resource to the message of an error."""
    try:
        yield
    except NotValid as error:
        raise type(error)(f"resource {quote(name)}: {error.message}", hint=error.hint) from None


def fingerprint(name: str, path: str) -> str:
    """Return the SHA-384 of a file, in hex, which is comparable with an uploaded resource's fingerprint."""
    with _opened(name, path) as stream:
        return hashlib.file_digest(stream, "sha384").hexdigest()


def _opened(name: str, path: str) -> BufferedReader:
    """Open the file of a resource, with Juju's messages when it cannot be opened."""
    try:
        return named_files.regular(path)
    except FileNotFoundError:
        raise NotFound(f"file for resource {quote(name)}: stat {path}: no such file or directory") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise NotValid(f"can't read file for resource {quote(name)}: open {path}: {why}") from None


# --- resources of applications ----------------------------------------------------------------------------


def put(ctx: Context, tx: ModelTx, application: Application, files: Sequence[Upload]) -> None:
    """Record uploaded files as resources of an application."""
    for upload in files:
        record = Resource(
            model=application.model, application=application.name, name=upload.meta.name,
            type=upload.meta.type, path=upload.meta.filename, description=upload.meta.description,
            origin=UPLOAD, fingerprint=upload.copy.sha384, size=upload.copy.size,
            sha256=ctx.controller.blobs.settle(upload.copy), username=ctx.user, time=to_iso(ctx.clock.now()),
        )  # fmt: skip
        tx.run("resource_put", **asdict(record))
        wake.cleaner(tx, ctx.clock.now(), "a resource was given")


def put_store(tx: Tx, application: Application, found: Sequence[StoreResource]) -> None:
    """Record a store's revisions as resources; the content is fetched when a unit first needs it."""
    for item in found:
        record = Resource(
            model=application.model, application=application.name, name=item.name, type=item.type,
            path=item.filename, description=item.description, origin=STORE, revision=item.revision,
            fingerprint=item.download.sha384, size=item.download.size,
        )  # fmt: skip
        tx.run("resource_put", **asdict(record))


def taken_from_store(
    tx: ModelTx, application: Application, found: Mapping[str, StoreResource], given: Collection[str]
) -> list[StoreResource]:
    """Return the resources of a store that differ from what an application has.

    A file that a user uploaded is kept, unless the user named a revision for this resource.

    Args:
        found: Name -> the store's resource for the charm that the application gets.
        given: Names of the resources for which the user named a revision.
    """
    name = application.name
    rows = tx.list(Resource, "resource_of_application", application=name)
    known = {row.name: row for row in rows}
    changes = []
    for item in found.values():
        row = known.get(item.name)
        pinned = row is not None and row.origin == UPLOAD and item.name not in given
        same = row is not None and row.origin == STORE and row.revision == item.revision
        if not (pinned or same):
            changes.append(item)
    return changes


def have_content(ctx: Context, resource: Resource, copy: Staged) -> Resource:
    """Record the fetched content of a store's resource; return the resource with its blob."""
    if copy.size != resource.size:
        raise NotValid(f"resource size does not match expected ({copy.size} != {resource.size})")
    if copy.sha384 != resource.fingerprint:
        raise NotValid(
            "resource fingerprint does not match expected "
            f"({quote(copy.sha384)} != {quote(resource.fingerprint)})"
        )
    time = to_iso(ctx.clock.now())
    with ctx.write(resource.model) as tx:
        blob = ctx.controller.blobs.settle(copy)
        tx.run(
            "resource_fetched", application=resource.application, name=resource.name,
            fingerprint=resource.fingerprint, time=time, sha256=blob
        )  # fmt: skip
    return replace(resource, sha256=blob, time=time)


def refresh(
    ctx: Context,
    tx: ModelTx,
    application: Application,
    old: Charm,
    files: Sequence[Upload],
    declared: Mapping[str, ResourceMeta],
    of_store: Collection[str] = (),
) -> None:
    """Record the resources of a refreshed application: new files, and the new charm's paths for the rest."""
    given = {upload.meta.name for upload in files}.union(of_store)
    name = application.name
    known = {row.name for row in tx.list(Resource, "resource_of_application", application=name)}
    for missing in sorted(set(declared) - given - known - set(old.meta.resources)):
        raise NotValid(f"new resource {quote(missing)} was missing, please provide it via --resource")
    for kept in sorted(known & set(declared) - given):
        meta = declared[kept]
        tx.run(
            "resource_set_meta", application=name, name=kept, path=meta.filename,
            description=meta.description
        )  # fmt: skip
    put(ctx, tx, application, files)


def replace_some(
    ctx: Context,
    tx: ModelTx,
    application: Application,
    files: Sequence[Upload],
    found: Sequence[StoreResource],
) -> None:
    """Change some resources of an application: uploaded files, and revisions of its store."""
    put(ctx, tx, application, files)
    put_store(tx, application, found)
    tx.run("resource_modified", application=application.name)
    wake.application(tx, application.name, "resource attached")


def of_application(tx: ModelTx, application: Application) -> list[Resource]:
    """Return the resources of an application by name; a missing resource has neither content nor time."""
    name = application.name
    rows = tx.list(Resource, "resource_of_application", application=name)
    found = {row.name: row for row in rows}
    for meta in charms.get(tx, application.charm_url).meta.resources.values():
        missing = Resource(
            model=tx.model, application=name, name=meta.name, type=meta.type, path=meta.filename,
            description=meta.description, origin=UPLOAD,
        )  # fmt: skip
        found.setdefault(meta.name, missing)
    return [found[each] for each in sorted(found)]


def of_units(tx: ModelTx, application: Application) -> list[UnitResource]:
    """Return the resources that the units of an application have fetched, sorted by unit."""
    name = application.name
    return tx.list(UnitResource, "unit_resource_of_application", application=name)


# --- resources of units -----------------------------------------------------------------------------------


def wanted(tx: ModelTx, unit: Unit, name: str) -> Resource:
    """Return the resource that a unit's hook asks for with `resource-get`, or raise NotFound or NotValid."""
    found = tx.find(Resource, "resource_get", application=unit.application, name=name)
    if found is None:
        charm = applications.current_charm(tx, applications.get(tx, unit.application))
        meta = charm.meta.resources.get(name)
        if meta is not None and meta.type != FILE:
            raise NotValid(f"resource {quote(name)} has type {meta.type}: machines accept only files")
        text = f"resource {quote(name)} not found"
        if meta is not None:
            text += f": no file was attached yet (attach-resource {unit.application} {name}=FILE)"
        raise NotFound(text)
    return found


def fetched(tx: Tx, unit: Unit, resource: Resource) -> None:
    """Record that a unit has fetched a resource."""
    record = UnitResource(
        model=unit.model, unit=unit.name, name=resource.name, type=resource.type, path=resource.path,
        description=resource.description, origin=resource.origin, revision=resource.revision,
        fingerprint=resource.fingerprint, size=resource.size, username=resource.username, time=resource.time,
    )  # fmt: skip
    tx.run("unit_resource_put", **asdict(record))
