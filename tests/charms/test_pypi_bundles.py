"""Bundle files that others ship on PyPI: read and judged as Juju 3.6 would."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.services.bundles.read.load import load
from pushjuju.services.bundles.read.verify import BundleFaulty
from tests.charms_tools.packing import pip
from tests.tars import unpack

pytestmark = pytest.mark.machine

PINNED = {"zaza": "2024.1.1", "pytest-operator": "0.43.2"}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distributions."""
    folder = tmp_path_factory.mktemp("sources")
    for name, version in PINNED.items():
        pip("download", "--no-deps", "--no-binary", name, f"{name}=={version}", "--dest", folder)
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as file:
            unpack(file, folder)
    return folder


def test_bundles_of_zaza(sources: Path) -> None:
    root = sources / "zaza-2024.1.1"
    overlay = root / "tests" / "bundles" / "overlays" / "local-charm-overlay.yaml.j2"
    loaded = load(root / "tests" / "bundles" / "first.yaml", [str(overlay)])
    found = loaded.bundle
    assert {name: app.num_units for name, app in found.applications.items()} == {
        "magpie-focal": 2, "magpie-jammy": 2, "ubuntu": 3, "local-users": 0,
    }  # fmt: skip
    assert found.applications["magpie-jammy"].charm_name == "magpie"
    assert found.relations == (("ubuntu", "local-users"),)
    assert "series are being deprecated" in loaded.warnings[0]
    assert [line.strip() for line in loaded.ignored][1:] == ["line 1: field comment not found in bundle"]
    assert sorted(load(root / "tests" / "bundles" / "second.yaml").bundle.applications) == [
        "local-users", "magpie-focal", "ubuntu",
    ]  # fmt: skip


def test_charm_of_the_old_store_is_refused(sources: Path) -> None:
    with pytest.raises(BundleFaulty) as caught:
        load(sources / "zaza-2024.1.1" / "tests-extended" / "bundles" / "conncheck-focal.yaml")
    (fault,) = caught.value.faults
    assert fault.text.startswith('invalid charm URL in application "ubuntu": cannot parse URL "cs:ubuntu"')
    assert fault.place is not None
    assert fault.place.line == 4


def test_bundle_of_pytest_operator_is_an_empty_file(sources: Path) -> None:
    with pytest.raises(NotValid, match="malformed bundle: bundle is empty"):
        load(sources / "pytest_operator-0.43.2" / "tests" / "data" / "bundle.yaml")
