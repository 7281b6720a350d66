"""`status` with the formats svg, dot and mermaid."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.world.charms import Charms
from tests.world.commandline import Run, ok
from tests.world.controller import TestController


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> Path:
    """A data directory with the applications wordpress and mysql, which are related."""
    world = TestController.build(tmp_path_factory.mktemp("lab"), packs)
    uses, gives = {"db": {"interface": "mysql"}}, {"server": {"interface": "mysql"}}
    world.deploy("wordpress", packed=packs.make("wordpress", config=None, peers=None, requires=uses))
    world.deploy("mysql", packed=packs.make("mysql", config=None, peers=None, provides=gives))
    return world.keep()


@pytest.fixture
def lab(run: Run, built: Path, tmp_path: Path, unworked: None) -> Run:
    shutil.copytree(built, tmp_path / "data")
    assert run("integrate", "wordpress", "mysql").status == 0
    return run


def words(svg: str) -> list[str]:
    return [
        element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


def test_svg_shows_applications_and_their_relation(lab: Run) -> None:
    drawn = ok(lab("status", "--format", "svg"))
    assert {"wordpress", "mysql"} <= set(words(drawn))
    assert "wordpress:db - mysql:server" in drawn


def test_svg_is_written_to_a_file(lab: Run, tmp_path: Path) -> None:
    assert ok(lab("status", "--format", "svg", "-o", "model.svg")) == ""
    assert {"wordpress", "mysql"} <= set(words((tmp_path / "model.svg").read_text()))


def test_dot_and_mermaid_have_the_line_from_requirer_to_provider(lab: Run) -> None:
    dot = ok(lab("status", "--format", "dot"))
    mermaid = ok(lab("status", "--format", "mermaid"))
    assert dot.startswith("digraph ")
    assert mermaid.startswith("flowchart LR\n")
    first = next(line.split("[")[0].strip() for line in dot.splitlines() if "wordpress" in line)
    assert f"  {first} -> " in dot
    assert f"  {first} --> " in mermaid


@pytest.mark.parametrize("form", ["svg", "dot", "mermaid"])
def test_machines_have_their_units(lab: Run, form: str) -> None:
    drawn = ok(lab("status", "--format", form, "--machines"))
    units = [
        unit
        for application in json.loads(ok(lab("status", "--format", "json")))["applications"].values()
        for unit in application.get("units", {})
    ]
    assert units
    assert all(unit in drawn for unit in units)


def test_selectors_choose_what_is_drawn(lab: Run) -> None:
    shown = set(words(ok(lab("status", "--format", "svg", "mysql"))))
    assert "mysql" in shown
    assert "wordpress" not in shown


def test_machines_without_a_picture_are_refused(lab: Run) -> None:
    ended = lab("status", "--machines")
    assert ended.status == 2
    assert "choose --format svg, dot or mermaid" in ended.err


def test_nothing_to_draw_is_an_empty_picture_and_a_line(lab: Run) -> None:
    ended = lab("status", "--format", "svg", "nothing-like-it")
    assert ended.status == 0
    assert "Nothing matched specified filter." in ended.err
    assert ElementTree.fromstring(ended.out).tag.endswith("svg")
