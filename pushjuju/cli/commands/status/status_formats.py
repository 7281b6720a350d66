"""The formats of `status`. Pure. Mirrors: juju cmd/juju/status/status.go (3.6)"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.commands.status import status_oneline, status_summary, status_tabular
from pushjuju.cli.terminal.output import Formatter
from pushjuju.cli.terminal.shapes import arranged, bytewise, naturally
from pushjuju.portable.jsontext import escape_json
from pushjuju.portable.yamltext import to_yaml

FORMATS = ("tabular", "yaml", "json", "short", "oneline", "line", "summary")
PICTURES = ("svg", "dot", "mermaid")


def formatters(
    *, relations: Sequence[Mapping[str, Any]] | None = None, storage: bool = False, colour: bool = False
) -> dict[str, Formatter]:
    """Return format name -> function that formats the status document.

    Args:
        relations: Rows of the relation section of the table, or None for no section; see `status_tabular`.
        storage: Whether the table has the storage section.
        colour: Whether the output has colours.
    """

    def tabular(document: Any) -> str:
        return status_tabular.tabular(document, relations=relations, storage=storage, colour=colour)

    def oneline(document: Any) -> str:
        return status_oneline.oneline(document, colour=colour)

    def summary(document: Any) -> str:
        return status_summary.summary(document, colour=colour)

    def yaml(document: Any) -> str:
        return to_yaml(arranged(document, "status", naturally), sort_keys=False)

    return {
        "tabular": tabular,
        "summary": summary,
        "short": oneline,
        "oneline": oneline,
        "line": oneline,
        "yaml": yaml,
        "json": json_text,
    }


def json_text(document: Mapping[str, Any]) -> str:
    """Return the document as json, fast: the status has no numbers that Go writes differently."""
    sorted_maps = arranged(document, "status", bytewise)
    text = json.dumps(sorted_maps, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    return escape_json(text) + "\n"
