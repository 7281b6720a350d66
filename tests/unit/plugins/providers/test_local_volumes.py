"""Volumes of local machines: what a machine can put in the way on this host."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushjuju.core.errors import ProviderError
from pushjuju.plugins.providers.local import volumes
from pushjuju.plugins.providers.nspawn.layout import Layout

MACHINE, VOLUME = "juju-abcdef-0", "volume-0"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A controller with a folder of one machine."""
    found = Layout.of(tmp_path)
    (found.machine(MACHINE) / "vol").mkdir(parents=True)
    return found


def test_taking_away_what_is_not_there_is_no_error(layout: Layout) -> None:
    (layout.machine(MACHINE) / "vol" / volumes.SHOWN / VOLUME).mkdir(parents=True)
    volumes.detach(layout, VOLUME, MACHINE)
    volumes.detach(layout, VOLUME, MACHINE)
    assert list((layout.machine(MACHINE) / "vol" / volumes.SHOWN).iterdir()) == []


@pytest.mark.parametrize("deeper", [False, True], ids=["folder", "volume"])
def test_no_link_of_a_machine_leads_to_another_folder_of_this_host(
    layout: Layout, tmp_path: Path, deeper: bool
) -> None:
    outside = tmp_path / "outside"
    (outside / VOLUME).mkdir(parents=True)
    shown = layout.machine(MACHINE) / "vol" / volumes.SHOWN
    if deeper:
        shown.mkdir()
        (shown / VOLUME).symlink_to(outside / VOLUME)
    else:
        shown.symlink_to(outside)
    with pytest.raises(ProviderError, match="has a link in its storage directory"):
        volumes.detach(layout, VOLUME, MACHINE)
    assert (outside / VOLUME).is_dir()
