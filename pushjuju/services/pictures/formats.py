"""The formats of `status` that are pictures: SVG, DOT and Mermaid. Juju has none of them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pushjuju.services.pictures import dot, folding, graph, layout, machine_tree, machines_svg, mermaid, svg
from pushjuju.services.pictures.placing import Place


def formatters(
    relations: Sequence[Mapping[str, Any]], places: Mapping[str, Place], *, of_machines: bool
) -> dict[str, Callable[[Any], str]]:
    """Return format name -> function that draws the status document.

    Args:
        relations: The rows of the relation section of the table.
        places: application -> the place that people chose.
        of_machines: Whether the picture shows machines with their units, instead of applications.
    """
    if of_machines:
        return {"svg": _machines_svg, "dot": _machines_dot, "mermaid": _machines_mermaid}

    def svg_text(document: Any) -> str:
        return svg.draw(layout.lay_out(folding.fold(graph.of_status(document, relations, places))))

    def dot_text(document: Any) -> str:
        return dot.topology(graph.of_status(document, relations))

    def mermaid_text(document: Any) -> str:
        return mermaid.topology(graph.of_status(document, relations))

    return {"svg": svg_text, "dot": dot_text, "mermaid": mermaid_text}


def _machines_svg(document: Any) -> str:
    return machines_svg.draw(document["model"]["name"], machine_tree.of_status(document))


def _machines_dot(document: Any) -> str:
    return dot.machines(document["model"]["name"], machine_tree.of_status(document))


def _machines_mermaid(document: Any) -> str:
    return mermaid.machines(machine_tree.of_status(document))
