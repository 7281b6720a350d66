"""Charms: the charms of the model. Mirrors: juju apiserver/facades/client/charms (3.6)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pushjuju.charms.values.model import Charm, Endpoint
from pushjuju.core.base import Base
from pushjuju.core.charmstore import DEFAULT_ARCH
from pushjuju.core.errors import NotFound, PushjujuError, not_found
from pushjuju.services.entities.basis import blocks
from pushjuju.services.supply import store_charms
from pushjuju.services.supply.origins import StoreOrigin
from pushjuju.services.supply.store_charms import CharmRequest
from pushjuju.services.views.listings import charms as listing
from pushjuju.web import errors
from pushjuju.web.facades.store_names import store_name
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes.applications import CharmOriginParams
from pushjuju.web.shapes.common import Results
from pushjuju.web.shapes.resource_shapes import in_store


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveCharm:
    """A charm of the model's store, as a client names it."""

    reference: str = ""
    charm_origin: CharmOriginParams = field(default_factory=CharmOriginParams)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddCharm:
    """A charm of the store that an application is to have."""

    url: str = ""
    charm_origin: CharmOriginParams = field(default_factory=CharmOriginParams)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmURLAndOrigin:
    """A charm or bundle of the model's store."""

    charm_url: str = ""
    charm_origin: CharmOriginParams = field(default_factory=CharmOriginParams)


_OLD = 6  # the last version with series
_STORE = "ch:"


@facade("Charms")
class Charms(Facade):
    """The charms of the model."""

    @method(Needs.READ)
    def charm_info(self, url: str) -> dict[str, object]:
        """Return the metadata, options and actions of a charm of the model or of its store."""
        found, revision = self._known(url)
        return {
            "url": url,
            "revision": revision,
            "meta": _meta(found),
            "config": {name: _option(item) for name, item in found.config.items()},
            "actions": {"specs": {name: _action(item) for name, item in found.actions.items()}},
            "manifest": {"bases": [_base(item) for item in found.bases()]},
        }

    def _known(self, url: str) -> tuple[Charm, int]:
        """Return a charm and its revision; a charm that no application has is read from the store.

        The store knows no actions.
        """
        try:
            return listing.find(self.ctx, self.model, url)
        except NotFound:
            if not url.startswith(_STORE):
                raise
        found = self._find(url, CharmOriginParams()).charm
        if charm := store_charms.told_charm(found):
            return charm, found.revision
        raise not_found("charm", url)

    @method(Needs.READ)
    def resolve_charms(self, resolve: list[ResolveCharm]) -> dict[str, object]:
        """Return the store revisions for the charms that clients name."""
        return {"Results": [self._resolved(item) for item in resolve]}

    def _resolved(self, item: ResolveCharm) -> dict[str, object]:
        try:
            name, _ = store_name(item.reference)  # the reference's revision is left out, to find the newest
            found = self._find(name, item.charm_origin)
        except PushjujuError as error:
            return {"url": item.reference, "charm-origin": {}, **self._bases(()), "error": errors.told(error)}
        origin = _origin(found, item.charm_origin)
        return {"url": found.url, "charm-origin": origin, **self._bases(found.charm.bases)}

    def _bases(self, bases: Sequence[Base]) -> dict[str, object]:
        if self.call.version <= _OLD:
            return {"supported-series": [base.series for base in bases if base.series]}
        return {"supported-bases": [{"name": base.os, "channel": base.channel} for base in bases]}

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def add_charm(self, params: AddCharm) -> dict[str, object]:
        """Return a charm's origin with the store's revision; a deploy fetches the archive when needed."""
        return {"charm-origin": _origin(self._find(params.url, params.charm_origin), params.charm_origin)}

    def _find(self, reference: str, origin: CharmOriginParams) -> StoreOrigin:
        name, revision = store_name(reference)
        number = revision if origin.revision is None else origin.revision
        request = CharmRequest(
            url=name,
            channel=origin.channel or ("stable" if number >= 0 else ""),
            revision=number,
            base=origin.base.value,
            arch=origin.architecture or DEFAULT_ARCH,
            kind="",
        )
        return store_charms.resolve_one(self.ctx, self.model, request)

    @bulk("entities", Needs.READ, empty={"url": "", "charm-origin": {}})
    def get_download_infos(self, item: CharmURLAndOrigin) -> dict[str, object]:
        """Return the URLs of the archives of charms and bundles in the model's store."""
        found = self._find(item.charm_url, item.charm_origin)
        return {"url": found.charm.download.url, "charm-origin": _origin(found, item.charm_origin)}

    @method(Needs.READ)
    def list_charm_resources(self, entities: list[CharmURLAndOrigin]) -> dict[str, object]:
        """Return the resources that the store of the model has for charms."""
        return {"results": [self._resources(item) for item in entities]}

    def _resources(self, item: CharmURLAndOrigin) -> Sequence[dict[str, object]]:
        try:
            found = self._find(item.charm_url, item.charm_origin)
            known = store_charms.newest_resources(self.ctx, self.model, found)
        except PushjujuError as error:
            return [{"error": errors.told(error)}]
        return [in_store(resource) for resource in known]

    @method(Needs.READ)
    def check_charm_placement(self, placements: list[Any]) -> Results:
        """Return no errors: pushjuju does not check the placement of charms."""
        return {"results": [{} for _ in placements]}

    @method(Needs.READ, until=6)
    def is_metered(self) -> dict[str, bool]:
        """Return that no charm is metered."""
        return {"metered": False}

    @method(Needs.READ)
    def list(self) -> dict[str, object]:
        """Return the URLs of the charms of the model."""
        return {"charm-urls": listing.urls(self.ctx, self.model)}


def _origin(found: StoreOrigin, asked: CharmOriginParams) -> dict[str, object]:
    channel = found.channel
    return {
        "source": "charm-hub",
        "type": found.charm.kind,
        "id": found.charm.id,
        "hash": found.charm.download.sha256,
        "revision": found.charm.revision,
        "track": channel.track or None,
        "risk": str(channel.risk),
        "branch": channel.branch or None,
        "architecture": found.arch,
        "base": {"name": found.base.os, "channel": found.base.channel},
        "instance-key": asked.id,
    }


def _option(item: Any) -> dict[str, object]:
    found = {"type": str(item.type), "description": item.description}
    return found if item.default is None else {**found, "default": item.default}


def _action(item: Any) -> dict[str, object]:
    return {
        "description": item.description,
        "params": dict(item.schema),
        "parallel": item.parallel,
        "execution-group": item.execution_group,
    }


def _base(item: Any) -> dict[str, object]:
    return {"name": item.os, "channel": item.channel, "architectures": []}


def _meta(charm: Charm) -> dict[str, object]:
    meta = charm.meta
    return {
        "name": meta.name,
        "summary": meta.summary,
        "description": meta.description,
        "subordinate": meta.subordinate,
        "series": list(meta.series),
        "tags": list(meta.tags),
        "terms": list(meta.terms),
        "provides": {name: _end(item) for name, item in meta.provides.items()},
        "requires": {name: _end(item) for name, item in meta.requires.items()},
        "peers": {name: _end(item) for name, item in meta.peers.items()},
        "extra-bindings": dict.fromkeys(meta.extra_bindings, ""),
        "storage": {name: _storage(item) for name, item in meta.storage.items()},
        "resources": {
            name: {"name": name, "type": item.type, "path": item.filename, "description": item.description}
            for name, item in meta.resources.items()
        },
        "payload-classes": {name: {"name": name, "type": item.type} for name, item in meta.payloads.items()},
        "min-juju-version": meta.min_juju_version or "0.0.0",
    }


def _end(item: Endpoint) -> dict[str, object]:
    return {
        "name": item.name,
        "role": str(item.role),
        "interface": item.interface,
        "optional": item.optional,
        "limit": item.limit,
        "scope": str(item.scope),
    }


def _storage(item: Any) -> dict[str, object]:
    return {
        "name": item.name,
        "description": item.description,
        "type": item.type,
        "shared": item.shared,
        "read-only": item.read_only,
        "count-min": item.count_min,
        "count-max": item.count_max,
        "minimum-size": item.minimum_size,
        "location": item.location,
        "properties": list(item.properties),
    }
