"""Formats resources as tables. Pure. Mirrors: juju cmd/juju/resource output_tabular.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pushjuju.cli.terminal.table import TabWriter

if TYPE_CHECKING:
    from pushjuju.services.views.resource_documents import Detail, Shown

NOTHING = "No resources to display."


def table(found: Sequence[Shown], *, of_unit: bool) -> str:
    """Return the resources of an application, or of a unit."""
    writer = TabWriter()
    writer.row("Resource", *(() if of_unit else ("Supplied by",)), "Revision")
    for item in found:
        writer.row(item.name, *(() if of_unit else (item.supplier,)), item.revision_text)
    return writer.text()


def details(found: Sequence[Detail], *, of_unit: bool) -> str:
    """Return the revisions that units have, next to the revisions that they should have."""
    writer = TabWriter()
    writer.row(*(() if of_unit else ("Unit",)), "Resource", "Revision", "Expected")
    for item in found:
        unit = () if of_unit else (item.unit,)
        writer.row(*unit, item.expected.name, item.has.revision_text, item.expected.revision_text)
    return writer.text()


def charm_table(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of a charm's resources."""
    writer = TabWriter()
    writer.row("Resource", "Revision")
    for item in found:
        writer.row(item["name"], str(item.get("revision", 0)))
    return writer.text()
