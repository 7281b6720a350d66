"""Annotations: key and value pairs of entities. Mirrors: juju apiserver/facades/client/annotations (3.6)"""

from __future__ import annotations

from dataclasses import dataclass, field

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.basis.annotations import Kind
from pushjuju.services.requests.model import annotate
from pushjuju.web import errors, tags
from pushjuju.web.registry import Facade, Needs, bulk, facade


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityAnnotations:
    """Annotations of an entity; an empty value removes its key."""

    entity: str = ""
    annotations: dict[str, str] = field(default_factory=dict)


def _named(tag: str) -> tuple[Kind, str]:
    kind = tags.kind_of(tag)
    if kind not in tuple(Kind):
        raise errors.not_supported(f"annotations of a {kind} are not supported")
    return Kind(kind), tags.name_of(tag)


@facade("Annotations")
class Annotations(Facade):
    """The annotations of the model and its entities."""

    @bulk("entities", Needs.READ)
    def get(self, tag: str) -> dict[str, object]:
        try:
            found = annotate.annotations_of(self.ctx, self.model, *_named(tag))
        except PushjujuError as error:
            return {"entity": tag, "annotations": {}, "error": {"error": errors.told(error)}}
        return {"entity": tag, "annotations": found}

    @bulk("annotations", Needs.WRITE, blocked_by=blocks.CHANGE)
    def set(self, item: EntityAnnotations) -> None:
        annotate.annotate(self.ctx, self.model, *_named(item.entity), item.annotations)
