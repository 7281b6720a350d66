"""Exports a model as a bundle, on request together with its charms and resources."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.output import format_yaml
from pushjuju.services.bundles.plan import model_facts
from pushjuju.services.bundles.plan.as_bundle import OVERLAY, Fields, Options, document
from pushjuju.services.bundles.plan.as_bundle import export as as_document
from pushjuju.services.bundles.plan.facts import ApplicationFacts
from pushjuju.services.entities.application import resources
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.store.files.private import explained
from pushjuju.store.rows.records import Resource
from pushjuju.store.tx import ModelTx

__all__ = ["Request", "as_text", "export", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options of an export."""

    defaults: bool = False  # True to also write options that have their default value
    series: bool = False  # True to write the series in addition to the base
    # the folder that gets the uploaded charms and resources, or None to leave them out
    beside: Path | None = None


def export(ctx: Context, model: str, request: Request) -> tuple[Fields, Fields | None]:
    """Return the bundle, and its overlay, or None when the bundle needs no overlay."""
    with ctx.read(model) as tx:
        facts = model_facts.read(tx)
        options = Options(defaults=request.defaults, series=request.series)
        if request.beside is not None:
            uploaded = _write_resources(ctx, tx, facts.applications.values(), request.beside)
            _write_charms(ctx, tx, facts.applications.values(), request.beside)
            options = replace(options, charm_path=_charm_path, resource_paths=uploaded)
        return as_document(facts, options)


def as_text(ctx: Context, model: str, request: Request) -> str:
    """Return the bundle as YAML; an overlay becomes a second document."""
    bundle, overlay = export(ctx, model, request)
    text = format_yaml(document(bundle))
    return f"{text}{OVERLAY}{format_yaml(document(overlay))}" if overlay else text


def _charm_path(app: ApplicationFacts) -> str:
    return f"./charms/{app.charm.removeprefix('local:')}.charm"


def _write_charms(ctx: Context, tx: ModelTx, apps: Iterable[ApplicationFacts], folder: Path) -> None:
    for app in apps:
        if app.is_local:
            record = charms.record(tx, app.charm)
            _copy(ctx.controller.blobs.path(record.sha256), folder / _charm_path(app))


def _write_resources(
    ctx: Context, tx: ModelTx, apps: Iterable[ApplicationFacts], folder: Path
) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for app in apps:
        rows = tx.list(Resource, "resource_of_application", application=app.name)
        for row in rows:
            if row.origin == resources.UPLOAD and row.sha256:
                path = f"./resources/{app.name}/{row.name}{Path(row.path).suffix}"
                _copy(ctx.controller.blobs.path(row.sha256), folder / path)
                found.setdefault(app.name, {})[row.name] = path
    return found


def _copy(source: Path, target: Path) -> None:
    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def write(path: Path, text: str) -> None:
    """Write the file; only its owner may read it."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise NotValid(
            f"while creating local file: open {path}: {(error.strerror or str(error)).lower()}"
        ) from None
