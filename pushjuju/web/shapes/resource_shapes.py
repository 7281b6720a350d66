"""Resources on the wire."""

from __future__ import annotations

import base64

from pushjuju.core.charmstore import StoreResource
from pushjuju.services.views.resource_documents import Shown
from pushjuju.web.times import NEVER


def declared(item: Shown) -> dict[str, object]:
    """Return the fields of a resource that come from its charm and its store."""
    return {
        "name": item.name,
        "type": item.type,
        "path": item.path,
        "description": item.description,
        "origin": item.origin,
        "revision": max(item.revision, 0),
        "fingerprint": base64.b64encode(bytes.fromhex(item.fingerprint)).decode(),
        "size": item.size,
    }


def in_store(item: StoreResource) -> dict[str, object]:
    return {
        "name": item.name,
        "type": item.type,
        "path": item.filename,
        "description": item.description,
        "origin": "store",
        "revision": item.revision,
        "fingerprint": base64.b64encode(bytes.fromhex(item.download.sha384)).decode(),
        "size": item.download.size,
    }


def resource(item: Shown) -> dict[str, object]:
    return {
        **declared(item),
        "id": f"{item.application}/{item.name}",
        "pending-id": "",
        "application": item.application,
        "username": item.username,
        "timestamp": item.time or NEVER,
    }
