"""The status document, with times as the texts that commands show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pushjuju.cli.terminal.times import clock_text, stored_text
from pushjuju.services.views.status import document as status

if TYPE_CHECKING:
    from pushjuju.services.entities.model.sessions import Session


def status_document(opened: Session, *, utc: bool, patterns: Sequence[str] = ()) -> dict[str, Any]:
    """Return the status document of a model for patterns, with times as `status` shows them."""
    found = status.document(opened.ctx, opened.model, stored_text(utc=utc), patterns)
    found["controller"] = {"timestamp": clock_text(found["controller"]["timestamp"], utc=utc)}
    return found


def is_empty(document: Mapping[str, Any]) -> bool:
    """Return True when a status document has nothing but the model."""
    return not any(
        document.get(key) for key in ("machines", "applications", "application-endpoints", "offers")
    )
