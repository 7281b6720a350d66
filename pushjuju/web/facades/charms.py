"""Charms: the charms of the model. Mirrors: juju apiserver/facades/client/charms (3.6)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pushjuju.charms.values.model import Charm, Endpoint
from pushjuju.services.views.listings import charms as listing
from pushjuju.web.registry import Facade, Needs, On, facade, method


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmURL:
    """A charm of the model."""

    url: str = ""


@facade("Charms", versions=[5, 6, 7], on=On.MODEL)
class Charms(Facade):
    """The charms of the model."""

    @method(Needs.READ)
    def charm_info(self, params: CharmURL) -> dict[str, Any]:
        """Return what a charm declares."""
        found, revision = listing.find(self.ctx, self.model, params.url)
        return {
            "url": params.url,
            "revision": revision,
            "meta": _meta(found),
            "config": {name: _option(item) for name, item in found.config.items()},
            "actions": {"specs": {name: _action(item) for name, item in found.actions.items()}},
            "manifest": {"bases": [_base(item) for item in found.bases()]},
        }

    @method(Needs.READ)
    def list(self) -> dict[str, Any]:
        """Return the URLs of the charms of the model."""
        return {"charm-urls": listing.urls(self.ctx, self.model)}


def _option(item: Any) -> dict[str, Any]:
    found = {"type": str(item.type), "description": item.description}
    return found if item.default is None else {**found, "default": item.default}


def _action(item: Any) -> dict[str, Any]:
    return {
        "description": item.description,
        "params": dict(item.schema),
        "parallel": item.parallel,
        "execution-group": item.execution_group,
    }


def _base(item: Any) -> dict[str, Any]:
    return {"name": item.os, "channel": item.channel, "architectures": []}


def _meta(charm: Charm) -> dict[str, Any]:
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


def _end(item: Endpoint) -> dict[str, Any]:
    return {
        "name": item.name,
        "role": str(item.role),
        "interface": item.interface,
        "optional": item.optional,
        "limit": item.limit,
        "scope": str(item.scope),
    }


def _storage(item: Any) -> dict[str, Any]:
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
