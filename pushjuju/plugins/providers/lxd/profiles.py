"""Profiles of charms on an LXD server: makes them, assigns them to instances, deletes them. Blocking.

A profile contains the UUID of its model; a profile of another model is never changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pushjuju.core.errors import ProviderError
from pushjuju.plugins.api.providers import CharmProfile
from pushjuju.plugins.providers.lxd.instances import MODEL_KEY
from pushjuju.plugins.providers.lxd.server import Api, ignore_gone

CHARM_KEY = "user.pushjuju-charm"


def ensure(api: Api, wanted: Sequence[CharmProfile], model: str) -> None:
    """Make missing profiles, and correct the content of existing profiles."""
    for item in wanted:
        document = _document(item, model)
        found = ignore_gone(lambda name=item.name: api.get(f"profiles/{name}"))  # type: ignore[misc]
        if not found:
            _make(api, document)
            continue
        if found["config"].get(MODEL_KEY) != model:
            raise ProviderError(
                f'the LXD server has another profile "{item.name}", not of this model', retryable=False
            )
        if any(found.get(key) != value for key, value in document.items()):
            api.change("put", f"profiles/{item.name}", document)


def _make(api: Api, document: Mapping[str, Any]) -> None:
    try:
        api.change("post", "profiles", document)
    except Exception as error:
        if "already exists" not in str(error):  # another worker has made it already
            raise


def _document(item: CharmProfile, model: str) -> dict[str, object]:
    return {
        "name": item.name,
        "description": item.description,
        "config": {**item.config, MODEL_KEY: model, CHARM_KEY: "true"},
        "devices": {name: dict(device) for name, device in item.devices.items()},
    }


def give(api: Api, instance: str, wanted: Sequence[CharmProfile], model: str) -> None:
    """Assign exactly these charm profiles of the model to an instance."""
    ours = {str(item["name"]) for item in _of_model(api, model)}
    present = [str(name) for name in api.get(f"instances/{instance}")["profiles"]]
    others = [name for name in present if name not in ours]
    profiles = [*others, *(item.name for item in wanted)]
    if profiles != present:
        api.change("patch", f"instances/{instance}", {"profiles": profiles})


def sweep(api: Api, model: str, keep: Collection[str] = ()) -> None:
    """Delete the model's charm profiles that no instance uses, except those in `keep`."""
    for item in _of_model(api, model):
        if item["name"] not in keep and not item.get("used_by"):
            name = item["name"]
            ignore_gone(lambda name=name: api.change("delete", f"profiles/{name}"))  # type: ignore[misc]


def _of_model(api: Api, model: str) -> list[Mapping[str, Any]]:
    listed = api.get("profiles", recursion="1")
    return [item for item in listed if item["config"].get(MODEL_KEY) == model and CHARM_KEY in item["config"]]
