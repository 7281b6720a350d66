"""The part of the facade Application about the storage that future units get."""

from __future__ import annotations

from pushjuju.core.errors import PushjujuError
from pushjuju.core.storage import Directive
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.storage import storage_requests
from pushjuju.web import errors, tags
from pushjuju.web.call import each
from pushjuju.web.errors import ErrorResults
from pushjuju.web.registry import Facade, Needs, method
from pushjuju.web.shapes import applications as shapes
from pushjuju.web.shapes.common import Entities, Results

_SINCE = 22


class Storing(Facade):
    """Shows and changes the storage of future units."""

    @method(Needs.READ, since=_SINCE)
    def get_application_storage(self, params: Entities) -> Results:
        """Return the storage that future units of applications get."""
        return {"results": [self._storage(item.tag) for item in params.entities]}

    def _storage(self, tag: str) -> dict[str, object]:
        try:
            found = storage_requests.application_directives(self.ctx, self.model, tags.application(tag))
        except PushjujuError as error:
            return {"storage-constraints": {}, "Error": errors.told(error)}
        return {
            "storage-constraints": {
                name: {"pool": item.pool, "size": item.size, "count": item.count}
                for name, item in found.items()
            }
        }

    @method(Needs.WRITE, since=_SINCE, blocked_by=blocks.CHANGE)
    def update_application_storage(
        self, storage_updates: list[shapes.ApplicationStorageUpdate]
    ) -> ErrorResults:
        """Change the storage that future units of applications get; omitted fields keep their values."""
        return {"results": [each(self._update_storage, item) for item in storage_updates]}

    def _update_storage(self, item: shapes.ApplicationStorageUpdate) -> None:
        wanted = {
            name: Directive(pool=part.pool, size=part.size, count=part.count)
            for name, part in item.storage_constraints.items()
        }
        name = tags.application(item.application_tag)
        storage_requests.set_application_directives(self.ctx, self.model, name, wanted)
