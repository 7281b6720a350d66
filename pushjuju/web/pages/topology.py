"""The page of the picture of a model: its applications or machines, the whole or a part, and as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.core.errors import NotFound
from pushjuju.core.model import offerurl
from pushjuju.services.entities.model import models
from pushjuju.services.pictures import folding, formats, graph, layout, machine_tree, machines_svg, parts, svg
from pushjuju.services.views import relation_rows
from pushjuju.services.views.status import document as status
from pushjuju.web.pages.addresses import ModelPages
from pushjuju.web.pages.visit import Content, File, Visit

FORMATS = {"svg": "svg", "dot": "dot", "mermaid": "mmd"}
"""Format of a download -> the ending of its file."""

Document = Mapping[str, Any]


def topology(visit: Visit) -> Content:
    """Return the page of the picture, or the picture as a file for the query `format`."""
    document = status.document(visit.ctx, visit.model)
    of_machines = visit.query.get("view") == "machines"
    form = visit.query.get("format", "")
    return Content(
        title="Topology",
        command=visit.command("status --format svg" + (" --machines" if of_machines else "")),
        values=_machines(visit, document) if of_machines else _applications(visit, document),
        document=lambda: document,
        file=_file(visit, document, form, of_machines=of_machines) if form else None,
    )


def _file(visit: Visit, document: Document, form: str, *, of_machines: bool) -> File:
    if form not in FORMATS:
        raise NotFound(f"there is no picture in this format; the formats: {', '.join(FORMATS)}")
    rows = relation_rows.relation_rows(visit.ctx, visit.model.uuid)
    places = relation_rows.places(visit.ctx, visit.model.uuid)
    draw = formats.formatters(rows, places, of_machines=of_machines)[form]
    name = f"{visit.model.name}-machines" if of_machines else visit.model.name
    return File(f"{name}.{FORMATS[form]}", draw(document))


def _machines(visit: Visit, document: Document) -> dict[str, Any]:
    tree = machine_tree.of_status(document)
    drawn = machines_svg.draw(visit.model.name, tree, visit.pages.entity) if tree else ""
    return {"view": "machines", "picture": svg.of_page(drawn)}


def _applications(visit: Visit, document: Document) -> dict[str, Any]:
    """Return the values of the template for applications: the picture of the part that the query chooses."""
    whole = read_graph(visit, document)
    kept, part = _part(whole, visit)
    opened = list(dict.fromkeys(visit.every("open")))
    shown = folding.fold(part, opened)
    others = {name: [other for other in opened if other != name] for name in opened}
    return {
        "view": "applications",
        "picture": picture(visit, document, shown, kept | {"open": opened}) if shown.cards else "",
        "kept": kept,
        "applications": sorted(document.get("applications", {})),
        "shown": len(part.cards),
        "cards": len(whole.cards),
        "folded": len(folding.fold(part).cards) < len(part.cards),
        "opened": [(name, visit.pages.page("topology", **kept, open=left)) for name, left in others.items()],
    }


def _part(whole: graph.Graph, visit: Visit) -> tuple[dict[str, str], graph.Graph]:
    """Return the part of the graph that the query chooses, and that part of the query."""
    if application := visit.query.get("near", "").strip():
        return {"near": application}, parts.near(whole, application)
    if visit.query.get("show") == "not-well":
        return {"show": "not-well"}, parts.not_well(whole)
    return {}, whole


def read_graph(visit: Visit, document: Document) -> graph.Graph:
    """Return the graph of the model of a page."""
    rows = relation_rows.relation_rows(visit.ctx, visit.model.uuid)
    return graph.of_status(document, rows, relation_rows.places(visit.ctx, visit.model.uuid))


def picture(
    visit: Visit, document: Document, shown: graph.Graph, query: Mapping[str, str | Sequence[str]]
) -> str:
    """Return a graph as an element of a page.

    Cards are links: those of groups to this page with the group opened, those of consumed applications to
    the model that offers them.

    Args:
        query: What the addresses of opened groups keep of the query.
    """
    offering = _offering(visit, document)

    def address(kind: str, name: str) -> str:
        if kind == "group":
            opened = [*query.get("open", ()), name.partition(" ")[0]]
            return visit.pages.page("topology", **{**query, "open": opened})
        return offering.get(name, "") if kind == "consumed" else visit.pages.entity(kind, name)

    return svg.of_page(svg.draw(layout.lay_out(shown), address))


def _offering(visit: Visit, document: Document) -> dict[str, str]:
    """Return consumed application -> address of the model that offers it, if the user may read the model."""
    if not (consumed := document.get("application-endpoints", {})):
        return {}
    with visit.ctx.store.read() as tx:
        readable = {
            model.qualified
            for model in models.listed(tx)
            if models.may_access(tx, visit.ctx.user, model, "read")
        }
    found = {}
    for name, item in consumed.items():
        url = offerurl.parse(str(item["url"]))
        model = f"{url.owner or visit.model.owner}/{url.model}"
        if url.controller in ("", visit.ctx.controller.name) and model in readable:
            found[name] = ModelPages.of(model).page()
    return found
