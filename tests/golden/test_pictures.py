"""`status` as pictures of models that people know, byte for byte: look at the files after a change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.commands.status import timeline as timeline_table
from pushjuju.services.pictures import formats, timeline, timeline_svg
from tests.world import known_models
from tests.world.printed import NINE, Golden

MODELS: dict[str, Callable[[], known_models.Found]] = {
    "kubernetes": known_models.kubernetes,
    "cos": known_models.cos,
    "hadoop": known_models.hadoop,
}


def drawn(found: known_models.Found, form: str, *, of_machines: bool = False) -> str:
    document, rows = found
    text: Any = formats.formatters(rows, {}, of_machines=of_machines)[form](document)
    return str(text)


@pytest.mark.parametrize("name", MODELS)
def test_applications(name: str, golden: Golden) -> None:
    golden(f"pictures/{name}.svg", drawn(MODELS[name](), "svg"))


@pytest.mark.parametrize("form", ["dot", "mermaid"])
def test_texts(form: str, golden: Golden) -> None:
    golden(f"pictures/kubernetes.{form}", drawn(known_models.kubernetes(), form))
    golden(f"pictures/cos-machines.{form}", drawn(known_models.cos(), form, of_machines=True))


def test_machines(golden: Golden) -> None:
    golden("pictures/kubernetes-machines.svg", drawn(known_models.kubernetes(), "svg", of_machines=True))


def test_the_picture_of_the_docs_is_drawn_by_this_version() -> None:
    docs = Path(__file__).parents[2] / "docs" / "openstack.svg"
    assert docs.read_text() == drawn(known_models.openstack(), "svg")


def test_a_folded_model(golden: Golden) -> None:
    found = known_models.random_model(200, hubs=6)
    golden("pictures/folded.svg", drawn(found, "svg"))


def test_an_empty_model(golden: Golden) -> None:
    golden("pictures/empty.svg", drawn(known_models.model("empty", "", ""), "svg"))


def test_a_timeline(golden: Golden) -> None:
    runs = known_models.runs(120, units=8)
    machines = {run.unit: run.unit.partition("/")[2] for run in runs}
    found = timeline.of_runs(runs, machines, NINE)
    golden("pictures/timeline.svg", timeline_svg.draw("shop", found))
    golden("pictures/timeline.txt", timeline_table.table(found, timeline_table.Look(columns=100, utc=True)))
    golden("pictures/timeline.json", json.dumps(timeline.trace(found), indent=1) + "\n")
