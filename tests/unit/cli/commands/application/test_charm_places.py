"""Charms from places that a plugin knows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.world.charm_trees import write_tree

PLUGIN = """
from pathlib import Path
from pushjuju.core.errors import NotFound
from pushjuju.plugins.api.sources import CharmSourceType, SourceKind
from pushjuju.plugins.hookspecs import hookimpl

@hookimpl
def pushjuju_charm_sources():
    moon = lambda address: address.startswith("moon:")
    return [CharmSourceType(name="moon", kind=SourceKind.PLACE, summary="on the moon", accepts=moon)]

class Place:
    def __init__(self, name):
        self.name = name

    def bring(self, work):
        if not Path(self.name).is_dir():
            raise NotFound(f"no charm {self.name} on the moon")
        return Path(self.name)

@hookimpl
def pushjuju_open_charm_source(type_name, address):
    return Place(address.removeprefix("moon:")) if type_name == "moon" else None
"""


@pytest.fixture
def moon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unworked: None) -> Iterator[None]:
    """A plugin that is installed, and a charm that it knows."""
    site = tmp_path / "site"
    info = site / "moon-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[pushjuju]\nmoon = moon_plugin\n")
    (site / "moon_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(site)
    write_tree(
        tmp_path / "web",
        {
            "metadata.yaml": "name: web\nsummary: s\ndescription: d\n",
            "manifest.yaml": "bases: [{name: ubuntu, channel: '24.04', architectures: [amd64]}]\n",
            "hooks/install": "#!/bin/sh\n",
        },
        executable=("hooks/install",),
    )
    yield
    sys.modules.pop("moon_plugin", None)


@pytest.mark.usefixtures("moon")
def test_a_charm_of_a_plugins_place(run: Callable[..., Any]) -> None:
    """Deployed, shown and refreshed by the address that the plugin takes; others are what they were."""
    assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    assert run("deploy", "moon:web").err.startswith('Located local charm "web", revision 0\n')
    assert run("refresh", "web", "--switch", "moon:web").status == 0
    assert run("charm-resources", "moon:web").err == "No resources to display.\n"
    assert run("deploy", "moon:none").err == "ERROR no charm none on the moon\n"
    for address, scheme in (("sun:web", "sun"), ("cs:web", "cs")):
        done = run("deploy", address)
        assert done.err == f'ERROR cannot parse URL "{address}": schema "{scheme}" not valid\n'
    assert "not valid" in run("refresh", "web", "--switch", "sun:web").err
