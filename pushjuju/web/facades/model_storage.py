"""Storage: the storage of units, and the pools that provide storage.

Mirrors: juju apiserver/facades/client/storage (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.requests.storage.storage_requests import Answer
from pushjuju.services.views.listings import storage_pools
from pushjuju.services.views.status import storage_document
from pushjuju.web import errors, tags
from pushjuju.web.call import each
from pushjuju.web.errors import ErrorResults
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes import storage_details as shapes
from pushjuju.web.shapes.common import Results
from pushjuju.web.shapes.placement import directive
from pushjuju.workers.provision import storage_import


@facade("Storage")
class Storage(Facade):
    """The storage of the model."""

    @method(Needs.READ)
    def list_storage_details(self, filters: list[Any]) -> Results:
        found = shapes.instances(self._document())
        return {"results": [{"result": found} for _ in filters]}

    @bulk("entities", Needs.READ)
    def storage_details(self, tag: str) -> dict[str, object]:
        name = tags.storage(tag)
        found = storage_document.show(self.ctx, self.model, [name], str)
        return {"result": shapes.instance(name, found[name])}

    @method(Needs.READ)
    def list_filesystems(self, filters: list[shapes.MachineFilter]) -> Results:
        """Return all filesystems, or those of some machines."""
        found = shapes.filesystems(self._document())
        return {"results": [{"result": _at(found, item)} for item in filters]}

    @method(Needs.READ)
    def list_volumes(self, filters: list[shapes.MachineFilter]) -> Results:
        """Return all volumes, or those of some machines."""
        found = shapes.volumes(self._document())
        return {"results": [{"result": _at(found, item)} for item in filters]}

    def _document(self) -> dict[str, Any]:
        return storage_document.document(self.ctx, self.model, str)

    @bulk("filters", Needs.READ)
    def list_pools(self, item: shapes.StoragePoolFilter) -> dict[str, object]:
        """Return the pools of the model, with the built-in pools."""
        found = storage_pools.document(self.ctx, self.model, item.names, item.providers)
        return {"storage-pools": [{"name": name, "attrs": {}, **known} for name, known in found.items()]}

    @bulk("pools", Needs.WRITE, blocked_by=blocks.CHANGE)
    def create_pool(self, item: shapes.StoragePool) -> None:
        storage_requests.create_pool(self.ctx, self.model, item.name, item.provider, _texts(item.attrs))

    @bulk("pools", Needs.WRITE, blocked_by=blocks.CHANGE)
    def update_pool(self, item: shapes.StoragePool) -> None:
        """Replace the attributes of pools."""
        storage_requests.update_pool(self.ctx, self.model, item.name, _texts(item.attrs), item.provider)

    @method(Needs.WRITE, blocked_by=blocks.REMOVE)
    def remove_pool(self, params: shapes.StoragePoolDeleteArgs) -> ErrorResults:
        """Remove pools that nothing uses."""
        return {
            "results": [
                each(storage_requests.remove_pool, self.ctx, self.model, item.name) for item in params.pools
            ]
        }

    @bulk("storages", Needs.WRITE, blocked_by=blocks.CHANGE)
    def add_to_unit(self, item: shapes.StorageAddParams) -> dict[str, object]:
        wanted = {item.name: directive(item.storage)}
        (found,) = storage_requests.add(self.ctx, self.model, tags.unit(item.unit), wanted)
        _require_done([found])
        return {"result": {"storage-tags": [tags.of_storage(name) for name in found.made]}}

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def attach(self, params: shapes.StorageAttachmentIds) -> ErrorResults:
        return {"results": [each(self._attach, item) for item in params.ids]}

    def _attach(self, item: shapes.StorageAttachmentId) -> None:
        unit, name = tags.unit(item.unit_tag), tags.storage(item.storage_tag)
        _require_done(storage_requests.attach(self.ctx, self.model, unit, [name]))

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def detach_storage(self, params: shapes.StorageDetachment) -> ErrorResults:
        return {"results": [each(self._detach, item, params) for item in params.ids.ids]}

    def _detach(self, item: shapes.StorageAttachmentId, params: shapes.StorageDetachment) -> None:
        name, unit = tags.storage(item.storage_tag), tags.unit(item.unit_tag) if item.unit_tag else ""
        _require_done(storage_requests.detach(self.ctx, self.model, [name], owner=unit, force=params.force))

    @bulk("storage", Needs.WRITE, blocked_by=blocks.REMOVE)
    def remove(self, item: shapes.RemoveStorageInstance) -> None:
        """Remove storage from the model, with its data or without."""
        names, force = [tags.storage(item.tag)], item.force or item.destroy_attachments
        _require_done(
            storage_requests.remove(self.ctx, self.model, names, force=force, destroy=item.destroy_storage)
        )

    @bulk("storage", Needs.WRITE, name="Import", blocked_by=blocks.CHANGE)
    def take_in(self, item: shapes.ImportStorageParams) -> dict[str, object]:
        """Import filesystems that exist in the cloud."""
        if item.kind != shapes.FILESYSTEM_NUMBER:
            raise errors.not_supported(f"storage kind {quote(str(item.kind))} not supported")
        name = storage_import.import_found(
            self.ctx, self.model, item.pool, item.provider_id, item.storage_name, warn=_silent
        )
        return {"result": {"storage-tag": tags.of_storage(name)}}


def _silent(_text: str) -> None:
    """Drop a provider's warning: the API does not return warnings."""


def _require_done(answers: Iterable[Answer]) -> None:
    """Raise the error of the first answer that has an error."""
    for answer in answers:
        if answer.error is not None:
            raise answer.error


def _texts(attributes: Mapping[str, Any]) -> dict[str, str]:
    return {key: value if isinstance(value, str) else str(value) for key, value in attributes.items()}


def _at(found: list[shapes.Details], wanted: shapes.MachineFilter) -> list[shapes.Details]:
    """Return the items that are attached to one of the filter's machines; all without machines."""
    names = set(wanted.machines)
    return [item for item in found if not names or names & _machines(item)]


def _machines(item: Mapping[str, Any]) -> set[str]:
    return set(item["machine-attachments"])
