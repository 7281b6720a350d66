"""What charms and people write cannot break a picture, in any of the formats."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pushjuju.services.pictures import formats, graph, layout, machine_tree, machines_svg, svg
from pushjuju.services.pictures.looks import COLOURS, SHAPES, SIGNS, Look, plain, width
from tests.world import known_models

HOSTILE = (
    'quote " in it',
    "apostrophe '",
    "]]> --> <!-- <script>alert(1)</script> &amp; &#x41;",
    '%%{init: {"theme": "dark"}}%%',
    "line\nbreak\r\ttab",
    "\\N \\G \\\\ \\n",
    '"]; click n1 href "javascript:alert(1)" %%',
    "`code` **bold** #quot; #35;",
    "zero\x00bell\x07escape\x1b[31m",
    "right\u202eto left\u2066 \ud800 \ufffe \u2028",
    "subgraph end classDef style flowchart",
    "<b>bold</b>",
)


def hostile_model(text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    document, rows = known_models.model(
        "m", "web=2 db=1 sub=sub", "web:db>db:db web:sub~sub:sub", consumed={"far": text}
    )
    document["model"]["name"] = text
    document["applications"]["web"]["units"]["web/0"]["workload-status"] = {
        "current": "error",
        "message": text,
    }
    document["applications"]["db"]["application-status"] = {"current": text, "message": text}
    document["applications"][text] = document["applications"]["db"]
    document["machines"]["0"]["dns-name"] = text
    document["machines"]["0"]["hardware"] = f"availability-zone={text}"
    rows.append({**rows[0], "requirer": "web:x", "provider": f"{text}:y"})
    return document, rows


def pictures(document: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, str]:
    found, places = graph.of_status(document, rows), machine_tree.of_status(document)
    name = document["model"]["name"]
    return {
        "svg": svg.draw(layout.lay_out(found)),
        "machines.svg": machines_svg.draw(name, places),
        "dot": formats.dot_topology(found),
        "machines.dot": formats.dot_machines(name, places),
        "mermaid": formats.mermaid_topology(found),
        "machines.mermaid": formats.mermaid_machines(places),
    }


def check(found: dict[str, str]) -> None:
    for name, text in found.items():
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), name
        text.encode()
    for name in ("svg", "machines.svg"):
        assert {"script", "a", "image", "foreignObject"}.isdisjoint(
            element.tag.rpartition("}")[2] for element in ElementTree.fromstring(found[name]).iter()
        )
    for name in ("mermaid", "machines.mermaid"):
        for line in found[name].splitlines():
            labels = re.findall(r'\["(.*?)"\]', line)
            assert line.count('"') == 2 * len(labels)
            assert all("%%" not in label and "`" not in label for label in labels)
        assert found[name].startswith("flowchart LR\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    check(pictures(*hostile_model(text)))


@settings(max_examples=60, deadline=None)
@given(text=st.text(min_size=1, max_size=60))
def test_any_text_stays_a_text(text: str) -> None:
    check(pictures(*hostile_model(text)))


def test_a_hostile_name_is_shown_with_codes() -> None:
    assert plain("a\x1b[31m\u202eb\nc") == "a<001B>[31m<202E>b c"


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz")
@pytest.mark.parametrize("text", HOSTILE)
def test_graphviz_reads_hostile_texts(text: str) -> None:
    found = pictures(*hostile_model(text))
    for name in ("dot", "machines.dot"):
        done = subprocess.run(
            ["dot", "-Tplain"], input=found[name].encode(), capture_output=True, check=False, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz")
@pytest.mark.parametrize("model", [known_models.openstack, known_models.kubernetes, known_models.cos])
def test_graphviz_draws_the_known_models(model: Callable[[], Any]) -> None:
    found = pictures(*model())
    for name in ("dot", "machines.dot"):
        subprocess.run(
            ["dot", "-Tplain"], input=found[name].encode(), capture_output=True, check=True, timeout=60
        )


@pytest.mark.skipif(shutil.which("xmllint") is None, reason="no xmllint")
@pytest.mark.parametrize("text", HOSTILE)
def test_xmllint_reads_hostile_texts(text: str) -> None:
    found = pictures(*hostile_model(text))
    for name in ("svg", "machines.svg"):
        done = subprocess.run(
            ["xmllint", "--noout", "-"], input=found[name].encode(), capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_a_mermaid_chart_that_is_too_large_leaves_out_the_lines_to_hubs() -> None:
    text = formats.mermaid_topology(graph.of_status(*known_models.random_model(300, hubs=12)))
    assert "lines to the most related applications are left out" in text
    assert sum("-->" in line for line in text.splitlines()) <= formats.MOST_EDGES


def test_a_small_mermaid_chart_has_every_line() -> None:
    found = graph.of_status(*known_models.openstack())
    text = formats.mermaid_topology(found)
    assert "left out" not in text
    assert sum("-->" in line for line in text.splitlines()) == len(found.links)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("look", Look)
def test_every_look_has_a_shape_and_colours_that_are_readable(look: Look) -> None:
    assert SHAPES[look]
    assert SIGNS[look]
    for ground in ("#ffffff", "#f6f8fa"):
        assert contrast(COLOURS[look].light, ground) >= 4.5
    for ground in ("#0d1117", "#161b22"):
        assert contrast(COLOURS[look].dark, ground) >= 4.5


def test_in_a_page_the_shape_of_a_busy_status_can_turn_around_its_middle() -> None:
    found = known_models.model("m", "a=1 b=1", "", not_well={"a/0": ("maintenance", "installing")})
    drawn = svg.draw(layout.lay_out(graph.of_status(*found)))
    ElementTree.fromstring(svg.of_page(drawn))
    shapes = re.findall(r'<g transform="[^"]+"><path class="i busy" d="([^"]+)"/></g>', svg.of_page(drawn))
    assert shapes == [SHAPES[Look.BUSY]] * 2
    assert "<g transform" not in drawn


def test_cards_of_machines_have_one_width_and_room_for_their_addresses() -> None:
    about = ("192.168.122.101, ubuntu 24.04", "10.0.0.2, ubuntu 22.04")
    found = [
        machine_tree.Machine(name=f"{at}", status="started", about=text) for at, text in enumerate(about)
    ]
    drawn = machines_svg.draw("shop", found)
    assert all(f">{text}<" in drawn for text in about)
    assert len(set(re.findall(r'class="c"[^>]* width="([0-9.]+)"', drawn))) == 1


@pytest.mark.parametrize("name", ["m", "a-model-with-a-long-name-" * 3])
def test_a_small_picture_has_room_for_its_title_and_legend(name: str) -> None:
    """The legend names every status that the picture shows, also those of the bar alone."""
    document, rows = known_models.model(name, "web=6", "")
    words = ("error", "blocked", "maintenance", "waiting", "unknown", "active")
    document["model"]["name"] = name
    for unit, word in zip(document["applications"]["web"]["units"].values(), words, strict=True):
        unit["workload-status"] = {"current": word, "message": ""}
    found = pictures(document, rows)
    for kind in ("svg", "machines.svg"):
        root = ElementTree.fromstring(found[kind])
        texts = [item for item in root.iter("{http://www.w3.org/2000/svg}text") if item.text]
        legend = {word for item in texts for word in (item.text or "").split(", ")}
        assert set(words) <= legend, kind
        ends = [float(item.attrib["x"]) + width(item.text or "", 11) for item in texts if "x" in item.attrib]
        title = width(name, 17, bold=True) + 28
        assert max(*ends, title) <= float(root.attrib["width"]), kind
