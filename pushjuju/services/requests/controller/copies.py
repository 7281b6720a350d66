"""Makes copies of a data directory, in which commands are rehearsed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pushjuju.core.clock import Clock
from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.services.entities.model import models
from pushjuju.store.datadir import DataDir
from pushjuju.store.rehearsal import copy_datadir


def make(source: DataDir, target: Path) -> None:
    """Copy a data directory into a new folder."""
    target.mkdir(mode=0o700)
    copy_datadir(source, target)


def open_copy(folder: Path, name: str, *, clock: Clock, environ: Mapping[str, str]) -> Context | None:
    """Open a controller of a copy, or return None when the copy does not have the controller."""
    datadir = DataDir(folder)
    if name not in datadir.controllers():
        return None
    return open_context(datadir, name, clock=clock, environ=environ)


def end_models(ctx: Context) -> None:
    """Delete all models of a copy."""
    left = models.list_models(ctx)
    with ctx.store.write() as tx:
        for model in left:
            models.delete(ctx.of(tx, model.uuid))
