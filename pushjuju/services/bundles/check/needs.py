"""Checks that what a bundle needs exists: spaces and storage pools of the model, files of resources.

Juju finds missing things in the middle of a deploy; pushjuju reports them before, with all other faults.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.core import constraints as rules
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.portable.quote import quote
from pushjuju.services.bundles.plan.facts import ModelFacts
from pushjuju.services.bundles.read.values import Application, Fault, application_base
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import spaces
from pushjuju.services.entities.storage import storage_pools

if TYPE_CHECKING:
    from pushjuju.services.bundles.read.load import Loaded
    from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    """The model into which a bundle will be deployed."""

    ctx: Context
    tx: ModelTx
    loaded: Loaded
    facts: ModelFacts

    def fault(self, text: str, *path: str) -> Fault:
        composed = self.loaded.composed
        return Fault(text=text, path=path, place=composed.places.at(composed.root, path))


def check(
    ctx: Context, tx: ModelTx, loaded: Loaded, facts: ModelFacts, unclear: Collection[str]
) -> list[Fault]:
    """Return a fault for each thing that is missing, sorted by application.

    Args:
        unclear: Applications whose base or constraints were already reported as wrong.
    """
    site = _Site(ctx=ctx, tx=tx, loaded=loaded, facts=facts)
    known = frozenset(spaces.names(tx).values())
    faults = []
    if loaded.bundle.type == "kubernetes":
        faults.append(site.fault("bundle is for Kubernetes, the model is for machines", "bundle"))
    for name in sorted(loaded.bundle.applications, key=natural_key):
        app = loaded.bundle.applications[name]
        faults += _spaces(site, app, known)
        if name not in facts.applications:
            faults += _pools(site, app)
            faults += _files(site, app)
        if name not in unclear:
            faults += _images(site, app)
    return faults


def _spaces(site: _Site, app: Application, known: frozenset[str]) -> Iterator[Fault]:
    named = [(space, ("bindings", item)) for item, space in app.bindings.items()]
    for item, exposed in app.exposed_endpoints.items():
        named += [(space, ("exposed-endpoints", item)) for space in exposed.spaces]
    for space, where in named:
        if space not in known:
            text = f"cannot validate application {quote(app.name)}: space {quote(space)} not found"
            yield site.fault(text, "applications", app.name, *where)


def _pools(site: _Site, app: Application) -> Iterator[Fault]:
    for store, text in app.storage.items():
        try:
            pool = Directive.parse(text).pool
            if not pool:
                continue

            storage_pools.open_pools(site.ctx, site.tx).get(pool)
        except NotValid:
            continue  # another check has reported the directive
        except NotFound as error:
            reason = f"cannot validate application {quote(app.name)}: {error.message}"
            yield site.fault(reason, "applications", app.name, "storage", store)


def _files(site: _Site, app: Application) -> Iterator[Fault]:
    """Check resources that are files; a value that is not a path may name an image in a registry."""
    for name, value in app.resources.items():
        if not isinstance(value, str) or not value.startswith(("./", "../", "/")):
            continue
        if not (Path(value) if site.loaded.folder is None else site.loaded.folder / value).exists():
            text = f"file for resource {quote(name)}: stat {value}: no such file or directory"
            reason = f"cannot validate application {quote(app.name)}: {text}"
            yield site.fault(reason, "applications", app.name, "resources", name)


def _images(site: _Site, app: Application) -> Iterator[Fault]:
    if not rules.parse(app.constraints).get("image-id") or application_base(site.loaded.bundle, app):
        return
    text = f"base must be explicitly provided for {quote(app.charm)} when image-id constraint is used"
    yield site.fault(text, "applications", app.name, "constraints")
