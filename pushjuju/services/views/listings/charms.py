"""Reads the charms of a model, and their files, for the API.

Mirrors: juju apiserver/facades/client/charms, apiserver/charms.go (3.6)
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from pushjuju.charms.values.model import Charm
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.relation import remote_applications
from pushjuju.store.rows.records import Application, CharmRecord


def find(ctx: Context, model: str, url: str) -> tuple[Charm, int]:
    """Return a charm of the model, and its revision."""
    with ctx.read(model) as tx:
        return charms.get(tx, url), charms.record(tx, url).revision


def urls(ctx: Context, model: str) -> list[str]:
    with ctx.read(model) as tx:
        return [item.url for item in tx.list(CharmRecord, "charm_list")]


_LARGEST = 16 * 1024 * 1024  # the most bytes of a file that is shown


def archive(ctx: Context, model: str, url: str) -> Path:
    """Return the archive of a charm."""
    with ctx.read(model) as tx:
        return ctx.controller.blobs.path(charms.record(tx, url).sha256)


def archive_of(ctx: Context, model: str, name: str, digest: str) -> Path:
    """Return the archive of a charm by its name and the beginning of its SHA-256."""
    with ctx.read(model) as tx:
        for item in tx.list(CharmRecord, "charm_list"):
            if item.name == name and item.sha256.startswith(digest):
                return ctx.controller.blobs.path(item.sha256)
    raise NotFound(f"charm {quote(f'{name}-{digest}')} not found")


def names(ctx: Context, model: str, url: str) -> list[str]:
    """Return the paths of the files of a charm, sorted."""
    with zipfile.ZipFile(archive(ctx, model, url)) as opened:
        return sorted(item.filename for item in opened.infolist() if not item.is_dir())


def content(ctx: Context, model: str, url: str, path: str) -> bytes:
    """Return one file of a charm."""
    with zipfile.ZipFile(archive(ctx, model, url)) as opened:
        try:
            about = opened.getinfo(path)
        except KeyError:
            raise NotFound(f"charm file {quote(path)} not found") from None
        if about.is_dir() or about.file_size > _LARGEST:
            raise NotValid(f"charm file {quote(path)} is a folder, or too large")
        return opened.read(about)


def icon(ctx: Context, model: str, url: str) -> bytes:
    """Return the icon of a charm; empty for a charm without an icon."""
    return content(ctx, model, url, "icon.svg") if "icon.svg" in names(ctx, model, url) else b""


def remote_icon(ctx: Context, model: str, name: str) -> bytes:
    """Return the icon of an application of another model that this model consumes; empty without an icon.

    Mirrors: juju apiserver/rest.go (3.6)
    """
    with ctx.read(model) as tx:
        remote = remote_applications.find(tx, name)
        if remote is None:
            raise NotFound(f"saas application {quote(name)} not found")
        there = tx.beside(remote.source).find(Application, "application_get", name=remote.application)
    return icon(ctx, remote.source, there.charm_url) if there else b""
